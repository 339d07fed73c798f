/* One verification: what it is of and what it has found, for the files of this room.
 *
 * Threads: one; blocks for as long as it takes. */
#pragma once

#include "commands/verify/tables.h"
#include "kafka/kafka_topic_reader.h"
#include "mapping/mapping.h"

#include <stdio.h>

G_BEGIN_DECLS

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

/* ---- input.c ---- */

/* The parts of files: all that each holds. Errors: USAGE: one cannot be read twice, as standard input or a pipe; one
 * that is not there is told of when it is read. */
gboolean tide_verify_input_take_files(TideVerifyInput *input, const GPtrArray *paths,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* As tide_topic_reader_read() and tide_topic_reader_refresh(). Errors of files: IO, DATA: one cannot be read to its
 * end; CANCELLED. */
gboolean tide_verify_input_read(const TideVerifyInput *input, const GArray *spans, TideTopicFunc func, gpointer data,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;
gboolean tide_verify_input_refresh(const TideVerifyInput *input, GError **error) G_GNUC_WARN_UNUSED_RESULT;

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
