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
  gsize offset; /* in bytes: the Kafka key, and the value behind it */
  guint32 key_len;
  guint32 value_len;
} TideBenchMessage;

/* What a load makes in the tables of one kind. */
typedef struct TideBenchRows {
  guint64 rows;
  guint64 cells;
  guint64 stored_bytes; /* as HBase's KeyValues, each with its whole key */
  /* of these, what has a time to live, how long that is, and the bytes times that */
  guint64 ttl_bytes;
  gint64 min_ttl_ms; /* 0: nothing has */
  gint64 max_ttl_ms;
  double ttl_byte_ms;
} TideBenchRows;

typedef struct TideBenchLoad {
  TideBytes topic;     /* borrowed: what the messages stand for */
  gint64 timestamp_ms; /* of each record: when the load was made */
  TideBuffer bytes;
  GArray *messages; /* owned (element-type TideBenchMessage) */
  guint32 n_given;  /* the first so many are different; those behind them are these again */
  /* after tide_bench_load_settle() */
  guint64 given_bytes; /* of those that are different, with their keys */
  guint64 n_readings;
  guint64 n_rows;
  guint64 n_cells;
  TideBenchRows history; /* of n_rows, those of tables that keep every reading */
  TideBenchRows latest;  /* of n_rows, those of latest tables: before any row replaces another */
  guint32 n_rejected;    /* taken out */
  char *first_reject;    /* owned: why; NULL: none was */
} TideBenchLoad;

TideBenchLoad *tide_bench_load_new(const TideConfig *config); /* @config: borrowed */
void tide_bench_load_free(TideBenchLoad *load);               /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideBenchLoad, tide_bench_load_free)

void tide_bench_load_add(TideBenchLoad *load, TideBytes key, TideBytes value);

/* The messages of `tidemark simulate` with these parameters. */
void tide_bench_load_simulate(TideBenchLoad *load, const TideSimulationParameters *parameters);

/* Adds what the file at @path holds ("-": standard input), one message or one a line, as tide_message_is_whole() says
 * of @decode, until there are @max_messages. Errors: IO. */
gboolean tide_bench_load_read(TideBenchLoad *load, const char *path, const TideDecodeOptions *decode,
                              guint64 max_messages, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * tide_bench_load_settle: take out what the mapping of @config rejects, repeat what is left until there are
 * @n_messages, and count what they make.
 * Errors: TIDE_ERROR_DATA when nothing is left that makes a row.
 */
gboolean tide_bench_load_settle(TideBenchLoad *load, const TideConfig *config, guint64 n_messages,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Message @i as Kafka would deliver it; valid while nothing is added. */
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

/* By stage: its name, and what it is a part of ("map"; NULL: of the whole). */
extern const char *const tide_bench_stage_names[TIDE_BENCH_N_STAGES];
extern const char *const tide_bench_stage_wholes[TIDE_BENCH_N_STAGES];

typedef struct TideBenchRequest {
  const TideConfig *config;  /* borrowed, all */
  const TideBenchLoad *load; /* settled */
  TideWireProtocol protocol;
  guint32 runs; /* at least 1 */
  guint stages; /* a bit for each that is wanted: 1 << TideBenchStage */
  /* (nullable) how often memory was allocated in this process so far. The program does not count: who measures brings
   * a counter, as tests/bench does, by linking or preloading it. */
  guint64 (*count_allocations)(void);
} TideBenchRequest;

/* Of one reading, in one stage. */
typedef struct TideBenchFigure {
  double ns; /* median of the runs */
  double min_ns;
  double max_ns;
  double allocations; /* the most of any run; 0 where nobody counts */
} TideBenchFigure;

/* @ret_figures: of the stages that were asked for; others are zero. */
void tide_bench_stages_run(const TideBenchRequest *request, TideBenchFigure ret_figures[TIDE_BENCH_N_STAGES]);

/* ---- report.c ---- */

typedef struct TideBenchReport {
  const char *name;                /* of what was measured */
  const TideBenchRequest *request; /* borrowed, all */
  const TideBenchFigure *figures;  /* by stage */
} TideBenchReport;

/* As a table for people, or a JSON object for programs. */
void tide_bench_report_print(FILE *stream, const TideBenchReport *report);
void tide_bench_report_print_json(FILE *stream, const TideBenchReport *report); /* one line */

/* ---- plan.c: how much of everything a load needs ----
 *
 * The sums of docs/sizing.md, from what a row and a cell cost where that was measured. A pure function of the load: the
 * same load, the same plan. */

/* The rows and cells that one reading becomes in the tables of one kind. */
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
  TidePlanRows latest;    /* before a row replaces another of its machine */
  double latest_window_s; /* that a latest row waits for newer values */
  double path_us;         /* of a reading, from its bytes to batches, as measured here; 0: by the model */
  double retention_s;     /* of the tables with history, on average by their bytes */
  double min_ttl_s;       /* of their cells that have one, which is taken for these; 0: none is */
  double max_ttl_s;
  double other_retention_s; /* of the others; 0: there are none, or min_ttl_s is */
  double kafka_retention_s; /* of the topic */
  double stored_share;      /* what encoding and compression leave; above 0 */
  gboolean share_unknown;   /* families declare some, and nobody said what it leaves */
  double memory_bytes;      /* limits.memory of the configuration; 0: there is none */
  guint replication;        /* of HDFS and of the topic; at least 1 */
  guint cores;              /* of each host; at least 1 */
  double margin;            /* the share of them that stays free; below 1 */
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
  double rows_per_s; /* as HBase gets them */
  double cells_per_s;
  double client_cores; /* busy, of all daemons */
  double gateway_cores;
  double hbase_cores;
  TidePlanFigure figures[TIDE_PLAN_N];
} TidePlan;

/* The bytes that the budget is charged for waiting latest rows, given their size as HBase stores them. */
double tide_plan_waiting_bytes(double n_rows, double stored_bytes);

void tide_plan_make(const TidePlanLoad *load, TidePlan *ret_plan);
void tide_plan_clear(TidePlan *plan);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TidePlan, tide_plan_clear)

/* As tables for people, or as a JSON object for programs. */
void tide_plan_print(FILE *stream, const TidePlanLoad *load, const TidePlan *plan);
void tide_plan_print_json(FILE *stream, const TidePlanLoad *load, const TidePlan *plan); /* one line */

/* Where nobody said how many machines there are. Of tables it stands beside them, on standard error, as a program reads
 * it among the notes. (transfer full) */
char *tide_plan_machines_note(const TidePlanLoad *load);

G_END_DECLS
