/* Determines from a record's key which row a message without value deletes: the fields of that row's key.
 *
 * If a table's key consists of one field, the record's key is that field's text. Otherwise, and always if it begins
 * with a brace, it is a JSON object with the fields, regardless of the values' format. "$key" itself is used unchanged.
 *
 * readings.fields and readings.null_values apply to the record's own fields and to those of its key, so that parts of
 * the key, or fields in it, have the same names as with a value. If a step reads "$key", the key is used only by steps.
 *
 * Conditions are evaluated on the record's own fields, the fields of the table's key, and other fields of the record's
 * key. Other conditions depend on the value, which is absent, and are ignored.
 *
 * Threads: the owner's only. */
#pragma once

#include "decode/decoder.h"
#include "model/table/table.h"

G_BEGIN_DECLS

typedef struct TideRecordKey TideRecordKey;

/* @options: borrowed: of the source's values; their limits and forms apply to keys. @names: the thread's own, borrowed;
 * the configuration uses the first @n_known. */
TideRecordKey *tide_record_key_new(const TideDecodeOptions *options, TideFieldNames *names, guint32 n_known);
void tide_record_key_free(TideRecordKey *record_key); /* NULL ok */

/* Prepares for keys of @table (borrowed). Returns the table's index. */
guint tide_record_key_add_table(TideRecordKey *record_key, const TideTable *table);

/* @message: borrowed until the next begin. */
void tide_record_key_begin(TideRecordKey *record_key, const TideMessage *message);

/* Reads the fields for the table at @index; valid until the next begin. Returns FALSE with @ret_reject filled.
 * Allocates: like the decoder. */
gboolean tide_record_key_read(TideRecordKey *record_key, guint index, TideReading *ret_reading,
                              TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* The first of @conditions (element-type TideCondition; NULL: none) that keeps the message from deleting in the table
 * at @index, or NULL. @reading: what was read for it; NULL: nothing yet, so only conditions on the record's own fields
 * are evaluated. Allocates: nothing. */
const TideCondition *tide_record_key_unmet(const TideRecordKey *record_key, guint index, const GArray *conditions,
                                           const TideReading *reading);

G_END_DECLS
