/* The work of `tidemark verify`: reads topics and tables as often as the memory requires, and judges each cell once;
 * samples are read again to be shown. */
#include "commands/cli/message_lines.h"
#include "commands/cli/progress.h"
#include "commands/verify/verification.h"
#include "util/clock.h"
#include "util/error.h"

typedef struct Job {
  TideVerification *of; /* borrowed */
  TideProgress progress;
  guint64 done; /* messages or rows of the current step */
  TideVerifyRole role;
  guint part;    /* index of the current file */
  guint slot;    /* of the scanned table */
  gint64 now_ms; /* after this pass had read the tables */
  GError *error; /* owned: from a callback */
} Job;

/* The noun for the progress line. The number of passes is known only if everything fits into one. */
static char *
noun_of_pass(const Job *job, const char *noun)
{
  return job->of->n_passes > 1 ? g_strdup_printf("%s in pass %u", noun, job->of->n_passes) : g_strdup(noun);
}

/* ---- messages ------------------------------------------------------------------------------------------------------
 */

static gint64
take_message(const TideMessage *message, guint part, gpointer data)
{
  Job *job = data;
  gboolean is_counted = job->role == TIDE_VERIFY_MUST && job->of->n_passes == 1;
  tide_progress_update(&job->progress, ++job->done, tide_now_us());
  return tide_verify_messages_add(job->of, message, part, job->role, is_counted ? &job->of->counts : NULL, &job->error)
             ? message->offset + 1
             : TIDE_TOPIC_STOP;
}

/* ---- files instead of topics: each is a part, its path the topic ---- */

static gint64
take_record(const TideMessage *message, gpointer data)
{
  return take_message(message, ((Job *)data)->part, data);
}

static gboolean
go_on(gpointer data)
{
  return *((const Job *)data)->of->input.stop == 0;
}

/* Errors: IO, DATA: it cannot be read to its end; CANCELLED. */
static gboolean
read_file(Job *job, const TideTopicSpan *span, GError **error)
{
  const TideVerifyInput *input = &job->of->input;
  const char *path = g_array_index(input->parts, TideTopicPart, span->part).topic;
  TideFileMark start = TIDE_FILE_MARK_START;
  TideFileReaderOptions options = {
      .path = path, .decode = &input->source->readings->decode, .mark = &start, .go_on = go_on, .go_on_data = job};
  TideFileReader *reader = tide_file_reader_open(&options, error);
  if (reader == NULL)
    return FALSE;
  TideMessageFile file = {.reader = reader, .path = path, .begin = span->begin, .end = span->end};
  job->part = span->part;
  (void)tide_message_file_read(&file, take_record, go_on, job);
  const char *problem = tide_file_reader_problem(reader);
  gboolean is_stopped = !go_on(job), good = !is_stopped && problem == NULL;
  if (is_stopped)
    tide_fail(error, TIDE_ERROR_CANCELLED, "stopped");
  else if (problem != NULL)
    tide_fail(error, TIDE_ERROR_DATA, "cannot compare the whole file: %s", problem);
  tide_file_reader_free(reader);
  return good;
}

static gboolean
read_spans(Job *job, const GArray *spans, TideVerifyRole role, const char *noun, GError **error)
{
  guint64 n_offsets = 0;
  for (guint i = 0; i < spans->len; i++) {
    const TideTopicSpan *span = &g_array_index(spans, TideTopicSpan, i);
    n_offsets += span->end != TIDE_TOPIC_END ? (guint64)MAX(span->end - span->begin, 0) : 0; /* unknown for a file */
  }
  g_autofree char *shown = noun_of_pass(job, noun);
  job->role = role;
  job->done = 0;
  tide_progress_begin(&job->progress, shown, n_offsets, tide_now_us());
  const TideVerifyInput *input = &job->of->input;
  gboolean ok =
      input->topics == NULL || tide_topic_reader_read(input->topics, input->parts, spans, take_message, job, error);
  for (guint i = 0; input->topics == NULL && ok && job->error == NULL && i < spans->len; i++) {
    const TideTopicSpan *span = &g_array_index(spans, TideTopicSpan, i);
    ok = span->begin >= span->end || read_file(job, span, error);
  }
  tide_progress_end(&job->progress);
  if (ok && job->error != NULL) {
    g_propagate_error(error, g_steal_pointer(&job->error));
    return FALSE;
  }
  job->of->has_gaps |= role != TIDE_VERIFY_SAMPLE && job->done != n_offsets;
  return ok;
}

