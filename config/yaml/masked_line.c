#include "config/yaml/masked_line.h"

#include "config/yaml/secret.h"

#include <string.h>
#include <yaml.h>

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(yaml_event_t, yaml_event_delete)

/* A list or mapping whose end has not been reached. */
typedef struct Level {
  gboolean is_mapping, is_flow;
  gboolean is_secret;       /* everything in it is secret */
  gboolean is_key_next;     /* of a mapping */
  gboolean is_value_secret; /* whether the last key names a secret */
  char *key;                /* owned: the last key; NULL: none, or not a text */
  char *parent_key;         /* owned: the key of the collection itself; NULL: none */
} Level;

typedef struct Masker {
  char **lines;   /* owned */
  guint line;     /* from 0 */
  glong n_chars;  /* byte offset in that line */
  guint8 *hidden; /* owned: for each of its characters, and one more */
  GArray *levels; /* (element-type Level) */
} Masker;

static void
level_clear(Level *level)
{
  g_free(level->key);
  g_free(level->parent_key);
}

/* Hides the part of the line between two positions. */
static void
hide(Masker *masker, yaml_mark_t from, yaml_mark_t to)
{
  if (from.line > masker->line || to.line < masker->line)
    return;
  glong begin = from.line == masker->line ? MIN((glong)from.column, masker->n_chars) : 0;
  glong end = to.line == masker->line ? MIN((glong)to.column, masker->n_chars) : masker->n_chars;
  for (glong i = begin; i < end; i++)
    masker->hidden[i] = TRUE;
}

static Level *
top_of(Masker *masker)
{
  return masker->levels->len > 0 ? &g_array_index(masker->levels, Level, masker->levels->len - 1) : NULL;
}

static gboolean
is_in_secret(const Level *level)
{
  return level != NULL && (level->is_secret || (level->is_mapping && !level->is_key_next && level->is_value_secret));
}

/* Handles a key, item or value @text; NULL: it is not a text. */
static void
step(Level *level, const char *text)
{
  if (level == NULL || !level->is_mapping)
    return;
  if (level->is_key_next) {
    g_free(level->key);
    level->key = g_strdup(text);
    level->is_value_secret = text == NULL || tide_secret_sounds(text, level->parent_key);
  } else if (level->is_value_secret && level->is_flow)
    level->is_secret = TRUE; /* it may continue after a comma */
  level->is_key_next = !level->is_key_next;
}

/* A secret where none is expected: a whole file that is only a password or token; a key in PEM form; a user with a
 * password, as in "user.info" of other programs. */
static gboolean
is_stray_secret(const Level *level, const char *text)
{
  if (level == NULL || strstr(text, TIDE_SECRET_KEY_BEGINS) != NULL)
    return TRUE;
  gboolean is_value = level->is_mapping && !level->is_key_next && level->key != NULL;
  return is_value && g_str_has_suffix(level->key, "user") && strchr(text, ':') != NULL;
}

static void
take_event(Masker *masker, const yaml_event_t *event)
{
  Level *level = top_of(masker);
  const char *text = event->type == YAML_SCALAR_EVENT ? (const char *)event->data.scalar.value : NULL;
  gboolean is_mapping = event->type == YAML_MAPPING_START_EVENT;
  gboolean is_begin = is_mapping || event->type == YAML_SEQUENCE_START_EVENT;

  if (text != NULL || event->type == YAML_ALIAS_EVENT || is_begin) {
    Level inner = {.is_mapping = is_mapping, .is_key_next = TRUE, .is_secret = is_in_secret(level)};
    if (inner.is_secret || (text != NULL && is_stray_secret(level, text)))
      hide(masker, event->start_mark, event->end_mark);
    inner.parent_key = level != NULL ? g_strdup(level->key) : NULL;
    inner.is_flow =
        (is_mapping && event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE) || (level != NULL && level->is_flow);
    step(level, text);
    if (is_begin)
      g_array_append_val(masker->levels, inner);
    else
      level_clear(&inner);
  } else if (level != NULL && (event->type == YAML_MAPPING_END_EVENT || event->type == YAML_SEQUENCE_END_EVENT))
    g_array_set_size(masker->levels, masker->levels->len - 1);
}

