/* No message harms another: each payload passes through a whole pipeline between two good readings. All are in one run,
 * because most of a run waits for Kafka's group protocol. A test looks at its own payload: that its neighbours were
 * written, and what became of it, and why. */
#include "fault/pipeline/pipeline_fixture.h"
#include "mapping/mapping.h"
#include "util/clock.h"

#include <malloc.h>
#include <pthread.h>

#define HOUR_MS G_GINT64_CONSTANT(3600000)
#define DAY_MS (24 * HOUR_MS)

/* Room for messages above it that Kafka takes all the same. */
#define OPTIONS                                                                                                        \
  "readings: { on_bad_message: skip, max_message_size: 900KiB, time: { field: ts, format: epoch_ms } }\n"              \
  "tables:\n"                                                                                                          \
  "  METRIC: { ttl: 30d, key: [ { field: host }, \"#\", { time: epoch_ms } ], columns: { family: M, from: \"*\" } }\n" \
  "  CURRENT_METRIC: { latest: merge, key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n"

/* In a payload: the time of all good readings, and others by it, each of 13 digits. */
static const struct {
  const char *mark;
  gint64 offset_ms;
} marks[] = {{"$NOW", 0}, {"$FUTURE", 3 * HOUR_MS}, {"$OLDER", -HOUR_MS}, {"$EXPIRED", -60 * DAY_MS}};

typedef struct ReadingCase {
  const char *name;    /* of its test; up to the first '-' it is the fault's id */
  const char *payload; /* NULL: a tombstone, unless made */
  char *(*make)(void);
  const char *reason; /* NULL: its reading is written */
  gint64 byte;        /* of the fault; 0: not looked at */
  const char *host;   /* of its row, as text; NULL: the test's name */
  const char *value;  /* of its cell M:v */
} ReadingCase;

/* ---- payloads that are made ---- */

static char *
make_deep_message(void)
{
  return g_strnfill(100 * 1000, '[');
}

static char *
make_deep_value(void)
{
  g_autofree char *brackets = g_strnfill(100 * 1000, '[');
  return g_strconcat("{\"host\":\"a\",\"v\":", brackets, NULL);
}

static char *
make_long_string(void)
{
  g_autofree char *dead_letters = g_strnfill(950 * 1024, 'x');
  return g_strconcat("{\"host\":\"a\",\"ts\":$NOW,\"v\":\"", dead_letters, "\"}", NULL);
}

static char *
make_many_members(void)
{
  g_autoptr(GString) text = g_string_new("{\"host\":\"a\",\"ts\":$NOW");
  for (guint i = 0; text->len < 950 * 1024; i++)
    g_string_append_printf(text, ",\"%u\":1", i);
  g_string_append_c(text, '}');
  return g_strdup(text->str);
}

static char *
make_too_many_fields(void)
{
  g_autoptr(GString) text = g_string_new("{\"host\":\"a\",\"ts\":$NOW");
  for (guint i = 0; i < 1100; i++)
    g_string_append_printf(text, ",\"%u\":1", i);
  g_string_append_c(text, '}');
  return g_strdup(text->str);
}

/* Larger than the fetches that go with so little memory, and as large as a call may be. */
static char *
make_large_message(void)
{
  g_autofree char *dead_letters = g_strnfill(800 * 1024, 'x');
  return g_strconcat("{\"host\":\"A26-larger-than-a-fetch\",\"ts\":$NOW,\"v\":1,\"w\":\"", dead_letters, "\"}", NULL);
}

static char *
make_long_id(void)
{
  g_autofree char *dead_letters = g_strnfill(33 * 1000, 'x');
  return g_strconcat("{\"host\":\"", dead_letters, "\",\"ts\":$NOW,\"v\":1}", NULL);
}

#define READING(host, time, value) "{\"host\":\"" host "\",\"ts\":" time ",\"v\":" value "}"

