/* A table as it is declared: key, columns, latest mode, and how tidemark creates it. Compiled when the configuration is
 * loaded, then read-only and shared by all threads. */
#pragma once

#include "model/condition.h"
#include "model/key/row_key.h"
#include "model/table/unit_change.h"
#include "model/time/time_spec.h"
#include "thrift/wire/table_description.h"

G_BEGIN_DECLS

typedef enum TideLatestMode {
  TIDE_LATEST_NONE,    /* a data table: every row is written */
  TIDE_LATEST_MERGE,   /* the newest of each cell; rows of one key are coalesced before they are sent */
  TIDE_LATEST_REPLACE, /* the row is exactly the newest reading: its cells are put at its time, and the families are
                        * deleted up to the millisecond before, in one mutation of the row */
  TIDE_LATEST_PACKED,  /* as MERGE; the whole reading is one cell (its rules pack), so it is replaced as one */
} TideLatestMode;

/* What a message without value (a tombstone) does in a latest table. */
typedef enum TideTombstonePolicy {
  TIDE_TOMBSTONE_IGNORE,
  TIDE_TOMBSTONE_DELETE, /* deletes the row that the record's key names, up to the record's time */
} TideTombstonePolicy;

/* Which time the cells of a table get. */
typedef enum TideCellTime {
  TIDE_CELL_TIME_EVENT,  /* the table's event time */
  TIDE_CELL_TIME_RECORD, /* the Kafka record's: corrections of one event time become versions */
  TIDE_CELL_TIME_FIELD,  /* another field's: cell_time_spec */
} TideCellTime;

/* How a field's text becomes a cell's value. */
typedef enum TideEncoding {
  TIDE_ENCODE_TEXT,            /* as received */
  TIDE_ENCODE_INT64,           /* 8 bytes big-endian, as Java's Bytes.toBytes(long) */
  TIDE_ENCODE_FLOAT64,         /* 8 bytes big-endian, as Bytes.toBytes(double) */
  TIDE_ENCODE_JSON,            /* the JSON text: strings in quotes */
  TIDE_ENCODE_FLOAT64_ROUNDED, /* as FLOAT64, of any number the nearest one */
} TideEncoding;

/* Whether all fields of a rule go into one cell. */
typedef enum TidePacking { TIDE_PACK_NONE, TIDE_PACK_JSON, TIDE_PACK_MSGPACK } TidePacking;

typedef enum TideNullPolicy { TIDE_NULL_SKIP, TIDE_NULL_EMPTY, TIDE_NULL_REJECT } TideNullPolicy;

/* One item of an entry's `from`: a field by its name, all fields that match a pattern, or a value that is made. */
typedef struct TideColumnItem {
  TideNameId field;   /* a field; TIDE_NAME_NONE with pattern or value */
  char *pattern;      /* owned: fields whose names match (glob.h), no item names, and "*" would take; NULL: none */
  TideKeyText *value; /* owned: a constant, the time, a part of the key, ...; NULL: none; with qualifier */
  char *qualifier; /* owned; NULL: the field's own name, as the rule changes it. With pattern: its stars stand for what
                    * those of the pattern do */
  TideUnitChange *units; /* owned: of a number, what it is in another unit; NULL: as received */
  int encoding;          /* TideEncoding; -1: the rule's. Of a field only */
} TideColumnItem;

/* One entry of `columns`: which fields go to which family. */
typedef struct TideColumnRule {
  char *family;           /* owned */
  gboolean all_remaining; /* from: "*": every field that no other rule of the table and (unless with_key_fields) no key
                           * or time part uses */
  gboolean with_key_fields;
  TideColumnItem *items; /* owned; else these */
  gsize n_items;
  TideNullPolicy nulls;
  TideEncoding encoding;
  /* how the fields' own names become qualifiers: without strip_prefix, then case, spaces, and the prefix. A declared
   * qualifier stays as it is */
  char *strip_prefix; /* owned; NULL: none */
  TideTextCase name_case;
  gboolean strip_spaces;
  char *prefix;           /* owned; NULL: none */
  TideKeyText *qualifier; /* owned: made anew for each reading; NULL: the name. With packing: of the one cell */
  TidePacking packing;
} TideColumnRule;

typedef struct TideTable {
  guint32 index;   /* in TideConfig.tables */
  char *name;      /* owned: "TABLE" or "ns:TABLE" */
  guint line;      /* of its declaration, for messages */
  TideRowKey *key; /* owned */
  TideLatestMode latest;
  TideTombstonePolicy tombstone;
  guint64 sources;    /* from which it takes readings: the bits of their places in the configuration; 0: from all */
  GArray *conditions; /* owned (element-type TideCondition): a reading makes a row only when all hold; NULL: always */
  TideTimeSpec *time; /* owned: the table's own event time; NULL: readings.time */
  TideCellTime cell_time;
  TideTimeSpec *cell_time_spec; /* owned: with TIDE_CELL_TIME_FIELD */
  guint32 index_of;        /* an index: its row is sent only after the same reading's row in the table of this index was
                            * acknowledged; TIDE_TABLE_NONE: no index */
  TideKeyText *dated_name; /* owned: `name` holds a pattern, SENSOR_{yyyyMMdd}: this makes the names of the tables,
                            * which are created on first need; NULL: `name` is the table's */
  const struct TideTable
      *declared; /* borrowed: of an instance of a dated table, its template; NULL: it is declared itself */
  GArray *rules; /* owned (element-type TideColumnRule) */
  gint64 ttl_ms; /* 0: none; per row `_ttl` */
  guint32
      lane_prefix_bytes; /* rows are laned by this many leading key bytes while the regions are unknown; 0: one lane */
  _Atomic guint32 rows_per_second; /* sent at most; 0: not limited. Changed by a reload; dated tables share that of
                                    * their template */
  GPtrArray *families;             /* owned (element-type TideFamilySettings): how `tables create` makes them */
  GArray *splits;                  /* owned (element-type TideBytes): declared or computed split points */
  struct {                         /* what only the table's creation asks for */
    gint64 purge_deletes_ms;       /* how long deletes are kept through major compactions; 0: not declared */
    guint32 regions;               /* as declared, for split points that are taken from a sample; 0: not given */
  } creation;
} TideTable;

#define TIDE_TABLE_NONE G_MAXUINT32

void tide_table_free(TideTable *table);

/* @name without HBase's own namespace: "default:METRIC" and "METRIC" are one table. Points into @name. */
const char *tide_table_short_name(const char *name);

/* How long a cell of @family is kept: by the row's time to live and the family's, whichever ends first; 0: for ever. */
gint64 tide_table_ttl_ms(const TideTable *table, TideBytes family);

/* Appends the name of a field as @rule makes a qualifier of it: a name that is nothing but strip_prefix keeps it. */
void tide_column_rule_append_name(const TideColumnRule *rule, TideBytes name, TideBuffer *out);

/* The fields whose value stands in the key, and @time_field (or TIDE_NAME_NONE): what a cell would only repeat. A field
 * that is only hashed is not among them: its value would be lost. (element-type TideNameId) (transfer full) */
GArray *tide_table_key_fields(const TideTable *table, TideNameId time_field);

G_END_DECLS
