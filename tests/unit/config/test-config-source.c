#include "config/config_source.h"
#include "unit/config-texts.h"

#define TIMED "readings: { time: record, on_bad_message: stop, max_message_size: "
#define SOURCES                                                                                                        \
  "kafka: { brokers: b, group: g }\n"                                                                                  \
  "sources:\n"                                                                                                         \
  "  first: { topics: [\"^a\"], " TIMED "64KiB } }\n"                                                                  \
  "  second: { topics: [\"^ab\", b.c], " TIMED "2MiB } }\n"                                                            \
  "  third: { topics: d, " TIMED "1MiB } }\n"
#define TABLES_OF_SOURCES                                                                                              \
  "tables:\n"                                                                                                          \
  "  ALL: { key: [{ field: host }, \"#\", { time: epoch_ms }], " COLUMNS " }\n"                                        \
  "  LAST: { sources: [third, second], time: record, key: [{ field: host }, \"#\", { time: epoch_ms }], " COLUMNS      \
  " }\n"

static const char *
name_of(const TideConfig *config, const char *topic)
{
  const TideConfigSource *source = tide_config_source_of_topic(config, tide_bytes_of_string(topic));
  return source != NULL ? source->name : NULL;
}

static void
test_topic_has_one_source(void)
{
  g_autoptr(TideConfig) config = load_good(SOURCES HBASE TABLES_OF_SOURCES);
  g_assert_cmpstr(name_of(config, "a"), ==, "first");
  g_assert_cmpstr(name_of(config, "abc"), ==, "first"); /* both patterns match */
  g_assert_cmpstr(name_of(config, "b.c"), ==, "second");
  g_assert_cmpstr(name_of(config, "d"), ==, "third");
  g_assert_cmpstr(name_of(config, "^ab"), ==, "second"); /* the pattern itself, where no topic is known */
  g_assert_null(name_of(config, "bxc"));
  g_assert_null(name_of(config, ""));
  g_autofree char *topics = g_strjoinv(" ", config->kafka.topics);
  g_assert_cmpstr(topics, ==, "^a ^ab b.c d");
}

/* The last may read whatever the others do not, whose patterns it would match if they were topics. */
static void
test_pattern_may_match_a_pattern(void)
{
  g_autoptr(TideConfig) config =
      load_good("kafka: { brokers: b, group: g }\n"
                "sources:\n"
                "  boards: { topics: [\"^boards[.]\"], readings: { time: record } }\n"
                "  others: { topics: [\"^.*\"], readings: { time: record } }\n" HBASE TABLES);
  g_assert_cmpstr(name_of(config, "boards.7"), ==, "boards");
  g_assert_cmpstr(name_of(config, "boards7"), ==, "others");
}

/* kafka.topics and readings make one source, which reads whatever it is given. */
static void
test_short_form_is_one_source(void)
{
  g_autoptr(TideConfig) config = load_good(KAFKA READINGS HBASE TABLES);
  const TideConfigSource *source = tide_config_source_of_topic(config, TIDE_BYTES_LITERAL("whatever"));
  g_assert_cmpuint(config->sources->len, ==, 1);
  g_assert_null(source->name);
  g_assert_true(source->readings == &config->readings);
  g_assert_true(tide_config_check_topic(config, NULL, NULL));
  g_assert_true(tide_config_check_topic(config, "whatever", NULL));
  g_assert_true(tide_config_keeps_bad_messages(config));
}

static void
test_topic_is_asked_for_where_sources_differ(void)
{
  g_autoptr(TideConfig) config = load_good(SOURCES HBASE TABLES_OF_SOURCES);
  g_autoptr(GError) none = NULL, other = NULL;
  g_assert_true(tide_config_check_topic(config, "abc", NULL));
  g_assert_false(tide_config_check_topic(config, NULL, &none));
  g_assert_nonnull(strstr(none->message, "has 3 sources, whose messages differ: say by '--topic'"));
  g_assert_false(tide_config_check_topic(config, "x", &other));
  g_assert_nonnull(strstr(other->message, "reads the topic 'x'"));
}

static void
test_table_takes_from_those_that_it_names(void)
{
  g_autoptr(TideConfig) config = load_good(SOURCES HBASE TABLES_OF_SOURCES);
  const TideTable *all = tide_config_find_table(config, "ALL"), *last = tide_config_find_table(config, "LAST");
  const TideConfigSource *first = g_ptr_array_index(config->sources, 0), *third = g_ptr_array_index(config->sources, 2);
  g_assert_true(tide_config_takes_from(all, first));
  g_assert_true(tide_config_takes_from(all, third));
  g_assert_false(tide_config_takes_from(last, first));
  g_assert_true(tide_config_takes_from(last, third));
  g_assert_cmpstr(tide_config_first_source(config, last)->name, ==, "second");
  g_assert_true(tide_config_time_of(all, first) == &first->readings->time);
  g_assert_true(tide_config_time_of(last, third) == last->time);
}

static void
test_what_holds_for_all(void)
{
  g_autoptr(TideConfig) config = load_good(SOURCES HBASE TABLES_OF_SOURCES);
  g_assert_cmpuint(tide_config_max_message_bytes(config), ==, 2 * 1024 * 1024);
  g_assert_false(tide_config_keeps_bad_messages(config));
}

static void
test_printed_configuration_loads_again(void)
{
  g_autoptr(TideConfig) config = load_good(SOURCES HBASE TABLES_OF_SOURCES);
  g_autofree char *printed = tide_config_print(config);
  g_autoptr(TideConfig) again = load_good(printed);
  g_autofree char *reprinted = tide_config_print(again);
  g_assert_cmpstr(printed, ==, reprinted);
  g_assert_null(strstr(printed, "\nreadings:"));
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/config-source/topic-has-one-source", test_topic_has_one_source);
  g_test_add_func("/config-source/pattern-may-match-a-pattern", test_pattern_may_match_a_pattern);
  g_test_add_func("/config-source/short-form", test_short_form_is_one_source);
  g_test_add_func("/config-source/topic-is-asked-for", test_topic_is_asked_for_where_sources_differ);
  g_test_add_func("/config-source/tables", test_table_takes_from_those_that_it_names);
  g_test_add_func("/config-source/what-holds-for-all", test_what_holds_for_all);
  g_test_add_func("/config-source/printed-loads-again", test_printed_configuration_loads_again);
  return g_test_run();
}
