/* From a message to all the rows it makes, in all tables that take from its topic's source. One mapping for each
 * consumer thread; explain uses it too.
 *
 * A message is decoded, timed and keyed whole before anything is queued: one bad reading rejects the message, and then
 * nothing of it was written anywhere; or, with on_bad_reading: reading, it makes no row in any table, and the message's
 * other readings make theirs. A reading makes a row in each table whose conditions hold; a table that does not
 * take it asks nothing of it, not even its time.
 *
 * A message without value (a tombstone) deletes the row that its key names in each table with tombstone: delete whose
 * conditions it meets, as far as record and key say (record_key.h). Where it deletes in no table, it is rejected as
 * TOMBSTONE, which says nothing against the message: the caller passes over it. */
#pragma once

#include "config/config.h"
#include "model/message.h"
#include "model/reject.h"
#include "model/row.h"
#include "thrift/wire/wire.h"

G_BEGIN_DECLS

typedef struct TideMapping TideMapping;

/* @config: borrowed. @protocol: of the wire, known before the first message. */
TideMapping *tide_mapping_new(const TideConfig *config, TideWireProtocol protocol);
void tide_mapping_free(TideMapping *mapping);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideMapping, tide_mapping_free)

/**
 * tide_mapping_set_now: what this host's clock says for the messages applied from now on. 0, as at first: nothing, and
 * then nothing is old.
 * It decides whether a reading is taken and never what is written of it, and that only of records whose own time is
 * later: what is further ahead of the clock than max_future is rejected, and cells older than their time to live, by
 * the earlier of both times, are left out. A time that the broker gave needs no clock beside it; a record without one
 * neither.
 */
void tide_mapping_set_now(TideMapping *mapping, gint64 now_epoch_ms);

/* What a table does not get: because nobody could ever read it, and in a latest table what is of the future. */
typedef struct TideExpired {
  guint32 n_rows;        /* that have expired */
  guint32 n_cells;       /* of rows that are written without them */
  gint64 ttl_ms;         /* the longest of their times to live */
  guint32 n_future_rows; /* with on_future: history */
} TideExpired;

typedef struct TideMapped {
  TideRow *rows; /* in the order of readings, and of tables within a reading, indexes behind the others; the mapping's,
                  * the caller may change them */
  guint32 n_rows;
  guint32 n_readings;           /* none of a tombstone, whatever it deletes */
  guint32 n_unmatched_readings; /* those that no table takes */
  guint32 n_ambiguous_readings; /* those with a local time that happens twice: 'ambiguous' decided which */
  guint32 n_cut_times;          /* readings with a time finer than nanoseconds, which was cut */
  guint32 n_expired_readings;   /* those that some table takes, but all rows would have expired */
  const TideExpired *expired;   /* by table; NULL: nothing at all */
  const TideReject *rejects; /* readings left out, in their order, with on_bad_reading: reading; of messages of several
                              * only; the mapping's */
  guint32 n_rejects;         /* n_readings counts them */
  gint64 timestamp_ms;       /* the record's own time; -1: it has none */
} TideMapped;

/**
 * tide_mapping_apply: all rows of @message.
 * @ret_mapped: valid until the next call
 * Returns: FALSE with @ret_reject filled; with the reason NONE: later, as tide_decoder_decode() has it. Threads: the
 * owner's only. Allocates: only to grow scratch memory.
 */
gboolean tide_mapping_apply(TideMapping *mapping, const TideMessage *message, TideMapped *ret_mapped,
                            TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* The source that reads @topic; the first one, where none of several does, and such a message is rejected. */
const TideConfigSource *tide_mapping_source(TideMapping *mapping, TideBytes topic);

/* The readings of the last apply, by the rows' reading_index; for explain. Of a tombstone: the fields of each row's
 * key. A row's own event time is in the row. */
const TideReading *tide_mapping_readings(const TideMapping *mapping);

/* Of a tombstone: the condition by which it deletes nothing in the table; NULL: it does, or the table ignores them. */
const TideCondition *tide_mapping_unmet(const TideMapping *mapping, guint32 table_index);

/* Whether @field, of those readings, makes a cell in any table that takes its reading. */
gboolean tide_mapping_takes(TideMapping *mapping, const TideField *field);

/* The names the mapping's thread knows, for printing. */
const TideFieldNames *tide_mapping_names(const TideMapping *mapping);

G_END_DECLS
