/* How much of everything a load needs: the sums of docs/sizing.md, from what a row and a cell cost where that was
 * measured. A pure function of the load: the same load, the same plan. */
#pragma once

#include <glib.h>
#include <stdio.h>

G_BEGIN_DECLS

/* What its figures of memory and disk count. */
#define TIDE_PLAN_MIB ((double)(1 << 20))
#define TIDE_PLAN_TIB (TIDE_PLAN_MIB * (1 << 20))

/* What one reading makes in the tables of one kind. */
typedef struct TidePlanRows {
  double rows;
  double cells;
  double stored_bytes; /* before encoding and compression, one copy */
  guint n_tables;
} TidePlanRows;

typedef struct TidePlanLoad {
  double readings_per_s;
  double messages_per_reading;
  double message_bytes;
  double machines; /* keys of a latest table */
  gboolean machines_assumed;
  TidePlanRows history;
  TidePlanRows latest;    /* before a row replaces another of its machine */
  double latest_window_s; /* that a latest row waits for newer values */
  double path_us;         /* of a reading, from its bytes to batches, as measured here; 0: by the model */
  double retention_s;     /* of the tables with history, on average by their bytes */
  double min_ttl_s;       /* of their cells that have one, which is taken for these; 0: none is */
  double max_ttl_s;
  double other_retention_s; /* of the others; 0: there are none, or min_ttl_s is */
  double kafka_retention_s; /* of the topic */
  double stored_share;      /* what encoding and compression leave; above 0 */
  gboolean share_unknown;   /* families declare some, and nobody said what it leaves */
  double memory_bytes;      /* limits.memory of the configuration; 0: there is none */
  guint replication;        /* of HDFS and of the topic; at least 1 */
  guint cores;              /* of each host; at least 1 */
  double margin;            /* the share of them that stays free; below 1 */
} TidePlanLoad;

/* What the sums stand on. */
typedef struct TidePlanCost {
  const char *name;
  double value;
  const char *unit;
  const char *source;
} TidePlanCost;

typedef enum TidePlanCostName {
  TIDE_COST_MESSAGE,      /* of the daemon: Kafka's client */
  TIDE_COST_MESSAGE_BYTE, /* likewise */
  TIDE_COST_ROW,          /* of the daemon: from a message's bytes to a batch */
  TIDE_COST_CELL,         /* likewise */
  TIDE_COST_LIVE,         /* for each reading more where fetches and calls are small */
  TIDE_COST_GATEWAY_ROW,
  TIDE_COST_GATEWAY_CELL,
  TIDE_COST_HBASE_ROW,
  TIDE_COST_HBASE_CELL,
  TIDE_COST_CONNECTIONS, /* for each core that gateways and HBase have */
  TIDE_COST_REGION,      /* bytes of a region, one copy */
  TIDE_COST_REGIONS,     /* of a server, at the most */
  TIDE_COST_DISK_FREE,   /* share */
  TIDE_N_COSTS,
} TidePlanCostName;

extern const TidePlanCost tide_plan_costs[TIDE_N_COSTS];

typedef enum TidePlanName {
  TIDE_PLAN_DAEMONS,
  TIDE_PLAN_THREADS,
  TIDE_PLAN_WRITERS,
  TIDE_PLAN_MEMORY,
  TIDE_PLAN_PARTITIONS,
  TIDE_PLAN_TOPIC_DISK,
  TIDE_PLAN_GATEWAYS,
  TIDE_PLAN_REGION_SERVERS,
  TIDE_PLAN_FIRST_REGIONS,
  TIDE_PLAN_REGIONS,
  TIDE_PLAN_DISK,
  TIDE_PLAN_N,
} TidePlanName;

typedef struct TidePlanFigure {
  const char *name; /* for programs */
  const char *title;
  const char *unit;
  double value;
  char *why; /* owned */
} TidePlanFigure;

typedef struct TidePlan {
  double rows_per_s; /* as HBase gets them */
  double cells_per_s;
  double client_cores; /* busy, of all daemons */
  double gateway_cores;
  double hbase_cores;
  TidePlanFigure figures[TIDE_PLAN_N];
} TidePlan;

/* @bytes in the largest unit of which there is one: "TiB", ..., "bytes". */
double tide_plan_size(double bytes, const char **ret_unit);

/* Bytes of a cell, of history or latest, whichever are more. */
double tide_plan_cell_bytes(const TidePlanLoad *load);

/* Cells of more bytes than this cost more than the model says, which was measured with numbers, and with ten of them
 * packed. */
#define TIDE_PLAN_MEASURED_CELL_BYTES 400.0

/* Of each host: those that the margin leaves to the load. */
double tide_plan_usable_cores(const TidePlanLoad *load);

/* Regions that each of @n_servers (at least two) holds of all tables before there is data, while one is away: may be
 * more than TIDE_COST_REGIONS. */
double tide_plan_first_regions_of_server(const TidePlanLoad *load, double n_servers);

/* What the budget is charged for latest rows that wait, of so many bytes as HBase stores them. */
double tide_plan_waiting_bytes(double n_rows, double stored_bytes);

/* Whether something was reckoned with @cost. */
gboolean tide_plan_uses(const TidePlanLoad *load, TidePlanCostName cost);

/* Whether one host for each role carries the load, and one region all tables: then counts are what a plan has at the
 * least. */
gboolean tide_plan_is_small(const TidePlanLoad *load, const TidePlan *plan);

void tide_plan_make(const TidePlanLoad *load, TidePlan *ret_plan);
void tide_plan_clear(TidePlan *plan);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TidePlan, tide_plan_clear)

/* ---- plan_report.c: as tables for people, or as a JSON object for programs ---- */

void tide_plan_print(FILE *stream, const TidePlanLoad *load, const TidePlan *plan);
void tide_plan_print_json(FILE *stream, const TidePlanLoad *load, const TidePlan *plan); /* one line */

/* Where nobody said how many machines there are. Of tables it stands beside them, on standard error, as a program reads
 * it among the notes. (transfer full) */
char *tide_plan_machines_note(const TidePlanLoad *load);

G_END_DECLS
