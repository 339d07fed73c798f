/* The compiled form of a key, shared by the files that work on it and by no others: row_key.c compiles and
 * owns it, key_encode.c writes keys, key_layout.c finds the parts in a key, key_plan.c makes ranges and split
 * points of it, key_describe.c prints it. A new kind of part is a new value in TideKeyPartKind; the compiler
 * then names each switch that has to know it. */
#pragma once

#include "model/row_key.h"

G_BEGIN_DECLS

typedef struct TideKeyPart TideKeyPart;
struct TideKeyPart {
  TideKeyPartKind kind;
  guint32 fixed_bytes; /* what it writes, where that is always the same; 0: as many as the field's value has */

  TideBytes literal; /* LITERAL: owned */

  TideNameId field;        /* FIELD */
  guint8 pad_byte;         /* FIELD with fixed_bytes */
  gboolean pad_left;       /* FIELD with fixed_bytes */
  gboolean has_default;    /* FIELD */
  TideBytes default_value; /* FIELD: owned */
  TideBytes delimiter;     /* FIELD without fixed_bytes: the literal right after it, borrowed from that; else empty */

  TideKeyTimeUnit unit; /* TIME */
  gboolean reversed;    /* TIME */
  gboolean binary;      /* TIME, HASH */

  TideKeyHash hash;   /* HASH, SALT */
  guint32 hash_bytes; /* HASH: of the digest; at least 1 */
  guint32 modulo;     /* SALT */
  TideKeyPart *of;    /* HASH, SALT: owned */
  gsize n_of;
};

struct TideRowKey {
  TideKeyPart *parts; /* owned */
  gsize n_parts;
};

/* Why @text cannot be the value of @part, a FIELD, as a string literal; NULL when it can. */
const char *tide_key_part_value_fault(const TideKeyPart *part, TideBytes text);

/* Appends what @part writes for @reading. FALSE with @ret_reject filled; bytes may have been appended then.
 */
gboolean tide_key_part_append(const TideKeyPart *part, const TideReading *reading, TideBuffer *out,
                              TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* The length of a unit. */
gint64 tide_key_unit_ns(TideKeyTimeUnit unit);

/* What the TIME part @part writes as a number for a moment, which must not be negative. */
guint64 tide_key_part_time_number(const TideKeyPart *part, gint64 ns);
void tide_key_part_append_time_number(const TideKeyPart *part, guint64 number, TideBuffer *out);

/* What the SALT part @part writes for salt number @salt. */
void tide_key_part_append_salt(const TideKeyPart *part, guint32 salt, TideBuffer *out);

/* Where each part of @row ends; FALSE when @row was not made by @key. @ret_ends: room for
 * TIDE_ROW_KEY_MAX_PARTS. */
gboolean tide_row_key_locate(const TideRowKey *key, TideBytes row, gsize *ret_ends) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