static const ReadingCase cases[] = {
    {"A1-empty", "", .reason = "empty"},
    {"A1-only-white-space", " \n", .reason = "empty"},
    {"A2-tombstone-is-passed-over", NULL, .reason = "tombstone"},
    {"A3-not-json", "host=a v=1", .reason = "parse"},
    {"A3-fault-in-the-middle", "{\"host\":\"a\",\"v\":=}", .reason = "parse", .byte = 16},
    {"A4-truncated", "{\"host\":\"a\",\"ts\":", .reason = "parse", .byte = 17},
    {"A5-trailing-garbage", READING("a", "$NOW", "1") "x", .reason = "parse", .byte = 37},
    {"A6-invalid-utf8", "{\"host\":\"\xFF\"}", .reason = "utf8", .byte = 9},
    {"A6-overlong", "{\"host\":\"\xC0\xAF\"}", .reason = "utf8", .byte = 9},
    {"A6-half-a-surrogate", "{\"host\":\"\\ud800\"}", .reason = "utf8", .byte = 9},
    {"A6-surrogate-as-bytes", "{\"host\":\"\xED\xA0\x80\"}", .reason = "utf8", .byte = 9},
    {"A7-byte-order-mark-is-skipped", "\xEF\xBB\xBF" READING("A7-byte-order-mark-is-skipped", "$NOW", "7"),
     .value = "7"},
    {"A8-nul-in-the-id", READING("a\\u0000b", "$NOW", "1"), .reason = "bad_key"},
    {"A9-deep-message", .make = make_deep_message, .reason = "depth"},
    {"A9-deep-value", .make = make_deep_value, .reason = "depth"},
    {"A10-long-string", .make = make_long_string, .reason = "too_large"},
    {"A10-many-members", .make = make_many_members, .reason = "too_large"},
    {"A10-too-many-fields", .make = make_too_many_fields, .reason = "too_many_fields"},
    {"A11-time-twice", "{\"host\":\"a\",\"ts\":$NOW,\"ts\":$NOW,\"v\":1}", .reason = "duplicate_field", .byte = 36},
    {"A12-no-key-field", "{\"ts\":$NOW,\"v\":1}", .reason = "missing_field"},
    {"A12-no-cells", "{\"host\":\"h\",\"ts\":$NOW}", .reason = "no_cells"},
    {"A12-null-key-field", "{\"host\":null,\"ts\":$NOW,\"v\":1}", .reason = "missing_field"},
    {"A13-time-is-a-word", READING("a", "\"soon\"", "1"), .reason = "time_invalid"},
    {"A13-id-is-a-list", "{\"host\":[1],\"ts\":$NOW,\"v\":1}", .reason = "bad_key"},
    {"A14-nan", READING("a", "$NOW", "NaN"), .reason = "parse"},
    {"A14-infinity", READING("a", "$NOW", "-Infinity"), .reason = "parse"},
    {"A14-out-of-range-is-kept-as-text", READING("A14-out-of-range-is-kept-as-text", "$NOW", "1e999"),
     .value = "1e999"},
    {"A14-minus-zero", READING("A14-minus-zero", "$NOW", "-0"), .value = "-0"},
    {"A14-denormal", READING("A14-denormal", "$NOW", "4.9e-324"), .value = "4.9e-324"},
    {"A15-above-2-to-53", READING("A15-above-2-to-53", "$NOW", "9007199254740993"), .value = "9007199254740993"},
    {"A15-above-int64", READING("A15-above-int64", "$NOW", "18446744073709551617"), .value = "18446744073709551617"},
    {"A16-no-time", "{\"host\":\"a\",\"v\":1}", .reason = "missing_field"},
    {"A16-time-is-zero", READING("a", "0", "1"), .reason = "time_implausible"},
    {"A16-time-is-negative", READING("a", "-5", "1"), .reason = "time_implausible"},
    {"A17-seconds", READING("a", "1763700000", "1"), .reason = "time_implausible"},
    {"A17-microseconds", READING("a", "1763700000000000", "1"), .reason = "time_implausible"},
    {"A17-nanoseconds", READING("a", "1763700000000000000", "1"), .reason = "time_implausible"},
    {"A18-future", READING("a", "$FUTURE", "1"), .reason = "time_future"},
    {"A20-long-min", READING("a", "-9223372036854775808", "1"), .reason = "time_implausible"},
    {"A20-long-max", READING("a", "9223372036854775807", "1"), .reason = "time_implausible"},
    {"A21-empty-id", READING("", "$NOW", "1"), .reason = "bad_key"},
    {"A21-only-spaces", READING("   ", "$NOW", "1"), .reason = "bad_key"},
    {"A21-long-id", .make = make_long_id, .reason = "row_too_long"},
    {"A22-separator-in-the-id", READING("a#b", "$NOW", "1"), .reason = "bad_key"},
    {"A22-escapes-in-the-id", READING("A22\\n\\u001b[31m", "$NOW", "22"), .host = "A22\n\x1b[31m", .value = "22"},
    {"A23-composed", READING("\xC3\xA9", "$NOW", "\"\xC3\xA9\""), .host = "\xC3\xA9", .value = "\xC3\xA9"},
    {"A23-decomposed", READING("e\xCC\x81", "$NOW", "\"e\xCC\x81\""), .host = "e\xCC\x81", .value = "e\xCC\x81"},
    {"A24-unknown-field", "{\"host\":\"A24-unknown-field\",\"schema\":99,\"ts\":$NOW,\"new\":{\"x\":[1]},\"v\":24}",
     .value = "24"},
    {"A26-larger-than-a-fetch", .make = make_large_message, .value = "1"},
};

