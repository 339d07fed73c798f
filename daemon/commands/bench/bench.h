/* Measures the cost of a reading on this machine, stage by stage, and plans the resources that a load needs. */
#pragma once

#include "commands/simulate/simulation.h"
#include "config/config.h"
#include "model/message.h"
#include "thrift/wire/wire.h"

#include <stdio.h>

G_BEGIN_DECLS

/* ---- load.c ---- */

typedef struct TideBenchMessage {
  gsize offset; /* in bytes: the Kafka key, followed by the value */
  guint32 key_len;
  guint32 value_len;
} TideBenchMessage;

/* The rows that a load makes in tables of one kind. */
typedef struct TideBenchRows {
  guint64 rows;
  guint64 cells;
  guint64 stored_bytes; /* as HBase's KeyValues, each with its whole key */
  /* the part with a time to live: its bytes, the times, and the sum of bytes times time */
  guint64 ttl_bytes;
  gint64 min_ttl_ms; /* 0: none */
  gint64 max_ttl_ms;
  double ttl_byte_ms;
} TideBenchRows;

typedef struct TideBenchLoad {
  TideBytes topic;     /* borrowed: the topic of the messages */
  gint64 timestamp_ms; /* of each record: the creation time of the load */
  TideBuffer bytes;
  GArray *messages; /* owned (element-type TideBenchMessage) */
  guint32 n_given;  /* number of distinct messages; later ones repeat them */
  /* after tide_bench_load_settle() */
  guint64 given_bytes; /* of the distinct messages, with their keys */
  guint64 n_readings;
  guint64 n_rows;
  guint64 n_cells;
  TideBenchRows history; /* the part of n_rows in tables that keep every reading */
  TideBenchRows latest;  /* the part of n_rows in latest tables: before any row replaces another */
  guint32 n_rejected;    /* removed */
  char *first_reject;    /* owned: the reason; NULL: there was none */
} TideBenchLoad;

TideBenchLoad *tide_bench_load_new(const TideConfig *config); /* @config: borrowed */
void tide_bench_load_free(TideBenchLoad *load);               /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideBenchLoad, tide_bench_load_free)

void tide_bench_load_add(TideBenchLoad *load, TideBytes key, TideBytes value);

/* Adds the messages of `tidemark simulate` with these parameters. */
void tide_bench_load_simulate(TideBenchLoad *load, const TideSimulationParameters *parameters);

/* Adds the content of the file at @path ("-": standard input), as one message or one per line, depending on
 * tide_message_is_whole(@decode), up to @max_messages in total. Errors: IO. */
