/* The tables of a verification: which there are, what their families keep, in which span of cell times the messages
 * that were read say something about them, and what was counted of each.
 *
 * Threads: one. */
#pragma once

#include "commands/read/gateway_session.h"
#include "commands/verify/cells.h"
#include "model/row.h"

G_BEGIN_DECLS

/* A family of a table. Entries know it by its place in the list of all. */
typedef struct TideVerifyFamily {
  guint table; /* place of its table */
  char *name;  /* owned */
  guint versions;
  gint64 ttl_ms; /* 0: for ever; the shortest of what is declared and what HBase has */
} TideVerifyFamily;

/* A table in HBase; of a dated one, the table of one name. */
typedef struct TideVerifyTable {
  const TideTable *table; /* borrowed from the configuration */
  gboolean is_there;      /* when it was looked for: at the start, or when a message first named it */
  guint first_family;
  guint n_families;
  guint64 counts[TIDE_VERDICT_COUNT]; /* cells */
} TideVerifyTable;

typedef struct TideVerifyTables TideVerifyTables;

/**
 * tide_verify_tables_new: the declared tables, and those of dated ones that exist.
 * @wanted: (element-type utf8): names of tables to verify; none: all. A dated one's name stands for all of its tables
 * Errors: USAGE for a name that no table has; those of the calls.
 */
TideVerifyTables *tide_verify_tables_new(const TideConfig *config, TideGatewaySession *session, const GPtrArray *wanted,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_verify_tables_free(TideVerifyTables *tables); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideVerifyTables, tide_verify_tables_free)

guint tide_verify_tables_count(const TideVerifyTables *tables);
TideVerifyTable *tide_verify_tables_at(const TideVerifyTables *tables, guint slot);
const TideVerifyFamily *tide_verify_tables_family(const TideVerifyTables *tables, guint family);
TideGatewaySession *tide_verify_tables_session(TideVerifyTables *tables);

/**
 * tide_verify_tables_find: the place of the table that @row goes to; of a dated name that is new, it is looked for in
 * HBase.
 * @ret_slot: TIDE_TABLE_NONE: it is not to be verified
 */
gboolean tide_verify_tables_find(TideVerifyTables *tables, const TideRow *row, guint *ret_slot,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The window of the declared table grows to the time of a cell that must be there. */
void tide_verify_tables_note_time(TideVerifyTables *tables, guint slot, gint64 time_ms);

TideVerifyRow tide_verify_row(guint slot, TideBytes key);

/* Fills in row, family, column, time and value. FALSE when the table has no such family. */
gboolean tide_verify_tables_entry(const TideVerifyTables *tables, guint slot, TideVerifyRow row,
                                  const TideResultCell *cell, TideVerifyEntry *ret_entry);

/* What @entry is judged by. @now_ms: wall clock. */
TideVerifyRule tide_verify_tables_rule(const TideVerifyTables *tables, const TideVerifyEntry *entry, gint64 now_ms,
                                       gboolean is_whole);

typedef struct TideVerifyScan {
  guint slot;
  guint64 rate_rows_per_s;  /* 0: not limited */
  const volatile int *stop; /* borrowed: not 0 ends it with CANCELLED */
  /* Each row. Return FALSE to end the scan. */
  gboolean (*take_row)(const TideResultRow *row, gpointer data);
  gpointer data;
} TideVerifyScan;

/**
 * tide_verify_tables_scan: read the rows of one table whose cells the window says something about, as far as HBase can
 * be told so: of a table of readings all from the window's oldest time on, of a latest table all. Nothing is read of
 * one that is not there, or that no message says anything about. Errors: those of the scan, when it has not moved for a
 * minute; CANCELLED.
 */
gboolean tide_verify_tables_scan(TideVerifyTables *tables, const TideVerifyScan *scan,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether the window says nothing about a cell of that time. */
gboolean tide_verify_tables_is_outside(const TideVerifyTables *tables, guint slot, gint64 time_ms);

G_END_DECLS
