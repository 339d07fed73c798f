/* Finds out which messages are guilty of a refused row that held cells of several: parts of the row are written.
 *
 * The messages are mapped again, and of their rows those with the letter's table and key are sent, merged into one as
 * the lanes merge them, and when HBase has it, the index rows that follow it, as the consumer would have done. What is
 * refused is tried in two halves, and these again, until a message is refused alone: so one guilty message of n costs
 * about 2 * log2(n) calls. A refusal that may be the gateway's own trouble counts when it comes again, by turns with
 * what was taken before. A message of a latest table whose cells do not stand in the row of its half is innocent with
 * it: there HBase need not take them.
 *
 * Cells are sent at their own event times, so what is there already is written again unchanged. Where two messages give
 * one column of the row different values at one time, the later offset wins: it wins within a half, the half of the
 * earlier offsets is tried first, and the consumer lets another value for the same column and time wait for
 * hbase.settle. A trial that takes longer than that may still be the last to write.
 *
 * Threads: the owner's, but for the cancel. */
#pragma once

#include "flow/budget.h"
#include "flow/writer_connection.h"
#include "model/letter.h"

G_BEGIN_DECLS

typedef struct TideRowTrial TideRowTrial;

typedef enum TideTrialVerdict {
  TIDE_TRIAL_INNOCENT, /* HBase has its row */
  TIDE_TRIAL_GUILTY,   /* HBase refuses it, or it makes no such row any more */
  TIDE_TRIAL_LATER,    /* nothing is known yet: try again */
} TideTrialVerdict;

typedef struct TideTrialSubject {
  const TideLetter *letter; /* borrowed: with its original */
  TideTrialVerdict verdict; /* filled in */
} TideTrialSubject;

typedef struct TideRowTrialContext {
  const TideConfig *config; /* borrowed, all */
  TideWireProtocol protocol;
  TideBudget *budget; /* for rows while they are sent */
  TideGateways *gateways;
  TideMetrics *metrics;
} TideRowTrialContext;

TideRowTrial *tide_row_trial_new(const TideRowTrialContext *context);
void tide_row_trial_free(TideRowTrial *trial); /* NULL ok */

/**
 * tide_row_trial_run: judge messages of one refused row.
 * @subjects: with letters of the same table and row key, ordered by partition and offset. LATER stands at the end, so
 *     the order stays when those are tried again
 * @max_calls: after so many, the rest is LATER; enough for some verdicts: 100
 * @ret_text: what keeps some from being judged now; NULL: nothing does. (transfer full)
 * Returns: how many calls that took.
 */
guint32 tide_row_trial_run(TideRowTrial *trial, TideTrialSubject *subjects, guint n, guint32 max_calls,
                           char **ret_text);

/* After some runs: gives the connection up. */
void tide_row_trial_rest(TideRowTrial *trial);

/* Ends the run under way and every later one, with LATER. Threads: any. */
void tide_row_trial_cancel(TideRowTrial *trial);

G_END_DECLS
