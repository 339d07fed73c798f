/* The document of /status: what is set is printed, what is unknown is null, and docs/status.md tells of each member. */
#include "decode/decoder.h"
#include "service/status_document.h"
#include "unit/test_case.h"

#define GUIDE "docs/status.md"
#define BEGIN "<!-- members begin -->\n"
#define END "<!-- members end -->"

static void
assert_has(const char *text, const char *part)
{
  if (strstr(text, part) == NULL)
    g_error("not printed: '%s' in:\n%s", part, text);
}

/* The whole of it, by the project's strict reader. */
static void
assert_is_json(const char *text)
{
  TideDecodeOptions options = {.separator = (char *)".",
                               .arrays = TIDE_ARRAY_JSON,
                               .max_message_bytes = 1 << 20,
                               .max_depth = 8,
                               .max_fields = 200,
                               .max_readings = 1};
  TideFieldNames *names = tide_field_names_new();
  TideDecoder *decoder = tide_decoder_new(&options, names, 0);
  TideMessage message = {.value = tide_bytes_of_string(text), .has_value = TRUE};
  TideReading *readings;
  guint32 n_readings;
  TideReject reject;
  g_assert_true(tide_decoder_decode(decoder, &message, &readings, &n_readings, &reject));
  g_assert_cmpuint(n_readings, ==, 1);
  tide_decoder_free(decoder);
  tide_field_names_free(names);
}

TEST("/status-document/nothing-is-known")
{
  TideStatus status = {.version = "1.2.3", .stage = "waiting_for_gateway"};
  status.kafka.lag_messages = status.kafka.lag_seconds = -1;
  status.cpu.process = -1;
  g_autofree char *text = tide_status_print(&status);
  assert_is_json(text);
  assert_has(text, "{\"version\":\"1.2.3\",\"started_at\":null,");
  assert_has(text, "\"lag_messages\":null,\"lag_seconds\":null,\"unread_messages\":0,");
  assert_has(text, "\"partitions\":[],\"tables\":[],\"regions\":[],\"gateways\":[],\"writers\":[],");
  assert_has(text, "\"process\":null,");
  g_assert_true(g_str_has_suffix(text, "}\n"));
}

TEST("/status-document/all-kinds-are-printed")
{
  TidePartitionView partitions[] = {{.topic = g_strdup("a\"b"),
                                     .partition = 3,
                                     .source = "boards",
                                     .mark = 17,
                                     .lag_seconds = -1,
                                     .pauses = TIDE_PAUSE_MEMORY | TIDE_PAUSE_HALTED | TIDE_PAUSE_SCHEMA,
                                     .halt_text = g_strdup("stop\n"),
                                     .held_text = g_strdup("in 3 s")}};
  TideRecentDeadLetter recent[] = {{.kept_ms = 1785069296789, .reason = g_strdup("parse")}};
  g_auto(TideStatus) status = {.ready = TRUE};
  status.cpu.process = 1.23456;
  status.partitions = g_array_new(FALSE, TRUE, sizeof partitions[0]);
  g_array_append_vals(status.partitions, partitions, 1);
  status.dead_letters.view.recent = g_array_new(FALSE, TRUE, sizeof recent[0]);
  g_array_append_vals(status.dead_letters.view.recent, recent, 1);
  g_autofree char *text = tide_status_print(&status);
  assert_is_json(text);
  assert_has(text, "\"ready\":true,\"healthy\":false,");
  assert_has(text, "[{\"topic\":\"a\\\"b\",\"partition\":3,\"stored_offset\":17,");
  assert_has(text,
             "\"lag_seconds\":null,\"open_transaction_messages\":0,\"in_flight_messages\":0,\"pauses\":[\"memory\","
             "\"halted\",\"schema\"],"
             "\"halted\":\"stop\\n\",\"commit_deferred\":\"in 3 s\",\"source\":\"boards\"}]");
  assert_has(text, "\"recent\":[{\"kept_at\":\"2026-07-26T12:34:56.789Z\",\"topic\":null,");
  assert_has(text, "\"process\":1.235,");
  g_free(partitions[0].topic);
  g_free(partitions[0].halt_text);
  g_free(partitions[0].held_text);
  g_free(recent[0].reason);
}

