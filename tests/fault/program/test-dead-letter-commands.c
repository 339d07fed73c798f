/* `tidemark dead-letters`, run as a user runs it, over dead letters in a topic and in files. */
#include "dead_letters/dead_letter_json.h"
#include "fault/program/program_scene.h"

#define KEPT_AT_MS G_GINT64_CONSTANT(1785069296789) /* 2026-07-26T12:34:56.789Z */
#define TIME_MS G_GINT64_CONSTANT(1785069290000)
#define HOUR_MS G_GINT64_CONSTANT(3600000)

static const char yaml[] = "kafka: { brokers: \"%s\", group: g, topics: [metrics] }\n"
                           "hbase: { gateways: [\"127.0.0.1:1\"] }\n"
                           "dead_letters: { topic: letters }\n"
                           "readings: { time: { field: ts, format: epoch_ms } }\n"
                           "tables:\n"
                           "  METRIC:\n"
                           "    key: [ { field: host }, \"#\", { time: epoch_ms } ]\n"
                           "    columns: { family: M, from: \"*\" }\n";

typedef struct Fixture {
  ProgramScene scene;
  char *directory; /* owned */
  char *file_path; /* owned, in directory */
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer unused)
{
  program_scene_begin_kafka(&fixture->scene, "metrics", 2);
  fixture->scene.config_path = write_config(yaml, mock_kafka_brokers(fixture->scene.kafka));
  fixture->directory = g_dir_make_tmp("tidemark-letters-XXXXXX", NULL);
  fixture->file_path = g_build_filename(fixture->directory, "dead-letters.jsonl", NULL);
}

static void
tear_down(Fixture *fixture, gconstpointer unused)
{
  program_scene_end(&fixture->scene, NULL);
  g_autofree char *rotated = g_strconcat(fixture->file_path, ".1", NULL);
  g_unlink(rotated);
  g_unlink(fixture->file_path);
  g_assert_cmpint(g_rmdir(fixture->directory), ==, 0);
  g_free(fixture->file_path);
  g_free(fixture->directory);
}

#define FIXTURE_TEST(path) TEST_WITH(Fixture, set_up, tear_down, path)

/* With the dead letters of the fixture's file. */
static void
run_on_file(Fixture *fixture, const char *words, int exit_code)
{
  g_autofree char *line = g_strdup_printf("%s --file %s", words, fixture->file_path);
  program_scene_run(&fixture->scene, line, exit_code);
}

static guint
count_lines(const char *text)
{
  guint n = 0;
  for (; *text != '\0'; text++)
    n += *text == '\n' ? 1 : 0;
  return n;
}

/* ---- dead letters in files ---- */

static void
append_dead_letter(TideBuffer *out, gint64 offset, const char *reason, const char *table, gint64 kept_at_ms)
{
  TideDeadLetter dead_letter = {.topic = TIDE_BYTES_LITERAL("metrics"),
                                .partition = 1,
                                .offset = offset,
                                .timestamp_ms = TIME_MS,
                                .key = TIDE_BYTES_LITERAL("k"),
                                .has_key = TRUE,
                                .value = TIDE_BYTES_LITERAL("{\"v\":\x1b[31m"),
                                .has_value = TRUE,
                                .reason = tide_bytes_of_string(reason),
                                .text = TIDE_BYTES_LITERAL("what was wrong"),
                                .table = table != NULL ? tide_bytes_of_string(table) : TIDE_BYTES_EMPTY,
                                .row_key = table != NULL ? TIDE_BYTES_LITERAL("host1\x01") : TIDE_BYTES_EMPTY,
                                .reading_index = -1,
                                .version = TIDE_BYTES_LITERAL("0.1")};
  tide_dead_letter_json_append(out, &dead_letter, kept_at_ms);
}

