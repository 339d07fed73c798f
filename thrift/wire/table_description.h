/* HBase's description of a table: its regions, column families, attributes and durability. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

typedef struct TideRegion {
  TideBytes start_key; /* owned; empty for the first region */
  TideBytes end_key;   /* owned; empty for the last */
  char *server;        /* owned: "host:port" */
} TideRegion;

void tide_region_free(TideRegion *region);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideRegion, tide_region_free)

typedef enum TideCompression {
  TIDE_COMPRESSION_LZO = 0, /* values: TCompressionAlgorithm */
  TIDE_COMPRESSION_GZ = 1,
  TIDE_COMPRESSION_NONE = 2,
  TIDE_COMPRESSION_SNAPPY = 3,
  TIDE_COMPRESSION_LZ4 = 4,
  TIDE_COMPRESSION_BZIP2 = 5,
  TIDE_COMPRESSION_ZSTD = 6,
} TideCompression;

/* A column family's settings; 0 or -1, as noted, keeps HBase's default. */
typedef struct TideFamilySettings {
  char *name;              /* owned */
  int compression;         /* TideCompression; -1: default */
  int bloom_filter;        /* 0 none, 1 row, 2 rowcol; -1: default */
  int data_block_encoding; /* TDataBlockEncoding; -1: default */
  gint32 block_size_bytes; /* 0: default */
  gint32 max_versions;     /* 0: default */
  gint32 time_to_live_s;   /* 0: for ever */
  int in_memory;           /* 0, 1; -1: default */
} TideFamilySettings;

typedef struct TideAttribute {
  TideBytes name;  /* owned */
  TideBytes value; /* owned */
} TideAttribute;

/* When HBase acknowledges a row. Below SYNC_WAL, acknowledged rows are lost with a region server. */
typedef enum TideDurability {
  TIDE_DURABILITY_DEFAULT = 0, /* values: TDurability */
  TIDE_DURABILITY_SKIP_WAL = 1,
  TIDE_DURABILITY_ASYNC_WAL = 2,
  TIDE_DURABILITY_SYNC_WAL = 3,
  TIDE_DURABILITY_FSYNC_WAL = 4,
} TideDurability;

typedef struct TideTableDescription {
  char *name;          /* owned: "TABLE" or "ns:TABLE" */
  GPtrArray *families; /* owned (element-type TideFamilySettings) */
  GArray *attributes;  /* owned (element-type TideAttribute); the table's own */
  char *hidden;        /* owned: why HBase hides the rest, and the remedy; NULL: nothing is hidden */
  int durability;      /* TideDurability; -1: unknown. Ignored when creating: HBase's default is to sync */
} TideTableDescription;

TideFamilySettings *tide_family_settings_new(const char *name);                  /* every setting at "default" */
TideFamilySettings *tide_family_settings_copy(const TideFamilySettings *family); /* (transfer full) */
void tide_family_settings_free(TideFamilySettings *family);
/* Finds @name in @families (element-type TideFamilySettings; NULL: there are none). Borrowed; NULL: not found. */
TideFamilySettings *tide_family_settings_find(const GPtrArray *families, TideBytes name);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideFamilySettings, tide_family_settings_free)
TideTableDescription *tide_table_description_new(const char *name);
void tide_table_description_add_attribute(TideTableDescription *description, TideBytes name, TideBytes value);
/* The attribute's value, borrowed; NULL when it is not set. */
const TideBytes *tide_table_description_attribute(const TideTableDescription *description, TideBytes name);
void tide_table_description_free(TideTableDescription *description);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideTableDescription, tide_table_description_free)

G_END_DECLS
