/* The document of /status: one table defines its members and their meaning. It produces the JSON and the table in
 * docs/status.md.
 *
 * Threads: one at a time. */
#pragma once

#include "consumer/partition.h"
#include "dead_letters/dead_letter_reasons.h"
#include "gateway/gateways.h"
#include "kafka/kafka_watch.h"
#include "service/bottleneck.h"
#include "util/bytes.h"
#include "write/lanes.h"

G_BEGIN_DECLS

typedef struct TideStatusKafka {
  char *group;           /* owned */
  gboolean is_reachable; /* a broker answers */
  gint64 assigned_partitions;
  gint64 halted_partitions;
  gint64 paused_partitions;
  gint64 lag_messages; /* -1: unknown, also below */
  gint64 lag_seconds;
  gint64 unread_messages;
  int throttle_ms; /* delay that brokers now impose on consumers */
  gint64 in_flight_messages;
  double messages_per_second;
  char *error;          /* owned; NULL: none */
  char *schema_trouble; /* owned: why a registry does not give the schema that a partition waits for; NULL: none */
} TideStatusKafka;

typedef struct TideStatusTable {
  TideLoad load;    /* first, as in TideStatusRegion: all that is owned, for tide_load_clear() */
  const char *name; /* borrowed */
  gint64 regions;   /* 0: unknown */
  gint64 memory_bytes;
  double memory_share; /* share of one table's maximum */
} TideStatusTable;

typedef struct TideStatusRegion {
  TideLoad load;
  const char *table; /* borrowed */
} TideStatusRegion;

/* A pause that an operator started. */
typedef struct TideStatusPause {
  const char *scope; /* literal: tide_pause_scope_names */
  char *name;        /* owned; NULL: everything */
  char *reason;      /* owned; NULL: none was given */
  gint64 since_ms;
  gint64 until_ms; /* 0: until it is resumed */
  char *no_effect; /* owned; NULL: it has one */
} TideStatusPause;

typedef struct TideStatusOperator {
  GArray *pauses;    /* owned (element-type TideStatusPause) */
  char *paused;      /* owned: summary of those that have an effect; NULL: none has. Not in the document */
  gboolean is_paced; /* rows wait for limits.rows_per_second. Not in the document */
} TideStatusOperator;

typedef struct TideStatusWriter {
  gint64 index;
  const char *gateway; /* borrowed; NULL: none yet */
  double call_seconds; /* negative: no call runs */
} TideStatusWriter;

typedef struct TideStatusDeadLetters {
  char *location;        /* owned: NULL: there is none */
  char *blocked;         /* owned: why none can be kept; NULL: they can */
  gboolean has_too_many; /* the reason for blocked */
  TideDeadLettersView view;
} TideStatusDeadLetters;

typedef struct TideStatusMemory {
  gint64 limit_bytes;
  gint64 budget_bytes;
  gint64 used_bytes;
  gint64 uncertain_bytes;
  gint64 resident_bytes;
  double paused_share; /* share of about the last second in which the longest-waiting consumer read nothing for lack of
                        * memory */
} TideStatusMemory;

typedef struct TideStatusCpu {
  gint64 cores;
  double process; /* cores in use, over the last seconds */
  double busiest_consumer;
} TideStatusCpu;

typedef struct TideStatusBottleneck {
  const char *limit; /* literal: tide_limit_name() */
  char *why;         /* owned */
} TideStatusBottleneck;

/* The last reload of the configuration. */
typedef struct TideStatusReload {
  const char *result;  /* literal: "none", "applied", "failed" */
  char *at;            /* owned: when; NULL: none since the start */
  char *applied;       /* owned: options, separated by commas; NULL: none, or it failed */
  char *needs_restart; /* owned: likewise; of the last valid file */
  char *error;         /* owned: why it failed; NULL: it did not */
} TideStatusReload;

/* Zeroes and NULL are an empty document. */
typedef struct TideStatus {
  const char *version; /* borrowed */
  char *started_at;    /* owned */
  gint64 uptime_seconds;
  const char *stage; /* literal */
  gboolean ready;
  gboolean healthy;
  char *reason; /* owned: why not; NULL: it is both */
  char *line;   /* owned */
  TideStatusBottleneck bottleneck;
  TideBottleneckVerdict restart;
  TideBottleneckVerdict hot_region;
  TideStatusOperator operator;
  TideStatusKafka kafka;
  GArray *partitions; /* owned (element-type TidePartitionView), like those below */
  GArray *tables;     /* (element-type TideStatusTable) */
  GArray *regions;    /* (element-type TideStatusRegion) */
  GArray *gateways;   /* (element-type TideGatewayView) */
  GArray *writers;    /* (element-type TideStatusWriter) */
  TideStatusDeadLetters dead_letters;
  TideStatusMemory memory;
  TideStatusCpu cpu;
  TideStatusReload reload;
  char *configuration_file; /* owned */
  char *configuration;      /* owned: YAML, secrets masked */
} TideStatus;

void tide_status_clear(TideStatus *status);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideStatus, tide_status_clear)

/* Frees the members of @reload and empties it. */
void tide_status_reload_clear(TideStatusReload *reload);

/* As JSON with a line break. (transfer full) */
char *tide_status_print(const TideStatus *status);

/* As HTML: a table for each object and list, for browsers without scripts. (transfer full) */
char *tide_status_print_tables(const TideStatus *status);

/* The table of all members in docs/status.md. (transfer full) */
char *tide_status_print_reference(void);

G_END_DECLS
