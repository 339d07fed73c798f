/* The messages that a measurement runs on: given, or synthetic, and all in memory before it begins. */
#pragma once

#include "commands/simulate/simulation.h"
#include "config/config.h"
#include "model/message.h"

G_BEGIN_DECLS

typedef struct TideBenchMessage {
  gsize offset; /* in bytes: the Kafka key, and the value behind it */
  guint32 key_len;
  guint32 value_len;
} TideBenchMessage;

/* What a load makes in the tables of one kind. */
typedef struct TideBenchRows {
  guint64 rows;
  guint64 cells;
  guint64 stored_bytes; /* as HBase's KeyValues, each with its whole key */
  /* of these, what has a time to live, how long that is, and the bytes times that */
  guint64 ttl_bytes;
  gint64 min_ttl_ms; /* 0: nothing has */
  gint64 max_ttl_ms;
  double ttl_byte_ms;
} TideBenchRows;

typedef struct TideBenchLoad {
  TideBytes topic;     /* borrowed: what the messages stand for */
  gint64 timestamp_ms; /* of each record: when the load was made */
  TideBuffer bytes;
  GArray *messages; /* owned (element-type TideBenchMessage) */
  guint32 n_given;  /* the first so many are different; those behind them are these again */
  /* after tide_bench_load_settle() */
  guint64 given_bytes; /* of those that are different, with their keys */
  guint64 n_readings;
  guint64 n_rows;
  guint64 n_cells;
  TideBenchRows history; /* of n_rows, those of tables that keep every reading */
  TideBenchRows latest;  /* of n_rows, those of latest tables: before any row replaces another */
  guint32 n_rejected;    /* taken out */
  char *first_reject;    /* owned: why; NULL: none was */
} TideBenchLoad;

TideBenchLoad *tide_bench_load_new(const TideConfig *config); /* @config: borrowed */
void tide_bench_load_free(TideBenchLoad *load);               /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideBenchLoad, tide_bench_load_free)

void tide_bench_load_add(TideBenchLoad *load, TideBytes key, TideBytes value);

/* The messages of `tidemark simulate` with these parameters. */
void tide_bench_load_simulate(TideBenchLoad *load, const TideSimulationParameters *parameters);

/* Adds what the file at @path holds ("-": standard input), one message or one a line, as tide_message_is_whole() says
 * of @decode, until there are @max_messages. Errors: IO. */
gboolean tide_bench_load_read(TideBenchLoad *load, const char *path, const TideDecodeOptions *decode,
                              guint64 max_messages, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * tide_bench_load_settle: take out what the mapping of @config rejects, repeat what is left until there are
 * @n_messages, and count what they make.
 * Errors: TIDE_ERROR_DATA when nothing is left that makes a row.
 */
gboolean tide_bench_load_settle(TideBenchLoad *load, const TideConfig *config, guint64 n_messages,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Message @i as Kafka would deliver it; valid while nothing is added. */
static inline TideMessage
tide_bench_load_message(const TideBenchLoad *load, guint32 i)
{
  const TideBenchMessage *message = &g_array_index(load->messages, TideBenchMessage, i);
  const guint8 *bytes = load->bytes.data + message->offset;
  return (TideMessage){
      .topic = load->topic,
      .offset = i,
      .timestamp_ms = load->timestamp_ms,
      .key = tide_bytes(bytes, message->key_len),
      .has_key = message->key_len > 0,
      .value = tide_bytes(bytes + message->key_len, message->value_len),
      .has_value = TRUE,
  };
}

G_END_DECLS
