/* What cells come to, as a table: what is expected, found and deleted in a column, and the verdict on each. */
#include "commands/verify/cells.h"

#include "unit/test_case.h"

#include <stdlib.h>
#include <string.h>

static const TideVerifyRow row = {.high = 1, .low = 2};

/* One case: words, each a step. eP:TIME=V a message of partition P, p:TIME=V a dead-lettered one, f:TIME=V found,
 * rP:TIME=V another reading of the message before it, o:TIME=V found at a time of which nothing is said, x:TIME=V a
 * message outside of the window, d:TIME the row is deleted, m:TIME it may be. Behind a value /I is the identity of
 * its reading. */
typedef struct Case {
  const char *steps;
  const char *verdicts; /* of the column's times, ascending: "5 missing, 7 right" */
  TideVerifyRule rule;
} Case;

static void
take_step(TideVerifyCells *cells, const char *step, guint versions, guint offset)
{
  const char *colon = strchr(step, ':');
  char *end = NULL;
  gint64 time_ms = g_ascii_strtoll(colon + 1, &end, 10);
  TideVerifyEntry cell = {
      .row = row,
      .column = 1,
      .time_ms = time_ms,
      .value = *end == '=' ? (guint64)(guchar)end[1] : 0,
      .identity = *end == '=' && end[2] == '/' ? (guint32)(end[3] - '0') : 0,
      .source = tide_verify_source(step[0] == 'e' || step[0] == 'r' ? (guint)(step[1] - '0') : 0, offset)};
  switch (step[0]) {
  case 'e':
  case 'r':
    tide_verify_cells_expect(cells, &cell, versions);
    break;
  case 'p':
    tide_verify_cells_allow(cells, &cell);
    break;
  case 'o':
    cell.is_outside = 1;
    tide_verify_cells_find(cells, &cell);
    break;
  case 'f':
    tide_verify_cells_find(cells, &cell);
    break;
  case 'x':
    tide_verify_cells_explain(cells, &cell);
    break;
  default:
    g_assert_true(step[0] == 'd' || step[0] == 'm');
    tide_verify_cells_delete(cells, row, time_ms, step[0] == 'd');
    break;
  }
}

