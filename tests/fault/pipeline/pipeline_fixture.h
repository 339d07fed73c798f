/* A whole pipeline between a mock Kafka and scripted gateways, in one process: what the fault tests stand on. */
#pragma once

#include "fault/gateway/scripted_gateway.h"
#include "fault/kafka/mock_kafka.h"
#include "service/pipeline.h"

G_BEGIN_DECLS

#define FIXTURE_TOPIC "metrics"
#define FIXTURE_GROUP "tidemark"
#define FIXTURE_PARTITIONS 2
#define FIXTURE_GATEWAYS 2

/* Long enough for a sanitized build on a busy machine; a test that works never waits for it. */
#define FIXTURE_TIMEOUT_US (240 * G_USEC_PER_SEC)

typedef struct PipelineFixture {
  TideMockKafka *kafka;
  TideFakeHBase *hbase; /* ref; behind both gateways */
  TideScriptedGateway *gateways[FIXTURE_GATEWAYS];
  gint64 produced[FIXTURE_PARTITIONS]; /* messages */
} PipelineFixture;

/* One running pipeline with what it needs. */
typedef struct RunningPipeline {
  TideConfig *config;
  TideMetrics *metrics;
  TidePipeline *pipeline;
} RunningPipeline;

/* For main(): g_test_init(), and the log on standard error: critical only, or all with TIDE_TEST_VERBOSE. */
void pipeline_fixture_init(int *argc, char ***argv);

/* Kafka, two gateways before one HBase, and the tables METRIC (split at "host5") and CURRENT_METRIC. */
void pipeline_fixture_set_up(PipelineFixture *fixture, gconstpointer data);
/* The same with so many brokers. */
void pipeline_fixture_set_up_brokers(PipelineFixture *fixture, int n_brokers);
void pipeline_fixture_tear_down(PipelineFixture *fixture, gconstpointer data);

gint64 pipeline_fixture_deadline_us(void);

/* Until it is time to look again; aborts the test when @deadline_us has passed: @what did not happen. */
void pipeline_fixture_wait_a_little(gint64 deadline_us, const char *what);

/* A reading {"host":HOST,"ts":TIME_MS,"v":"VALUE"} to @partition. */
void pipeline_fixture_produce(PipelineFixture *fixture, gint32 partition, const char *host, gint64 time_ms,
                              const char *value);
/* Anything else. @payload: NULL is a tombstone. */
void pipeline_fixture_produce_raw(PipelineFixture *fixture, gint32 partition, const char *payload);
void pipeline_fixture_flush(PipelineFixture *fixture);

/* @options: further lines of YAML at the top level, or NULL; see pipeline_fixture.c for what is set already.
 * @gateways: how many of the fixture's are configured. */
RunningPipeline *running_pipeline_start(PipelineFixture *fixture, guint gateways, const char *options);
RunningPipeline *running_pipeline_start_group(PipelineFixture *fixture, const char *group, guint gateways,
                                              const char *options);

typedef struct RunningPipelineOptions {
  const char *group; /* NULL: FIXTURE_GROUP */
  guint gateways;
  const char *options;      /* as above; with "tables:" or "sources:" in it, in place of the fixture's */
  const char *kafka;        /* further options of "kafka:", in braces' form: ", assignment: cooperative"; NULL: none */
  const char *hbase;        /* the same of "hbase:" */
  const char *gateway_list; /* NULL: as @gateways says; else what stands in "gateways: [...]" */
  const char *topics;       /* NULL: FIXTURE_TOPIC */
  gboolean accept_scheme_change;
  gboolean until_end;
} RunningPipelineOptions;
/* The configuration of such a pipeline. (transfer full) */
char *pipeline_fixture_yaml(PipelineFixture *fixture, const RunningPipelineOptions *options);
RunningPipeline *running_pipeline_start_with(PipelineFixture *fixture, const RunningPipelineOptions *options);

/* Stops with @drain_ms to drain, sees that the accounting balances, and frees. Returns: the exit code. */
int running_pipeline_stop(RunningPipeline *running, gint64 drain_ms);

typedef gboolean (*PipelineCondition)(const TidePipelineState *state, gpointer data);
/* Looks until @condition holds; aborts the test when it does not in time. */
void running_pipeline_wait(RunningPipeline *running, PipelineCondition condition, gpointer data);
void running_pipeline_wait_ready(RunningPipeline *running);
void running_pipeline_wait_halted(RunningPipeline *running); /* one partition, or more */
void running_pipeline_wait_failed(RunningPipeline *running); /* its start */
/* Until a metric's sum is at least @least. */
void running_pipeline_wait_metric(RunningPipeline *running, const char *name, guint64 least);

/* Until everything produced is committed; aborts the test when it is not in time. */
void pipeline_fixture_wait_all_committed(PipelineFixture *fixture);

/* Of each topic and partition, messages and readings: received is what ended in some way and what is in flight. For
 * while nothing moves: a scrape is not one instant. */
void running_pipeline_assert_accounting_balances(RunningPipeline *running);

G_END_DECLS
