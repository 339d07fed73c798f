/* Checks of field and time parts beyond the option table: padding, ranges, defaults, zones, and options without
 * effect. */
#include "config/load/load_table.h"

#include <errno.h>
#include <string.h>

#define WITH_FORM "with a binary encoding, which has a fixed width and cannot contain text"

static void
check_field_options(TideLoad *load, const char *path, const TideYamlNode *node, const TideKeyPartSpec *spec)
{
  static const char *const of_text[] = {"width", "pad",          "align",    "long",
                                        "case",  "strip_spaces", "reversed", "separator"};

  for (gsize i = 0; spec->value.form != TIDE_KEY_TEXT && i < G_N_ELEMENTS(of_text); i++)
    tide_load_refuse_option(load, path, node, of_text[i], WITH_FORM);
  if (spec->value.form == TIDE_KEY_TEXT && spec->width_bytes > 0)
    tide_load_refuse_option(load, path, node, "separator", "with 'width', which determines where the value ends");
}

static void
load_padding(TideLoad *load, const char *path, const TideYamlNode *node, TideKeyPartSpec *spec)
{
  static const char *const of_width[] = {"pad", "align", "long"};
  const TideYamlNode *pad = tide_yaml_get(node, "pad");
  gboolean has_width = tide_yaml_get(node, "width") != NULL || spec->value.form != TIDE_KEY_TEXT;
  TideBytes byte = TIDE_BYTES_LITERAL(" ");

  for (gsize i = 0; !has_width && i < G_N_ELEMENTS(of_width); i++) {
    const TideYamlNode *option = tide_yaml_get(node, of_width[i]);
    if (option != NULL) {
      tide_load_error(load, option, "'%s' needs 'width': set the number of bytes that the field has in the key",
                      of_width[i]);
      break; /* reports one mistake once */
    }
  }
  if (pad != NULL && (pad->kind != TIDE_YAML_SCALAR || pad->len == 1)) {
    g_autofree char *pad_path = g_strconcat(path, ".pad", NULL);
    if (!tide_load_bytes(load, pad_path, pad, &byte))
      return;
  }
  if (byte.len != 1 || (pad != NULL && pad->kind == TIDE_YAML_SCALAR && pad->len != 1)) {
    g_autofree char *shown = tide_problem_quote(path);
    tide_load_got_error(load, pad, "'%s.pad' must be one ASCII character, or one byte as { hex: \"00\" }", shown);
    return;
  }
  spec->value.pad_byte = byte.data[0];
  if (tide_yaml_get(node, "align") == NULL)
    spec->value.pad_left = spec->value.pad_byte == '0'; /* zeros indicate a number */
}

static gboolean
parse_integer(const TideYamlNode *node, gint64 *ret_value)
{
  char *end = NULL;

  if (node->kind != TIDE_YAML_SCALAR || node->len == 0 || !(g_ascii_isdigit(node->text[0]) || node->text[0] == '-'))
    return FALSE;
  errno = 0;
  *ret_value = g_ascii_strtoll(node->text, &end, 10);
  return errno == 0 && end == node->text + node->len;
}

/* [MIN, MAX] */
static void
load_range(TideLoad *load, const char *path, const TideYamlNode *node, TideKeyPartSpec *spec)
{
  const TideYamlNode *range = tide_yaml_get(node, "range");

  if (range == NULL)
    return;
  spec->value.has_range = range->kind == TIDE_YAML_LIST && range->values->len == 2 &&
                          parse_integer(g_ptr_array_index(range->values, 0), &spec->value.range_min) &&
                          parse_integer(g_ptr_array_index(range->values, 1), &spec->value.range_max);
  if (!spec->value.has_range) {
    g_autofree char *got = tide_yaml_describe(range);
    tide_load_error(load, range,
                    "'%s.range' must be two whole numbers, the minimum and the maximum ([0, 999999]), got %s", path,
                    got);
  } else if (spec->value.range_min > spec->value.range_max) {
    tide_load_error(load, range, "'%s.range' has its numbers in the wrong order: write the minimum first", path);
  }
}

