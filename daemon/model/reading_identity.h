/* Which reading a row is of, apart from its values: rows that have the same identity are one reading, sent again or
 * corrected; readings of different identities that meet in one cell overwrite each other, because no part of the key
 * and no column tells them apart.
 *
 * The identity is made of what names a reading: the record's topic and key, the event time to the nanosecond, and its
 * texts: of line protocol the measurement and the tags, of all other formats each text field, but for the texts of
 * times and, in a row of one cell, the text that the cell holds. Numbers, booleans and lists are values.
 *
 * The parts are added up. Identities are compared within one mapping only; two readings have the same by chance once in
 * 2^32. */
#pragma once

#include "model/message.h"
#include "model/reading.h"

G_BEGIN_DECLS

/* What @message adds to the identity of each of its readings. */
guint32 tide_message_identity(const TideMessage *message);

/* The texts of @reading. @times: (element-type TideNameId): the fields that its times are read from */
guint32 tide_reading_identity(const TideReading *reading, const GArray *times);

/* What the field that @value is the text of, in place, added to that; 0: none did. */
guint32 tide_value_identity(const TideReading *reading, const GArray *times, TideBytes value);

G_END_DECLS