static int
compare_texts(gconstpointer a, gconstpointer b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static char *
judge_all(const TideVerifyCells *cells, const TideVerifyRule *rule)
{
  g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
  TideVerifyColumn column = tide_verify_cells_column(cells, row, 1);
  for (const TideVerifyEntry *entry; (entry = tide_verify_column_next(&column)) != NULL;) {
    TideVerdict verdict = tide_verify_judge(cells, entry, rule);
    if (verdict != TIDE_VERDICT_NONE)
      g_ptr_array_add(texts, g_strdup_printf("%" G_GINT64_FORMAT " %s", entry->time_ms, tide_verdicts[verdict].name));
  }
  g_ptr_array_sort(texts, compare_texts);
  g_ptr_array_add(texts, NULL);
  return g_strjoinv(", ", (char **)texts->pdata);
}

#define DATA                                                                                                           \
  {                                                                                                                    \
    .versions = 1, .is_whole = TRUE                                                                                    \
  }
#define LATEST                                                                                                         \
  {                                                                                                                    \
    .versions = 1, .is_latest = TRUE, .is_whole = TRUE                                                                 \
  }
#define REPLACE                                                                                                        \
  {                                                                                                                    \
    .versions = 1, .is_latest = TRUE, .has_deletes = TRUE, .is_whole = TRUE                                            \
  }
#define TOMBSTONE                                                                                                      \
  {                                                                                                                    \
    .versions = 1, .has_deletes = TRUE, .is_whole = TRUE                                                               \
  }
#define THREE                                                                                                          \
  {                                                                                                                    \
    .versions = 3, .is_whole = TRUE                                                                                    \
  }
#define PART                                                                                                           \
  {                                                                                                                    \
    .versions = 1, .is_whole = FALSE                                                                                   \
  }
#define TTL                                                                                                            \
  {                                                                                                                    \
    .versions = 1, .ttl_ms = 3, .now_ms = 9, .is_whole = TRUE                                                          \
  }

static const Case cases[] = {
    {"e0:5=a f:5=a", "5 right", DATA},
    {"e0:5=a", "5 missing", DATA},
    {"e0:5=a", "5 missing", LATEST},
    {"e0:5=a f:5=b", "5 wrong", DATA},
    {"e0:5=a f:5=b", "5 wrong", LATEST},
    {"e0:5=a e0:5=b f:5=a", "5 wrong", LATEST},
    {"e0:5=a f:5=b x:5=b", "5 corrected", DATA},
    {"e0:5=a f:5=b x:5=c x:4=b", "5 wrong", DATA},
    {"f:5=a", "5 unexpected", DATA},
    {"f:5=a", "5 unexpected", LATEST},
    {"f:5=a", "5 unexplained", PART},
    {"f:5=a x:5=a", "5 beyond", DATA},
    {"o:5=a", "", DATA},
    /* several times of one column */
    {"e0:5=a e0:7=b f:7=b", "7 right", DATA},
    {"e0:7=b e0:5=a f:7=b", "7 right", LATEST},
    {"e0:5=a e0:7=b f:5=a", "7 stale", LATEST},
    {"e0:5=a e0:7=b f:5=a", "7 missing", DATA},
    {"e0:7=b f:6=x", "7 stale", LATEST},
    {"e0:7=b f:6=x x:6=x", "7 stale", LATEST},
    {"e0:5=a f:7=b", "5 superseded, 7 unexpected", LATEST},
    {"e0:5=a f:7=b x:7=b", "5 superseded, 7 beyond", LATEST},
    {"e0:5=a o:7=b", "5 superseded", DATA},
    {"e0:5=a f:7=b", "5 superseded, 7 unexplained", PART},
    {"e0:5=a e0:6=b e0:7=c f:5=a f:7=c", "5 right, 6 missing, 7 right", THREE},
    {"e0:5=a e0:6=b o:7=c o:8=d f:6=b", "5 superseded, 6 right", THREE},
    {"e0:5=a o:7=c o:8=d", "5 missing", THREE},
    /* several partitions */
    {"e0:5=a e1:5=a f:5=a", "5 right", DATA},
    {"e0:5=a e1:5=b f:5=a", "5 conflict", DATA},
    {"e0:5=a e1:5=b f:5=b", "5 conflict", LATEST},
    {"e0:5=a e1:5=b f:5=c", "5 wrong", LATEST},
    {"e0:5=a e1:5=b e0:5=c f:5=a", "5 wrong", LATEST},
    {"e0:5=a e1:5=b", "5 missing", DATA},
    /* several readings of one message: the last one is written, and what the others said is lost */
    {"e0:5=a r0:5=b f:5=b", "5 conflict", DATA},
    {"e0:5=a r0:5=b r0:5=b f:5=b", "5 conflict", LATEST},
    {"e0:5=a r0:5=b f:5=a", "5 wrong", DATA},
    {"e0:5=a r0:5=b", "5 missing", DATA},
    {"e0:5=a r0:5=a f:5=a", "5 right", DATA},
    {"e0:5=a r0:7=b f:7=b", "7 right", LATEST},
    {"e0:5=a e0:5=b f:5=b", "5 right", DATA},
    {"e0:5=a r0:5=b e0:5=c f:5=c", "5 right", DATA},
    /* readings that nothing tells apart */
    {"e0:5=a/1 e0:5=b/2 f:5=b", "5 overwritten", DATA},
    {"e0:5=a/1 e0:5=b/2 e0:5=a/1 e0:5=b/2 f:5=b", "5 overwritten", DATA},
    {"e0:5=a/1 e0:5=b/2 e0:5=c/2 f:5=c", "5 overwritten", DATA},
    {"e0:5=a/1 r0:5=b/2 f:5=b", "5 overwritten", DATA},
    {"e0:5=a/1 e1:5=b/2 f:5=b", "5 overwritten", DATA},
    {"e0:5=a/1 e0:5=a/2 f:5=a", "5 right", DATA},
    {"e0:5=a/1 e1:5=a/2 f:5=a", "5 right", DATA},
    {"e0:5=a/1 e0:5=b/2 f:5=a", "5 wrong", DATA},
    {"e0:5=a/1 e0:5=b/2", "5 missing", DATA},
    {"e0:5=a/1 e0:7=b/2 f:5=a f:7=b", "5 right, 7 right", THREE},
    {"e0:5=a/1 e0:5=b/2 e0:7=c/1 f:7=c", "7 right", DATA},
    {"e0:5=a/1 f:5=b x:5=b/2", "5 overwritten", DATA},
    /* a reading that is sent again with another value */
    {"e0:5=a/1 e0:5=b/1 f:5=b", "5 corrected", DATA},
    {"e0:5=a/1 e0:5=b/1 e0:5=b/1 f:5=b", "5 corrected", DATA},
    {"e0:5=a/1 e0:5=a/1 f:5=a", "5 right", DATA},
    {"e0:5=a/1 r0:5=b/1 f:5=b", "5 conflict", DATA},
    {"e0:5=a/1 e1:5=b/1 f:5=b", "5 conflict", DATA},
    {"e0:5=a/1 e0:5=a/2 f:5=a", "5 right", DATA},
    {"e0:5=a/1 e0:5=a/2 e0:5=b/2 f:5=b", "5 overwritten", DATA}, /* of the first reading, whoever corrects the value */
    {"e0:5=a/1 e0:5=a/2 e0:5=b/1 f:5=b", "5 overwritten", DATA},
    {"e0:5=a/1 e0:5=a/2 e0:5=a/2 e0:5=b/2 f:5=b", "5 overwritten", DATA},
    {"e0:5=a/1 f:5=b x:5=b/1", "5 corrected", DATA},
    /* dead letters */
    {"e0:5=a p:7=b f:5=a", "5 right", LATEST},
    {"e0:5=a p:7=b f:7=b", "5 superseded", LATEST},
    {"p:7=b", "", LATEST},
    {"p:7=b f:7=c", "7 unexpected", LATEST},
    {"e0:5=a p:5=b f:5=b", "5 right", LATEST},
    /* deletes */
    {"e0:5=a d:6", "5 deleted", REPLACE},
    {"e0:5=a d:4 f:5=a", "5 right", REPLACE},
    {"e0:5=a d:5 f:5=a", "5 unexpected", REPLACE},
    {"f:3=a x:3=a d:6", "3 unexpected", REPLACE},
    {"e0:5=a m:6", "5 deleted", REPLACE},
    {"e0:5=a m:6 f:5=a", "5 right", REPLACE},
    {"e0:5=a d:2 m:4", "5 missing", REPLACE},
    {"e0:5=a d:4 f:3=b f:2=c", "2 unexpected, 3 unexpected, 5 missing", TOMBSTONE},
    /* age */
    {"e0:6=a", "6 expired", TTL},
    {"e0:7=a", "7 missing", TTL},
    {"e0:6=a f:6=a", "6 right", TTL},
};

/* What a row that replaces has left in its place is one difference: the cell that should be there is stale, and the one
 * that should be gone is not counted beside it. */
static const Case replaced[] = {
    {"e0:5=a d:4 f:3=b", "5 stale", REPLACE},
    {"e0:5=a d:4 f:3=b x:3=b", "5 stale", REPLACE},
    {"e0:5=a e1:5=c d:4 f:3=b", "5 stale", REPLACE},
    {"e0:5=a d:6 f:3=b", "3 unexpected, 5 deleted", REPLACE},
    {"e0:5=a d:4 f:5=a f:3=b", "3 unexpected, 5 right", REPLACE},
};

/* What a row's newest reading deletes must be gone, also where it is older than all that the messages say. */
static const Case older_than_the_window[] = {
    {"d:6 o:3=a", "3 unexpected", REPLACE},
    {"e0:7=b d:6 f:7=b o:6=a", "6 unexpected, 7 right", REPLACE},
    {"d:2 o:3=a", "", REPLACE},
    {"m:6 o:3=a", "", REPLACE},
};

static void
test_verdicts(const Case *tried, gsize n_tried)
{
  for (gsize i = 0; i < n_tried; i++) {
    g_autoptr(TideVerifyCells) cells = tide_verify_cells_new(64 * 1024);
    g_auto(GStrv) steps = g_strsplit(tried[i].steps, " ", -1);
    for (guint k = 0, offset = 0; steps[k] != NULL; k++) {
      offset += steps[k][0] == 'r' ? 0 : 1;
      take_step(cells, steps[k], tried[i].rule.versions, offset);
    }
    g_autofree char *verdicts = judge_all(cells, &tried[i].rule);
    if (strcmp(verdicts, tried[i].verdicts) != 0)
      g_error("case %" G_GSIZE_FORMAT " '%s': '%s', not '%s'", i, tried[i].steps, verdicts, tried[i].verdicts);
  }
}

TEST("/verify-judge/verdicts")
{
  test_verdicts(cases, G_N_ELEMENTS(cases));
}

TEST("/verify-judge/E11-stale-replaced-cell-counts-once")
{
  test_verdicts(replaced, G_N_ELEMENTS(replaced));
}

TEST("/verify-judge/deleted-cell-older-than-the-window-is-unexpected")
{
  test_verdicts(older_than_the_window, G_N_ELEMENTS(older_than_the_window));
}

/* Messages outside of the window are read only where they may change something. */
TEST("/verify-judge/what-is-open")
{
  static const struct {
    const char *steps;
    TideVerifyRule rule;
    gboolean is_open;
  } opens[] = {
      {"e0:5=a f:5=a", DATA, FALSE}, {"e0:5=a", DATA, FALSE},       {"e0:5=a f:5=b", DATA, TRUE},
      {"f:5=b", LATEST, TRUE},       {"e0:5=a d:2", REPLACE, TRUE}, {"e0:5=a d:2 f:5=a", REPLACE, FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(opens); i++) {
    g_autoptr(TideVerifyCells) cells = tide_verify_cells_new(64 * 1024);
    g_auto(GStrv) steps = g_strsplit(opens[i].steps, " ", -1);
    for (guint k = 0; steps[k] != NULL; k++)
      take_step(cells, steps[k], 1, k);
    gboolean is_open = FALSE;
    TideVerifyColumn column = tide_verify_cells_column(cells, row, 1);
    for (const TideVerifyEntry *entry; (entry = tide_verify_column_next(&column)) != NULL;)
      is_open = is_open || tide_verify_is_open(cells, entry, &opens[i].rule);
    g_assert_cmpint(is_open, ==, opens[i].is_open);
  }
}