/* Two in the rotated file, two and what is none in the other. */
static void
write_files(Fixture *fixture)
{
  g_auto(TideBuffer) older = {0}, newer = {0};
  append_dead_letter(&older, 10, "parse", NULL, KEPT_AT_MS);
  append_dead_letter(&older, 11, "missing_field", NULL, KEPT_AT_MS + HOUR_MS);
  append_dead_letter(&newer, 12, "refused_by_hbase", "METRIC", KEPT_AT_MS + 2 * HOUR_MS);
  tide_buffer_append_bytes(&newer, TIDE_BYTES_LITERAL("{\"topic\":\"metrics\"\n"));
  append_dead_letter(&newer, 13, "parse", NULL, KEPT_AT_MS + 3 * HOUR_MS);
  tide_buffer_append_bytes(&newer, TIDE_BYTES_LITERAL("{\"kept_at\":\"2026")); /* being written just now */
  g_autofree char *rotated = g_strconcat(fixture->file_path, ".1", NULL);
  g_assert_true(g_file_set_contents(rotated, (const char *)older.data, (gssize)older.len, NULL));
  g_assert_true(g_file_set_contents(fixture->file_path, (const char *)newer.data, (gssize)newer.len, NULL));
}

FIXTURE_TEST("/dead-letter-commands/list-of-files")
{
  write_files(fixture);
  run_on_file(fixture, "dead-letters list", 0);
  g_assert_cmpuint(count_lines(fixture->scene.done.output), ==, 5);
  assert_prints(fixture->scene.done.output, "KEPT AT");
  const char *first = strstr(fixture->scene.done.output, "metrics/1/10"),
             *last = strstr(fixture->scene.done.output, "metrics/1/13");
  g_assert_true(first != NULL && last > first); /* the rotated file first */
  assert_prints(fixture->scene.done.output, "2026-07-26T12:34:56.789Z");
  assert_prints(fixture->scene.done.output, "host1\\x01");
  assert_prints(fixture->scene.done.errors, "2 of 6 in");
  run_on_file(fixture, "dead-letters list --format csv", 0);
  assert_prints(fixture->scene.done.output,
                "2026-07-26T14:34:56.789Z,refused_by_hbase,metrics/1/12,METRIC,host1\\x01,what was wrong\n");
  run_on_file(fixture, "dead-letters list --format json --limit 1", 0);
  g_assert_cmpuint(count_lines(fixture->scene.done.output), ==, 1);
  assert_prints(fixture->scene.done.output, "\"offset\":10");
}

FIXTURE_TEST("/dead-letter-commands/list-is-narrowed")
{
  static const struct {
    const char *words;
    const char *offsets; /* of those listed */
  } cases[] = {
      {"--reason parse", "10 13 "},
      {"--table METRIC", "12 "},
      {"--from 2026-07-26T13:34:56.789Z --to 2026-07-26T15:34:56.789Z", "11 12 "},
      {"--topic other", ""},
      {"--reason parse --from 2026-07-27", ""},
  };
  write_files(fixture);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *words = g_strdup_printf("dead-letters list --format csv %s", cases[i].words);
    run_on_file(fixture, words, 0);
    gboolean says_none = strstr(fixture->scene.done.errors, ": none of 4 dead letters in '") != NULL;
    g_assert_cmpint(says_none, ==, cases[i].offsets[0] == '\0');
    g_autoptr(GString) offsets = g_string_new(NULL);
    for (const char *at = fixture->scene.done.output; (at = strstr(at, "metrics/1/")) != NULL;) {
      at += strlen("metrics/1/");
      g_string_append_printf(offsets, "%.2s ", at);
    }
    g_assert_cmpstr(offsets->str, ==, cases[i].offsets);
  }
}

FIXTURE_TEST("/dead-letter-commands/show-of-a-file")
{
  write_files(fixture);
  run_on_file(fixture, "dead-letters show metrics/1/12", 0);
  assert_prints(fixture->scene.done.output, "message    metrics/1/12\n");
  assert_prints(fixture->scene.done.output, "reason     refused_by_hbase\n");
  assert_prints(fixture->scene.done.output, "row key    host1\\x01\n");
  assert_prints(fixture->scene.done.output, "value      {\"v\":\\x1B[31m\n"); /* no terminal sequence of a sensor's */
  run_on_file(fixture, "dead-letters show metrics/1/99", 1);
  assert_prints(fixture->scene.done.errors, "no dead letter of message metrics/1/99");
}

