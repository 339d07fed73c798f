/* Decides if an offset can be trusted: from what the brokers report and what this process knows, returns where to
 * continue reading, or why the partition is halted for an operator. docs/internals.md, "Can this offset be trusted?",
 * has the rules.
 *
 * Pure functions. */
#pragma once

#include "kafka/commit_note.h"
#include "model/input.h"

G_BEGIN_DECLS

typedef struct TideOffsetFacts {
  const TideInputLog *log;
  const TideCommitNote *note; /* the committed offset's; NULL: no note of tidemark's */
  gint64 own_offset;          /* this process's last commit; -1: none known */
  gint64 own_reached_offset;  /* finished by this process: an unanswered commit may have taken effect */
  gboolean was_stranger_seen; /* a consumer that is not tidemark was in the group since own_offset was committed */
  gboolean was_group_started; /* the group had started before, and kafka.start is not a time */
  gboolean was_log_replaced;  /* the watch saw a sign that the topic was deleted and recreated */
  gboolean continues_after_deletion; /* kafka.on_lost_offsets: continue */
  gint64 beyond_end_us; /* since when the wanted offset has been beyond the end; 0: it is not, or was not checked */
} TideOffsetFacts;

/* Logged events about a partition's offset; each event except PLAIN has a range of offsets. */
typedef enum TideOffsetEvent {
  TIDE_OFFSET_PLAIN,        /* continues where this group stopped */
  TIDE_OFFSET_UNSIGNED,     /* likewise, but without a note of the committer */
  TIDE_OFFSET_BEGINS,       /* nothing is committed: kafka.start decides; the range is not read */
  TIDE_OFFSET_GONE,         /* nothing is committed of a group that had started: continues at the oldest message */
  TIDE_OFFSET_JUMPS,        /* committed after this process's last commit; other consumers took the range */
  TIDE_OFFSET_GOES_BACK,    /* committed before this process's last commit; the range is read again */
  TIDE_OFFSET_DELETED,      /* the range was deleted before it was read, and kafka.on_lost_offsets is 'continue' */
  TIDE_OFFSET_READ_AGAIN,   /* the broker did not find an offset that its log contains */
  TIDE_OFFSET_OTHER_TABLES, /* in addition to another event: the range was written by an instance with other tables */
  TIDE_OFFSET_NOT_REWOUND,  /* in addition to another event: the range was deleted after it was written, before a rewind
                               read it again */
  TIDE_OFFSET_N_EVENTS,
} TideOffsetEvent;

typedef struct TideOffsetVerdict {
  gint64 offset; /* to read next, or TIDE_INPUT_HALTED, TIDE_INPUT_ASK_AGAIN */
  TideHaltNote halt;
  gboolean is_noted; /* the halt was committed earlier */
  TideOffsetEvent event;
  gint64 from_offset; /* [from, to): the event's range, or the messages that a new halt leaves out */
  gint64 to_offset;
} TideOffsetVerdict;

/* A newly elected leader may lag for a moment, so an offset counts as beyond the end only after this time. */
#define TIDE_BEYOND_END_US 2000000

TideOffsetVerdict tide_offset_judge(const TideOffsetFacts *facts, gint64 now_us);

G_END_DECLS
