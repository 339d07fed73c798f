/* THBaseService (thrift2) over the fake HBase: reads a request from the wire, executes it and replies. Faults are not
 * known here; scripted_gateway.h is what drives this. */
#pragma once

#include "fault/gateway/fake_hbase.h"
#include "fault/gateway/fake_wire.h"
#include "fault/gateway/scripted_fault.h"

G_BEGIN_DECLS

/* What stands behind the port. */
typedef enum TidePersonality {
  TIDE_PERSONALITY_THRIFT2,        /* HBase 2.6 */
  TIDE_PERSONALITY_OLD_THRIFT2,    /* HBase 2.2: before getThriftServerType, listNamespaces, getClusterId and
                                    * TIOError.canRetry */
  TIDE_PERSONALITY_OLDEST_THRIFT2, /* HBase 1.4 to 2.1: before any call that asks for tables or makes them, too */
  TIDE_PERSONALITY_THRIFT1,        /* answers ONE and has no other method of thrift2 */
  TIDE_PERSONALITY_OLD_THRIFT1,    /* has none of them */
  TIDE_PERSONALITY_HTTP,           /* a web server: 400 and closed */
  TIDE_PERSONALITY_TLS,            /* a TLS port: an alert and closed */
} TidePersonality;

/* One call as read. Bytes and texts are the reader's, until its next message. */
typedef struct TideFakeRequest {
  TideGatewayCall call;
  const char *name;
  gint32 sequence_id;
  const char *incomplete; /* NULL, or why its arguments cannot be used; static text */
  const char *table;      /* NULL where the call has none */
  const char *name_space; /* of createNamespace */
  GArray *rows;           /* owned (element-type TideFakeRow): the puts, the mutated row, or the row of a get */
  GArray *row_keys;       /* owned (element-type TideBytes): their keys */
  TideFakeQuery query;    /* of get, exists and openScanner */
  gint32 scanner_id;
  gint32 n_rows;
  TideFakeTableSpec *spec; /* owned; of createTable */
  GArray *splits;          /* owned (element-type TideBytes) */

  /* What the arrays above point into. */
  GArray *cells;   /* owned (element-type TideFakeCell) */
  GArray *columns; /* owned (element-type TideFakeColumn) */
  GArray *deletes; /* owned (element-type TideFakeDelete) */
} TideFakeRequest;

/* Whether it is a call that writes `rows`. */
static inline gboolean
fake_request_writes_rows(const TideFakeRequest *request)
{
  return request->call == TIDE_CALL_PUT_MULTIPLE || request->call == TIDE_CALL_MUTATE_ROW;
}

void fake_request_init(TideFakeRequest *request);
void fake_request_clear(TideFakeRequest *request);
/* Takes the call's head. */
void fake_request_begin(TideFakeRequest *request, const TideFakeMessage *message);
/* Reads the arguments and the message's end. FALSE when they are broken; the reader says why. */
gboolean fake_request_read(TideFakeRequest *request, TideFakeReader *reader) G_GNUC_WARN_UNUSED_RESULT;

typedef struct TideFakeService TideFakeService;

TideFakeService *fake_service_new(TideFakeHBase *hbase, gboolean framed); /* keeps a reference */
void fake_service_free(TideFakeService *service);
void fake_service_forget_scanners(TideFakeService *service); /* as a gateway that dies does */
guint fake_service_open_scanners(TideFakeService *service);

/**
 * fake_service_answer: carry @request out as @personality and write its reply to @writer.
 * @filter: (nullable): rows of a putMultiple or mutateRow that are left out
 * Returns: the number of rows written to tables.
 * Threads: any.
 */
guint64 fake_service_answer(TideFakeService *service, const TideFakeRequest *request, TidePersonality personality,
                            TideFakeOrigin origin, TideFakeRowFilter filter, gpointer filter_data,
                            TideFakeWriter *writer);

void fake_service_write_io_error(TideFakeWriter *writer, const TideFakeRequest *request, const char *message,
                                 TideFaultCanRetry can_retry);
void fake_service_write_application_error(TideFakeWriter *writer, const TideFakeRequest *request, gint32 type,
                                          const char *message);

G_END_DECLS
