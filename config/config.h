/* The configuration: the operator's YAML, checked and compiled. It is set before the start and then read-only; every
 * thread reads it without a lock. Members that a reload changes are _Atomic: a reader gets the current value, and must
 * read it once if it belongs together with others. */
#pragma once

#include "config/yaml/problem.h"
#include "decode/decoder.h"
#include "model/table/table.h"
#include "model/time/time_spec.h"
#include "registry/registry.h"
#include "thrift/client/endpoint.h"
#include "util/log.h"

G_BEGIN_DECLS

typedef enum TideOnBadMessage {
  TIDE_BAD_MESSAGE_STOP,
  TIDE_BAD_MESSAGE_SKIP,
  TIDE_BAD_MESSAGE_DEAD_LETTER,
} TideOnBadMessage;
typedef enum TideStartFrom { TIDE_START_EARLIEST, TIDE_START_LATEST, TIDE_START_TIME } TideStartFrom;
typedef enum TideAssignment { TIDE_ASSIGNMENT_EAGER, TIDE_ASSIGNMENT_COOPERATIVE } TideAssignment;
typedef enum TideLostOffsets { TIDE_LOST_OFFSETS_HALT, TIDE_LOST_OFFSETS_CONTINUE } TideLostOffsets;
typedef enum TideStartup { TIDE_STARTUP_WAIT, TIDE_STARTUP_FAIL } TideStartup;

/* A property passed to librdkafka unchanged. kafka/kafka_conf.h validates it, because only librdkafka knows all of
 * them. */
typedef struct TideKafkaProperty {
  char *name;                  /* owned */
  char *value;                 /* owned */
  gboolean secret;             /* never shown */
  TideSourcePosition position; /* of the name, in the file */
  /* mark of the file that it names, if librdkafka reads that only at the start; 0: none */
  gint64 file_changed_us;
  gint64 file_bytes;
} TideKafkaProperty;

typedef struct TideKafkaConfig {
  char *brokers;         /* owned: bootstrap.servers */
  char *group;           /* owned: group.id */
  char **topics;         /* owned, NULL-terminated; an item that starts with ^ is a pattern. Contains the topics of all
                          * sources */
  guint32 threads;       /* consumers in this process */
  TideStartFrom start;   /* where a new group starts */
  gint64 start_epoch_ms; /* with TIDE_START_TIME */
  TideLostOffsets on_lost_offsets;
  TideAssignment assignment;
  char *instance; /* owned: template of group.instance.id, see kafka_conf.h; NULL: not set */
  gint64 session_timeout_ms;
  gint64 max_poll_interval_ms;
  gint64 commit_interval_ms;
  guint32 max_span_messages;     /* from the committed offset to the newest fetched message of a partition */
  gboolean allow_unverified_tls; /* properties may disable verification of the broker's certificate or name */
  GArray *properties;            /* owned (element-type TideKafkaProperty), in the order of the file */
} TideKafkaConfig;

typedef struct TideHBaseConfig {
  GPtrArray *_Atomic gateways; /* owned (element-type TideEndpoint); none is freed before the configuration */
  int framing;                 /* TideFraming, or -1: detect */
  int protocol;                /* TideWireProtocol, or -1: detect */
  TideLinkSettings link;       /* of every gateway, which borrow it */
  guint32 writers;             /* connections, one thread each */
  gint64 connect_timeout_ms;
  gint64 call_timeout_ms;
  gint64 settle_ms;                 /* how long a gateway may still execute an abandoned call */
  guint32 max_in_flight_per_region; /* calls */
  guint32 max_cell_bytes;
  gint64 region_refresh_ms;
  gint64 retry_min_ms; /* backoff: doubles from here, with full jitter ... */
  gint64 retry_max_ms; /* ... to here */
  gint64 idle_ping_ms;
  gint64 max_connection_age_ms;
} TideHBaseConfig;

typedef struct TideBatchConfig {
  _Atomic guint32 max_rows;            /* per call */
  _Atomic guint32 max_bytes;           /* encoded, per call */
  _Atomic gint64 max_age_ms;           /* a row waits at most this long before its batch is due */
  _Atomic gint64 latest_window_ms;     /* a latest row waits at least this long for newer cells ... */
  _Atomic gint64 latest_window_max_ms; /* ... and under load at most this long, if that is longer */
} TideBatchConfig;

typedef struct TideLimitsConfig {
  _Atomic guint64 memory_bytes;    /* budget for all that is in flight */
  _Atomic gint64 drain_timeout_ms; /* at SIGTERM and on revoke (bounded there by half the session timeout) */
  _Atomic guint32 rows_per_second; /* sent to all tables together; 0: not limited */
} TideLimitsConfig;

typedef struct TideReadingsConfig {
  TideDecodeOptions decode;
  TideRegistrySettings registry; /* url is NULL: none */
  TideTimeSpec time;
  TideOnBadMessage on_bad_message;
} TideReadingsConfig;

/* The source of readings: topics, and the contents of their messages. */
typedef struct TideConfigSource {
  guint index;                        /* in TideConfig.sources */
  char *name;                         /* owned; NULL: the file has no `sources`, so that this is kafka.topics and
                                       * readings */
  char **topics;                      /* owned, as kafka.topics; NULL with name */
  const TideReadingsConfig *readings; /* own, or the configuration's */
  TideReadingsConfig own;
  GArray *conditions; /* owned (element-type TideCondition): other readings are skipped; NULL: no conditions */
  /* Readings with an event time outside [from, to) are skipped as well; set by a load, never by the file. */
  gint64 from_ns;
  gint64 to_ns; /* 0: no limit */
} TideConfigSource;

