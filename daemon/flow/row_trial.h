/* Finds out whether a message is guilty: its own part of a refused row, which held cells of other messages too, is
 * written alone.
 *
 * The message is mapped again, and of its rows the one with the letter's table and key is sent, and when HBase has it,
 * the index rows that follow it, as the consumer would have done. Cells are sent at their own event times, so what is
 * there already is written again unchanged. Where two messages give one column of the row different values at one
 * time, the later offset wins: of one partition the earlier is tried first, and the consumer lets another value for the
 * same column and time wait for hbase.settle. A trial that takes longer than that may still be the last to write.
 *
 * Threads: the owner's, but for the cancel. */
#pragma once

#include "flow/writer_connection.h"
#include "model/letter.h"

G_BEGIN_DECLS

typedef struct TideRowTrial TideRowTrial;

typedef enum TideTrialVerdict {
  TIDE_TRIAL_INNOCENT, /* HBase has its row */
  TIDE_TRIAL_GUILTY,   /* HBase refuses it, or it makes no such row any more */
  TIDE_TRIAL_LATER,    /* nothing is known yet: try again */
} TideTrialVerdict;

typedef struct TideRowTrialContext {
  const TideConfig *config; /* borrowed, all */
  TideWireProtocol protocol;
  TideGateways *gateways;
  TideMetrics *metrics;
} TideRowTrialContext;

TideRowTrial *tide_row_trial_new(const TideRowTrialContext *context);
void tide_row_trial_free(TideRowTrial *trial); /* NULL ok */

/**
 * tide_row_trial_run: try the message that @letter holds with its original.
 * @ret_text: what HBase said, or why it is not known; NULL when innocent. (transfer full)
 */
TideTrialVerdict tide_row_trial_run(TideRowTrial *trial, const TideLetter *letter, char **ret_text);

/* After some runs: gives the connection up. */
void tide_row_trial_rest(TideRowTrial *trial);

/* Ends the run under way and every later one, with LATER. Threads: any. */
void tide_row_trial_cancel(TideRowTrial *trial);

G_END_DECLS
