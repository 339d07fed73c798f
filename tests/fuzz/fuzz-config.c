/* Any bytes as a configuration: the loader never crashes, says what is wrong when it refuses, and what it accepts it
 * prints so that it loads again to the same. */
#include "config/config.h"

/* Problems as a person sees them: the excerpt must cope with any text and any place. */
static void
show_problems(const GPtrArray *problems, const char *source)
{
  for (guint i = 0; i < problems->len; i++) {
    g_autofree char *shown = tide_config_problem_format(g_ptr_array_index(problems, i), "fuzz.yaml", source);
    g_assert_true(g_utf8_validate(shown, -1, NULL));
  }
}

static gboolean
has_secrets(const TideConfig *config)
{
  for (guint i = 0; i < config->kafka.properties->len; i++) {
    if (g_array_index(config->kafka.properties, TideKafkaProperty, i).secret)
      return TRUE;
  }
  return FALSE;
}

/* Printing adds the defaults, so that what fills the loader's limits by itself would pass them. */
#define MAX_PRINTED_BYTES 16384

static void
check_printed(const TideConfig *config)
{
  g_autofree char *printed = tide_config_print(config);
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(TideConfig) again = tide_config_load_text("printed.yaml", tide_bytes_of_string(printed), &problems);

  if (has_secrets(config))
    return; /* masked, so it differs */
  g_assert_nonnull(again);
  g_autofree char *printed_again = tide_config_print(again);
  g_assert_cmpstr(printed, ==, printed_again);
  g_assert_cmpuint(again->tables->len, ==, config->tables->len);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize len);

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize len)
{
  g_autofree char *source = g_strndup((const char *)data, len);
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(TideConfig) config = tide_config_load_text("fuzz.yaml", tide_bytes(data, len), &problems);

  show_problems(problems, source);
  g_assert_true(config != NULL || problems->len > 0);
  if (config != NULL && len <= MAX_PRINTED_BYTES)
    check_printed(config);
  return 0;
}