gboolean tide_bench_load_read(TideBenchLoad *load, const char *path, const TideDecodeOptions *decode,
                              guint64 max_messages, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * tide_bench_load_settle: remove messages that the mapping of @config rejects, repeat the others up to @n_messages, and
 * count their rows.
 * Errors: TIDE_ERROR_DATA if no remaining message makes a row.
 */
gboolean tide_bench_load_settle(TideBenchLoad *load, const TideConfig *config, guint64 n_messages,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Message @i as Kafka would deliver it; valid until the next addition. */
static inline TideMessage
tide_bench_load_message(const TideBenchLoad *load, guint32 i)
{
  const TideBenchMessage *message = &g_array_index(load->messages, TideBenchMessage, i);
  const guint8 *bytes = load->bytes.data + message->offset;
  return (TideMessage){
      .topic = load->topic,
      .offset = i,
      .timestamp_ms = load->timestamp_ms,
      .key = tide_bytes(bytes, message->key_len),
      .has_key = message->key_len > 0,
      .value = tide_bytes(bytes + message->key_len, message->value_len),
      .has_value = TRUE,
  };
}

/* ---- stages.c: the daemon's own code, without Kafka and HBase, on one thread ----
 *
 * A run is several passes over all messages of the load, each doing more of the path than the one before:
 *
 *   decode   messages are decoded                                                          DECODE
 *   map      messages are mapped, which decodes them                                       MAP = this - decode
 *   keys     the same, and each row's key is built 8 times more                             KEY = (this - map) / 8
 *   cells    the same, and each cell is encoded 8 times more                                ENCODE = (this - map) / 8
 *   path     messages are mapped, offsets begun, rows appended to open rows, one set for   APPEND = the rest - map
 *            each table; a set of a data table that holds a call's worth is sealed into    SEAL, timed alone
 *            batches, whose sources are acknowledged at once; those of latest tables at    ACK, timed alone
 *            the end of the pass, as after a coalescing window                             ALL = this
 *
 * So DECODE + MAP + APPEND + SEAL + ACK = ALL; KEY is a part of MAP, and ENCODE one of APPEND. Passes are interleaved,
 * run by run; two runs warm up and are not counted. Time is the thread's own CPU time. Index rows are appended with
 * the others; the rows of all tables of a dated name go to one set. */

typedef enum TideBenchStage {
  TIDE_BENCH_DECODE,
  TIDE_BENCH_MAP,
  TIDE_BENCH_KEY,
  TIDE_BENCH_APPEND,
  TIDE_BENCH_ENCODE,
  TIDE_BENCH_SEAL,
  TIDE_BENCH_ACK,
  TIDE_BENCH_ALL,
  TIDE_BENCH_N_STAGES,
} TideBenchStage;

/* By stage: its name, and the stage that it is part of ("map"; NULL: the whole path). */
extern const char *const tide_bench_stage_names[TIDE_BENCH_N_STAGES];
extern const char *const tide_bench_stage_wholes[TIDE_BENCH_N_STAGES];

typedef struct TideBenchRequest {
  const TideConfig *config;  /* borrowed, all */
  const TideBenchLoad *load; /* settled */
  TideWireProtocol protocol;
  guint32 runs; /* at least 1 */
  guint stages; /* a bit for each wanted stage: 1 << TideBenchStage */
  /* (nullable) returns the number of allocations in this process so far. The program does not count them: a counter
   * must be linked or preloaded, as tests/bench does. */
  guint64 (*count_allocations)(void);
} TideBenchRequest;

/* The cost of one reading in one stage. */
typedef struct TideBenchFigure {
  double ns; /* median of the runs */
  double min_ns;
  double max_ns;
  double allocations; /* the maximum of all runs; 0 without a counter */
} TideBenchFigure;

/* @ret_figures: of the requested stages; others are zero. */
void tide_bench_stages_run(const TideBenchRequest *request, TideBenchFigure ret_figures[TIDE_BENCH_N_STAGES]);

/* ---- report.c ---- */

typedef struct TideBenchReport {
  const char *name;                /* name of the measured configuration */
  const TideBenchRequest *request; /* borrowed, all */
  const TideBenchFigure *figures;  /* by stage */
} TideBenchReport;

/* As a table for people, or a JSON object for programs. */
void tide_bench_report_print(FILE *stream, const TideBenchReport *report);
void tide_bench_report_print_json(FILE *stream, const TideBenchReport *report); /* one line */

/* ---- plan.c: the resources that a load needs ----
 *
 * The calculations of docs/sizing.md, from the measured cost of a row and a cell. A pure function of the load: the same
 * load gives the same plan. */

/* The rows and cells of one reading in tables of one kind. */
typedef struct TidePlanRows {
  double rows;
  double cells;
  double stored_bytes; /* before encoding and compression, one copy */
  guint n_tables;
} TidePlanRows;

typedef struct TidePlanLoad {
  double readings_per_s;
  double messages_per_reading;
  double message_bytes;
  double machines; /* keys of a latest table */
  gboolean machines_assumed;
  TidePlanRows history;
  TidePlanRows latest;    /* before a row replaces another of its device */
  double latest_window_s; /* time that a latest row waits for newer values */
  double path_us;         /* CPU time of a reading, from its bytes to batches, as measured here; 0: use the model */
  double retention_s;     /* of the tables with history, averaged by bytes */
  double min_ttl_s;       /* of their cells with a TTL, which replaces the retention; 0: none */
  double max_ttl_s;
  double other_retention_s; /* of the other cells; 0: there are none, or min_ttl_s is 0 */
  double kafka_retention_s; /* of the topic */
  double stored_share;      /* share left after encoding and compression; above 0 */
  gboolean share_unknown;   /* families declare some, but the share was not given */
  double memory_bytes;      /* limits.memory of the configuration; 0: there is none */
  guint replication;        /* of HDFS and of the topic; at least 1 */
  guint cores;              /* of each host; at least 1 */
  double margin;            /* share of cores that stays free; below 1 */
} TidePlanLoad;

typedef enum TidePlanName {
  TIDE_PLAN_DAEMONS,
  TIDE_PLAN_THREADS,
  TIDE_PLAN_WRITERS,
  TIDE_PLAN_MEMORY,
  TIDE_PLAN_PARTITIONS,
  TIDE_PLAN_TOPIC_DISK,
  TIDE_PLAN_GATEWAYS,
  TIDE_PLAN_REGION_SERVERS,
  TIDE_PLAN_FIRST_REGIONS,
  TIDE_PLAN_REGIONS,
  TIDE_PLAN_DISK,
  TIDE_PLAN_N,
} TidePlanName;

typedef struct TidePlanFigure {
  const char *name; /* for programs */
  const char *title;
  const char *unit;
  double value;
  char *why; /* owned */
} TidePlanFigure;

typedef struct TidePlan {
  double rows_per_s; /* as received by HBase */
  double cells_per_s;
  double client_cores; /* busy, of all daemons */
  double gateway_cores;
  double hbase_cores;
  TidePlanFigure figures[TIDE_PLAN_N];
} TidePlan;

/* The bytes charged to the budget for waiting latest rows, given their size in HBase. */
double tide_plan_waiting_bytes(double n_rows, double stored_bytes);

void tide_plan_make(const TidePlanLoad *load, TidePlan *ret_plan);
void tide_plan_clear(TidePlan *plan);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TidePlan, tide_plan_clear)

/* As tables for people, or as a JSON object for programs. */
void tide_plan_print(FILE *stream, const TidePlanLoad *load, const TidePlan *plan);
void tide_plan_print_json(FILE *stream, const TidePlanLoad *load, const TidePlan *plan); /* one line */

/* A note that the number of machines was assumed. With tables it is printed on standard error, because programs find it
 * among the notes. (transfer full) */
char *tide_plan_machines_note(const TidePlanLoad *load);

G_END_DECLS
