#include "config/yaml/yaml_tree.h"

#include "config/yaml/secret.h"

#include <yaml.h>

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(yaml_event_t, yaml_event_delete)

/* State of parsing one text. */
typedef struct TreeBuilder {
  yaml_parser_t parser;
  TideBytes text;      /* borrowed */
  GPtrArray *problems; /* borrowed */
  guint n_nodes;
  guint depth;
  const char *key;    /* borrowed: the key of the value being built; NULL: none */
  gboolean is_secret; /* the value being built may be a secret */
} TreeBuilder;

void
tide_yaml_node_free(TideYamlNode *node)
{
  if (node == NULL)
    return;
  g_free(node->text);
  g_clear_pointer(&node->keys, g_ptr_array_unref);
  g_clear_pointer(&node->values, g_ptr_array_unref);
  g_free(node);
}

gboolean
tide_yaml_is_null(const TideYamlNode *node)
{
  static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};

  if (node == NULL)
    return TRUE;
  if (node->kind != TIDE_YAML_SCALAR || node->is_quoted)
    return FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS(nulls); i++) {
    if (strcmp(node->text, nulls[i]) == 0)
      return TRUE;
  }
  return FALSE;
}

const TideYamlNode *
tide_yaml_get(const TideYamlNode *mapping, const char *key)
{
  if (mapping == NULL || mapping->kind != TIDE_YAML_MAPPING)
    return NULL;
  for (guint i = 0; i < mapping->keys->len; i++) {
    if (strcmp(((const TideYamlNode *)g_ptr_array_index(mapping->keys, i))->text, key) == 0)
      return g_ptr_array_index(mapping->values, i);
  }
  return NULL;
}

gsize
tide_yaml_n_items(const TideYamlNode *node)
{
  return node->kind == TIDE_YAML_LIST ? node->values->len : 1;
}

const TideYamlNode *
tide_yaml_item(const TideYamlNode *node, gsize index)
{
  return node->kind == TIDE_YAML_LIST ? g_ptr_array_index(node->values, index) : node;
}

const TideYamlNode *
tide_yaml_find(const TideYamlNode *root, const char *path)
{
  g_auto(GStrv) keys = g_strsplit(path, ".", -1);
  const TideYamlNode *node = root;

  for (char **key = keys; *key != NULL && node != NULL; key++)
    node = tide_yaml_get(node, *key);
  return node;
}

char *
tide_yaml_quote(const TideYamlNode *scalar)
{
  return scalar->is_secret ? g_strdup("***") : tide_problem_quote(scalar->text);
}

char *
tide_yaml_describe(const TideYamlNode *node)
{
  if (tide_yaml_is_null(node))
    return g_strdup("nothing");
  switch (node->kind) {
  case TIDE_YAML_SCALAR: {
    g_autofree char *quoted = tide_yaml_quote(node);
    return g_strdup_printf("'%s'", quoted);
  }
  case TIDE_YAML_LIST:
    return g_strdup("a list");
  case TIDE_YAML_MAPPING:
    return g_strdup("a mapping");
  }
  return NULL;
}

/* The position of the byte at @offset. */
static TideSourcePosition
position_of_offset(TideBytes text, gsize offset)
{
  TideSourcePosition position = {1, 1};

  for (gsize i = 0; i < MIN(offset, text.len); i++) {
    if (text.data[i] == '\n')
      position = (TideSourcePosition){position.line + 1, 1};
    else if ((text.data[i] & 0xC0) != 0x80) /* not inside a UTF-8 character */
      position.column++;
  }
  return position;
}

/* TRUE if a # before @offset starts a comment in its line. */
static gboolean
is_in_comment(TideBytes text, gsize offset)
{
  for (gsize i = offset; i > 0 && text.data[i - 1] != '\n'; i--) {
    if (text.data[i - 1] == '#' && (i == 1 || g_ascii_isspace((char)text.data[i - 2])))
      return TRUE;
  }
  return FALSE;
}

/* Rejects text that libyaml would accept, or reject with a confusing message. */
static gboolean
check_text(TideBytes text, GPtrArray *problems)
{
  const char *invalid = NULL;

  if (text.len > TIDE_YAML_MAX_BYTES) {
    tide_problems_add_error(problems, TIDE_SOURCE_POSITION_FILE, "the file is larger than %u bytes",
                            TIDE_YAML_MAX_BYTES);
    return FALSE;
  }
  if (text.len > 0 && !g_utf8_validate((const char *)text.data, (gssize)text.len, &invalid)) {
    gsize offset = (gsize)((const guint8 *)invalid - text.data);
    tide_problems_add_error(problems, position_of_offset(text, offset), "byte 0x%02X is not UTF-8 text",
                            text.data[offset]);
    return FALSE;
  }
  for (gsize i = 0; i < text.len; i++) {
    if (text.data[i] != '\t' || is_in_comment(text, i))
      continue;
    tide_problems_add_error(problems, position_of_offset(text, i),
                            "a tab: indent with spaces, and write \"\\t\" for a tab in a value");
    return FALSE;
  }
  return TRUE;
}

