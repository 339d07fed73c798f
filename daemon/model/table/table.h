/* A declared table: key, columns, latest mode, and settings for its creation. Compiled when the configuration is
 * loaded, then read-only and shared by all threads. */
#pragma once

#include "model/condition.h"
#include "model/key/row_key.h"
#include "model/table/unit_change.h"
#include "model/time/time_spec.h"
#include "thrift/wire/table_description.h"

G_BEGIN_DECLS

typedef enum TideLatestMode {
  TIDE_LATEST_NONE,    /* a history table: every row is written */
  TIDE_LATEST_MERGE,   /* keeps the newest value of each cell; rows of one key are merged before they are sent */
  TIDE_LATEST_REPLACE, /* makes the row exactly the newest reading: one mutation puts its cells at its time and deletes
                        * the families up to the millisecond before */
  TIDE_LATEST_PACKED, /* like MERGE, but the whole reading is one cell (its rules pack), so it is replaced as a whole */
} TideLatestMode;

/* The effect of a tombstone, a message without a value, on a latest table. */
typedef enum TideTombstonePolicy {
  TIDE_TOMBSTONE_IGNORE,
  TIDE_TOMBSTONE_DELETE, /* deletes the row named by the record's key, up to the record time */
} TideTombstonePolicy;

/* The time of a table's cells. */
typedef enum TideCellTime {
  TIDE_CELL_TIME_EVENT,  /* the table's event time */
  TIDE_CELL_TIME_RECORD, /* the record time: corrections of one event time become versions */
  TIDE_CELL_TIME_FIELD,  /* the time in another field: cell_time_spec */
} TideCellTime;

/* How a field's text becomes a cell's value. */
typedef enum TideEncoding {
  TIDE_ENCODE_TEXT,            /* as received */
  TIDE_ENCODE_INT64,           /* 8 bytes big-endian, as Java's Bytes.toBytes(long) */
  TIDE_ENCODE_FLOAT64,         /* 8 bytes big-endian, as Bytes.toBytes(double) */
  TIDE_ENCODE_JSON,            /* the JSON text: strings in quotes */
  TIDE_ENCODE_FLOAT64_ROUNDED, /* the nearest FLOAT64 of any number */
} TideEncoding;

/* Whether all fields of a rule go into one cell. */
typedef enum TidePacking { TIDE_PACK_NONE, TIDE_PACK_JSON, TIDE_PACK_MSGPACK } TidePacking;

typedef enum TideNullPolicy { TIDE_NULL_SKIP, TIDE_NULL_EMPTY, TIDE_NULL_REJECT } TideNullPolicy;

/* One item of an entry's `from`: a field by name, all fields that match a pattern, or a computed value. */
typedef struct TideColumnItem {
  TideNameId field; /* a field; TIDE_NAME_NONE with pattern or value */
  char *pattern;    /* owned: selects fields with matching names (glob.h) that no item names and that "*" would select;
                     * NULL: none */
  TideKeyText *value; /* owned: a constant, the time, a part of the key, ...; NULL: none; with qualifier */
  char *qualifier; /* owned; NULL: the field's name, as changed by the rule. With pattern: its stars are replaced by the
                    * texts of the pattern's stars */
  TideUnitChange *units; /* owned: converts a number to another unit; NULL: no conversion */
  int encoding;          /* TideEncoding, only for a field; -1: that of the rule */
} TideColumnItem;

/* One entry of `columns`: which fields go to which family. */
typedef struct TideColumnRule {
  char *family;           /* owned */
  gboolean all_remaining; /* from: "*": every field that neither another rule of the table nor (unless with_key_fields)
                           * the key or its time uses */
  gboolean with_key_fields;
  TideColumnItem *items; /* owned; the fields if not all_remaining */
  gsize n_items;
  TideNullPolicy nulls;
  TideEncoding encoding;
  /* How field names become qualifiers: strip_prefix is removed, then case and spaces are changed, then prefix is added.
   * Declared qualifiers are not changed. */
  char *strip_prefix; /* owned; NULL: none */
  TideTextCase name_case;
  gboolean strip_spaces;
  char *prefix;           /* owned; NULL: none */
  TideKeyText *qualifier; /* owned: built for each reading; NULL: the name. With packing: the qualifier of the cell */
  TidePacking packing;
} TideColumnRule;

typedef struct TideTable {
  guint32 index;   /* in TideConfig.tables */
  char *name;      /* owned: "TABLE" or "ns:TABLE" */
  guint line;      /* of its declaration, for messages */
  TideRowKey *key; /* owned */
  TideLatestMode latest;
  TideTombstonePolicy tombstone;
  guint64 sources;    /* a bit for the index of each source whose readings it accepts; 0: all */
  GArray *conditions; /* owned (element-type TideCondition): a reading has a row only if all hold; NULL: always */
  TideTimeSpec *time; /* owned: the table's own event time; NULL: readings.time */
  TideCellTime cell_time;
  TideTimeSpec *cell_time_spec; /* owned: with TIDE_CELL_TIME_FIELD */
  guint32 index_of; /* for an index: the table of which the same reading's row must be acknowledged before its own row
                     * is sent; TIDE_TABLE_NONE: not an index */
  TideKeyText *dated_name; /* owned: `name` contains a pattern, SENSOR_{yyyyMMdd}, and this builds the names of the
                            * tables, which are created when first needed; NULL: `name` is the table's */
  const struct TideTable
      *declared; /* borrowed: the template of an instance of a dated table; NULL: the table itself is declared */
  GArray *rules; /* owned (element-type TideColumnRule) */
  gint64 ttl_ms; /* 0: none; per row `_ttl` */
  guint32 lane_prefix_bytes; /* number of leading key bytes that select a row's lane while regions are unknown; 0: one
                              * lane */
  _Atomic guint32 rows_per_second; /* limit of sent rows; 0: none. A reload may change it; dated tables share that of
                                    * their template */
  GPtrArray *families;             /* owned (element-type TideFamilySettings): for `tables create` */
  GArray *splits;                  /* owned (element-type TideBytes): declared or computed split points */
  struct {                         /* used only when the table is created */
    gint64 purge_deletes_ms;       /* deletes survive major compactions for this time; 0: not declared */
    guint32 regions;               /* as declared, for split points from a sample; 0: not given */
  } creation;
} TideTable;

#define TIDE_TABLE_NONE G_MAXUINT32

void tide_table_free(TideTable *table);

/* @name without HBase's own namespace: "default:METRIC" and "METRIC" are one table. Points into @name. */
const char *tide_table_short_name(const char *name);

/* The time for which a cell of @family is kept: the shorter of the row's and the family's time to live; 0: forever. */
gint64 tide_table_ttl_ms(const TideTable *table, TideBytes family);

/* Appends the qualifier that @rule derives from the name of a field. A name that equals strip_prefix keeps it. */
void tide_column_rule_append_name(const TideColumnRule *rule, TideBytes name, TideBuffer *out);

/* The fields whose value is in the key, and @time_field (or TIDE_NAME_NONE): a cell would only repeat these. Fields
 * that are only hashed are not included, because their values would be lost. (element-type TideNameId) (transfer full)
 */
GArray *tide_table_key_fields(const TideTable *table, TideNameId time_field);

G_END_DECLS
