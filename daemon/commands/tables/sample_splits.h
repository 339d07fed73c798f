/* Split points of tables from messages that are in the topic: read, mapped as the daemon maps them, and forgotten. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

typedef struct TideSampleRequest {
  const char *topic;    /* NULL: the one that the configuration names */
  guint64 max_messages; /* from the earliest on */
  gint64 timeout_ms;    /* for reading them */
  guint32 regions;      /* 0: as many as each table declares */
} TideSampleRequest;

/**
 * tide_sample_splits: read messages and take split points for those of @tables (element-type TideTable) that have none
 * by their declaration and more than one region. Says on standard error how many keys it saw, and what makes the points
 * doubtful. Returns: (transfer full) (element-type GArray of TideBytes), one for each of @tables. It gives up the
 * points with itself. Errors: USAGE: no topic or no number of regions is known; DATA: no message could be used; those
 * of tide_kafka_read().
 */
GPtrArray *tide_sample_splits(const TideConfig *config, const GPtrArray *tables, const TideSampleRequest *request,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
