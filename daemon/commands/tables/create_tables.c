/* `tidemark tables create`: creates the declared tables that are missing. */
#include "commands/cli/output.h"
#include "commands/cli/progress.h"
#include "commands/read/gateway_session.h"
#include "commands/tables/split_sample.h"
#include "commands/tables/tables.h"
#include "kafka/kafka_topic_reader.h"
#include "mapping/mapping.h"
#include "model/table/dated_table.h"
#include "tables/declared_table.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/units.h"

#include <stdio.h>

/* ---- split points from messages ---- */

/* Keys kept per region: ten times the number that makes regions even enough. */
#define KEYS_PER_REGION (10u * TIDE_SPLIT_SAMPLE_KEYS_PER_REGION)

/* With TIDE_SPLIT_SAMPLE_KEY_BYTES, at most 25 MiB per table. */
#define MAX_KEYS 100000u

typedef struct Sampling {
  const GPtrArray *tables;          /* borrowed (element-type TideTable) */
  const TideSampleRequest *request; /* borrowed */
  TideMapping *mapping;             /* owned */
  GPtrArray *samples;               /* owned (element-type TideSplitSample), one for each table */
  TideProgress progress;
  guint64 n_messages;
  guint64 n_rejected;
  char *first_reject; /* owned */
} Sampling;

/* The number of regions that the sample divides @table into; 0: none, because it has split points already, or one
 * region. */
static guint32
regions_of(const Sampling *sampling, const TideTable *table)
{
  if (table->splits != NULL && table->splits->len > 0)
    return 0;
  guint32 n_regions = sampling->request->regions > 0 ? sampling->request->regions : table->creation.regions;
  return n_regions > 1 ? n_regions : 0;
}

static gboolean
take_message(const TideMessage *message, gpointer data)
{
  Sampling *sampling = data;
  TideMapped mapped;
  TideReject reject;
  tide_progress_update(&sampling->progress, ++sampling->n_messages, tide_now_us());
  if (!tide_mapping_apply(sampling->mapping, message, &mapped, &reject)) {
    if (sampling->n_rejected++ == 0)
      sampling->first_reject = tide_reject_describe(&reject);
    return TRUE;
  }
  for (guint32 i = 0; i < mapped.n_rows; i++)
    for (guint k = 0; k < sampling->tables->len; k++) {
      const TideTable *table = sampling->tables->pdata[k];
      const TideRow *row = &mapped.rows[i];
      if (table->index == row->table_index && sampling->samples->pdata[k] != NULL)
        tide_split_sample_add(sampling->samples->pdata[k], row->key, row->event_time_ns);
    }
  return TRUE;
}

static gboolean
prepare(Sampling *sampling, const TideConfig *config, GError **error)
{
  guint n_sampled = 0;
  sampling->samples = g_ptr_array_new_with_free_func((GDestroyNotify)tide_split_sample_free);
  for (guint i = 0; i < sampling->tables->len; i++) {
    guint32 n_regions = regions_of(sampling, sampling->tables->pdata[i]);
    n_sampled += n_regions > 0 ? 1 : 0;
    g_ptr_array_add(sampling->samples,
                    n_regions > 0 ? tide_split_sample_new(MIN(n_regions * KEYS_PER_REGION, MAX_KEYS)) : NULL);
  }
  if (n_sampled == 0)
    return tide_fail(error, TIDE_ERROR_USAGE,
                     "no table needs a sample: each has declared split points, or one region; set the number of "
                     "regions with '--regions N', or 'regions: N' in the configuration");
  sampling->mapping = tide_mapping_new(config, TIDE_WIRE_BINARY); /* keys are the same in any protocol */
  return TRUE;
}

static gboolean
read_messages(Sampling *sampling, const TideConfig *config, GError **error)
{
  const char *topic = tide_kafka_reader_topic(&config->kafka, sampling->request->topic, error);
  if (topic == NULL)
    return FALSE;
  TideKafkaReadRequest request = {
      .topic = topic,
      .max_messages = sampling->request->max_messages,
      .timeout_ms = sampling->request->timeout_ms,
  };
  TideKafkaReadResult result;
  tide_progress_begin(&sampling->progress, "messages", request.max_messages, tide_now_us());
  gboolean ok = tide_kafka_read(&config->kafka, &request, take_message, sampling, &result, error);
  tide_progress_end(&sampling->progress);
  if (!ok)
    return FALSE;
  g_autofree char *messages = tide_count_of(result.n_messages, "message", NULL);
  if (result.timed_out)
    tide_say("note: the sample reached its time limit after %s", messages);
  if (result.n_messages > sampling->n_rejected)
    return TRUE;
  if (sampling->n_rejected > 0)
    tide_fail(error, TIDE_ERROR_DATA, "no message of '%s' can be used: %s", topic, sampling->first_reject);
  else
    tide_fail(error, TIDE_ERROR_DATA, "topic '%s' has no messages to sample", topic);
  return FALSE;
}

