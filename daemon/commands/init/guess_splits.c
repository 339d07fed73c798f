/* Guesses the split points of a new history table: values of its key's first field, if the samples have enough of them.
 * Pure. */
#include "commands/init/guess_key.h"

#include "commands/init/guess_time.h"
#include "commands/tables/split_sample.h"

/* With this many values, the number of devices per region varies by about a third (the square root of 10). */
#define VALUES_PER_REGION 10u

/* More regions are worth a sample of the topic; HBase also splits growing regions itself. */
#define MAX_REGIONS 8u

/* The trend over all readings: a value that repeats later does not follow the time. */
static TideSplitTrend
trend_of(const TideSurveyField *first, const TideSurveyField *time, const TideTimeForm *form)
{
  g_autoptr(TideSplitSample) sample = tide_split_sample_new(first->values->len);
  for (guint i = 0; i < first->values->len; i++)
    tide_split_sample_add(sample, tide_survey_value(first, i)->text,
                          time != NULL ? tide_time_guess_ns(time, form, i) : (gint64)i);
  return tide_split_sample_trend(sample);
}

static GArray *
points_of(const TideSurveyField *first, guint n_regions)
{
  g_autoptr(TideSplitSample) sample = tide_split_sample_new(first->values->len);
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < first->values->len; i++) {
    TideBytes text = tide_survey_value(first, i)->text;
    if (g_hash_table_add(seen, (gpointer)(gsize)text.data))
      tide_split_sample_add(sample, text, 0);
  }
  return tide_split_sample_points(sample, n_regions);
}

GArray *
tide_guess_splits(const TideSurveyField *first, const TideSurveyField *time, const TideTimeForm *form, char **ret_why)
{
  guint n_values = tide_survey_n_distinct(first), n_regions = MIN(n_values / VALUES_PER_REGION, MAX_REGIONS);
  TideSplitTrend trend = n_regions > 1 ? trend_of(first, time, form) : TIDE_SPLIT_TREND_NONE;
  if (n_regions < 2)
    *ret_why = g_strdup_printf("No 'splits' are proposed: the samples have %u of the %u different values of '%s' that "
                               "they need.",
                               n_values, 2 * VALUES_PER_REGION, first->shown);
  else if (trend != TIDE_SPLIT_TREND_NONE)
    *ret_why = g_strdup_printf("No 'splits' are proposed: in the samples, '%s' follows the time, so that all "
                               "new rows would be in the %s region. 'tidemark init --salt N' distributes them.",
                               first->shown, trend == TIDE_SPLIT_TREND_UP ? "last" : "first");
  else
    *ret_why = g_strdup_printf("These divide the %u different values of '%s' in the samples into %u equal shares.",
                               n_values, first->shown, n_regions);
  return points_of(first, trend == TIDE_SPLIT_TREND_NONE ? n_regions : 0);
}
