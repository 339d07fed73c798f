/* An HBase in memory for tests: tables, regions, rows, cells with timestamps, and statistics. Several gateways can
 * share one.
 *
 * What it does as HBase does: the same row, column and timestamp written twice keeps the later value; a read returns
 * the greatest timestamps, up to the family's versions; cells past their `_ttl` are not read; rows are in byte order. A
 * delete of a family up to a time leaves a marker, which hides every put of a cell time up to its own, whichever came
 * first, until a major compaction drops the marker and what it hides; a put that comes after that is seen again. What
 * it leaves out: other deletes, filters but for parts of row keys, coprocessors, permissions.
 *
 * Threads: all functions may be called from any; one lock of its own, never held while waiting for anything else. */
#pragma once

#include "util/bytes.h"
#include "util/lock.h"

G_BEGIN_DECLS

static inline TideMutex *
fake_lock(TideMutex *mutex)
{
  tide_mutex_lock(mutex);
  return mutex;
}

static inline void
fake_unlock(TideMutex **mutex)
{
  tide_mutex_unlock(*mutex);
}

/* Holds @mutex_ up to the end of the block. */
#define FAKE_HOLD(mutex_) __attribute__((cleanup(fake_unlock), unused)) TideMutex *held_ = fake_lock(mutex_)

typedef struct TideFakeHBase TideFakeHBase;

/* What a call comes to. The texts are those of HBase 2.6.1 behind its gateway. */
typedef enum TideFakeErrorKind {
  TIDE_FAKE_ERROR_NONE,
  TIDE_FAKE_ERROR_IO,       /* TIOError */
  TIDE_FAKE_ERROR_ARGUMENT, /* TIllegalArgument */
  TIDE_FAKE_ERROR_INTERNAL, /* TApplicationException: the gateway's handler threw what its service does not
                             * declare */
} TideFakeErrorKind;

typedef struct TideFakeError {
  TideFakeErrorKind kind;
  char *message; /* owned */
  gboolean can_retry;
} TideFakeError;

void fake_error_clear(TideFakeError *error);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideFakeError, fake_error_clear)

#define TIDE_FAKE_NO_TIMESTAMP G_MAXINT64 /* HConstants.LATEST_TIMESTAMP: the server's clock decides */

typedef struct TideFakeCell {
  TideBytes family;
  TideBytes qualifier;
  TideBytes value;
  gint64 timestamp_ms; /* in a put TIDE_FAKE_NO_TIMESTAMP where the client sent none */
} TideFakeCell;

/* Deletes what is in a family with a cell time up to, and at, to_ms. */
typedef struct TideFakeDelete {
  TideBytes family;
  gint64 to_ms;
} TideFakeDelete;

/* A row as written or as read; all bytes are borrowed. */
typedef struct TideFakeRow {
  TideBytes row;
  const TideFakeCell *cells;
  guint n_cells;
  gint64 ttl_ms;                 /* of a put: its attribute `_ttl`; 0: none */
  const TideFakeDelete *deletes; /* of a mutateRow */
  guint n_deletes;
  gboolean has_empty_put; /* a mutateRow had a put without cells */
} TideFakeRow;

/* Who writes, for the write log. */
typedef struct TideFakeOrigin {
  guint64 call;       /* counts calls of one gateway from 1 */
  guint64 connection; /* counts connections of one gateway from 1 */
} TideFakeOrigin;

TideFakeHBase *fake_hbase_new(void);
TideFakeHBase *fake_hbase_ref(TideFakeHBase *hbase);
void fake_hbase_unref(TideFakeHBase *hbase); /* NULL ok */

/* Tables. A name is "TABLE" or "ns:TABLE"; "default:TABLE" is "TABLE". */

/* Settings as TColumnFamilyDescriptor names them. */
typedef struct TideFakeFamily {
  char *name; /* owned */
  gint32 block_size_bytes;
  gint32 bloom_filter;
  gint32 compression;
  gint32 data_block_encoding;
  gint32 max_versions;
  gint32 min_versions;
  gint32 time_to_live_s;
  gboolean block_cache;
  gboolean in_memory;
} TideFakeFamily;

typedef struct TideFakeAttribute {
  TideBytes name;  /* owned */
  TideBytes value; /* owned */
} TideFakeAttribute;

typedef struct TideFakeTableSpec {
  char *name;          /* owned */
  GPtrArray *families; /* owned (element-type TideFakeFamily) */
  GArray *attributes;  /* owned (element-type TideFakeAttribute) */
  int durability;      /* as Thrift numbers it; 0: the default */
} TideFakeTableSpec;

