/* The row of a dead letter whose original is gone from Kafka: the bytes that HBase refused, as JSON, so that what is
 * left is kept. */
#pragma once

#include "thrift/wire/wire.h"

G_BEGIN_DECLS

/**
 * tide_dead_letter_row_json: append
 * {"row_key":HEX,"cells":[{"family":HEX,"qualifier":HEX,"timestamp_ms":N,"value":BASE64},
 * ...]}; of a row that deletes, too, with "deletes":[{"family":HEX,"timestamp_ms":N}, ...] behind, cells up to and at
 * N.
 * @wire: a put, or the mutations of one row, as a batch holds them
 * Returns: FALSE, with @out as it was, when @wire cannot be read.
 */
gboolean tide_dead_letter_row_json(TideWireProtocol protocol, TideBytes row_key, TideBytes wire,
                                   TideBuffer *out) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
