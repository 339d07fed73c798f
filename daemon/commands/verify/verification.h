/* One verification: what it is of and what it has found, for the files of this room.
 *
 * Threads: one; blocks for as long as it takes. */
#pragma once

#include "commands/read/gateway_session.h"
#include "commands/verify/cells.h"
#include "kafka/kafka_topic_reader.h"
#include "mapping/mapping.h"

#include <stdio.h>

G_BEGIN_DECLS

/* ---- tables.c ---- */

/* A family of a table. Entries know it by its place in the list of all. */
typedef struct TideVerifyFamily {
  guint table; /* place of its table */
  char *name;  /* owned */
  guint versions;
  gint64 ttl_ms; /* 0: for ever; the shortest of what is declared and what HBase has */
} TideVerifyFamily;

/* A table in HBase; of a dated one, the table of one name. */
typedef struct TideVerifyTable {
  const TideTable *table; /* borrowed from the configuration */
  gboolean is_there;      /* when it was looked for: at the start, or when a message first named it */
  guint first_family;
  guint n_families;
  guint64 counts[TIDE_VERDICT_COUNT]; /* cells */
} TideVerifyTable;

typedef struct TideVerifyTables TideVerifyTables;

/**
 * tide_verify_tables_new: the declared tables, and those of dated ones that exist.
 * @wanted: (element-type utf8): names of tables to verify; none: all. A dated one's name stands for all of its tables
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
 * tide_verify_tables_find: the place of the table that @row goes to; of a dated name that is new, it is looked for in
 * HBase.
 * @ret_slot: TIDE_TABLE_NONE: it is not to be verified
 */
