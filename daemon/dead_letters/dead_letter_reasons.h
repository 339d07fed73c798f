/* Counts dead letters by reason, with the last text of each, for metrics and status, and remembers the most recent
 * ones. Threads: one at a time, except for tide_dead_letter_reasons_view(). */
#pragma once

#include "model/dead_letter.h"
#include "util/metrics.h"

G_BEGIN_DECLS

typedef struct TideDeadLetterReasons TideDeadLetterReasons;

TideDeadLetterReasons *tide_dead_letter_reasons_new(TideMetrics *metrics); /* borrowed */
void tide_dead_letter_reasons_free(TideDeadLetterReasons *reasons);

/* Counts a new @dead_letter and copies its text. */
void tide_dead_letter_reasons_note_come(TideDeadLetterReasons *reasons, const TideDeadLetter *dead_letter);
/* Counts @dead_letter as durable. */
void tide_dead_letter_reasons_note_kept(TideDeadLetterReasons *reasons, const TideDeadLetter *dead_letter);

/* The most frequent reason with its text, "'parse': it is not JSON"; empty before the first. (transfer full) */
char *tide_dead_letter_reasons_most(const TideDeadLetterReasons *reasons);

/* Number of recent dead letters remembered. */
#define TIDE_DEAD_LETTERS_RECENT 8

typedef struct TideDeadLetterReasonView {
  char *reason;             /* owned */
  gint64 kept;              /* since the start */
  gint64 first_ms, last_ms; /* when the first and last were kept: wall clock; 0: none */
  char *text;               /* owned: the last one's */
} TideDeadLetterReasonView;

typedef struct TideRecentDeadLetter {
  gint64 kept_ms; /* wall clock */
  char *topic;    /* owned, like all texts here */
  gint64 partition;
  gint64 offset;
  char *table; /* NULL: it has no rows */
  char *reason;
  char *text;
} TideRecentDeadLetter;

typedef struct TideDeadLettersView {
  gint64 kept;     /* since the start */
  GArray *reasons; /* owned (element-type TideDeadLetterReasonView), most frequent first */
  GArray *recent;  /* owned (element-type TideRecentDeadLetter), newest first */
} TideDeadLettersView;

/* Threads: any. (transfer full) */
TideDeadLettersView tide_dead_letter_reasons_view(TideDeadLetterReasons *reasons);

G_END_DECLS
