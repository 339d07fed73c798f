/* Heals: rows that were written over cells in doubt (cells_in_doubt.h) and acknowledged, and that are written once more
 * when the doubt is over. Until then their sources' acknowledgements are kept back, so the offset does not pass them.
 *
 * A heal loses a cell when a later value of that cell is acknowledged, and in a latest table when a newer time of that
 * column is. One without cells is over: its sources are acknowledged.
 *
 * One set for each table and consumer. Threads: the owning consumer's only. Memory: charged to a share of the budget,
 * and never beyond its limit. */
#pragma once

#include "model/row.h"
#include "rows/doubt.h"
#include "util/budget.h"
#include "write/batch_cells.h"

G_BEGIN_DECLS

typedef enum TideHealChange {
  TIDE_HEAL_KEPT, /* the acknowledgement is kept back from now on */
  TIDE_HEAL_SENT, /* the row goes to its lane like any other, and with it the acknowledgement */
  TIDE_HEAL_VOID, /* the acknowledgement is due now: nothing needs to be written any more */
} TideHealChange;

/* Who hears of the sources. */
typedef struct TideHealHandler {
  gboolean (*is_owned)(TideSourceRef source, gpointer data);      /* of an assignment that lasts */
  gboolean (*is_taken_away)(TideSourceRef source, gpointer data); /* of a partition that is not assigned */
  void (*changed)(TideSourceRef source, TideHealChange change, gpointer data);
  /* Cells of the message's row may be overwritten. */
  void (*in_doubt)(TideSourceRef source, TideDoubt doubt, gpointer data);
  /* There is no room to remember what may overwrite the message's row, or the row was given up: it must be read again
   * at @until_us. Its acknowledgement is kept back for good. */
  void (*forgotten)(TideSourceRef source, gint64 until_us, gpointer data);
  /* What owners before us left in doubt of the message's partition. */
  TideDoubt (*inherited)(TideSourceRef source, gpointer data);
  gpointer data;
} TideHealHandler;

typedef struct TideHeals TideHeals;
typedef struct TideHeal TideHeal;

/* @share, @handler: borrowed */
TideHeals *tide_heals_new(TideBudget *share, const TideHealHandler *handler);
void tide_heals_free(TideHeals *heals);

gboolean tide_heals_is_empty(const TideHeals *heals);

/* ---- a heal in the making ---- */

TideHeal *tide_heal_new(TideBytes key);
void tide_heal_free(TideHeal *heal);
/* @cell may be overwritten until @until_us. */
void tide_heal_add_cell(TideHeal *heal, const TideBatchCell *cell, gint64 until_us);
void tide_heal_add_source(TideHeal *heal, TideSourceRef source);

/* Keeps @heal (transfer full). FALSE: the share is used up; nothing was kept, and @heal is the caller's still. */
gboolean tide_heals_keep(TideHeals *heals, TideHeal *heal) G_GNUC_WARN_UNUSED_RESULT;

/* ---- what ends heals before their time ---- */

/* A later value of that cell was acknowledged. */
void tide_heals_overwritten(TideHeals *heals, guint64 identity);
/* A newer time was acknowledged for the column with @column_hash of a latest row; 0: for the row as a whole. */
void tide_heals_outdated(TideHeals *heals, guint64 key_hash, guint64 column_hash, gint64 timestamp_ms);
/* Drops heals of which no source is owned any more: they are read again. */
void tide_heals_drop_disowned(TideHeals *heals);
/* Drops heals of which a source was taken away: its next owner reads it again, and so must those be that are owned. */
void tide_heals_give_up(TideHeals *heals, gint64 now_us);

/* ---- when the time has come ---- */

/* The first whose doubt is over at @now_us; NULL: none. It stays kept until it is sent or blocked. */
TideHeal *tide_heals_due(TideHeals *heals, gint64 now_us);
/* It cannot go while another row of its key is under way: it is not due until that is unblocked. */
void tide_heals_block(TideHeals *heals, TideHeal *heal);
void tide_heals_unblock_key(TideHeals *heals, guint64 key_hash);
void tide_heals_unblock_all(TideHeals *heals);
gint64 tide_heals_next_us(const TideHeals *heals); /* when the next is due; G_MAXINT64: none is */

TideBytes tide_heal_key(const TideHeal *heal);
gint64 tide_heal_until_us(const TideHeal *heal);
guint64 tide_heal_key_hash(const TideHeal *heal);
/* Of which the first stands for all: the others only have to be acknowledged with it. */
const TideSourceRef *tide_heal_sources(const TideHeal *heal, guint *ret_n);
/* What is left of it, as a row of @table. Borrowed from the heal, until the next call. */
TideRow tide_heal_row(TideHeal *heal);
/* Its row was appended to its lane: tells its sources, and frees it. */
void tide_heals_sent(TideHeals *heals, TideHeal *heal);

G_END_DECLS
