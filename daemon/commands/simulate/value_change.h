/* Messages like one that there is, with other values in their places, in the binary formats: what is no number, text or
 * time of the formats', and what stays, is as it was.
 *
 * A format's function walks through the message, names each value as a reading has it, and asks what comes in its
 * place. Threads: any, each with a change of its own. */
#pragma once

#include "decode/decode_options.h"
#include "model/reading.h"

G_BEGIN_DECLS

typedef struct TideValueChange {
  /* set by the caller, then read-only */
  const char *separator; /* borrowed: between the names of nested values */
  /* What comes in place of @text, as a reading has it, appended to @ret_text; FALSE: it stays. */
  gboolean (*ask)(TideBytes name, TideValueKind kind, TideBytes text, TideBuffer *ret_text, gpointer data);
  gpointer data;

  /* while a message is walked through */
  TideBuffer path; /* owned: the name of the value in hand */
  TideBuffer text; /* owned: what comes in its place */
} TideValueChange;

void tide_value_change_clear(TideValueChange *change); /* frees what it owns */

/* ---- the formats ---- */

/* The message like @message, which a decoder with these options reads, appended to @out. FALSE: it cannot be walked
 * through. */
gboolean tide_value_change_message(TideValueChange *change, const TideDecodeOptions *options, TideBytes message,
                                   TideBuffer *out) G_GNUC_WARN_UNUSED_RESULT;

/* The same of each format of bytes: tide_NAME_change(). */
#define TIDE_DECLARE_CHANGE(word, value, name)                                                                         \
  gboolean tide_##name##_change(TideValueChange *change, const TideDecodeOptions *options, TideBytes message,          \
                                TideBuffer *out);
TIDE_FORMATS_OF_BYTES(TIDE_DECLARE_CHANGE)

/* ---- for the formats ---- */

/* What comes lies below @name, or is element @index, until leave(). Returns: for leave() */
gsize tide_value_change_enter(TideValueChange *change, TideBytes name);
gsize tide_value_change_enter_element(TideValueChange *change, guint64 index);
void tide_value_change_leave(TideValueChange *change, gsize outer);

/* Each puts the new value into its parameter, and returns FALSE where the old one stays. */

/* @text: valid until the next value */
gboolean tide_value_change_text(TideValueChange *change, TideBytes *text);
/* A number of units of which 10^@scale are one; what does not fit into @min to @max stays. */
gboolean tide_value_change_integer(TideValueChange *change, gint64 *value, guint32 scale, gint64 min, gint64 max);
/* What a clock shows, in units of which 10^@scale are a second. */
gboolean tide_value_change_local_time(TideValueChange *change, gint64 *value, guint32 scale);
gboolean tide_value_change_double(TideValueChange *change, double *value);

G_END_DECLS
