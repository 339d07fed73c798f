/* Life of the fake HBase, its tables, namespaces and regions. */
#include "fault/gateway/fake_hbase_private.h"

TideFakeHBase *
fake_hbase_new(void)
{
  TideFakeHBase *hbase = g_new0(TideFakeHBase, 1);
  hbase->references = 1;
  tide_mutex_init(&hbase->mutex);
  tide_cond_init(&hbase->written);
  hbase->tables = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)fake_table_free);
  hbase->namespaces = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  hbase->dropped = g_ptr_array_new_with_free_func((GDestroyNotify)fake_table_free);
  hbase->writes = g_ptr_array_new_with_free_func(fake_write_free);
  g_hash_table_add(hbase->namespaces, g_strdup("default"));
  g_hash_table_add(hbase->namespaces, g_strdup("hbase"));
  hbase->cluster = g_strdup(FAKE_CLUSTER);
  return hbase;
}

TideFakeHBase *
fake_hbase_ref(TideFakeHBase *hbase)
{
  hbase->references++;
  return hbase;
}

void
fake_hbase_unref(TideFakeHBase *hbase)
{
  if (hbase == NULL || --hbase->references > 0)
    return;
  g_hash_table_unref(hbase->tables);
  g_ptr_array_unref(hbase->dropped);
  g_hash_table_unref(hbase->namespaces);
  g_ptr_array_unref(hbase->writes);
  g_free(hbase->cluster);
  tide_cond_clear(&hbase->written);
  tide_mutex_clear(&hbase->mutex);
  g_free(hbase);
}

const char *
fake_hbase_plain_name(const char *name)
{
  return g_str_has_prefix(name, "default:") ? name + strlen("default:") : name;
}

TideFakeTable *
fake_hbase_find_table_locked(TideFakeHBase *hbase, const char *name)
{
  return g_hash_table_lookup(hbase->tables, fake_hbase_plain_name(name));
}

/* Errors of the master come with their Java class and a stack trace. */
static void
set_master_error(TideFakeError *error, const char *java_class, const char *text)
{
  fake_error_set(error, TIDE_FAKE_ERROR_IO, FALSE,
                 "org.apache.hadoop.hbase.%s: %s\n\tat org.apache.hadoop.hbase.master.HMaster.run(HMaster.java:601)\n"
                 "\tat org.apache.hadoop.hbase.ipc.RpcHandler.run(RpcHandler.java:85)\n",
                 java_class, text);
}

TideFakeTable *
fake_hbase_need_table_locked(TideFakeHBase *hbase, const char *name, TideFakeError *error)
{
  TideFakeTable *table = fake_hbase_find_table_locked(hbase, name);
  if (table == NULL)
    fake_error_set(error, TIDE_FAKE_ERROR_IO, FALSE, "%s", fake_hbase_plain_name(name));
  return table;
}

static gboolean
name_is_free_locked(TideFakeHBase *hbase, const char *name, TideFakeError *error)
{
  const char *colon = strchr(name, ':');
  g_autofree char *name_space = colon != NULL ? g_strndup(name, (gsize)(colon - name)) : g_strdup("default");
  if (!g_hash_table_contains(hbase->namespaces, name_space)) {
    set_master_error(error, "NamespaceNotFoundException", name_space);
    return FALSE;
  }
  if (fake_hbase_find_table_locked(hbase, name) != NULL) {
    set_master_error(error, "TableExistsException", fake_hbase_plain_name(name));
    return FALSE;
  }
  return TRUE;
}

static gboolean
has_families(const TideFakeTableSpec *spec, TideFakeError *error)
{
  if (spec->families->len == 0)
    set_master_error(error, "DoNotRetryIOException", "Table should have at least one column family.");
  return spec->families->len > 0;
}

