/* `tidemark tables show`: compares tables in HBase with their declaration. */
#include "commands/cli/listing.h"
#include "commands/cli/progress.h"
#include "commands/read/gateway_session.h"
#include "commands/tables/tables.h"
#include "thrift/client/shell_command.h"

/* ---- one table, as a line ------------------------------------------------------------------------------------------
 */

static void
append_word(GString *text, const char *word)
{
  if (word != NULL && strcmp(word, "NONE") != 0)
    g_string_append_printf(text, " %s", word);
}

/* "M GZ FAST_DIFF 2 versions; L": settings that differ from HBase's default; the bloom filter is shown unless it is by
 * row. */
static char *
families_text(const TideTableDescription *description)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; description != NULL && i < description->families->len; i++) {
    const TideFamilySettings *family = description->families->pdata[i];
    g_autofree char *name = tide_text_printable(tide_bytes_of_string(family->name));
    const char *bloom_filter = tide_bloom_filter_name(family->bloom_filter);
    g_string_append_printf(text, "%s%s", i > 0 ? "; " : "", name);
    append_word(text, tide_compression_name(family->compression));
    append_word(text, tide_block_encoding_name(family->data_block_encoding));
    if (bloom_filter != NULL && strcmp(bloom_filter, "ROW") != 0)
      g_string_append_printf(text, " bloom %s", bloom_filter);
    if (family->max_versions > 1)
      g_string_append_printf(text, " %d versions", family->max_versions);
    if (family->time_to_live_s > 0)
      g_string_append_printf(text, " ttl %d s", family->time_to_live_s);
    if (family->in_memory > 0)
      g_string_append(text, " in memory");
  }
  return g_string_free(text, FALSE);
}

/* The number of declared split points that are region boundaries; for a missing table, none. */
static char *
splits_text(const TideTable *table, const TideTableState *state)
{
  guint n_declared = table->splits != NULL ? table->splits->len : 0;
  if (n_declared == 0)
    return g_strdup("none declared");
  if (!state->exists)
    return g_strdup_printf("0 of %u", n_declared);
  g_autoptr(GArray) missing = tide_table_state_missing_splits(table, state->regions);
  return g_strdup_printf("%u of %u", n_declared - missing->len, n_declared);
}

/* The comparison of the stored key with the declared one. */
static const char *const verdict_texts[] = {
    [TIDE_FINGERPRINT_SAME] = "same",
    [TIDE_FINGERPRINT_NOT_STORED] = "not stored",
    [TIDE_FINGERPRINT_CHANGED_WHILE_EMPTY] = "changed while empty",
    [TIDE_FINGERPRINT_CHANGED] = "CHANGED",
};
G_STATIC_ASSERT(G_N_ELEMENTS(verdict_texts) == TIDE_FINGERPRINT_N_VERDICTS);

static void
add_state(TideListing *listing, const TideTable *table, const TideTableState *state)
{
  g_autofree char *families = families_text(state->description);
  g_autofree char *n_regions = state->exists ? g_strdup_printf("%u", state->regions->len) : NULL;
  g_autofree char *splits = splits_text(table, state);
  g_autofree char *differences =
      state->exists ? tide_table_state_differences_text(state) : g_strdup("missing: run 'tidemark tables create'");
  (void)tide_listing_add(listing,
                         (const char *[]){table->name, state->exists ? "yes" : "no", families, n_regions, splits,
                                          state->exists ? verdict_texts[state->fingerprint.verdict] : NULL,
                                          differences[0] != '\0' ? differences : "none"});
}

/* ---- one table, as JSON --------------------------------------------------------------------------------------------
 */

static void
append_json_choice(TideBuffer *text, const char *member, const char *value)
{
  if (value != NULL)
    tide_json_text(text, member, value);
}

static void
append_json_number(TideBuffer *text, const char *member, gint32 value)
{
  if (value > 0)
    tide_json_number(text, member, value);
}

static void
append_json_family(TideBuffer *text, const TideFamilySettings *family)
{
  tide_json_open(text, NULL, '{');
  tide_json_shown_text(text, "family", family->name);
  append_json_choice(text, "compression", tide_compression_name(family->compression));
  append_json_choice(text, "bloom", tide_bloom_filter_name(family->bloom_filter));
  append_json_choice(text, "encoding", tide_block_encoding_name(family->data_block_encoding));
  append_json_number(text, "block_size_bytes", family->block_size_bytes);
  append_json_number(text, "versions", family->max_versions);
  append_json_number(text, "ttl_s", family->time_to_live_s);
  if (family->in_memory >= 0)
    tide_json_bool(text, "in_memory", family->in_memory > 0);
  tide_json_close(text, "}");
}

static void
append_json_description(TideBuffer *text, const TideTableDescription *description)
{
  tide_json_open(text, "families", '[');
  for (guint i = 0; i < description->families->len; i++)
    append_json_family(text, description->families->pdata[i]);
  tide_json_close(text, "]");
  tide_json_open(text, "attributes", '[');
  for (guint i = 0; i < description->attributes->len; i++) {
    const TideAttribute *attribute = &g_array_index(description->attributes, TideAttribute, i);
    tide_json_open(text, NULL, '{');
    tide_json_shown(text, "name", attribute->name);
    tide_json_shown(text, "value", attribute->value);
    tide_json_close(text, "}");
  }
  tide_json_close(text, "]");
  append_json_choice(text, "durability", tide_durability_name(description->durability));
}

