/* What keeps the daemon from being faster now, whether now is a good moment to restart it, and which region is hot:
 * from plain numbers, by rules that can be read and tested one by one. No lock, no thread, no clock. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum TideLimit {
  TIDE_LIMIT_KAFKA,        /* nothing more comes; or no broker answers, or gives out partitions */
  TIDE_LIMIT_CPU,          /* a consumer thread takes its core */
  TIDE_LIMIT_GATEWAY,      /* one is slow, or none is up, or all writers wait for them */
  TIDE_LIMIT_REGION,       /* calls of one region or table fail or take all that it may have */
  TIDE_LIMIT_MEMORY,       /* the budget is spent, and not because HBase is slow */
  TIDE_LIMIT_DEAD_LETTERS, /* they cannot be kept */
  TIDE_LIMIT_HALTED,       /* all partitions wait for an operator */
  TIDE_LIMIT_PAUSED,       /* the operator has paused something */
  TIDE_LIMIT_RATE,         /* rows wait for the rate that the operator allows */
  TIDE_N_LIMITS,
} TideLimit;

/* Texts are borrowed; NULL: there is no such thing. */
typedef struct TideBottleneckFacts {
  gboolean is_running;  /* it has started: gateways and tables were found */
  const char *reason;   /* why it is not ready */
  gint64 drain_seconds; /* limits.drain_timeout */
  struct {
    const char *paused;      /* what is paused */
    gboolean is_paced;       /* rows wait for limits.rows_per_second */
    const char *paced_table; /* whose rows wait for its own rate */
  } operator;                /* what the operator wants */
  /* Kafka */
  gboolean brokers_answer;
  gint64 partitions;
  gint64 halted_partitions;
  gint64 memory_paused_partitions;
  gint64 unread_messages; /* -1: unknown */
  struct {
    gint64 messages; /* of those unread, what an open transaction keeps from being read ... */
    const char *topic;
    gint64 partition;
    gint64 offset; /* ... as one that begins here */
  } undecided;
  int throttle_ms; /* that brokers make consumers wait; 0: they do not */
  gint64 in_flight_messages;
  const char *kafka_trouble; /* what librdkafka said last */
  double consumer_cpu;       /* of the busiest: of one core */
  /* gateways and writers */
  gint64 gateways;
  gint64 gateways_up;
  const char *slow_gateway;    /* that takes several times as long for a row as the fastest */
  const char *slowest_gateway; /* of those measured */
  double slowest_call_seconds;
  gint64 writers;
  gint64 busy_writers;
  double longest_call_seconds; /* of the calls that run; -1: none */
  const char *longest_call_gateway;
  /* regions and tables */
  gint64 waiting_rows;
  gint64 in_flight_rows;
  double rows_per_second;    /* of all tables, over the last seconds */
  const char *called_region; /* if all rows in calls are of one, while others are written: that one */
  const char *stopped_table;
  const char *stopped_reason;
  const char *failing_region; /* for the longest: "METRIC from 'host5'" */
  const char *failing_error;
  gint64 failing_seconds;
  const char *full_region; /* of those that may have no more in flight, that with most rows waiting */
  gint64 full_region_waiting_rows;
  /* memory and dead letters */
  double memory_share; /* of the budget, in use */
  double memory_held;  /* of the last second or so, that a consumer read nothing because memory was spent */
  const char *dead_letters_stalled;
  gboolean has_too_many_dead_letters; /* which is why: they wait for an operator, and a stop does not wait for them */
} TideBottleneckFacts;

typedef struct TideBottleneckVerdict {
  gboolean is_good; /* of a restart: nothing has to be done twice; of a region: it is hot */
  TideLimit limit;  /* of a bottleneck */
  char *why;        /* owned: a sentence */
} TideBottleneckVerdict;

const char *tide_limit_name(TideLimit limit); /* "kafka", "dead_letters" */

/* What limits now. (transfer full) */
TideBottleneckVerdict tide_bottleneck_judge(const TideBottleneckFacts *facts);

/* Whether a restart now would be over soon, with nothing left to be written twice. Nothing is lost in any case.
 * (transfer full) */
TideBottleneckVerdict tide_restart_judge(const TideBottleneckFacts *facts);

/* The region that most rows go to. */
typedef struct TideHotRegionFacts {
  const char *region;     /* NULL: none takes any */
  double rows_per_second; /* of it */
  double share;           /* of the rows of all tables */
  double table_rows_per_second;
  gint64 table_regions; /* 0: not known */
  gboolean others_fail; /* calls to another region of the table: it takes little for that reason */
} TideHotRegionFacts;

/* Whether it takes several times as much as the others of its table on average. (transfer full) */
TideBottleneckVerdict tide_hot_region_judge(const TideHotRegionFacts *facts);

G_END_DECLS
