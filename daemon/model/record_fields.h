/* The record's own values as fields, with names that begin with "$". Compiled once from the names that the
 * configuration uses, so a configuration without them costs nothing. */
#pragma once

#include "model/message.h"
#include "model/reading.h"
#include "model/scratch.h"

G_BEGIN_DECLS

typedef struct TideRecordFields TideRecordFields;

/* Uses the first @n_known of @names, which is borrowed. */
TideRecordFields *tide_record_fields_new(const TideFieldNames *names, guint32 n_known);
void tide_record_fields_free(TideRecordFields *record_fields); /* NULL ok */

/**
 * tide_record_fields_read: read those that @message has, in the order of the names. A record without key, time or
 * header has no such field; bytes are copied to @scratch unchanged.
 * @ret_n_fields: their number, at the beginning of the returned array, which is valid until the next call
 * @ret_n_absent: (nullable): the number of absent ones that follow, of which only the name is valid
 */
const TideField *tide_record_fields_read(TideRecordFields *record_fields, const TideMessage *message,
                                         TideScratch *scratch, guint32 *ret_n_fields, guint32 *ret_n_absent);

G_END_DECLS