/* ---- the run ---- */

typedef struct SharedRun {
  PipelineFixture fixture;
  RunningPipeline *running;
  TideMapping *mapping; /* of the same configuration */
  gint64 base_ms;       /* of good readings */
} SharedRun;

static SharedRun *shared; /* made by the first test that needs it */

static char *
time_text(const SharedRun *run, gint64 offset_ms)
{
  return g_strdup_printf("%" G_GINT64_FORMAT, run->base_ms + offset_ms);
}

/* (transfer full) */
static char *
payload_of(const SharedRun *run, const ReadingCase *at)
{
  g_autofree char *made = at->make != NULL ? at->make() : NULL;
  const char *text = made != NULL ? made : at->payload;
  if (text == NULL)
    return NULL;
  g_autoptr(GString) payload = g_string_new(text);
  for (guint i = 0; i < G_N_ELEMENTS(marks); i++) {
    g_autofree char *time = time_text(run, marks[i].offset_ms);
    g_string_replace(payload, marks[i].mark, time, 0);
  }
  return g_strdup(payload->str);
}

static void
produce_good(SharedRun *run, gint32 partition, const char *where, const char *name)
{
  g_autofree char *host = g_strconcat(where, " ", name, NULL);
  pipeline_fixture_produce(&run->fixture, partition, host, run->base_ms, name);
}

/* A27: a header that is large and one that is no text. The value is an ordinary reading. */
static void
produce_with_headers(SharedRun *run)
{
  g_autofree char *large = g_strnfill(200 * 1024, '\xFE');
  g_autofree char *value = g_strdup_printf(READING("A27-headers", "%" G_GINT64_FORMAT, "27"), run->base_ms);
  TideMockMessage message = {.topic = FIXTURE_TOPIC,
                             .partition = 1,
                             .payload = tide_bytes_of_string(value),
                             .headers = {{"large", tide_bytes_of_string(large)},
                                         {"\xFF\x01", TIDE_BYTES_LITERAL("\0\xFF\0")},
                                         {"", TIDE_BYTES_LITERAL("")}}};
  mock_kafka_produce(run->fixture.kafka, &message);
  run->fixture.produced[1]++;
}

/* A19, A28 to A30: readings that are good, of which order and age decide. */
static void
produce_ordered(SharedRun *run)
{
  static const struct {
    const char *host, *value;
    gint64 offset_ms;
  } readings[] = {
      {"A19", "new", 0},   {"A19", "expired", -60 * DAY_MS},
      {"A28", "same", 0},  {"A28", "same", 0},
      {"A29", "first", 0}, {"A29", "last", 0},
      {"A30", "new", 0},   {"A30", "old", -HOUR_MS},
  };
  for (guint i = 0; i < G_N_ELEMENTS(readings); i++)
    pipeline_fixture_produce(&run->fixture, 0, readings[i].host, run->base_ms + readings[i].offset_ms,
                             readings[i].value);
}

