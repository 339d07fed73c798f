/* Counters, gauges and histograms, and their Prometheus text form (version 0.0.4).
 *
 * A metric is a family (name, help, type) with one series for each set of labels. A series is made of shards: each
 * thread asks for its own and is its only writer, so counting costs one relaxed store and no shared cache line; a
 * scrape adds the shards up. Names carry base units and `_total`, and are listed in docs/metrics.md (a test compares).
 */
#pragma once

#include <glib.h>
#include <stdatomic.h>

G_BEGIN_DECLS

typedef struct TideMetrics TideMetrics;

/* One shard of a counter. One thread writes it, any thread reads it. */
typedef struct TideCounter {
  _Atomic guint64 value;
  guint8 padding[56]; /* a cache line of its own: 64 bytes on x86-64 and most ARM */
} TideCounter;

static inline void
tide_counter_add(TideCounter *counter, guint64 n)
{
  /* The owner is the only writer, so load and store need not be one atomic step. */
  atomic_store_explicit(&counter->value, atomic_load_explicit(&counter->value, memory_order_relaxed) + n,
                        memory_order_relaxed);
}

static inline void
tide_counter_inc(TideCounter *counter)
{
  tide_counter_add(counter, 1);
}

static inline guint64
tide_counter_value(const TideCounter *counter)
{
  return atomic_load_explicit(&counter->value, memory_order_relaxed);
}

/* A gauge: any thread sets or adds. */
typedef struct TideGauge {
  _Atomic gint64 value;
} TideGauge;

/* The value of a gauge that has none: its series is not shown. */
#define TIDE_GAUGE_UNKNOWN G_MININT64

static inline void
tide_gauge_set(TideGauge *gauge, gint64 value)
{
  atomic_store_explicit(&gauge->value, value, memory_order_relaxed);
}

/* Nobody knows the value: the series is gone until it is set again. */
static inline void
tide_gauge_clear(TideGauge *gauge)
{
  tide_gauge_set(gauge, TIDE_GAUGE_UNKNOWN);
}

/* To a gauge that has a value. */
static inline void
tide_gauge_add(TideGauge *gauge, gint64 delta)
{
  atomic_fetch_add_explicit(&gauge->value, delta, memory_order_relaxed);
}

static inline gint64
tide_gauge_value(const TideGauge *gauge)
{
  return atomic_load_explicit(&gauge->value, memory_order_relaxed);
}

typedef struct TideHistogram TideHistogram; /* one shard; one writer */

TideMetrics *tide_metrics_new(void);
void tide_metrics_free(TideMetrics *metrics); /* frees every series; NULL ok */

/**
 * tide_metrics_counter: a new shard of the counter @name with @labels.
 * @name: string literal such as "tidemark_messages_received_total"; kept by reference
 * @help: string literal; the first registration's text is shown
 * @labels: inside of the braces, e.g. `topic="a",partition="0"`, or NULL; copied. Build values with
 *     tide_metrics_label(), which escapes.
 * Ownership: the registry's; valid until tide_metrics_free(). Threads: any. Locks: the registry's.
 */
TideCounter *tide_metrics_counter(TideMetrics *metrics, const char *name, const char *help, const char *labels);

/* One cell a series, shared by all who ask for the same name and labels. Valid until tide_metrics_free(). */
TideGauge *tide_metrics_gauge(TideMetrics *metrics, const char *name, const char *help, const char *labels);

/* Like a gauge, but stored in thousandths and shown as seconds or ratios with three decimals. */
TideGauge *tide_metrics_gauge_milli(TideMetrics *metrics, const char *name, const char *help, const char *labels);

/* The same, but a new one begins without a value. */
TideGauge *tide_metrics_gauge_unknown(TideMetrics *metrics, const char *name, const char *help, const char *labels);
TideGauge *tide_metrics_gauge_milli_unknown(TideMetrics *metrics, const char *name, const char *help,
                                            const char *labels);

/* A counter of seconds that others count, and that is set: the process's CPU time. */
TideGauge *tide_metrics_counter_milli(TideMetrics *metrics, const char *name, const char *help, const char *labels);

/* One of the series of tide_metrics_show(). */
typedef struct TideShown {
  char *labels; /* owned */
  gint64 value;
} TideShown;

/* The gauge @name has these series from now on, and no others: for the few of many that are shown. Nobody else asks for
 * gauges of @name. @shown: (transfer full) (element-type TideShown): its labels become the registry's */
void tide_metrics_show(TideMetrics *metrics, const char *name, const char *help, GArray *shown);

/* A new shard, like a counter's. @bounds: n_bounds ascending upper bounds (without +Inf), kept by reference. */
TideHistogram *tide_metrics_histogram(TideMetrics *metrics, const char *name, const char *help, const char *labels,
                                      const double *bounds, gsize n_bounds);
/* Counts @value into the first bucket whose bound is not below it; NaN is ignored. Threads: the shard's writer. */
void tide_histogram_observe(TideHistogram *histogram, double value);

/* `name="value"` with \ " and newline escaped. Ownership: (transfer full). */
char *tide_metrics_label(const char *name, const char *value);

/* The sum over all shards of all series of @name whose labels contain @labels_part (NULL: all); for STATUS and tests.
 * Of a histogram the number of observations, of gauges their values (thousandths for milli, below 0 counts as 0). */
guint64 tide_metrics_sum(TideMetrics *metrics, const char *name, const char *labels_part);

/* The whole exposition. Threads: any. Ownership: (transfer full). */
char *tide_metrics_render(TideMetrics *metrics);

G_END_DECLS