TideFakeTableSpec *fake_table_spec_new(const char *name);
TideFakeFamily *fake_table_spec_add_family(TideFakeTableSpec *spec, const char *name); /* with HBase's defaults */
void fake_table_spec_add_attribute(TideFakeTableSpec *spec, TideBytes name, TideBytes value); /* copies */
TideFakeTableSpec *fake_table_spec_copy(const TideFakeTableSpec *spec);
void fake_table_spec_free(TideFakeTableSpec *spec);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideFakeTableSpec, fake_table_spec_free)

/* @spec: (transfer full), also on failure. @splits: n_splits keys in any order, copied. */
gboolean fake_hbase_create_table(TideFakeHBase *hbase, TideFakeTableSpec *spec, const TideBytes *splits, guint n_splits,
                                 TideFakeError *error);
gboolean fake_hbase_delete_table(TideFakeHBase *hbase, const char *table, TideFakeError *error);
gboolean fake_hbase_set_enabled(TideFakeHBase *hbase, const char *table, gboolean enabled, TideFakeError *error);
void fake_hbase_set_durability(TideFakeHBase *hbase, const char *table, int durability);
gboolean fake_hbase_is_enabled(TideFakeHBase *hbase, const char *table, gboolean *ret_enabled, TideFakeError *error);
gboolean fake_hbase_create_namespace(TideFakeHBase *hbase, const char *name, TideFakeError *error);
char **fake_hbase_namespaces(TideFakeHBase *hbase); /* sorted; (transfer full) */
char **fake_hbase_tables(TideFakeHBase *hbase);     /* sorted, as "TABLE" or "ns:TABLE"; (transfer full) */
gboolean fake_hbase_table_exists(TideFakeHBase *hbase, const char *table);

/* The id of the cluster: the same of all until it is set. */
#define FAKE_CLUSTER "0c6a4d0e-8a51-4a3c-9d63-1f5e2b7c9a10"
char *fake_hbase_cluster(TideFakeHBase *hbase); /* (transfer full) */
void fake_hbase_set_cluster(TideFakeHBase *hbase, const char *cluster);
/* A copy. Ownership: (transfer full). */
TideFakeTableSpec *fake_hbase_describe(TideFakeHBase *hbase, const char *table, TideFakeError *error);

/* Regions. */

typedef struct TideFakeRegion {
  TideBytes start_key; /* owned */
  TideBytes end_key;   /* owned */
  gint64 region_id;
  gboolean offline;
  gboolean split; /* a parent that was split and is still listed, offline */
  gint32 replica_id;
} TideFakeRegion;

/* As getAllRegionLocations lists them: parents and replicas among them; empty for a missing table.
 * Ownership: (transfer full) (element-type TideFakeRegion). */
GPtrArray *fake_hbase_regions(TideFakeHBase *hbase, const char *table);
/* Cuts the region that holds @key in two. With @list_parent the old one stays in the list, offline. */
void fake_hbase_split_region(TideFakeHBase *hbase, const char *table, TideBytes key, gboolean list_parent);
/* Lists the region that holds @key as offline, which is no parent of a split. */
void fake_hbase_set_offline(TideFakeHBase *hbase, const char *table, TideBytes key, gboolean offline);
/* Joins the region that holds @key and the one behind it. */
void fake_hbase_merge_regions(TideFakeHBase *hbase, const char *table, TideBytes key);
void fake_hbase_set_replicas(TideFakeHBase *hbase, const char *table, gint32 n_replicas);

/* Writing. */

/* hbase.server.keyvalue.maxsize: a row with a value that is longer fails by itself, the others of its call are written.
 * 0, as at first: no limit. */
void fake_hbase_set_max_cell_bytes(TideFakeHBase *hbase, gsize max_cell_bytes);

/* Which rows of a put call are applied: TRUE applies. */
typedef gboolean (*TideFakeRowFilter)(guint index, TideBytes row, gpointer data);

/**
 * fake_hbase_put: apply @rows, in their order, as one putMultiple does: rows with an unknown family fail, the
 * rest is written; an impossible row (empty, too long, without cells, value too large) fails the whole call
 * before anything.
 * @filter: (nullable): leaves rows out, to make a call that was carried out in part
 * Returns: FALSE with @error when any row failed.
 */
gboolean fake_hbase_put(TideFakeHBase *hbase, const char *table, const TideFakeRow *rows, guint n_rows,
                        TideFakeOrigin origin, TideFakeRowFilter filter, gpointer filter_data, TideFakeError *error);

/**
 * fake_hbase_mutate_row: the puts and deletes of one row as one, or nothing of them.
 * @filter: (nullable): leaves the row out
 * Returns: FALSE with @error when it failed.
 */
gboolean fake_hbase_mutate_row(TideFakeHBase *hbase, const char *table, const TideFakeRow *row, TideFakeOrigin origin,
                               TideFakeRowFilter filter, gpointer filter_data, TideFakeError *error);

