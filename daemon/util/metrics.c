#include "util/metrics.h"

#include "util/bytes.h"
#include "util/lock.h"
#include "util/number_text.h"

#include <math.h>

/* A cache line, so that shards of different threads never share one. */
#define SHARD_ALIGNMENT_BYTES 64

#define NAME_CHARACTERS G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_:"

/* One more bucket than bounds: the last is +Inf. Bucket counts are not cumulative here; the text format's are. */
struct TideHistogram {
  const double *bounds;
  gsize n_bounds;
  gsize last_bucket; /* the writer's: similar values follow each other, so the next search starts there */
  _Atomic double sum;
  _Atomic guint64 buckets[];
};

typedef enum MetricType { COUNTER, COUNTER_MILLI, GAUGE, GAUGE_MILLI, HISTOGRAM } MetricType;

static const struct {
  const char *name;  /* in Prometheus's format */
  gboolean is_milli; /* set like a gauge, stored in thousandths */
} types[] = {
    [COUNTER] = {"counter"},     [COUNTER_MILLI] = {"counter", .is_milli = TRUE},
    [GAUGE] = {"gauge"},         [GAUGE_MILLI] = {"gauge", .is_milli = TRUE},
    [HISTOGRAM] = {"histogram"},
};
G_STATIC_ASSERT(G_N_ELEMENTS(types) == HISTOGRAM + 1);

/* One set of labels of a family. */
typedef struct Series {
  char *labels; /* owned; "" for none */
  TideGauge gauge;
  GPtrArray *shards; /* owned: TideCounter or TideHistogram, from g_aligned_alloc0 */
} Series;

typedef struct Family {
  const char *name;
  const char *help;
  MetricType type;
  const double *bounds; /* for a histogram */
  gsize n_bounds;
  GPtrArray *series; /* owned, by labels */
} Family;

struct TideMetrics {
  TideMutex lock;
  GPtrArray *families; /* under lock; owned, by name */
};

static void
series_free(gpointer data)
{
  Series *series = data;
  g_free(series->labels);
  g_ptr_array_unref(series->shards);
  g_free(series);
}

static void
family_free(gpointer data)
{
  Family *family = data;
  g_ptr_array_unref(family->series);
  g_free(family);
}

TideMetrics *
tide_metrics_new(void)
{
  TideMetrics *metrics = g_new0(TideMetrics, 1);
  tide_mutex_init(&metrics->lock);
  metrics->families = g_ptr_array_new_with_free_func(family_free);
  return metrics;
}

void
tide_metrics_free(TideMetrics *metrics)
{
  if (metrics == NULL)
    return;
  g_ptr_array_unref(metrics->families);
  tide_mutex_clear(&metrics->lock);
  g_free(metrics);
}

/* The index of @name, or where it belongs in the order of names. */
static guint
family_index_locked(const TideMetrics *metrics, const char *name)
{
  guint index = 0;
  while (index < metrics->families->len && strcmp(((const Family *)metrics->families->pdata[index])->name, name) < 0)
    index++;
  return index;
}

static Family *
find_family_locked(const TideMetrics *metrics, const char *name)
{
  guint index = family_index_locked(metrics, name);
  if (index == metrics->families->len)
    return NULL;
  Family *family = metrics->families->pdata[index];
  return strcmp(family->name, name) == 0 ? family : NULL;
}

static Family *
get_family_locked(TideMetrics *metrics, const char *name, const char *help, MetricType type)
{
  Family *family = find_family_locked(metrics, name);
  if (family != NULL) {
    if (family->type != type) /* a programming error: two meanings for one name */
      g_error("metric '%s' is registered with two types", name);
    return family;
  }
  if (strspn(name, NAME_CHARACTERS) != strlen(name) || *name == '\0' || g_ascii_isdigit(*name))
    g_error("metric '%s' has a name that Prometheus would reject", name);
  family = g_new0(Family, 1);
  family->name = name;
  family->help = help;
  family->type = type;
  family->series = g_ptr_array_new_with_free_func(series_free);
  g_ptr_array_insert(metrics->families, (int)family_index_locked(metrics, name), family);
  return family;
}