static GArray *
take_points(Sampling *sampling, guint i)
{
  const TideTable *table = sampling->tables->pdata[i];
  TideSplitSample *sample = sampling->samples->pdata[i];
  guint32 n_regions = regions_of(sampling, table);
  guint64 n_keys = tide_split_sample_n_seen(sample);
  TideSplitTrend trend = tide_split_sample_trend(sample);
  if (trend != TIDE_SPLIT_TREND_NONE)
    tide_say("warning: the keys of '%s' grow with the time: all new rows will be in its %s region, and these points "
             "will only divide old rows. Start the key with a hash, a salt or the device",
             table->name, trend == TIDE_SPLIT_TREND_UP ? "last" : "first");
  GArray *points = tide_split_sample_points(sample, n_regions);
  g_autofree char *split_points = tide_count_of(points->len, "split point", NULL);
  g_autofree char *keys = tide_count_of(n_keys, "key", NULL);
  tide_say("%s: %s out of %s", table->name, split_points, keys);
  if (n_keys < (guint64)n_regions * TIDE_SPLIT_SAMPLE_KEYS_PER_REGION)
    tide_say("warning: few keys: for %u regions, sample at least %u keys", n_regions,
             n_regions * TIDE_SPLIT_SAMPLE_KEYS_PER_REGION);
  if (points->len + 1 < n_regions)
    tide_say("warning: too few distinct keys were found for %u regions", n_regions);
  return points;
}

/* Reads messages, maps them as the daemon does, and computes split points for those of @tables (element-type TideTable)
 * that have no declared ones and more than one region. Reports on standard error the number of keys, and reasons to
 * doubt the points. Returns: (transfer full) (element-type GArray of TideBytes), one for each of @tables. The array
 * frees the points. Errors: USAGE: no topic or no number of regions is known; DATA: no message could be used; those of
 * tide_kafka_read(). */
static GPtrArray *
sample_splits(const TideConfig *config, const GPtrArray *tables, const TideSampleRequest *request, GError **error)
{
  Sampling sampling = {.tables = tables, .request = request};
  GPtrArray *all = NULL;
  if (prepare(&sampling, config, error) && read_messages(&sampling, config, error)) {
    g_autofree char *rejected = tide_count_text(sampling.n_rejected);
    g_autofree char *messages = tide_count_of(sampling.n_messages, "message", NULL);
    if (sampling.n_rejected > 0)
      tide_say("note: %s of %s would be rejected, the first one: %s", rejected, messages, sampling.first_reject);
    all = g_ptr_array_new_with_free_func((GDestroyNotify)tide_splits_free);
    for (guint i = 0; i < tables->len; i++)
      g_ptr_array_add(all, sampling.samples->pdata[i] != NULL ? take_points(&sampling, i) : NULL);
  }
  tide_mapping_free(sampling.mapping);
  g_clear_pointer(&sampling.samples, g_ptr_array_unref);
  g_free(sampling.first_reject);
  return all;
}

/* ---- tables ---- */

typedef struct Creation {
  const TideConfig *config;    /* borrowed */
  TideGatewaySession *session; /* borrowed */
  GPtrArray *commands;         /* owned (element-type utf8): HBase shell commands for tables that the gateway cannot
                                * create */
  TideCommandCall *call;       /* its failure_code: of the last table that was not created */
} Creation;

static guint
n_regions(const TideTable *table)
{
  return table->splits != NULL ? table->splits->len + 1 : 1;
}

/* ---- tables to create
 *   ------------------------------------------------------------------------------------------------ */

/* The tables to create in HBase, without templates. (element-type TideTable, shallow copies that borrow from
 * @tables) */
static GPtrArray *
without_templates(const GPtrArray *tables)
{
  GPtrArray *concrete = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < tables->len; i++) {
    const TideTable *table = tables->pdata[i];
    if (tide_table_is_template(table))
      tide_say("%s: its tables are created with their first row, or here by their own name", table->name);
    else
      g_ptr_array_add(concrete, g_memdup2(table, sizeof *table));
  }
  return concrete;
}

/* ---- a framed gateway ----------------------------------------------------------------------------------------------
 */

/* Stores the fingerprint elsewhere, as the table has no attribute for it. */
static gboolean
keep_fingerprint(Creation *creation, const TideTable *table, GError **error)
{
  TideHBaseClient *client = tide_gateway_session_client(creation->session);
  g_auto(TideFingerprintStore) store = {0};
  tide_fingerprint_store_init(&store, creation->config);
  g_autofree char *fingerprint = tide_fingerprint_text(table, creation->config->names);
  TideFingerprintLocation location = TIDE_FINGERPRINT_NOWHERE;
  if (!tide_fingerprint_store_create_table(&store, client, tide_gateway_session_admin_deadline_us(creation->session),
                                           error) ||
      !tide_fingerprint_store_write(&store, client, table->name, fingerprint, &location, error))
    return FALSE;
  printf("%s: its key fingerprint is stored %s, because gateway '%s' is framed and corrupts attributes\n", table->name,
         tide_fingerprint_locations[location].text, tide_hbase_client_name(client));
  return TRUE;
}

