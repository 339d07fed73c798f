/* Encodes the calls that read rows and regions as wire bytes. They are so frequent (one per page of a scan, one get per
 * device) that the generated structs' leak would matter; tests/unit/thrift/wire/test-request-encoder.c compares them
 * with the generated code. reply_reader.h reads the replies. */
#pragma once

#include "thrift/wire/rows.h"
#include "thrift/wire/wire.h"

G_BEGIN_DECLS

void tide_get_request_append(TideWireProtocol protocol, TideBuffer *out, gint32 sequence_id, TideBytes table,
                             TideBytes row);
/* @request: max_versions must be set, not 0. */
void tide_get_multiple_request_append(TideWireProtocol protocol, TideBuffer *out, gint32 sequence_id, TideBytes table,
                                      const TideGetRequest *request);
/* @request: caching_rows and max_versions must be set, not 0. */
void tide_open_scanner_request_append(TideWireProtocol protocol, TideBuffer *out, gint32 sequence_id, TideBytes table,
                                      const TideScanRequest *request);
void tide_scanner_rows_request_append(TideWireProtocol protocol, TideBuffer *out, gint32 sequence_id, gint32 scanner_id,
                                      gint32 n_rows);
void tide_close_scanner_request_append(TideWireProtocol protocol, TideBuffer *out, gint32 sequence_id,
                                       gint32 scanner_id);
void tide_regions_request_append(TideWireProtocol protocol, TideBuffer *out, gint32 sequence_id, TideBytes table);

G_END_DECLS
