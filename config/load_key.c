/* Row keys: from the list in the file to the parts that the model compiles. */
#include "config/load.h"
#include "config/table_language.h"
#include "util/error.h"

#include <string.h>

/* The kinds of parts, by the key that names each. A salt may name its hash, so it is looked for first. */
static const struct {
  const char *name;
  TideKeyPartKind kind;
  const TideConfigGroup *options;
} kinds[] = {
    {"salt", TIDE_KEY_SALT, &tide_key_salt_options},    {"hash", TIDE_KEY_HASH, &tide_key_hash_options},
    {"field", TIDE_KEY_FIELD, &tide_key_field_options}, {"time", TIDE_KEY_TIME, &tide_key_time_options},
    {"hex", TIDE_KEY_LITERAL, &tide_key_hex_options},
};

static void load_part(TideLoad *load, const char *path, const TideYamlNode *node, gboolean is_hashed,
                      TideKeyPartSpec *spec);

static gboolean
decode_hex(const char *text, GByteArray *bytes)
{
  for (; text[0] != '\0' && text[1] != '\0'; text += 2) {
    if (!g_ascii_isxdigit(text[0]) || !g_ascii_isxdigit(text[1]))
      return FALSE;
    guint8 byte = (guint8)(g_ascii_xdigit_value(text[0]) << 4 | g_ascii_xdigit_value(text[1]));
    g_byte_array_append(bytes, &byte, 1);
  }
  return text[0] == '\0';
}

/* Hex digits of a scalar. */
static gboolean
load_hex(TideLoad *load, const char *path, const TideYamlNode *node, TideBytes *ret_bytes)
{
  g_autoptr(GByteArray) bytes = g_byte_array_new();

  if (node == NULL || node->kind != TIDE_YAML_SCALAR || node->len == 0 || strlen(node->text) != node->len ||
      !decode_hex(node->text, bytes)) {
    g_autofree char *shown = tide_problem_quote(path);
    g_autofree char *got = tide_yaml_describe(node);
    tide_problems_add_error(load->problems, node != NULL ? node->place : TIDE_PLACE_FILE,
                            "'%s.hex' must be pairs of hex digits such as \"00ff\", got %s", shown, got);
    return FALSE;
  }
  gsize len = bytes->len;
  guint8 *data = g_byte_array_free(g_steal_pointer(&bytes), FALSE);
  g_ptr_array_add(load->scratch, data);
  *ret_bytes = tide_bytes(data, len);
  return TRUE;
}

gboolean
tide_load_bytes(TideLoad *load, const char *path, const TideYamlNode *node, TideBytes *ret_bytes)
{
  const TideYamlNode *hex = tide_yaml_get(node, "hex");

  if (node->kind == TIDE_YAML_SCALAR && !tide_yaml_is_null(node)) {
    *ret_bytes = tide_bytes(node->text, node->len);
    return TRUE;
  }
  if (hex != NULL && node->keys->len == 1)
    return load_hex(load, path, hex, ret_bytes);
  g_autofree char *shown = tide_problem_quote(path);
  g_autofree char *got = tide_yaml_describe(node);
  tide_problems_add_error(load->problems, node->place, "'%s' must be a text or { hex: \"00ff\" }, got %s", shown, got);
  return FALSE;
}

/* What "field" parts say beyond their table: padding and default. */
static void
load_field_part(TideLoad *load, const char *path, const TideYamlNode *node, TideKeyPartSpec *spec)
{
  const TideYamlNode *pad = tide_yaml_get(node, "pad");
  const TideYamlNode *align = tide_yaml_get(node, "align");
  const TideYamlNode *fallback = tide_yaml_get(node, "default");
  const TideYamlNode *padding = pad != NULL ? pad : align;

  if (padding != NULL && tide_yaml_get(node, "width") == NULL)
    tide_problems_add_error(load->problems, padding->place,
                            "'%s' without 'width': say to how many bytes the field is padded",
                            pad != NULL ? "pad" : "align");
  spec->pad_byte = ' ';
  if (pad != NULL && pad->kind == TIDE_YAML_SCALAR && pad->len == 1) {
    spec->pad_byte = (guint8)pad->text[0];
  } else if (pad != NULL) {
    g_autofree char *shown = tide_problem_quote(path);
    g_autofree char *got = tide_yaml_describe(pad);
    tide_problems_add_error(load->problems, pad->place, "'%s.pad' must be one ASCII character, got %s", shown, got);
  }
  if (align == NULL)
    spec->pad_left = spec->pad_byte == '0'; /* zeros are for numbers */
  if (fallback != NULL) {
    g_autofree char *default_path = g_strconcat(path, ".default", NULL);
    spec->has_default = tide_load_bytes(load, default_path, fallback, &spec->default_value);
  }
}

/* What a hash or salt is made of. */
static void
load_of(TideLoad *load, const char *path, const TideYamlNode *node, TideKeyPartSpec *spec)
{
  const TideYamlNode *of = tide_yaml_get(node, "of");

  if (of == NULL)
    return; /* said already: it is required */
  gboolean is_list = of->kind == TIDE_YAML_LIST;
  gsize n = is_list ? of->values->len : 1;
  TideKeyPartSpec *parts = g_new0(TideKeyPartSpec, MAX(n, 1));
  g_ptr_array_add(load->scratch, parts);
  g_autofree char *of_path = g_strconcat(path, ".of", NULL);
  for (gsize i = 0; i < n; i++)
    load_part(load, of_path, is_list ? g_ptr_array_index(of->values, i) : of, TRUE, &parts[i]);
  spec->of = parts;
  spec->n_of = n;
}

