/* The state of a table in HBase, compared with its declaration. For `tables` and `check`. */
#include "commands/cli/output.h"
#include "commands/tables/tables.h"
#include "tables/declared_table.h"
#include "tables/table_check.h"
#include "thrift/client/shell_command.h"

/* Maximum number of missing split points and boundary faults shown; the remedies contain all split points. */
#define SHOWN_POINTS 3u

static gboolean
read_fingerprint(TideTableState *state, TideHBaseClient *client, const TideConfig *config, const TideTable *table,
                 GError **error)
{
  g_auto(TideFingerprintStore) store = {0};
  tide_fingerprint_store_init(&store, config);
  if (!tide_fingerprint_store_compare(&store, client, table, state->description, &state->fingerprint, error))
    return FALSE;
  state->fingerprint_location = state->fingerprint.stored.location;
  if (state->fingerprint.verdict != TIDE_FINGERPRINT_SAME &&
      !tide_fingerprint_store_find_location(&store, client, &state->fingerprint_location, error))
    return FALSE;
  if (state->fingerprint.verdict == TIDE_FINGERPRINT_CHANGED)
    g_ptr_array_add(state->differences,
                    g_strdup_printf("THE KEY CHANGED, and the table has rows: stored %s is %s, declared is %s; "
                                    "'tidemark run' does not start with it",
                                    tide_fingerprint_locations[state->fingerprint.stored.location].text,
                                    state->fingerprint.stored.text, state->fingerprint.declared));
  return TRUE;
}

TideTableState *
tide_table_state_read(TideGatewaySession *session, const TideConfig *config, const TideTable *table, GError **error)
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
  gboolean is_enabled = FALSE;
  if (state->regions == NULL || !tide_hbase_client_table_is_enabled(
                                    client, table->name, tide_gateway_session_deadline_us(session), &is_enabled, error))
    return NULL;
  if (!is_enabled) {
    g_ptr_array_add(state->differences, g_strdup("it is disabled: its rows wait, and offsets are not committed"));
    g_ptr_array_add(state->remedies, g_strdup_printf("enable \"%s\"", table->name));
  }
  if (!read_fingerprint(state, client, config, table, error))
    return NULL;
  g_autoptr(TideTableDescription) declared = tide_declared_table_describe(table, config->names);
  tide_table_state_compare(state, table, declared);
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
  tide_fingerprint_finding_clear(&state->fingerprint);
  g_free(state);
}

char *
tide_table_state_undeclared_ttl(const TideTableState *state, const TideTable *table)
{
  for (guint i = 0; i < table->families->len; i++) {
    const char *name = ((const TideFamilySettings *)table->families->pdata[i])->name;
    TideBytes family = tide_bytes_of_string(name);
    const TideFamilySettings *present = tide_family_settings_find(state->description->families, family);
    gint64 present_ms = present != NULL ? (gint64)present->time_to_live_s * 1000 : 0;
    gint64 declared_ms = tide_table_ttl_ms(table, family);
    if (present_ms > 0 && (declared_ms == 0 || present_ms < declared_ms))
      return g_strdup_printf("HBase keeps the cells of family '%s' only for %d s, which the configuration does not "
                             "declare: older readings count as written but are never visible; declare it as 'ttl'",
                             name, present->time_to_live_s);
  }
  return NULL;
}

/* A family of the table, its declaration, and the changes needed. */
typedef struct FamilyComparison {
  TideTableState *state;
  const TideFamilySettings *present;
  const TideFamilySettings *declared;
  TideFamilySettings *changes; /* only the differing settings */
  gboolean differs;
} FamilyComparison;

static void
add_family_difference(FamilyComparison *it, const char *setting, const char *present, const char *declared)
{
  it->differs = TRUE;
  g_ptr_array_add(it->state->differences, g_strdup_printf("family '%s' has %s %s, declared is %s", it->declared->name,
                                                          setting, present, declared));
}

/* @name: returns the shell's name of a value. */
static void
compare_choice(FamilyComparison *it, const char *setting, gsize offset, const char *(*name)(int value))
{
  int present = G_STRUCT_MEMBER(int, it->present, offset), declared = G_STRUCT_MEMBER(int, it->declared, offset);
  if (declared < 0 || g_strcmp0(name(present), name(declared)) == 0)
    return;
  add_family_difference(it, setting, name(present) != NULL ? name(present) : "unset", name(declared));
  G_STRUCT_MEMBER(int, it->changes, offset) = declared;
}

