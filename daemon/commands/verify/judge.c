/* Judges the cells of a pass: which are right, and what is wrong with the others.
 *
 * An expected cell (of one time) is right if it was found with the value of some partition's last message for that
 * time. If several partitions wrote different values, any of them is right: a conflict, not an error; so is the last of
 * several values that one message wrote. It is overwritten if another reading with another value had its place, and
 * corrected if the same reading had. Otherwise, in this order:
 * - deleted by its row (latest: replace, tombstones), or older than its retention: it may be missing
 * - another value at the same time: overwritten or corrected if a message outside the window has that value; otherwise
 *   wrong
 * - as many newer times of the column as its family keeps: superseded; each of those is judged on its own
 * - in a latest table, an older time instead: stale
 * - missing
 * A found but unexpected cell belongs to the cases above if an expected one should be in its place. Otherwise it is
 * beyond the window if a message outside it makes that cell; unexplained if the topic no longer holds everything it
 * ever did; and unexpected in all other cases. A cell at or before the time up to which its row is deleted is
 * unexpected whoever wrote it, unless it makes an expected one stale. */
#include "commands/verify/cells.h"

const TideVerdictKind tide_verdicts[] = {
    [TIDE_VERDICT_NONE] = {"none"},
    [TIDE_VERDICT_RIGHT] = {"right", .is_expected = TRUE},
    [TIDE_VERDICT_CONFLICT] = {"conflict", .is_expected = TRUE, .is_sampled = TRUE},
    [TIDE_VERDICT_MISSING] = {"missing", .is_difference = TRUE, .is_expected = TRUE, .is_sampled = TRUE},
    [TIDE_VERDICT_WRONG] = {"wrong", .is_difference = TRUE, .is_expected = TRUE, .is_sampled = TRUE},
    [TIDE_VERDICT_STALE] = {"stale", .is_difference = TRUE, .is_expected = TRUE, .is_sampled = TRUE},
    [TIDE_VERDICT_UNEXPECTED] = {"unexpected", .is_difference = TRUE, .is_sampled = TRUE},
    [TIDE_VERDICT_OVERWRITTEN] = {"overwritten", .is_difference = TRUE, .is_expected = TRUE, .is_sampled = TRUE},
    [TIDE_VERDICT_DELETED] = {"deleted"},
    [TIDE_VERDICT_EXPIRED] = {"expired"},
    [TIDE_VERDICT_CORRECTED] = {"corrected", .is_expected = TRUE, .is_sampled = TRUE},
    [TIDE_VERDICT_SUPERSEDED] = {"superseded", .is_expected = TRUE},
    [TIDE_VERDICT_BEYOND] = {"beyond"},
    [TIDE_VERDICT_UNEXPLAINED] = {"unexplained"},
};

/* The times up to which a row must be, and may be, deleted. -1: not at all. */
typedef struct Deletion {
  gint64 must_ms;
  gint64 may_ms;
} Deletion;

static Deletion
deletion_of(const TideVerifyCells *cells, const TideVerifyEntry *entry, const TideVerifyRule *rule)
{
  if (!rule->has_deletes)
    return (Deletion){-1, -1};
  TideVerifyColumn column = tide_verify_cells_column(cells, entry->row, 0);
  const TideVerifyEntry *deleted = tide_verify_column_next(&column);
  return deleted != NULL ? (Deletion){deleted->time_ms, (gint64)deleted->value} : (Deletion){-1, -1};
}

/* The state of an expected cell's column. */
typedef struct Surroundings {
  gboolean is_first;   /* of the entries expected at its time */
  gboolean is_matched; /* one of them is */
  gboolean is_conflict;
  gboolean is_overwritten;      /* another reading, in this partition or another, has another value */
  gboolean is_corrected;        /* the same reading has, in an earlier message */
  gboolean has_older;           /* a cell was found at an older time */
  const TideVerifyEntry *other; /* found at its time, with none of the expected values */
  guint n_newer;                /* number of newer times found */
} Surroundings;

static Surroundings
look_around(const TideVerifyCells *cells, const TideVerifyEntry *entry)
{
  Surroundings around = {.is_first = TRUE};
  gint64 newer[TIDE_VERIFY_MAX_VERSIONS];
  const TideVerifyEntry *near;
  for (TideVerifyColumn column = tide_verify_cells_column(cells, entry->row, entry->column);
       (near = tide_verify_column_next(&column)) != NULL;) {
    gboolean is_same_time = near->time_ms == entry->time_ms, is_found = near->kind == TIDE_VERIFY_FOUND;
    if (is_same_time && is_found)
      around.other = near;
    else if (is_same_time && near->kind == TIDE_VERIFY_LOST)
      around.is_overwritten = TRUE;
    else if (is_same_time)
      around.is_matched = around.is_matched || near->is_matched;
    if (is_same_time && near->kind == TIDE_VERIFY_EXPECTED) {
      around.is_first = around.is_first && near->source >= entry->source;
      around.is_conflict = around.is_conflict || near->is_contested || near->value != entry->value;
      around.is_corrected = around.is_corrected || near->is_corrected;
      around.is_overwritten = around.is_overwritten || tide_verify_entries_clash(near, entry);
    }
    if (is_same_time || !(is_found || near->is_matched))
      continue;
    around.has_older = around.has_older || near->time_ms < entry->time_ms;
    gboolean is_new = near->time_ms > entry->time_ms && around.n_newer < G_N_ELEMENTS(newer);
    for (guint i = 0; i < around.n_newer; i++)
      is_new = is_new && newer[i] != near->time_ms;
    if (is_new)
      newer[around.n_newer++] = near->time_ms;
  }
  return around;
}

