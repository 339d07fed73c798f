/* Converts the row of a dead letter whose original is gone from Kafka to JSON, so that the bytes HBase refused are
 * kept. */
#pragma once

#include "thrift/wire/wire.h"

G_BEGIN_DECLS

/**
 * tide_dead_letter_row_json: appends
 * {"row_key":HEX,"cells":[{"family":HEX,"qualifier":HEX,"timestamp_ms":N,"value":BASE64}, ...]}. A row that deletes
 * also has "deletes":[{"family":HEX,"timestamp_ms":N}, ...], for cells up to and including N.
 * @wire: a put, or the mutations of one row, as in a batch
 * Returns: FALSE, with @out unchanged, if @wire cannot be read.
 */
gboolean tide_dead_letter_row_json(TideWireProtocol protocol, TideBytes row_key, TideBytes wire,
                                   TideBuffer *out) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