/* What HBase does once a week or when told: markers go, and what they hide. Those stay whose own time is not longer ago
 * than the table's attribute hbase.hstore.time.to.purge.deletes says (milliseconds). */
void fake_hbase_major_compact(TideFakeHBase *hbase, const char *table);

/* The gateway brackets each put call by these, up to just before its reply: they keep the greatest number of
 * calls in flight, for each region and for each row. */
typedef struct TideFakeFlight TideFakeFlight;
TideFakeFlight *fake_hbase_flight_begin(TideFakeHBase *hbase, const char *table, const TideFakeRow *rows, guint n_rows);
void fake_hbase_flight_end(TideFakeHBase *hbase, TideFakeFlight *flight); /* frees @flight; NULL ok */

/* Reading, as a client's get and scan do. */

typedef struct TideFakeColumn {
  TideBytes family;
  TideBytes qualifier; /* with has_qualifier */
  gboolean has_qualifier;
} TideFakeColumn;

typedef struct TideFakeQuery {
  TideBytes start_row;           /* inclusive; empty: the end where the scan begins */
  TideBytes stop_row;            /* exclusive; empty: none */
  const TideFakeColumn *columns; /* none: all */
  guint n_columns;
  gint64 min_time_ms;  /* inclusive */
  gint64 max_time_ms;  /* exclusive; 0 with min 0: no limits */
  gint32 max_versions; /* 0: 1 */
  gint64 limit_rows;   /* 0: none */
  gboolean reversed;
  TideBytes filter;     /* one or more RowFilter (=, 'substring:...'), joined by AND; empty: none */
  gboolean after_start; /* leave start_row itself out: how a scanner goes on */
} TideFakeQuery;

typedef void (*TideFakeRowFunc)(const TideFakeRow *row, gpointer data);

/* Hands each row with visible cells to @func, under the lock: @func must not call back. Returns the number of
 * rows. */
guint64 fake_hbase_scan(TideFakeHBase *hbase, const char *table, const TideFakeQuery *query, TideFakeRowFunc func,
                        gpointer data, TideFakeError *error);

/* Asking, for assertions. */

/* The newest value of a cell that no marker hides, NULL when there is none. Ownership: (transfer full). */
GBytes *fake_hbase_value(TideFakeHBase *hbase, const char *table, const char *row, const char *family,
                         const char *qualifier, gint64 *ret_timestamp_ms);
guint64 fake_hbase_row_count(TideFakeHBase *hbase, const char *table);  /* rows ever written and not dropped */
guint64 fake_hbase_cell_count(TideFakeHBase *hbase, const char *table); /* all versions */

/**
 * fake_hbase_dump: the table as text, one line a cell: row, family:qualifier, timestamp and value, parted by
 * tabs, in HBase's order, bytes printed as by tide_bytes_printable(). Two tables are equal when their dumps
 * are.
 * @all_versions: every version that is kept, instead of those that a reader sees
 */
char *fake_hbase_dump(TideFakeHBase *hbase, const char *table, gboolean all_versions);

/* Deadlines are monotonic, as tide_now_us(). FALSE when one passed. */
gboolean fake_hbase_wait_rows(TideFakeHBase *hbase, const char *table, guint64 n_rows, gint64 deadline_us);
gboolean fake_hbase_wait_value(TideFakeHBase *hbase, const char *table, const char *row, const char *family,
                               const char *qualifier, const char *value, gint64 deadline_us);

guint fake_hbase_max_flights_of_a_region(TideFakeHBase *hbase, const char *table);
guint fake_hbase_max_flights_of_a_row(TideFakeHBase *hbase, const char *table);

/* One cell as it was written, or one family's delete, in the order of arrival. */
typedef struct TideFakeWrite {
  TideFakeOrigin origin;
  char *table; /* owned, as are the bytes */
  TideBytes row;
  TideBytes family;
  TideBytes qualifier;
  TideBytes value;
  gint64 timestamp_ms;
  gint64 ttl_ms;      /* the row's `_ttl`; 0: none */
  gint64 applied_us;  /* monotonic */
  gboolean is_delete; /* of all of the family up to timestamp_ms; without qualifier and value */
} TideFakeWrite;

/* The number of markers that no compaction has dropped. */
guint64 fake_hbase_marker_count(TideFakeHBase *hbase, const char *table);

/* The log is off until it gets a limit; writes past the limit are left out of it. */
void fake_hbase_log_writes(TideFakeHBase *hbase, guint max_cells);
/* A copy of the log so far. Ownership: (transfer full) (element-type TideFakeWrite). */
GPtrArray *fake_hbase_writes(TideFakeHBase *hbase);

G_END_DECLS
