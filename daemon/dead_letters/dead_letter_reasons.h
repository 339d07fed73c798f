/* How often each reason made a dead letter, and what the last one said: for metrics, and for the one sentence that an
 * operator reads; and the last ones, for who looks on. Threads: one at a time, but for tide_dead_letter_reasons_view().
 */
#pragma once

#include "model/dead_letter.h"
#include "util/metrics.h"

G_BEGIN_DECLS

typedef struct TideDeadLetterReasons TideDeadLetterReasons;

TideDeadLetterReasons *tide_dead_letter_reasons_new(TideMetrics *metrics); /* borrowed */
void tide_dead_letter_reasons_free(TideDeadLetterReasons *reasons);

/* @dead_letter came; copies its text. */
void tide_dead_letter_reasons_note_come(TideDeadLetterReasons *reasons, const TideDeadLetter *dead_letter);
/* @dead_letter is durable. */
void tide_dead_letter_reasons_note_kept(TideDeadLetterReasons *reasons, const TideDeadLetter *dead_letter);

/* "'parse': it is not JSON" of the reason that came most often; empty before any. (transfer full) */
char *tide_dead_letter_reasons_most(const TideDeadLetterReasons *reasons);

/* How many of the last ones are remembered. */
#define TIDE_DEAD_LETTERS_RECENT 8

typedef struct TideDeadLetterReasonView {
  char *reason;             /* owned */
  gint64 kept;              /* since the start */
  gint64 first_ms, last_ms; /* when the first and the last of them were kept: wall clock; 0: none was */
  char *text;               /* owned: of the last */
} TideDeadLetterReasonView;

typedef struct TideRecentDeadLetter {
  gint64 kept_ms; /* wall clock */
  char *topic;    /* owned, like all texts here */
  gint64 partition;
  gint64 offset;
  char *table; /* NULL: it made no rows */
  char *reason;
  char *text;
} TideRecentDeadLetter;

typedef struct TideDeadLettersView {
  gint64 kept;     /* since the start */
  GArray *reasons; /* owned (element-type TideDeadLetterReasonView), the most frequent first */
  GArray *recent;  /* owned (element-type TideRecentDeadLetter), the newest first */
} TideDeadLettersView;

/* Threads: any. (transfer full) */
TideDeadLettersView tide_dead_letter_reasons_view(TideDeadLetterReasons *reasons);

G_END_DECLS
