/* Who is guilty of a refused row: the trial alone, against a gateway before an HBase that refuses large cells. What is
 * counted is calls; what is looked at is the verdict on each message, and what stands in the tables. */
#include "fault/pipeline_fixture.h"
#include "flow/row_trial.h"
#include "util/clock.h"

#define MAX_CELL_BYTES 100
#define N_MESSAGES 300
#define HALVINGS 9 /* of N_MESSAGES, until one stands alone */
#define PLENTY 10000
#define TIME_MS G_GINT64_CONSTANT(1763700000000)
#define ROW_KEY "host1"
#define DATA_ROW_KEY "host1#1763700000000"

static const char yaml_format[] =
    "kafka: { brokers: \"127.0.0.1:9\", group: g, topics: [" FIXTURE_TOPIC "] }\n" /* nobody asks them */
    "hbase: { gateways: [\"%s\"], connect_timeout: 1s, call_timeout: 1s, retry_min: 20ms, retry_max: 200ms }\n"
    "readings: { format: json, time: { field: ts, format: epoch_ms } }\n"
    "tables:\n"
    "  METRIC: { key: [ { field: host }, \"#\", { time: epoch_ms } ], columns: { family: M, from: \"*\" } }\n"
    "  CURRENT_METRIC: { latest: merge, key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n"
    "  LAST: { latest: replace, key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n"
    "  INDEX: { latest: merge, index_of: METRIC, key: [ { field: host } ],"
    " columns: { family: M, from: [ { value: { time: epoch_ms }, as: ts } ] } }\n";

typedef struct Fixture {
  TideScriptedGateway *gateway;
  TideFakeHBase *hbase; /* the gateway's */
  TideConfig *config;
  TideMetrics *metrics;
  TideBudget budget;
  TideGateways *gateways;
  TideRowTrial *trial;
  GPtrArray *payloads; /* owned (element-type char *) */
  GArray *letters;     /* (element-type TideLetter): their bytes are the payloads' */
  GArray *subjects;    /* (element-type TideTrialSubject): made by the first run */
  char *text;          /* owned: the last run's */
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
  fixture->gateway = scripted_gateway_new(NULL);
  fixture->hbase = scripted_gateway_hbase(fixture->gateway);
  static const char *const tables[] = {"METRIC", "CURRENT_METRIC", "LAST", "INDEX"};
  for (gsize i = 0; i < G_N_ELEMENTS(tables); i++)
    scripted_gateway_create_table(fixture->gateway, tables[i], "M", NULL);
  fake_hbase_set_max_cell_bytes(fixture->hbase, MAX_CELL_BYTES);
  g_autofree char *yaml = g_strdup_printf(yaml_format, scripted_gateway_endpoint(fixture->gateway));
  g_autoptr(GPtrArray) problems = NULL;
  fixture->config = tide_config_load_text("test.yaml", tide_bytes_of_string(yaml), &problems);
  g_assert_nonnull(fixture->config);
  fixture->metrics = tide_metrics_new();
  tide_budget_init(&fixture->budget, 1 << 26);
  fixture->gateways = tide_gateways_new(&fixture->config->hbase, fixture->metrics);
  tide_gateways_start(fixture->gateways);
  TideRowTrialContext context = {.config = fixture->config,
                                 .protocol = TIDE_WIRE_BINARY,
                                 .budget = &fixture->budget,
                                 .gateways = fixture->gateways,
                                 .metrics = fixture->metrics};
  fixture->trial = tide_row_trial_new(&context);
  fixture->payloads = g_ptr_array_new_with_free_func(g_free);
  fixture->letters = g_array_new(FALSE, FALSE, sizeof(TideLetter));
  fixture->subjects = g_array_new(FALSE, FALSE, sizeof(TideTrialSubject));
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
  tide_row_trial_free(fixture->trial);
  g_assert_cmpuint(tide_budget_used_racy(&fixture->budget), ==, 0);
  tide_gateways_stop(fixture->gateways);
  tide_gateways_free(fixture->gateways);
  g_free(fixture->text);
  g_array_unref(fixture->subjects);
  g_array_unref(fixture->letters);
  g_ptr_array_unref(fixture->payloads);
  tide_config_free(fixture->config);
  tide_metrics_free(fixture->metrics);
  scripted_gateway_free(fixture->gateway);
}

