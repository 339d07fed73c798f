#include "commands/declared_table.h"

#include "thrift/shell_command.h"

#define CREATE "create "
#define ALTER "alter "

static void
add_family(TideTableDescription *description, const TideFamilySettings *declared)
{
  TideFamilySettings *family = tide_family_settings_new(declared->name);
  char *name = family->name;
  *family = *declared;
  family->name = name;
  g_ptr_array_add(description->families, family);
}

TideTableDescription *
tide_declared_table_describe(const TideTable *table)
{
  TideTableDescription *description = tide_table_description_new(table->name);
  for (guint i = 0; i < table->families->len; i++)
    add_family(description, table->families->pdata[i]);
  return description;
}

char *
tide_declared_table_namespace(const TideTable *table)
{
  const char *colon = strchr(table->name, ':');
  return colon != NULL ? g_strndup(table->name, (gsize)(colon - table->name)) : NULL;
}

char *
tide_declared_table_create_command(const TideTable *table)
{
  g_autoptr(TideTableDescription) description = tide_declared_table_describe(table);
  g_autofree char *create = tide_shell_create_command(description, table->splits);
  g_autofree char *table_namespace = tide_declared_table_namespace(table);
  if (table_namespace == NULL || strcmp(table_namespace, "default") == 0)
    return g_steal_pointer(&create);
  return g_strdup_printf("create_namespace '%s'\n%s", table_namespace, create);
}

char *
tide_declared_table_add_family_command(const TideTable *table, const TideFamilySettings *family)
{
  g_autoptr(TideTableDescription) description = tide_table_description_new(table->name);
  add_family(description, family);
  /* `alter` takes a family's settings in the very words of `create`. */
  g_autofree char *create = tide_shell_create_command(description, NULL);
  return g_strconcat(ALTER, create + strlen(CREATE), NULL);
}
