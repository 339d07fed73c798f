/* What the record itself offers as fields, under the names that begin with "$": compiled once from the names
 * that the configuration uses, so that a configuration without them pays nothing. */
#pragma once

#include "model/message.h"
#include "model/reading.h"
#include "model/scratch.h"

G_BEGIN_DECLS

typedef struct TideRecordFields TideRecordFields;

/* Looks at the first @n_known of @names, which is borrowed. */
TideRecordFields *tide_record_fields_new(const TideFieldNames *names, guint32 n_known);
void tide_record_fields_free(TideRecordFields *record_fields); /* NULL ok */

/**
 * tide_record_fields_read: those that @message has, in the order of the names. A record without key, time or
 * header has no such field; bytes are taken as they are, copied to @scratch.
 * @ret_n_fields: how many there are at the beginning of the returned array, which is valid until the next call
 * @ret_n_absent: (nullable): how many follow that @message does not have, of which only the name says something
 */
const TideField *tide_record_fields_read(TideRecordFields *record_fields, const TideMessage *message,
                                         TideScratch *scratch, guint32 *ret_n_fields, guint32 *ret_n_absent);

G_END_DECLS
