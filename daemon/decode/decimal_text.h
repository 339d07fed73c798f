/* Exact decimal text from digits or bytes whose scale a schema or the configuration defines. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* A longer number is no measurement and would slow down every later parser. 64 bytes are enough for every double in its
 * shortest exact form, and for any integer of 200 bits. */
#define TIDE_NUMBER_MAX_BYTES 64

/* Both functions write into @room, of TIDE_NUMBER_MAX_BYTES, and return FALSE if the text would be longer. */

/* @digits: @n digits without leading zeros, the last @scale of them decimals */
gboolean tide_decimal_of_digits(char room[TIDE_NUMBER_MAX_BYTES], gboolean is_negative, const char *digits, gsize n,
                                guint32 scale, TideBytes *ret_text) G_GNUC_WARN_UNUSED_RESULT;

/* The two's complement, big-endian integer in @bytes, divided by 10^@scale. Empty @bytes are 0. */
gboolean tide_decimal_of_bytes(char room[TIDE_NUMBER_MAX_BYTES], TideBytes bytes, guint32 scale,
                               TideBytes *ret_text) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