/* Binary search for the first series not before @labels: loading many files creates many series. */
static guint
series_index(const Family *family, const char *labels)
{
  guint low = 0, high = family->series->len;
  while (low < high) {
    guint middle = low + (high - low) / 2;
    if (strcmp(((const Series *)family->series->pdata[middle])->labels, labels) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static Series *
get_series(Family *family, const char *labels)
{
  const char *wanted = labels != NULL ? labels : "";
  guint index = series_index(family, wanted);
  Series *series = index < family->series->len ? family->series->pdata[index] : NULL;
  if (series != NULL && strcmp(series->labels, wanted) == 0)
    return series;
  series = g_new0(Series, 1);
  series->labels = g_strdup(wanted);
  series->shards = g_ptr_array_new_with_free_func(g_aligned_free);
  g_ptr_array_insert(family->series, (int)index, series);
  return series;
}

char *
tide_metrics_label(const char *name, const char *value)
{
  g_autofree char *valid = g_utf8_make_valid(value, -1); /* one byte that is not UTF-8 fails the whole scrape */
  GString *label = g_string_new(name);
  g_string_append(label, "=\"");
  for (const char *at = valid; *at != '\0'; at++) {
    if (*at == '\n')
      g_string_append(label, "\\n");
    else if (*at == '"' || *at == '\\')
      g_string_append_printf(label, "\\%c", *at);
    else
      g_string_append_c(label, *at);
  }
  g_string_append_c(label, '"');
  return g_string_free(label, FALSE);
}

TideCounter *
tide_metrics_counter(TideMetrics *metrics, const char *name, const char *help, const char *labels)
{
  TideCounter *counter = g_aligned_alloc0(1, sizeof *counter, SHARD_ALIGNMENT_BYTES);
  tide_mutex_lock(&metrics->lock);
  Family *family = get_family_locked(metrics, name, help, COUNTER);
  g_ptr_array_add(get_series(family, labels)->shards, counter);
  tide_mutex_unlock(&metrics->lock);
  return counter;
}

/* @first_value: for a new series */
static TideGauge *
get_gauge(TideMetrics *metrics, const char *name, const char *help, const char *labels, MetricType type,
          gint64 first_value)
{
  tide_mutex_lock(&metrics->lock);
  Family *family = get_family_locked(metrics, name, help, type);
  guint n_before = family->series->len;
  TideGauge *gauge = &get_series(family, labels)->gauge;
  if (family->series->len > n_before)
    tide_gauge_set(gauge, first_value);
  tide_mutex_unlock(&metrics->lock);
  return gauge;
}

TideGauge *
tide_metrics_gauge(TideMetrics *metrics, const char *name, const char *help, const char *labels)
{
  return get_gauge(metrics, name, help, labels, GAUGE, 0);
}

TideGauge *
tide_metrics_gauge_milli(TideMetrics *metrics, const char *name, const char *help, const char *labels)
{
  return get_gauge(metrics, name, help, labels, GAUGE_MILLI, 0);
}

TideGauge *
tide_metrics_gauge_unknown(TideMetrics *metrics, const char *name, const char *help, const char *labels)
{
  return get_gauge(metrics, name, help, labels, GAUGE, TIDE_GAUGE_UNKNOWN);
}

TideGauge *
tide_metrics_gauge_milli_unknown(TideMetrics *metrics, const char *name, const char *help, const char *labels)
{
  return get_gauge(metrics, name, help, labels, GAUGE_MILLI, TIDE_GAUGE_UNKNOWN);
}

TideGauge *
tide_metrics_counter_milli(TideMetrics *metrics, const char *name, const char *help, const char *labels)
{
  return get_gauge(metrics, name, help, labels, COUNTER_MILLI, 0);
}

void
tide_metrics_show(TideMetrics *metrics, const char *name, const char *help, GArray *shown)
{
  tide_mutex_lock(&metrics->lock);
  Family *family = get_family_locked(metrics, name, help, GAUGE);
  g_ptr_array_set_size(family->series, 0);
  for (guint i = 0; i < shown->len; i++) {
    TideShown *one = &g_array_index(shown, TideShown, i);
    tide_gauge_set(&get_series(family, one->labels)->gauge, one->value);
    g_free(one->labels);
  }
  tide_mutex_unlock(&metrics->lock);
  g_array_unref(shown);
}

TideHistogram *
tide_metrics_histogram(TideMetrics *metrics, const char *name, const char *help, const char *labels,
                       const double *bounds, gsize n_bounds)
{
  gsize size = sizeof(TideHistogram) + (n_bounds + 1) * sizeof(_Atomic guint64);
  gsize n_lines = (size + SHARD_ALIGNMENT_BYTES - 1) / SHARD_ALIGNMENT_BYTES;
  TideHistogram *histogram = g_aligned_alloc0(n_lines, SHARD_ALIGNMENT_BYTES, SHARD_ALIGNMENT_BYTES);
  histogram->bounds = bounds;
  histogram->n_bounds = n_bounds;

  tide_mutex_lock(&metrics->lock);
  Family *family = get_family_locked(metrics, name, help, HISTOGRAM);
  if (family->series->len > 0 &&
      (family->n_bounds != n_bounds || memcmp(family->bounds, bounds, n_bounds * sizeof *bounds) != 0))
    g_error("histogram '%s' is registered with two sets of bounds", name);
  family->bounds = bounds;
  family->n_bounds = n_bounds;
  g_ptr_array_add(get_series(family, labels)->shards, histogram);
  tide_mutex_unlock(&metrics->lock);
  return histogram;
}

void
tide_histogram_observe(TideHistogram *histogram, double value)
{
  if (isnan(value)) /* would make the sum NaN for ever */
    return;
  gsize bucket = histogram->last_bucket;
  while (bucket > 0 && value <= histogram->bounds[bucket - 1])
    bucket--;
  while (bucket < histogram->n_bounds && value > histogram->bounds[bucket])
    bucket++;
  histogram->last_bucket = bucket;
  /* The owner is the only writer, so load and store need not be one atomic step. */
  guint64 count = atomic_load_explicit(&histogram->buckets[bucket], memory_order_relaxed);
  atomic_store_explicit(&histogram->buckets[bucket], count + 1, memory_order_relaxed);
  double sum = atomic_load_explicit(&histogram->sum, memory_order_relaxed);
  atomic_store_explicit(&histogram->sum, sum + value, memory_order_relaxed);
}

static guint64
counter_total(const Series *series)
{
  guint64 total = 0;
  for (guint i = 0; i < series->shards->len; i++)
    total += tide_counter_value(series->shards->pdata[i]);
  return total;
}

/* @ret_buckets: n_bounds + 1 sums over the shards. Returns the sum of the values. */
static double
histogram_totals(const Family *family, const Series *series, guint64 *ret_buckets)
{
  double sum = 0;
  memset(ret_buckets, 0, (family->n_bounds + 1) * sizeof *ret_buckets);
  for (guint i = 0; i < series->shards->len; i++) {
    const TideHistogram *shard = series->shards->pdata[i];
    sum += atomic_load_explicit(&shard->sum, memory_order_relaxed);
    for (gsize bucket = 0; bucket <= family->n_bounds; bucket++)
      ret_buckets[bucket] += atomic_load_explicit(&shard->buckets[bucket], memory_order_relaxed);
  }
  return sum;
}

static guint64
series_sum(const Family *family, const Series *series)
{
  if (family->type == COUNTER)
    return counter_total(series);
  if (family->type != HISTOGRAM)
    return (guint64)MAX(tide_gauge_value(&series->gauge), 0);
  g_autofree guint64 *buckets = g_new(guint64, family->n_bounds + 1);
  histogram_totals(family, series, buckets);
  guint64 count = 0;
  for (gsize bucket = 0; bucket <= family->n_bounds; bucket++)
    count += buckets[bucket];
  return count;
}

guint64
tide_metrics_sum(TideMetrics *metrics, const char *name, const char *labels_part)
{
  guint64 sum = 0;
  tide_mutex_lock(&metrics->lock);
  const Family *family = find_family_locked(metrics, name);
  for (guint i = 0; family != NULL && i < family->series->len; i++) {
    const Series *series = family->series->pdata[i];
    if (labels_part == NULL || strstr(series->labels, labels_part) != NULL)
      sum += series_sum(family, series);
  }
  tide_mutex_unlock(&metrics->lock);
  return sum;
}

/* ---- the text format ---- */

static void
append_name(GString *text, const char *name, const char *suffix, const char *labels)
{
  g_string_append(text, name);
  g_string_append(text, suffix);
  if (*labels != '\0')
    g_string_append_printf(text, "{%s}", labels);
  g_string_append_c(text, ' ');
}

static void
append_double(GString *text, double value)
{
  char digits[TIDE_NUMBER_TEXT_BYTES];
  if (isinf(value))
    g_string_append(text, value > 0 ? "+Inf" : "-Inf");
  else
    g_string_append(text, tide_double_print(value, digits));
}

/* Makes buckets cumulative, then writes _sum and _count, which is their total: one scrape is consistent whatever
 * threads count meanwhile. @buckets: n_bounds + 1; the last one counts values above every bound. */
static void
render_histogram(GString *text, const Family *family, const char *labels, const guint64 *buckets, double sum)
{
  guint64 count = 0;
  for (gsize i = 0; i <= family->n_bounds; i++) {
    count += buckets[i];
    g_string_append_printf(text, "%s_bucket{%s%sle=\"", family->name, labels, *labels != '\0' ? "," : "");
    append_double(text, i < family->n_bounds ? family->bounds[i] : (double)INFINITY);
    g_string_append_printf(text, "\"} %" G_GUINT64_FORMAT "\n", count);
  }
  append_name(text, family->name, "_sum", labels);
  append_double(text, sum);
  g_string_append_c(text, '\n');
  append_name(text, family->name, "_count", labels);
  g_string_append_printf(text, "%" G_GUINT64_FORMAT "\n", count);
}

/* @gauge_value: of a gauge, read once */
static void
render_series(GString *text, const Family *family, const Series *series, gint64 gauge_value)
{
  guint64 magnitude = gauge_value < 0 ? -(guint64)gauge_value : (guint64)gauge_value;
  if (family->type == HISTOGRAM) {
    g_autofree guint64 *buckets = g_new(guint64, family->n_bounds + 1);
    double sum = histogram_totals(family, series, buckets);
    render_histogram(text, family, series->labels, buckets, sum);
    return;
  }
  append_name(text, family->name, "", series->labels);
  if (family->type == COUNTER)
    g_string_append_printf(text, "%" G_GUINT64_FORMAT "\n", counter_total(series));
  else if (types[family->type].is_milli)
    g_string_append_printf(text, "%s%" G_GUINT64_FORMAT ".%03u\n", gauge_value < 0 ? "-" : "", magnitude / 1000,
                           (guint)(magnitude % 1000));
  else
    g_string_append_printf(text, "%" G_GINT64_FORMAT "\n", gauge_value);
}

/* The HELP and TYPE lines. */
static void
render_head(GString *text, const Family *family)
{
  g_string_append_printf(text, "# HELP %s ", family->name);
  for (const char *at = family->help; *at != '\0'; at++) {
    if (*at == '\n')
      g_string_append(text, "\\n");
    else if (*at == '\\')
      g_string_append(text, "\\\\");
    else
      g_string_append_c(text, *at);
  }
  g_string_append_printf(text, "\n# TYPE %s %s\n", family->name, types[family->type].name);
}

static void
render_family(GString *text, const Family *family)
{
  gboolean has_head = FALSE;
  for (guint i = 0; i < family->series->len; i++) {
    const Series *series = family->series->pdata[i];
    gint64 gauge_value = tide_gauge_value(&series->gauge); /* 0 for other types */
    if (gauge_value == TIDE_GAUGE_UNKNOWN)
      continue;
    if (!has_head)
      render_head(text, family);
    has_head = TRUE;
    render_series(text, family, series, gauge_value);
  }
}

char *
tide_metrics_render(TideMetrics *metrics)
{
  GString *text = g_string_sized_new(16384);
  tide_mutex_lock(&metrics->lock);
  for (guint i = 0; i < metrics->families->len; i++)
    render_family(text, metrics->families->pdata[i]);
  tide_mutex_unlock(&metrics->lock);
  return g_string_free(text, FALSE);
}
