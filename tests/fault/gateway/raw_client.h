/* A client for testing the fakes themselves: it sends bytes as given, or calls one by one, and tells apart all ways in
 * which a reply can fail to come. Nothing of thrift/ is in it. */
#pragma once

#include "fault/gateway/fake_wire.h"
#include "fault/gateway/scripted_gateway.h"

G_BEGIN_DECLS

#define RAW_TIMEOUT_MS 10000 /* far beyond what any step takes: only a failure waits so long */

typedef struct TideRawMode {
  const char *name;
  gboolean framed;
  gboolean compact;
} TideRawMode;

#define RAW_N_MODES 4
extern const TideRawMode raw_modes[RAW_N_MODES]; /* unframed binary first */

/* A gateway of the mode, with the table T of the families M and N, split at "g" and "p". */
TideScriptedGateway *raw_gateway_new(const TideRawMode *mode);

/* "0b 'putMultiple' 00": hex bytes, and text in quotes. */
void raw_append_pattern(TideBuffer *bytes, const char *pattern);

typedef enum TideRawOutcome {
  RAW_OK,          /* field 0, or a struct without fields */
  RAW_IO_ERROR,    /* TIOError */
  RAW_ARGUMENT,    /* TIllegalArgument */
  RAW_APPLICATION, /* TApplicationException */
  RAW_CLOSED,      /* the stream ended, before or in a reply */
  RAW_RESET,       /* ECONNRESET */
  RAW_TIMEOUT,     /* nothing for the client's time-out */
  RAW_BROKEN,      /* bytes that are no reply */
} TideRawOutcome;

typedef struct TideRawReply {
  TideRawOutcome outcome;
  char name[64];
  gint32 sequence_id;
  char message[512]; /* of an error */
  int can_retry;     /* 0, 1, or -1 where absent */
  gint32 type;       /* of a TApplicationException */
  gboolean has_result;
  gint64 number; /* a result that is a bool or an i32 */
  GString *rows; /* owned by the client: a result of rows, as "row family:qualifier@time=value\n" */
  guint n_rows;  /* in such a result */
} TideRawReply;

typedef struct TideRawClient TideRawClient;

TideRawClient *raw_client_connect(guint16 port, gboolean framed, gboolean compact); /* aborts when refused */
void raw_client_free(TideRawClient *client);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideRawClient, raw_client_free)
/* TRUE when a connection can be made. */
gboolean raw_client_is_accepted(guint16 port);
void raw_client_set_timeout_ms(TideRawClient *client, gint64 ms);

void raw_client_send(TideRawClient *client, TideBytes bytes); /* a peer that is gone is no error here */
/* Exactly @len bytes, or fewer at the end of the stream or after the time-out. Ownership: (transfer full). */
GBytes *raw_client_receive(TideRawClient *client, gsize len);

/* A call's arguments are written between begin and end, which sends it. */
TideFakeWriter *raw_client_call_begin(TideRawClient *client, const char *name);
void raw_client_call_end(TideRawClient *client);
void raw_client_reply(TideRawClient *client, TideRawReply *ret_reply); /* valid until the next */

/* Whole calls. A cell is one of family "M". */
typedef struct TideRawCell {
  const char *row;
  const char *qualifier;
  const char *value;
  gint64 timestamp_ms;
} TideRawCell;

void raw_client_send_puts(TideRawClient *client, const char *table, const TideRawCell *cells, guint n_cells);
TideRawOutcome raw_client_put(TideRawClient *client, const char *table, const char *row, const char *value,
                              gint64 timestamp_ms); /* qualifier "q" */
void raw_client_get(TideRawClient *client, const char *table, const char *row, TideRawReply *ret_reply);
/* A call whose only argument is a table name, as binary or as TTableName. Its outcome. */
TideRawOutcome raw_client_ask_table(TideRawClient *client, const char *call, const char *table, gboolean as_struct,
                                    TideRawReply *ret_reply);
/* A gateway, and a client that has connected to it. */
typedef struct TideRawScene {
  TideScriptedGateway *gateway; /* owned */
  TideRawClient *client;        /* owned */
  TideRawReply reply;           /* for tests to fill */
} TideRawScene;

TideRawScene raw_scene_of(TideScriptedGateway *gateway, const TideRawMode *mode); /* takes @gateway */
TideRawScene raw_scene(const TideRawMode *mode);                                  /* of raw_gateway_new() */
void raw_scene_clear(TideRawScene *scene);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideRawScene, raw_scene_clear)

void raw_assert_dump(TideScriptedGateway *gateway, const char *wanted); /* of the table T, as readers see it */

typedef struct TideRawScan {
  const char *start_row;
  const char *stop_row;
  const char *qualifier; /* NULL: all columns */
  gint64 min_time_ms;
  gint64 max_time_ms;
  gint32 limit_rows;
  gint32 max_versions;
  gboolean reversed;
} TideRawScan;

gint32 raw_client_open_scanner(TideRawClient *client, const char *table,
                               const TideRawScan *scan); /* aborts on errors */
void raw_client_scanner_rows(TideRawClient *client, gint32 scanner, gint32 n_rows, TideRawReply *ret_reply);
void raw_client_close_scanner(TideRawClient *client, gint32 scanner, TideRawReply *ret_reply);

G_END_DECLS
