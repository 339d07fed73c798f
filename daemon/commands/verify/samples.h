/* Samples of what a verification found: some of each kind, with what the hashes do not tell: the message is read again
 * from the topic, the row from its table.
 *
 * Threads: one. */
#pragma once

#include "commands/verify/input.h"
#include "commands/verify/messages.h"
#include "kafka/kafka_topic_reader.h"

G_BEGIN_DECLS

typedef struct TideVerifySample {
  TideVerdict verdict;
  TideVerifyEntry entry;
  guint slot;           /* of its table */
  gboolean has_message; /* entry.source names the message that makes the cell */
  /* filled in by resolving; owned */
  gboolean is_resolved;
  TideBuffer row; /* its key */
  TideBuffer qualifier;
  gboolean has_expected;
  TideBuffer expected; /* value, at entry.time_ms */
  gboolean has_found;  /* there is a cell in its column now */
  TideBuffer found;
  gint64 found_ms;
  gboolean has_lost;     /* another reading's value had its place, and was lost ... */
  TideVerifyEntry lost;  /* ... of this message */
  TideBuffer lost_value; /* owned: that value */
} TideVerifySample;

typedef struct TideVerifySamples TideVerifySamples;

TideVerifySamples *tide_verify_samples_new(guint max_of_a_kind);
void tide_verify_samples_free(TideVerifySamples *samples); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideVerifySamples, tide_verify_samples_free)

/* @lost: (nullable): what tide_verify_lost_to() says of it. Takes @entry, unless there are enough of its kind, or its
 * kind is not one to show. */
void tide_verify_samples_offer(TideVerifySamples *samples, TideVerdict verdict, const TideVerifyEntry *entry,
                               const TideVerifyEntry *lost, const TideVerifyTables *tables);

typedef struct TideVerifySampleSources {
  const TideVerifyInput *input; /* borrowed, all */
  const GArray *parts;          /* (element-type TideTopicPart) */
  TideVerifyMessages *messages;
  TideVerifyTables *tables;
  const volatile int *stop;
} TideVerifySampleSources;

/* Reads what the samples lack. Costs a scan of a table where a cell in it came from no message. */
gboolean tide_verify_samples_resolve(TideVerifySamples *samples, const TideVerifySampleSources *sources,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* In the order of their kinds. (element-type TideVerifySample), borrowed */
const GArray *tide_verify_samples_all(TideVerifySamples *samples);

G_END_DECLS
