/* When the certificates of a gateway's connections expire: shown as metrics, and logged in time to renew them. */
#pragma once

#include "thrift/client/hbase_client.h"
#include "util/log.h"
#include "util/metrics.h"

G_BEGIN_DECLS

/* A certificate that expires sooner is logged once a day: long enough before to renew it manually. */
#define TIDE_CERTIFICATE_WARNING_DAYS 30

typedef struct TideCertificateWatch {
  /* set before use, then read-only */
  const char *gateway; /* borrowed */
  TideGauge *peer_end_gauge;
  TideGauge *own_end_gauge;
  /* any thread */
  TideLogLimit peer_limit;
  TideLogLimit own_limit;
} TideCertificateWatch;

/* @gateway: its name; borrowed. */
void tide_certificate_watch_init(TideCertificateWatch *watch, const char *gateway, TideMetrics *metrics);

/* Notes the end dates of a new connection's certificates. Logs. Threads: any. */
void tide_certificate_watch_note(TideCertificateWatch *watch, TideCertificateEnds ends);

/* "expires in 12 days, on 2026-12-04"; NULL while that is far off, or if it never expires. (transfer full)
 * (nullable) */
char *tide_certificate_warning(gint64 end_s, gint64 now_s);

G_END_DECLS