/* The next message of @table's refused row: @field of host1. */
static void
add(Fixture *fixture, const char *table, gint64 time_ms, const char *field, const char *value)
{
  char *payload =
      g_strdup_printf("{\"host\":\"host1\",\"ts\":%" G_GINT64_FORMAT ",\"%s\":\"%s\"}", time_ms, field, value);
  g_ptr_array_add(fixture->payloads, payload);
  gboolean is_data = g_str_equal(table, "METRIC");
  TideLetter letter = {.topic = TIDE_BYTES_LITERAL(FIXTURE_TOPIC),
                       .offset = fixture->letters->len,
                       .timestamp_ms = -1,
                       .value = tide_bytes_of_string(payload),
                       .has_value = TRUE,
                       .table = tide_bytes_of_string(table),
                       .row_key = tide_bytes_of_string(is_data ? DATA_ROW_KEY : ROW_KEY)};
  g_array_append_val(fixture->letters, letter);
}

static void
add_guilty(Fixture *fixture, const char *table, gint64 time_ms, const char *field)
{
  g_autofree char *value = g_strnfill(MAX_CELL_BYTES + 1, 'x');
  add(fixture, table, time_ms, field, value);
}

/* Messages with a column each, of which those at @guilty are. */
static void
add_many(Fixture *fixture, guint n, const guint *guilty, gsize n_guilty)
{
  for (guint i = 0; i < n; i++) {
    g_autofree char *field = g_strdup_printf("f%03u", i);
    gboolean is_guilty = FALSE;
    for (gsize g = 0; g < n_guilty; g++)
      is_guilty |= guilty[g] == i;
    if (is_guilty)
      add_guilty(fixture, "CURRENT_METRIC", TIME_MS + i, field);
    else
      add(fixture, "CURRENT_METRIC", TIME_MS + i, field, "good");
  }
}

static TideTrialSubject *
subject(Fixture *fixture, guint i)
{
  return &g_array_index(fixture->subjects, TideTrialSubject, i);
}

/* Judges all, or those from the first on that were left for later. Returns: the calls. */
static guint32
run(Fixture *fixture, guint32 max_calls)
{
  guint first = 0;
  for (guint i = fixture->subjects->len; i < fixture->letters->len; i++) {
    TideTrialSubject added = {.letter = &g_array_index(fixture->letters, TideLetter, i), .verdict = TIDE_TRIAL_LATER};
    g_array_append_val(fixture->subjects, added);
  }
  while (subject(fixture, first)->verdict != TIDE_TRIAL_LATER)
    first++;
  g_clear_pointer(&fixture->text, g_free);
  return tide_row_trial_run(fixture->trial, subject(fixture, first), fixture->subjects->len - first, max_calls,
                            &fixture->text);
}

static guint
count_verdicts(Fixture *fixture, TideTrialVerdict verdict)
{
  guint n = 0;
  for (guint i = 0; i < fixture->subjects->len; i++)
    n += subject(fixture, i)->verdict == verdict;
  return n;
}

static guint64
calls_seen(Fixture *fixture)
{
  TideGatewayStats stats;
  scripted_gateway_stats(fixture->gateway, &stats);
  return stats.calls_by_method[TIDE_CALL_PUT_MULTIPLE] + stats.calls_by_method[TIDE_CALL_MUTATE_ROW];
}

static void
assert_value(Fixture *fixture, const char *table, const char *row, const char *column, const char *wanted)
{
  g_autoptr(GBytes) value = fake_hbase_value(fixture->hbase, table, row, "M", column, NULL);
  if (wanted == NULL) {
    g_assert_null(value);
    return;
  }
  g_assert_nonnull(value);
  gsize len;
  gconstpointer data = g_bytes_get_data(value, &len);
  g_assert_true(tide_bytes_equal(tide_bytes(data, len), tide_bytes_of_string(wanted)));
}

/* Exactly those at @guilty are guilty, and the cells of all others stand in the row. */
static void
assert_judged(Fixture *fixture, const guint *guilty, gsize n_guilty)
{
  g_assert_null(fixture->text);
  g_assert_cmpuint(count_verdicts(fixture, TIDE_TRIAL_GUILTY), ==, n_guilty);
  g_assert_cmpuint(count_verdicts(fixture, TIDE_TRIAL_INNOCENT), ==, fixture->subjects->len - n_guilty);
  for (gsize i = 0; i < n_guilty; i++)
    g_assert_cmpint(subject(fixture, guilty[i])->verdict, ==, TIDE_TRIAL_GUILTY);
  for (guint i = 0; i < fixture->subjects->len; i++) {
    g_autofree char *field = g_strdup_printf("f%03u", i);
    gboolean is_guilty = subject(fixture, i)->verdict == TIDE_TRIAL_GUILTY;
    assert_value(fixture, "CURRENT_METRIC", ROW_KEY, field, is_guilty ? NULL : "good");
  }
}