/* Reads the messages of the window, or those around it, including those that arrived while the tables were read. */
static gboolean
read_messages(Job *job, TideVerifyRole role, GError **error)
{
  const GArray *parts = job->of->input.parts;
  g_autoptr(GArray) spans = g_array_new(FALSE, FALSE, sizeof(TideTopicSpan));
  for (guint i = 0; i < parts->len; i++) {
    const TideTopicPart *part = &g_array_index(parts, TideTopicPart, i);
    TideTopicSpan window = {i, part->begin, part->end};
    TideTopicSpan around[] = {{i, part->first, part->begin}, {i, MAX(part->end, part->first), part->last}};
    if (role == TIDE_VERIFY_MUST)
      g_array_append_val(spans, window);
    else
      g_array_append_vals(spans, around, G_N_ELEMENTS(around));
  }
  return read_spans(job, spans, role, role == TIDE_VERIFY_MUST ? "messages" : "messages around", error);
}

/* ---- tables --------------------------------------------------------------------------------------------------------
 */

static gboolean
take_row(const TideResultRow *row, gpointer data)
{
  Job *job = data;
  TideVerifyTables *tables = job->of->tables;
  TideVerifyRow hash = tide_verify_row(job->slot, row->row);
  tide_progress_update(&job->progress, ++job->done, tide_now_us());
  if (!tide_verify_cells_takes(job->of->cells, hash))
    return TRUE;
  for (gsize i = 0; i < row->n_cells; i++) {
    TideVerifyEntry entry;
    if (!tide_verify_tables_entry(tables, job->slot, hash, &row->cells[i], &entry))
      continue;
    entry.is_outside = tide_verify_tables_is_outside(tables, job->slot, entry.time_ms) ? 1 : 0;
    tide_verify_cells_find(job->of->cells, &entry);
  }
  return TRUE;
}