gboolean tide_verify_tables_find(TideVerifyTables *tables, const TideRow *row, guint *ret_slot,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The window of the declared table grows to the time of a cell that must be there. */
void tide_verify_tables_note_time(TideVerifyTables *tables, guint slot, gint64 time_ms);

TideVerifyRow tide_verify_row(guint slot, TideBytes key);

/* Fills in row, family, column, time and value. FALSE when the table has no such family. */
gboolean tide_verify_tables_entry(const TideVerifyTables *tables, guint slot, TideVerifyRow row,
                                  const TideResultCell *cell, TideVerifyEntry *ret_entry);

/* What @entry is judged by. @now_ms: wall clock. */
TideVerifyRule tide_verify_tables_rule(const TideVerifyTables *tables, const TideVerifyEntry *entry, gint64 now_ms,
                                       gboolean is_whole);

typedef struct TideVerifyScan {
  guint slot;
  guint64 rate_rows_per_s;  /* 0: not limited */
  const volatile int *stop; /* borrowed: not 0 ends it with CANCELLED */
  /* Each row. Return FALSE to end the scan. */
  gboolean (*take_row)(const TideResultRow *row, gpointer data);
  gpointer data;
} TideVerifyScan;

/**
 * tide_verify_tables_scan: read the rows of one table whose cells the window says something about, as far as HBase can
 * be told so: of a table of readings all from the window's oldest time on, of a latest table all. Nothing is read of
 * one that is not there, or that no message says anything about. Errors: those of the scan, when it has not moved for a
 * minute; CANCELLED.
 */
gboolean tide_verify_tables_scan(TideVerifyTables *tables, const TideVerifyScan *scan,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether the window says nothing about a cell of that time. */
gboolean tide_verify_tables_is_outside(const TideVerifyTables *tables, guint slot, gint64 time_ms);

/* ---- the verification ---- */

/* Where the messages come from: topics, or files in their place. Of those each is a part, its path the topic, and its
 * lines (of binary formats its records) are the offsets. */
typedef struct TideVerifyInput {
  TideTopicReader *topics;        /* owned; NULL: files */
  const TideConfigSource *source; /* borrowed: of files, whose readings they hold */
  const volatile int *stop;       /* borrowed: set by a signal */
  GArray *parts;                  /* owned (element-type TideTopicPart): what is asked for of each is the window */
} TideVerifyInput;

/* Offsets of a partition that the group never had written: no cell is expected of them, and none can be looked for. */
typedef enum TideVerifyGapKind {
  TIDE_VERIFY_GAP_LOST,      /* deleted by Kafka; what is committed lies before them, or at them */
  TIDE_VERIFY_GAP_NOT_BEGUN, /* the group has committed nothing of this partition, though of others */
  TIDE_VERIFY_GAP_HALTED,    /* halted: an operator must decide where to go on */
} TideVerifyGapKind;

typedef struct TideVerifyGap {
  TideVerifyGapKind kind;
  guint part;
  gint64 from; /* offsets [from, to) */
  gint64 to;
  const char *halt_text; /* borrowed, a literal: why; HALTED */
} TideVerifyGap;

/* A dead letter of a message of the window, so that what HBase refused of it is not called missing. */
typedef struct TideVerifyDeadLetter {
  TideVerifySource source;
  gint32 reading;        /* its place in the message; -1: all of the message */
  gboolean is_of_row;    /* the original is gone: content is that of the row's key, else that of the message */
  gboolean is_unwritten; /* the present configuration may take it, and it was not written all the same: HBase refused
                          * it, or a clock did. Other reasons are those of a configuration, and excuse nothing that this
                          * one takes */
  guint64 content;       /* a dead letter of another message that once had its place says nothing */
} TideVerifyDeadLetter;

/* What the window's messages were. */
typedef struct TideVerifyMessageCounts {
  guint64 messages;
  guint64 dead_lettered;
  guint64 unmatched; /* readings that no table takes */
  guint64 cells;     /* made, in the tables that are verified */
  guint64 rejected[TIDE_REJECT_N_REASONS];
  guint64 rejected_readings; /* of messages whose other readings are good */
} TideVerifyMessageCounts;

/* Some of each kind that was found, with what the hashes do not tell. */
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
  gboolean has_found;  /* there is a cell in its column now */
  TideBuffer found;
  gint64 found_ms;
  gboolean has_lost;     /* another reading's value had its place, and was lost ... */
  TideVerifyEntry lost;  /* ... of this message */
  TideBuffer lost_value; /* that value */
} TideVerifySample;

typedef struct TideVerification {
  const TideConfig *config; /* borrowed */
  TideVerifyInput input;
  TideVerifyTables *tables;   /* owned */
  GArray *dead_letters;       /* owned (element-type TideVerifyDeadLetter), sorted */
  GArray *gaps;               /* owned (element-type TideVerifyGap) */
  const char *group;          /* borrowed: whose offsets bound it; NULL: none's */
  char *not_whole;            /* owned: why cells that no message explains are not unexpected; NULL: they are */
  gboolean allow_overwritten; /* they are no differences */
  gsize memory_bytes;         /* of the set of cells */
  guint64 rate_rows_per_s;    /* of the tables' scans; 0: not limited */
  guint max_samples;          /* of a kind */
  /* while it works */
  TideVerifyCells *cells; /* owned */
  TideMapping *mapping;   /* owned */
  /* what was found, beside what is counted in the tables */
  TideVerifyMessageCounts counts;
  GArray *samples; /* owned (element-type TideVerifySample), by kind */
  guint n_passes;
  gboolean has_gaps; /* offsets without a message: nothing is unexpected then */
  gint64 elapsed_us;
} TideVerification;

/* ---- messages.c ---- */

/**
 * tide_verify_dead_letters_read: the dead letters of messages within the window. A topic or file that does not exist
 * holds none. Read them when the parts are known: what is committed is kept before.
 * @file: (nullable): in place of what the configuration names
 * @max_dead_letters: more are refused
 * Errors: KAFKA, IO; TOO_BIG.
 */
gboolean tide_verify_dead_letters_read(TideVerification *verification, const char *file, guint max_dead_letters,
                                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What the cells of a message, or of one of its readings, are to the verification. Nothing is taken for expired by
 * these: whether a cell need not be there any more is asked when it was looked for. */
typedef enum TideVerifyRole {
  TIDE_VERIFY_MUST,    /* of the window: they must be there */
  TIDE_VERIFY_MAY,     /* of the window, and dead-lettered: some rows may be there, what was refused is not */
  TIDE_VERIFY_EXPLAIN, /* of outside: where they are found, all is well */
  TIDE_VERIFY_SAMPLE,  /* of a sample: what it lacks */
} TideVerifyRole;

/**
 * tide_verify_messages_add: @message, of the partition at place @part.
 * @role: MUST, which is MAY for what is a dead letter; or another
 * @counts: (nullable): where it is counted
 * Errors: of looking for a dated table that is new.
 */
gboolean tide_verify_messages_add(TideVerification *verification, const TideMessage *message, guint part,
                                  TideVerifyRole role, TideVerifyMessageCounts *counts,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* ---- passes.c ---- */

/* Errors: those of topics and tables; TOO_BIG: a row has more cells than the memory holds; CANCELLED. */
gboolean tide_verify_run(TideVerification *verification, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Gives the samples of it what a message's @cell, which is @entry in the table at @slot, tells. */
void tide_verify_samples_take(TideVerification *verification, guint slot, const TideRow *row, const TideCell *cell,
                              const TideVerifyEntry *entry);

/* ---- report.c ---- */

/* In cells. */
guint64 tide_verify_report_differences(const TideVerification *verification);

void tide_verify_report_print_text(const TideVerification *verification, FILE *stream);
void tide_verify_report_print_json(const TideVerification *verification, FILE *stream);

G_END_DECLS