FIXTURE_TEST("/dead-letter-commands/errors-say-what-to-do")
{
  program_scene_tells(&fixture->scene, "dead-letters", 64, "list, show or replay");
  program_scene_tells(&fixture->scene, "dead-letters lists", 64, "did you mean 'list'");
  program_scene_tells(&fixture->scene, "dead-letters show metrics/x/1", 64, "TOPIC/PARTITION/OFFSET");
  program_scene_tells(&fixture->scene, "dead-letters replay", 64, "--all");
  program_scene_tells(&fixture->scene, "dead-letters list --reason parsed", 64,
                      "no dead letter has the reason 'parsed': did you mean 'parse'?");
  program_scene_tells(&fixture->scene, "dead-letters list --reason nosuch", 64,
                      "it is one of empty, tombstone, too_large, ");
  run_on_file(fixture, "dead-letters list", 69);
  assert_prints(fixture->scene.done.errors,
                "no dead letter was stored there yet, or they were moved away; name a moved");
}

/* As an operator moves it, when its dead letters are dealt with; what is the daemon's own is no such file. */
FIXTURE_TEST("/dead-letter-commands/moved-files-are-named")
{
  static const char *const endings[] = {".2026-11-23", ".old", ".lock", ".torn"};
  char *paths[G_N_ELEMENTS(endings)];
  for (gsize i = 0; i < G_N_ELEMENTS(endings); i++) {
    paths[i] = g_strconcat(fixture->file_path, endings[i], NULL);
    g_assert_true(g_file_set_contents(paths[i], "", 0, NULL));
  }
  g_autofree char *said =
      g_strdup_printf("the file '%s' does not exist: no dead letter was stored there yet, or they were moved "
                      "away; beside it: '%s', '%s'; name a moved file with '--file'",
                      fixture->file_path, paths[0], paths[1]);
  run_on_file(fixture, "dead-letters list", 69);
  assert_prints(fixture->scene.done.errors, said);
  g_autofree char *configured = g_strdup_printf("dead_letters: { file: %s }\n", fixture->file_path);
  g_auto(GStrv) parts = g_strsplit(yaml, "dead_letters: { topic: letters }\n", 2);
  g_autofree char *of_file = g_strjoinv(configured, parts);
  program_scene_configure(&fixture->scene, of_file, mock_kafka_brokers(fixture->scene.kafka));
  program_scene_tells(&fixture->scene, "dead-letters list", 0, said);
  assert_prints(fixture->scene.done.errors,
                "; 'tidemark load' stores its dead letters in another file, which it names at its end ('");
  g_assert_true(g_file_set_contents(fixture->file_path, "", 0, NULL));
  program_scene_tells(&fixture->scene, "dead-letters list", 0, "there are no dead letters in '");
  g_unlink(fixture->file_path);
  for (gsize i = 0; i < G_N_ELEMENTS(endings); i++) {
    g_unlink(paths[i]);
    g_free(paths[i]);
  }
}

/* ---- dead letters in a topic ---- */

static TideMockMessage
dead_letter_record(const char *offset, const char *reason, TideBytes key, TideBytes value)
{
  return (TideMockMessage){.topic = "letters",
                           .partition = 0,
                           .key = key,
                           .payload = value,
                           .headers = {{"trace", TIDE_BYTES_LITERAL("\x00\xff")},
                                       {"tidemark-reason", tide_bytes_of_string(reason)},
                                       {"tidemark-text", TIDE_BYTES_LITERAL("why")},
                                       {"tidemark-topic", TIDE_BYTES_LITERAL("metrics")},
                                       {"tidemark-partition", TIDE_BYTES_LITERAL("1")},
                                       {"tidemark-offset", tide_bytes_of_string(offset)},
                                       {"tidemark-timestamp", TIDE_BYTES_LITERAL("1785069290000")},
                                       {"tidemark-attempts", TIDE_BYTES_LITERAL("0")},
                                       {"tidemark-version", TIDE_BYTES_LITERAL("0.1")}}};
}