static void
produce_cases(SharedRun *run)
{
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    gint32 partition = (gint32)(i % FIXTURE_PARTITIONS);
    g_autofree char *payload = payload_of(run, &cases[i]);
    produce_good(run, partition, "before", cases[i].name);
    pipeline_fixture_produce_raw(&run->fixture, partition, payload);
    produce_good(run, partition, "behind", cases[i].name);
  }
}

static SharedRun *
shared_run(void)
{
  if (shared != NULL)
    return shared;
  shared = g_new0(SharedRun, 1);
  shared->base_ms = tide_wall_clock_epoch_ms() - HOUR_MS;
  pipeline_fixture_set_up(&shared->fixture, NULL);
  produce_cases(shared);
  produce_with_headers(shared);
  produce_ordered(shared);
  pipeline_fixture_flush(&shared->fixture);
  shared->running = running_pipeline_start(&shared->fixture, FIXTURE_GATEWAYS,
                                           OPTIONS "limits: { memory: 16MiB, drain_timeout: 3s }\n");
  shared->mapping = tide_mapping_new(shared->running->config, TIDE_WIRE_BINARY);
  pipeline_fixture_wait_all_committed(&shared->fixture);
  running_pipeline_assert_accounting_balances(shared->running);
  return shared;
}

static void
end_shared_run(void)
{
  if (shared == NULL)
    return;
  tide_mapping_free(shared->mapping); /* it borrows the configuration */
  running_pipeline_end(shared->running);
  pipeline_fixture_tear_down(&shared->fixture, NULL);
  g_free(shared);
}

/* ---- one payload ---- */

static void
assert_value(const SharedRun *run, const char *table, const char *row, const char *wanted)
{
  g_autoptr(GBytes) found = fake_hbase_value(run->fixture.hbase, table, row, "M", "v", NULL);
  if (wanted == NULL) {
    g_assert_null(found);
    return;
  }
  g_assert_nonnull(found);
  g_autofree char *text = g_strndup(g_bytes_get_data(found, NULL), g_bytes_get_size(found));
  g_assert_cmpstr(text, ==, wanted);
}

static void
assert_written(const SharedRun *run, const char *host, gint64 offset_ms, const char *history, const char *latest)
{
  g_autofree char *row = g_strdup_printf("%s#%" G_GINT64_FORMAT, host, run->base_ms + offset_ms);
  assert_value(run, "METRIC", row, history);
  assert_value(run, "CURRENT_METRIC", host, latest);
}

static gboolean
map(const SharedRun *run, const char *payload, TideReject *ret_reject)
{
  TideMapped mapped;
  TideMessage message = {.topic = TIDE_BYTES_LITERAL(FIXTURE_TOPIC),
                         .timestamp_ms = run->base_ms + HOUR_MS,
                         .value = tide_bytes_of_string(payload),
                         .has_value = payload != NULL};
  return tide_mapping_apply(run->mapping, &message, &mapped, ret_reject);
}

TEST_EACH("/pipeline-readings/messages/", cases)
{
  const ReadingCase *at = data;
  const SharedRun *run = shared_run();
  g_autofree char *before = g_strconcat("before ", at->name, NULL);
  g_autofree char *behind = g_strconcat("behind ", at->name, NULL);
  assert_written(run, before, 0, at->name, at->name);
  assert_written(run, behind, 0, at->name, at->name);

  TideReject reject = {0};
  g_autofree char *payload = payload_of(run, at);
  gboolean is_good = map(run, payload, &reject);
  if (at->reason == NULL) {
    g_assert_true(is_good);
    assert_written(run, at->host != NULL ? at->host : at->name, 0, at->value, at->value);
    return;
  }
  g_assert_false(is_good);
  g_assert_cmpstr(tide_reject_reason_name(reject.reason), ==, at->reason);
  if (at->byte > 0)
    g_assert_cmpint(reject.byte_position, ==, at->byte);
}

