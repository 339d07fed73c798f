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

#include "commands/bench/load.h"
#include "thrift/wire/wire.h"

#include <stdio.h>

G_BEGIN_DECLS

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
