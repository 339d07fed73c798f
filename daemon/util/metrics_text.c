#include "util/metrics_text.h"

#include "util/number_text.h"

#include <math.h>

static const char *
type_name(TideMetricType type)
{
  switch (type) {
  case TIDE_METRIC_COUNTER:
  case TIDE_METRIC_COUNTER_MILLI:
    return "counter";
  case TIDE_METRIC_GAUGE:
  case TIDE_METRIC_GAUGE_MILLI:
    return "gauge";
  case TIDE_METRIC_HISTOGRAM:
    return "histogram";
  }
  g_return_val_if_reached("untyped");
}

gboolean
tide_metrics_name_is_valid(const char *name)
{
  if (*name == '\0' || g_ascii_isdigit(*name))
    return FALSE;
  for (const char *at = name; *at != '\0'; at++)
    if (!g_ascii_isalnum(*at) && *at != '_' && *at != ':')
      return FALSE;
  return TRUE;
}

void
tide_metrics_text_head(GString *text, const char *name, const char *help, TideMetricType type)
{
  g_string_append_printf(text, "# HELP %s ", name);
  for (const char *at = help; *at != '\0'; at++) {
    if (*at == '\n')
      g_string_append(text, "\\n");
    else if (*at == '\\')
      g_string_append(text, "\\\\");
    else
      g_string_append_c(text, *at);
  }
  g_string_append_printf(text, "\n# TYPE %s %s\n", name, type_name(type));
}

static void
append_name(GString *text, const char *name, const char *labels)
{
  g_string_append(text, name);
  if (*labels != '\0')
    g_string_append_printf(text, "{%s}", labels);
  g_string_append_c(text, ' ');
}

void
tide_metrics_text_count(GString *text, const char *name, const char *labels, guint64 value)
{
  append_name(text, name, labels);
  g_string_append_printf(text, "%" G_GUINT64_FORMAT "\n", value);
}

void
tide_metrics_text_gauge(GString *text, const char *name, const char *labels, gint64 value)
{
  append_name(text, name, labels);
  g_string_append_printf(text, "%" G_GINT64_FORMAT "\n", value);
}

void
tide_metrics_text_milli(GString *text, const char *name, const char *labels, gint64 value)
{
  guint64 magnitude = value < 0 ? -(guint64)value : (guint64)value;
  append_name(text, name, labels);
  g_string_append_printf(text, "%s%" G_GUINT64_FORMAT ".%03u\n", value < 0 ? "-" : "", magnitude / 1000,
                         (guint)(magnitude % 1000));
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

static void
append_bucket(GString *text, const char *name, const char *labels, double bound, guint64 count)
{
  g_string_append_printf(text, "%s_bucket{%s%sle=\"", name, labels, *labels != '\0' ? "," : "");
  append_double(text, bound);
  g_string_append_printf(text, "\"} %" G_GUINT64_FORMAT "\n", count);
}

void
tide_metrics_text_histogram(GString *text, const char *name, const char *labels, const double *bounds, gsize n_bounds,
                            const guint64 *buckets, double sum)
{
  guint64 count = 0;
  for (gsize i = 0; i <= n_bounds; i++) {
    count += buckets[i];
    append_bucket(text, name, labels, i < n_bounds ? bounds[i] : (double)INFINITY, count);
  }

  g_autofree char *sum_name = g_strconcat(name, "_sum", NULL);
  g_autofree char *count_name = g_strconcat(name, "_count", NULL);
  append_name(text, sum_name, labels);
  append_double(text, sum);
  g_string_append_c(text, '\n');
  tide_metrics_text_count(text, count_name, labels, count);
}
