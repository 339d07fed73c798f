/* A gateway that refuses some rows, for those who look for them: rows are known by their number, which is their wire.
 * For tests only. */
#pragma once

#include "write/row_isolation.h"

#define MAX_ROWS 10000u
#define ROUND_US 100

/* Behind the number of a large row so many of these. */
#define FILLER G_MAXUINT32
#define N_FILLERS 30u

/* A gateway that knows rows by their number, which is their wire. */
typedef struct Gateway {
  TideRowIsolation *isolation;
  TideLane *lanes[2]; /* of nobody: only told apart */
  TideCall call;
  guint32 n_rows;
  gboolean is_bad[MAX_ROWS];
  guint32 n_written[MAX_ROWS];
  guint32 index;          /* which gateway it is now */
  gsize limit_bytes;      /* of a call, above which it refuses it; 0: none */
  gboolean is_cutting;    /* what is above that is cut off, without a word */
  gboolean is_ambiguous;  /* its errors name no row's fault */
  guint32 broken_after;   /* calls, then it refuses everything; 0: never */
  guint32 failing_every;  /* calls, one fails for no reason; 0: none */
  guint32 refusing_calls; /* the bad rows are bad for so many calls that carry one; 0: for good */
  guint32 text_kind;      /* of its ambiguous errors */
  gboolean is_naming;     /* it names the first bad row of a call, as HBase does ... */
  guint32 named_instead;  /* ... or this one; 0: the bad one */
  guint32 failing_call;   /* this one ends in failing_with; 0: none */
  TideFailure failing_with;
  guint32 n_calls;
  guint32 n_all_calls;
} Gateway;

static inline gboolean
holds_bad_row(Gateway *gateway, const TideSentRows *rows, guint32 *ret_n_rows)
{
  gboolean bad = FALSE;
  *ret_n_rows = 0;
  for (gsize i = 0; i < rows->n_parts; i++)
    for (gsize at = 0; at < rows->parts[i].len; at += sizeof(guint32)) {
      guint32 number = *(const guint32 *)(const void *)(rows->parts[i].data + at);
      *ret_n_rows += number != FILLER ? 1 : 0;
      bad = bad || (number != FILLER && gateway->is_bad[number]);
    }
  return bad;
}

/* What the refusal of @rows says, one of which is bad. (transfer full) */
static inline char *
name_bad_row(const Gateway *gateway, const TideSentRows *rows)
{
  guint32 number = gateway->named_instead;
  for (gsize i = rows->n_parts; i-- > 0 && gateway->named_instead == 0;)
    for (gsize at = rows->parts[i].len; at > 0; at -= sizeof(guint32)) {
      guint32 here = *(const guint32 *)(const void *)(rows->parts[i].data + at - sizeof(guint32));
      number = here != FILLER && gateway->is_bad[here] ? here : number;
    }
  g_autofree char *key = tide_bytes_printable(tide_bytes((const guint8 *)&number, sizeof number));
  return g_strdup_printf("refused: Cell[%s/M:v/1/Put/vlen=9/seqid=0] with size 9 exceeds limit of 8 bytes", key);
}

static inline TideFailure
send_rows(const TideSentRows *rows, gpointer data, char **ret_text)
{
  Gateway *gateway = data;
  gateway->n_calls++;
  gateway->n_all_calls++;
  guint32 n_rows;
  gboolean bad = holds_bad_row(gateway, rows, &n_rows);
  gboolean is_too_big = gateway->limit_bytes > 0 && rows->n_bytes > gateway->limit_bytes;
  bad |= is_too_big;
  g_assert_cmpuint(n_rows, ==, rows->n_rows);
  g_assert_cmpuint(n_rows, >, 0);
  *ret_text = bad && gateway->is_naming ? name_bad_row(gateway, rows) : g_strdup("refused");
  if (gateway->n_calls == gateway->failing_call)
    return gateway->failing_with;
  if (is_too_big && gateway->is_cutting)
    return (TideFailure){.outcome = TIDE_OUTCOME_UNKNOWN, .is_cut = TRUE};
  if (gateway->failing_every > 0 && gateway->n_all_calls % gateway->failing_every == 0)
    return (TideFailure){.outcome = TIDE_OUTCOME_POISON};
  if (bad && gateway->refusing_calls > 0 && --gateway->refusing_calls == 0)
    memset(gateway->is_bad, FALSE, sizeof gateway->is_bad);
  if (bad || (gateway->broken_after > 0 && gateway->n_calls > gateway->broken_after))
    return (TideFailure){.outcome = TIDE_OUTCOME_POISON,
                         .is_certain = bad && !gateway->is_ambiguous,
                         .is_for_size = is_too_big,
                         .kind = gateway->text_kind};
  g_clear_pointer(ret_text, g_free);
  for (gsize i = 0; i < rows->n_parts; i++)
    for (gsize at = 0; at < rows->parts[i].len; at += sizeof(guint32)) {
      guint32 number = *(const guint32 *)(const void *)(rows->parts[i].data + at);
      if (number != FILLER)
        gateway->n_written[number]++;
    }
  return (TideFailure){.outcome = TIDE_OUTCOME_OK};
}

