/* What `latest --forget` deletes, to the byte, and what it refuses. */
#include "commands/read/forget.h"

#include "thrift/wire/mutation_encoder.h"
#include "unit/assert_bytes.h"
#include "unit/config-texts.h"
#include "unit/test_case.h"
#include "util/error.h"

static const char yaml[] = KAFKA HBASE READINGS "tables:\n"
                                                "  METRIC:\n"
                                                "    key: [ { field: host }, \"#\", { time: epoch_ms } ]\n"
                                                "    columns: { family: M, from: \"*\" }\n"
                                                "  CURRENT:\n"
                                                "    latest: merge\n"
                                                "    key: [ { field: site }, \"#\", { field: host } ]\n"
                                                "    columns:\n"
                                                "      - { family: N, from: [a] }\n"
                                                "      - { family: M, from: \"*\" }\n";

TEST("/forget/every-family-of-the-row-is-deleted-up-to-the-time")
{
  g_autoptr(TideConfig) config = load_text(yaml);
  const TideTable *table = tide_config_find_table(config, "CURRENT");
  const char *const texts[] = {"host=s1", "site=a"};
  g_auto(TideForget) forget = {0};
  g_autoptr(GError) error = NULL;
  g_assert_true(tide_forget_prepare(config, table, texts, 2, 1426535612045, &forget, &error));
  assert_bytes_equal(tide_buffer_bytes(&forget.key), TIDE_BYTES_LITERAL("a#s1"));
  g_autofree char *what = tide_forget_describe(&forget);
  g_assert_cmpstr(what, ==, "row 'a#s1' of 'CURRENT' with all that was read up to 2015-03-16T19:53:32.045Z");

  /* Every family of the table, up to that time. */
  for (int protocol = 0; protocol < 2; protocol++) {
    g_auto(TideBuffer) mutation = {0};
    g_auto(TideBuffer) expected = {0};
    TideBytes families[2];
    for (guint i = 0; i < table->families->len; i++)
      families[i] = tide_bytes_of_string(((const TideFamilySettings *)table->families->pdata[i])->name);
    g_assert_cmpuint(table->families->len, ==, 2);
    tide_forget_append_mutation(&forget, (TideWireProtocol)protocol, &mutation);
    tide_mutation_delete_append((TideWireProtocol)protocol, &expected, TIDE_BYTES_LITERAL("a#s1"), families, 2,
                                1426535612045);
    assert_bytes_equal(tide_buffer_bytes(&mutation), tide_buffer_bytes(&expected));
  }
}

TEST("/forget/what-is-no-single-row-of-a-latest-table-is-refused")
{
  static const struct {
    const char *table;
    const char *texts[2];
    gsize n_texts;
    const char *message;
  } cases[] = {
      {"METRIC", {"host=s1"}, 1, "'METRIC' is declared as a table of readings"},
      {"CURRENT", {"host=s1"}, 1, "give site too"},
      {"CURRENT", {"host=s1", "site=a#b"}, 2, "no row of 'CURRENT' can have these fields"},
      {"CURRENT", {"hots=s1", "site=a"}, 2, "did you mean 'host'?"},
  };
  g_autoptr(TideConfig) config = load_text(yaml);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_auto(TideForget) forget = {0};
    g_assert_false(tide_forget_prepare(config, tide_config_find_table(config, cases[i].table), cases[i].texts,
                                       cases[i].n_texts, 1, &forget, &error));
    g_assert_error(error, TIDE_ERROR, TIDE_ERROR_USAGE);
    g_assert_nonnull(strstr(error->message, cases[i].message));
  }
}

/* Readings that come up to then would be written, and hidden by the delete. */
TEST("/forget/E8-the-future-is-refused")
{
  const char *const texts[] = {"host=s1", "site=a"};
  g_autoptr(TideConfig) config = load_text(yaml);
  g_autoptr(GError) error = NULL;
  g_auto(TideForget) forget = {0};
  gint64 now_ms = g_get_real_time() / 1000;
  const TideTable *table = tide_config_find_table(config, "CURRENT");
  g_assert_false(tide_forget_prepare(config, table, texts, 2, now_ms + 60000, &forget, &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_USAGE);
  g_assert_nonnull(strstr(error->message, "'--up-to' lies in the future"));
  g_clear_error(&error);
  g_assert_true(tide_forget_prepare(config, table, texts, 2, now_ms, &forget, &error));
  g_assert_no_error(error);
}
