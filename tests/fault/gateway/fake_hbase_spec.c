/* Table specifications and errors, which the fake HBase and its gateways exchange. */
#include "fault/gateway/fake_hbase_private.h"

void
fake_error_clear(TideFakeError *error)
{
  g_free(error->message);
  *error = (TideFakeError){0};
}

void
fake_error_set(TideFakeError *error, TideFakeErrorKind kind, gboolean can_retry, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  char *message = g_strdup_vprintf(format, arguments); /* first: an argument may be the old message */
  va_end(arguments);
  fake_error_clear(error);
  *error = (TideFakeError){kind, message, can_retry};
}

static void
family_free(gpointer data)
{
  TideFakeFamily *family = data;
  g_free(family->name);
  g_free(family);
}

static void
clear_attribute(gpointer data)
{
  TideFakeAttribute *attribute = data;
  fake_bytes_free(attribute->name);
  fake_bytes_free(attribute->value);
}

TideFakeTableSpec *
fake_table_spec_new(const char *name)
{
  TideFakeTableSpec *spec = g_new0(TideFakeTableSpec, 1);
  spec->name = g_strdup(name);
  spec->families = g_ptr_array_new_with_free_func(family_free);
  spec->attributes = g_array_new(FALSE, TRUE, sizeof(TideFakeAttribute));
  g_array_set_clear_func(spec->attributes, clear_attribute);
  return spec;
}

TideFakeFamily *
fake_table_spec_add_family(TideFakeTableSpec *spec, const char *name)
{
  TideFakeFamily *family = g_new0(TideFakeFamily, 1);
  /* Defaults of HBase 2.6: ColumnFamilyDescriptorBuilder.DEFAULT_*. */
  *family = (TideFakeFamily){.name = g_strdup(name),
                             .block_size_bytes = 65536,
                             .bloom_filter = 1,
                             .compression = 2,
                             .data_block_encoding = 0,
                             .max_versions = 1,
                             .min_versions = 0,
                             .time_to_live_s = G_MAXINT32,
                             .block_cache = TRUE,
                             .in_memory = FALSE};
  g_ptr_array_add(spec->families, family);
  return family;
}

void
fake_table_spec_add_attribute(TideFakeTableSpec *spec, TideBytes name, TideBytes value)
{
  TideFakeAttribute attribute = {fake_bytes_copy(name), fake_bytes_copy(value)};
  g_array_append_val(spec->attributes, attribute);
}

TideFakeTableSpec *
fake_table_spec_copy(const TideFakeTableSpec *spec)
{
  TideFakeTableSpec *copy = fake_table_spec_new(spec->name);
  for (guint i = 0; i < spec->families->len; i++) {
    const TideFakeFamily *family = spec->families->pdata[i];
    TideFakeFamily *copied = fake_table_spec_add_family(copy, family->name);
    char *name = copied->name;
    *copied = *family;
    copied->name = name;
  }
  for (guint i = 0; i < spec->attributes->len; i++) {
    const TideFakeAttribute *attribute = &g_array_index(spec->attributes, TideFakeAttribute, i);
    fake_table_spec_add_attribute(copy, attribute->name, attribute->value);
  }
  copy->durability = spec->durability;
  return copy;
}

void
fake_table_spec_free(TideFakeTableSpec *spec)
{
  if (spec == NULL)
    return;
  g_free(spec->name);
  g_ptr_array_unref(spec->families);
  g_array_unref(spec->attributes);
  g_free(spec);
}