/* ---- how many calls ---- */

static void
test_innocents_take_one_call(Fixture *fixture, gconstpointer data)
{
  add_many(fixture, N_MESSAGES, NULL, 0);
  g_assert_cmpuint(run(fixture, PLENTY), ==, 1);
  g_assert_cmpuint(calls_seen(fixture), ==, 1);
  assert_judged(fixture, NULL, 0);
}

static void
test_one_guilty_takes_two_calls_a_halving(Fixture *fixture, gconstpointer data)
{
  const guint guilty[] = {GPOINTER_TO_UINT(data)};
  add_many(fixture, N_MESSAGES, guilty, 1);
  g_assert_cmpuint(run(fixture, PLENTY), <=, 1 + 2 * HALVINGS);
  g_assert_cmpuint(calls_seen(fixture), <=, 1 + 2 * HALVINGS);
  assert_judged(fixture, guilty, 1);
}

static void
test_three_guilty_take_so_many_each(Fixture *fixture, gconstpointer data)
{
  static const guint guilty[] = {11, 12, 250};
  add_many(fixture, N_MESSAGES, guilty, G_N_ELEMENTS(guilty));
  g_assert_cmpuint(run(fixture, PLENTY), <=, 1 + 3 * 2 * HALVINGS);
  g_assert_cmpuint(calls_seen(fixture), <=, 1 + 3 * 2 * HALVINGS);
  assert_judged(fixture, guilty, G_N_ELEMENTS(guilty));
}

static void
test_run_ends_after_its_calls_and_the_next_goes_on(Fixture *fixture, gconstpointer data)
{
  guint guilty[64];
  for (guint i = 0; i < G_N_ELEMENTS(guilty); i++)
    guilty[i] = i;
  add_many(fixture, G_N_ELEMENTS(guilty), guilty, G_N_ELEMENTS(guilty));
  guint n_left = G_N_ELEMENTS(guilty);
  for (guint runs = 0; n_left > 0; runs++) {
    g_assert_cmpuint(runs, <, 10);
    g_assert_cmpuint(run(fixture, 20), <=, 20);
    guint left = count_verdicts(fixture, TIDE_TRIAL_LATER);
    g_assert_cmpuint(left, <, n_left);
    n_left = left;
  }
  assert_judged(fixture, guilty, G_N_ELEMENTS(guilty));
}

/* ---- when nothing can be said now ---- */

static void
test_what_a_lost_answer_leaves_open_is_judged_later(Fixture *fixture, gconstpointer data)
{
  static const guint guilty[] = {3, 299};
  add_many(fixture, N_MESSAGES, guilty, G_N_ELEMENTS(guilty));
  TideScriptedFault lost = {
      .kind = TIDE_FAULT_CLOSE_BEFORE_REPLY, .call = TIDE_CALL_PUT_MULTIPLE, .skip_calls = 12, .max_hits = 1};
  scripted_gateway_add_fault(fixture->gateway, &lost);
  run(fixture, PLENTY);
  g_assert_nonnull(fixture->text);
  guint n_left = count_verdicts(fixture, TIDE_TRIAL_LATER);
  g_assert_cmpuint(n_left, >, 0);
  g_assert_cmpuint(n_left, <, N_MESSAGES);
  for (guint i = 0; i < N_MESSAGES; i++)
    g_assert_true((subject(fixture, i)->verdict == TIDE_TRIAL_LATER) == (i >= N_MESSAGES - n_left));
  run(fixture, PLENTY);
  assert_judged(fixture, guilty, G_N_ELEMENTS(guilty));
}

static void
test_nobody_is_judged_without_a_gateway(Fixture *fixture, gconstpointer data)
{
  add_many(fixture, 10, NULL, 0);
  scripted_gateway_kill(fixture->gateway);
  run(fixture, PLENTY);
  g_assert_nonnull(fixture->text);
  g_assert_cmpuint(count_verdicts(fixture, TIDE_TRIAL_LATER), ==, 10);
  scripted_gateway_start(fixture->gateway);
  gint64 deadline_us = pipeline_fixture_deadline_us();
  for (run(fixture, PLENTY); fixture->text != NULL; run(fixture, PLENTY))
    pipeline_fixture_wait_a_little(deadline_us, "the gateway's return");
  assert_judged(fixture, NULL, 0);
}