static gboolean
splits_are_valid(const TideBytes *splits, guint n_splits, TideFakeError *error)
{
  for (guint i = 0; i < n_splits; i++) {
    gboolean usable = splits[i].len > 0;
    for (guint k = 0; k < i && usable; k++)
      usable = !tide_bytes_equal(splits[i], splits[k]);
    if (!usable) {
      fake_error_set(error, TIDE_FAKE_ERROR_INTERNAL, FALSE, "Internal error processing createTable");
      return FALSE;
    }
  }
  return TRUE;
}

gboolean
fake_hbase_create_table(TideFakeHBase *hbase, TideFakeTableSpec *spec, const TideBytes *splits, guint n_splits,
                        TideFakeError *error)
{
  char *name = g_strdup(fake_hbase_plain_name(spec->name));
  g_free(spec->name);
  spec->name = name;
  tide_mutex_lock(&hbase->mutex);
  gboolean ok = splits_are_valid(splits, n_splits, error) && has_families(spec, error) &&
                name_is_free_locked(hbase, spec->name, error);
  if (ok)
    g_hash_table_insert(hbase->tables, g_strdup(fake_hbase_plain_name(spec->name)),
                        fake_table_new(spec, splits, n_splits));
  tide_mutex_unlock(&hbase->mutex);
  if (!ok)
    fake_table_spec_free(spec);
  return ok;
}

static void
drop_table_locked(TideFakeHBase *hbase, const char *name)
{
  gpointer key, table;
  g_hash_table_steal_extended(hbase->tables, fake_hbase_plain_name(name), &key, &table);
  g_free(key);
  g_ptr_array_add(hbase->dropped, table);
}

/* As need, in the words of the master. */
static TideFakeTable *
find_for_change_locked(TideFakeHBase *hbase, const char *name, TideFakeError *error)
{
  TideFakeTable *table = fake_hbase_find_table_locked(hbase, name);
  if (table == NULL)
    set_master_error(error, "TableNotFoundException", fake_hbase_plain_name(name));
  return table;
}

gboolean
fake_hbase_delete_table(TideFakeHBase *hbase, const char *name, TideFakeError *error)
{
  FAKE_HOLD(&hbase->mutex);
  TideFakeTable *table = find_for_change_locked(hbase, name, error);
  gboolean ok = table != NULL && !table->enabled;
  if (table != NULL && !ok) {
    g_autofree char *text = g_strdup_printf("Not DISABLED; tableName=%s, state=ENABLED", fake_hbase_plain_name(name));
    set_master_error(error, "TableNotDisabledException", text);
  }
  if (ok)
    drop_table_locked(hbase, name);
  tide_cond_broadcast(&hbase->written);
  return ok;
}

gboolean
fake_hbase_set_enabled(TideFakeHBase *hbase, const char *name, gboolean enabled, TideFakeError *error)
{
  FAKE_HOLD(&hbase->mutex);
  TideFakeTable *table = find_for_change_locked(hbase, name, error);
  gboolean ok = table != NULL && table->enabled != enabled;
  if (table != NULL && !ok)
    set_master_error(error, enabled ? "TableNotDisabledException" : "TableNotEnabledException",
                     fake_hbase_plain_name(name));
  if (ok)
    table->enabled = enabled;
  return ok;
}

void
fake_hbase_set_durability(TideFakeHBase *hbase, const char *name, int durability)
{
  FAKE_HOLD(&hbase->mutex);
  TideFakeTable *table = fake_hbase_find_table_locked(hbase, name);
  g_assert_nonnull(table);
  table->spec->durability = durability;
}

gboolean
fake_hbase_is_enabled(TideFakeHBase *hbase, const char *name, gboolean *ret_enabled, TideFakeError *error)
{
  FAKE_HOLD(&hbase->mutex);
  TideFakeTable *table = fake_hbase_need_table_locked(hbase, name, error);
  if (table != NULL)
    *ret_enabled = table->enabled;
  return table != NULL;
}

