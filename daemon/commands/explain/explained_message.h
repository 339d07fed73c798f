/* A message as `explain` shows it: the rows of each of its readings, the tables that do not take a reading and why, or
 * why the whole is rejected. */
#pragma once

#include "commands/read/gateway_session.h"
#include "model/message.h"

G_BEGIN_DECLS

typedef struct TideExplainer TideExplainer;

typedef struct TideExplainerOptions {
  const TideConfig *config;    /* borrowed */
  const GPtrArray *problems;   /* borrowed (element-type TideConfigProblem): the warnings of loading it */
  TideGatewaySession *session; /* borrowed; NULL: regions are not shown */
  gboolean json;               /* one object a row, else text */
  guint32 max_readings;        /* shown of a message, with those that are rejected before; 0: all */
  gboolean by_line;            /* a line of what is given is taken for a message */
  gboolean record_time_is_now; /* the messages' time is not theirs: what depends on it is told so */
} TideExplainerOptions;

TideExplainer *tide_explainer_new(const TideExplainerOptions *options);
void tide_explainer_free(TideExplainer *explainer); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideExplainer, tide_explainer_free)

/**
 * tide_explainer_add: print @message to standard output.
 * @line: of the input, from 1; 0 for a message out of a topic, which is told by its partition and offset
 * Errors: those of asking for regions.
 */
gboolean tide_explainer_add(TideExplainer *explainer, const TideMessage *message, guint64 line,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Prints what only several readings together show: values that overwrite each other, keys that move with the time. */
void tide_explainer_finish(TideExplainer *explainer);

typedef struct TideExplainerCounts {
  guint64 n_messages;
  guint64 n_rows;
  guint64 n_rejected; /* messages, and readings that are left out of theirs */
  guint64 n_unshown;  /* readings, for max_readings */
} TideExplainerCounts;

TideExplainerCounts tide_explainer_counts(const TideExplainer *explainer);

G_END_DECLS
