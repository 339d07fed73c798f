/* Plans `tidemark offsets move`: the new committed offset of a partition, and the note to commit with it. Pure: the
 * caller provides the brokers' answers. */
#pragma once

#include "kafka/commit_note.h"
#include "kafka/kafka_topic_reader.h"

G_BEGIN_DECLS

typedef enum TideMoveTo {
  TIDE_MOVE_BEGINNING,
  TIDE_MOVE_END,
  TIDE_MOVE_OFFSET,
  TIDE_MOVE_TIME,
  TIDE_MOVE_PAST_HALT,
} TideMoveTo;

/* The value of --to. */
typedef struct TideMoveTarget {
  TideMoveTo to;
  gint64 value; /* OFFSET: the offset; TIME: milliseconds since the epoch */
} TideMoveTarget;

/* A bare number is an offset, never epoch milliseconds. @text: NULL: --to was not given. Errors: USAGE. */
gboolean tide_move_target_parse(const char *text, gint64 now_epoch_ms, TideMoveTarget *ret_target,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

typedef struct TideMoveContext {
  gint64 now_epoch_ms;
  gint64 settle_ms;      /* hbase.uncertain_timeout */
  guint64 span_messages; /* kafka.max_span_messages */
} TideMoveContext;

typedef enum TideMoveKind {
  TIDE_MOVE_MOVES,
  TIDE_MOVE_UNCHANGED,  /* already there, and not halted */
  TIDE_MOVE_NOT_HALTED, /* past-halt, but there is no halt */
} TideMoveKind;

typedef struct TideMove {
  TideMoveKind kind;
  gint64 to;           /* for a move, these */
  TideCommitNote note; /* without a halt */
} TideMove;

/**
 * tide_move_plan: plan the move of @part.
 * @part: with committed, note, first and last; for a TIME, begin is the first offset at or after it
 * Errors: USAGE for an OFFSET outside the log; DATA if past-halt would skip unwritten messages, or leave the log.
 */
gboolean tide_move_plan(const TideMoveTarget *target, const TideTopicPart *part, const TideMoveContext *context,
                        TideMove *ret_move, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The note committed with @part's offset. FALSE: there is none, or it is not tidemark's. */
gboolean tide_move_note_of(const TideTopicPart *part, TideCommitNote *ret_note);

G_END_DECLS