static inline Gateway *
gateway_new(void)
{
  Gateway *gateway = g_new0(Gateway, 1);
  gateway->isolation = tide_row_isolation_new(send_rows, gateway, ROUND_US);
  for (guint i = 0; i < G_N_ELEMENTS(gateway->lanes); i++)
    gateway->lanes[i] = (TideLane *)(void *)&gateway->lanes[i];
  return gateway;
}

static inline void
add_row(Gateway *gateway, TideBatch *batch, gboolean is_large)
{
  static const guint32 filler = FILLER;
  TideBatchRow row = {.start_bytes = (guint32)batch->wire.len,
                      .key_offset = (guint32)batch->wire.len,
                      .key_len = sizeof gateway->n_rows};
  tide_buffer_append(&batch->rows, &row, sizeof row);
  tide_buffer_append(&batch->wire, &gateway->n_rows, sizeof gateway->n_rows);
  for (guint i = 0; is_large && i < N_FILLERS; i++)
    tide_buffer_append(&batch->wire, &filler, sizeof filler);
  gateway->n_rows++;
}

/* One row of @large_every is large, from the first on; 0: none is. */
static inline TideBatch *
add_batch_of_sizes(Gateway *gateway, guint lane, guint32 n_rows, guint32 large_every)
{
  TideBatch *batch = tide_batch_new();
  for (guint32 i = 0; i < n_rows; i++)
    add_row(gateway, batch, large_every > 0 && i % large_every == 0);
  batch->n_rows = n_rows;
  batch->lane = gateway->lanes[lane];
  gateway->call.batches[gateway->call.n_batches++] = batch;
  gateway->call.n_rows += n_rows;
  return batch;
}

static inline TideBatch *
add_batch(Gateway *gateway, guint lane, guint32 n_rows)
{
  return add_batch_of_sizes(gateway, lane, n_rows, 0);
}

static inline void
forget_batches(Gateway *gateway)
{
  for (guint32 i = 0; i < gateway->call.n_batches; i++) {
    gateway->call.batches[i]->lane = NULL;
    tide_batch_free(gateway->call.batches[i]);
  }
  gateway->call.n_batches = gateway->call.n_rows = gateway->n_rows = 0;
}

static inline void
gateway_free(Gateway *gateway)
{
  forget_batches(gateway);
  tide_row_isolation_free(gateway->isolation);
  g_free(gateway);
}

static inline TideOutcome
send_call_at(Gateway *gateway, gint64 now_us, TideIsolationCounts *ret_counts)
{
  g_autofree char *text = NULL;
  gateway->n_calls = 0;
  TideFailure failure =
      tide_row_isolation_send(gateway->isolation, &gateway->call, gateway->index, now_us, ret_counts, &text);
  g_assert_cmpint(text == NULL, ==, failure.outcome == TIDE_OUTCOME_OK);
  return failure.outcome;
}

static inline TideOutcome
send_call(Gateway *gateway)
{
  TideIsolationCounts counts;
  return send_call_at(gateway, 1, &counts);
}

static inline guint
count_bad(const Gateway *gateway)
{
  guint n = 0;
  for (guint32 i = 0; i < gateway->n_rows; i++)
    n += gateway->is_bad[i] ? 1 : 0;
  return n;
}

/* So many rounds at the most: where a call begins with bad rows only, each round finds one of them and is given up,
 * until the last three, which are found together with a row that is taken. From then on, what is suspected has to be
 * proven. */
static inline guint
most_rounds(guint n_bad)
{
  return TIDE_PROOF_LIMIT + MAX(n_bad, 3) - 2;
}

/* Rounds until all is written or marked as poison. Returns: how many. */
static inline guint
send_rounds(Gateway *gateway)
{
  TideIsolationCounts counts;
  guint n = 1, limit = most_rounds(count_bad(gateway));
  for (; send_call_at(gateway, n * ROUND_US, &counts) == TIDE_OUTCOME_POISON; n++)
    g_assert_cmpuint(n, <, limit);
  return n;
}

/* Poison are the bad rows and no others; all others are written. */
static inline void
assert_found(const Gateway *gateway)
{
  guint32 at = 0;
  for (guint32 i = 0; i < gateway->call.n_batches; i++) {
    gsize n_poison, next = 0;
    const TideBatchPoison *poison = tide_batch_poison(gateway->call.batches[i], &n_poison);
    for (guint32 row = 0; row < gateway->call.batches[i]->n_rows; row++, at++) {
      gboolean marked_poison = next < n_poison && poison[next].row == row;
      g_assert_cmpint(marked_poison, ==, gateway->is_bad[at]);
      g_assert_cmpint(gateway->n_written[at] > 0, ==, !marked_poison);
      if (!marked_poison)
        continue;
      g_assert_true(g_str_has_prefix(poison[next].text, "refused"));
      g_assert_cmpuint(poison[next].attempts, >=, 1);
      next++;
    }
    g_assert_cmpuint(next, ==, n_poison);
  }
}
