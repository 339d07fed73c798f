/* The work of `tidemark verify`: topics and tables are read as often as the memory asks for, and each cell is judged
 * once.
 *
 * Threads: one; blocks for as long as it takes. */
#pragma once

#include "commands/verify/samples.h"

G_BEGIN_DECLS

typedef struct TideVerifyOptions {
  gsize memory_bytes;      /* of the set of cells */
  guint64 rate_rows_per_s; /* of the tables' scans; 0: not limited */
  guint max_samples;       /* of a kind */
  gboolean is_whole;       /* the topics hold all that they ever did, as far as their offsets tell */
} TideVerifyOptions;

typedef struct TideVerifyContext {
  const TideConfig *config; /* borrowed, all */
  const TideVerifyInput *input;
  GArray *parts; /* (element-type TideTopicPart): what is asked for of each is the window */
  TideVerifyTables *tables;
  const TideVerifyDeadLetters *dead_letters;
  const volatile int *stop;
} TideVerifyContext;

typedef struct TideVerifyResult {
  TideVerifyMessageCounts counts;
  TideVerifySamples *samples; /* owned */
  guint n_passes;
  gboolean has_gaps; /* offsets without a message: nothing is unexpected then */
} TideVerifyResult;

void tide_verify_result_clear(TideVerifyResult *result);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideVerifyResult, tide_verify_result_clear)

/* What is found is counted in the tables, too. Errors: those of topics and tables; TOO_BIG: a row has more cells than
 * the memory holds; CANCELLED. */
gboolean tide_verify_run(const TideVerifyContext *context, const TideVerifyOptions *options,
                         TideVerifyResult *ret_result, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
