/* Reading the arguments of calls about tables and namespaces. */
#include "fault/gateway/fake_request_private.h"

/* TTableName */
const char *
fake_request_read_table_name(TideFakeReader *reader)
{
  const char *name_space = "", *qualifier = NULL;
  TideFakeField field;
  fake_reader_struct_begin(reader);
  while (fake_reader_field(reader, &field)) {
    if (fake_field_is(&field, 1, TIDE_FAKE_BINARY))
      name_space = fake_reader_string(reader);
    else if (fake_field_is(&field, 2, TIDE_FAKE_BINARY))
      qualifier = fake_reader_string(reader);
    else
      fake_reader_skip(reader, field.type);
  }
  fake_reader_struct_end(reader);
  if (qualifier == NULL || *name_space == '\0')
    return qualifier;
  g_autofree char *name = g_strconcat(name_space, ":", qualifier, NULL);
  return g_string_chunk_insert(reader->strings, name);
}

static TideBytes
read_attribute(TideFakeReader *reader, TideBytes *ret_value)
{
  TideBytes name = fake_reader_binary(reader);
  *ret_value = fake_reader_binary(reader);
  return name;
}

/* TColumnFamilyDescriptor */
static void
read_family(TideFakeTableSpec *spec, TideFakeReader *reader)
{
  TideFakeFamily *family = fake_table_spec_add_family(spec, "");
  TideFakeField field;
  fake_reader_struct_begin(reader);
  while (fake_reader_field(reader, &field)) {
    if (fake_field_is(&field, 1, TIDE_FAKE_BINARY)) {
      g_free(family->name);
      family->name = g_strdup(fake_reader_string(reader));
    } else if (fake_field_is(&field, 4, TIDE_FAKE_I32)) {
      family->block_size_bytes = fake_reader_i32(reader);
    } else if (fake_field_is(&field, 5, TIDE_FAKE_I32)) {
      family->bloom_filter = fake_reader_i32(reader);
    } else if (fake_field_is(&field, 6, TIDE_FAKE_I32)) {
      family->compression = fake_reader_i32(reader);
    } else if (fake_field_is(&field, 8, TIDE_FAKE_I32)) {
      family->data_block_encoding = fake_reader_i32(reader);
    } else if (fake_field_is(&field, 10, TIDE_FAKE_I32)) {
      family->max_versions = fake_reader_i32(reader);
    } else if (fake_field_is(&field, 11, TIDE_FAKE_I32)) {
      family->min_versions = fake_reader_i32(reader);
    } else if (fake_field_is(&field, 13, TIDE_FAKE_I32)) {
      family->time_to_live_s = fake_reader_i32(reader);
    } else if (fake_field_is(&field, 14, TIDE_FAKE_BOOL)) {
      family->block_cache = fake_reader_bool(reader);
    } else if (fake_field_is(&field, 20, TIDE_FAKE_BOOL)) {
      family->in_memory = fake_reader_bool(reader);
    } else {
      fake_reader_skip(reader, field.type);
    }
  }
  fake_reader_struct_end(reader);
}

static void
read_table_attributes(TideFakeTableSpec *spec, TideFakeReader *reader)
{
  TideFakeType key_type, value_type;
  guint32 n = fake_reader_map(reader, &key_type, &value_type);
  for (guint32 i = 0; i < n && !reader->failed; i++) {
    TideBytes value;
    TideBytes name = read_attribute(reader, &value);
    fake_table_spec_add_attribute(spec, name, value);
  }
}

/* TTableDescriptor */
void
fake_request_read_table_spec(TideFakeRequest *request, TideFakeReader *reader)
{
  request->spec = fake_table_spec_new("");
  TideFakeField field;
  fake_reader_struct_begin(reader);
  while (fake_reader_field(reader, &field)) {
    if (fake_field_is(&field, 1, TIDE_FAKE_STRUCT)) {
      request->table = fake_request_read_table_name(reader);
    } else if (fake_field_is(&field, 2, TIDE_FAKE_LIST)) {
      guint32 n = fake_request_read_struct_list(reader);
      for (guint32 i = 0; i < n && !reader->failed; i++)
        read_family(request->spec, reader);
    } else if (fake_field_is(&field, 3, TIDE_FAKE_MAP)) {
      read_table_attributes(request->spec, reader);
    } else {
      fake_reader_skip(reader, field.type);
    }
  }
  fake_reader_struct_end(reader);
  g_free(request->spec->name);
  request->spec->name = g_strdup(request->table != NULL ? request->table : "");
}

void
fake_request_read_splits(TideFakeRequest *request, TideFakeReader *reader)
{
  TideFakeType element;
  guint32 n = fake_reader_list(reader, &element);
  if (n > 0 && element != TIDE_FAKE_BINARY)
    fake_reader_fail(reader, "split keys are not a list of binary");
  for (guint32 i = 0; i < n && !reader->failed; i++) {
    TideBytes split = fake_reader_binary(reader);
    g_array_append_val(request->splits, split);
  }
}

/* TNamespaceDescriptor */
const char *
fake_request_read_namespace(TideFakeReader *reader)
{
  const char *name = NULL;
  TideFakeField field;
  fake_reader_struct_begin(reader);
  while (fake_reader_field(reader, &field)) {
    if (fake_field_is(&field, 1, TIDE_FAKE_BINARY))
      name = fake_reader_string(reader);
    else
      fake_reader_skip(reader, field.type);
  }
  fake_reader_struct_end(reader);
  return name;
}

void
fake_request_spoil_attributes(TideFakeTableSpec *spec, TideBytes frame)
{
  if (spec->attributes->len == 0)
    return;
  g_array_set_size(spec->attributes, 0);
  fake_table_spec_add_attribute(spec, frame, frame);
}