/* Where dead letters are stored: dead_letters/dead_letter_queue.h. */
typedef struct TideDeadLettersConfig {
  char *topic;                    /* owned; NULL: none, a file is used */
  char *file;                     /* owned, absolute; NULL: not set, see tide_dead_letter_queue_file_path() */
  _Atomic guint64 max_file_bytes; /* of one file, which is then rotated */
  _Atomic guint64 max_bytes;      /* of all files; when they are full, dead letters block their partitions */
  _Atomic double
      max_ratio; /* dead letters per message received within window: above it no more are kept; 1: no limit */
  _Atomic gint64 window_ms;
} TideDeadLettersConfig;

typedef struct TideServiceConfig {
  char *http_listen;           /* owned: "127.0.0.1:9464", "unix:/run/tidemark/http.socket" or "off" */
  guint32 http_socket_mode;    /* of a Unix socket: permission bits */
  TideTlsSettings http_tls;    /* only certificate and key; certificate is NULL: no TLS */
  TideSecretSource http_users; /* not set: no authentication */
  gboolean http_allow_open;    /* reachable from other hosts without either */
  _Atomic TideLogLevel log_level;
  TideLogFormat log_format;
  TideStartup startup;
} TideServiceConfig;

typedef struct TideConfig {
  char *path;      /* owned: as given, for messages */
  char *directory; /* owned: absolute path of that file; NULL: memory or standard input */
  TideKafkaConfig kafka;
  TideHBaseConfig hbase;
  TideReadingsConfig readings; /* with `sources`, the defaults: each source has its own */
  GPtrArray *sources;          /* owned (element-type TideConfigSource), in the order of the file; never empty */
  TideDeadLettersConfig dead_letters;
  TideBatchConfig batch;
  TideLimitsConfig limits;
  TideServiceConfig service;
  GPtrArray *tables;        /* owned (element-type TideTable), in the order of the file */
  GPtrArray *instances;     /* owned (element-type TideTable): instances of dated tables, from tide_table_of_name() */
  char *tables_yaml;        /* owned: the tables as declared, indented below "tables:" */
  char *sources_yaml;       /* owned: the sources likewise; NULL: the file has none */
  GPtrArray *past_gateways; /* owned (element-type GPtrArray): earlier lists, kept across reloads */
  GPtrArray *notices;       /* owned (element-type TideConfigProblem), in the order of the file: notes for `tidemark
                             * check` */
  TideFieldNames *names;    /* owned: the field names that the configuration uses */
  gboolean is_narrowed;     /* a command has removed sources, tables or conditions that use some of these names */
} TideConfig;

/**
 * tide_config_load: reads, checks and compiles the file at @path ("/dev/stdin" is allowed; other non-regular files are
 * not). @ret_problems: (out) (transfer full) (element-type TideConfigProblem): all problems, including warnings, in the
 * order of the file Returns: (transfer full) (nullable): NULL if any problem is an error.
 */
TideConfig *tide_config_load(const char *path, GPtrArray **ret_problems) G_GNUC_WARN_UNUSED_RESULT;

/* The same from memory; messages show @name as the path. */
TideConfig *tide_config_load_text(const char *name, TideBytes text, GPtrArray **ret_problems) G_GNUC_WARN_UNUSED_RESULT;

void tide_config_free(TideConfig *config); /* NULL and partly built ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideConfig, tide_config_free)

/* Whether HBase accepts @name for a user's table. Errors: CONFIG; they continue after 'NAME'. */
gboolean tide_config_check_table_name(const char *name, GError **error);

/* Finds @name as in the file, or with the default namespace ("default:METRIC" is "METRIC"), or as an instance of a
 * dated table: SENSOR_20170726 finds SENSOR_{yyyyMMdd}. NULL: none. */
const TideTable *tide_config_find_table(const TideConfig *config, const char *name);

/**
 * tide_table_of_name: the table @name in HBase, for commands. Like tide_config_find_table(), but for an instance of a
 * dated table it returns that one table (model/table/dated_table.h), with the template's index. The same applies to a
 * day that a rollup copied, SENSOR_20170726 of SENSOR. Returns: borrowed from @config, which keeps instances until it
 * is freed. The template itself, if @name is the template. Threads: one at a time, before or without a pipeline.
 */
const TideTable *tide_table_of_name(const TideConfig *config, const char *name);

/* The property @name of kafka.librdkafka; NULL: it is not set. */
const TideKafkaProperty *tide_config_find_property(const TideKafkaConfig *kafka, const char *name);

/* The options in force as YAML, with defaults, secrets masked. It loads to the same configuration except for the
 * secrets. (transfer full) */
char *tide_config_print(const TideConfig *config);

/* The declared tables as YAML, indented below "tables:", with the rates in force if @with_rates, else with none: a
 * table's rate is all of it that a reload changes. (transfer full) */
char *tide_config_print_tables(const TideConfig *config, gboolean with_rates);

/* A commented sample with every option at its default, from the option table: `tidemark check --print-defaults`. It is
 * valid as it is, and config/tidemark.yaml is a copy. (transfer full) */
char *tide_config_print_defaults(void);

/* A value for tide_config_print_filled(). */
typedef struct TideConfigFill {
  const char *path;  /* path of the option: "kafka.brokers", "readings.time.field", "tables" */
  const char *value; /* as YAML, for "tables" on several lines; NULL: the option is shown at its default, after a # */
} TideConfigFill;

/* A commented configuration of only those options for which @fills has values; it ends with a NULL path. NULL: all
 * options, at their defaults. @head: the comment at the top. (transfer full) */
char *tide_config_print_filled(const char *head, const TideConfigFill *fills);

/* @text as a comment in the same form, for use inside "tables". */
void tide_config_append_comment(GString *out, guint indent, const char *text);

/* The tables of docs/options.md, from the option table. (transfer full) */
char *tide_config_print_reference(void);

G_END_DECLS
