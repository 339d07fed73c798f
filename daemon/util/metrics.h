/* Counters, gauges and histograms, and their Prometheus text format (version 0.0.4).
 *
 * A metric is a family (name, help, type) with one series per set of labels. A series consists of shards: each thread
 * has its own and is its only writer, so counting costs one relaxed store and no shared cache line; a scrape adds up
 * the shards. Names have base units and `_total`, and are listed in docs/metrics.md (checked by a test). */
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

/* The value of a gauge without a value: its series is not shown. */
#define TIDE_GAUGE_UNKNOWN G_MININT64

static inline void
tide_gauge_set(TideGauge *gauge, gint64 value)
{
  atomic_store_explicit(&gauge->value, value, memory_order_relaxed);
}

/* The value is unknown: removes the series until it is set again. */
static inline void
tide_gauge_clear(TideGauge *gauge)
{
  tide_gauge_set(gauge, TIDE_GAUGE_UNKNOWN);
}

/* The gauge must have a value. */
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
 * @help: string literal; the text of the first registration is shown
 * @labels: the text inside the braces, e.g. `topic="a",partition="0"`, or NULL; copied. Build values with
 *     tide_metrics_label(), which escapes.
 * Ownership: the registry's; valid until tide_metrics_free(). Threads: any. Locks: the registry's.
 */
TideCounter *tide_metrics_counter(TideMetrics *metrics, const char *name, const char *help, const char *labels);

/* One cell per series, shared by all callers with the same name and labels. Valid until tide_metrics_free(). */
TideGauge *tide_metrics_gauge(TideMetrics *metrics, const char *name, const char *help, const char *labels);

/* Like a gauge, but stored in thousandths and shown as seconds or ratios with three decimals. */
TideGauge *tide_metrics_gauge_milli(TideMetrics *metrics, const char *name, const char *help, const char *labels);

/* The same, but a new gauge has no value. */
TideGauge *tide_metrics_gauge_unknown(TideMetrics *metrics, const char *name, const char *help, const char *labels);
TideGauge *tide_metrics_gauge_milli_unknown(TideMetrics *metrics, const char *name, const char *help,
                                            const char *labels);

/* A counter of seconds that is set from an external count: the process's CPU time. */
TideGauge *tide_metrics_counter_milli(TideMetrics *metrics, const char *name, const char *help, const char *labels);

/* One of the series of tide_metrics_show(). */
typedef struct TideShown {
  char *labels; /* owned */
  gint64 value;
} TideShown;

/* Replaces all series of the gauge @name by these: for gauges that show few of many. No other code may request gauges
 * of @name. @shown: (transfer full) (element-type TideShown): the registry takes over its labels */
void tide_metrics_show(TideMetrics *metrics, const char *name, const char *help, GArray *shown);

/* A new shard, as for a counter. @bounds: n_bounds ascending upper bounds (without +Inf), kept by reference. */
TideHistogram *tide_metrics_histogram(TideMetrics *metrics, const char *name, const char *help, const char *labels,
                                      const double *bounds, gsize n_bounds);
/* Counts @value in the first bucket whose bound is at least @value; NaN is ignored. Threads: the shard's writer. */
void tide_histogram_observe(TideHistogram *histogram, double value);

/* `name="value"` with \ " and newline escaped. Ownership: (transfer full). */
char *tide_metrics_label(const char *name, const char *value);

/* The sum over all shards of all series of @name whose labels contain @labels_part (NULL: all); for STATUS and tests.
 * For a histogram, the number of observations; for gauges, their values (thousandths for milli, negative counts as
 * 0). */
guint64 tide_metrics_sum(TideMetrics *metrics, const char *name, const char *labels_part);

/* The complete exposition. Threads: any. Ownership: (transfer full). */
char *tide_metrics_render(TideMetrics *metrics);

G_END_DECLS
