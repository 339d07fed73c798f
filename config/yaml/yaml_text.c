#include "config/yaml/yaml_text.h"

#include <string.h>

/* Whether the text consists of characters for which no scalar needs quotes, neither in block nor in flow style. */
static gboolean
is_plain(const char *text, gsize len)
{
  static const char *const nulls[] = {"null", "Null", "NULL", NULL};

  if (len == 0 || g_strv_contains(nulls, text))
    return FALSE;
  for (gsize i = 0; i < len; i++) {
    if (!g_ascii_isalnum(text[i]) && (text[i] == '\0' || strchr(i == 0 ? "/_$" : "/_$.-+", text[i]) == NULL))
      return FALSE;
  }
  return TRUE;
}

static void
append_quoted(GString *out, const char *text, gsize len)
{
  g_string_append_c(out, '"');
  for (const char *at = text; at < text + len; at = g_utf8_next_char(at)) {
    gunichar c = g_utf8_get_char(at);
    if (c == '"' || c == '\\')
      g_string_append_printf(out, "\\%c", (char)c);
    else if (c < 0x80 ? g_ascii_isprint((char)c) : g_unichar_isprint(c))
      g_string_append_unichar(out, c);
    else if (c < 0x100)
      g_string_append_printf(out, "\\x%02X", c);
    else if (c < 0x10000)
      g_string_append_printf(out, "\\u%04X", c);
    else
      g_string_append_printf(out, "\\U%08X", c);
  }
  g_string_append_c(out, '"');
}

void
tide_yaml_append_scalar(GString *out, const char *text, gsize len)
{
  if (is_plain(text, len))
    g_string_append_len(out, text, (gssize)len);
  else
    append_quoted(out, text, len);
}

static void
append_key(GString *out, const TideYamlNode *mapping, guint i)
{
  const TideYamlNode *key = g_ptr_array_index(mapping->keys, i);

  tide_yaml_append_scalar(out, key->text, key->len);
  g_string_append_c(out, ':');
}

/* Writes @node on one line. The parser has limited the depth. */
static void
append_flow(GString *out, const TideYamlNode *node)
{
  if (tide_yaml_is_null(node)) {
    g_string_append(out, "null");
    return;
  }
  switch (node->kind) {
  case TIDE_YAML_SCALAR:
    if (node->is_quoted) /* quotes are kept, because an unquoted word may mean a field */
      append_quoted(out, node->text, node->len);
    else
      tide_yaml_append_scalar(out, node->text, node->len);
    return;
  case TIDE_YAML_LIST:
    g_string_append_c(out, '[');
    for (guint i = 0; i < node->values->len; i++) {
      g_string_append(out, i > 0 ? ", " : "");
      append_flow(out, g_ptr_array_index(node->values, i));
    }
    g_string_append_c(out, ']');
    return;
  case TIDE_YAML_MAPPING:
    g_string_append(out, "{ ");
    for (guint i = 0; i < node->values->len; i++) {
      g_string_append(out, i > 0 ? ", " : "");
      append_key(out, node, i);
      g_string_append_c(out, ' ');
      append_flow(out, g_ptr_array_index(node->values, i));
    }
    g_string_append(out, " }");
    return;
  }
}

void
tide_yaml_append_node(GString *out, const TideYamlNode *node, guint indent, guint block_levels)
{
  if (node->kind != TIDE_YAML_MAPPING || block_levels == 0 || node->values->len == 0) {
    g_string_append_c(out, ' ');
    append_flow(out, node);
    g_string_append_c(out, '\n');
    return;
  }
  g_string_append_c(out, '\n');
  for (guint i = 0; i < node->values->len; i++) {
    g_string_append_printf(out, "%*s", (int)indent, "");
    append_key(out, node, i);
    tide_yaml_append_node(out, g_ptr_array_index(node->values, i), indent + 2, block_levels - 1);
  }
}
