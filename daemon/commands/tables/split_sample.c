#include "commands/tables/split_sample.h"

/* Any fixed number, so that the same keys give the same points. */
#define SEED 0x7469646du

/* The keys show a trend if this share of the later half is on one side of nearly all earlier keys; without a trend it
 * is a twentieth. */
#define TREND_SHARE 0.9
#define NEARLY_ALL 0.95

/* Fewer keys do not show a trend. */
#define TREND_MIN_KEYS 20u

typedef struct SampledKey {
  TideBytes key; /* owned */
  gint64 event_time_ns;
} SampledKey;

struct TideSplitSample {
  GArray *keys; /* owned (element-type SampledKey) */
  guint32 max_keys;
  guint64 n_seen;
  GRand *random; /* owned */
};

static void
clear_key(gpointer data)
{
  g_free((gpointer)((SampledKey *)data)->key.data);
}

TideSplitSample *
tide_split_sample_new(guint32 max_keys)
{
  TideSplitSample *sample = g_new0(TideSplitSample, 1);
  sample->keys = g_array_new(FALSE, FALSE, sizeof(SampledKey));
  g_array_set_clear_func(sample->keys, clear_key);
  sample->max_keys = MAX(max_keys, 1);
  sample->random = g_rand_new_with_seed(SEED);
  return sample;
}

void
tide_split_sample_free(TideSplitSample *sample)
{
  if (sample == NULL)
    return;
  g_array_unref(sample->keys);
  g_rand_free(sample->random);
  g_free(sample);
}

/* A random whole number below @below. */
static guint64
random_below(GRand *random, guint64 below)
{
  guint64 bits = (guint64)g_rand_int(random) << 32 | g_rand_int(random);
  return bits % below; /* biased by less than one in 2^32 for any possible sample */
}

void
tide_split_sample_add(TideSplitSample *sample, TideBytes key, gint64 event_time_ns)
{
  guint64 slot = sample->n_seen++;
  if (sample->keys->len >= sample->max_keys) {
    slot = random_below(sample->random, sample->n_seen);
    if (slot >= sample->max_keys)
      return;
  }
  gsize len = MIN(key.len, TIDE_SPLIT_SAMPLE_KEY_BYTES);
  SampledKey kept = {.key = tide_bytes(g_memdup2(key.data, len), len), .event_time_ns = event_time_ns};
  if (slot == sample->keys->len) {
    g_array_append_val(sample->keys, kept);
    return;
  }
  SampledKey *replaced = &g_array_index(sample->keys, SampledKey, slot);
  clear_key(replaced);
  *replaced = kept;
}

guint64
tide_split_sample_n_seen(const TideSplitSample *sample)
{
  return sample->n_seen;
}

static int
compare_keys(gconstpointer a, gconstpointer b)
{
  return tide_bytes_compare(((const SampledKey *)a)->key, ((const SampledKey *)b)->key);
}

static int
compare_times(gconstpointer a, gconstpointer b)
{
  gint64 left = ((const SampledKey *)a)->event_time_ns, right = ((const SampledKey *)b)->event_time_ns;
  return (left > right) - (left < right);
}

static TideBytes
key_at(const TideSplitSample *sample, guint i)
{
  return g_array_index(sample->keys, SampledKey, i).key;
}

/* The shortest prefix of @key that still sorts after @before, which sorts before @key. */
static TideBytes
shortest_between(TideBytes before, TideBytes key)
{
  gsize common = 0;
  while (common < before.len && before.data[common] == key.data[common])
    common++;
  return tide_bytes(key.data, common + 1);
}

GArray *
tide_split_sample_points(TideSplitSample *sample, guint32 n_regions)
{
  GArray *points = g_array_new(FALSE, FALSE, sizeof(TideBytes));
  guint n_keys = sample->keys->len;
  guint last = 0; /* the key after the last point; the first key has no predecessor to be divided from */
  g_array_sort(sample->keys, compare_keys);
  for (guint32 region = 1; region < n_regions; region++) {
    guint at = (guint)((guint64)n_keys * region / n_regions);
    at = MAX(at, last + 1);
    while (at < n_keys && tide_bytes_equal(key_at(sample, at - 1), key_at(sample, at)))
      at++;
    if (at >= n_keys)
      break;
    TideBytes point = shortest_between(key_at(sample, at - 1), key_at(sample, at));
    TideBytes copy = tide_bytes(g_memdup2(point.data, point.len), point.len);
    g_array_append_val(points, copy);
    last = at;
  }
  return points;
}

TideSplitTrend
tide_split_sample_trend(TideSplitSample *sample)
{
  guint n_keys = sample->keys->len, half = n_keys / 2;
  if (n_keys < TREND_MIN_KEYS)
    return TIDE_SPLIT_TREND_NONE;
  g_array_sort(sample->keys, compare_times);
  SampledKey *keys = (SampledKey *)(gpointer)sample->keys->data;
  if (keys[0].event_time_ns == keys[n_keys - 1].event_time_ns)
    return TIDE_SPLIT_TREND_NONE;
  qsort(keys, half, sizeof *keys, compare_keys);
  TideBytes nearly_last = keys[(guint)((double)(half - 1) * NEARLY_ALL)].key;
  TideBytes nearly_first = keys[(guint)((double)(half - 1) * (1 - NEARLY_ALL))].key;
  guint n_behind = 0, n_before = 0;
  for (guint i = half; i < n_keys; i++) {
    n_behind += tide_bytes_compare(keys[i].key, nearly_last) > 0 ? 1 : 0;
    n_before += tide_bytes_compare(keys[i].key, nearly_first) < 0 ? 1 : 0;
  }
  double wanted = (double)(n_keys - half) * TREND_SHARE;
  if (n_behind >= wanted)
    return TIDE_SPLIT_TREND_UP;
  return n_before >= wanted ? TIDE_SPLIT_TREND_DOWN : TIDE_SPLIT_TREND_NONE;
}
