/* A whole pipeline between a mock Kafka and scripted gateways in one process, for the fault tests. */
#pragma once

#include "fault/gateway/scripted_gateway.h"
#include "fault/kafka/mock_kafka.h"
#include "model/dead_letter.h"
#include "service/pipeline.h"
#include "unit/test_case.h"

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

/* For a main() of one's own: g_test_init(), and what every program of pipelines begins with (test_program_begin()): no
 * $STATE_DIRECTORY, and the log on standard error, critical only, or all with TIDE_TEST_VERBOSE. */
void pipeline_fixture_init(int *argc, char ***argv);

/* Kafka, two gateways before one HBase, and the tables METRIC (split at "host5") and CURRENT_METRIC. */
void pipeline_fixture_set_up(PipelineFixture *fixture, gconstpointer data);
/* The same with so many brokers. */
void pipeline_fixture_set_up_brokers(PipelineFixture *fixture, int n_brokers);
void pipeline_fixture_tear_down(PipelineFixture *fixture, gconstpointer data);

/* A test on that fixture, with `data` for it, or for each row of a table. */
#define PIPELINE_TEST(path) TEST_WITH(PipelineFixture, pipeline_fixture_set_up, pipeline_fixture_tear_down, path)
#define PIPELINE_TEST_OF(data, path)                                                                                   \
  TEST_OF(PipelineFixture, data, pipeline_fixture_set_up, pipeline_fixture_tear_down, path)
#define PIPELINE_TEST_EACH(prefix, rows)                                                                               \
  TEST_EACH_WITH(PipelineFixture, pipeline_fixture_set_up, pipeline_fixture_tear_down, prefix, rows)

typedef void (*PipelineTest)(PipelineFixture *fixture, gconstpointer data);
/* For paths that are computed: for main(). */
void pipeline_fixture_add(const char *path, PipelineTest test);
void pipeline_fixture_add_with(const char *path, gconstpointer data, PipelineTest test);

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
/* Stops with time enough, and sees that nothing was left over. */
void running_pipeline_end(RunningPipeline *running);
/* Everything produced is committed, and then the end. */
void pipeline_fixture_finish(PipelineFixture *fixture, RunningPipeline *running);

typedef gboolean (*PipelineCondition)(const TidePipelineState *state, gpointer data);
/* Looks until @condition holds; aborts the test when it does not in time. */
void running_pipeline_wait(RunningPipeline *running, PipelineCondition condition, gpointer data);
void running_pipeline_wait_until(RunningPipeline *running, gint64 at_us); /* tide_now_us() */
void running_pipeline_wait_ready(RunningPipeline *running);
void running_pipeline_wait_halted(RunningPipeline *running); /* one partition, or more */
void running_pipeline_wait_failed(RunningPipeline *running); /* its start */
void running_pipeline_wait_fatal(RunningPipeline *running);
void running_pipeline_wait_finished(RunningPipeline *running);
/* Until the reason that it gives, or its line of status, has @part; the second one while it is not ready. */
void running_pipeline_wait_reason(RunningPipeline *running, const char *part);
void running_pipeline_wait_not_ready(RunningPipeline *running, const char *part);
void running_pipeline_wait_status(RunningPipeline *running, const char *part);
/* As it is now. */
void running_pipeline_assert_not_ready(RunningPipeline *running);
void running_pipeline_assert_reason(RunningPipeline *running, const char *part);
/* Over all series of a metric. */
guint64 running_pipeline_sum(const RunningPipeline *running, const char *metric);
/* Until a metric's sum is at least @least. */
void running_pipeline_wait_metric(RunningPipeline *running, const char *name, guint64 least);

/* Until everything produced is committed; aborts the test when it is not in time. */
void pipeline_fixture_wait_all_committed(PipelineFixture *fixture);
/* Of FIXTURE_TOPIC, by FIXTURE_GROUP, and of another topic. */
void pipeline_fixture_wait_committed(PipelineFixture *fixture, gint32 partition, gint64 offset);
void pipeline_fixture_wait_committed_of(PipelineFixture *fixture, const char *topic, gint32 partition, gint64 offset);
gint64 pipeline_fixture_committed(PipelineFixture *fixture, gint32 partition);

