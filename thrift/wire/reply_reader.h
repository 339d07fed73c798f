/* Reads a gateway's replies.
 *
 * The generated reader is not safe: its maps with binary keys lose entries (they hash the pointer's struct), it leaks
 * with every struct, accepts another method's reply whose name has the same beginning, never checks the sequence id,
 * and crashes on a negative length, on deep nesting and on a repeated field. This reader is bounded (wire_reader.h) and
 * fuzzed (tests/fuzz/fuzz-reply-reader.c).
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
/* An i32, or an enum, which is encoded as one. */
gboolean tide_reply_read_i32(const TideReply *reply, gint32 *ret_value, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* A string. (transfer full) */
gboolean tide_reply_read_text(const TideReply *reply, char **ret_text, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* list<string>. @ret_contains: TRUE when @wanted is among them. */
gboolean tide_reply_read_names(const TideReply *reply, const char *wanted, gboolean *ret_contains,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The consumer of a reply's rows. */
typedef struct TideRowSink {
  GArray *cells;    /* (element-type TideResultCell): memory, reused from row to row */
  TideRowFunc func; /* may be NULL */
  gpointer data;
  guint64 limit_rows; /* 0: none */
  guint64 rows;       /* rows passed on */
  gboolean stopped;   /* at the limit, or func returned FALSE: later rows are neither passed on nor counted */
  /* May be NULL. Checks each result before it is passed on: returns its problem as a string literal, which fails the
   * reply, or NULL. @row: NULL: a result without a row. */
  const char *(*problem_of)(const TideBytes *row, gpointer problem_data);
  gpointer problem_data;
} TideRowSink;

/* list<TResult>. @ret_results: the number of results in the reply, passed on or not: 0 is the end of a scan. */
gboolean tide_reply_read_rows(const TideReply *reply, TideRowSink *sink, guint32 *ret_results,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* TResult; a row that does not exist is an empty result, and is not passed to @sink. */
gboolean tide_reply_read_row(const TideReply *reply, TideRowSink *sink, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* list<THRegionLocation>: as tide_hbase_client_regions() describes. NULL on error. */
GPtrArray *tide_reply_read_regions(const TideReply *reply, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* (transfer full) (element-type utf8): "TABLE" or "ns:TABLE" */
GPtrArray *tide_reply_read_table_names(const TideReply *reply, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* TTableDescriptor. NULL on error. */
TideTableDescription *tide_reply_read_description(const TideReply *reply, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A field of a struct, and the offset of its value: a TideBytes, gint32 or gboolean. */
typedef struct TideReplyField {
  gint16 id;
  TideWireType type; /* STRING, I32 or BOOL */
  gsize offset;
} TideReplyField;

/* Reads a struct into @out and skips fields other than @fields. For rare structs: cells have their own reader. */
void tide_reply_read_fields(TideWireReader *reader, const TideReplyField *fields, gsize n_fields, gpointer out);

/* The common part of all of these, for reply_tables.c: reads field 0, the result, through @read_success (NULL: the call
 * returns nothing), which returns FALSE when the field has the wrong type. */
typedef gboolean (*TideReadSuccess)(TideWireReader *reader, const TideWireField *field, gpointer data);
gboolean tide_reply_read_result(const TideReply *reply, TideReadSuccess read_success, gpointer data,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
