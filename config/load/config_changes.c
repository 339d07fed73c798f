#include "config/load/config_changes.h"

#include "config/load/load_pieces.h"
#include "config/option/option_table.h"

#define GATEWAYS_PATH "hbase.gateways"

typedef struct Comparison {
  const TideConfig *before;
  const TideConfig *after;
  GPtrArray *changes;
} Comparison;

static void
free_change(gpointer data)
{
  TideConfigChange *change = data;
  g_free(change->path);
  g_free(change);
}

/* @path: (transfer full) */
static void
add_change(Comparison *comparison, char *path, gboolean reloads)
{
  TideConfigChange *change = g_new(TideConfigChange, 1);
  *change = (TideConfigChange){path, reloads};
  g_ptr_array_add(comparison->changes, change);
}

/* Each property is an option of its own here: librdkafka reads them, and the files that they name, when its clients are
 * created. */
static void
compare_properties(Comparison *comparison, const char *path)
{
  const TideKafkaConfig *before = &comparison->before->kafka, *after = &comparison->after->kafka;
  for (guint i = 0; i < before->properties->len; i++) {
    const TideKafkaProperty *old = &g_array_index(before->properties, TideKafkaProperty, i);
    const TideKafkaProperty *new = tide_config_find_property(after, old->name);
    if (new == NULL || strcmp(old->value, new->value) != 0)
      add_change(comparison, g_strdup_printf("%s.%s", path, old->name), FALSE);
    else if (old->file_changed_us != new->file_changed_us || old->file_bytes != new->file_bytes)
      add_change(comparison, g_strdup_printf("%s.%s (its file)", path, old->name), FALSE);
  }
  for (guint i = 0; i < after->properties->len; i++) {
    const TideKafkaProperty *new = &g_array_index(after->properties, TideKafkaProperty, i);
    if (tide_config_find_property(before, new->name) == NULL)
      add_change(comparison, g_strdup_printf("%s.%s", path, new->name), FALSE);
  }
}

/* A table that only one of the files has is a change of the tables. */
static void
compare_tables(Comparison *comparison, const char *path)
{
  g_autofree char *before = tide_config_print_tables(comparison->before, FALSE);
  g_autofree char *after = tide_config_print_tables(comparison->after, FALSE);
  if (strcmp(before, after) != 0)
    add_change(comparison, g_strdup(path), FALSE);
  for (guint i = 0; i < comparison->before->tables->len; i++) {
    const TideTable *old = comparison->before->tables->pdata[i];
    const TideTable *new = tide_config_find_table(comparison->after, old->name);
    if (new != NULL && old->rows_per_second != new->rows_per_second)
      add_change(comparison, g_strdup_printf("%s.%s.rows_per_second", path, old->name), TRUE);
  }
}

/* @before and @after are the structs of the option's group. */
static gboolean
differs(const Comparison *comparison, const TideConfigOption *option, gconstpointer before, gconstpointer after)
{
  gboolean is_of_sources = comparison->before->sources_yaml != NULL && comparison->after->sources_yaml != NULL;
  if (option->type == TIDE_CONFIG_TOPICS && is_of_sources)
    return FALSE; /* their contents report these changes */
  g_autofree char *old = tide_config_option_print_value(option, before, comparison->before->names);
  g_autofree char *new = tide_config_option_print_value(option, after, comparison->after->names);
  return g_strcmp0(old, new) != 0;
}

static void
compare_group(Comparison *comparison, const TideConfigGroup *group, const char *path, gconstpointer before,
              gconstpointer after)
{
  for (gsize i = 0; i < group->n_options; i++) {
    const TideConfigOption *option = &group->options[i];
    g_autofree char *name = g_strconcat(path, *path != '\0' ? "." : "", option->name, NULL);
    if (option->type == TIDE_CONFIG_SECTION) {
      compare_group(comparison, option->section, name, (const guint8 *)before + option->offset,
                    (const guint8 *)after + option->offset);
    } else if (option->type == TIDE_CONFIG_STRUCTURE && strcmp(option->name, "librdkafka") == 0) {
      compare_properties(comparison, name);
    } else if (option->type == TIDE_CONFIG_STRUCTURE && strcmp(option->name, "tables") == 0) {
      compare_tables(comparison, name);
    } else if (differs(comparison, option, before, after)) {
      add_change(comparison, g_steal_pointer(&name), (option->flags & TIDE_CONFIG_RELOADS) != 0);
    }
  }
}

