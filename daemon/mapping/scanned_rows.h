/* Parses the output of `tidemark scan`: restores the readings from the cells of a row, as JSON or CSV. The cells of one
 * time are a reading: it has their fields and the key's, and their time, or the key's if that is finer. A message is
 * one row: a JSON object, or the CSV header with all lines of the row.
 *
 *     JSON: "row", "row_hex", "fields", "key_time", and for each of "cells": "family", "qualifier", "value", "field",
 *           "type", "timestamp_ms"; exact bytes that are not text are in "value_hex"
 *     CSV:  row, timestamp_ms, key_time, column, value, field, type, and a column for each field of the key; with \xHH
 *
 * "field" is the name that the cell's qualifier was made of, if different; empty: none, the mapping creates the cell
 * again. "type" is the kind of the value if the table preserves one: string, number, bool, null, json; "stored": the
 * cell does not match its declaration, and the row is rejected. */
#pragma once

#include "decode/decode_options.h"
#include "model/reading.h"
#include "model/reject.h"

G_BEGIN_DECLS

/* Names of the reading's times, in the form of record fields, which the rule "*" does not match. */
#define TIDE_SCANNED_EVENT_TIME "$header.tidemark.time"
#define TIDE_SCANNED_CELL_TIME "$header.tidemark.cell_time"

/* Limits of a printed row, which takes many times the memory of its message. */
#define TIDE_SCANNED_MAX_BYTES (64u << 20)
#define TIDE_SCANNED_MAX_CELLS 1000000u

typedef struct TideScannedRows TideScannedRows;

/* @options: borrowed. Returns NULL unless they declare messages to be printed rows. @names, @n_known: as for the
 * decoder. */
TideScannedRows *tide_scanned_rows_new(const TideDecodeOptions *options, TideFieldNames *names, guint32 n_known);
void tide_scanned_rows_free(TideScannedRows *rows); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideScannedRows, tide_scanned_rows_free)

/**
 * tide_scanned_rows_decode: decodes the readings of the row in @message.
 * @ret_readings: valid until the next call
 * Returns: FALSE with @ret_reject filled. Threads: the owner's only.
 */
gboolean tide_scanned_rows_decode(TideScannedRows *rows, TideBytes message, TideReading **ret_readings,
                                  guint32 *ret_n_readings, TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
