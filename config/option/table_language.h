/* The language in which tables are declared: the keys of a table, a family, a columns entry and each kind of key part.
 * A new option is a row here; the parser, its checks and the reference follow. */
#pragma once

#include "config/option/option.h"
#include "model/table/table.h"

G_BEGIN_DECLS

/* The options of a table before they are checked together. */
typedef struct TideTableDraft {
  TideLatestMode latest;
  TideTombstonePolicy tombstone;
  char *index_of;       /* owned; NULL: no index */
  GTimeZone *name_zone; /* owned; NULL: UTC */
  gint64 ttl_ms;
  gint64 purge_deletes_ms; /* 0: not set */
  guint32 regions;         /* 0: not set */
  guint32 lane_prefix_bytes;
  guint32 rows_per_second;
} TideTableDraft;

/* One item of a columns entry's `from`. */
typedef struct TideColumnDraft {
  TideNameId field;
  char *pattern;        /* owned */
  char *qualifier;      /* owned; NULL: the field's own name */
  int encoding;         /* TideEncoding; -1: the entry's */
  TideUnitChange units; /* without digits: not set */
} TideColumnDraft;

/* A condition before its operands are read. */
typedef struct TideConditionDraft {
  TideNameId field;
  gboolean present;
} TideConditionDraft;

/* `splits: { file: PATH }` */
typedef struct TideSplitsDraft {
  char *file; /* owned */
} TideSplitsDraft;

extern const TideConfigGroup tide_table_options;          /* a TideTableDraft */
extern const TideConfigGroup tide_family_options;         /* a TideFamilySettings */
extern const TideConfigGroup tide_columns_options;        /* a TideColumnRule */
extern const TideConfigGroup tide_column_field_options;   /* a TideColumnDraft */
extern const TideConfigGroup tide_column_pattern_options; /* a TideColumnDraft */
extern const TideConfigGroup tide_column_value_options;   /* a TideColumnDraft */
extern const TideConfigGroup tide_condition_options;      /* a TideConditionDraft */
extern const TideConfigGroup tide_splits_options;         /* a TideSplitsDraft */
extern const TideConfigGroup tide_key_field_options;      /* All groups, in the order of the reference;
                                                           * NULL-terminated. */
extern const TideConfigGroup tide_key_default_options;
extern const TideConfigGroup tide_key_time_options;
extern const TideConfigGroup tide_key_hash_options;
extern const TideConfigGroup tide_key_salt_options;
extern const TideConfigGroup tide_key_name_options;
extern const TideConfigGroup tide_key_hex_options;

/* as_is, lower, upper: a TideTextCase. */
extern const TideConfigChoice tide_text_case_choices[];

/* All of them, in the order of the reference; NULL-terminated. */
extern const TideConfigGroup *const tide_table_language[];

G_END_DECLS
