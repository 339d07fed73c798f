/* Faults of a scripted gateway: which calls they affect, and how. A zeroed fault affects every call and changes
 * nothing. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

typedef enum TideGatewayCall {
  TIDE_CALL_ANY,
  TIDE_CALL_GET_THRIFT_SERVER_TYPE,
  TIDE_CALL_GET_CLUSTER_ID,
  TIDE_CALL_EXISTS,
  TIDE_CALL_GET,
  TIDE_CALL_GET_MULTIPLE,
  TIDE_CALL_PUT_MULTIPLE,
  TIDE_CALL_CHECK_AND_PUT, /* its condition is never met */
  TIDE_CALL_MUTATE_ROW,
  TIDE_CALL_OPEN_SCANNER,
  TIDE_CALL_GET_SCANNER_ROWS,
  TIDE_CALL_CLOSE_SCANNER,
  TIDE_CALL_GET_ALL_REGION_LOCATIONS,
  TIDE_CALL_TABLE_EXISTS,
  TIDE_CALL_GET_TABLE_DESCRIPTOR,
  TIDE_CALL_IS_TABLE_ENABLED,
  TIDE_CALL_CREATE_TABLE,
  TIDE_CALL_CREATE_NAMESPACE,
  TIDE_CALL_LIST_NAMESPACES,
  TIDE_CALL_GET_TABLE_NAMES_BY_PATTERN,
  TIDE_CALL_UNKNOWN, /* a method that this gateway lacks */
} TideGatewayCall;
#define TIDE_CALL_COUNT (TIDE_CALL_UNKNOWN + 1)

TideGatewayCall tide_gateway_call_by_name(const char *name); /* TIDE_CALL_UNKNOWN for others */

typedef enum TideFaultKind {
  TIDE_FAULT_NONE,               /* only delays and dripping */
  TIDE_FAULT_CLOSE_ON_ACCEPT,    /* closes before anything is read. Affects connections: `call`, `table` and rows are
                                  * unknown */
  TIDE_FAULT_CLOSE_MID_REQUEST,  /* closes cut_bytes after the call's header. `table` and rows are unknown; nothing is
                                  * applied */
  TIDE_FAULT_CLOSE_BEFORE_REPLY, /* executes the call, then closes without a reply */
  TIDE_FAULT_CLOSE_MID_REPLY,    /* executes the call, then closes after cut_bytes of the reply */
  TIDE_FAULT_SILENCE,    /* executes the call, sends cut_bytes of the reply, then nothing; the connection stays open */
  TIDE_FAULT_GARBAGE,    /* executes the call and replies with `garbage`; the connection stays open */
  TIDE_FAULT_WRONG_NAME, /* executes the call; the reply has the name of another method */
  TIDE_FAULT_WRONG_SEQUENCE_ID, /* executes the call; the reply has another sequence id */
  TIDE_FAULT_IO_ERROR,          /* TIOError with message and can_retry; nothing is applied, except as `apply` states */
  TIDE_FAULT_APPLICATION_ERROR, /* TApplicationException with message and application_type; likewise */
} TideFaultKind;
#define TIDE_FAULT_KIND_COUNT (TIDE_FAULT_APPLICATION_ERROR + 1)

const char *tide_fault_kind_name(TideFaultKind kind); /* "close-on-accept" */

/* Which rows of a putMultiple or mutateRow reach the tables. */
typedef enum TideFaultApply {
  TIDE_APPLY_BY_KIND, /* as described for the kind */
  TIDE_APPLY_ALL,
  TIDE_APPLY_NONE,
  TIDE_APPLY_FIRST,  /* the first apply_rows rows */
  TIDE_APPLY_OTHERS, /* all rows except those that match the fault's row condition */
} TideFaultApply;

typedef enum TideFaultCanRetry {
  TIDE_CAN_RETRY_YES,
  TIDE_CAN_RETRY_NO,
  TIDE_CAN_RETRY_ABSENT, /* like gateways before the field existed */
} TideFaultCanRetry;

