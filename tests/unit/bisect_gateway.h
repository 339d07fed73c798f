/* A gateway that refuses some rows, limits the size of calls, or does not answer, for tests of the calls sent to it. A
 * row is identified by its number, which is its key and the beginning of its wire bytes. */
#pragma once

#include "unit/test_case.h"
#include "util/clock.h"
#include "write/bisect.h"

#define GATEWAY_ROWS 4096u
#define ROUND_US TIDE_US_PER_S

/* Pauses of the lane are short, so that all suspects are due in each round, one second later. */
static const TideBisectOptions bisect_pauses = {.retry_min_us = 1000, .retry_max_us = 2000};

typedef struct Gateway {
  TideSuspects suspects;
  TideBisect *bisect;
  TideTable table;
  TideLane lanes[2];
  TideCall call;
  guint32 n_rows;
  gboolean is_bad[GATEWAY_ROWS];    /* refused */
  gboolean is_silent[GATEWAY_ROWS]; /* no answer */
  gboolean is_uncertain;            /* its refusals do not state the reason */
  gboolean refuses_all;
  guint32 max_rows;                /* limit of a call: larger calls get no answer; 0: none */
  gsize max_bytes;                 /* limit of a call: larger calls are refused for their size; 0: none */
  guint32 failing_every;           /* one call in this many is refused; 0: none */
  guint32 cancelling_call;         /* during this call the first batch is cancelled; 0: none */
  TideOutcome ending;              /* outcome of the call after ending_after calls; OK: none */
  guint32 ending_after;            /* counts calls of this take */
  guint32 n_written[GATEWAY_ROWS]; /* how often */
  guint32 n_sent[GATEWAY_ROWS];
  guint32 n_calls, n_all_calls; /* of the last take, of all */
  guint32 largest_rows;         /* of the last take */
  gint64 now_us;
  TideBisectCounts counts; /* of the last take */
  char *text;              /* owned: likewise */
} Gateway;

static inline void
keep_lane(TideLane *lane)
{
}

static inline Gateway *
gateway_new(void)
{
  Gateway *gateway = g_new0(Gateway, 1);
  TideBisectOptions options = bisect_pauses;
  gateway->table.name = (char *)"T";
  gateway->now_us = 1000 * ROUND_US;
  for (guint i = 0; i < G_N_ELEMENTS(gateway->lanes); i++)
    tide_lane_init(&gateway->lanes[i], &gateway->table, TIDE_BYTES_EMPTY, TIDE_BYTES_EMPTY, keep_lane);
  tide_suspects_init(&gateway->suspects);
  options.suspects = &gateway->suspects;
  gateway->bisect = tide_bisect_new(&options);
  gateway->call.max_rows = GATEWAY_ROWS;
  return gateway;
}

static inline void
gateway_forget_batches(Gateway *gateway)
{
  for (guint32 i = 0; i < gateway->call.n_batches; i++)
    tide_batch_free(gateway->call.batches[i]);
  gateway->call.n_batches = 0;
  gateway->n_rows = 0;
}

static inline void
gateway_free(Gateway *gateway)
{
  gateway_forget_batches(gateway);
  tide_bisect_free(gateway->bisect);
  tide_suspects_clear(&gateway->suspects);
  g_free(gateway->text);
  g_free(gateway);
}

static inline void
gateway_add_row(Gateway *gateway, TideBatch *batch, gsize n_bytes)
{
  TideBatchRow row = {.start_bytes = (guint32)batch->wire.len,
                      .key_offset = (guint32)batch->wire.len,
                      .key_len = sizeof gateway->n_rows,
                      .n_mutations = 1};
  tide_buffer_append(&batch->rows, &row, sizeof row);
  memset(tide_buffer_reserve(&batch->wire, n_bytes), 'x', n_bytes);
  memcpy(batch->wire.data + batch->wire.len, &gateway->n_rows, sizeof gateway->n_rows);
  batch->wire.len += n_bytes;
  batch->n_rows++;
  gateway->n_rows++;
}

static inline TideBatch *
gateway_add_batch(Gateway *gateway, guint lane, guint32 n_rows)
{
  TideBatch *batch = tide_batch_new();
  batch->lane = tide_lane_ref(&gateway->lanes[lane]);
  for (guint32 i = 0; i < n_rows; i++)
    gateway_add_row(gateway, batch, sizeof gateway->n_rows);
  gateway->call.batches[gateway->call.n_batches++] = batch;
  return batch;
}

