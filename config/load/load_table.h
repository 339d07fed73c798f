/* A table while it is loaded, and the loader's pieces for its parts. Each adds the problems it finds and continues. */
#pragma once

#include "config/load/load_pieces.h"
#include "config/option/table_language.h"

G_BEGIN_DECLS

/* A list of key parts as declared. */
typedef struct TidePartList {
  const TideKeyPartSpec *specs; /* in the load's scratch memory */
  gsize n;
  const TideYamlNode *node; /* the list, or the only part; NULL: nothing was read */
} TidePartList;

typedef struct TideTableLoad {
  TideLoad *load;
  TideTable *table; /* being filled; owned by the configuration */
  const TideYamlNode *key_node;
  const TideYamlNode *node; /* the table's mapping */
  char *path;               /* owned: "tables.METRIC" */
  TideTableDraft draft;
  TidePartList key;        /* without specs if it has errors */
  GArray *qualifiers;      /* owned (element-type TidePartList): those that are built for each reading */
  gboolean has_time_value; /* one of the cells contains exactly the time */
} TideTableLoad;

/* Reads the parts at @node. @path: "tables.METRIC.key". FALSE if one of them has errors. */
gboolean tide_load_parts(TideLoad *load, const char *path, const TideYamlNode *node,
                         TidePartList *ret_parts) G_GNUC_WARN_UNUSED_RESULT;

/* The position of part @index of @parts. */
const TideYamlNode *tide_load_part_node(const TidePartList *parts, gsize index);

/* Checks the options of one part beyond its table; the table has filled @spec. */
void tide_load_field_part(TideLoad *load, const char *path, const TideYamlNode *node, TideKeyPartSpec *spec);
void tide_load_time_part(TideLoad *load, const char *path, const TideYamlNode *node, TideKeyPartSpec *spec);

/* Reads a row key; NULL if it has errors. */
TideRowKey *tide_load_key(TideLoad *load, const char *path, const TidePartList *parts);

/* Reads parts that form a qualifier or a value. NULL if they have errors. */
TideKeyText *tide_load_key_text(TideLoad *load, const char *path, const TidePartList *parts, gboolean with_name);

/* Appends a condition, or a list of them, to @conditions (element-type TideCondition, owned there). */
void tide_load_conditions(TideLoad *load, const char *path, const TideYamlNode *node, GArray *conditions);

/* Reads @table's own `time`, or a mapping in its `cell_time`. (transfer full), also if it has errors. */
TideTimeSpec *tide_load_table_time(TideLoad *load, const TideTable *table, const char *path, const TideYamlNode *node);

/* Reads the columns of a table: its rules, and what TideTableLoad keeps of them. */
void tide_load_columns(TideTableLoad *it, const TideYamlNode *node);

/* Reads `splits`, or derives them from `regions` and the key. */
void tide_load_splits(TideTableLoad *it);

/* Reads the table's name: plain, or with a date in it. */
void tide_load_table_name(TideTableLoad *it);

/* Checks the options of a table, its key and its cells against each other: contradictions and warnings. */
void tide_load_check_table(TideTableLoad *it);
void tide_load_warn_of_table(TideTableLoad *it);

/* Resolves index_of when all tables are known. (element-type TideTableLoad) */
void tide_load_indexes(GPtrArray *tables);

G_END_DECLS
