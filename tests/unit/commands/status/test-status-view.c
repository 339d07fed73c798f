/* What `tidemark status` prints of a document: numbers stand below each other, and what is no number that can be is
 * none.
 */
#include "commands/status/status_view.h"

#include "unit/test_case.h"

#include <locale.h>
#include <string.h>

static char *
view_of(const char *json)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(TideStatusReader) status = tide_status_reader_new(tide_bytes_of_string(json), &error);
  g_assert_no_error(error);
  char *text = NULL;
  gsize len = 0;
  FILE *stream = open_memstream(&text, &len);
  tide_status_view_print(stream, status, FALSE);
  g_assert_cmpint(fclose(stream), ==, 0);
  char *copy = g_strndup(text, len);
  free(text);
  return copy;
}

/* The line that begins with @begin. (transfer full) */
static char *
line_of(const char *text, const char *begin)
{
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    if (g_str_has_prefix(lines[i], begin))
      return g_strdup(lines[i]);
  g_error("no line begins with '%s' in:\n%s", begin, text);
}

/* The place behind @word in @line. */
static gssize
end_of(const char *line, const char *word)
{
  const char *at = strstr(line, word);
  g_assert_nonnull(at);
  return at - line + (gssize)strlen(word);
}

TEST("/status-view/numbers-are-right-aligned")
{
  g_autofree char *text = view_of("{\"partitions\":[{\"topic\":\"m\",\"partition\":0,\"stored_offset\":7,\"end_"
                                  "offset\":123456,\"lag_messages\":123449,"
                                  "\"lag_seconds\":61.5,\"in_flight_messages\":5,\"pauses\":[\"span\",\"memory\"]},"
                                  "{\"topic\":\"metrics\",\"partition\":11,\"stored_offset\":1234567,\"end_offset\":"
                                  "1234567,\"lag_messages\":0,\"lag_seconds\":0,"
                                  "\"in_flight_messages\":0,\"pauses\":[]}]}");
  g_autofree char *heading = line_of(text, "TOPIC"), *first = line_of(text, "m  "), *second = line_of(text, "metrics");
  static const struct {
    const char *heading, *first, *second;
  } columns[] = {{"PARTITION", " 0", " 11"},       {"STORED", " 7", " 1,234,567"}, {"END", "123,456", "  1,234,567"},
                 {"LAG", " 123,449", " 0"},        {"AGE", "1 min 1 s", "0 ms"},   {"IN FLIGHT", " 5", "0  -"},
                 {"PAUSED FOR", "span, mem", NULL}};
  for (gsize i = 0; i + 2 < G_N_ELEMENTS(columns); i++)
    g_assert_cmpint(end_of(heading, columns[i].heading), ==, end_of(first, columns[i].first));
  g_assert_cmpint(end_of(heading, "PARTITION"), ==, end_of(second, " 11"));
  g_assert_cmpint(end_of(heading, "STORED"), ==, end_of(second, " 1,234,567"));
  g_assert_cmpint(end_of(heading, "AGE"), ==, end_of(second, " 0 ms"));
  g_assert_cmpint(strstr(heading, "PAUSED") - heading, ==, strstr(first, "span") - first); /* texts begin together */
}

TEST("/status-view/one-partition-is-one")
{
  g_autofree char *one = view_of("{\"kafka\":{\"assigned_partitions\":1}}");
  g_assert_nonnull(strstr(one, "\nKafka         1 partition, "));
  g_autofree char *more = view_of("{\"kafka\":{\"assigned_partitions\":11}}");
  g_assert_nonnull(strstr(more, "\nKafka         11 partitions, "));
}

TEST("/status-view/absurd-numbers-are-none")
{
  static const char *const absurd[] = {"1e308", "-1", "-1e308", "1e999", "\"7\"", "true", "[7]", "9007199254740994"};
  for (gsize i = 0; i < G_N_ELEMENTS(absurd); i++) {
    g_autofree char *json = g_strdup_printf(
        "{\"uptime_seconds\":%1$s,\"kafka\":{\"assigned_partitions\":%1$s,\"lag_messages\":%1$s,\"lag_seconds\":%1$s},"
        "\"memory\":{\"budget_bytes\":%1$s,\"used_bytes\":%1$s},\"cpu\":{\"process\":%1$s,\"busiest_consumer\":%1$s},"
        "\"writers\":[{\"call_seconds\":%1$s}],\"tables\":[{\"name\":\"T\",\"share\":%1$s,\"rows_per_second\":%1$s}]}",
        absurd[i]);
    g_autofree char *text = view_of(json);
    g_test_message("%s", text);
    g_assert_nonnull(strstr(text, "up for -: "));
    g_assert_nonnull(strstr(text, "\nKafka         - partitions, - messages/s, lag unknown, in flight -\n"));
    g_assert_nonnull(strstr(text, "\nMemory        - in use of -, process -\n"));
    g_assert_nonnull(strstr(text, "\nCPU           - of - cores, busiest consumer -\n"));
    g_assert_nonnull(strstr(text, "\nWriters       1, none in a call\n"));
    g_autofree char *table = line_of(text, "T  ");
    g_assert_null(strpbrk(table, "0123456789"));
  }
}

