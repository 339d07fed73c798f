/* Copies of an existing message with other values, in the binary formats. Values other than the formats' numbers, texts
 * and times are kept, like those that do not change.
 *
 * The function of a format walks through the message, names each value as a reading has it, and asks for its
 * replacement. Threads: any, each with its own change. */
#pragma once

#include "decode/decode_options.h"
#include "model/reading.h"

G_BEGIN_DECLS

typedef struct TideValueChange {
  /* set by the caller, then read-only */
  const char *separator; /* borrowed: between the names of nested values */
  /* Appends the replacement of @text, as a reading has it, to @ret_text; FALSE: it is kept. */
  gboolean (*ask)(TideBytes name, TideValueKind kind, TideBytes text, TideBuffer *ret_text, gpointer data);
  gpointer data;

  /* while a message is walked through */
  TideBuffer path; /* owned: the name of the current value */
  TideBuffer text; /* owned: its replacement */
} TideValueChange;

void tide_value_change_clear(TideValueChange *change); /* frees what it owns */

/* ---- the formats ---- */

/* Appends a copy of @message, which a decoder with these options reads, to @out. FALSE: it cannot be walked through. */
gboolean tide_value_change_message(TideValueChange *change, const TideDecodeOptions *options, TideBytes message,
                                   TideBuffer *out) G_GNUC_WARN_UNUSED_RESULT;

/* The function of each binary format: tide_NAME_change(). */
#define TIDE_DECLARE_CHANGE(word, value, name)                                                                         \
  gboolean tide_##name##_change(TideValueChange *change, const TideDecodeOptions *options, TideBytes message,          \
                                TideBuffer *out);
TIDE_FORMATS_OF_BYTES(TIDE_DECLARE_CHANGE)

/* ---- for the formats ---- */

/* The next values are below @name or element @index, until leave(). Returns: the argument of leave() */
gsize tide_value_change_enter(TideValueChange *change, TideBytes name);
gsize tide_value_change_enter_element(TideValueChange *change, guint64 index);
void tide_value_change_leave(TideValueChange *change, gsize outer);

/* Each stores the new value in its parameter; FALSE: the old one is kept. */

/* @text: valid until the next value */
gboolean tide_value_change_text(TideValueChange *change, TideBytes *text);
/* A number in units of 10^-@scale; keeps the old value if the new one is outside @min to @max. */
gboolean tide_value_change_integer(TideValueChange *change, gint64 *value, guint32 scale, gint64 min, gint64 max);
/* A local clock time in units of 10^-@scale seconds. */
gboolean tide_value_change_local_time(TideValueChange *change, gint64 *value, guint32 scale);
gboolean tide_value_change_double(TideValueChange *change, double *value);

G_END_DECLS
