/* Keys and their parts in words, for people and for comparing schemes. */
#include "model/key_hash.h"
#include "model/key_part.h"

/* As the shell prints bytes, and with quotes escaped, so that a description has only one meaning. */
static void
describe_bytes(TideBytes bytes, GString *text)
{
  g_autofree char *printable = tide_bytes_printable(bytes);
  g_auto(GStrv) pieces = g_strsplit(printable, "\"", -1);
  g_autofree char *escaped = g_strjoinv("\\x22", pieces);
  g_string_append_printf(text, "\"%s\"", escaped);
}

/* A name as it is, but in quotes where it could be taken for something else. */
static void
describe_name(TideBytes name, GString *text)
{
  g_autofree char *printable = tide_bytes_printable(name);
  if (strpbrk(printable, " ,()\"") != NULL)
    describe_bytes(name, text);
  else
    g_string_append(text, printable);
}

static void
describe_field(const TideKeyPart *part, const TideFieldNames *names, GString *text)
{
  g_string_append(text, "field(");
  describe_name(tide_field_names_text(names, part->field), text);
  if (part->fixed_bytes > 0) {
    g_string_append_printf(text, ", width %u, padded %s with ", part->fixed_bytes, part->pad_left ? "left" : "right");
    describe_bytes(tide_bytes(&part->pad_byte, 1), text);
  }
  for (gsize i = 0; i < part->n_defaults; i++) {
    g_string_append(text, ", default ");
    describe_bytes(part->defaults[i].text, text);
  }
  g_string_append_c(text, ')');
}

static const char *
unit_name(TideKeyTimeUnit unit)
{
  switch (unit) {
  case TIDE_KEY_TIME_S:
    return "s";
  case TIDE_KEY_TIME_MS:
    return "ms";
  case TIDE_KEY_TIME_US:
    return "us";
  case TIDE_KEY_TIME_NS:
    return "ns";
  }
  return "unknown";
}

static void describe_part(const TideKeyPart *part, const TideFieldNames *names, GString *text);

static void
describe_inputs(const TideKeyPart *part, const TideFieldNames *names, GString *text)
{
  g_string_append(text, " of ");
  for (gsize i = 0; i < part->n_of; i++) {
    if (i > 0)
      g_string_append_c(text, ' ');
    describe_part(&part->of[i], names, text);
  }
  g_string_append_c(text, ')');
}

static void
describe_part(const TideKeyPart *part, const TideFieldNames *names, GString *text)
{
  switch (part->kind) {
  case TIDE_KEY_LITERAL:
    describe_bytes(part->literal, text);
    return;
  case TIDE_KEY_FIELD:
    describe_field(part, names, text);
    return;
  case TIDE_KEY_TIME:
    g_string_append_printf(text, "time(%s%s%s)", unit_name(part->unit), part->reversed ? ", reversed" : "",
                           part->binary ? ", binary" : "");
    return;
  case TIDE_KEY_HASH:
    g_string_append_printf(text, "hash(%s, %u bytes, %s", tide_key_hash_name(part->hash), part->hash_bytes,
                           part->binary ? "raw" : "hex");
    describe_inputs(part, names, text);
    return;
  case TIDE_KEY_SALT:
    g_string_append_printf(text, "salt(%u, width %u, %s", part->modulo, part->fixed_bytes,
                           tide_key_hash_name(part->hash));
    describe_inputs(part, names, text);
    return;
  case TIDE_KEY_NAME:
    g_string_append(text, "name()");
    return;
  }
}

char *
tide_row_key_describe_part(const TideRowKey *key, const TideFieldNames *names, gsize part)
{
  GString *text = g_string_new(NULL);
  if (part < key->n_parts)
    describe_part(&key->parts[part], names, text);
  return g_string_free(text, FALSE);
}

char *
tide_row_key_describe(const TideRowKey *key, const TideFieldNames *names)
{
  GString *text = g_string_new(NULL);
  for (gsize i = 0; i < key->n_parts; i++) {
    if (i > 0)
      g_string_append_c(text, ' ');
    describe_part(&key->parts[i], names, text);
  }
  return g_string_free(text, FALSE);
}
