/* One verification: its input and its findings, for the files of this room.
 *
 * Threads: one; blocks for the whole verification. */
#pragma once

#include "commands/read/gateway_session.h"
#include "commands/verify/cells.h"
#include "kafka/kafka_topic_reader.h"
#include "mapping/mapping.h"

#include <stdio.h>

G_BEGIN_DECLS

/* ---- tables.c ---- */

/* A family of a table. Entries refer to it by its index in the list of all. */
typedef struct TideVerifyFamily {
  guint table; /* index of its table */
  char *name;  /* owned */
  guint versions;
  gint64 ttl_ms; /* 0: for ever; the shorter of the declared TTL and HBase's */
} TideVerifyFamily;

/* A table in HBase; for a dated one, the table of one date. */
typedef struct TideVerifyTable {
  const TideTable *table; /* borrowed from the configuration */
  gboolean is_there;      /* at the check: at the start, or when a message first named it */
  guint first_family;
  guint n_families;
  guint64 counts[TIDE_VERDICT_COUNT]; /* cells */
} TideVerifyTable;

typedef struct TideVerifyTables TideVerifyTables;

/**
 * tide_verify_tables_new: the declared tables, and the existing tables of dated ones.
 * @wanted: (element-type utf8): names of tables to verify; none: all. A dated one's name selects all of its tables
 * Errors: USAGE for a name that no table has; those of the calls.
 */
TideVerifyTables *tide_verify_tables_new(const TideConfig *config, TideGatewaySession *session, const GPtrArray *wanted,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_verify_tables_free(TideVerifyTables *tables); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideVerifyTables, tide_verify_tables_free)

guint tide_verify_tables_count(const TideVerifyTables *tables);
TideVerifyTable *tide_verify_tables_at(const TideVerifyTables *tables, guint slot);
const TideVerifyFamily *tide_verify_tables_family(const TideVerifyTables *tables, guint family);
TideGatewaySession *tide_verify_tables_session(TideVerifyTables *tables);

/**
 * tide_verify_tables_find: the index of @row's table; a new dated name is looked up in HBase.
 * @ret_slot: TIDE_TABLE_NONE: it is not to be verified
 */
