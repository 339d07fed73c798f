/* What goes wrong at a scripted gateway: which calls are hit, and what happens to them. A zeroed fault hits every call
 * and changes nothing. */
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
  TIDE_CALL_CHECK_AND_PUT, /* its condition never holds */
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
  TIDE_CALL_UNKNOWN, /* a method that this gateway does not have */
} TideGatewayCall;
#define TIDE_CALL_COUNT (TIDE_CALL_UNKNOWN + 1)

TideGatewayCall tide_gateway_call_by_name(const char *name); /* TIDE_CALL_UNKNOWN for others */

typedef enum TideFaultKind {
  TIDE_FAULT_NONE,               /* only the delays and the dripping */
  TIDE_FAULT_CLOSE_ON_ACCEPT,    /* closed before anything is read; hits connections: `call`, `table` and rows are not
                                    known */
  TIDE_FAULT_CLOSE_MID_REQUEST,  /* closed cut_bytes after the call's head; `table` and rows are not known; nothing
                                    applied */
  TIDE_FAULT_CLOSE_BEFORE_REPLY, /* carried out, and closed without a reply */
  TIDE_FAULT_CLOSE_MID_REPLY,    /* carried out, and closed after cut_bytes of the reply */
  TIDE_FAULT_SILENCE,            /* carried out; cut_bytes of the reply, then nothing, and the connection stays open */
  TIDE_FAULT_GARBAGE,            /* carried out; `garbage` for a reply, and the connection stays open */
  TIDE_FAULT_WRONG_NAME,         /* carried out; the reply has another method's name */
  TIDE_FAULT_WRONG_SEQUENCE_ID,  /* carried out; the reply has another sequence id */
  TIDE_FAULT_IO_ERROR,           /* TIOError with message and can_retry; nothing applied, unless `apply` says so */
  TIDE_FAULT_APPLICATION_ERROR,  /* TApplicationException with message and application_type; likewise */
} TideFaultKind;
#define TIDE_FAULT_KIND_COUNT (TIDE_FAULT_APPLICATION_ERROR + 1)

const char *tide_fault_kind_name(TideFaultKind kind); /* "close-on-accept" */

/* Which rows of a putMultiple or mutateRow reach the tables. */
typedef enum TideFaultApply {
  TIDE_APPLY_BY_KIND, /* as the kind's comment says */
  TIDE_APPLY_ALL,
  TIDE_APPLY_NONE,
  TIDE_APPLY_FIRST,  /* the first apply_rows rows */
  TIDE_APPLY_OTHERS, /* all but the rows that the fault's row condition names */
} TideFaultApply;

typedef enum TideFaultCanRetry {
  TIDE_CAN_RETRY_YES,
  TIDE_CAN_RETRY_NO,
  TIDE_CAN_RETRY_ABSENT, /* as gateways wrote before the field came */
} TideFaultCanRetry;

#define TIDE_APPLICATION_UNKNOWN_METHOD 1 /* TApplicationException's types */
#define TIDE_APPLICATION_INTERNAL_ERROR 6
#define TIDE_APPLICATION_PROTOCOL_ERROR 7

typedef gboolean (*TideFaultRowFunc)(TideBytes row, gpointer data);

typedef struct TideScriptedFault {
  TideFaultKind kind;

  /* Which calls. All that is set must hold; of several faults that fit, the one added first acts. */
  guint64 connection;           /* counted from 1 in the order of accepting; 0: all */
  TideGatewayCall call;         /* TIDE_CALL_ANY: all */
  const char *table;            /* NULL: all */
  TideBytes row_prefix;         /* empty: all; else a row of the call starts so */
  TideFaultRowFunc row_matches; /* NULL: all; else holds for a row of the call. Called on gateway threads */
  gpointer row_matches_data;
  guint min_rows;     /* of the call; 0: any */
  guint64 skip_calls; /* of those that fit, let so many pass first */
  guint64 every;      /* then hit each every-th only; 0 or 1: each */
  guint64 max_hits;   /* then fit no more; 0: until cleared */

  /* What happens. */
  gint64 delay_apply_ms;     /* the call is carried out so much later, whether or not the client still waits */
  gboolean lands_after_kill; /* … and even when the gateway was killed meanwhile, as a region server would */
  gint64 delay_reply_ms;     /* between the carrying out and the reply */
  gsize drip_bytes;          /* the reply comes by so many bytes … */
  gint64 drip_interval_ms;   /* … with so long a wait after each; 0 bytes: at once */
  gboolean reset;            /* closing is done by RST, without a FIN */
  gsize cut_bytes;
  TideBytes garbage;
  TideFaultApply apply;
  guint apply_rows;
  const char *message; /* NULL: a text as HBase has it */
  TideFaultCanRetry can_retry;
  gint32 application_type; /* 0: TIDE_APPLICATION_INTERNAL_ERROR */
} TideScriptedFault;

/* A fault at work; shared by the gateway's list and the calls it acts on. */
typedef struct TideActiveFault {
  _Atomic guint references;
  guint id;
  TideScriptedFault script; /* texts and bytes are owned copies */
  guint64 fitting;          /* under the lock of the list that holds it */
  guint64 hits;             /* likewise */
} TideActiveFault;

TideActiveFault *tide_active_fault_new(const TideScriptedFault *fault, guint id); /* copies texts and bytes */
TideActiveFault *tide_active_fault_ref(TideActiveFault *active);
void tide_active_fault_unref(TideActiveFault *active); /* NULL ok */

/* Where a connection stands; a fault acts at one of these. */
typedef enum TideFaultStage { TIDE_STAGE_ACCEPTED, TIDE_STAGE_CALL_HEAD, TIDE_STAGE_CALL_READ } TideFaultStage;

typedef struct TideFaultTarget {
  TideFaultStage stage;
  guint64 connection;
  TideGatewayCall call;
  const char *table;     /* NULL where the call has none */
  const TideBytes *rows; /* the call's */
  guint n_rows;
} TideFaultTarget;

/* TRUE when @active acts on @target now. Counts, so ask once for each; the caller holds the lock that guards @active.
 */
gboolean tide_active_fault_takes(TideActiveFault *active, const TideFaultTarget *target);
gboolean tide_fault_names_row(const TideScriptedFault *fault, TideBytes row);
/* The rule of `apply` for one row of a putMultiple. */
gboolean tide_fault_applies_row(const TideScriptedFault *fault, guint index, TideBytes row);

/**
 * tide_scripted_fault_parse: a fault from words such as "io-error", "call=putMultiple", "delay-reply-ms=200".
 * @words: NULL-terminated; the kind first, then NAME=VALUE for each field above, with - for _; bytes take \xHH
 * @ret_fault: its texts are borrowed from @words
 * Returns: NULL, or what is wrong. Ownership: (transfer full).
 */
char *tide_scripted_fault_parse(char **words, TideScriptedFault *ret_fault);

G_END_DECLS
