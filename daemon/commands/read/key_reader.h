/* Reads the fields and the time back out of a table's row keys, row by row, for commands that print them. Counts the
 * rows whose keys the declared scheme did not make. Threads: one. */
#pragma once

#include "model/table/table.h"

G_BEGIN_DECLS

typedef struct TideKeyReader TideKeyReader;

/* @table, @names: borrowed for the reader's life. */
TideKeyReader *tide_key_reader_new(const TideTable *table, const TideFieldNames *names);
void tide_key_reader_free(TideKeyReader *reader); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideKeyReader, tide_key_reader_free)

/* The fields that a key tells, in the key's order; printable, NULL-terminated. Borrowed. */
const char *const *tide_key_reader_names(const TideKeyReader *reader, gsize *ret_n_fields);

/**
 * tide_key_reader_read: take @row apart.
 * Returns: FALSE when the table's scheme did not make it; values and key are of no use then.
 */
gboolean tide_key_reader_read(TideKeyReader *reader, TideBytes row) G_GNUC_WARN_UNUSED_RESULT;

/* Of the row read last: a value for each of the names, empty where it has none; and all of it. Valid until the next
 * read. */
const TideBytes *tide_key_reader_values(const TideKeyReader *reader);
const TideDecodedKey *tide_key_reader_key(const TideKeyReader *reader);

G_END_DECLS