static TideSourcePosition
position_of_mark(yaml_mark_t mark)
{
  return (TideSourcePosition){(guint)mark.line + 1, (guint)mark.column + 1};
}

/* The text from @mark to the end of its line, without the newline; may be empty. */
static TideBytes
rest_of_line(TideBytes text, yaml_mark_t mark)
{
  gsize line = 0;
  gsize at = 0;

  for (; at < text.len && line < mark.line; at++)
    line += text.data[at] == '\n';
  for (gsize column = 0; at < text.len && column < mark.column; column++)
    at = (gsize)((const guint8 *)g_utf8_next_char((const char *)text.data + at) - text.data);
  gsize start = MIN(at, text.len); /* marks count characters, @line counts bytes */
  gsize end = start;
  while (end < text.len && text.data[end] != '\n')
    end++;
  return tide_bytes(text.data + start, end - start);
}

/* Number of characters before a # in @line that follows a comma or an opening bracket, probably meant as a key part;
 * -1: none. */
static glong
find_unquoted_number_sign(TideBytes line)
{
  guint8 before = 0;

  for (gsize i = 1; i < line.len; i++) {
    if (line.data[i - 1] != ' ')
      before = line.data[i - 1];
    if (line.data[i] == '#' && line.data[i - 1] == ' ' && (before == ',' || before == '['))
      return g_utf8_strlen((const char *)line.data, (gssize)i);
  }
  return -1;
}

static gboolean
is_problem(const yaml_parser_t *parser, const char *words)
{
  return parser->problem != NULL && strstr(parser->problem, words) != NULL;
}

/* The probable mistake, as an addition to libyaml's message; may be empty. (transfer full) */
static char *
syntax_hint(const TreeBuilder *builder)
{
  const yaml_parser_t *parser = &builder->parser;
  TideBytes here = rest_of_line(builder->text, parser->problem_mark);
  guint8 first = here.len > 0 ? here.data[0] : 0;

  if (first == '*' || (parser->context != NULL && strstr(parser->context, "alias") != NULL))
    return g_strdup("; write \"*\" in quotes");
  if (first == '@' || first == '`' || first == '%' || first == '&')
    return g_strdup("; put the text into quotes");
  if (is_problem(parser, "mapping values are not allowed"))
    return g_strdup("; a value that contains ': ' needs quotes, and keys of one mapping need the same indentation");
  if (is_problem(parser, "could not find expected ':'"))
    return g_strdup_printf("; is a ':' missing in line %zu?", parser->context_mark.line + 1);
  if (is_problem(parser, "did not find expected key") || is_problem(parser, "did not find expected '-' indicator"))
    return g_strdup_printf("; is line %zu indented like the lines above it?", parser->problem_mark.line + 1);
  return g_strdup("");
}

/* Reports a list that is cut off by an unquoted #, which libyaml notices only lines later. TRUE if the error was
 * added. */
static gboolean
add_number_sign_error(TreeBuilder *builder)
{
  const yaml_parser_t *parser = &builder->parser;

  if (parser->context == NULL)
    return FALSE;
  glong n_chars = find_unquoted_number_sign(rest_of_line(builder->text, parser->context_mark));
  if (n_chars < 0)
    return FALSE;
  TideSourcePosition position = {(guint)parser->context_mark.line + 1,
                                 (guint)(parser->context_mark.column + (gsize)n_chars + 1)};
  tide_problems_add_error(builder->problems, position,
                          "this # starts a comment, so that the list is never closed: write \"#\" in quotes");
  return TRUE;
}

static void
add_syntax_error(TreeBuilder *builder)
{
  const yaml_parser_t *parser = &builder->parser;
  const char *problem = parser->problem != NULL ? parser->problem : "unknown error";

  if (parser->error == YAML_MEMORY_ERROR)
    g_error("out of memory while reading YAML");
  if (parser->error == YAML_READER_ERROR) {
    tide_problems_add_error(builder->problems, position_of_offset(builder->text, parser->problem_offset), "%s",
                            problem);
    return;
  }
  if (add_number_sign_error(builder))
    return;
  g_autofree char *hint = syntax_hint(builder);
  g_autofree char *began = NULL;
  if (parser->context != NULL && parser->context_mark.line != parser->problem_mark.line)
    began = g_strdup_printf(" that starts in line %zu", parser->context_mark.line + 1);
  tide_problems_add_error(builder->problems, position_of_mark(parser->problem_mark), "%s%s%s%s%s", problem,
                          parser->context != NULL ? " " : "", parser->context != NULL ? parser->context : "",
                          began != NULL ? began : "", hint);
}

