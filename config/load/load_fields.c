/* readings.fields: the kind of each step, and its options checked together. */
#include "config/load/load_pieces.h"
#include "config/option/field_language.h"
#include "config/option/nearest_name.h"
#include "config/yaml/yaml_text.h"
#include "decode/field_steps.h"

/* How a printed line of an option starts. */
#define YAML_INDENT 4

/* The kinds of steps, by the key that names each. */
static const struct {
  const char *name;
  TideFieldVerb verb;
  const TideConfigGroup *options;
} verbs[] = {
    {"open", TIDE_FIELD_OPEN, &tide_step_open_options},
    {"pivot", TIDE_FIELD_PIVOT, &tide_step_pivot_options},
    {"split", TIDE_FIELD_SPLIT, &tide_step_split_options},
    {"decimal", TIDE_FIELD_DECIMAL, &tide_step_decimal_options},
    {"resolve", TIDE_FIELD_RESOLVE, &tide_step_resolve_options},
};

#define WHAT_MAY_BE "'%s' must be a list of steps, each with one of open, pivot, split, decimal, resolve"

/* The index in verbs; -1 with the error added. */
static int
find_verb(TideLoad *load, const char *path, const TideYamlNode *node)
{
  int found = -1;
  const char *names[G_N_ELEMENTS(verbs) + 1] = {NULL}, *nearest = NULL;
  for (gsize i = 0; i < G_N_ELEMENTS(verbs); i++) {
    names[i] = verbs[i].name;
    if (tide_yaml_get(node, verbs[i].name) == NULL)
      continue;
    if (found >= 0) {
      tide_load_error(load, node, "'%s' and '%s' are two steps: write each as a separate item of '%s'",
                      verbs[found].name, verbs[i].name, path);
      return -1;
    }
    found = (int)i;
  }
  for (guint i = 0; found < 0 && node->kind == TIDE_YAML_MAPPING && nearest == NULL && i < node->keys->len; i++)
    nearest = tide_nearest_name(((const TideYamlNode *)g_ptr_array_index(node->keys, i))->text, names);
  if (found < 0 && nearest != NULL)
    tide_load_error(load, node, WHAT_MAY_BE "; did you mean '%s'?", path, nearest);
  else if (found < 0)
    tide_load_got_error(load, node, WHAT_MAY_BE, path);
  return found;
}

/* One step while it is checked. */
typedef struct StepLoad {
  TideLoad *load;
  const char *path;
  const TideYamlNode *node;
  const TideDecodeOptions *decode;
  TideFieldStep *step;
} StepLoad;

#define step_error(it, ...) tide_load_error((it)->load, (it)->node, __VA_ARGS__)

/* The record's own fields are read only if an option names them. @name is the value of @option, or NULL. */
static void
check_field(const StepLoad *it, const char *option, const char *name)
{
  if (name == NULL)
    return;
  g_autoptr(GError) error = NULL;
  g_autofree char *shown = tide_problem_quote(name);
  if (!tide_config_option_check_field_name(name, strlen(name), &error))
    step_error(it, "'%s': '%s' %s", it->path, shown, error->message);
  else if (!tide_field_name_is_of_record(tide_bytes_of_string(name)))
    return;
  else if (it->step->verb == TIDE_FIELD_OPEN && strcmp(name, "$key") != 0 && !g_str_has_prefix(name, "$header."))
    step_error(it, "'%s.%s' must be a field of the message, $key or $header.NAME: other fields cannot contain JSON",
               it->path, option);
  else if (it->step->verb == TIDE_FIELD_PIVOT || it->step->verb == TIDE_FIELD_DECIMAL)
    step_error(it, "'%s.%s' must be a field of the message: split or open the record's field first", it->path, option);
  else
    (void)tide_field_names_intern(it->load->config->names, tide_bytes_of_string(name));
}

static void
check_pivot(const StepLoad *it)
{
  const TideFieldStep *step = it->step;
  gboolean by_members = step->name != NULL && step->values != NULL && step->values[0] != NULL;
  gboolean has_member = step->name != NULL || step->values != NULL;
  if ((step->names != NULL) ? has_member : !by_members)
    step_error(it,
               "'%s': a pivot needs either 'name' and 'value' (members of each item) or 'names' (a field with the list "
               "of names)",
               it->path);
  if (it->decode->arrays != TIDE_ARRAY_JSON)
    step_error(it, "'%s': a pivot needs lists, which only 'arrays: json' keeps", it->path);
}