static void
produce_dead_letters(Fixture *fixture)
{
  TideMockMessage first = dead_letter_record("7", "parse",
                                             TIDE_BYTES_LITERAL("a\x00"
                                                                "b"),
                                             TIDE_BYTES_LITERAL("not \xff JSON"));
  TideMockMessage second = dead_letter_record("8", "missing_field", TIDE_BYTES_EMPTY, TIDE_BYTES_LITERAL("{}"));
  TideMockMessage gone =
      dead_letter_record("9", "refused_by_hbase", TIDE_BYTES_EMPTY, TIDE_BYTES_LITERAL("{\"row_key\":\"\"}"));
  gone.headers[9] = (TideMockHeader){"tidemark-original", TIDE_BYTES_LITERAL("gone")};
  mock_kafka_produce(fixture->scene.kafka, &first);
  mock_kafka_produce(fixture->scene.kafka, &second);
  mock_kafka_produce(fixture->scene.kafka, &gone);
  mock_kafka_produce_text(fixture->scene.kafka, "letters", 1, "no dead letter");
}

static GPtrArray *
read_originals(Fixture *fixture)
{
  return mock_kafka_read_topic(fixture->scene.kafka, "metrics", 2, tide_now_us() + TIMEOUT_US);
}

static void
assert_bytes_are(GBytes *found, TideBytes wanted)
{
  g_assert_nonnull(found);
  gsize len;
  const guint8 *data = g_bytes_get_data(found, &len);
  g_assert_true(tide_bytes_equal(tide_bytes(data, len), wanted));
}

FIXTURE_TEST("/dead-letter-commands/replay-sends-the-originals-again")
{
  produce_dead_letters(fixture);
  program_scene_prints(&fixture->scene, "dead-letters replay --all", 1, "2 messages sent again\n");
  assert_prints(fixture->scene.done.output, "1 dead letter has no original any more");
  assert_prints(fixture->scene.done.errors, "1 of 4 in 'letters' is not a dead letter");
  g_autoptr(GPtrArray) records = read_originals(fixture);
  g_assert_cmpuint(records->len, ==, 2);
  const TideMockRecord *first = records->pdata[0], *second = records->pdata[1];
  g_assert_cmpint(first->partition, ==, 1);
  g_assert_cmpint(first->timestamp_ms, ==, TIME_MS);
  assert_bytes_are(first->key, TIDE_BYTES_LITERAL("a\x00"
                                                  "b"));
  assert_bytes_are(first->payload, TIDE_BYTES_LITERAL("not \xff JSON"));
  g_autoptr(GBytes) trace = mock_record_header(first, "trace");
  g_autoptr(GBytes) added = mock_record_header(first, "tidemark-reason");
  assert_bytes_are(trace, TIDE_BYTES_LITERAL("\x00\xff"));
  g_assert_null(added);
  g_assert_null(second->key);
  assert_bytes_are(second->payload, TIDE_BYTES_LITERAL("{}"));
}

/* A file that somebody cut while it was written to, by a version that left a hole: what stands behind it is a dead
 * letter.
 */
FIXTURE_TEST("/dead-letter-commands/F13-list-passes-over-a-hole")
{
  g_auto(TideBuffer) dead_letters = {0};
  tide_buffer_append_bytes(&dead_letters, TIDE_BYTES_LITERAL("of a line\"}\n\0\0\0\0"));
  append_dead_letter(&dead_letters, 7, "parse", NULL, KEPT_AT_MS);
  tide_buffer_append_bytes(&dead_letters, TIDE_BYTES_LITERAL("\0\0\0"));
  g_assert_true(
      g_file_set_contents(fixture->file_path, (const char *)dead_letters.data, (gssize)dead_letters.len, NULL));
  run_on_file(fixture, "dead-letters list --format csv", 0);
  g_assert_cmpuint(count_lines(fixture->scene.done.output), ==, 2);
  assert_prints(fixture->scene.done.output, ",parse,metrics/1/7,");
  assert_prints(fixture->scene.done.errors, "2 of 3 in");
}