/* ---- creating ------------------------------------------------------------------------------------------------------
 */

static gboolean
create_missing(Creation *creation, const TideTable *table, GError **error)
{
  TideTableRequest request = {.table = table,
                              .names = creation->config->names,
                              .deadline_us = tide_gateway_session_admin_deadline_us(creation->session)};
  TideTableCreation result;
  tide_progress_step("creating table '%s'", table->name);
  gboolean is_there =
      tide_declared_table_create(tide_gateway_session_client(creation->session), &request, &result, error);
  tide_progress_step_end();
  if (!is_there)
    return FALSE;
  if (result == TIDE_TABLE_WAS_THERE) {
    printf("%s: exists\n", table->name);
    return TRUE;
  }
  g_autofree char *families = tide_count_of(table->families->len, "family", "families");
  g_autofree char *regions = tide_count_of(n_regions(table), "region", NULL);
  printf("%s: created with %s and %s\n", table->name, families, regions);
  fflush(stdout);
  return result == TIDE_TABLE_CREATED || keep_fingerprint(creation, table, error);
}

/* Some tables cannot be created correctly through a framed gateway: the operator creates them in the shell. */
static gboolean
create_table(Creation *creation, const TideTable *table, GError **error)
{
  TideHBaseClient *client = tide_gateway_session_client(creation->session);
  gboolean framed = tide_gateway_session_mode(creation->session).framing == TIDE_FRAMING_FRAMED;
  if (!framed || !tide_declared_table_needs_unframed(table))
    return create_missing(creation, table, error);
  gboolean is_there = FALSE;
  if (!tide_hbase_client_table_exists(client, table->name, tide_gateway_session_deadline_us(creation->session),
                                      &is_there, error))
    return FALSE;
  if (is_there) {
    printf("%s: exists\n", table->name);
    return TRUE;
  }
  printf("%s: not created: gateway '%s' is framed and corrupts split points and attributes\n", table->name,
         tide_hbase_client_name(client));
  g_ptr_array_add(creation->commands, tide_declared_table_create_command(table, creation->config->names));
  creation->call->failure_code = TIDE_EXIT_UNAVAILABLE;
  return TRUE;
}

/* A table that cannot be created does not prevent the others. */
static gboolean
create_planned(TideCommandCall *call, const GPtrArray *tables, GError **error)
{
  g_autoptr(TideGatewaySession) session = tide_gateway_session_open(call->config, TIDE_GATEWAY_PREFER_UNFRAMED, error);
  if (session == NULL)
    return FALSE;
  g_autoptr(GPtrArray) commands = g_ptr_array_new_with_free_func(g_free);
  Creation creation = {.config = call->config, .call = call, .session = session, .commands = commands};
  for (guint i = 0; i < tables->len; i++) {
    const TideTable *table = tables->pdata[i];
    g_autoptr(GError) fault = NULL;
    if (create_table(&creation, table, &fault))
      continue;
    g_prefix_error(&fault, "cannot create '%s': ", table->name);
    call->failure_code = tide_command_fail(call->command, fault);
    if (!tide_hbase_client_is_open(tide_gateway_session_client(session)))
      break;
  }
  if (commands->len > 0)
    printf("\nTo create them, use 'hbase shell' (or set 'hbase.gateways' to an unframed gateway):\n");
  for (guint i = 0; i < commands->len; i++)
    printf("%s\n", (const char *)commands->pdata[i]);
  return call->failure_code == TIDE_EXIT_OK;
}

gboolean
tide_tables_create(TideCommandCall *call, const GPtrArray *tables, const TideCreateOptions *options, GError **error)
{
  g_autoptr(GPtrArray) concrete = without_templates(tables);
  g_autoptr(GPtrArray) points = NULL;
  if (options->sample.max_messages > 0) {
    points = sample_splits(call->config, concrete, &options->sample, error);
    if (points == NULL)
      return FALSE;
  }
  for (guint i = 0; i < concrete->len; i++)
    if (points != NULL && points->pdata[i] != NULL)
      ((TideTable *)concrete->pdata[i])->splits = points->pdata[i];
  if (!options->dry_run)
    return create_planned(call, concrete, error);
  for (guint i = 0; i < concrete->len; i++) {
    g_autofree char *command = tide_declared_table_create_command(concrete->pdata[i], call->config->names);
    printf("%s\n", command);
  }
  return TRUE;
}
