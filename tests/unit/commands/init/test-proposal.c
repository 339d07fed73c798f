/* The proposal's text: it loads as it stands, to what was proposed, whatever fields are called. */
#include "commands/init/proposal.h"

#include "commands/init/guess_time.h"
#include "config/option/option_table.h"
#include "model/key/row_key.h"
#include "unit/load_text.h"
#include "unit/test_case.h"
#include "util/error.h"

#include <glib/gstdio.h>
#include <unistd.h>

static TideInitProposal
make_proposal(const char *time_field, const char *const *key)
{
  static const TideDecodeOptions json = {.format = TIDE_FORMAT_JSON};
  TideInitProposal proposal = {.decode = &json,
                               .brokers = g_strdup("k1:9092,k2:9092"),
                               .topic = g_strdup("some.topic"),
                               .group = g_strdup("g"),
                               .gateways = g_strdup("h1:9090, h2:9090"),
                               .time_field = g_strdup(time_field),
                               .time_format = TIDE_TIME_EPOCH_MS,
                               .key = g_ptr_array_new_with_free_func(g_free),
                               .separator = g_strdup("#"),
                               .table = g_strdup("METRIC")};
  for (; *key != NULL; key++)
    g_ptr_array_add(proposal.key, g_strdup(*key));
  return proposal;
}

static TideConfig *
load(const TideInitProposal *proposal)
{
  g_autofree char *text = tide_init_proposal_print(proposal, 3);
  g_autoptr(GPtrArray) problems = NULL;
  TideConfig *config = tide_config_load_text("init.yaml", tide_bytes_of_string(text), &problems);
  if (config == NULL || problems->len > 0)
    g_error("it does not load without a problem:\n%s", text);
  return config;
}

static void
assert_key(const TideConfig *config, const char *table, const TideInitProposal *proposal)
{
  const TideTable *found = tide_config_find_table(config, table);
  g_assert_nonnull(found);
  g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(TideNameId));
  tide_row_key_fields(found->key, ids);
  for (guint i = 0; i < proposal->key->len; i++) {
    gboolean is_there = FALSE;
    for (guint j = 0; j < ids->len; j++) {
      TideBytes name = tide_field_names_text(config->names, g_array_index(ids, TideNameId, j));
      is_there = is_there || tide_bytes_equal(name, tide_bytes_of_string(proposal->key->pdata[i]));
    }
    g_assert_true(is_there);
  }
}

TEST("/proposal/all-of-it")
{
  g_auto(TideInitProposal) proposal = make_proposal("at", (const char *const[]){"site", "device/id", NULL});
  proposal.salt = 4;
  proposal.dead_letters = g_strdup("letters");
  g_autoptr(TideConfig) config = load(&proposal);
  g_assert_cmpstr(config->kafka.brokers, ==, "k1:9092,k2:9092");
  g_assert_cmpstr(config->kafka.topics[0], ==, "some.topic");
  g_assert_cmpuint(config->hbase.gateways->len, ==, 2);
  g_assert_cmpstr(config->dead_letters.topic, ==, "letters");
  g_assert_cmpuint(config->tables->len, ==, 2);
  assert_key(config, "METRIC", &proposal);
  assert_key(config, "CURRENT_METRIC", &proposal);
  const TideTable *history = tide_config_find_table(config, "METRIC");
  const TideTable *latest = tide_config_find_table(config, "CURRENT_METRIC");
  g_assert_true(tide_row_key_has_time(history->key));
  g_assert_false(tide_row_key_has_time(latest->key));
  g_assert_cmpint(history->latest, ==, TIDE_LATEST_NONE);
  g_assert_cmpint(latest->latest, ==, TIDE_LATEST_MERGE);
}

