/* The configuration: what the operator's YAML says, checked and compiled. Set before start, then read-only; every
 * thread reads it without a lock. The members that a reload changes are _Atomic: whoever reads one has its value of
 * now, and one that goes together with others is read once. */
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
typedef enum TideLostOffsets { TIDE_LOST_OFFSETS_HOLD, TIDE_LOST_OFFSETS_CONTINUE } TideLostOffsets;
typedef enum TideStartup { TIDE_STARTUP_WAIT, TIDE_STARTUP_FAIL } TideStartup;

/* A property handed to librdkafka as it is. Whether it is one is for kafka/kafka_conf.h: only librdkafka knows them
 * all. */
typedef struct TideKafkaProperty {
  char *name;                  /* owned */
  char *value;                 /* owned */
  gboolean secret;             /* never shown */
  TideSourcePosition position; /* of the name, in the file */
  /* of the file that it names, where librdkafka reads that at the start alone; 0: none */
  gint64 file_changed_us;
  gint64 file_bytes;
} TideKafkaProperty;

typedef struct TideKafkaConfig {
  char *brokers;         /* owned: bootstrap.servers */
  char *group;           /* owned: group.id */
  char **topics;         /* owned, NULL-terminated; one that begins with ^ is a pattern. Those of all sources */
  guint32 threads;       /* consumers in this process */
  TideStartFrom start;   /* where a new group begins */
  gint64 start_epoch_ms; /* with TIDE_START_TIME */
  TideLostOffsets on_lost_offsets;
  TideAssignment assignment;
  char *instance; /* owned: template of group.instance.id, see kafka_conf.h; NULL: not set */
  gint64 session_timeout_ms;
  gint64 max_poll_interval_ms;
  gint64 commit_interval_ms;
  guint32 max_span_messages;     /* from the committed mark to the newest fetched message of a partition */
  gboolean allow_unverified_tls; /* properties may switch off the check of the broker's certificate or name */
  GArray *properties;            /* owned (element-type TideKafkaProperty), in the order of the file */
} TideKafkaConfig;

typedef struct TideHBaseConfig {
  GPtrArray *_Atomic gateways; /* owned (element-type TideEndpoint); none is freed before the configuration */
  int framing;                 /* TideFraming, or -1: found out */
  int protocol;                /* TideWireProtocol, or -1: found out */
  TideLinkSettings link;       /* of every gateway, which borrow it */
  guint32 writers;             /* connections, one thread each */
  gint64 connect_timeout_ms;
  gint64 call_timeout_ms;
  gint64 settle_ms;                 /* how long an abandoned call may still be at work in the gateway */
  guint32 max_in_flight_per_region; /* calls */
  guint32 max_cell_bytes;
  gint64 region_refresh_ms;
  gint64 retry_min_ms; /* backoff: doubles from here, with full jitter ... */
  gint64 retry_max_ms; /* ... to here */
  gint64 idle_ping_ms;
  gint64 max_connection_age_ms;
} TideHBaseConfig;