static inline TideFailure
gateway_answer(Gateway *gateway, const guint32 *numbers, const TideBisectCall *sent)
{
  gboolean is_refused = gateway->refuses_all, is_silent = gateway->max_rows > 0 && sent->n_rows > gateway->max_rows;
  gboolean is_too_large = gateway->max_bytes > 0 && sent->n_bytes > gateway->max_bytes;
  gateway->n_calls++;
  gateway->n_all_calls++;
  gateway->largest_rows = MAX(gateway->largest_rows, sent->n_rows);
  for (guint32 i = 0; i < sent->n_rows; i++) {
    gateway->n_sent[numbers[i]]++;
    is_refused |= gateway->is_bad[numbers[i]];
    is_silent |= gateway->is_silent[numbers[i]];
  }
  if (gateway->n_calls == gateway->cancelling_call)
    tide_batch_cancel(gateway->call.batches[0]);
  if (gateway->ending != TIDE_OUTCOME_OK && gateway->n_calls > gateway->ending_after)
    return (TideFailure){.outcome = gateway->ending};
  if (is_silent)
    return (TideFailure){.outcome = TIDE_OUTCOME_UNKNOWN};
  if (gateway->failing_every > 0 && gateway->n_all_calls % gateway->failing_every == 0)
    return (TideFailure){.outcome = TIDE_OUTCOME_POISON};
  if (is_refused || is_too_large)
    return (TideFailure){.outcome = TIDE_OUTCOME_POISON,
                         .is_certain = is_refused && !gateway->is_uncertain,
                         .is_for_size = is_too_large};
  for (guint32 i = 0; i < sent->n_rows; i++)
    gateway->n_written[numbers[i]]++;
  return (TideFailure){.outcome = TIDE_OUTCOME_OK};
}

/* The numbers of the rows in @sent, none of which may be from a cancelled batch. */
static inline void
gateway_read(const Gateway *gateway, const TideBisectCall *sent, guint32 *ret_numbers)
{
  guint32 n = 0;
  for (guint32 i = 0; i < gateway->call.n_batches; i++) {
    const TideBatch *batch = gateway->call.batches[i];
    for (guint32 row = 0; row < batch->n_rows; row++) {
      const guint8 *at = tide_batch_row_wire(batch, row).data;
      for (gsize p = 0; p < sent->n_parts; p++)
        if (at >= sent->parts[p].data && at < sent->parts[p].data + sent->parts[p].len) {
          g_assert_false(tide_batch_is_cancelled(batch));
          memcpy(&ret_numbers[n++], at, sizeof *ret_numbers);
        }
    }
  }
  g_assert_cmpuint(n, ==, sent->n_rows);
}

/* Sends the call like a writer. Returns what the lanes would. */
static inline TideOutcome
gateway_send(Gateway *gateway)
{
  static guint32 numbers[GATEWAY_ROWS];
  TideBisectCall sent;
  g_clear_pointer(&gateway->text, g_free);
  gateway->n_calls = gateway->largest_rows = 0;
  gateway->now_us += ROUND_US;
  /* As the lanes give it out. */
  gateway->call.taken_rows = gateway->call.silent_rows = gateway->call.oversized_rows = 0;
  gateway->call.is_answered = FALSE;
  tide_bisect_begin(gateway->bisect, &gateway->call, gateway->now_us);
  while (tide_bisect_next(gateway->bisect, &sent)) {
    gateway_read(gateway, &sent, numbers);
    TideFailure failure = gateway_answer(gateway, numbers, &sent);
    const char *text = failure.outcome == TIDE_OUTCOME_OK ? NULL : "refused";
    tide_bisect_note(gateway->bisect, failure, text, gateway->now_us);
  }
  TideFailure failure = tide_bisect_end(gateway->bisect, gateway->now_us, &gateway->counts, &gateway->text);
  g_assert_cmpint(gateway->text != NULL, ==, failure.outcome != TIDE_OUTCOME_OK);
  for (guint32 i = 0; i < gateway->call.n_batches; i++)
    gateway->call.batches[i]->delivery.attempts++;
  return failure.outcome;
}

static inline guint32
gateway_count(const Gateway *gateway, TideRowState state)
{
  guint32 n = 0;
  for (guint32 i = 0; i < gateway->call.n_batches; i++) {
    const TideBatch *batch = gateway->call.batches[i];
    gboolean is_whole = batch->delivery.states.len == 0 && batch->delivery.is_acknowledged;
    for (guint32 row = 0; row < batch->n_rows; row++)
      n += is_whole ? state == TIDE_ROW_DONE : tide_batch_row_state(batch, row) == state;
  }
  return n;
}

/* Checks that nothing remains to be sent. */
static inline gboolean
gateway_is_finished(const Gateway *gateway)
{
  return gateway_count(gateway, TIDE_ROW_DONE) + gateway_count(gateway, TIDE_ROW_POISON) == gateway->n_rows;
}

/* Checks that exactly the bad rows are poison, and all others are written. */
static inline void
gateway_assert_exact(const Gateway *gateway)
{
  guint32 at = 0;
  for (guint32 i = 0; i < gateway->call.n_batches; i++) {
    const TideBatch *batch = gateway->call.batches[i];
    for (guint32 row = 0; row < batch->n_rows; row++, at++) {
      const TideBatchPoison *poison = tide_batch_find_poison(batch, row);
      g_assert_cmpint(poison != NULL, ==, gateway->is_bad[at]);
      g_assert_cmpint(gateway->n_written[at] > 0, ==, !gateway->is_bad[at]);
      if (poison == NULL)
        continue;
      g_assert_cmpstr(poison->text, ==, "refused");
      g_assert_cmpuint(poison->attempts, ==, gateway->n_sent[at]);
    }
  }
}
