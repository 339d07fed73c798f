#include "thrift/client/shell_command.h"

/* The shell's names of TCompressionAlgorithm, TBloomFilterType, TDataBlockEncoding and TDurability, by value. */
static const char *const compressions[] = {"LZO", "GZ", "NONE", "SNAPPY", "LZ4", "BZIP2", "ZSTD"};
static const char *const bloom_filters[] = {"NONE", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH"};
static const char *const data_block_encodings[] = {"NONE",      NULL, "PREFIX", "DIFF",
                                                   "FAST_DIFF", NULL, NULL,     "ROW_INDEX_V1"};
static const char *const durabilities[] = {"USE_DEFAULT", "SKIP_WAL", "ASYNC_WAL", "SYNC_WAL", "FSYNC_WAL"};

static const char *
word(int value, const char *const *words, gsize n_words)
{
  return value >= 0 && (gsize)value < n_words ? words[value] : NULL;
}

const char *
tide_compression_name(int compression)
{
  return word(compression, compressions, G_N_ELEMENTS(compressions));
}

const char *
tide_bloom_filter_name(int bloom_filter)
{
  return word(bloom_filter, bloom_filters, G_N_ELEMENTS(bloom_filters));
}

const char *
tide_block_encoding_name(int block_encoding)
{
  return word(block_encoding, data_block_encodings, G_N_ELEMENTS(data_block_encodings));
}

const char *
tide_durability_name(int durability)
{
  return word(durability, durabilities, G_N_ELEMENTS(durabilities));
}

/* Appends a Ruby string in double quotes: only these know \xHH. */
static void
append_quoted(GString *command, TideBytes bytes)
{
  g_string_append_c(command, '"');
  for (gsize i = 0; i < bytes.len; i++) {
    guint8 byte = bytes.data[i];
    /* '#' begins an interpolation before some characters */
    gboolean plain = byte >= 0x20 && byte < 0x7f && strchr("\"\\", byte) == NULL &&
                     (byte != '#' || i + 1 == bytes.len || strchr("{$@", bytes.data[i + 1]) == NULL);
    if (plain)
      g_string_append_c(command, (char)byte);
    else
      g_string_append_printf(command, "\\x%02X", byte);
  }
  g_string_append_c(command, '"');
}

static void
append_word(GString *command, const char *key, const char *value)
{
  if (value != NULL)
    g_string_append_printf(command, ", %s => '%s'", key, value);
}

static void
append_number(GString *command, const char *key, gint32 number)
{
  if (number > 0)
    g_string_append_printf(command, ", %s => %d", key, number);
}

static void
append_family(GString *command, const TideFamilySettings *family)
{
  g_string_append(command, ", {NAME => ");
  append_quoted(command, tide_bytes_of_string(family->name));
  append_number(command, "VERSIONS", family->max_versions);
  append_number(command, "TTL", family->time_to_live_s);
  append_number(command, "BLOCKSIZE", family->block_size_bytes);
  append_word(command, "COMPRESSION", tide_compression_name(family->compression));
  append_word(command, "BLOOMFILTER", tide_bloom_filter_name(family->bloom_filter));
  append_word(command, "DATA_BLOCK_ENCODING", tide_block_encoding_name(family->data_block_encoding));
  if (family->in_memory >= 0)
    g_string_append_printf(command, ", IN_MEMORY => '%s'", family->in_memory != 0 ? "true" : "false");
  g_string_append_c(command, '}');
}

static void
append_attributes(GString *command, const GArray *attributes)
{
  if (attributes->len == 0)
    return;
  g_string_append(command, ", METADATA => {");
  for (guint i = 0; i < attributes->len; i++) {
    const TideAttribute *attribute = &g_array_index(attributes, TideAttribute, i);
    if (i > 0)
      g_string_append(command, ", ");
    append_quoted(command, attribute->name);
    g_string_append(command, " => ");
    append_quoted(command, attribute->value);
  }
  g_string_append_c(command, '}');
}

/* Appends a split point as a Ruby string in single quotes: Ruby leaves \xHH unchanged there, and the shell parses it
 * with Bytes.toBytesBinary(). In double quotes Ruby would decode bytes above 0x7f first, which do not survive as
 * text. */
static void
append_binary(GString *command, TideBytes bytes)
{
  g_string_append_c(command, '\'');
  for (gsize i = 0; i < bytes.len; i++)
    if (bytes.data[i] >= 0x20 && bytes.data[i] < 0x7f && bytes.data[i] != '\'' && bytes.data[i] != '\\')
      g_string_append_c(command, (char)bytes.data[i]);
    else
      g_string_append_printf(command, "\\x%02X", bytes.data[i]);
  g_string_append_c(command, '\'');
}

static void
append_splits(GString *command, const GArray *splits)
{
  if (splits == NULL || splits->len == 0)
    return;
  g_string_append(command, ", SPLITS => [");
  for (guint i = 0; i < splits->len; i++) {
    if (i > 0)
      g_string_append(command, ", ");
    append_binary(command, g_array_index(splits, TideBytes, i));
  }
  g_string_append_c(command, ']');
}

/* Builds the command up to the splits: `create` and `alter` share the syntax of settings. */
static GString *
begin_command(const char *verb, const TideTableDescription *description)
{
  GString *command = g_string_new(verb);
  g_string_append_c(command, ' ');
  append_quoted(command, tide_bytes_of_string(description->name));
  for (guint i = 0; i < description->families->len; i++)
    append_family(command, g_ptr_array_index(description->families, i));
  append_word(command, "DURABILITY", tide_durability_name(description->durability));
  append_attributes(command, description->attributes);
  return command;
}

char *
tide_shell_create_command(const TideTableDescription *description, const GArray *splits)
{
  GString *command = begin_command("create", description);
  append_splits(command, splits);
  return g_string_free(command, FALSE);
}

char *
tide_shell_alter_command(const TideTableDescription *changes)
{
  return g_string_free(begin_command("alter", changes), FALSE);
}

char *
tide_shell_grant_command(const char *user, const char *rights, const char *scope)
{
  GString *command = g_string_new("grant ");
  append_quoted(command, tide_bytes_of_string(user));
  g_string_append_printf(command, ", \"%s\"", rights);
  if (scope != NULL) {
    g_string_append(command, ", ");
    append_quoted(command, tide_bytes_of_string(scope));
  }
  return g_string_free(command, FALSE);
}

char *
tide_shell_split_command(const char *table, TideBytes point)
{
  GString *command = g_string_new("split ");
  append_quoted(command, tide_bytes_of_string(table));
  g_string_append(command, ", ");
  /* Unlike the points of `create`, this one is not parsed by Bytes.toBytesBinary(): the shell uses the string's
   * bytes. */
  append_quoted(command, point);
  return g_string_free(command, FALSE);
}