/* Dead letters came, and none could be kept: no time is 1970. */
TEST("/status-document/K16-time-that-has-not-come-is-null")
{
  TideDeadLetterReasonView reasons[] = {{.reason = (char *)"parse", .text = (char *)"it is not JSON"}};
  g_auto(TideStatus) status = {.version = "1.2.3"};
  status.dead_letters.view.reasons = g_array_new(FALSE, TRUE, sizeof reasons[0]);
  g_array_append_vals(status.dead_letters.view.reasons, reasons, 1);
  g_autofree char *text = tide_status_print(&status), *tables = tide_status_print_tables(&status);
  assert_is_json(text);
  assert_has(text, "\"reason\":\"parse\",\"kept\":0,\"first_at\":null,\"last_at\":null,\"text\":\"it is not");
  assert_has(tables, "<td>parse</td><td>0</td><td></td><td></td><td>it is not JSON</td>");
  g_array_set_size(status.dead_letters.view.reasons, 0); /* nothing of it is owned here */
}

/* Names and keys come from outside: they stay text, whatever they hold. */
TEST("/status-document/tables-show-all-and-hide-nothing-in-markup")
{
  TidePartitionView partitions[] = {{.topic = (char *)"<script>a&b\xff",
                                     .mark = 17,
                                     .lag_seconds = -1,
                                     .pauses = TIDE_PAUSE_MEMORY | TIDE_PAUSE_HALTED}};
  g_auto(TideStatus) status = {.version = "1.2.3", .ready = TRUE, .line = g_strdup("a\n<b>")};
  status.partitions = g_array_new(FALSE, TRUE, sizeof partitions[0]);
  g_array_append_vals(status.partitions, partitions, 1);
  g_autofree char *text = tide_status_print_tables(&status);
  assert_has(text, "<tr><th>ready</th><td>yes</td></tr>");
  assert_has(text, "<tr><th>line</th><td><pre>a\n&lt;b&gt;</pre></td></tr>");
  assert_has(text, "<td>&lt;script&gt;a&amp;b\xef\xbf\xbd</td><td>0</td><td>17</td>");
  assert_has(text, "<td></td><td>0</td><td>0</td><td>memory, halted</td><td></td><td></td><td></td></tr>");
  g_assert_null(strstr(text, "<script"));
  g_assert_null(strstr(text, "<h2>gateways</h2>")); /* there are none */
  assert_has(text, "<h2>memory</h2>");
  g_array_set_size(status.partitions, 0); /* nothing of it is owned here */
}

/* ---- the guide ---- */

/* The guide with the members as they are printed. */
static char *
guide_as_printed(const char *guide)
{
  g_autofree char *printed = tide_status_print_reference();
  const char *begin = strstr(guide, BEGIN);
  g_assert_nonnull(begin);
  const char *end = strstr(begin, END);
  g_assert_nonnull(end);
  g_autofree char *front = g_strndup(guide, (gsize)(begin - guide) + strlen(BEGIN));
  return g_strconcat(front, printed, end, NULL);
}

static char *
read_guide(char **ret_path)
{
  char *text = NULL;
  *ret_path = g_build_filename(TIDE_TEST_SOURCE_DIR, GUIDE, NULL);
  g_assert_true(g_file_get_contents(*ret_path, &text, NULL, NULL));
  return text;
}

TEST("/status-document/guide-tells-of-each-member")
{
  g_autofree char *path = NULL, *guide = read_guide(&path), *expected = guide_as_printed(guide);
  if (strcmp(guide, expected) == 0)
    return;
  g_test_message("%s is not what the code prints: `./check --write` puts it anew", GUIDE);
  g_test_fail();
}

static int
write_guide(void)
{
  g_autofree char *path = NULL, *guide = read_guide(&path), *expected = guide_as_printed(guide);
  g_assert_true(g_file_set_contents(path, expected, -1, NULL));
  return 0;
}

int
main(int argc, char **argv)
{
  if (argc == 2 && strcmp(argv[1], "--write") == 0)
    return write_guide();
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  return g_test_run();
}
