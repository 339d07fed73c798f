/* What the cells of a pass come to: which are right, and what is wrong with the others. Pure.
 *
 * An expected cell (of one time) is right when it was found with a value that some partition's last message for that
 * time has. Where several partitions wrote different values, any of them is right: a conflict, not an error; so is the
 * last of several values that one message wrote. It is overwritten when another reading with another value had its
 * place, and corrected when the same reading had. Else, in this order:
 *   - deleted by its row (latest: replace, tombstones), or older than it is kept: it need not be there
 *   - another value at the same time: when a message outside of the window has that value, overwritten or corrected;
 * else wrong
 *   - as many newer times of the column as its family keeps: superseded; each of those is judged for itself
 *   - in a latest table, an older time instead: stale
 *   - missing
 * A cell that was found and not expected is a matter of the above when an expected one should have been in its place.
 * Else it is beyond the window when a message outside of it makes that cell; unexplained, when the topic does not hold
 * any more all that it ever did; and unexpected. A cell at or before what its row is deleted up to is unexpected
 * whoever wrote it, unless it is what makes an expected one stale. */
#pragma once

#include "commands/verify/cells.h"

G_BEGIN_DECLS

typedef enum TideVerdict {
  TIDE_VERDICT_NONE, /* not counted: judged with another entry, or about nothing */
  TIDE_VERDICT_RIGHT,
  TIDE_VERDICT_CONFLICT, /* right, too */
  TIDE_VERDICT_MISSING,
  TIDE_VERDICT_WRONG,
  TIDE_VERDICT_STALE,
  TIDE_VERDICT_UNEXPECTED,
  TIDE_VERDICT_OVERWRITTEN, /* the value of another reading is there, or was before */
  TIDE_VERDICT_DELETED,
  TIDE_VERDICT_EXPIRED,
  TIDE_VERDICT_CORRECTED, /* the reading's later value is there */
  TIDE_VERDICT_SUPERSEDED,
  TIDE_VERDICT_BEYOND,
  TIDE_VERDICT_UNEXPLAINED,
  TIDE_VERDICT_COUNT,
} TideVerdict;

/* The properties of a verdict. */
typedef struct TideVerdictKind {
  const char *name;
  gboolean is_difference; /* a verification ends with TIDE_EXIT_FINDINGS for it */
  gboolean is_expected;   /* of a cell that had to be in the table */
  gboolean is_sampled;    /* some are shown */
} TideVerdictKind;

extern const TideVerdictKind tide_verdicts[TIDE_VERDICT_COUNT];

/* What is to be known of an entry's table and family. */
typedef struct TideVerifyRule {
  gboolean is_latest;
  gboolean has_deletes; /* rows of the table may delete */
  guint versions;       /* of a column, that a reader sees */
  gint64 ttl_ms;        /* 0: kept for ever */
  gint64 now_ms;        /* wall clock, when the table had been read */
  gboolean is_whole;    /* every cell of the window must come from a message that could be read */
} TideVerifyRule;

TideVerdict tide_verify_judge(const TideVerifyCells *cells, const TideVerifyEntry *entry, const TideVerifyRule *rule);

/* What the expected @entry was written over, or was overwritten by in another partition: its value and its message;
 * NULL: nothing of another reading. */
const TideVerifyEntry *tide_verify_lost_to(const TideVerifyCells *cells, const TideVerifyEntry *entry);

/* Whether a message outside of the window may change what @entry comes to. */
gboolean tide_verify_is_open(const TideVerifyCells *cells, const TideVerifyEntry *entry, const TideVerifyRule *rule);

G_END_DECLS
