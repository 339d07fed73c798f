/* Decides what limits the daemon's speed now, whether now is a good moment to restart it, and which region is hot. The
 * input is plain numbers, and each rule can be read and tested separately. No lock, no thread, no clock. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum TideLimit {
  TIDE_LIMIT_KAFKA,        /* no more messages arrive, no broker answers, or the group assigns no partitions */
  TIDE_LIMIT_CPU,          /* a consumer thread uses its whole core */
  TIDE_LIMIT_GATEWAY,      /* one is slow, none is up, or all writers wait for them */
  TIDE_LIMIT_REGION,       /* calls of one region or table fail or reach its limit */
  TIDE_LIMIT_MEMORY,       /* the budget is spent, though HBase is not slow */
  TIDE_LIMIT_DEAD_LETTERS, /* they cannot be stored */
  TIDE_LIMIT_HALTED,       /* all partitions, or all with messages to read, wait for an operator */
  TIDE_LIMIT_PAUSED,       /* the operator has paused something */
  TIDE_LIMIT_RATE,         /* rows wait for the rate that the operator allows */
  TIDE_LIMIT_REGISTRY,     /* the schema registry does not give a schema */
  TIDE_N_LIMITS,
} TideLimit;

/* Texts are borrowed; NULL: none. */
typedef struct TideBottleneckFacts {
  gboolean is_running;  /* it has started: gateways and tables were found */
  const char *reason;   /* why it is not ready */
  gint64 drain_seconds; /* limits.drain_timeout */
  struct {
    const char *paused;      /* what is paused */
    gboolean is_paced;       /* rows wait for limits.rows_per_second */
    const char *paced_table; /* of those whose rows wait for their own rate, the one with most of them */
    gint64 paced_rows;       /* waiting, of that table */
    double paced_per_second; /* written, of that table */
  } operator;                /* what the operator wants */
  /* Kafka */
  const char *group;
  gboolean brokers_answer;
  gint64 partitions;
  gint64 halted_partitions;
  gint64 memory_paused_partitions;
  gint64 held_partitions; /* whose committed offset stays behind what is written */
  gint64 unread_messages; /* -1: unknown */
  gint64 halted_messages; /* the part of these that is in halted partitions */
  struct {
    gint64 messages; /* the part of these that an open transaction blocks ... */
    const char *topic;
    gint64 partition;
    gint64 offset; /* ... which begins here */
  } undecided;
  struct {
    gint64 schema_messages;     /* the part of these in partitions that pause for a schema ... */
    const char *schema_trouble; /* ... why the registry does not give it */
    gint64 commit_messages;     /* ... that pause for their first commit */
    gint64 span_messages;       /* ... that pause for kafka.max_span_messages */
  } paused;
  int throttle_ms; /* delay that brokers impose on consumers; 0: none */
  gint64 in_flight_messages;
  const char *kafka_trouble; /* librdkafka's last problem */
  double consumer_cpu;       /* of the busiest consumer, as a share of a core */
  /* gateways and writers */
  gint64 gateways;
  gint64 gateways_up;
  const char *gateway_trouble; /* why the first gateway that is not up is not */
  const char *slow_gateway;    /* takes several times as long per row as the fastest */
  const char *slowest_gateway; /* of those measured */
  double slowest_call_seconds;
  gint64 writers;
  gint64 busy_writers;
  double longest_call_seconds; /* of the current calls; -1: none */
  const char *longest_call_gateway;
  /* regions and tables */
  gint64 waiting_rows;
  gint64 in_flight_rows;
  double rows_per_second;    /* of all tables, over the last seconds */
  const char *called_region; /* if all rows in calls belong to one region while others are written: that region */
  const char *stopped_table;
  const char *stopped_reason;
  struct {
    const char *region; /* "the region of 'METRIC' from 'host5'"; NULL: none */
    const char *error;
    gint64 calls; /* in a row */
    gint64 seconds;
  } failing; /* of the regions whose calls fail, the one with most failed calls in a row */
  struct {
    const char *region; /* NULL: none */
    const char *table;
    gint64 waiting_rows;
  } full; /* of the regions at their in-flight limit, the one with most waiting rows */
  /* memory and dead letters */
  double memory_share; /* share of the budget in use */
  double memory_held;  /* share of about the last second in which a consumer read nothing because memory was spent */
  const char *dead_letters_stalled;
  gboolean has_too_many_dead_letters; /* that is why: they wait for an operator, and a stop does not wait for them */
} TideBottleneckFacts;

typedef struct TideBottleneckVerdict {
  gboolean is_good; /* restart: nothing will be repeated; region: it is hot */
  TideLimit limit;  /* for a bottleneck */
  char *why;        /* owned: a sentence */
} TideBottleneckVerdict;

const char *tide_limit_name(TideLimit limit); /* "kafka", "dead_letters" */

/* Returns what limits the speed now. (transfer full) */
TideBottleneckVerdict tide_bottleneck_judge(const TideBottleneckFacts *facts);

/* Decides whether a restart now would be short and leave nothing to be written again. No data is lost in either case.
 * (transfer full) */
TideBottleneckVerdict tide_restart_judge(const TideBottleneckFacts *facts);

/* The region that receives most rows. */
typedef struct TideHotRegionFacts {
  const char *region;     /* NULL: none receives any */
  double rows_per_second; /* of this region */
  double share;           /* share of the rows of all tables */
  double table_rows_per_second;
  gint64 table_regions; /* 0: unknown */
  gboolean others_fail; /* calls to another region of the table fail, so that one receives few rows */
} TideHotRegionFacts;

/* Decides whether the region receives several times the average of the others of its table. (transfer full) */
TideBottleneckVerdict tide_hot_region_judge(const TideHotRegionFacts *facts);

G_END_DECLS