static void
check_split(const StepLoad *it)
{
  TideFieldStep *step = it->step;
  guint n_parts = g_strv_length(step->parts), n_cuts = step->at != NULL ? g_strv_length(step->at) : 0;
  if ((step->by != NULL) == (step->at != NULL)) {
    step_error(it, "'%s': a split needs either 'by' (the delimiter) or 'at' (the positions of the parts)", it->path);
    return;
  }
  for (char **part = step->parts; *part != NULL; part++) {
    gboolean is_twice = FALSE;
    for (char **other = step->parts; other < part && strcmp(*part, TIDE_NO_NAME) != 0; other++)
      is_twice |= strcmp(*other, *part) == 0;
    if (**part == '$' || **part == '\0' || is_twice)
      step_error(it,
                 "'%s.into': the name '%s' is not possible: names with $ belong to the record, each name may occur "
                 "once, and _ skips a part",
                 it->path, *part);
  }
  if (n_parts < 2 || (step->at != NULL && n_cuts + 1 != n_parts)) {
    step_error(it, "'%s.into' must name %s", it->path,
               step->at != NULL ? "one part more than 'at' has positions" : "at least two parts, not counting _");
    return;
  }
  step->cuts = g_new0(guint32, n_parts);
  for (guint i = 0; i < n_cuts; i++) {
    guint64 cut = 0;
    if (!g_ascii_string_to_unsigned(step->at[i], 10, 1, it->decode->max_message_bytes, &cut, NULL) ||
        (i > 0 && cut <= step->cuts[i - 1])) {
      g_autofree char *shown = tide_problem_quote(step->at[i]);
      step_error(it, "'%s.at' must be ascending whole numbers of at least 1, got '%s'", it->path, shown);
      return;
    }
    step->cuts[i] = (guint32)cut;
  }
}

/* A second step would find no base fields, and no relative times. */
static void
check_resolve(const StepLoad *it)
{
  const TideFieldStep *steps = (const TideFieldStep *)(gconstpointer)it->decode->fields.steps->data;
  for (; steps < it->step; steps++)
    if (steps->verb == TIDE_FIELD_RESOLVE)
      step_error(it, "'%s' resolves the records twice: remove one of the 'resolve' steps", it->path);
}

static void
load_step(TideLoad *load, const char *path, const TideYamlNode *node, const TideDecodeOptions *decode,
          TideFieldStep *step)
{
  int found = find_verb(load, path, node);
  guint n_errors = tide_problems_n_errors(load->problems);
  TideConfigTarget target = {.base = step, .names = load->config->names, .problems = load->problems};
  StepLoad it = {load, path, node, decode, step};
  if (found < 0)
    return;
  step->verb = verbs[found].verb;
  tide_config_group_read(verbs[found].options, path, node, node->position, &target);
  if (tide_problems_n_errors(load->problems) > n_errors)
    return;
  check_field(&it, verbs[found].name, step->field);
  check_field(&it, "names", step->names);
  if (step->into != NULL && step->into[0] == '$')
    step_error(&it, "'%s.into' must not start with '$', which is reserved for fields of the record", path);
  if (step->verb == TIDE_FIELD_RESOLVE)
    check_resolve(&it);
  if (step->verb == TIDE_FIELD_OPEN || step->verb == TIDE_FIELD_PIVOT) {
    const char *into = step->into != NULL ? step->into : step->field + (step->field[0] == '$' ? 1 : 0);
    step->prefix = g_strconcat(into, *into != '\0' ? decode->separator : "", NULL);
  }
  if (step->verb == TIDE_FIELD_PIVOT)
    check_pivot(&it);
  else if (step->verb == TIDE_FIELD_SPLIT)
    check_split(&it);
}

void
tide_load_fields(TideLoad *load, const char *path, const TideYamlNode *node, TideDecodeOptions *decode)
{
  if (tide_yaml_is_null(node))
    return;
  decode->fields.steps = g_array_new(FALSE, TRUE, sizeof(TideFieldStep));
  g_array_set_clear_func(decode->fields.steps, (GDestroyNotify)tide_field_step_clear);
  for (guint i = 0; i < tide_yaml_n_items(node); i++) {
    TideFieldStep *step = &g_array_index(g_array_set_size(decode->fields.steps, i + 1), TideFieldStep, i);
    load_step(load, path, tide_yaml_item(node, i), decode, step);
  }
  GString *yaml = g_string_new(NULL);
  tide_yaml_append_node(yaml, node, YAML_INDENT, 2);
  decode->fields.steps_yaml = g_string_free(yaml, FALSE);
}
