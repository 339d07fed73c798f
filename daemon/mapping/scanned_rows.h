/* Reads again what `tidemark scan` printed: from a row's cells, as JSON or CSV, to the readings that they are of. The
 * cells of one time are a reading: its fields are theirs and the key's, its time is theirs, or the key's where that is
 * finer. A message is one row: a JSON object, or the CSV's heading with all lines of the row.
 *
 *     JSON: "row", "row_hex", "fields", "key_time", and of each of "cells": "family", "qualifier", "value", "field",
 *           "type", "timestamp_ms"; and the exact bytes of what is no text, as "value_hex"
 *     CSV:  row, timestamp_ms, key_time, column, value, field, type, and a column for each field of the key; with \xHH
 *
 * "field" is the name that the cell's qualifier was made of, where that is another; empty: of none, the cell is made
 * anew. "type" is the kind of the value where the table keeps one: string, number, bool, null, json; "stored": the cell
 * does not look as it is declared, and the row is rejected. */
#pragma once

#include "decode/decode_options.h"
#include "model/reading.h"
#include "model/reject.h"

G_BEGIN_DECLS

/* What the reading's times are called: as what the record offers, which no rule "*" takes. */
#define TIDE_SCANNED_EVENT_TIME "$header.tidemark.time"
#define TIDE_SCANNED_CELL_TIME "$header.tidemark.cell_time"

/* Of a printed row: it takes many times what its message took. */
#define TIDE_SCANNED_MAX_BYTES (64u << 20)
#define TIDE_SCANNED_MAX_CELLS 1000000u

typedef struct TideScannedRows TideScannedRows;

/* @options: borrowed. NULL where they do not say that messages are printed rows. @names, @n_known: as the decoder's. */
TideScannedRows *tide_scanned_rows_new(const TideDecodeOptions *options, TideFieldNames *names, guint32 n_known);
void tide_scanned_rows_free(TideScannedRows *rows); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideScannedRows, tide_scanned_rows_free)

/**
 * tide_scanned_rows_decode: the readings of the row in @message.
 * @ret_readings: valid until the next call
 * Returns: FALSE with @ret_reject filled. Threads: the owner's only.
 */
gboolean tide_scanned_rows_decode(TideScannedRows *rows, TideBytes message, TideReading **ret_readings,
                                  guint32 *ret_n_readings, TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