/* Whether @gateways contains gateways over HTTP, and others. */
static guint
kinds_of(const GPtrArray *gateways)
{
  guint kinds = 0;
  for (guint i = 0; i < gateways->len; i++)
    kinds |= ((const TideEndpoint *)gateways->pdata[i])->path != NULL ? 1U << 0 : 1U << 1;
  return kinds;
}

/* A reload does not change how gateways are reached: the other options were made for the current list. Gateways over
 * HTTP only have the binary protocol, while the others may have used another one since the start. */
static void
hold_gateways_back(const Comparison *comparison)
{
  const GPtrArray *changes = comparison->changes;
  TideConfigChange *gateways = NULL;
  gboolean is_other_way = kinds_of(comparison->before->hbase.gateways) != kinds_of(comparison->after->hbase.gateways);
  static const char *const links[] = {"hbase.transport", "hbase.tls.", "hbase.sasl.", "hbase.kerberos.", "hbase.http."};
  for (guint i = 0; i < changes->len; i++) {
    TideConfigChange *change = changes->pdata[i];
    if (strcmp(change->path, GATEWAYS_PATH) == 0)
      gateways = change;
    for (gsize k = 0; k < G_N_ELEMENTS(links); k++)
      is_other_way |= g_str_has_prefix(change->path, links[k]);
  }
  if (gateways != NULL && is_other_way)
    gateways->reloads = FALSE;
}

/* The change of option @path that the reload applies; NULL if there is none. */
static TideConfigChange *
find_taken_over(const GPtrArray *changes, const char *path)
{
  for (guint i = 0; i < changes->len; i++) {
    TideConfigChange *change = changes->pdata[i];
    if (change->reloads && strcmp(change->path, path) == 0)
      return change;
  }
  return NULL;
}

/* Applies all changes except that of the gateways. @base and @after are the structs of the group. */
static void
take_over_group(const TideConfigGroup *group, const char *path, gpointer base, gconstpointer after,
                const GPtrArray *changes)
{
  for (gsize i = 0; i < group->n_options; i++) {
    const TideConfigOption *option = &group->options[i];
    g_autofree char *name = g_strconcat(path, *path != '\0' ? "." : "", option->name, NULL);
    if (option->type == TIDE_CONFIG_SECTION)
      take_over_group(option->section, name, (guint8 *)base + option->offset, (const guint8 *)after + option->offset,
                      changes);
    else if (option->type != TIDE_CONFIG_GATEWAYS && find_taken_over(changes, name) != NULL)
      tide_config_option_take_over(option, base, after);
  }
}

/* A new value may be valid only with another change that needs a restart. Both files are valid, so a bound that the
 * mixture breaks holds again once both of its options keep their old values. That may break another bound. */
static void
hold_broken_bounds_back(const Comparison *comparison)
{
  for (gboolean is_held = TRUE; is_held;) {
    TideConfig mixture =
        *comparison->before; /* Borrows everything and is not freed, because only numbers are applied. */
    const char *options[] = {NULL, NULL};
    take_over_group(&tide_config_top, "", &mixture, comparison->after, comparison->changes);
    if (!tide_load_find_broken_bound(&mixture, &options[0], &options[1]))
      return;
    is_held = FALSE;
    for (gsize i = 0; i < G_N_ELEMENTS(options); i++) {
      TideConfigChange *change = find_taken_over(comparison->changes, options[i]);
      is_held |= change != NULL;
      if (change != NULL)
        change->reloads = FALSE;
    }
  }
}

GPtrArray *
tide_config_changes(const TideConfig *before, const TideConfig *after)
{
  Comparison comparison = {before, after, g_ptr_array_new_with_free_func(free_change)};
  compare_group(&comparison, &tide_config_top, "", before, after);
  hold_gateways_back(&comparison);
  hold_broken_bounds_back(&comparison);
  return comparison.changes;
}

void
tide_config_take_over(TideConfig *config, const TideConfig *after, const GPtrArray *changes)
{
  take_over_group(&tide_config_top, "", config, after, changes);
  for (guint i = 0; i < config->tables->len; i++) {
    TideTable *table = config->tables->pdata[i];
    const TideTable *new = tide_config_find_table(after, table->name);
    if (new != NULL)
      table->rows_per_second = new->rows_per_second;
  }
  if (find_taken_over(changes, GATEWAYS_PATH) == NULL)
    return;
  GPtrArray *gateways = g_ptr_array_ref(after->hbase.gateways);
  for (guint i = 0; i < gateways->len; i++)
    ((TideEndpoint *)g_ptr_array_index(gateways, i))->settings = &config->hbase.link;
  /* The old list is kept, because threads hold and read its endpoints. */
  g_ptr_array_add(config->past_gateways, config->hbase.gateways);
  config->hbase.gateways = gateways;
}
