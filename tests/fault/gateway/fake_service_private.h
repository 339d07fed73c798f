/* What the files of the fake service share: the current reply, and the forms of a reply. */
#pragma once

#include "fault/gateway/fake_service.h"
#include "util/lock.h"

G_BEGIN_DECLS

struct TideFakeService {
  TideFakeHBase *hbase; /* a reference */
  gboolean framed;
  TideMutex mutex;

  /* under mutex */
  GHashTable *scanners; /* owned: id -> TideFakeScanner; one that is in use is taken out */
  gint32 last_scanner_id;
};

/* What answering one call needs. */
typedef struct TideAnswer {
  TideFakeService *service;
  const TideFakeRequest *request;
  TideFakeWriter *writer;
  gboolean has_can_retry;
  TideFakeOrigin origin;
  TideFakeRowFilter filter;
  gpointer filter_data;
  guint64 rows_written;
} TideAnswer;

/* A reply is a struct: field 0 is the result, 1 and 2 the declared exceptions. */
void fake_reply_begin(TideAnswer *answer);
void fake_reply_end(TideAnswer *answer);
void fake_reply_bool(TideAnswer *answer, gboolean value);
void fake_reply_i32(TideAnswer *answer, gint32 value);
void fake_reply_nothing(TideAnswer *answer);
void fake_reply_argument_error(TideAnswer *answer, const char *message);
void fake_reply_error(TideAnswer *answer, const TideFakeError *error);
/* Nothing, or @error unless @ok. */
void fake_reply_done(TideAnswer *answer, gboolean ok, const TideFakeError *error);
void fake_reply_unknown_method(TideAnswer *answer);

/* Regions, tables and namespaces: fake_service_admin.c. */
void fake_service_answer_admin(TideAnswer *answer);

G_END_DECLS
