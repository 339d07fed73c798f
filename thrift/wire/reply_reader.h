/* Reads what a gateway answers.
 *
 * A reader of our own, because the generated one cannot be trusted here: its maps with binary keys lose entries (they
 * hash the pointer's struct), it leaks with every struct, accepts another method's reply whose name begins alike, never
 * looks at the sequence id, and crashes on a negative length, on deep nesting and on a field that comes twice. This one
 * is bounded (wire_reader.h) and fuzzed (tests/fuzz/fuzz-reply-reader.c).
 *
 * Errors of every function: PROTOCOL when the bytes are not a reply to this call; GATEWAY when they hold TIOError or
 * TIllegalArgument; WRONG_SERVICE when the peer does not know the method; APPLICATION for any other
 * TApplicationException. Threads: any; pure functions. */
#pragma once

#include "thrift/wire/rows.h"
#include "thrift/wire/table_description.h"
#include "thrift/wire/wire_reader.h"

G_BEGIN_DECLS

/* A reply, and the call that it must answer. */
typedef struct TideReply {
  TideWireProtocol protocol;
  gint32 sequence_id;
  TideBytes message;  /* borrowed: one whole message, without its frame */
  const char *method; /* borrowed */
} TideReply;

gboolean tide_reply_read_void(const TideReply *reply, GError **error) G_GNUC_WARN_UNUSED_RESULT;
gboolean tide_reply_read_bool(const TideReply *reply, gboolean *ret_value, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* An i32, or an enum, which is one on the wire. */
gboolean tide_reply_read_i32(const TideReply *reply, gint32 *ret_value, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* A string. (transfer full) */
gboolean tide_reply_read_text(const TideReply *reply, char **ret_text, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* list<string>. @ret_contains: TRUE when @wanted is among them. */
gboolean tide_reply_read_names(const TideReply *reply, const char *wanted, gboolean *ret_contains,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What the rows of a reply are handed to. */
typedef struct TideRowSink {
  GArray *cells;    /* (element-type TideResultCell): memory, reused from row to row */
  TideRowFunc func; /* may be NULL */
  gpointer data;
  guint64 limit_rows; /* 0: none */
  guint64 rows;       /* rows handed on */
  gboolean stopped;   /* at the limit, or func returned FALSE: later rows are neither handed on nor counted */
  /* NULL, or asked of each result before it is handed on: what is wrong with it, as a string literal that fails the
   * reply; NULL: nothing. @row: NULL: a result without a row. */
  const char *(*problem_of)(const TideBytes *row, gpointer problem_data);
  gpointer problem_data;
} TideRowSink;

/* list<TResult>. @ret_results: how many results the reply held, handed on or not: 0 is a scan's end. */
gboolean tide_reply_read_rows(const TideReply *reply, TideRowSink *sink, guint32 *ret_results,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* TResult; a row that does not exist is an empty one, and is not handed to @sink. */
gboolean tide_reply_read_row(const TideReply *reply, TideRowSink *sink, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* list<THRegionLocation>: as tide_hbase_client_regions() describes. NULL on error. */
GPtrArray *tide_reply_read_regions(const TideReply *reply, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* (transfer full) (element-type utf8): "TABLE" or "ns:TABLE" */
GPtrArray *tide_reply_read_table_names(const TideReply *reply, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* TTableDescriptor. NULL on error. */
TideTableDescription *tide_reply_read_description(const TideReply *reply, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A field of a struct, and where its value goes: a TideBytes, gint32 or gboolean. */
typedef struct TideReplyField {
  gint16 id;
  TideWireType type; /* STRING, I32 or BOOL */
  gsize offset;
} TideReplyField;

/* Reads a struct into @out; what is none of @fields is skipped. For what is not read often: cells have their own. */
void tide_reply_read_fields(TideWireReader *reader, const TideReplyField *fields, gsize n_fields, gpointer out);

/* The frame of all of these, for reply_tables.c: reads field 0, the result, through @read_success (NULL: the call
 * returns nothing), which returns FALSE when the field is not of the type it must be. */
typedef gboolean (*TideReadSuccess)(TideWireReader *reader, const TideWireField *field, gpointer data);
gboolean tide_reply_read_result(const TideReply *reply, TideReadSuccess read_success, gpointer data,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
