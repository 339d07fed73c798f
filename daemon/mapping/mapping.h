/* Maps a message to all its rows, in all tables that take from its topic's source. Each consumer thread has its own
 * mapping; `explain` uses it too.
 *
 * A message is decoded, timed and keyed completely before any row is queued. A bad reading rejects the whole message;
 * with on_bad_reading: reading, only that reading makes no rows. A reading makes a row in each table whose conditions
 * hold. A table that does not take a reading does not evaluate it, not even its time.
 *
 * A message without value (a tombstone) deletes the row named by its key in each table with tombstone: delete whose
 * conditions it meets, as far as record and key determine them (record_key.h). If no table deletes, it is rejected as
 * TOMBSTONE, which is not an error: the caller skips it. */
#pragma once

#include "config/config.h"
#include "model/message.h"
#include "model/reject.h"
#include "model/row.h"
#include "thrift/wire/wire.h"

G_BEGIN_DECLS

typedef struct TideMapping TideMapping;

/* @config: borrowed. @protocol: of the wire, known before the first message */
TideMapping *tide_mapping_new(const TideConfig *config, TideWireProtocol protocol);
void tide_mapping_free(TideMapping *mapping);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideMapping, tide_mapping_free)

/**
 * tide_mapping_set_now: sets the host clock's time for the following messages. 0, the initial value: unknown, and
 * nothing expires. The clock decides only if a reading is taken, never its contents, and only for records whose own
 * time is later: readings more than max_future ahead of it are rejected, and cells older than their time to live, by
 * the earlier of both times, are left out. A record time set by the broker needs no clock; neither does a record
 * without one.
 */
void tide_mapping_set_now(TideMapping *mapping, gint64 now_epoch_ms);

/* Rows and cells omitted from a table: expired ones, and in a latest table those in the future. */
typedef struct TideExpired {
  guint32 n_rows;        /* expired */
  guint32 n_cells;       /* expired cells of rows that are written without them */
  gint64 ttl_ms;         /* the longest time to live involved */
  guint32 n_future_rows; /* with on_future: history */
} TideExpired;

typedef struct TideMapped {
  TideRow *rows; /* ordered by reading, then by table, indexes after the others; the mapping's, but the caller may
                    change them */
  guint32 n_rows;
  guint32 n_readings;           /* none for a tombstone */
  guint32 n_unmatched_readings; /* taken by no table */
  guint32 n_ambiguous_readings; /* with a local time that occurs twice: 'ambiguous' decided which */
  guint32 n_cut_times;          /* readings with a time finer than nanoseconds, which was truncated */
  guint32 n_expired_readings;   /* taken by a table, but without an unexpired row */
  const TideExpired *expired;   /* by table; NULL: nothing expired */
  const TideReject *rejects;    /* rejected readings, in order, with on_bad_reading: reading; only of messages with
                                   several; the mapping's */
  guint32 n_rejects;            /* included in n_readings */
  gint64 timestamp_ms;          /* record time; -1: none */
} TideMapped;

/**
 * tide_mapping_apply: maps all rows of @message.
 * @ret_mapped: valid until the next call
 * Returns: FALSE with @ret_reject filled; with the reason NONE: retry later, as in tide_decoder_decode(). Threads: the
 * owner's only. Allocates: only to grow scratch memory.
 */
gboolean tide_mapping_apply(TideMapping *mapping, const TideMessage *message, TideMapped *ret_mapped,
                            TideReject *ret_reject) G_GNUC_WARN_UNUSED_RESULT;

/* The source that reads @topic. If none of several does, the first one, and the message is rejected. */
const TideConfigSource *tide_mapping_source(TideMapping *mapping, TideBytes topic);

/* The readings of the last apply, indexed by the rows' reading_index; for `explain`. For a tombstone: the fields of
 * each row's key. A row contains its own event time. */
const TideReading *tide_mapping_readings(const TideMapping *mapping);

/* For a tombstone: the condition that prevents deletion in the table; NULL: it deletes, or the table ignores
 * tombstones. */
const TideCondition *tide_mapping_unmet(const TideMapping *mapping, guint32 table_index);

/* Whether @field of those readings makes a cell in any table that takes its reading. */
gboolean tide_mapping_takes(TideMapping *mapping, const TideField *field);

/* The names known to the mapping's thread, for printing. */
const TideFieldNames *tide_mapping_names(const TideMapping *mapping);

G_END_DECLS