TEST("/status-view/a-share-is-of-the-whole")
{
  g_autofree char *text = view_of("{\"memory\":{\"budget_bytes\":200,\"used_bytes\":100,\"resident_bytes\":3072},"
                                  "\"cpu\":{\"process\":0.25,\"cores\":2,\"busiest_consumer\":1.01},"
                                  "\"tables\":[{\"name\":\"T\",\"share\":77}]}");
  g_assert_nonnull(strstr(text, "\nMemory        100 B in use of 200 B (50 %), process 3.0 KiB\n"));
  g_assert_nonnull(strstr(text, "\nCPU           0.2 of 2 cores, busiest consumer 101 %\n"));
  g_autofree char *table = line_of(text, "T  ");
  g_assert_null(strchr(table, '%'));
  g_autofree char *doubted =
      view_of("{\"memory\":{\"budget_bytes\":200,\"used_bytes\":100,\"uncertain_bytes\":70,\"resident_bytes\":3072}}");
  g_autofree char *memory = line_of(doubted, "Memory");
  g_assert_nonnull(strstr(memory, " 100 B in use of 200 B (50 %), 70 B of it to remember cells of uncertain outcome "));
}

/* As the list above it shows them. */
TEST("/status-view/trouble-names-the-first-region")
{
  g_autofree char *text =
      view_of("{\"regions\":[{\"table\":\"T\",\"start_key\":\"\",\"failures\":null,\"error\":\"gone\"},"
              "{\"table\":\"T\",\"start_key\":\"k\",\"failures\":3,\"error\":\"moved\"}],"
              "\"gateways\":[{\"name\":\"gw1\",\"error\":\"refused\"}]}");
  g_autofree char *first = line_of(text, "T          (the first)");
  g_assert_null(strpbrk(first, "0123456789")); /* nobody knows how often */
  g_assert_nonnull(strstr(text, "\nTrouble       T (the first): gone\n"));
  g_assert_nonnull(strstr(text, "\nTrouble       T k: moved\n"));
  g_assert_nonnull(strstr(text, "\nTrouble       gw1: refused\n"));
}

TEST("/status-view/lag-that-is-read-is-told-apart")
{
  g_autofree char *read = view_of("{\"kafka\":{\"assigned_partitions\":3,\"lag_messages\":3000,\"lag_seconds\":18,"
                                  "\"unread_messages\":0,\"in_flight_messages\":0,\"messages_per_second\":0}}");
  g_assert_nonnull(strstr(read, "lag 3,000 messages (18.0 s), in flight 0; all"));
  g_assert_nonnull(strstr(read, "committed yet\n"));
  static const char *const others[] = {"\"lag_messages\":0,\"unread_messages\":0",
                                       "\"lag_messages\":7,\"unread_messages\":7", "\"lag_messages\":7",
                                       "\"unread_messages\":0"};
  for (gsize i = 0; i < G_N_ELEMENTS(others); i++) {
    g_autofree char *json = g_strdup_printf("{\"kafka\":{%s}}", others[i]);
    g_autofree char *text = view_of(json);
    g_assert_null(strstr(text, "committed yet"));
  }
}

TEST("/status-view/the-reason-is-said-once")
{
  static const char json[] =
      "{\"reason\":\"100 of 700 messages would become dead letters: correct "
      "it\",\"bottleneck\":{\"limit\":\"dead_letters\",\"why\":\"all partitions pause: 100 of 700 messages would "
      "become dead letters: correct it\"},\"restart\":{\"clean\":false,\"why\":\"none is lost; a disk is "
      "full\"},\"dead_letters\":{\"blocked\":\"100 of 700 messages would become dead letters: correct it\"}}";
  g_autofree char *text = view_of(json);
  g_assert_nonnull(strstr(text, "\nReason        100 of 700 messages would become dead letters: correct it\n"));
  g_assert_nonnull(strstr(text, "\nLimited by    dead_letters: all partitions pause: see the reason above\n"));
  g_assert_nonnull(strstr(text, "\nRestart now   better not: none is lost; a disk is full\n"));
  g_assert_nonnull(strstr(text, "\n              see the reason above\n"));
}

int
main(int argc, char **argv)
{
  setlocale(LC_ALL, "C.UTF-8");
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  return g_test_run();
}