TEST("/proposal/forms-of-times")
{
  static const struct {
    const char *field; /* NULL: the record's own time */
    TideTimeFormat format;
    const char *zone;
    const char *key_time;
  } cases[] = {
      {"at", TIDE_TIME_EPOCH_S, NULL, "{ time: epoch_ms }"},  {"at", TIDE_TIME_EPOCH_MS, NULL, "{ time: epoch_ms }"},
      {"at", TIDE_TIME_EPOCH_US, NULL, "{ time: epoch_us }"}, {"at", TIDE_TIME_EPOCH_NS, NULL, "{ time: epoch_ns }"},
      {"at", TIDE_TIME_RFC3339, "UTC", "{ time: epoch_ms }"}, {NULL, TIDE_TIME_RECORD, NULL, "{ time: epoch_ms }"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(TideInitProposal) proposal = make_proposal(cases[i].field, (const char *const[]){"host", NULL});
    proposal.time_format = cases[i].format;
    proposal.zone = g_strdup(cases[i].zone);
    g_autoptr(TideConfig) config = load(&proposal);
    g_assert_cmpint(config->readings.time.format, ==, cases[i].format);
    g_assert_cmpint(config->readings.time.zone != NULL, ==, cases[i].zone != NULL);
    g_autofree char *text = tide_init_proposal_print(&proposal, 1);
    g_assert_nonnull(strstr(text, cases[i].key_time));
  }
}

static void
assert_form(const TideDecodeOptions *decode)
{
  g_auto(TideInitProposal) proposal = make_proposal("at", (const char *const[]){"host", NULL});
  proposal.decode = decode;
  g_autoptr(TideConfig) config = load(&proposal);
  const TideDecodeOptions *loaded = &config->readings.decode;
  g_assert_cmpint(loaded->format, ==, decode->format);
  g_assert_cmpint(loaded->csv.header, ==, decode->format == TIDE_FORMAT_CSV && decode->csv.columns == NULL);
  gboolean is_of_lines = decode->format == TIDE_FORMAT_CSV || decode->format == TIDE_FORMAT_INFLUX;
  g_assert_cmpint(loaded->on_bad_reading, ==, is_of_lines ? TIDE_BAD_READING_ALONE : TIDE_BAD_READING_MESSAGE);
  g_assert_cmpstr(loaded->csv.delimiter, ==, decode->csv.delimiter);
  g_assert_cmpstr(loaded->layout.root, ==, decode->layout.root);
  g_assert_cmpstr(loaded->layout.each, ==, decode->layout.each);
  g_assert_true(decode->csv.columns == loaded->csv.columns ||
                g_strv_equal((const char *const *)loaded->csv.columns, (const char *const *)decode->csv.columns));
}

/* What a schema says is there only where it can be read, so the text alone is looked at. */
static void
assert_written(const TideDecodeOptions *decode, const TideRegistrySettings *registry, const char *const *lines)
{
  g_auto(TideInitProposal) proposal = make_proposal("at", (const char *const[]){"host", NULL});
  proposal.decode = decode;
  proposal.registry = registry;
  g_autofree char *text = tide_init_proposal_print(&proposal, 1);
  for (; *lines != NULL; lines++)
    if (strstr(text, *lines) == NULL)
      g_error("'%s' is not in:\n%s", *lines, text);
}

TEST("/proposal/schemas")
{
  char file[] = "/a: b/readings.desc", message[] = "plant.Reading";
  char url[] = "https://r:8081", user[] = "meter", ca[] = "/ca.pem";
  const TideRegistrySettings registry = {.url = url, .user = user, .ca = ca, .password.file = file};
  assert_written(&(TideDecodeOptions){.format = TIDE_FORMAT_AVRO}, &registry,
                 (const char *const[]){"  format: avro\n", "  registry:\n", "    url: \"https://r:8081\"\n",
                                       "    user: meter\n", "    ca: /ca.pem\n",
                                       "      file: \"/a: b/readings.desc\"\n", NULL});
  assert_written(
      &(TideDecodeOptions){
          .format = TIDE_FORMAT_PROTOBUF, .schema_file = file, .message = message, .framing = TIDE_FRAMING_CONFLUENT},
      NULL,
      (const char *const[]){"  format: protobuf\n", "  schema: \"/a: b/readings.desc\"\n", "  message: plant.Reading\n",
                            "  framing: confluent\n", NULL});
}

TEST("/proposal/forms-of-messages")
{
  for (TideReadingFormat format = TIDE_FORMAT_JSON; format <= TIDE_FORMAT_MSGPACK; format++)
    assert_form(&(TideDecodeOptions){.format = format});
  static const char *const delimiters[] = {";", "\t", "|"};
  char *columns[] = {(char[]){"host"}, (char[]){"no: #1"}, (char[]){"at"}, NULL};
  for (gsize i = 0; i < G_N_ELEMENTS(delimiters); i++) {
    TideDecodeOptions decode = {.format = TIDE_FORMAT_CSV, .csv.delimiter = (char *)(gsize)delimiters[i]};
    assert_form(&decode);
    decode.csv.columns = columns;
    assert_form(&decode);
  }
  char each[] = "a: b", root[] = "pay \"load\"/x";
  assert_form(&(TideDecodeOptions){.layout.each = each});
  assert_form(&(TideDecodeOptions){.layout = {.each = each, .root = root}});
}

/* Points of any bytes load back as they are, and only the history has them. */
TEST("/proposal/splits")
{
  static const char *const texts[] = {"10", "a: \"#b", "null", "\xc3", "\xc3\xa9", "\xff\x01"};
  g_auto(TideInitProposal) proposal = make_proposal("at", (const char *const[]){"host", NULL});
  proposal.splits = g_array_new(FALSE, FALSE, sizeof(TideBytes));
  proposal.splits_why = g_strdup("Because.");
  for (gsize i = 0; i <= G_N_ELEMENTS(texts); i++) {
    g_autoptr(TideConfig) config = load(&proposal);
    const GArray *splits = tide_config_find_table(config, "METRIC")->splits;
    g_assert_cmpuint(splits->len, ==, i);
    for (gsize j = 0; j < i; j++)
      g_assert_true(tide_bytes_equal(g_array_index(splits, TideBytes, j), tide_bytes_of_string(texts[j])));
    g_assert_cmpuint(tide_config_find_table(config, "CURRENT_METRIC")->splits->len, ==, 0);
    g_autofree char *text = tide_init_proposal_print(&proposal, 1);
    g_assert_nonnull(strstr(text, "  # Because.\n"));
    g_assert_cmpint(strstr(text, "this line is removed") != NULL, ==, i > 0);
    if (i < G_N_ELEMENTS(texts)) {
      TideBytes point = tide_bytes(g_strdup(texts[i]), strlen(texts[i]));
      g_array_append_val(proposal.splits, point);
    }
  }
}

/* Each comment of an option is its sentence in the option table, and stands there once. */
TEST("/proposal/comments")
{
  g_auto(TideInitProposal) proposal = make_proposal("at", (const char *const[]){"host", NULL});
  g_autofree char *text = tide_init_proposal_print(&proposal, 1);
  g_autoptr(GRegex) breaks = g_regex_new("\\n *# ", 0, 0, NULL);
  g_autofree char *joined = g_regex_replace_literal(breaks, text, -1, 0, " ", 0, NULL);
  const TideConfigGroup *kafka = tide_config_option_find(&tide_config_top, "kafka")->section;
  const char *sentence = tide_config_option_find(kafka, "group")->sentence;
  const char *found = strstr(joined, sentence);
  g_assert_nonnull(found);
  g_assert_null(strstr(found + 1, sentence));
  g_assert_null(strstr(joined, "session_timeout:")); /* at its default: left out */
  g_assert_nonnull(strstr(text, "\n  #file: "));     /* but for where dead letters go */
}

/* Names of any printable text, which the separator may stand in. */
TEST("/proposal/random-names")
{
  static const char *const pieces[] = {"a", "Z9", " ", "#", ":",    "\"", "'",    "\\", "{",  "}",      "[",
                                       "]", ",",  "/", "-", "null", "~",  "true", "*",  "&",  "\u00e9", "\u6e29",
                                       "|", ">",  "!", "%", "@",    "`",  "1.5",  "?",  "\t", "x"};
  for (guint round = 0; round < 300; round++) {
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (int i = g_test_rand_int_range(2, 5); i > 0; i--) {
      GString *name = g_string_new(NULL);
      for (int j = g_test_rand_int_range(1, 6); j > 0; j--)
        g_string_append(name, pieces[g_test_rand_int_range(0, G_N_ELEMENTS(pieces))]);
      g_string_append_printf(name, "%d", i); /* all different */
      g_ptr_array_add(names, g_string_free(name, FALSE));
    }
    g_ptr_array_add(names, NULL);
    g_auto(TideInitProposal) proposal = make_proposal(names->pdata[0], (const char *const *)names->pdata + 1);
    if (g_test_rand_bit())
      g_clear_pointer(&proposal.separator, g_free);
    proposal.salt = g_test_rand_bit() ? 8 : 0;
    g_autoptr(TideConfig) config = load(&proposal);
    TideBytes time = tide_field_names_text(config->names, config->readings.time.field);
    g_assert_true(tide_bytes_equal(time, tide_bytes_of_string(proposal.time_field)));
    assert_key(config, "METRIC", &proposal);
    assert_key(config, "CURRENT_METRIC", &proposal);
  }
}

TEST("/proposal/latest-name")
{
  g_autofree char *plain = tide_init_latest_name("METRIC"), *spaced = tide_init_latest_name("plant:METRIC");
  g_assert_cmpstr(plain, ==, "CURRENT_METRIC");
  g_assert_cmpstr(spaced, ==, "plant:CURRENT_METRIC");
}

TEST("/proposal/never-overwrites")
{
  g_autoptr(GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp("tidemark-init-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(folder, "a.yaml", NULL);
  g_autofree char *nowhere = g_build_filename(folder, "no", "a.yaml", NULL);
  g_autofree char *content = NULL;
  g_assert_true(tide_init_check_path(path, NULL));
  g_assert_true(tide_init_write_file(path, "first", NULL));
  g_assert_false(tide_init_check_path(path, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_IO);
  g_assert_nonnull(strstr(error->message, "already exists and is not changed"));
  g_clear_error(&error);
  g_assert_false(tide_init_write_file(path, "second", &error));
  g_assert_nonnull(strstr(error->message, "already exists and is not changed"));
  g_assert_true(g_file_get_contents(path, &content, NULL, NULL));
  g_assert_cmpstr(content, ==, "first");
  g_clear_error(&error);
  g_assert_false(tide_init_check_path(nowhere, &error));
  g_assert_true(g_str_has_suffix(error->message, "create it (mkdir -p), or name another file with '--config'"));
  g_unlink(path);
  /* a link that leads nowhere is something, too */
  g_assert_cmpint(symlink(nowhere, path), ==, 0);
  g_assert_false(tide_init_check_path(path, NULL));
  g_assert_false(tide_init_write_file(path, "third", NULL));
  g_unlink(path);
  g_rmdir(folder);
}
