/* How often each reason made a dead letter, and what the last one said: for metrics, and for the one sentence that an
 * operator reads. Threads: one at a time. */
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

G_END_DECLS
