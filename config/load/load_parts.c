/* Reads lists of key parts, for keys, qualifiers and values: finds the kind of each part, and lets the model compile
 * them. */
#include "config/load/load_table.h"
#include "config/option/nearest_name.h"
#include "util/error.h"

#include <string.h>

/* The kinds of parts, by the key that names each. A salt may name its hash, so salt is searched first. */
static const struct {
  const char *name;
  TideKeyPartKind kind;
  const TideConfigGroup *options;
} kinds[] = {
    {"salt", TIDE_KEY_SALT, &tide_key_salt_options},    {"hash", TIDE_KEY_HASH, &tide_key_hash_options},
    {"field", TIDE_KEY_FIELD, &tide_key_field_options}, {"time", TIDE_KEY_TIME, &tide_key_time_options},
    {"hex", TIDE_KEY_LITERAL, &tide_key_hex_options},   {"name", TIDE_KEY_NAME, &tide_key_name_options},
};

static void load_part(TideLoad *load, const char *path, const TideYamlNode *node, gboolean is_hashed,
                      TideKeyPartSpec *spec);

/* Fields and parts that a hash or salt is calculated from. */
static void
load_of(TideLoad *load, const char *path, const TideYamlNode *node, TideKeyPartSpec *spec)
{
  const TideYamlNode *of = tide_yaml_get(node, "of");

  if (of == NULL)
    return; /* already reported: it is required */
  gsize n = tide_yaml_n_items(of);
  TideKeyPartSpec *parts = g_new0(TideKeyPartSpec, MAX(n, 1));
  g_ptr_array_add(load->scratch, parts);
  g_autofree char *of_path = g_strconcat(path, ".of", NULL);
  for (gsize i = 0; i < n; i++)
    load_part(load, of_path, tide_yaml_item(of, i), TRUE, &parts[i]);
  spec->digest.of = parts;
  spec->digest.n_of = n;
}

static void
load_hashed_field(TideLoad *load, const TideYamlNode *node, TideKeyPartSpec *spec)
{
  g_autoptr(GError) error = NULL;

  spec->kind = TIDE_KEY_FIELD;
  spec->value.field = TIDE_NAME_NONE;
  if (tide_yaml_is_null(node) || !tide_config_option_check_field_name(node->text, node->len, &error)) {
    tide_load_got_error(load, node, "the hashed field %s",
                        error != NULL ? error->message : "must be the name of a field");
    return;
  }
  spec->value.field = tide_field_names_intern(load->config->names, tide_bytes(node->text, node->len));
}

#define WHAT_MAY_BE                                                                                                    \
  "a key part must be a text, or a mapping with one of field, time, hash, salt, hex (and name, in a qualifier)"

/* A mistyped key may mean one of the kinds. */
static void
add_unknown_part(TideLoad *load, const TideYamlNode *node)
{
  const char *names[G_N_ELEMENTS(kinds) + 1] = {NULL}, *nearest = NULL;
  g_autofree char *got = tide_yaml_describe(node);

  for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
    names[i] = kinds[i].name;
  for (guint i = 0; node->kind == TIDE_YAML_MAPPING && nearest == NULL && i < node->keys->len; i++)
    nearest = tide_nearest_name(((const TideYamlNode *)g_ptr_array_index(node->keys, i))->text, names);
  if (nearest != NULL)
    tide_load_error(load, node, WHAT_MAY_BE "; did you mean '%s'?", nearest);
  else
    tide_load_error(load, node, WHAT_MAY_BE "; got %s", got);
}

/* The index in kinds; -1 with the error added. */
static int
find_kind(TideLoad *load, const TideYamlNode *node)
{
  int found = -1;

  for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++) {
    if (tide_yaml_get(node, kinds[i].name) == NULL)
      continue;
    gboolean is_of_salt = kinds[i].kind == TIDE_KEY_HASH && found >= 0;
    if (found >= 0 && !is_of_salt) {
      tide_load_error(load, node, "'%s' and '%s' are two parts of a key: write each as a separate part",
                      kinds[found].name, kinds[i].name);
      return -1;
    }
    found = is_of_salt ? found : (int)i;
  }
  if (found < 0)
    add_unknown_part(load, node);
  return found;
}

