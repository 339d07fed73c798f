/* Decimals as their exact text: digits with a point among them, of which a schema or the configuration knows the place.
 */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* A longer number is no measurement, and costs time in whatever reads it later. 64 bytes hold every double as it is
 * printed to be read back, and any integer of 200 bits. */
#define TIDE_NUMBER_MAX_BYTES 64

/* Both write into @room, of TIDE_NUMBER_MAX_BYTES. FALSE: the text would be longer. */

/* @digits: @n of them, without leading zeros, of a number that has @scale behind the point. */
gboolean tide_decimal_of_digits(char room[TIDE_NUMBER_MAX_BYTES], gboolean is_negative, const char *digits, gsize n,
                                guint32 scale, TideBytes *ret_text) G_GNUC_WARN_UNUSED_RESULT;

/* The integer in two's complement, big-endian @bytes, divided by 10^@scale. No bytes are 0. */
gboolean tide_decimal_of_bytes(char room[TIDE_NUMBER_MAX_BYTES], TideBytes bytes, guint32 scale,
                               TideBytes *ret_text) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
