#include "commands/tables/sample_splits.h"

#include "commands/cli/output.h"
#include "commands/cli/progress.h"
#include "commands/cli/time_argument.h"
#include "commands/tables/split_sample.h"
#include "kafka/kafka_topic_reader.h"
#include "mapping/mapping.h"
#include "util/clock.h"
#include "util/error.h"

#include <stdio.h>

/* Keys kept for each region: ten times what chance leaves even enough. */
#define KEYS_PER_REGION (10u * TIDE_SPLIT_SAMPLE_KEYS_PER_REGION)

/* With TIDE_SPLIT_SAMPLE_KEY_BYTES, 25 MiB for each table at the most. */
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

/* Into how many regions the sample divides @table; 0: not at all, because it has split points already, or one region.
 */
static guint32
regions_of(const Sampling *sampling, const TideTable *table)
{
  if (table->splits != NULL && table->splits->len > 0)
    return 0;
  guint32 n_regions = sampling->request->regions > 0 ? sampling->request->regions : table->creation.regions;
  return n_regions > 1 ? n_regions : 0;
}

static void
add_row(Sampling *sampling, const TideRow *row)
{
  for (guint i = 0; i < sampling->tables->len; i++) {
    const TideTable *table = sampling->tables->pdata[i];
    if (table->index == row->table_index && sampling->samples->pdata[i] != NULL)
      tide_split_sample_add(sampling->samples->pdata[i], row->key, row->event_time_ns);
  }
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
    add_row(sampling, &mapped.rows[i]);
  return TRUE;
}

static void
free_sample(gpointer sample)
{
  tide_split_sample_free(sample);
}

static gboolean
prepare(Sampling *sampling, const TideConfig *config, GError **error)
{
  guint n_sampled = 0;
  sampling->samples = g_ptr_array_new_with_free_func(free_sample);
  for (guint i = 0; i < sampling->tables->len; i++) {
    guint32 n_regions = regions_of(sampling, sampling->tables->pdata[i]);
    n_sampled += n_regions > 0 ? 1 : 0;
    g_ptr_array_add(sampling->samples,
                    n_regions > 0 ? tide_split_sample_new(MIN(n_regions * KEYS_PER_REGION, MAX_KEYS)) : NULL);
  }
  if (n_sampled == 0) {
    g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_USAGE,
                        "there is no table to sample for: each has split points by its declaration, or one region; say "
                        "how many with '--regions N', or 'regions: N' in the configuration");
    return FALSE;
  }
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
  g_autofree char *messages = tide_count_text(result.n_messages);
  if (result.timed_out)
    tide_say("note: the sample was cut off by its time, after %s messages", messages);
  if (result.n_messages > sampling->n_rejected)
    return TRUE;
  if (sampling->n_rejected > 0)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA, "no message of '%s' can be used: %s", topic,
                sampling->first_reject);
  else
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA, "topic '%s' has no messages to sample", topic);
  return FALSE;
}

static void
print_trend(const TideTable *table, TideSplitTrend trend)
{
  if (trend == TIDE_SPLIT_TREND_NONE)
    return;
  tide_say(
      "warning: the keys of '%s' move with the time: all that comes will fall into its %s region, and these points "
      "will divide old rows only. Lead the key with a hash, a salt or the sensor",
      table->name, trend == TIDE_SPLIT_TREND_UP ? "last" : "first");
}

static GArray *
take_points(Sampling *sampling, guint i)
{
  const TideTable *table = sampling->tables->pdata[i];
  TideSplitSample *sample = sampling->samples->pdata[i];
  guint32 n_regions = regions_of(sampling, table);
  guint64 n_keys = tide_split_sample_n_seen(sample);
  print_trend(table, tide_split_sample_trend(sample));
  GArray *points = tide_split_sample_points(sample, n_regions);
  g_autofree char *keys = tide_count_text(n_keys);
  tide_say("%s: %u split points out of %s keys", table->name, points->len, keys);
  if (n_keys < (guint64)n_regions * TIDE_SPLIT_SAMPLE_KEYS_PER_REGION)
    tide_say("warning: that is few: for %u regions, sample %u keys and more", n_regions,
             n_regions * TIDE_SPLIT_SAMPLE_KEYS_PER_REGION);
  if (points->len + 1 < n_regions)
    tide_say("warning: too few different keys were seen for %u regions", n_regions);
  return points;
}

static void
clear(Sampling *sampling)
{
  tide_mapping_free(sampling->mapping);
  g_clear_pointer(&sampling->samples, g_ptr_array_unref);
  g_free(sampling->first_reject);
}

static void
free_points(gpointer points)
{
  if (points != NULL)
    tide_splits_free(points);
}

GPtrArray *
tide_sample_splits(const TideConfig *config, const GPtrArray *tables, const TideSampleRequest *request, GError **error)
{
  Sampling sampling = {.tables = tables, .request = request};
  GPtrArray *all = NULL;
  if (prepare(&sampling, config, error) && read_messages(&sampling, config, error)) {
    g_autofree char *rejected = tide_count_text(sampling.n_rejected), *messages = tide_count_text(sampling.n_messages);
    if (sampling.n_rejected > 0)
      tide_say("note: %s of %s messages would be rejected, the first one: %s", rejected, messages,
               sampling.first_reject);
    all = g_ptr_array_new_with_free_func(free_points);
    for (guint i = 0; i < tables->len; i++)
      g_ptr_array_add(all, sampling.samples->pdata[i] != NULL ? take_points(&sampling, i) : NULL);
  }
  clear(&sampling);
  return all;
}