/* The first gateway refuses each putMultiple, of @table and with a row that begins with @row_prefix, both nullable.
 * Returns: the fault's id. */
guint pipeline_fixture_fail_puts(PipelineFixture *fixture, const char *table, const char *row_prefix);
/* Until that gateway's fault has hit so often; until it was called so often with putMultiple. */
void pipeline_fixture_wait_hits(PipelineFixture *fixture, guint fault, guint64 n);
void pipeline_fixture_wait_puts(PipelineFixture *fixture, guint64 n);

/* What the tables hold, in family M. @wanted: NULL: there is no such cell. */
void pipeline_fixture_wait_rows(PipelineFixture *fixture, const char *table, guint64 n);
void pipeline_fixture_wait_value(PipelineFixture *fixture, const char *table, const char *row, const char *qualifier,
                                 const char *value);
void pipeline_fixture_assert_value(PipelineFixture *fixture, const char *table, const char *row, const char *qualifier,
                                   const char *wanted);
void pipeline_fixture_drop_table(PipelineFixture *fixture, const char *table);

/* Of each topic and partition, messages and readings: received is what ended in some way and what is in flight. For
 * while nothing moves: a scrape is not one instant. */
void running_pipeline_assert_accounting_balances(RunningPipeline *running);

/* ---- readings that make order matter ---- */

#define PIPELINE_BASE_MS G_GINT64_CONSTANT(1763700000000)

/* Readings of 8 hosts over both partitions, each host in one, from step @first on, some out of order and some twice:
 * one second and one reading a host and step. */
void pipeline_produce_mixture_from(PipelineFixture *fixture, guint first, guint n_steps);
void pipeline_produce_mixture(PipelineFixture *fixture, guint n_steps);
/* METRIC and CURRENT_METRIC are, cell by cell, what @n_steps of the mixture must leave. */
void pipeline_assert_tables(PipelineFixture *fixture, guint n_steps);
/* All of it is committed and in the tables, and then the end. */
void pipeline_fixture_finish_mixture(PipelineFixture *fixture, RunningPipeline *running, guint n_steps);

/* ---- dead letters ---- */

#define DEAD_LETTERS "letters"
#define TO_TOPIC "dead_letters: { topic: " DEAD_LETTERS ", max_ratio: 1 }\n"

/* With their topic, and without or with an HBase that refuses large cells. */
void pipeline_fixture_set_up_letters(PipelineFixture *fixture, gconstpointer data);
void pipeline_fixture_set_up_refusing(PipelineFixture *fixture, gconstpointer data);
/* A value that such an HBase refuses. (transfer full) */
char *pipeline_fixture_oversized(void);
/* All dead letters, in their order. (transfer full) (element-type TideMockRecord) */
GPtrArray *pipeline_fixture_read_letters(PipelineFixture *fixture);
void letter_assert_bytes(GBytes *found, TideBytes wanted);
/* @wanted: NULL: there is no such header. */
void letter_assert_header(const TideMockRecord *dead_letter, const char *name, const char *wanted);
/* The offset of the message that it is of. */
guint64 letter_offset(const TideMockRecord *dead_letter);
/* Exactly one dead letter, of that message, for a row that was refused. */
void pipeline_fixture_assert_only_letter(PipelineFixture *fixture, const char *partition, const char *offset);

/* ---- what an operator would have had to read ---- */

/* The log's lines at warning and above. Takes the place of standard error; one at a time. */
typedef struct LogCapture LogCapture;
LogCapture *log_capture_start(void);
/* Gives standard error back and frees @capture. Returns: the lines, "" when there were none; (transfer full). */
char *log_capture_end(LogCapture *capture);

G_END_DECLS
