/* The calls that read rows and regions, as wire bytes. They are frequent enough (a call for each page of a scan, a get
 * for each device) that the generated structs' leak would show; tests/unit/thrift/wire/test-request-encoder.c holds
 * them equal to the generated code. What answers them is read by reply_reader.h. */
#pragma once

#include "thrift/wire/rows.h"
#include "thrift/wire/wire.h"

G_BEGIN_DECLS

void tide_get_request_append(TideWireProtocol protocol, TideBuffer *out, gint32 sequence_id, TideBytes table,
                             TideBytes row);
/* @request: max_versions as it is to be sent, not 0. */
void tide_get_multiple_request_append(TideWireProtocol protocol, TideBuffer *out, gint32 sequence_id, TideBytes table,
                                      const TideGetRequest *request);
/* @request: caching_rows and max_versions as they are to be sent, not 0. */
void tide_open_scanner_request_append(TideWireProtocol protocol, TideBuffer *out, gint32 sequence_id, TideBytes table,
                                      const TideScanRequest *request);
void tide_scanner_rows_request_append(TideWireProtocol protocol, TideBuffer *out, gint32 sequence_id, gint32 scanner_id,
                                      gint32 n_rows);
void tide_close_scanner_request_append(TideWireProtocol protocol, TideBuffer *out, gint32 sequence_id,
                                       gint32 scanner_id);
void tide_regions_request_append(TideWireProtocol protocol, TideBuffer *out, gint32 sequence_id, TideBytes table);

G_END_DECLS
