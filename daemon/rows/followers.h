/* Rows that follow another row: kept beside it, in its row set and then in its batch, until HBase has acknowledged that
 * row; only then do they go to lanes of their own. So an index never names a row that is not there.
 *
 * A buffer of followers is a run of records; each holds the row as it was mapped and all bytes it points to, so it
 * outlives the mapping's memory. Columns come back with prefix and hash alone: what encoding needs.
 *
 * Threads: the owning consumer's only; a batch that is on its way holds them unread. */
#pragma once

#include "model/row.h"
#include "write/batch.h"

G_BEGIN_DECLS

typedef struct TideFollower {
  TideSourceRef source;
  guint32 leader; /* the row it follows: its place in the set, or in the batch */
  TideRow row;    /* borrowed from the buffer and the reader */
} TideFollower;

/* Adds a copy of @row, which came from @source. */
void tide_followers_append(TideBuffer *followers, guint32 leader, const TideRow *row, TideSourceRef source);

/* The record at *@offset, and moves *@offset behind it; empty at the end. */
TideBytes tide_followers_next_record(const TideBuffer *followers, gsize *offset);
guint32 tide_follower_leader(TideBytes record);
TideSourceRef tide_follower_source(TideBytes record);
guint32 tide_follower_reading_index(TideBytes record);
/* Adds a copy of @record with another leader. */
void tide_followers_append_record(TideBuffer *followers, TideBytes record, guint32 leader);

/* Scratch memory for rows read back, kept from row to row. Zeroed: empty. */
typedef struct TideFollowerReader {
  TideBuffer columns; /* of TideColumn */
  TideBuffer cells;   /* of TideCell */
} TideFollowerReader;

void tide_follower_reader_clear(TideFollowerReader *reader);
/* Valid until the reader's next row, or until the record's buffer changes. */
TideFollower tide_follower_read(TideFollowerReader *reader, TideBytes record);

G_END_DECLS