static TideVerdict
judge_expected(const TideVerifyCells *cells, const TideVerifyEntry *entry, const TideVerifyRule *rule)
{
  Surroundings around = look_around(cells, entry);
  Deletion deletion = deletion_of(cells, entry, rule);
  if (!around.is_first)
    return TIDE_VERDICT_NONE;
  if (entry->time_ms <= deletion.must_ms)
    return around.is_matched ? TIDE_VERDICT_UNEXPECTED : TIDE_VERDICT_DELETED;
  if (around.is_matched)
    return around.is_overwritten ? TIDE_VERDICT_OVERWRITTEN
           : around.is_conflict  ? TIDE_VERDICT_CONFLICT
           : around.is_corrected ? TIDE_VERDICT_CORRECTED
                                 : TIDE_VERDICT_RIGHT;
  if (entry->time_ms <= deletion.may_ms)
    return TIDE_VERDICT_DELETED;
  if (rule->ttl_ms > 0 && entry->time_ms <= rule->now_ms - rule->ttl_ms)
    return TIDE_VERDICT_EXPIRED;
  if (around.other != NULL && around.other->is_explained)
    return tide_verify_entries_clash(around.other, entry) ? TIDE_VERDICT_OVERWRITTEN : TIDE_VERDICT_CORRECTED;
  if (around.other != NULL)
    return TIDE_VERDICT_WRONG;
  if (around.n_newer >= rule->versions)
    return TIDE_VERDICT_SUPERSEDED;
  return rule->is_latest && around.has_older ? TIDE_VERDICT_STALE : TIDE_VERDICT_MISSING;
}

static TideVerdict
judge_found(const TideVerifyCells *cells, const TideVerifyEntry *entry, const TideVerifyRule *rule)
{
  gboolean is_deleted = entry->time_ms <= deletion_of(cells, entry, rule).must_ms;
  const TideVerifyEntry *near;
  for (TideVerifyColumn column = tide_verify_cells_column(cells, entry->row, entry->column);
       (near = tide_verify_column_next(&column)) != NULL;) {
    if (near->kind != TIDE_VERIFY_EXPECTED)
      continue;
    /* It makes the other one stale: count one difference, not a second one for a cell that should be deleted. */
    if (is_deleted && judge_expected(cells, near, rule) == TIDE_VERDICT_STALE)
      return TIDE_VERDICT_NONE;
    /* It was found in place of the other one: at its time, or older, while the other was not found. */
    if (!is_deleted && (near->time_ms == entry->time_ms || (near->time_ms > entry->time_ms && !near->is_matched)))
      return TIDE_VERDICT_NONE;
  }
  if (is_deleted)
    return TIDE_VERDICT_UNEXPECTED;
  if (entry->is_explained)
    return TIDE_VERDICT_BEYOND;
  if (entry->is_outside)
    return TIDE_VERDICT_NONE;
  return rule->is_whole ? TIDE_VERDICT_UNEXPECTED : TIDE_VERDICT_UNEXPLAINED;
}

TideVerdict
tide_verify_judge(const TideVerifyCells *cells, const TideVerifyEntry *entry, const TideVerifyRule *rule)
{
  if (entry->kind == TIDE_VERIFY_EXPECTED)
    return judge_expected(cells, entry, rule);
  return entry->kind == TIDE_VERIFY_FOUND ? judge_found(cells, entry, rule) : TIDE_VERDICT_NONE;
}

gboolean
tide_verify_is_open(const TideVerifyCells *cells, const TideVerifyEntry *entry, const TideVerifyRule *rule)
{
  if (entry->kind == TIDE_VERIFY_FOUND)
    return TRUE;
  return rule->has_deletes && tide_verdicts[tide_verify_judge(cells, entry, rule)].is_difference;
}

const TideVerifyEntry *
tide_verify_lost_to(const TideVerifyCells *cells, const TideVerifyEntry *entry)
{
  const TideVerifyEntry *near, *found = NULL;
  for (TideVerifyColumn column = tide_verify_cells_column(cells, entry->row, entry->column);
       (near = tide_verify_column_next(&column)) != NULL;)
    if (near->time_ms == entry->time_ms && (near->kind == TIDE_VERIFY_LOST || (near->kind == TIDE_VERIFY_EXPECTED &&
                                                                               tide_verify_entries_clash(near, entry))))
      found = near;
  return found;
}
