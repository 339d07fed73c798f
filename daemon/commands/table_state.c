#include "commands/table_state.h"

#include "flow/declared_table.h"

/* Words of HBase's shell, by the values of TCompressionAlgorithm, TBloomFilterType and TDataBlockEncoding. */
static const char *const compressions[] = {"LZO", "GZ", "NONE", "SNAPPY", "LZ4", "BZIP2", "ZSTD"};
static const char *const bloom_filters[] = {"NONE", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH"};
static const char *const block_encodings[] = {"NONE", NULL, "PREFIX", "DIFF", "FAST_DIFF", NULL, NULL, "ROW_INDEX_V1"};

static const char *
word(const char *const *words, gsize n_words, int value)
{
  return value >= 0 && (gsize)value < n_words ? words[value] : NULL;
}

const char *
tide_compression_name(int compression)
{
  return word(compressions, G_N_ELEMENTS(compressions), compression);
}

const char *
tide_bloom_filter_name(int bloom_filter)
{
  return word(bloom_filters, G_N_ELEMENTS(bloom_filters), bloom_filter);
}

const char *
tide_block_encoding_name(int block_encoding)
{
  return word(block_encodings, G_N_ELEMENTS(block_encodings), block_encoding);
}

TideTableState *
tide_table_state_read(TideGatewaySession *session, const TideTable *table, GError **error)
{
  TideHBaseClient *client = tide_gateway_session_client(session);
  g_autoptr(TideTableState) state = g_new0(TideTableState, 1);
  state->differences = g_ptr_array_new_with_free_func(g_free);
  state->remedies = g_ptr_array_new_with_free_func(g_free);
  if (!tide_hbase_client_table_exists(client, table->name, tide_gateway_session_deadline_us(session), &state->exists,
                                      error))
    return NULL;
  if (!state->exists)
    return g_steal_pointer(&state);
  state->description =
      tide_hbase_client_describe(client, table->name, tide_gateway_session_deadline_us(session), error);
  if (state->description == NULL)
    return NULL;
  state->regions = tide_hbase_client_regions(client, tide_bytes_of_string(table->name),
                                             tide_gateway_session_deadline_us(session), error);
  if (state->regions == NULL)
    return NULL;
  tide_table_state_compare(state, table);
  return g_steal_pointer(&state);
}

void
tide_table_state_free(TideTableState *state)
{
  if (state == NULL)
    return;
  tide_table_description_free(state->description);
  g_clear_pointer(&state->regions, g_ptr_array_unref);
  g_clear_pointer(&state->differences, g_ptr_array_unref);
  g_clear_pointer(&state->remedies, g_ptr_array_unref);
  g_free(state);
}

static const TideFamilySettings *
find_family(const TideTableDescription *description, const char *name)
{
  for (guint i = 0; i < description->families->len; i++) {
    const TideFamilySettings *family = description->families->pdata[i];
    if (strcmp(family->name, name) == 0)
      return family;
  }
  return NULL;
}

static void
compare_name(TideTableState *state, const char *family, const char *setting, const char *declared, const char *present)
{
  if (declared == NULL || g_strcmp0(declared, present) == 0)
    return;
  g_ptr_array_add(state->differences, g_strdup_printf("family '%s' has %s %s, declared is %s", family, setting,
                                                      present != NULL ? present : "unset", declared));
}

static void
compare_number(TideTableState *state, const char *family, const char *setting, gint32 declared, gint32 present)
{
  if (declared <= 0 || declared == present)
    return;
  g_ptr_array_add(state->differences,
                  g_strdup_printf("family '%s' has %s %d, declared is %d", family, setting, present, declared));
}

/* Only what the declaration sets is compared: the rest is the operator's business. */
static void
compare_family(TideTableState *state, const TideFamilySettings *declared, const TideFamilySettings *present)
{
  const char *name = declared->name;
  compare_name(state, name, "compression", tide_compression_name(declared->compression),
               tide_compression_name(present->compression));
  compare_name(state, name, "bloom filter", tide_bloom_filter_name(declared->bloom_filter),
               tide_bloom_filter_name(present->bloom_filter));
  compare_name(state, name, "block encoding", tide_block_encoding_name(declared->data_block_encoding),
               tide_block_encoding_name(present->data_block_encoding));
  compare_number(state, name, "block size", declared->block_size_bytes, present->block_size_bytes);
  compare_number(state, name, "versions", declared->max_versions, present->max_versions);
  compare_number(state, name, "time to live (s)", declared->time_to_live_s, present->time_to_live_s);
  if (declared->in_memory >= 0 && declared->in_memory != MAX(present->in_memory, 0))
    g_ptr_array_add(state->differences,
                    g_strdup_printf("family '%s' has in-memory %s, declared is %s", name,
                                    present->in_memory > 0 ? "on" : "off", declared->in_memory > 0 ? "on" : "off"));
}

guint
tide_table_state_missing_splits(const TideTable *table, const GPtrArray *regions)
{
  guint n_missing = 0;
  for (guint i = 0; table->splits != NULL && i < table->splits->len; i++) {
    TideBytes split = g_array_index(table->splits, TideBytes, i);
    gboolean found = FALSE;
    for (guint k = 0; k < regions->len && !found; k++)
      found = tide_bytes_equal(((const TideRegion *)regions->pdata[k])->start_key, split);
    n_missing += found ? 0 : 1;
  }
  return n_missing;
}

void
tide_table_state_compare(TideTableState *state, const TideTable *table)
{
  for (guint i = 0; i < table->families->len; i++) {
    const TideFamilySettings *declared = table->families->pdata[i];
    const TideFamilySettings *present = find_family(state->description, declared->name);
    if (present != NULL) {
      compare_family(state, declared, present);
      continue;
    }
    g_ptr_array_add(state->differences, g_strdup_printf("family '%s' is missing", declared->name));
    g_ptr_array_add(state->remedies, tide_declared_table_add_family_command(table, declared));
  }
  guint n_missing = tide_table_state_missing_splits(table, state->regions);
  if (n_missing > 0)
    g_ptr_array_add(state->differences, g_strdup_printf("%u of %u declared split points are no region boundary",
                                                        n_missing, table->splits->len));
}