gboolean tide_verify_tables_find(TideVerifyTables *tables, const TideRow *row, guint *ret_slot,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Extends the declared table's window to the time of a cell that must exist. */
void tide_verify_tables_note_time(TideVerifyTables *tables, guint slot, gint64 time_ms);

TideVerifyRow tide_verify_row(guint slot, TideBytes key);

/* Fills in row, family, column, time and value. FALSE if the table has no such family. */
gboolean tide_verify_tables_entry(const TideVerifyTables *tables, guint slot, TideVerifyRow row,
                                  const TideResultCell *cell, TideVerifyEntry *ret_entry);

/* The rule for judging @entry. @now_ms: wall clock. */
TideVerifyRule tide_verify_tables_rule(const TideVerifyTables *tables, const TideVerifyEntry *entry, gint64 now_ms,
                                       gboolean is_whole);

typedef struct TideVerifyScan {
  guint slot;
  guint64 rate_rows_per_s;  /* 0: not limited */
  const volatile int *stop; /* borrowed: not 0 ends it with CANCELLED */
  /* Called for each row. Return FALSE to end the scan. */
  gboolean (*take_row)(const TideResultRow *row, gpointer data);
  gpointer data;
} TideVerifyScan;

/**
 * tide_verify_tables_scan: read the rows of one table with cells covered by the window, as far as HBase can filter
 * them: of a table of readings everything from the window's oldest time on, of a latest table everything. Tables that
 * do not exist, or that no message concerns, are not read. Errors: those of the scan, when it has not advanced for a
 * minute; CANCELLED.
 */
gboolean tide_verify_tables_scan(TideVerifyTables *tables, const TideVerifyScan *scan,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* TRUE if the window does not cover a cell of that time. */
gboolean tide_verify_tables_is_outside(const TideVerifyTables *tables, guint slot, gint64 time_ms);

/* ---- the verification ---- */

/* The source of messages: topics, or files instead. Each file is a part, its path is the topic, and its line numbers
 * (in binary formats, record numbers) are the offsets. */
typedef struct TideVerifyInput {
  TideTopicReader *topics;        /* owned; NULL: files */
  const TideConfigSource *source; /* borrowed: for files, the source of their readings */
  const volatile int *stop;       /* borrowed: set by a signal */
  GArray *parts;                  /* owned (element-type TideTopicPart): the requested part of each is the window */
} TideVerifyInput;

/* Offsets of a partition that the group never wrote: no cell is expected from them, and none can be checked. */
typedef enum TideVerifyGapKind {
  TIDE_VERIFY_GAP_LOST,      /* deleted by Kafka; the committed offset is before them, or at the first */
  TIDE_VERIFY_GAP_NOT_BEGUN, /* the group has committed nothing of this partition, but something of others */
  TIDE_VERIFY_GAP_HALTED,    /* halted: an operator must decide where to continue */
} TideVerifyGapKind;

typedef struct TideVerifyGap {
  TideVerifyGapKind kind;
  guint part;
  gint64 from; /* offsets [from, to) */
  gint64 to;
  const char *halt_text; /* borrowed, a literal: the reason; HALTED */
} TideVerifyGap;

/* A dead letter of a message in the window, so that cells that HBase refused do not count as missing. */
typedef struct TideVerifyDeadLetter {
  TideVerifySource source;
  gint32 reading;        /* its index in the message; -1: the whole message */
  gboolean is_of_row;    /* the original is gone: content is that of the row's key, otherwise that of the message */
  gboolean is_unwritten; /* the current configuration may accept it, but it was not written: HBase refused it, or a
                          * clock rejected it. Other reasons come from a configuration, and excuse nothing that this one
                          * accepts */
  guint64 content;       /* a dead letter of another message that once had this offset is ignored */
} TideVerifyDeadLetter;

/* Counts of the window's messages. */
typedef struct TideVerifyMessageCounts {
  guint64 messages;
  guint64 dead_lettered;
  guint64 unmatched; /* readings that no table accepts */
  guint64 cells;     /* made, in the tables to verify */
  guint64 rejected[TIDE_REJECT_N_REASONS];
  guint64 rejected_readings; /* of messages whose other readings are good */
} TideVerifyMessageCounts;

/* A sample of a finding, with the content that hashes cannot provide. */
typedef struct TideVerifySample {
  TideVerdict verdict;
  TideVerifyEntry entry;
  guint slot;           /* of its table */
  gboolean has_message; /* entry.source names the message that makes the cell */
  /* read again from the topic and the table; owned */
  gboolean is_resolved;
  TideBuffer row; /* its key */
  TideBuffer qualifier;
  gboolean has_expected;
  TideBuffer expected; /* value, at entry.time_ms */
  gboolean has_found;  /* its column has a cell now */
  TideBuffer found;
  gint64 found_ms;
  gboolean has_lost;     /* another reading's value had its place, and was lost ... */
  TideVerifyEntry lost;  /* ... from this message */
  TideBuffer lost_value; /* that value */
} TideVerifySample;

typedef struct TideVerification {
  const TideConfig *config; /* borrowed */
  TideVerifyInput input;
  TideVerifyTables *tables;   /* owned */
  GArray *dead_letters;       /* owned (element-type TideVerifyDeadLetter), sorted */
  GArray *gaps;               /* owned (element-type TideVerifyGap) */
  const char *group;          /* borrowed: the group whose offsets limit the window; NULL: none */
  char *not_whole;            /* owned: why cells without a message do not count as unexpected; NULL: they do */
  gboolean allow_overwritten; /* they are not differences */
  gsize memory_bytes;         /* of the set of cells */
  guint64 rate_rows_per_s;    /* of the tables' scans; 0: not limited */
  guint max_samples;          /* of each kind */
  /* while it works */
  TideVerifyCells *cells; /* owned */
  TideMapping *mapping;   /* owned */
  /* findings, besides the counts of the tables */
  TideVerifyMessageCounts counts;
  GArray *samples; /* owned (element-type TideVerifySample), by kind */
  guint n_passes;
  gboolean has_gaps; /* offsets without a message: no cell counts as unexpected then */
  gint64 elapsed_us;
} TideVerification;

/* ---- messages.c ---- */

/**
 * tide_verify_dead_letters_read: the dead letters of messages in the window. A missing topic or file contains none.
 * Call when the parts are known: dead letters are stored before their message is committed.
 * @file: (nullable): instead of the configured one
 * @max_dead_letters: more are an error
 * Errors: KAFKA, IO; TOO_BIG.
 */
gboolean tide_verify_dead_letters_read(TideVerification *verification, const char *file, guint max_dead_letters,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The meaning of the cells of a message, or of one of its readings. Expiry is not considered here: it depends on the
 * time at which the cell was looked for. */
typedef enum TideVerifyRole {
  TIDE_VERIFY_MUST,    /* in the window: they must exist */
  TIDE_VERIFY_MAY,     /* in the window, and dead-lettered: some rows may exist, refused ones do not */
  TIDE_VERIFY_EXPLAIN, /* outside the window: they may be found */
  TIDE_VERIFY_SAMPLE,  /* of a sample: provides its missing parts */
} TideVerifyRole;

/**
 * tide_verify_messages_add: add @message, of the partition at index @part.
 * @role: MUST, which becomes MAY for dead letters; or another
 * @counts: (nullable): incremented
 * Errors: of looking up a new dated table.
 */
gboolean tide_verify_messages_add(TideVerification *verification, const TideMessage *message, guint part,
                                  TideVerifyRole role, TideVerifyMessageCounts *counts,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* ---- passes.c ---- */

/* Errors: those of topics and tables; TOO_BIG: a row has more cells than fit into memory; CANCELLED. */
gboolean tide_verify_run(TideVerification *verification, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Completes the samples of a message's @cell, which is @entry in the table at @slot. */
void tide_verify_samples_take(TideVerification *verification, guint slot, const TideRow *row, const TideCell *cell,
                              const TideVerifyEntry *entry);

/* ---- report.c ---- */

/* Counted in cells. */
guint64 tide_verify_report_differences(const TideVerification *verification);

void tide_verify_report_print_text(const TideVerification *verification, FILE *stream);
void tide_verify_report_print_json(const TideVerification *verification, FILE *stream);

G_END_DECLS