static void
load_mapping_part(TideLoad *load, const char *path, const TideYamlNode *node, TideKeyPartSpec *spec)
{
  int found = find_kind(load, node);
  TideConfigTarget target = {.base = spec, .names = load->config->names, .problems = load->problems};

  if (found < 0)
    return;
  tide_config_group_set_defaults(kinds[found].options, spec);
  tide_config_group_read(kinds[found].options, path, node, node->position, &target);
  spec->kind = kinds[found].kind;
  switch (spec->kind) {
  case TIDE_KEY_LITERAL:
    (void)tide_load_hex(load, path, tide_yaml_get(node, "hex"), &spec->literal);
    return;
  case TIDE_KEY_FIELD:
    tide_load_field_part(load, path, node, spec);
    return;
  case TIDE_KEY_TIME:
    tide_load_time_part(load, path, node, spec);
    return;
  case TIDE_KEY_SALT: {
    const TideYamlNode *alphabet = tide_yaml_get(node, "alphabet");
    g_autofree char *alphabet_path = g_strconcat(path, ".alphabet", NULL);
    if (spec->digest.by_number)
      tide_load_refuse_option(load, path, node, "hash", "with 'by: number', which uses no hash");
    if (alphabet != NULL && tide_load_bytes(load, alphabet_path, alphabet, &spec->digest.alphabet) &&
        spec->digest.alphabet.len == 0)
      tide_load_error(load, alphabet, "'%s' is empty: remove it to use digits", alphabet_path);
    load_of(load, path, node, spec);
    return;
  }
  case TIDE_KEY_HASH:
    load_of(load, path, node, spec);
    return;
  case TIDE_KEY_NAME: {
    const TideYamlNode *name = tide_yaml_get(node, "name");
    if (name->kind != TIDE_YAML_SCALAR || strcmp(name->text, "true") != 0)
      tide_load_got_error(load, name, "'%s.name' must be true: it means the name of the cell's field", path);
    return;
  }
  }
}

/* @is_hashed: the part is in an `of`, where a text names a field, because hashing a constant has no effect. */
static void
load_part(TideLoad *load, const char *path, const TideYamlNode *node, gboolean is_hashed, TideKeyPartSpec *spec)
{
  if (node->kind != TIDE_YAML_SCALAR) {
    load_mapping_part(load, path, node, spec);
  } else if (is_hashed) {
    load_hashed_field(load, node, spec);
  } else {
    spec->kind = TIDE_KEY_LITERAL;
    spec->literal = tide_bytes(node->text, node->len);
    if (tide_yaml_is_null(node))
      tide_load_error(load, node, "a key part is empty (an unquoted # starts a comment: write \"#\")");
  }
}

gboolean
tide_load_parts(TideLoad *load, const char *path, const TideYamlNode *node, TidePartList *ret_parts)
{
  guint n_errors = tide_problems_n_errors(load->problems);
  gsize n = tide_yaml_n_items(node);
  TideKeyPartSpec *specs = g_new0(TideKeyPartSpec, MAX(n, 1));

  g_ptr_array_add(load->scratch, specs);
  for (gsize i = 0; i < n; i++)
    load_part(load, path, tide_yaml_item(node, i), FALSE, &specs[i]);
  if (tide_problems_n_errors(load->problems) != n_errors)
    return FALSE;
  *ret_parts = (TidePartList){.specs = specs, .n = n, .node = node};
  return TRUE;
}

const TideYamlNode *
tide_load_part_node(const TidePartList *parts, gsize index)
{
  if (parts->node->kind != TIDE_YAML_LIST || index >= parts->node->values->len)
    return parts->node;
  return g_ptr_array_index(parts->node->values, index);
}

/* ---- compilation by the model, with the faulty part if it fails ---- */

static void
add_fault(TideLoad *load, const char *path, const TidePartList *parts, gsize bad, const GError *error)
{
  g_autofree char *shown = tide_problem_quote(path);

  tide_load_error(load, tide_load_part_node(parts, bad), "'%s': %s", shown, error->message);
}

TideRowKey *
tide_load_key(TideLoad *load, const char *path, const TidePartList *parts)
{
  gsize bad = 0;
  g_autoptr(GError) error = NULL;
  TideRowKey *key = tide_row_key_compile(parts->specs, parts->n, &bad, &error);

  if (key == NULL)
    add_fault(load, path, parts, bad, error);
  return key;
}

TideKeyText *
tide_load_key_text(TideLoad *load, const char *path, const TidePartList *parts, gboolean with_name)
{
  gsize bad = 0;
  g_autoptr(GError) error = NULL;
  TideKeyText *text = tide_key_text_compile(parts->specs, parts->n, with_name, &bad, &error);

  if (text == NULL)
    add_fault(load, path, parts, bad, error);
  return text;
}