static gboolean
read_tables(Job *job, GError **error)
{
  TideVerifyTables *tables = job->of->tables;
  for (job->slot = 0; job->slot < tide_verify_tables_count(tables); job->slot++) {
    TideVerifyScan scan = {.slot = job->slot,
                           .rate_rows_per_s = job->of->rate_rows_per_s,
                           .stop = job->of->input.stop,
                           .take_row = take_row,
                           .data = job};
    g_autofree char *rows = g_strdup_printf("rows of %s", tide_verify_tables_at(tables, job->slot)->table->name);
    g_autofree char *noun = noun_of_pass(job, rows);
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

/* Returns the next entry that is a cell, with its rule; NULL at the end. */
static const TideVerifyEntry *
next_cell(const Job *job, gsize *position, TideVerifyRule *ret_rule)
{
  const TideVerifyEntry *entry;
  while ((entry = tide_verify_cells_next(job->of->cells, position)) != NULL && entry->kind == TIDE_VERIFY_DELETED)
    continue;
  if (entry != NULL)
    *ret_rule =
        tide_verify_tables_rule(job->of->tables, entry, job->now_ms, job->of->not_whole == NULL && !job->of->has_gaps);
  return entry;
}

static void
judge_cells(Job *job)
{
  TideVerification *of = job->of;
  gsize position = 0;
  TideVerifyRule rule;
  guint n_of_kind[TIDE_VERDICT_COUNT] = {0};
  for (guint i = 0; i < of->samples->len; i++)
    n_of_kind[g_array_index(of->samples, TideVerifySample, i).verdict]++;
  for (const TideVerifyEntry *entry; (entry = next_cell(job, &position, &rule)) != NULL;) {
    TideVerdict verdict = tide_verify_judge(of->cells, entry, &rule);
    guint slot = tide_verify_tables_family(of->tables, entry->family)->table;
    tide_verify_tables_at(of->tables, slot)->counts[verdict]++;
    if (!tide_verdicts[verdict].is_sampled || n_of_kind[verdict] >= of->max_samples)
      continue;
    n_of_kind[verdict]++;
    const TideVerifyEntry *lost = verdict == TIDE_VERDICT_OVERWRITTEN ? tide_verify_lost_to(of->cells, entry) : NULL;
    TideVerifySample sample = {.verdict = verdict,
                               .entry = *entry,
                               .slot = slot,
                               .has_message = entry->kind == TIDE_VERIFY_EXPECTED,
                               .has_lost = lost != NULL};
    if (lost != NULL)
      sample.lost = *lost;
    g_array_append_val(of->samples, sample);
  }
}

/* ---- samples -------------------------------------------------------------------------------------------------------
 */

static TideVerifySample *
sample_at(const TideVerification *verification, guint i)
{
  return &g_array_index(verification->samples, TideVerifySample, i);
}

static void
clear_sample(gpointer data)
{
  TideVerifySample *sample = data;
  tide_buffer_clear_memory(&sample->row);
  tide_buffer_clear_memory(&sample->qualifier);
  tide_buffer_clear_memory(&sample->expected);
  tide_buffer_clear_memory(&sample->found);
  tide_buffer_clear_memory(&sample->lost_value);
}

static int
compare_samples(gconstpointer a, gconstpointer b)
{
  const TideVerifySample *left = a, *right = b;
  if (left->verdict != right->verdict)
    return left->verdict < right->verdict ? -1 : 1;
  if (left->slot != right->slot)
    return left->slot < right->slot ? -1 : 1;
  int order = tide_bytes_compare(tide_buffer_bytes(&left->row), tide_buffer_bytes(&right->row));
  return order != 0 ? order
                    : tide_bytes_compare(tide_buffer_bytes(&left->qualifier), tide_buffer_bytes(&right->qualifier));
}

/* TRUE if @entry, of the table at @slot, is the sample's cell, whatever its value. */
static gboolean
is_of_cell(const TideVerifySample *sample, guint slot, const TideVerifyEntry *entry)
{
  return sample->slot == slot && sample->entry.row.high == entry->row.high && sample->entry.row.low == entry->row.low &&
         sample->entry.column == entry->column && sample->entry.time_ms == entry->time_ms;
}

void
tide_verify_samples_take(TideVerification *verification, guint slot, const TideRow *row, const TideCell *cell,
                         const TideVerifyEntry *entry)
{
  for (guint i = 0; i < verification->samples->len; i++) {
    TideVerifySample *sample = sample_at(verification, i);
    if (!sample->has_message || !is_of_cell(sample, slot, entry))
      continue;
    if (sample->has_lost && sample->lost.value == entry->value)
      tide_buffer_set(&sample->lost_value, cell->value);
    if (sample->entry.value != entry->value)
      continue;
    tide_buffer_set(&sample->row, row->key);
    tide_buffer_set(&sample->qualifier, cell->column->qualifier);
    tide_buffer_set(&sample->expected, cell->value);
    sample->has_expected = sample->is_resolved = TRUE;
  }
}

static int
compare_spans(gconstpointer a, gconstpointer b)
{
  const TideTopicSpan *left = a, *right = b;
  if (left->part != right->part)
    return left->part < right->part ? -1 : 1;
  return (left->begin > right->begin) - (left->begin < right->begin);
}

/* Reads the messages of the samples, each once. */
static gboolean
read_sampled_messages(Job *job, GError **error)
{
  g_autoptr(GArray) spans = g_array_new(FALSE, FALSE, sizeof(TideTopicSpan));
  for (guint i = 0; i < job->of->samples->len; i++) {
    const TideVerifySample *sample = sample_at(job->of, i);
    gint64 offset = tide_verify_source_offset(sample->entry.source);
    TideTopicSpan span = {tide_verify_source_partition(sample->entry.source), offset, offset + 1};
    if (sample->has_message)
      g_array_append_val(spans, span);
    offset = tide_verify_source_offset(sample->lost.source);
    TideTopicSpan lost = {tide_verify_source_partition(sample->lost.source), offset, offset + 1};
    if (sample->has_lost)
      g_array_append_val(spans, lost);
  }
  g_array_sort(spans, compare_spans);
  for (guint i = spans->len; i > 1; i--)
    if (compare_spans(&g_array_index(spans, TideTopicSpan, i - 1), &g_array_index(spans, TideTopicSpan, i - 2)) == 0)
      g_array_remove_index(spans, i - 1);
  return read_spans(job, spans, TIDE_VERIFY_SAMPLE, "messages shown", error);
}

/* TRUE if the current table has a cell without a message that was not found again yet. */
static gboolean
lacks_row(const Job *job)
{
  for (guint i = 0; i < job->of->samples->len; i++) {
    const TideVerifySample *sample = sample_at(job->of, i);
    if (!sample->has_message && !sample->is_resolved && sample->slot == job->slot)
      return TRUE;
  }
  return FALSE;
}

static gboolean
take_sampled_row(const TideResultRow *row, gpointer data)
{
  Job *job = data;
  TideVerifyRow hash = tide_verify_row(job->slot, row->row);
  for (gsize k = 0; k < row->n_cells; k++) {
    TideVerifyEntry entry;
    if (!tide_verify_tables_entry(job->of->tables, job->slot, hash, &row->cells[k], &entry))
      continue;
    for (guint i = 0; i < job->of->samples->len; i++) {
      TideVerifySample *sample = sample_at(job->of, i);
      if (sample->has_message || !is_of_cell(sample, job->slot, &entry))
        continue;
      tide_buffer_set(&sample->row, row->row);
      tide_buffer_set(&sample->qualifier, row->cells[k].qualifier);
      tide_buffer_set(&sample->found, row->cells[k].value);
      sample->found_ms = entry.time_ms;
      sample->has_found = sample->is_resolved = TRUE;
    }
  }
  return lacks_row(job);
}

/* Takes the newest cell of the sample's column. */
static gboolean
take_found_row(const TideResultRow *row, gpointer data)
{
  TideVerifySample *sample = data;
  for (gsize i = 0; i < row->n_cells; i++) {
    const TideResultCell *cell = &row->cells[i];
    if (!tide_bytes_equal(cell->qualifier, tide_buffer_bytes(&sample->qualifier)) ||
        (sample->has_found && cell->timestamp_ms < sample->found_ms))
      continue;
    tide_buffer_set(&sample->found, cell->value);
    sample->found_ms = cell->timestamp_ms;
    sample->has_found = TRUE;
  }
  return TRUE;
}

/* Reads the cell in place of an expected one. */
static gboolean
get_found(TideVerifyTables *tables, TideVerifySample *sample, GError **error)
{
  const TideVerifyTable *table = tide_verify_tables_at(tables, sample->slot);
  if (!sample->has_expected || !table->is_there)
    return TRUE;
  TideBytes row = tide_buffer_bytes(&sample->row);
  const char *family = tide_verify_tables_family(tables, sample->entry.family)->name;
  TideColumnName column = {.family = tide_bytes_of_string(family), .qualifier = tide_buffer_bytes(&sample->qualifier)};
  TideGetRequest request = {.rows = &row, .n_rows = 1, .columns = &column, .n_columns = 1};
  TideGatewayTable read = {tide_verify_tables_session(tables), table->table->name};
  if (tide_gateway_table_get(&request, take_found_row, sample, &read, error))
    return TRUE;
  g_prefix_error(error, "cannot read the cell in place of an expected one: ");
  return FALSE;
}

/* Reads the missing parts of the samples. Costs a scan of a table with a cell that came from no message. */
static gboolean
resolve_samples(Job *job, GError **error)
{
  TideVerifyTables *tables = job->of->tables;
  if (!read_sampled_messages(job, error))
    return FALSE;
  for (job->slot = 0; job->slot < tide_verify_tables_count(tables); job->slot++) {
    TideVerifyScan scan = {.slot = job->slot, .stop = job->of->input.stop, .take_row = take_sampled_row, .data = job};
    if (lacks_row(job) && !tide_verify_tables_scan(tables, &scan, error))
      return FALSE;
  }
  for (guint i = 0; i < job->of->samples->len; i++)
    if (!get_found(tables, sample_at(job->of, i), error))
      return FALSE;
  g_array_sort(job->of->samples, compare_samples);
  return TRUE;
}

/* ---- passes --------------------------------------------------------------------------------------------------------
 */

static gboolean
run_pass(Job *job, guint64 first, guint64 last, GError **error)
{
  TideVerification *of = job->of;
  of->n_passes++;
  tide_verify_cells_begin(of->cells, first, last);
  if (!read_messages(job, TIDE_VERIFY_MUST, error) || !read_tables(job, error))
    return FALSE;
  gsize position = 0;
  TideVerifyRule rule;
  gboolean is_open = FALSE;
  for (const TideVerifyEntry *entry; !is_open && (entry = next_cell(job, &position, &rule)) != NULL;)
    is_open = tide_verify_is_open(of->cells, entry, &rule);
  /* Files keep their content; topics have more messages by now. */
  if (is_open && of->input.topics != NULL && !tide_topic_reader_refresh(of->input.topics, of->input.parts, error))
    return FALSE;
  if (is_open && !read_messages(job, TIDE_VERIFY_EXPLAIN, error))
    return FALSE;
  if (tide_verify_cells_is_overrun(of->cells))
    return tide_fail(error, TIDE_ERROR_TOO_BIG, "a single row has more cells than fit into memory: raise '--memory'");
  judge_cells(job);
  return TRUE;
}

gboolean
tide_verify_run(TideVerification *verification, GError **error)
{
  Job job = {.of = verification};
  guint64 first = 0, last = G_MAXUINT64, reached = 0;
  verification->cells = tide_verify_cells_new(verification->memory_bytes);
  if (verification->cells == NULL)
    return tide_fail(error, TIDE_ERROR_TOO_BIG,
                     "%" G_GSIZE_FORMAT " bytes of memory are not available: lower '--memory'",
                     verification->memory_bytes);
  /* The wire protocol does not matter here: only column names are encoded. */
  verification->mapping = tide_mapping_new(verification->config, TIDE_WIRE_BINARY);
  verification->samples = g_array_new(FALSE, FALSE, sizeof(TideVerifySample));
  g_array_set_clear_func(verification->samples, clear_sample);
  while (reached < G_MAXUINT64) {
    if (!run_pass(&job, first, last, error))
      return FALSE;
    reached = tide_verify_cells_last(verification->cells);
    /* A little less than what fitted: halving a range that is barely too large would cost another pass. */
    guint64 width = reached - first;
    width -= width / 8;
    first = reached + 1;
    last = first > G_MAXUINT64 - width ? G_MAXUINT64 : first + width;
  }
  return resolve_samples(&job, error);
}
