/* From a message to all the rows it makes, in all tables. One mapping for each consumer thread; explain uses it too.
 *
 * A message is decoded, timed and keyed whole before anything is queued: one bad reading rejects the message, and then
 * nothing of it was written anywhere. */
#pragma once

#include "config/config.h"
#include "model/message.h"
#include "model/reject.h"
#include "model/row.h"

G_BEGIN_DECLS

typedef struct TideMapping TideMapping;

/* @config: borrowed. @protocol: of the wire, known before the first message. */
TideMapping *tide_mapping_new(const TideConfig *config, TideWireProtocol protocol);
void tide_mapping_free(TideMapping *mapping);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideMapping, tide_mapping_free)

typedef struct TideMapped {
  TideRow *rows; /* in the order of readings, and of tables within a reading; the mapping's, the caller may change them */
  guint32 n_rows;
  guint32 n_readings;
} TideMapped;

/**
 * tide_mapping_apply: all rows of @message.
 * @ret_mapped: valid until the next call
 * Returns: FALSE with @ret_reject filled. Threads: the owner's only. Allocates: only to grow scratch memory.
 */
gboolean tide_mapping_apply(TideMapping *mapping, const TideMessage *message, TideMapped *ret_mapped,
                            TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* The readings of the last apply, with their event times; for explain. */
const TideReading *tide_mapping_readings(const TideMapping *mapping);

/* The names the mapping's thread knows, for printing. */
const TideFieldNames *tide_mapping_names(const TideMapping *mapping);

G_END_DECLS