#define TIDE_APPLICATION_UNKNOWN_METHOD 1 /* TApplicationException's types */
#define TIDE_APPLICATION_INTERNAL_ERROR 6
#define TIDE_APPLICATION_PROTOCOL_ERROR 7

typedef gboolean (*TideFaultRowFunc)(TideBytes row, gpointer data);

typedef struct TideScriptedFault {
  TideFaultKind kind;

  /* Selects calls. All set conditions must hold; of several matching faults, the first one added acts. */
  guint64 connection;           /* counted from 1 in the order of acceptance; 0: all */
  TideGatewayCall call;         /* TIDE_CALL_ANY: all */
  const char *table;            /* NULL: all */
  TideBytes row_prefix;         /* a row of the call has this prefix; empty: all calls */
  TideFaultRowFunc row_matches; /* holds for a row of the call, called on gateway threads; NULL: all calls */
  gpointer row_matches_data;
  guint min_rows;     /* of the call; 0: any */
  guint64 skip_calls; /* number of matching calls that pass unaffected first */
  guint64 every;      /* of the rest, affect only one in this many; 0 or 1: all */
  guint64 max_hits;   /* number of calls to affect; 0: until cleared */

  /* The effect. */
  gint64 delay_apply_ms;     /* delay before the call is executed, whether or not the client still waits */
  gboolean lands_after_kill; /* execute it even if the gateway was killed meanwhile, as a region server would */
  gint64 delay_reply_ms;     /* delay between execution and reply */
  gsize drip_bytes;          /* size of the pieces in which the reply is sent; 0: all at once */
  gint64 drip_interval_ms;   /* delay after each piece */
  gboolean reset;            /* close with RST instead of FIN */
  gsize cut_bytes;
  TideBytes garbage;
  TideFaultApply apply;
  guint apply_rows;
  const char *message; /* NULL: a text like HBase's */
  TideFaultCanRetry can_retry;
  gint32 application_type; /* 0: TIDE_APPLICATION_INTERNAL_ERROR */
} TideScriptedFault;

/* An active fault, shared by the gateway's list and the calls that it affects. */
typedef struct TideActiveFault {
  _Atomic guint references;
  guint id;
  TideScriptedFault script; /* texts and bytes are owned copies */
  guint64 fitting;          /* guarded by the lock of its list */
  guint64 hits;             /* likewise */
} TideActiveFault;

TideActiveFault *tide_active_fault_new(const TideScriptedFault *fault, guint id); /* copies texts and bytes */
TideActiveFault *tide_active_fault_ref(TideActiveFault *active);
void tide_active_fault_unref(TideActiveFault *active); /* NULL ok */

/* The stage of a connection at which a fault acts. */
typedef enum TideFaultStage { TIDE_STAGE_ACCEPTED, TIDE_STAGE_CALL_HEAD, TIDE_STAGE_CALL_READ } TideFaultStage;

typedef struct TideFaultTarget {
  TideFaultStage stage;
  guint64 connection;
  TideGatewayCall call;
  const char *table;     /* NULL: the call has none */
  const TideBytes *rows; /* the call's */
  guint n_rows;
} TideFaultTarget;

/* TRUE: @active acts on @target now. This counts the call, so ask only once for each; the caller holds the lock that
 * guards @active. */
gboolean tide_active_fault_takes(TideActiveFault *active, const TideFaultTarget *target);
gboolean tide_fault_names_row(const TideScriptedFault *fault, TideBytes row);
/* Whether `apply` writes one row of a putMultiple. */
gboolean tide_fault_applies_row(const TideScriptedFault *fault, guint index, TideBytes row);

/**
 * tide_scripted_fault_parse: parse a fault from words such as "io-error", "call=putMultiple", "delay-reply-ms=200".
 * @words: NULL-terminated: the kind, then NAME=VALUE for fields above, with - instead of _; bytes may contain \xHH
 * @ret_fault: its texts are borrowed from @words
 * Returns: NULL, or the error. Ownership: (transfer full).
 */
char *tide_scripted_fault_parse(char **words, TideScriptedFault *ret_fault);

G_END_DECLS
