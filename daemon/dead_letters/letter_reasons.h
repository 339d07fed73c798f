/* How often each reason made a dead letter, and what the last one said: for metrics, and for the one sentence that an
 * operator reads. Threads: one at a time. */
#pragma once

#include "model/letter.h"
#include "util/metrics.h"

G_BEGIN_DECLS

typedef struct TideLetterReasons TideLetterReasons;

TideLetterReasons *tide_letter_reasons_new(TideMetrics *metrics); /* borrowed */
void tide_letter_reasons_free(TideLetterReasons *reasons);

/* @letter came; copies its text. */
void tide_letter_reasons_note_come(TideLetterReasons *reasons, const TideLetter *letter);
/* @letter is durable. */
void tide_letter_reasons_note_kept(TideLetterReasons *reasons, const TideLetter *letter);

/* "'parse': it is not JSON" of the reason that came most often; empty before any. (transfer full) */
char *tide_letter_reasons_most(const TideLetterReasons *reasons);

G_END_DECLS