/* What each payload was skipped for in the run, and that nothing else was. */
TEST("/pipeline-readings/messages/reasons-are-counted")
{
  const SharedRun *run = shared_run();
  guint64 n_bad = 0;
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    guint64 n_alike = 0;
    if (cases[i].reason == NULL)
      continue;
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++)
      n_alike += g_strcmp0(cases[k].reason, cases[i].reason) == 0 ? 1 : 0;
    g_autofree char *label = g_strdup_printf("reason=\"%s\"", cases[i].reason);
    g_assert_cmpuint(tide_metrics_sum(run->running->metrics, "tidemark_messages_skipped_total", label), ==, n_alike);
    n_bad++;
  }
  g_assert_cmpuint(tide_metrics_sum(run->running->metrics, "tidemark_messages_skipped_total", NULL), ==, n_bad);
}

TEST("/pipeline-readings/messages/A27-headers-are-no-matter")
{
  assert_written(shared_run(), "A27-headers", 0, "27", "27");
}

/* ---- dead letters ---- */

#define DEAD_LETTERS_OPTIONS                                                                                           \
  "readings: { on_bad_message: dead_letter, max_message_size: 900KiB, time: { field: ts, format: epoch_ms } }\n"       \
  "dead_letters: { topic: " DEAD_LETTERS " }\n"

/* The bad payloads, all in one partition: a dead letter of each, in whatever order they are kept. */
static void
assert_dead_letters(const GPtrArray *dead_letters, const GPtrArray *sent, GPtrArray *payloads)
{
  g_assert_cmpuint(dead_letters->len, ==, sent->len);
  for (guint i = 0; i < dead_letters->len; i++) {
    const TideMockRecord *dead_letter = g_ptr_array_index(dead_letters, i);
    guint index = (guint)letter_offset(dead_letter) - 1; /* behind the good one */
    g_assert_cmpuint(index, <, sent->len);
    const ReadingCase *at = g_ptr_array_index(sent, index);
    letter_assert_header(dead_letter, "tidemark-reason", at->reason);
    g_autofree char *payload = g_ptr_array_index(payloads, index);
    payloads->pdata[index] = NULL;
    g_assert_nonnull(payload); /* the first dead letter of it */
    letter_assert_bytes(dead_letter->payload, tide_bytes_of_string(payload));
  }
}

TEST("/pipeline-readings/dead-letters/A1-A21-they-keep-payloads-and-tell-reasons")
{
  SharedRun run = {.base_ms = tide_wall_clock_epoch_ms() - HOUR_MS};
  g_autoptr(GPtrArray) sent = g_ptr_array_new();
  g_autoptr(GPtrArray) payloads = g_ptr_array_new_with_free_func(g_free);
  pipeline_fixture_set_up_letters(&run.fixture, NULL);
  produce_good(&run, 0, "before", "letters");
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    if (cases[i].reason == NULL || (cases[i].payload == NULL && cases[i].make == NULL))
      continue;
    char *payload = payload_of(&run, &cases[i]);
    pipeline_fixture_produce_raw(&run.fixture, 0, payload);
    g_ptr_array_add(sent, (gpointer)&cases[i]);
    g_ptr_array_add(payloads, payload);
  }
  produce_good(&run, 0, "behind", "letters");
  pipeline_fixture_flush(&run.fixture);
  run.running = running_pipeline_start(&run.fixture, FIXTURE_GATEWAYS, DEAD_LETTERS_OPTIONS);
  pipeline_fixture_wait_all_committed(&run.fixture);
  running_pipeline_assert_accounting_balances(run.running);
  assert_written(&run, "before letters", 0, "letters", "letters");
  assert_written(&run, "behind letters", 0, "letters", "letters");
  g_autoptr(GPtrArray) dead_letters = pipeline_fixture_read_letters(&run.fixture);
  assert_dead_letters(dead_letters, sent, payloads);
  running_pipeline_end(run.running);
  pipeline_fixture_tear_down(&run.fixture, NULL);
}