static void
compare_number(FamilyComparison *it, const char *setting, gsize offset, const char *when_zero)
{
  gint32 present = G_STRUCT_MEMBER(gint32, it->present, offset);
  gint32 declared = G_STRUCT_MEMBER(gint32, it->declared, offset);
  if (declared <= 0 || present == declared)
    return;
  g_autofree char *present_text = present > 0 ? g_strdup_printf("%d", present) : g_strdup(when_zero);
  g_autofree char *declared_text = g_strdup_printf("%d", declared);
  add_family_difference(it, setting, present_text, declared_text);
  G_STRUCT_MEMBER(gint32, it->changes, offset) = declared;
}

static const char *
on_or_off(int value)
{
  return value > 0 ? "on" : "off";
}

/* Compares only declared settings: the rest is up to the operator. */
static void
compare_family(TideTableState *state, const char *table, const TideFamilySettings *declared,
               const TideFamilySettings *present)
{
  g_autoptr(TideTableDescription) changes = tide_table_description_new(table);
  TideFamilySettings *family = tide_family_settings_new(declared->name);
  g_ptr_array_add(changes->families, family);
  FamilyComparison it = {.state = state, .present = present, .declared = declared, .changes = family};
  compare_choice(&it, "compression", G_STRUCT_OFFSET(TideFamilySettings, compression), tide_compression_name);
  compare_choice(&it, "bloom filter", G_STRUCT_OFFSET(TideFamilySettings, bloom_filter), tide_bloom_filter_name);
  compare_choice(&it, "block encoding", G_STRUCT_OFFSET(TideFamilySettings, data_block_encoding),
                 tide_block_encoding_name);
  compare_number(&it, "block size", G_STRUCT_OFFSET(TideFamilySettings, block_size_bytes), "unset");
  compare_number(&it, "versions", G_STRUCT_OFFSET(TideFamilySettings, max_versions), "unset");
  compare_number(&it, "time to live (s)", G_STRUCT_OFFSET(TideFamilySettings, time_to_live_s), "for ever");
  compare_choice(&it, "in-memory", G_STRUCT_OFFSET(TideFamilySettings, in_memory), on_or_off);
  if (it.differs)
    g_ptr_array_add(state->remedies, tide_shell_alter_command(changes));
}

static void
add_missing_family(TideTableState *state, const char *table, const TideFamilySettings *declared)
{
  g_ptr_array_add(state->differences, g_strdup_printf("family '%s' is missing", declared->name));
  g_autoptr(TideTableDescription) changes = tide_table_description_new(table);
  g_ptr_array_add(changes->families, tide_family_settings_copy(declared));
  g_ptr_array_add(state->remedies, tide_shell_alter_command(changes));
}

/* All attributes except the scheme, which may be stored elsewhere: read_fingerprint(). */
static void
compare_attributes(TideTableState *state, const TideTableDescription *declared)
{
  g_autoptr(TideTableDescription) changes = tide_table_description_new(declared->name);
  for (guint i = 0; i < declared->attributes->len; i++) {
    const TideAttribute *attribute = &g_array_index(declared->attributes, TideAttribute, i);
    const TideBytes *present = tide_table_description_attribute(state->description, attribute->name);
    if (tide_bytes_equal(attribute->name, TIDE_BYTES_LITERAL(TIDE_FINGERPRINT_ATTRIBUTE)) ||
        (present != NULL && tide_bytes_equal(*present, attribute->value)))
      continue;
    g_autofree char *name = tide_text_printable(attribute->name);
    g_autofree char *value = tide_text_printable(attribute->value);
    g_autofree char *present_value = present != NULL ? tide_text_printable(*present) : g_strdup("unset");
    g_ptr_array_add(state->differences,
                    g_strdup_printf("attribute '%s' is %s, declared is %s", name, present_value, value));
    tide_table_description_add_attribute(changes, attribute->name, attribute->value);
  }
  if (changes->attributes->len > 0)
    g_ptr_array_add(state->remedies, tide_shell_alter_command(changes));
}

static void
check_durability(TideTableState *state, const char *table)
{
  char *remedy = NULL;
  char *risk = tide_table_durability_risk(table, state->description, &remedy);
  if (risk == NULL)
    return;
  g_ptr_array_add(state->differences, risk);
  g_ptr_array_add(state->remedies, remedy);
}

