/* The Prometheus text form, version 0.0.4: numbers and names in, lines out. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum TideMetricType {
  TIDE_METRIC_COUNTER,
  TIDE_METRIC_COUNTER_MILLI, /* set as a gauge is, stored in thousandths */
  TIDE_METRIC_GAUGE,
  TIDE_METRIC_GAUGE_MILLI, /* stored in thousandths */
  TIDE_METRIC_HISTOGRAM,
} TideMetricType;

/* [a-zA-Z_:][a-zA-Z0-9_:]* */
gboolean tide_metrics_name_is_valid(const char *name);

/* The HELP and TYPE lines. */
void tide_metrics_text_head(GString *text, const char *name, const char *help, TideMetricType type);

/* One sample each. @labels: the inside of the braces; "" for none. */
void tide_metrics_text_count(GString *text, const char *name, const char *labels, guint64 value);
void tide_metrics_text_gauge(GString *text, const char *name, const char *labels, gint64 value);
void tide_metrics_text_milli(GString *text, const char *name, const char *labels, gint64 value);

/* The buckets, made cumulative, then _sum and _count. @buckets: n_bounds + 1, the last one is what passed every bound.
 * The count is their total, so that one scrape agrees with itself whatever threads count meanwhile. */
void tide_metrics_text_histogram(GString *text, const char *name, const char *labels, const double *bounds,
                                 gsize n_bounds, const guint64 *buckets, double sum);

G_END_DECLS