typedef struct TideBatchConfig {
  _Atomic guint32 max_rows;            /* in a call */
  _Atomic guint32 max_bytes;           /* encoded, in a call */
  _Atomic gint64 max_age_ms;           /* a row waits at most this long before its batch is due */
  _Atomic gint64 latest_window_ms;     /* a latest row waits this long for newer cells at the least ... */
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

/* What readings come from: topics, and what is in their messages. */
typedef struct TideConfigSource {
  guint index;                        /* in TideConfig.sources */
  char *name;                         /* owned; NULL: the file has no `sources`, so this is kafka.topics and readings */
  char **topics;                      /* owned, as kafka.topics; NULL with name */
  const TideReadingsConfig *readings; /* own, or the configuration's */
  TideReadingsConfig own;
  GArray *conditions; /* owned (element-type TideCondition): other readings are passed over; NULL: none are */
  /* Readings whose event time is not in [from, to) are passed over as well: a load's, never the file's. */
  gint64 from_ns;
  gint64 to_ns; /* 0: all are taken */
} TideConfigSource;

/* Where dead letters are kept: dead_letters/dead_letter_queue.h. */
typedef struct TideDeadLettersConfig {
  char *topic;                    /* owned; NULL: none, a file is used */
  char *file;                     /* owned, absolute; NULL: not named, see tide_dead_letter_queue_file_path() */
  _Atomic guint64 max_file_bytes; /* of one file: it is rotated there */
  _Atomic guint64 max_bytes;      /* of all files; when they are full, dead letters hold */
  _Atomic double
      max_ratio; /* dead letters to messages received, in window: above it nothing more is kept; 1: no bound */
  _Atomic gint64 window_ms;
} TideDeadLettersConfig;

typedef struct TideServiceConfig {
  char *http_listen;           /* owned: "127.0.0.1:9464", "unix:/run/tidemark/http.socket" or "off" */
  guint32 http_socket_mode;    /* of a Unix socket: permission bits */
  TideTlsSettings http_tls;    /* certificate and key alone; certificate is NULL: no TLS */
  TideSecretSource http_users; /* not set: everybody may ask */
  gboolean http_allow_open;    /* to others than this host, without both */
  _Atomic TideLogLevel log_level;
  TideLogFormat log_format;
  TideStartup startup;
} TideServiceConfig;

typedef struct TideConfig {
  char *path;      /* owned: as given, for messages */
  char *directory; /* owned: of that file, absolute; NULL: it came from memory or standard input */
  TideKafkaConfig kafka;
  TideHBaseConfig hbase;
  TideReadingsConfig readings; /* with `sources`, at its defaults: each source has its own */
  GPtrArray *sources;          /* owned (element-type TideConfigSource), in the order of the file; never empty */
  TideDeadLettersConfig dead_letters;
  TideBatchConfig batch;
  TideLimitsConfig limits;
  TideServiceConfig service;
  GPtrArray *tables;        /* owned (element-type TideTable), in the order of the file */
  GPtrArray *instances;     /* owned (element-type TideTable): of dated tables, that tide_table_of_name() made */
  char *tables_yaml;        /* owned: the tables as they are declared, indented below "tables:" */
  char *sources_yaml;       /* owned: so the sources; NULL: there are none in the file */
  GPtrArray *past_gateways; /* owned (element-type GPtrArray): lists that were in force before a reload */
  GPtrArray *notices;       /* owned (element-type TideConfigProblem), in the order of the file: what may be as it is
                             * meant, for `tidemark check` */
  TideFieldNames *names;    /* owned: the field names that the configuration uses */
  gboolean is_narrowed;     /* a command has left out sources, tables or conditions, which use some of these names */
} TideConfig;

/**
 * tide_config_load: read, check and compile the file at @path ("/dev/stdin" is allowed; other non-regular files are
 * not).
 * @ret_problems: (out) (transfer full) (element-type TideConfigProblem): every problem, in the order of the file, not
 * only the first; warnings too Returns: (transfer full) (nullable): NULL when any problem is an error.
 */
TideConfig *tide_config_load(const char *path, GPtrArray **ret_problems) G_GNUC_WARN_UNUSED_RESULT;

/* The same from memory; @name stands for the path in messages. */
TideConfig *tide_config_load_text(const char *name, TideBytes text, GPtrArray **ret_problems) G_GNUC_WARN_UNUSED_RESULT;

void tide_config_free(TideConfig *config); /* NULL and half-built ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideConfig, tide_config_free)

/* Whether HBase accepts @name for a table that is not its own. Errors: CONFIG, of which 'NAME' is the subject. */
gboolean tide_config_check_table_name(const char *name, GError **error);

/* @name as the file writes it, or with HBase's own namespace in front ("default:METRIC" is "METRIC"); or a name that a
 * dated table makes: SENSOR_20170726 finds SENSOR_{yyyyMMdd}. NULL: no such. */
const TideTable *tide_config_find_table(const TideConfig *config, const char *name);

/**
 * tide_table_of_name: the table in HBase called @name, for commands: as tide_config_find_table(), but for a name that a
 * dated table makes it is that one table (model/table/dated_table.h), with the template's index; and so for the name
 * that a rollup gives to a copied day of a data table, SENSOR_20170726 of SENSOR. Returns: borrowed from @config, which
 * keeps instances until it is freed. The template itself, where @name is its own. Threads: one at a time, before or
 * without a pipeline.
 */
const TideTable *tide_table_of_name(const TideConfig *config, const char *name);

/* The options in force as YAML, defaults filled in, secrets masked. But for the secrets, it loads again to the same.
 * (transfer full) */
char *tide_config_print(const TideConfig *config);

/* The declared tables as YAML, indented below "tables:", with the rates in force if @with_rates, else with none: a
 * table's rate is all of it that a reload changes. (transfer full) */
char *tide_config_print_tables(const TideConfig *config, gboolean with_rates);

/* A commented sample with every option at its default, from the option table: `tidemark check --print-defaults`. It
 * loads as it stands, and is what config/tidemark.yaml holds. (transfer full) */
char *tide_config_print_defaults(void);

/* A value for tide_config_print_filled(). */
typedef struct TideConfigFill {
  const char *path;  /* of the option: "kafka.brokers", "readings.time.field", "tables" */
  const char *value; /* as YAML, of "tables" in lines; NULL: the option is shown at its default, behind a # */
} TideConfigFill;

/* A commented configuration of the options that @fills (its end has a NULL path) gives values for, and no others; NULL:
 * of all, at their defaults. @head: the comment on top. (transfer full) */
char *tide_config_print_filled(const char *head, const TideConfigFill *fills);

/* @text as a comment in the same form, for what stands inside of "tables". */
void tide_config_append_comment(GString *out, guint indent, const char *text);

/* docs/configuration.md's reference part, from the option table. (transfer full) */
char *tide_config_print_reference(void);

G_END_DECLS