/* Reads the condition of a default, which lives as long as @load. */
static void
load_default_condition(TideLoad *load, const char *path, const TideYamlNode *node, TideCondition *ret_condition)
{
  g_autoptr(GArray) conditions = g_array_new(FALSE, FALSE, sizeof(TideCondition));

  if (node->kind == TIDE_YAML_LIST) {
    tide_load_error(load, node, "'%s' must be one condition, got a list", path);
    return;
  }
  tide_load_conditions(load, path, node, conditions);
  for (guint i = 0; i < conditions->len; i++) {
    TideCondition *condition = &g_array_index(conditions, TideCondition, i);
    for (gsize v = 0; v < condition->n_values; v++)
      g_ptr_array_add(load->scratch, (gpointer)condition->values[v].data);
    if (condition->values != NULL)
      g_ptr_array_add(load->scratch, condition->values);
    *ret_condition = *condition;
  }
}

/* { when: ..., value: ... } */
static void
load_conditional_default(TideLoad *load, const char *path, const TideYamlNode *node, TideKeyDefault *ret_default)
{
  TideKeyPartSpec unused = {0};
  TideConfigTarget target = {.base = &unused, .names = load->config->names, .problems = load->problems};
  const TideYamlNode *when = tide_yaml_get(node, "when");
  const TideYamlNode *value = tide_yaml_get(node, "value");
  g_autofree char *when_path = g_strconcat(path, ".when", NULL);
  g_autofree char *value_path = g_strconcat(path, ".value", NULL);

  tide_config_group_read(&tide_key_default_options, path, node, node->position, &target);
  if (when != NULL)
    load_default_condition(load, when_path, when, &ret_default->when);
  if (value != NULL)
    (void)!tide_load_bytes(load, value_path, value, &ret_default->value);
}

static void
load_default_list(TideLoad *load, const char *path, const TideYamlNode *list, TideKeyPartSpec *spec)
{
  gsize n = list->values->len;
  TideKeyDefault *defaults = g_new0(TideKeyDefault, MAX(n, 1));

  g_ptr_array_add(load->scratch, defaults);
  spec->value.defaults = defaults;
  if (n == 0)
    tide_load_error(load, list, "'%s' is empty: remove it to reject such messages", path);
  for (gsize i = 0; i < n; i++) {
    const TideYamlNode *item = g_ptr_array_index(list->values, i);
    gboolean is_conditional = item->kind == TIDE_YAML_MAPPING && tide_yaml_get(item, "hex") == NULL;
    if (is_conditional)
      load_conditional_default(load, path, item, &defaults[spec->value.n_defaults++]);
    else if (i + 1 < n)
      tide_load_error(
          load, item,
          "'%s': a value without a condition ends the list, and the later ones would never be used: move it to the end",
          path);
    else
      spec->value.has_default = tide_load_bytes(load, path, item, &spec->value.default_value);
  }
}

void
tide_load_field_part(TideLoad *load, const char *path, const TideYamlNode *node, TideKeyPartSpec *spec)
{
  const TideYamlNode *fallback = tide_yaml_get(node, "default");
  g_autofree char *default_path = g_strconcat(path, ".default", NULL);

  check_field_options(load, path, node, spec);
  load_padding(load, path, node, spec);
  load_range(load, path, node, spec);
  if (fallback != NULL && fallback->kind == TIDE_YAML_LIST)
    load_default_list(load, default_path, fallback, spec);
  else if (fallback != NULL)
    spec->value.has_default = tide_load_bytes(load, default_path, fallback, &spec->value.default_value);
}

void
tide_load_time_part(TideLoad *load, const char *path, const TideYamlNode *node, TideKeyPartSpec *spec)
{
  static const char *const of_numbers[] = {"since", "drop", "reversed", "binary"};
  gboolean uses_zone = spec->moment.pattern != NULL || spec->moment.cut_to.unit != TIDE_CUT_NONE ||
                       spec->moment.since.unit != TIDE_CUT_NONE;

  if (spec->moment.zone != NULL) {
    spec->moment.zone_name = tide_yaml_get(node, "zone")->text;
    g_ptr_array_add(load->zones, spec->moment.zone);
  }
  if (!uses_zone)
    tide_load_refuse_option(
        load, path, node, "zone",
        "with a number since 1970, which is the same in every zone; use it with a pattern, 'cut' or 'since'");
  for (gsize i = 0; spec->moment.pattern != NULL && i < G_N_ELEMENTS(of_numbers); i++)
    tide_load_refuse_option(load, path, node, of_numbers[i], "with a pattern; use it with a number");
  if (spec->binary)
    tide_load_refuse_option(load, path, node, "drop", "with 'binary', which has no digits");
}
