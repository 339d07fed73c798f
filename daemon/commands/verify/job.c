#include "commands/verify/job.h"

#include "commands/cli/progress.h"
#include "util/clock.h"
#include "util/error.h"

typedef struct Job {
  const TideVerifyContext *context; /* borrowed */
  const TideVerifyOptions *options; /* borrowed */
  TideVerifyCells *cells;           /* owned */
  TideVerifyMessages *messages;     /* owned */
  TideVerifyResult *result;         /* borrowed */
  TideProgress progress;
  guint64 done; /* messages or rows of what is read now */
  TideVerifyRole role;
  guint slot;    /* of the table that is scanned */
  gint64 now_ms; /* when this pass had read the tables */
  GError *error; /* owned: of a callback */
} Job;

void
tide_verify_result_clear(TideVerifyResult *result)
{
  g_clear_pointer(&result->samples, tide_verify_samples_free);
}

static TideTopicPart *
part_at(const Job *job, guint i)
{
  return &g_array_index(job->context->parts, TideTopicPart, i);
}

/* What is counted, for the line of progress. How many passes there will be is known only when all fitted into one. */
static char *
noun_of_pass(const Job *job, const char *noun)
{
  return job->result->n_passes > 1 ? g_strdup_printf("%s in pass %u", noun, job->result->n_passes) : g_strdup(noun);
}

/* ---- messages ------------------------------------------------------------------------------------------------------
 */

static gint64
take_message(const TideMessage *message, guint part, gpointer data)
{
  Job *job = data;
  gboolean is_counted = job->role != TIDE_VERIFY_EXPLAIN && job->result->n_passes == 1;
  tide_progress_update(&job->progress, ++job->done, tide_now_us());
  return tide_verify_messages_add(job->messages, message, part, job->role, is_counted ? &job->result->counts : NULL,
                                  &job->error)
             ? message->offset + 1
             : TIDE_TOPIC_STOP;
}

static gboolean
read_spans(Job *job, const GArray *spans, TideVerifyRole role, const char *noun, GError **error)
{
  guint64 n_offsets = 0;
  for (guint i = 0; i < spans->len; i++) {
    const TideTopicSpan *span = &g_array_index(spans, TideTopicSpan, i);
    n_offsets += span->end != TIDE_TOPIC_END ? (guint64)MAX(span->end - span->begin, 0) : 0; /* of a file: not known */
  }
  g_autofree char *shown = noun_of_pass(job, noun);
  job->role = role;
  job->done = 0;
  tide_progress_begin(&job->progress, shown, n_offsets, tide_now_us());
  const TideVerifyInput *input = job->context->input;
  gboolean ok = input->read(input->data, job->context->parts, spans, take_message, job, error);
  tide_progress_end(&job->progress);
  if (ok && job->error != NULL) {
    g_propagate_error(error, g_steal_pointer(&job->error));
    return FALSE;
  }
  job->result->has_gaps = job->result->has_gaps || job->done != n_offsets;
  return ok;
}

static gboolean
read_window(Job *job, GError **error)
{
  g_autoptr(GArray) spans = g_array_new(FALSE, FALSE, sizeof(TideTopicSpan));
  for (guint i = 0; i < job->context->parts->len; i++) {
    TideTopicSpan span = {i, part_at(job, i)->begin, part_at(job, i)->end};
    g_array_append_val(spans, span);
  }
  return read_spans(job, spans, TIDE_VERIFY_MUST, "messages", error);
}

/* The messages before and behind the window, up to those that came while the tables were read. */
static gboolean
read_surroundings(Job *job, GError **error)
{
  const TideVerifyInput *input = job->context->input;
  if (!input->refresh(input->data, job->context->parts, error))
    return FALSE;
  g_autoptr(GArray) spans = g_array_new(FALSE, FALSE, sizeof(TideTopicSpan));
  for (guint i = 0; i < job->context->parts->len; i++) {
    const TideTopicPart *part = part_at(job, i);
    TideTopicSpan before = {i, part->first, part->begin};
    TideTopicSpan behind = {i, MAX(part->end, part->first), part->last};
    g_array_append_val(spans, before);
    g_array_append_val(spans, behind);
  }
  return read_spans(job, spans, TIDE_VERIFY_EXPLAIN, "messages around", error);
}

/* ---- tables --------------------------------------------------------------------------------------------------------
 */

static gboolean
take_row(const TideResultRow *row, gpointer data)
{
  Job *job = data;
  TideVerifyTables *tables = job->context->tables;
  TideVerifyRow hash = tide_verify_row(job->slot, row->row);
  tide_progress_update(&job->progress, ++job->done, tide_now_us());
  if (!tide_verify_cells_takes(job->cells, hash))
    return TRUE;
  for (gsize i = 0; i < row->n_cells; i++) {
    TideVerifyEntry entry;
    if (!tide_verify_tables_entry(tables, job->slot, hash, &row->cells[i], &entry))
      continue;
    entry.is_outside = tide_verify_tables_is_outside(tables, job->slot, entry.time_ms) ? 1 : 0;
    tide_verify_cells_find(job->cells, &entry);
  }
  return TRUE;
}

