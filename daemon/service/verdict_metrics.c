#include "service/verdict_metrics.h"

#include <string.h>

void
tide_verdict_metrics_init(TideVerdictMetrics *verdicts, TideMetrics *metrics)
{
  for (TideLimit limit = TIDE_LIMIT_KAFKA; limit < TIDE_N_LIMITS; limit++) {
    g_autofree char *label = tide_metrics_label("limit", tide_limit_name(limit));
    verdicts->limited_by[limit] =
        tide_metrics_gauge(metrics, "tidemark_limited_by", "1 for what keeps the daemon from being faster now", label);
  }
  verdicts->restart_is_good =
      tide_metrics_gauge(metrics, "tidemark_restart_good_now",
                         "1 while a stop would be over soon, and leave nothing to be written twice", NULL);
}

void
tide_verdict_metrics_update(const TideVerdictMetrics *verdicts, const TideStatus *status)
{
  for (TideLimit limit = TIDE_LIMIT_KAFKA; limit < TIDE_N_LIMITS; limit++)
    tide_gauge_set(verdicts->limited_by[limit], strcmp(status->bottleneck.limit, tide_limit_name(limit)) == 0);
  tide_gauge_set(verdicts->restart_is_good, status->restart.good_now ? 1 : 0);
}