/* ---- what is written ---- */

static void
test_later_offset_wins_and_later_time_before_that(Fixture *fixture, gconstpointer data)
{
  add(fixture, "CURRENT_METRIC", TIME_MS, "same_time", "first");
  add(fixture, "CURRENT_METRIC", TIME_MS + 9, "by_time", "newest");
  add_guilty(fixture, "CURRENT_METRIC", TIME_MS, "large");
  add(fixture, "CURRENT_METRIC", TIME_MS, "same_time", "second");
  add(fixture, "CURRENT_METRIC", TIME_MS + 1, "by_time", "older");
  run(fixture, PLENTY);
  g_assert_cmpuint(count_verdicts(fixture, TIDE_TRIAL_INNOCENT), ==, 4);
  g_assert_cmpint(subject(fixture, 2)->verdict, ==, TIDE_TRIAL_GUILTY);
  assert_value(fixture, "CURRENT_METRIC", ROW_KEY, "same_time", "second");
  assert_value(fixture, "CURRENT_METRIC", ROW_KEY, "by_time", "newest");
  assert_value(fixture, "CURRENT_METRIC", ROW_KEY, "large", NULL);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, 0); /* that went its own way */
}

static void
test_replacing_row_is_that_of_the_newest_innocent(Fixture *fixture, gconstpointer data)
{
  add(fixture, "LAST", TIME_MS, "a", "oldest");
  add(fixture, "LAST", TIME_MS + 1, "b", "newest innocent");
  add_guilty(fixture, "LAST", TIME_MS + 2, "c");
  g_assert_cmpuint(run(fixture, PLENTY), ==, 4);
  g_assert_cmpuint(calls_seen(fixture), ==, 4);
  g_assert_cmpuint(count_verdicts(fixture, TIDE_TRIAL_INNOCENT), ==, 2);
  g_assert_cmpint(subject(fixture, 2)->verdict, ==, TIDE_TRIAL_GUILTY);
  assert_value(fixture, "LAST", ROW_KEY, "a", NULL);
  assert_value(fixture, "LAST", ROW_KEY, "b", "newest innocent");
  assert_value(fixture, "LAST", ROW_KEY, "c", NULL);
}

static void
test_index_follows_innocents_only(Fixture *fixture, gconstpointer data)
{
  add_guilty(fixture, "METRIC", TIME_MS, "a");
  run(fixture, PLENTY);
  g_assert_cmpint(subject(fixture, 0)->verdict, ==, TIDE_TRIAL_GUILTY);
  assert_value(fixture, "INDEX", ROW_KEY, "ts", NULL);
  g_array_set_size(fixture->subjects, 0);
  add(fixture, "METRIC", TIME_MS, "b", "good");
  add(fixture, "METRIC", TIME_MS, "c", "good");
  run(fixture, PLENTY);
  g_assert_cmpint(subject(fixture, 0)->verdict, ==, TIDE_TRIAL_GUILTY);
  g_assert_cmpuint(count_verdicts(fixture, TIDE_TRIAL_INNOCENT), ==, 2);
  assert_value(fixture, "METRIC", DATA_ROW_KEY, "b", "good");
  assert_value(fixture, "METRIC", DATA_ROW_KEY, "c", "good");
  assert_value(fixture, "INDEX", ROW_KEY, "ts", G_STRINGIFY(1763700000000));
}

/* As after a change of the configuration: the row that was refused is not made any more. */
static void
test_message_that_makes_no_such_row_is_guilty_without_a_call(Fixture *fixture, gconstpointer data)
{
  add_many(fixture, 4, NULL, 0);
  g_array_index(fixture->letters, TideLetter, 2).row_key = TIDE_BYTES_LITERAL("host2");
  g_assert_cmpuint(run(fixture, PLENTY), ==, 2);
  assert_judged(fixture, (const guint[]){2}, 1);
}

/* ---- refusals that may be the gateway's own trouble ---- */

#define UNCERTAIN "Failed 1 action: org.apache.hadoop.hbase.DoNotRetryIOException: 1 time, servers with issues: rs1"