/* ---- age and order ---- */

TEST("/pipeline-readings/messages/A19-what-has-expired-is-counted-and-hides-nothing")
{
  const SharedRun *run = shared_run();
  assert_written(run, "A19", 0, "new", "new");
  assert_written(run, "A19", -60 * DAY_MS, NULL, "new");
  g_assert_cmpuint(tide_metrics_sum(run->running->metrics, "tidemark_rows_expired_total", "table=\"METRIC\""), ==, 1);
}

static guint
count_lines(const SharedRun *run, const char *table, const char *host)
{
  g_autofree char *dump = fake_hbase_dump(run->fixture.hbase, table, TRUE);
  g_auto(GStrv) lines = g_strsplit(dump, "\n", -1);
  guint n = 0;
  for (char **line = lines; *line != NULL; line++)
    n += g_str_has_prefix(*line, host) ? 1 : 0;
  return n;
}

TEST("/pipeline-readings/messages/A28-the-same-reading-twice-is-one-cell")
{
  const SharedRun *run = shared_run();
  assert_written(run, "A28", 0, "same", "same");
  g_assert_cmpuint(count_lines(run, "METRIC", "A28#"), ==, 1);
  g_assert_cmpuint(count_lines(run, "CURRENT_METRIC", "A28"), ==, 1);
}

TEST("/pipeline-readings/messages/A29-of-equal-times-the-later-offset-wins")
{
  const SharedRun *run = shared_run();
  assert_written(run, "A29", 0, "last", "last");
  /* Nothing else conflicts; each table sees these two, where they met before they were sent. */
  g_assert_cmpuint(tide_metrics_sum(run->running->metrics, "tidemark_cells_conflicting_total", NULL), <=, 2);
}

TEST("/pipeline-readings/messages/A30-late-readings-are-history-only")
{
  const SharedRun *run = shared_run();
  assert_written(run, "A30", 0, "new", "new");
  assert_written(run, "A30", -HOUR_MS, "old", "new");
}

/* ---- memory and stack ---- */

static void *
map_deep(gpointer data)
{
  const SharedRun *run = data;
  TideReject reject;
  for (guint i = 0; i < 2; i++) {
    g_autofree char *payload = i == 0 ? make_deep_message() : make_deep_value();
    g_assert_false(map(run, payload, &reject));
    g_assert_cmpint(reject.reason, ==, TIDE_REJECT_DEPTH);
  }
  return NULL;
}

/* A walk that recursed would need some megabytes for it. */
TEST("/pipeline-readings/messages/A9-depth-takes-no-stack")
{
  pthread_attr_t attributes;
  pthread_t thread;
  g_assert_cmpint(pthread_attr_init(&attributes), ==, 0);
  g_assert_cmpint(pthread_attr_setstacksize(&attributes, 256 * 1024), ==, 0);
  g_assert_cmpint(pthread_create(&thread, &attributes, map_deep, shared_run()), ==, 0);
  g_assert_cmpint(pthread_join(thread, NULL), ==, 0);
  pthread_attr_destroy(&attributes);
}

/* What is too large is not read, so it takes no memory beside its own. */
TEST("/pipeline-readings/messages/A10-size-takes-no-memory")
{
  const SharedRun *run = shared_run();
  TideReject reject;
  g_autofree char *dead_letters = g_strnfill(10 * 1024 * 1024, 'x');
  g_autofree char *payload = g_strconcat("{\"host\":\"a\",\"v\":\"", dead_letters, "\"}", NULL);
  size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
  for (guint i = 0; i < 100; i++) {
    g_assert_false(map(run, payload, &reject));
    g_assert_cmpint(reject.reason, ==, TIDE_REJECT_TOO_LARGE);
  }
  size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
  g_assert_cmpuint(after, <, before + 1024 * 1024);
}

int
main(int argc, char *argv[])
{
  pipeline_fixture_init(&argc, &argv);
  test_cases_add();
  int failed = g_test_run();
  end_shared_run();
  return failed;
}
