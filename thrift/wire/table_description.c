/* Plain structs that describe a table: allocation and lookup. */
#include "thrift/wire/table_description.h"

TideFamilySettings *
tide_family_settings_new(const char *name)
{
  TideFamilySettings *family = g_new0(TideFamilySettings, 1);
  family->name = g_strdup(name);
  family->compression = -1;
  family->bloom_filter = -1;
  family->data_block_encoding = -1;
  family->in_memory = -1;
  return family;
}

TideFamilySettings *
tide_family_settings_copy(const TideFamilySettings *family)
{
  TideFamilySettings *copy = g_new0(TideFamilySettings, 1);
  *copy = *family;
  copy->name = g_strdup(family->name);
  return copy;
}

TideFamilySettings *
tide_family_settings_find(const GPtrArray *families, TideBytes name)
{
  for (guint i = 0; families != NULL && i < families->len; i++) {
    TideFamilySettings *family = families->pdata[i];
    if (tide_bytes_equal(tide_bytes_of_string(family->name), name))
      return family;
  }
  return NULL;
}

void
tide_family_settings_free(TideFamilySettings *family)
{
  if (family == NULL)
    return;
  g_free(family->name);
  g_free(family);
}

static void
clear_attribute(gpointer data)
{
  TideAttribute *attribute = data;
  g_free((gpointer)attribute->name.data);
  g_free((gpointer)attribute->value.data);
}

TideTableDescription *
tide_table_description_new(const char *name)
{
  TideTableDescription *description = g_new0(TideTableDescription, 1);
  description->name = g_strdup(name);
  description->families = g_ptr_array_new_with_free_func((GDestroyNotify)tide_family_settings_free);
  description->attributes = g_array_new(FALSE, FALSE, sizeof(TideAttribute));
  g_array_set_clear_func(description->attributes, clear_attribute);
  description->durability = -1;
  return description;
}

void
tide_table_description_add_attribute(TideTableDescription *description, TideBytes name, TideBytes value)
{
  TideAttribute attribute = {
      .name = tide_bytes(g_memdup2(name.data, name.len), name.len),
      .value = tide_bytes(g_memdup2(value.data, value.len), value.len),
  };
  g_array_append_val(description->attributes, attribute);
}

const TideBytes *
tide_table_description_attribute(const TideTableDescription *description, TideBytes name)
{
  for (guint i = 0; i < description->attributes->len; i++) {
    const TideAttribute *attribute = &g_array_index(description->attributes, TideAttribute, i);
    if (tide_bytes_equal(attribute->name, name))
      return &attribute->value;
  }
  return NULL;
}

void
tide_table_description_free(TideTableDescription *description)
{
  if (description == NULL)
    return;
  g_free(description->name);
  g_free(description->hidden);
  g_ptr_array_unref(description->families);
  g_array_unref(description->attributes);
  g_free(description);
}

void
tide_region_free(TideRegion *region)
{
  if (region == NULL)
    return;
  g_free((gpointer)region->start_key.data);
  g_free((gpointer)region->end_key.data);
  g_free(region->server);
  g_free(region);
}