static gboolean
next_event(TreeBuilder *builder, yaml_event_t *event)
{
  if (yaml_parser_parse(&builder->parser, event))
    return TRUE;
  add_syntax_error(builder);
  return FALSE;
}

static TideYamlNode *
new_node(TideYamlKind kind, TideSourcePosition position)
{
  TideYamlNode *node = g_new0(TideYamlNode, 1);

  node->kind = kind;
  node->position = position;
  if (kind != TIDE_YAML_SCALAR)
    node->values = g_ptr_array_new_with_free_func((GDestroyNotify)tide_yaml_node_free);
  if (kind == TIDE_YAML_MAPPING)
    node->keys = g_ptr_array_new_with_free_func((GDestroyNotify)tide_yaml_node_free);
  return node;
}

static TideYamlNode *
new_scalar(const char *text, gsize len, gboolean is_quoted, TideSourcePosition position)
{
  TideYamlNode *node = new_node(TIDE_YAML_SCALAR, position);

  node->text = g_malloc(len + 1);
  memcpy(node->text, text, len);
  node->text[len] = '\0';
  node->len = len;
  node->is_quoted = is_quoted;
  return node;
}

/* The text is not shown: it may be an unquoted password that starts with & or !. */
static void
refuse_decorations(TreeBuilder *builder, const yaml_char_t *anchor, const yaml_char_t *tag, TideSourcePosition position)
{
  if (anchor != NULL)
    tide_problems_add_error(builder->problems, position,
                            "an anchor ('&...') is not supported: write out the value, or quote it");
  if (tag != NULL)
    tide_problems_add_error(builder->problems, position,
                            "a tag ('!...') is not supported: remove it, or quote the value");
}

static TideYamlNode *build_node(TreeBuilder *builder, const yaml_event_t *event);

/* Reads the items of a list, up to its end event. */
static gboolean
build_items(TreeBuilder *builder, TideYamlNode *list)
{
  for (;;) {
    g_auto(yaml_event_t) event = {0};
    if (!next_event(builder, &event))
      return FALSE;
    if (event.type == YAML_SEQUENCE_END_EVENT)
      return TRUE;
    TideYamlNode *item = build_node(builder, &event);
    if (item == NULL)
      return FALSE;
    g_ptr_array_add(list->values, item);
  }
}

/* Adds the entry, or drops it (still returning TRUE) if the key cannot be used. */
static void
add_entry(TreeBuilder *builder, TideYamlNode *mapping, GHashTable *seen, TideYamlNode *key, TideYamlNode *value)
{
  if (key->kind == TIDE_YAML_SCALAR && strlen(key->text) == key->len) {
    const TideYamlNode *first = g_hash_table_lookup(seen, key->text);
    if (first == NULL) {
      g_hash_table_insert(seen, key->text, key);
      g_ptr_array_add(mapping->keys, key);
      g_ptr_array_add(mapping->values, value);
      return;
    }
    g_autofree char *quoted = tide_yaml_quote(key);
    tide_problems_add_error(builder->problems, key->position, "'%s' occurs twice, first in line %u", quoted,
                            first->position.line);
  } else {
    tide_problems_add_error(builder->problems, key->position, "the key of a mapping must be a text");
  }
  tide_yaml_node_free(key);
  tide_yaml_node_free(value);
}

/* Whether the value of @key may be a secret. A value below the name of a secret that gives its location is not one.
 * @is_in_secret: it is in a mapping instead of a secret, { hunter2 }, or after an unquoted one, { password: hunter, 2
 * } */
static gboolean
is_secret_value(gboolean is_in_secret, const char *parent, const TideYamlNode *key)
{
  static const char *const places[] = {"file", "credential", "env", NULL};
  if (key->kind != TIDE_YAML_SCALAR)
    return TRUE;
  return is_in_secret ? !g_strv_contains(places, key->text) : tide_secret_sounds(key->text, parent);
}

static gboolean
build_entries(TreeBuilder *builder, TideYamlNode *mapping, gboolean is_flow)
{
  const char *parent = builder->key;
  gboolean is_secret = builder->is_secret, is_behind_secret = is_secret;
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

  for (;;) {
    g_auto(yaml_event_t) key_event = {0};
    g_auto(yaml_event_t) value_event = {0};
    if (!next_event(builder, &key_event))
      return FALSE;
    if (key_event.type == YAML_MAPPING_END_EVENT)
      return TRUE;
    g_autoptr(TideYamlNode) key = build_node(builder, &key_event);
    if (key == NULL || !next_event(builder, &value_event))
      return FALSE;
    builder->is_secret = is_secret_value(is_behind_secret, parent, key);
    builder->key = key->kind == TIDE_YAML_SCALAR ? key->text : NULL;
    key->is_secret = is_behind_secret && builder->is_secret;
    is_behind_secret |= builder->is_secret && is_flow;
    TideYamlNode *value = build_node(builder, &value_event);
    builder->key = parent;
    builder->is_secret = is_secret;
    if (value == NULL)
      return FALSE;
    add_entry(builder, mapping, seen, g_steal_pointer(&key), value);
  }
}