static int
compare_names(gconstpointer a, gconstpointer b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static char **
sorted_keys(TideFakeHBase *hbase, GHashTable *table)
{
  GPtrArray *names = g_ptr_array_new();
  GHashTableIter all;
  gpointer name;
  tide_mutex_lock(&hbase->mutex);
  g_hash_table_iter_init(&all, table);
  while (g_hash_table_iter_next(&all, &name, NULL))
    g_ptr_array_add(names, g_strdup(name));
  tide_mutex_unlock(&hbase->mutex);
  g_ptr_array_sort(names, compare_names);
  g_ptr_array_add(names, NULL);
  return (char **)g_ptr_array_free(names, FALSE);
}

char **
fake_hbase_namespaces(TideFakeHBase *hbase)
{
  return sorted_keys(hbase, hbase->namespaces);
}

char **
fake_hbase_tables(TideFakeHBase *hbase)
{
  return sorted_keys(hbase, hbase->tables);
}

gboolean
fake_hbase_create_namespace(TideFakeHBase *hbase, const char *name, TideFakeError *error)
{
  tide_mutex_lock(&hbase->mutex);
  gboolean ok = g_hash_table_add(hbase->namespaces, g_strdup(name));
  tide_mutex_unlock(&hbase->mutex);
  if (!ok) {
    g_autofree char *text = g_strdup_printf("Namespace %s already exists", name);
    set_master_error(error, "NamespaceExistException", text);
  }
  return ok;
}

char *
fake_hbase_cluster(TideFakeHBase *hbase)
{
  FAKE_HOLD(&hbase->mutex);
  return g_strdup(hbase->cluster);
}

void
fake_hbase_set_cluster(TideFakeHBase *hbase, const char *cluster)
{
  FAKE_HOLD(&hbase->mutex);
  g_free(hbase->cluster);
  hbase->cluster = g_strdup(cluster);
}

gboolean
fake_hbase_table_exists(TideFakeHBase *hbase, const char *name)
{
  FAKE_HOLD(&hbase->mutex);
  return fake_hbase_find_table_locked(hbase, name) != NULL;
}

TideFakeTableSpec *
fake_hbase_describe(TideFakeHBase *hbase, const char *name, TideFakeError *error)
{
  FAKE_HOLD(&hbase->mutex);
  TideFakeTable *table = fake_hbase_need_table_locked(hbase, name, error);
  return table != NULL ? fake_table_spec_copy(table->spec) : NULL;
}

GPtrArray *
fake_hbase_regions(TideFakeHBase *hbase, const char *name)
{
  FAKE_HOLD(&hbase->mutex);
  TideFakeTable *table = fake_hbase_find_table_locked(hbase, name);
  return table != NULL ? fake_table_list_regions(table) : g_ptr_array_new();
}

void
fake_hbase_set_offline(TideFakeHBase *hbase, const char *name, TideBytes key, gboolean offline)
{
  FAKE_HOLD(&hbase->mutex);
  TideFakeTable *table = fake_hbase_find_table_locked(hbase, name);
  g_assert_nonnull(table);
  fake_table_region_of(table, key)->region.offline = offline;
}

void
fake_hbase_split_region(TideFakeHBase *hbase, const char *name, TideBytes key, gboolean list_parent)
{
  FAKE_HOLD(&hbase->mutex);
  TideFakeTable *table = fake_hbase_find_table_locked(hbase, name);
  g_assert_nonnull(table);
  fake_table_split(table, key, list_parent);
}

void
fake_hbase_merge_regions(TideFakeHBase *hbase, const char *name, TideBytes key)
{
  FAKE_HOLD(&hbase->mutex);
  TideFakeTable *table = fake_hbase_find_table_locked(hbase, name);
  g_assert_nonnull(table);
  fake_table_merge(table, key);
}

void
fake_hbase_set_replicas(TideFakeHBase *hbase, const char *name, gint32 n_replicas)
{
  FAKE_HOLD(&hbase->mutex);
  TideFakeTable *table = fake_hbase_find_table_locked(hbase, name);
  g_assert_nonnull(table);
  table->n_replicas = n_replicas;
}
