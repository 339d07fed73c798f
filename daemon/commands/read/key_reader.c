#include "commands/read/key_reader.h"

#include "commands/cli/output.h"

struct TideKeyReader {
  const TideRowKey *key; /* borrowed */
  GArray *ids;           /* owned (element-type TideNameId): of the fields that stand in the key */
  char **names;          /* owned */
  TideBytes *values;     /* owned; they point into decoded */
  TideDecodedKey decoded;
};

TideKeyReader *
tide_key_reader_new(const TideTable *table, const TideFieldNames *names)
{
  TideKeyReader *reader = g_new0(TideKeyReader, 1);
  reader->key = table->key;
  reader->ids = g_array_new(FALSE, FALSE, sizeof(TideNameId));
  tide_row_key_stored_fields(table->key, reader->ids);
  reader->names = g_new0(char *, reader->ids->len + 1);
  reader->values = g_new0(TideBytes, MAX(reader->ids->len, 1));
  for (guint i = 0; i < reader->ids->len; i++)
    reader->names[i] = tide_text_printable(tide_field_names_text(names, g_array_index(reader->ids, TideNameId, i)));
  return reader;
}

void
tide_key_reader_free(TideKeyReader *reader)
{
  if (reader == NULL)
    return;
  tide_decoded_key_clear(&reader->decoded);
  g_array_unref(reader->ids);
  g_strfreev(reader->names);
  g_free(reader->values);
  g_free(reader);
}

const char *const *
tide_key_reader_names(const TideKeyReader *reader, gsize *ret_n_fields)
{
  *ret_n_fields = reader->ids->len;
  return (const char *const *)reader->names;
}

static TideBytes
find_value(const TideDecodedKey *decoded, TideNameId id)
{
  for (gsize i = 0; i < decoded->n_fields; i++)
    if (decoded->fields[i].field == id)
      return decoded->fields[i].text;
  return TIDE_BYTES_EMPTY;
}

gboolean
tide_key_reader_read(TideKeyReader *reader, TideBytes row)
{
  if (!tide_row_key_decode(reader->key, row, &reader->decoded))
    return FALSE;
  for (guint i = 0; i < reader->ids->len; i++)
    reader->values[i] = find_value(&reader->decoded, g_array_index(reader->ids, TideNameId, i));
  return TRUE;
}

const TideBytes *
tide_key_reader_values(const TideKeyReader *reader)
{
  return reader->values;
}

const TideDecodedKey *
tide_key_reader_key(const TideKeyReader *reader)
{
  return &reader->decoded;
}
