/* What a record's key says of the row that a message without value deletes: the fields of that row's key.
 *
 * Where a table's key is made of one field, the record's key is that field's text. Otherwise, and whenever it begins
 * with a brace, it is a JSON object that holds the fields, whatever the format of the values. "$key" itself is taken as
 * it is.
 *
 * readings.fields and readings.null_values hold for the record's own fields and for those of its key, so that parts of
 * the key, or fields in it, are named as they are beside a value. Where a step is made of "$key", the key is nothing
 * else.
 *
 * Conditions are judged by the same: those on the record's own fields, on the fields of the table's key, and on
 * whatever else is in the record's key. The others ask for the value, which such a message takes away: they say
 * nothing.
 *
 * Threads: the owner's only. */
#pragma once

#include "decode/decoder.h"
#include "model/table/table.h"

G_BEGIN_DECLS

typedef struct TideRecordKey TideRecordKey;

/* @options: borrowed: of the source's values; a key has their limits and forms. @names: the thread's own, borrowed; its first
 * @n_known are those that the configuration uses. */
TideRecordKey *tide_record_key_new(const TideDecodeOptions *options, TideFieldNames *names, guint32 n_known);
void tide_record_key_free(TideRecordKey *record_key); /* NULL ok */

/* Readies it for keys of @table, borrowed. Returns: the table's slot. */
guint tide_record_key_add_table(TideRecordKey *record_key, const TideTable *table);

/* @message: borrowed until the next begin. */
void tide_record_key_begin(TideRecordKey *record_key, const TideMessage *message);

/* The fields for the table at @index; valid until the next begin. FALSE with @ret_reject filled. Allocates: as the
 * decoder. */
gboolean tide_record_key_read(TideRecordKey *record_key, guint index, TideReading *ret_reading,
                              TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* The first of @conditions (element-type TideCondition; NULL: none) that keeps the message from deleting in the table
 * at
 * @index, or NULL. @reading: what was read for it; NULL: nothing yet, and conditions on the record's own fields alone
 * are judged. Allocates: nothing. */
const TideCondition *tide_record_key_unmet(const TideRecordKey *record_key, guint index, const GArray *conditions,
                                           const TideReading *reading);

G_END_DECLS