/* A dead letter for each row that was refused: the message is sent once. */
FIXTURE_TEST("/dead-letter-commands/F19/replay-sends-each-message-once")
{
  g_auto(TideBuffer) dead_letters = {0};
  append_dead_letter(&dead_letters, 7, "refused_by_hbase", "METRIC", KEPT_AT_MS);
  append_dead_letter(&dead_letters, 7, "refused_by_hbase", "LATEST", KEPT_AT_MS);
  append_dead_letter(&dead_letters, 8, "parse", NULL, KEPT_AT_MS);
  append_dead_letter(&dead_letters, 7, "refused_by_hbase", "METRIC", KEPT_AT_MS + HOUR_MS);
  g_assert_true(
      g_file_set_contents(fixture->file_path, (const char *)dead_letters.data, (gssize)dead_letters.len, NULL));
  run_on_file(fixture, "dead-letters replay --all", 0);
  assert_prints(fixture->scene.done.output, "2 messages sent again\n2 more dead letters are of these messages\n");
  g_autoptr(GPtrArray) records = read_originals(fixture);
  g_assert_cmpuint(records->len, ==, 2);
}

/* What is missing is asked for before anything is sent to it: librdkafka would wait half a minute, or have the brokers
 * make it. */
FIXTURE_TEST("/dead-letter-commands/replay-needs-its-topic")
{
  g_auto(TideBuffer) dead_letters = {0};
  append_dead_letter(&dead_letters, 7, "parse", NULL, KEPT_AT_MS);
  append_dead_letter(&dead_letters, 8, "parse", NULL, KEPT_AT_MS);
  g_autoptr(GString) text = g_string_new_len((const char *)dead_letters.data, (gssize)dead_letters.len);
  char *second = strrchr(text->str, 'm'); /* "metrics" of the second */
  while (!g_str_has_prefix(second, "metrics"))
    second--;
  memcpy(second, "nosuch7", strlen("nosuch7"));
  g_assert_true(g_file_set_contents(fixture->file_path, text->str, (gssize)text->len, NULL));
  run_on_file(fixture, "dead-letters replay --all", 69);
  assert_prints(fixture->scene.done.errors, "the topic 'nosuch7' does not exist at '127.0.0.1:");
  assert_prints(fixture->scene.done.errors, "nothing was sent to it");
  g_assert_cmpstr(fixture->scene.done.output, ==, "1 message sent again\n");

  run_on_file(fixture, "dead-letters replay --all --to-topic nosuch8", 69);
  assert_prints(fixture->scene.done.errors, "the topic 'nosuch8' does not exist at ");
  g_assert_cmpstr(fixture->scene.done.output, ==, "");
  g_autoptr(GPtrArray) records = read_originals(fixture);
  g_assert_cmpuint(records->len, ==, 1);
}

FIXTURE_TEST("/dead-letter-commands/replay-is-narrowed")
{
  produce_dead_letters(fixture);
  program_scene_prints(&fixture->scene, "dead-letters replay --reason parse --dry-run", 0,
                       "1 message would be sent again\n");
  program_scene_run(&fixture->scene, "dead-letters replay metrics/1/8 --rate 1000", 0);
  g_autoptr(GPtrArray) records = read_originals(fixture);
  g_assert_cmpuint(records->len, ==, 1);
  assert_bytes_are(((const TideMockRecord *)records->pdata[0])->payload, TIDE_BYTES_LITERAL("{}"));
}

FIXTURE_TEST("/dead-letter-commands/list-of-a-topic")
{
  produce_dead_letters(fixture);
  program_scene_run(&fixture->scene, "dead-letters list --format csv", 0);
  g_assert_cmpuint(count_lines(fixture->scene.done.output), ==, 4);
  assert_prints(fixture->scene.done.output, ",parse,metrics/1/7,,,why\n");
  program_scene_prints(&fixture->scene, "dead-letters show metrics/1/9", 0, "original   gone");
  mock_kafka_set_broker_up(fixture->scene.kafka, -1, FALSE);
  program_scene_run(&fixture->scene, "dead-letters list", 69);
}