static void
load_literal(TideLoad *load, const TideYamlNode *node, TideKeyPartSpec *spec)
{
  spec->kind = TIDE_KEY_LITERAL;
  spec->literal = tide_bytes(node->text, node->len);
  if (tide_yaml_is_null(node))
    tide_problems_add_error(load->problems, node->place,
                            "a key part is empty (an unquoted # begins a comment: write \"#\")");
}

static void
load_hashed_field(TideLoad *load, const TideYamlNode *node, TideKeyPartSpec *spec)
{
  g_autoptr(GError) error = NULL;

  spec->kind = TIDE_KEY_FIELD;
  spec->field = TIDE_NAME_NONE;
  if (tide_yaml_is_null(node) || !tide_config_option_check_field_name(node->text, node->len, &error)) {
    g_autofree char *got = tide_yaml_describe(node);
    tide_problems_add_error(load->problems, node->place, "what is hashed %s, got %s",
                            error != NULL ? error->message : "must be the name of a field", got);
    return;
  }
  spec->field = tide_field_names_intern(load->config->names, tide_bytes(node->text, node->len));
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
      tide_problems_add_error(load->problems, node->place,
                              "'%s' and '%s' are two parts of a key: write each as one of "
                              "its own",
                              kinds[found].name, kinds[i].name);
      return -1;
    }
    found = is_of_salt ? found : (int)i;
  }
  if (found < 0) {
    g_autofree char *got = tide_yaml_describe(node);
    tide_problems_add_error(load->problems, node->place,
                            "a key part must be a text, or a mapping with one of field, time, hash, salt, hex; got %s",
                            got);
  }
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
  tide_config_group_read(kinds[found].options, path, node, node->place, &target);
  spec->kind = kinds[found].kind;
  switch (spec->kind) {
  case TIDE_KEY_LITERAL:
    (void)load_hex(load, path, tide_yaml_get(node, "hex"), &spec->literal);
    return;
  case TIDE_KEY_FIELD:
    load_field_part(load, path, node, spec);
    return;
  case TIDE_KEY_HASH:
  case TIDE_KEY_SALT:
    load_of(load, path, node, spec);
    return;
  case TIDE_KEY_TIME:
  case TIDE_KEY_NAME:
    return;
  }
}

/* @is_hashed: the part is in an `of`, where a text is the name of a field: hashing a constant would do nothing. */
static void
load_part(TideLoad *load, const char *path, const TideYamlNode *node, gboolean is_hashed, TideKeyPartSpec *spec)
{
  if (node->kind != TIDE_YAML_SCALAR)
    load_mapping_part(load, path, node, spec);
  else if (is_hashed)
    load_hashed_field(load, node, spec);
  else
    load_literal(load, node, spec);
}

/* The first part that is not the same in every key decides where new rows go. */
static gboolean
leads_with_time(const TideKeyPartSpec *specs, gsize n, TideNameId time_field)
{
  for (gsize i = 0; i < n; i++) {
    if (specs[i].kind == TIDE_KEY_LITERAL)
      continue;
    return specs[i].kind == TIDE_KEY_TIME ||
           (specs[i].kind == TIDE_KEY_FIELD && time_field != TIDE_NAME_NONE && specs[i].field == time_field);
  }
  return FALSE;
}

static TideRowKey *
compile(TideLoad *load, const char *path, const TideYamlNode *node, const TideKeyPartSpec *specs, gsize n)
{
  gsize bad = 0;
  g_autoptr(GError) error = NULL;
  TideRowKey *key = tide_row_key_compile(specs, n, &bad, &error);

  if (key != NULL)
    return key;
  const TideYamlNode *part = node;
  if (node->kind == TIDE_YAML_LIST && bad < node->values->len)
    part = g_ptr_array_index(node->values, bad);
  g_autofree char *shown = tide_problem_quote(path);
  tide_problems_add_error(load->problems, part->place, "'%s': %s", shown, error->message);
  return NULL;
}

TideRowKey *
tide_load_key(TideLoad *load, const char *path, const TideYamlNode *node, gboolean *ret_leads_with_time)
{
  guint n_errors = tide_problems_n_errors(load->problems);
  gboolean is_list = node->kind == TIDE_YAML_LIST;
  gsize n = is_list ? node->values->len : 1;
  g_autofree TideKeyPartSpec *specs = g_new0(TideKeyPartSpec, MAX(n, 1));

  *ret_leads_with_time = FALSE;
  for (gsize i = 0; i < n; i++)
    load_part(load, path, is_list ? g_ptr_array_index(node->values, i) : node, FALSE, &specs[i]);
  if (tide_problems_n_errors(load->problems) != n_errors)
    return NULL;
  *ret_leads_with_time = leads_with_time(specs, n, load->config->readings.time.field);
  return compile(load, path, node, specs, n);
}