static TideYamlNode *
build_collection(TreeBuilder *builder, TideYamlKind kind, gboolean is_flow, TideSourcePosition position)
{
  g_autoptr(TideYamlNode) node = new_node(kind, position);

  if (++builder->depth > TIDE_YAML_MAX_DEPTH) {
    tide_problems_add_error(builder->problems, position, "lists and mappings are nested deeper than %u",
                            TIDE_YAML_MAX_DEPTH);
    return NULL;
  }
  if (!(kind == TIDE_YAML_LIST ? build_items(builder, node) : build_entries(builder, node, is_flow)))
    return NULL;
  builder->depth--;
  return g_steal_pointer(&node);
}

/* Builds the node that starts with @event; NULL if parsing cannot continue. */
static TideYamlNode *
build_node(TreeBuilder *builder, const yaml_event_t *event)
{
  TideSourcePosition position = position_of_mark(event->start_mark);
  TideYamlNode *scalar;

  if (++builder->n_nodes > TIDE_YAML_MAX_NODES) {
    tide_problems_add_error(builder->problems, position, "the file has more than %u values", TIDE_YAML_MAX_NODES);
    return NULL;
  }
  switch (event->type) {
  case YAML_SCALAR_EVENT:
    refuse_decorations(builder, event->data.scalar.anchor, event->data.scalar.tag, position);
    scalar = new_scalar((const char *)event->data.scalar.value, event->data.scalar.length,
                        event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE, position);
    scalar->is_secret = builder->is_secret;
    return scalar;
  case YAML_SEQUENCE_START_EVENT:
    refuse_decorations(builder, event->data.sequence_start.anchor, event->data.sequence_start.tag, position);
    return build_collection(builder, TIDE_YAML_LIST, FALSE, position);
  case YAML_MAPPING_START_EVENT:
    refuse_decorations(builder, event->data.mapping_start.anchor, event->data.mapping_start.tag, position);
    return build_collection(builder, TIDE_YAML_MAPPING, event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE,
                            position);
  case YAML_ALIAS_EVENT:
    tide_problems_add_error(builder->problems, position,
                            "an alias ('*...') is not supported: write out the value, or quote it");
    return new_scalar("", 0, FALSE, position);
  case YAML_NO_EVENT:
  case YAML_STREAM_START_EVENT:
  case YAML_STREAM_END_EVENT:
  case YAML_DOCUMENT_START_EVENT:
  case YAML_DOCUMENT_END_EVENT:
  case YAML_SEQUENCE_END_EVENT:
  case YAML_MAPPING_END_EVENT:
    break;
  }
  g_assert_not_reached();
}

static TideYamlNode *
build_document(TreeBuilder *builder)
{
  g_auto(yaml_event_t) stream_start = {0};
  g_auto(yaml_event_t) document_start = {0};
  g_auto(yaml_event_t) first = {0};

  if (!next_event(builder, &stream_start) || !next_event(builder, &document_start))
    return NULL;
  if (document_start.type == YAML_STREAM_END_EVENT) {
    tide_problems_add_error(builder->problems, TIDE_SOURCE_POSITION_FILE,
                            "the file is empty: 'tidemark check --print-defaults' prints a sample with all options");
    return NULL;
  }
  if (!next_event(builder, &first))
    return NULL;
  g_autoptr(TideYamlNode) root = build_node(builder, &first);
  g_auto(yaml_event_t) document_end = {0};
  g_auto(yaml_event_t) last = {0};
  if (root == NULL || !next_event(builder, &document_end) || !next_event(builder, &last))
    return NULL;
  if (last.type == YAML_STREAM_END_EVENT)
    return g_steal_pointer(&root);
  tide_problems_add_error(builder->problems, position_of_mark(last.start_mark),
                          "a second document starts here: a configuration is one document");
  return NULL;
}

TideYamlNode *
tide_yaml_parse(TideBytes text, GPtrArray *problems)
{
  text = tide_bytes_behind_mark(text);
  TreeBuilder builder = {.text = text, .problems = problems};

  if (!check_text(text, problems))
    return NULL;
  if (!yaml_parser_initialize(&builder.parser))
    g_error("out of memory while reading YAML");
  yaml_parser_set_encoding(&builder.parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&builder.parser, text.len > 0 ? text.data : (const guint8 *)"", text.len);
  TideYamlNode *root = build_document(&builder);
  yaml_parser_delete(&builder.parser);
  return root;
}
