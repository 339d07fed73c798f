/* May this offset be trusted? Decides, from what the brokers say of a partition and what this process knows of it,
 * where it is read on, or that it is halted until an operator decides. The rules stand in docs/internals.md, "May this
 * offset be trusted?".
 *
 * Pure functions. */
#pragma once

#include "kafka/commit_note.h"
#include "model/input.h"

G_BEGIN_DECLS

typedef struct TideOffsetFacts {
  const TideInputLog *log;
  const TideCommitNote *note;      /* beside the committed offset; NULL: none of ours */
  gint64 own_offset;               /* this process committed last; -1: nothing that it knows of */
  gint64 own_reached_offset;       /* what it had finished: a commit may take effect and its answer be lost */
  gboolean was_stranger_seen;      /* in the group, since own_offset was committed */
  gboolean was_group_started;      /* remembered: the group had begun before, and kafka.start is no time */
  gboolean was_log_replaced;       /* the watch saw a sign that the topic was deleted and created again */
  gboolean goes_on_after_deletion; /* kafka.on_lost_offsets: continue */
  gint64 beyond_end_us;            /* since when the wanted offset has been beyond the end; 0: it was not, or not yet */
} TideOffsetFacts;

/* What there is to say of a partition that is read; a range of offsets belongs to each but PLAIN. */
typedef enum TideOffsetEvent {
  TIDE_OFFSET_PLAIN,        /* goes on where this group left off */
  TIDE_OFFSET_UNSIGNED,     /* the same, but nothing says who committed the offset */
  TIDE_OFFSET_BEGINS,       /* nothing is committed: kafka.start decides; the range is left out */
  TIDE_OFFSET_GONE,         /* nothing is committed of a group that had started: read from the log's beginning */
  TIDE_OFFSET_JUMPS,        /* committed beyond what this process had committed; the range was taken by others */
  TIDE_OFFSET_GOES_BACK,    /* committed before that; the range is read again */
  TIDE_OFFSET_DELETED,      /* the range was deleted before it was read, and kafka.on_lost_offsets says to go on */
  TIDE_OFFSET_READ_AGAIN,   /* the broker did not find an offset that the log holds */
  TIDE_OFFSET_OTHER_TABLES, /* beside another one: whoever wrote the range delivers other tables than this process */
  TIDE_OFFSET_NOT_REWOUND,  /* beside another one: the range was deleted after it was written, before it was rewound */
  TIDE_OFFSET_N_EVENTS,
} TideOffsetEvent;

typedef struct TideOffsetVerdict {
  gint64 offset; /* to read next; or TIDE_INPUT_HALTED, TIDE_INPUT_ASK_AGAIN */
  TideHaltNote halt;
  gboolean is_noted; /* the halt is an older one's, which was committed */
  TideOffsetEvent event;
  gint64 from_offset; /* [from, to): the event's range, or what a new halt leaves out */
  gint64 to_offset;
} TideOffsetVerdict;

/* A leader that was just elected may lag for a moment: an offset is beyond the end only if it stays so for this long.
 */
#define TIDE_BEYOND_END_US 2000000

TideOffsetVerdict tide_offset_judge(const TideOffsetFacts *facts, gint64 now_us);

G_END_DECLS