static void
append_json_point(TideBuffer *text, TideBytes point)
{
  tide_json_open(text, NULL, '{');
  tide_json_shown_and_hex(text, "key", point);
  tide_json_close(text, "}");
}

/* The table's split points, the declared ones that are missing, and its stored key. */
static void
append_json_regions(TideBuffer *text, const TideTable *table, const TideTableState *state)
{
  const TideFingerprintFinding *fingerprint = &state->fingerprint;
  tide_json_number(text, "regions", state->regions->len);
  tide_json_open(text, "borders", '[');
  for (guint i = 1; i < state->regions->len; i++)
    append_json_point(text, ((const TideRegion *)state->regions->pdata[i])->start_key);
  g_autoptr(GArray) missing = tide_table_state_missing_splits(table, state->regions);
  tide_json_close(text, "]");
  tide_json_open(text, "missing_splits", '[');
  for (guint i = 0; i < missing->len; i++)
    append_json_point(text, g_array_index(missing, TideBytes, i));
  tide_json_close(text, "]");
  tide_json_open(text, "scheme", '{');
  tide_json_text(text, "verdict", verdict_texts[fingerprint->verdict]);
  tide_json_shown_text(text, "declared", fingerprint->declared);
  if (fingerprint->stored.text != NULL) {
    tide_json_shown_text(text, "stored", fingerprint->stored.text);
    tide_json_shown_text(text, "place", tide_fingerprint_locations[fingerprint->stored.location].text);
  }
  tide_json_close(text, "}");
}

static void
append_json_texts(TideBuffer *text, const char *member, const GPtrArray *texts)
{
  tide_json_open(text, member, '[');
  for (guint i = 0; i < texts->len; i++)
    tide_json_shown_text(text, NULL, texts->pdata[i]);
  tide_json_close(text, "]");
}

static void
print_state_json(const TideTable *table, const TideTableState *state)
{
  g_auto(TideBuffer) text = {0};
  tide_json_open(&text, NULL, '{');
  tide_json_shown_text(&text, "table", table->name);
  tide_json_bool(&text, "exists", state->exists);
  tide_json_number(&text, "declared_splits", table->splits != NULL ? table->splits->len : 0);
  if (state->exists) {
    append_json_description(&text, state->description);
    append_json_regions(&text, table, state);
  }
  append_json_texts(&text, "differences", state->differences);
  append_json_texts(&text, "remedies", state->remedies);
  tide_json_print_line(&text, stdout);
}

/* ---- all tables
 * ---------------------------------------------------------------------------------------------------- */

/* State while the tables are printed. */
typedef struct Show {
  const TideConfig *config;
  TideOutputFormat format;
  TideListing *listing; /* borrowed; with table and CSV */
  GPtrArray *remedies;  /* borrowed (element-type utf8): commands of HBase's shell */
  gboolean differs;
} Show;

static gboolean
show_table(Show *show, TideGatewaySession *session, const TideTable *table, GError **error)
{
  tide_progress_step("reading table '%s'", table->name);
  g_autoptr(TideTableState) state = tide_table_state_read(session, show->config, table, error);
  tide_progress_step_end();
  if (state == NULL) {
    g_prefix_error(error, "cannot describe '%s': ", table->name);
    return FALSE;
  }
  show->differs = show->differs || !state->exists || state->differences->len > 0;
  if (show->format == TIDE_OUTPUT_JSON)
    print_state_json(table, state);
  else
    add_state(show->listing, table, state);
  for (guint i = 0; i < state->remedies->len; i++)
    g_ptr_array_add(show->remedies, g_strdup(state->remedies->pdata[i]));
  return TRUE;
}

void
tide_tables_print_remedies(const GPtrArray *remedies)
{
  if (remedies->len == 0)
    return;
  printf("\nTo change them to their declaration, use 'hbase shell':\n");
  for (guint i = 0; i < remedies->len; i++)
    printf("  %s\n", (const char *)remedies->pdata[i]);
}

gboolean
tide_tables_show(TideCommandCall *call, const GPtrArray *tables, TideOutputFormat format, GError **error)
{
  static const TideListingColumn columns[] = {{.name = "TABLE"},      {.name = "EXISTS", .judges = TRUE},
                                              {.name = "FAMILIES"},   {.name = "REGIONS", .right = TRUE},
                                              {.name = "SPLITS"},     {.name = "KEY"},
                                              {.name = "DIFFERENCES"}};
  g_autoptr(TideGatewaySession) session = tide_gateway_session_open(call->config, TIDE_GATEWAY_ANY, error);
  if (session == NULL)
    return FALSE;
  g_autoptr(TideListing) listing =
      tide_listing_new(stdout, format, tide_colour_wanted(stdout), columns, G_N_ELEMENTS(columns));
  g_autoptr(GPtrArray) remedies = g_ptr_array_new_with_free_func(g_free);
  Show show = {.config = call->config, .format = format, .listing = listing, .remedies = remedies};
  g_autoptr(GPtrArray) instances = tide_table_instances(session, call->config, tables, error);
  gboolean ok = instances != NULL;
  for (guint i = 0; ok && i < instances->len; i++)
    ok = show_table(&show, session, instances->pdata[i], error);
  if (format != TIDE_OUTPUT_JSON)
    (void)tide_listing_finish(listing);
  if (!ok)
    return FALSE;
  if (format == TIDE_OUTPUT_TABLE)
    tide_tables_print_remedies(remedies);
  call->exit_code = show.differs ? TIDE_EXIT_FINDINGS : TIDE_EXIT_OK;
  return TRUE;
}
