/* What the path of a reading costs, stage by stage: the daemon's own code, without Kafka and HBase, on one thread.
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

/* ---- stages.c ---- */

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

G_END_DECLS
