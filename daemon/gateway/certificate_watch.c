#include "gateway/certificate_watch.h"

#include "util/clock.h"
#include "util/units.h"

#define DAY_S G_GINT64_CONSTANT(86400)
#define WARNING_INTERVAL_US (DAY_S * TIDE_US_PER_S)

void
tide_certificate_watch_init(TideCertificateWatch *watch, const char *gateway, TideMetrics *metrics)
{
  g_autofree char *label = tide_metrics_label("gateway", gateway);
  *watch = (TideCertificateWatch){.gateway = gateway};
  watch->peer_end_gauge = tide_metrics_gauge_unknown(metrics, "tidemark_gateway_certificate_expiry_timestamp_seconds",
                                                     "Expiry time of the gateway's certificate; with TLS only", label);
  watch->own_end_gauge = tide_metrics_gauge_unknown(
      metrics, "tidemark_client_certificate_expiry_timestamp_seconds",
      "Expiry time of the client certificate that tidemark presents to the gateway; with TLS only", label);
}

char *
tide_certificate_warning(gint64 end_s, gint64 now_s)
{
  if (end_s == 0 || end_s - now_s >= TIDE_CERTIFICATE_WARNING_DAYS * DAY_S)
    return NULL;
  g_autoptr(GDateTime) end = g_date_time_new_from_unix_utc(end_s);
  g_autofree char *date = end != NULL ? g_date_time_format(end, "%Y-%m-%d") : g_strdup("an unknown day");
  if (end_s <= now_s)
    return g_strdup_printf("expired on %s", date);
  g_autofree char *days = tide_count_of((guint64)((end_s - now_s) / DAY_S), "day", NULL);
  return g_strdup_printf("expires in %s, on %s", days, date);
}

static void
warn(TideLogLimit *limit, const char *whose, const char *gateway, gint64 end_s)
{
  g_autofree char *warning = tide_certificate_warning(end_s, g_get_real_time() / G_USEC_PER_SEC);
  guint64 suppressed;
  if (warning != NULL && tide_log_limit_pass(limit, tide_now_us(), WARNING_INTERVAL_US, &suppressed))
    tide_log_fields(TIDE_LOG_WARNING, "certificate-ends", TIDE_LOG_FIELDS({"GATEWAY", gateway}),
                    "%s '%s' %s; renew it, since connections to the gateway fail afterwards", whose, gateway, warning);
}

void
tide_certificate_watch_note(TideCertificateWatch *watch, TideCertificateEnds ends)
{
  if (ends.peer_s != 0)
    tide_gauge_set(watch->peer_end_gauge, ends.peer_s);
  if (ends.own_s != 0)
    tide_gauge_set(watch->own_end_gauge, ends.own_s);
  warn(&watch->peer_limit, "the certificate of gateway", watch->gateway, ends.peer_s);
  warn(&watch->own_limit, "the daemon's certificate for gateway", watch->gateway, ends.own_s);
}
