/* One table while it is loaded, and the loader's pieces for its parts. Each adds what it finds wrong to the problems
 * and goes on. */
#pragma once

#include "config/load/load.h"
#include "config/option/table_language.h"

G_BEGIN_DECLS

/* A list of key parts as it is declared. */
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
  TidePartList key;        /* without specs when it has errors */
  GArray *qualifiers;      /* owned (element-type TidePartList): those that are made for each reading */
  gboolean has_time_value; /* one of the cells is the time, and nothing else */
} TideTableLoad;

/* The parts at @node. @path: "tables.METRIC.key". FALSE when one of them has errors. */
gboolean tide_load_parts(TideLoad *load, const char *path, const TideYamlNode *node,
                         TidePartList *ret_parts) G_GNUC_WARN_UNUSED_RESULT;

/* Where the part @index of @parts stands. */
const TideYamlNode *tide_load_part_node(const TidePartList *parts, gsize index);

/* The options of one part beyond its table; @spec was filled by the table. */
void tide_load_field_part(TideLoad *load, const char *path, const TideYamlNode *node, TideKeyPartSpec *spec);
void tide_load_time_part(TideLoad *load, const char *path, const TideYamlNode *node, TideKeyPartSpec *spec);

/* An option of a part that changes nothing beside the others: an error where it is given. */
void tide_load_refuse_part_option(TideLoad *load, const char *path, const TideYamlNode *part, const char *option,
                                  const char *reason);

/* A row key; NULL when it has errors. */
TideRowKey *tide_load_key(TideLoad *load, const char *path, const TidePartList *parts);

/* Parts that make a qualifier or a value. NULL when they have errors. */
TideKeyText *tide_load_key_text(TideLoad *load, const char *path, const TidePartList *parts, gboolean with_name);

/* A condition, or a list of them, appended to @conditions (element-type TideCondition, owned there). */
void tide_load_conditions(TideLoad *load, const char *path, const TideYamlNode *node, GArray *conditions);

/* @table's own `time` or a mapping in its `cell_time`. (transfer full), also where it has errors. */
TideTimeSpec *tide_load_table_time(TideLoad *load, const TideTable *table, const char *path, const TideYamlNode *node);

/* The columns of a table: its rules, and what TideTableLoad keeps of them. */
void tide_load_columns(TideTableLoad *it, const TideYamlNode *node);

/* `splits`, or what follows from `regions` and the key. */
void tide_load_splits(TideTableLoad *it);

/* What the table's name says: a plain one, or one with a date in it. */
void tide_load_table_name(TideTableLoad *it);

/* What the table's options say together, and what stands in its key and cells: contradictions and warnings. */
void tide_load_check_table(TideTableLoad *it);
void tide_load_warn_of_table(TideTableLoad *it);

/* index_of, when all tables are known. (element-type TideTableLoad) */
void tide_load_indexes(GPtrArray *tables);

G_END_DECLS