static void
stumble(Fixture *fixture, guint64 skip_calls, guint64 max_hits)
{
  TideScriptedFault fault = {.kind = TIDE_FAULT_IO_ERROR,
                             .call = TIDE_CALL_PUT_MULTIPLE,
                             .skip_calls = skip_calls,
                             .max_hits = max_hits,
                             .message = UNCERTAIN};
  scripted_gateway_add_fault(fixture->gateway, &fault);
}

/* The second message is refused alone, once. */
static void
test_gateway_that_stumbles_makes_nobody_guilty(Fixture *fixture, gconstpointer data)
{
  add_many(fixture, 2, NULL, 0);
  stumble(fixture, 0, 1);
  stumble(fixture, 1, 1);                        /* of the calls that the first has left over */
  g_assert_cmpuint(run(fixture, PLENTY), ==, 5); /* both, each, witness, the second again */
  assert_judged(fixture, NULL, 0);
}

/* All is refused from some call on, also what was taken before. */
static void
test_gateway_that_breaks_makes_nobody_guilty(Fixture *fixture, gconstpointer data)
{
  add_many(fixture, 2, NULL, 0);
  stumble(fixture, 0, 1);
  stumble(fixture, 1, 2);
  run(fixture, PLENTY);
  g_assert_nonnull(strstr(fixture->text, "refuses now what it took before"));
  g_assert_cmpint(subject(fixture, 0)->verdict, ==, TIDE_TRIAL_INNOCENT);
  g_assert_cmpint(subject(fixture, 1)->verdict, ==, TIDE_TRIAL_LATER);
  run(fixture, PLENTY);
  assert_judged(fixture, NULL, 0);
}

static void
test_what_is_refused_again_and_again_is_guilty(Fixture *fixture, gconstpointer data)
{
  add(fixture, "CURRENT_METRIC", TIME_MS, "f000", "good");
  stumble(fixture, 0, 3);
  g_assert_cmpuint(run(fixture, PLENTY), ==, 3);
  g_assert_null(fixture->text);
  g_assert_cmpint(subject(fixture, 0)->verdict, ==, TIDE_TRIAL_GUILTY);
}

#define ADD_DATA(path, test, data) g_test_add("/row-trial/" path, Fixture, data, set_up, test, tear_down)
#define ADD(path, test) ADD_DATA(path, test, NULL)

int
main(int argc, char **argv)
{
  pipeline_fixture_init(&argc, &argv);
  ADD("calls/innocents-take-one", test_innocents_take_one_call);
  ADD_DATA("calls/the-first-is-guilty", test_one_guilty_takes_two_calls_a_halving, GUINT_TO_POINTER(0));
  ADD_DATA("calls/one-in-the-middle-is-guilty", test_one_guilty_takes_two_calls_a_halving, GUINT_TO_POINTER(137));
  ADD_DATA("calls/the-last-is-guilty", test_one_guilty_takes_two_calls_a_halving, GUINT_TO_POINTER(N_MESSAGES - 1));
  ADD("calls/three-guilty-take-so-many-each", test_three_guilty_take_so_many_each);
  ADD("calls/run-ends-after-its-calls-and-the-next-goes-on", test_run_ends_after_its_calls_and_the_next_goes_on);
  ADD("later/what-a-lost-answer-leaves-open", test_what_a_lost_answer_leaves_open_is_judged_later);
  ADD("later/nobody-is-judged-without-a-gateway", test_nobody_is_judged_without_a_gateway);
  ADD("later/gateway-that-stumbles-makes-nobody-guilty", test_gateway_that_stumbles_makes_nobody_guilty);
  ADD("later/gateway-that-breaks-makes-nobody-guilty", test_gateway_that_breaks_makes_nobody_guilty);
  ADD("verdict/what-is-refused-again-and-again-is-guilty", test_what_is_refused_again_and_again_is_guilty);
  ADD("written/later-offset-wins-and-later-time-before-that", test_later_offset_wins_and_later_time_before_that);
  ADD("written/replacing-row-is-that-of-the-newest-innocent", test_replacing_row_is_that_of_the_newest_innocent);
  ADD("written/index-follows-innocents-only", test_index_follows_innocents_only);
  ADD("verdict/message-that-makes-no-such-row-is-guilty-without-a-call",
      test_message_that_makes_no_such_row_is_guilty_without_a_call);
  return g_test_run();
}