/* From @from on, the text is not YAML, or not the intended YAML, so that the end of a secret in it is unknown. */
static void
hide_rest(Masker *masker, yaml_mark_t from)
{
  gboolean is_hidden = is_in_secret(top_of(masker));

  for (guint i = (guint)from.line; !is_hidden && i < masker->line; i++) {
    const char *text = masker->lines[i];
    glong first = i > from.line ? 0 : MIN((glong)from.column, g_utf8_strlen(text, -1));
    is_hidden = tide_secret_find_name(g_utf8_offset_to_pointer(text, first)) != NULL;
  }
  if (is_hidden)
    hide(masker, from, (yaml_mark_t){.line = masker->line, .column = (size_t)masker->n_chars});
}

static void
hide_values(Masker *masker, const char *source)
{
  yaml_parser_t parser;
  yaml_mark_t done = {0}, last_text = {0};
  gboolean is_at_end = FALSE;

  if (!yaml_parser_initialize(&parser))
    g_error("out of memory while reading YAML");
  yaml_parser_set_input_string(&parser, (const guint8 *)source, strlen(source));
  while (!is_at_end && done.line <= masker->line) {
    g_auto(yaml_event_t) event = {0};
    is_at_end = !yaml_parser_parse(&parser, &event);
    /* A text that contains the name of a secret probably lacks its intended end. */
    const char *text = !is_at_end && event.type == YAML_SCALAR_EVENT ? (const char *)event.data.scalar.value : "";
    gboolean swallows_secret = tide_secret_find_value(text) != NULL ||
                               (event.start_mark.line != event.end_mark.line && tide_secret_find_name(text) != NULL);
    if (is_at_end || (!is_in_secret(top_of(masker)) && swallows_secret)) {
      hide_rest(masker, is_at_end ? last_text : event.start_mark);
      break;
    }
    take_event(masker, &event);
    is_at_end = event.type == YAML_STREAM_END_EVENT;
    done = event.end_mark;
    if (event.start_mark.index < done.index)
      last_text = event.start_mark;
  }
  yaml_parser_delete(&parser);
}

/* A private key in PEM form is masked anywhere, even in a comment. */
static void
hide_keys(Masker *masker)
{
  gboolean is_inside = FALSE;

  for (guint i = 0; i < masker->line; i++) {
    is_inside = is_inside || strstr(masker->lines[i], TIDE_SECRET_KEY_BEGINS) != NULL;
    is_inside = is_inside && strstr(masker->lines[i], TIDE_SECRET_KEY_ENDS) == NULL;
  }
  if (is_inside)
    hide(masker, (yaml_mark_t){.line = masker->line}, (yaml_mark_t){.line = masker->line + 1});
}

/* Returns @source as valid UTF-8 with lines as libyaml counts them. (transfer full) */
static char *
in_lines(const char *source)
{
  static const char *const breaks[] = {"\r\n", "\r", "\xC2\x85", "\u2028", "\u2029"};
  g_autofree char *valid = g_utf8_make_valid(source, -1);
  GString *text = g_string_new(valid);

  for (gsize i = 0; i < G_N_ELEMENTS(breaks); i++)
    g_string_replace(text, breaks[i], "\n", 0);
  return g_string_free(text, FALSE);
}

char *
tide_masked_line(const char *source, guint line)
{
  g_autofree char *text = in_lines(source);
  Masker masker = {.lines = g_strsplit(text, "\n", -1), .line = line - 1};
  GString *shown = NULL;

  if (line > 0 && line <= g_strv_length(masker.lines)) {
    const char *whole = g_strchomp(masker.lines[masker.line]);
    masker.n_chars = g_utf8_strlen(whole, -1);
    masker.hidden = g_malloc0((gsize)masker.n_chars + 1);
    masker.levels = g_array_new(FALSE, FALSE, sizeof(Level));
    g_array_set_clear_func(masker.levels, (GDestroyNotify)level_clear);
    hide_values(&masker, text);
    hide_keys(&masker);
    const char *value = tide_secret_find_value(whole), *at = whole;
    shown = g_string_new(NULL);
    for (glong i = 0; i < masker.n_chars; i++, at = g_utf8_next_char(at)) {
      gboolean is_hidden = masker.hidden[i] || (value != NULL && at >= value);
      if (!is_hidden)
        g_string_append_unichar(shown, g_utf8_get_char(at));
      else if (!g_str_has_suffix(shown->str, "***"))
        g_string_append(shown, "***");
    }
    g_array_unref(masker.levels);
    g_free(masker.hidden);
  }
  g_strfreev(masker.lines);
  if (shown == NULL)
    return NULL;
  g_autofree char *masked = g_string_free(shown, FALSE);
  return tide_secret_mask_addresses(masked);
}