static gboolean
read_tables(Job *job, GError **error)
{
  TideVerifyTables *tables = job->context->tables;
  for (guint slot = 0; slot < tide_verify_tables_count(tables); slot++) {
    TideVerifyScan scan = {.slot = slot,
                           .rate_rows_per_s = job->options->rate_rows_per_s,
                           .stop = job->context->stop,
                           .take_row = take_row,
                           .data = job};
    g_autofree char *rows = g_strdup_printf("rows of %s", tide_verify_tables_at(tables, slot)->table->name);
    g_autofree char *noun = noun_of_pass(job, rows);
    job->slot = slot;
    job->done = 0;
    tide_progress_begin(&job->progress, noun, 0, tide_now_us());
    gboolean ok = tide_verify_tables_scan(tables, &scan, error);
    tide_progress_end(&job->progress);
    if (!ok)
      return FALSE;
  }
  job->now_ms = tide_wall_clock_epoch_ms();
  return TRUE;
}

/* ---- judging -------------------------------------------------------------------------------------------------------
 */

static TideVerifyRule
rule_of(const Job *job, const TideVerifyEntry *entry)
{
  return tide_verify_tables_rule(job->context->tables, entry, job->now_ms,
                                 job->options->is_whole && !job->result->has_gaps);
}

static gboolean
has_open_cells(const Job *job)
{
  gsize position = 0;
  for (const TideVerifyEntry *entry; (entry = tide_verify_cells_next(job->cells, &position)) != NULL;) {
    if (entry->kind == TIDE_VERIFY_DELETED)
      continue;
    TideVerifyRule rule = rule_of(job, entry);
    if (tide_verify_is_open(job->cells, entry, &rule))
      return TRUE;
  }
  return FALSE;
}

static void
judge_cells(Job *job)
{
  gsize position = 0;
  for (const TideVerifyEntry *entry; (entry = tide_verify_cells_next(job->cells, &position)) != NULL;) {
    if (entry->kind == TIDE_VERIFY_DELETED)
      continue;
    TideVerifyRule rule = rule_of(job, entry);
    TideVerdict verdict = tide_verify_judge(job->cells, entry, &rule);
    guint slot = tide_verify_tables_family(job->context->tables, entry->family)->table;
    tide_verify_tables_at(job->context->tables, slot)->counts[verdict]++;
    const TideVerifyEntry *lost = verdict == TIDE_VERDICT_OVERWRITTEN ? tide_verify_lost_to(job->cells, entry) : NULL;
    tide_verify_samples_offer(job->result->samples, verdict, entry, lost, job->context->tables);
  }
}

/* ---- passes --------------------------------------------------------------------------------------------------------
 */

static gboolean
run_pass(Job *job, guint64 first, guint64 last, GError **error)
{
  job->result->n_passes++;
  tide_verify_cells_begin(job->cells, first, last);
  if (!read_window(job, error) || !read_tables(job, error))
    return FALSE;
  if (has_open_cells(job) && !read_surroundings(job, error))
    return FALSE;
  if (tide_verify_cells_is_overrun(job->cells)) {
    g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_TOO_BIG,
                        "a single row has more cells than the memory holds: give more with '--memory'");
    return FALSE;
  }
  judge_cells(job);
  return TRUE;
}

static gboolean
run_passes(Job *job, GError **error)
{
  guint64 first = 0, last = G_MAXUINT64;
  for (;;) {
    if (!run_pass(job, first, last, error))
      return FALSE;
    guint64 reached = tide_verify_cells_last(job->cells);
    if (reached == G_MAXUINT64)
      return TRUE;
    /* A little less than what fitted: halving a range that is hardly too large would cost another pass. */
    guint64 width = reached - first;
    width -= width / 8;
    first = reached + 1;
    last = first > G_MAXUINT64 - width ? G_MAXUINT64 : first + width;
  }
}

gboolean
tide_verify_run(const TideVerifyContext *context, const TideVerifyOptions *options, TideVerifyResult *ret_result,
                GError **error)
{
  g_autoptr(TideVerifyCells) cells = tide_verify_cells_new(options->memory_bytes);
  if (cells == NULL) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_TOO_BIG,
                "there are no %" G_GSIZE_FORMAT " bytes of memory: give less with '--memory'", options->memory_bytes);
    return FALSE;
  }
  g_autoptr(TideVerifyMessages) messages =
      tide_verify_messages_new(context->config, context->tables, cells, context->dead_letters);
  *ret_result = (TideVerifyResult){.samples = tide_verify_samples_new(options->max_samples)};
  Job job = {.context = context, .options = options, .cells = cells, .messages = messages, .result = ret_result};
  if (!run_passes(&job, error))
    return FALSE;
  TideVerifySampleSources sources = {.input = context->input,
                                     .parts = context->parts,
                                     .messages = messages,
                                     .tables = context->tables,
                                     .stop = context->stop};
  return tide_verify_samples_resolve(ret_result->samples, &sources, error);
}