GArray *
tide_table_state_missing_splits(const TideTable *table, const GPtrArray *regions)
{
  GArray *missing = g_array_new(FALSE, FALSE, sizeof(TideBytes));
  for (guint i = 0; table->splits != NULL && i < table->splits->len; i++) {
    TideBytes point = g_array_index(table->splits, TideBytes, i);
    gboolean is_border = FALSE;
    for (guint k = 0; k < regions->len && !is_border; k++)
      is_border = tide_bytes_equal(((const TideRegion *)regions->pdata[k])->start_key, point);
    if (!is_border)
      g_array_append_val(missing, point);
  }
  return missing;
}

static void
compare_splits(TideTableState *state, const TideTable *table)
{
  g_autoptr(GArray) missing = tide_table_state_missing_splits(table, state->regions);
  if (missing->len == 0)
    return;
  GString *points = g_string_new(NULL);
  for (guint i = 0; i < missing->len; i++) {
    TideBytes point = g_array_index(missing, TideBytes, i);
    g_autofree char *printable = tide_bytes_printable(point);
    if (i < SHOWN_POINTS)
      g_string_append_printf(points, "%s'%s'", i > 0 ? ", " : "", printable);
    g_ptr_array_add(state->remedies, tide_shell_split_command(table->name, point));
  }
  g_ptr_array_add(state->differences,
                  g_strdup_printf("%u of %u declared split points are not region boundaries: %s%s", missing->len,
                                  table->splits->len, points->str, missing->len > SHOWN_POINTS ? ", ..." : ""));
  g_string_free(points, TRUE);
}

/* Shows only the first ones: one hole in the regions often causes many faults. */
static void
add_border_fault(TideTableState *state, guint *n_faults, const char *sentence, TideBytes key)
{
  g_autofree char *printable = tide_bytes_printable(key);
  if ((*n_faults)++ < SHOWN_POINTS)
    g_ptr_array_add(state->differences, g_strdup_printf("%s '%s'", sentence, printable));
}

/* The regions must be contiguous from the empty key to the empty key: rows in no region can be neither written nor
 * read, and rows in two are served by either. */
static void
check_regions(TideTableState *state)
{
  TideBytes end = TIDE_BYTES_EMPTY; /* of the regions so far */
  guint n_faults = 0;
  for (guint i = 0; i < state->regions->len; i++) {
    const TideRegion *region = state->regions->pdata[i];
    gboolean all_is_covered = i > 0 && end.len == 0;
    int order = all_is_covered ? -1 : tide_bytes_compare(region->start_key, end);
    if (order > 0)
      add_border_fault(state, &n_faults, "no region holds the rows before", region->start_key);
    else if (order < 0)
      add_border_fault(state, &n_faults, "two regions hold the rows from", region->start_key);
    if (!all_is_covered && (order >= 0 || region->end_key.len == 0 || tide_bytes_compare(region->end_key, end) > 0))
      end = region->end_key;
  }
  if (state->regions->len == 0)
    g_ptr_array_add(state->differences, g_strdup("it has no regions: nothing can be written or read"));
  else if (end.len > 0)
    add_border_fault(state, &n_faults, "no region holds the rows from", end);
  if (n_faults > SHOWN_POINTS)
    g_ptr_array_add(state->differences, g_strdup_printf("%u more such boundaries", n_faults - SHOWN_POINTS));
}

void
tide_table_state_compare(TideTableState *state, const TideTable *table, const TideTableDescription *declared)
{
  gboolean is_shown = state->description->hidden == NULL;
  for (guint i = 0; is_shown && i < declared->families->len; i++) {
    const TideFamilySettings *family = declared->families->pdata[i];
    const TideFamilySettings *present =
        tide_family_settings_find(state->description->families, tide_bytes_of_string(family->name));
    if (present != NULL)
      compare_family(state, declared->name, family, present);
    else
      add_missing_family(state, declared->name, family);
  }
  if (is_shown)
    compare_attributes(state, declared);
  check_durability(state, declared->name);
  check_regions(state);
  compare_splits(state, table);
}

char *
tide_table_state_differences_text(const TideTableState *state)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < state->differences->len; i++)
    g_string_append_printf(text, "%s%s", i > 0 ? "; " : "", (const char *)state->differences->pdata[i]);
  return g_string_free(text, FALSE);
}
