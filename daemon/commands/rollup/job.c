/* Copies, or counts, the cells of a time range from all ranges of a table with several threads, each with its own
 * connection and page, so memory is limited by the threads and not by the table.
 *
 * HBase itself skips cells of other times (and whole files without any in the range), so copying a day of a table keyed
 * by sensor walks over the keys without sending them. After a lost connection a page is read again after the last row,
 * and a failed call is repeated: the cells keep their times, so writing one twice changes nothing. */
#include "commands/cli/progress.h"
#include "commands/read/gateway_session.h"
#include "commands/read/range_reader.h"
#include "commands/rollup/rollup.h"
#include "thrift/wire/put_encoder.h"
#include "util/backoff.h"
#include "util/error.h"
#include "util/lock.h"
#include "util/pace.h"

/* Maximum rows of a page and its approximate bytes, for one thread. Wide rows have some 100 cells of 50 bytes. */
#define PAGE_ROWS 1000u
#define PAGE_BYTES (4u * 1024 * 1024)

/* Interval of saving marks: the maximum work that a kill repeats. */
#define SAVE_INTERVAL_US TIDE_US_PER_S
#define LOOK_INTERVAL_US (TIDE_US_PER_S / 5)

typedef struct Job {
  const TideRollupOptions *options; /* read-only except the marks, which are under lock */
  /* under lock */
  TideMutex lock;
  TideCond changed;
  TidePace pace; /* of rows */
  guint next_range;
  guint32 running;
  GError *error; /* owned: the first error, which ends the job */
} Job;

/* One thread with its current range. */
typedef struct Worker {
  Job *job;
  TideGatewaySession *session; /* owned */
  TideRollupRange *range;      /* its keys are read-only, the rest under lock */
  TideRangeReader *reader;     /* owned */
  const TideResultRow *row;    /* the reader's next; NULL at the end */
  TideBuffer last_row;
  TideBuffer cells; /* of the current put */
  guint32 n_cells;
  TideBuffer puts; /* of the current call */
  guint32 n_puts;
  TideBuffer prefix;
  TideRollupCounts counts; /* of the current page */
  gint64 progress_us;
} Worker;

/* ---- under the job's lock ---- */

/* Ends the job. @error: (transfer full): dropped if the job has already ended. */
static void
fail(Job *job, GError *error)
{
  tide_mutex_lock(&job->lock);
  if (job->error == NULL)
    job->error = g_steal_pointer(&error);
  tide_cond_broadcast(&job->changed);
  tide_mutex_unlock(&job->lock);
  g_clear_error(&error);
}

/* FALSE: the job ended before. */
static gboolean
wait_until(Job *job, gint64 until_us)
{
  tide_mutex_lock(&job->lock);
  while (job->error == NULL && tide_now_us() < until_us)
    (void)tide_cond_wait_until(&job->changed, &job->lock, until_us);
  gboolean goes_on = job->error == NULL;
  tide_mutex_unlock(&job->lock);
  return goes_on;
}

/* Returns the next unfinished range; NULL at the end. */
static TideRollupRange *
take_range(Job *job)
{
  GArray *ranges = job->options->marks->ranges;
  TideRollupRange *range = NULL;
  tide_mutex_lock(&job->lock);
  while (range == NULL && job->next_range < ranges->len && job->error == NULL) {
    TideRollupRange *candidate = &g_array_index(ranges, TideRollupRange, job->next_range++);
    range = candidate->done ? NULL : candidate;
  }
  tide_mutex_unlock(&job->lock);
  return range;
}

/* ---- calls with retries ---- */

/* Repeats the call until it succeeds, with the pauses of the daemon's writers. FALSE when the job ends: also on a
 * persistent failure, and when there was no progress for too long. */
static gboolean
call_until_done(Worker *worker, gboolean (*call)(Worker *worker, GError **error))
{
  const TideRollupOptions *options = worker->job->options;
  const TideHBaseConfig *hbase = &options->config->hbase;
  for (guint32 n_failures = 1;; n_failures++) {
    g_autoptr(GError) error = NULL;
    if (call(worker, &error))
      return TRUE;
    gint64 now_us = tide_now_us();
    if (now_us - worker->progress_us > options->stall_timeout_us || !tide_gateway_error_may_pass(error))
      fail(worker->job, g_steal_pointer(&error));
    if (!wait_until(worker->job, now_us + tide_backoff_us(n_failures, hbase->retry_min_ms * TIDE_US_PER_MS,
                                                          hbase->retry_max_ms * TIDE_US_PER_MS)))
      return FALSE;
  }
}

static gboolean
read_row(Worker *worker, GError **error)
{
  return tide_range_reader_peek(worker->reader, &worker->row, error);
}

static gboolean
put_rows(Worker *worker, GError **error)
{
  TideBytes table = tide_bytes_of_string(worker->job->options->marks->target);
  return tide_gateway_session_put(worker->session, table, tide_buffer_bytes(&worker->puts), worker->n_puts, error);
}

static gboolean
send_puts(Worker *worker)
{
  if (worker->n_puts > 0 && !call_until_done(worker, put_rows))
    return FALSE;
  tide_buffer_reset(&worker->puts);
  worker->n_puts = 0;
  return TRUE;
}

/* ---- rows ---- */

static void
end_put(Worker *worker, TideWireProtocol protocol, TideBytes row)
{
  if (worker->n_cells == 0)
    return;
  tide_put_head_append(protocol, &worker->puts, row, worker->n_cells);
  tide_buffer_append_bytes(&worker->puts, tide_buffer_bytes(&worker->cells));
  tide_put_tail_append(protocol, &worker->puts, TIDE_PUT_NO_TIME, worker->job->options->ttl_ms);
  worker->n_puts++;
  tide_buffer_reset(&worker->cells);
  worker->n_cells = 0;
}

/* Encodes @row after the waiting ones, and sends full calls; a row that exceeds a call is sent in several. */
static gboolean
copy_row(Worker *worker, const TideResultRow *row)
{
  TideWireProtocol protocol = tide_gateway_session_mode(worker->session).protocol;
  const TideBatchConfig *limits = &worker->job->options->config->batch;
  for (gsize i = 0; i < row->n_cells; i++) {
    const TideResultCell *cell = &row->cells[i];
    tide_buffer_reset(&worker->prefix);
    tide_column_prefix_append(protocol, &worker->prefix, cell->family, cell->qualifier);
    TideBytes prefix = tide_buffer_bytes(&worker->prefix);
    gsize more_bytes = tide_put_overhead_max(row->row) + tide_cell_size_max(prefix, cell->value.len);
    if (worker->n_puts >= limits->max_rows || worker->puts.len + worker->cells.len + more_bytes > limits->max_bytes) {
      end_put(worker, protocol, row->row);
      if (!send_puts(worker))
        return FALSE;
    }
    tide_cell_append(protocol, &worker->cells, prefix, cell->value, cell->timestamp_ms);
    worker->n_cells++;
  }
  end_put(worker, protocol, row->row);
  return TRUE;
}

/* Sends the waiting rows; all rows read so far then count. FALSE when the job ends. */
static gboolean
finish_page(Worker *worker)
{
  Job *job = worker->job;
  TideRollupRange *range = worker->range;
  gint64 now_us = tide_now_us();
  tide_mutex_lock(&job->lock);
  gint64 due_us = now_us + tide_pace_wait_us(&job->pace, now_us);
  tide_pace_add(&job->pace, worker->counts.rows, now_us);
  tide_mutex_unlock(&job->lock);
  if (!wait_until(job, due_us) || !send_puts(worker))
    return FALSE;
  tide_mutex_lock(&job->lock);
  if (worker->counts.rows > 0)
    tide_buffer_set(&range->mark, tide_buffer_bytes(&worker->last_row));
  range->counts.rows += worker->counts.rows;
  range->counts.cells += worker->counts.cells;
  range->done = worker->row == NULL;
  tide_mutex_unlock(&job->lock);
  worker->counts = (TideRollupCounts){0};
  worker->progress_us = tide_now_us();
  return TRUE;
}

static gboolean
work_through(Worker *worker)
{
  while (call_until_done(worker, read_row)) {
    const TideResultRow *row = worker->row;
    if (row == NULL)
      return finish_page(worker);
    if (!worker->job->options->count_only && !copy_row(worker, row))
      return FALSE;
    tide_buffer_set(&worker->last_row, row->row);
    worker->counts.rows++;
    worker->counts.cells += row->n_cells;
    tide_range_reader_pass(worker->reader);
    if (worker->counts.rows >= PAGE_ROWS && !finish_page(worker))
      return FALSE;
  }
  return FALSE;
}

/* Continues after the mark. */
static gboolean
work_on_range(Worker *worker, TideRollupRange *range)
{
  const TideRollupOptions *of = worker->job->options;
  TideKeyRange keys = range->keys;
  g_auto(TideBuffer) behind = {0};
  tide_buffer_append_bytes(&behind, tide_buffer_bytes(&range->mark));
  if (range->mark.len > 0) {
    tide_buffer_append_byte(&behind, 0); /* the first key after it */
    keys.start = behind;
  }
  TideGatewayTable table = {.session = worker->session, .name = of->count_only ? of->marks->target : of->marks->source};
  TideRangeReaderOptions options = {
      .scan = tide_gateway_table_scan,
      .scan_data = &table,
      .min_time_ms = of->marks->from_ms,
      .max_time_ms = of->marks->to_ms,
      .page_rows = PAGE_ROWS,
      .page_bytes = PAGE_BYTES,
  };
  worker->range = range;
  worker->reader = tide_range_reader_new(&keys, &options);
  worker->progress_us = tide_now_us();
  gboolean done = work_through(worker);
  g_clear_pointer(&worker->reader, tide_range_reader_free);
  return done;
}

/* The thread's main function. */
static void
run_worker(gpointer data)
{
  Worker *worker = data;
  Job *job = worker->job;
  TideRollupRange *range;
  while ((range = take_range(job)) != NULL && work_on_range(worker, range))
    continue;
  tide_gateway_session_free(worker->session);
  tide_buffer_clear_memory(&worker->last_row);
  tide_buffer_clear_memory(&worker->cells);
  tide_buffer_clear_memory(&worker->puts);
  tide_buffer_clear_memory(&worker->prefix);
  g_free(worker);
  tide_mutex_lock(&job->lock);
  job->running--;
  tide_cond_broadcast(&job->changed);
  tide_mutex_unlock(&job->lock);
}

/* ---- the job ---- */

/* Shows the progress, saves the marks and checks for a stop until the threads have ended. */
static void
watch(Job *job)
{
  const TideRollupOptions *options = job->options;
  gint64 now_us = tide_now_us(), save_us = now_us + SAVE_INTERVAL_US;
  TideProgress progress;
  tide_progress_begin(&progress, options->count_only ? "rows counted" : "rows copied", 0, now_us);
  for (gboolean is_running = TRUE; is_running;) {
    g_autoptr(GError) error = NULL;
    tide_mutex_lock(&job->lock);
    if (job->running > 0)
      (void)tide_cond_wait_until(&job->changed, &job->lock, now_us + LOOK_INTERVAL_US);
    is_running = job->running > 0;
    now_us = tide_now_us();
    guint64 rows = tide_rollup_marks_count(options->marks).rows;
    if (*options->stop != 0 && is_running)
      tide_fail(&error, TIDE_ERROR_CANCELLED, "stopped before everything was done");
    else if (now_us >= save_us && tide_rollup_marks_save(options->marks, options->marks_path, &error))
      save_us = now_us + SAVE_INTERVAL_US;
    tide_mutex_unlock(&job->lock);
    tide_progress_update(&progress, rows, now_us);
    if (error != NULL)
      fail(job, g_steal_pointer(&error));
  }
  tide_progress_end(&progress);
}

gboolean
tide_rollup_job_run(const TideRollupOptions *options, GError **error)
{
  Job job = {.options = options, .pace = {.per_s = options->rate_rows_per_s}, .running = options->threads};
  if (!tide_rollup_marks_save(options->marks, options->marks_path, error))
    return FALSE;
  tide_mutex_init(&job.lock);
  tide_cond_init(&job.changed);
  g_autofree TideThread **threads = g_new0(TideThread *, options->threads);
  for (guint32 i = 0; i < options->threads; i++) {
    Worker *worker = g_new0(Worker, 1);
    worker->job = &job;
    worker->session = tide_gateway_session_new(options->config, i, options->cluster);
    g_autofree char *name = g_strdup_printf("tide-rollup-%u", i);
    threads[i] = tide_thread_start(name, run_worker, worker);
  }
  watch(&job);
  for (guint32 i = 0; i < options->threads; i++)
    tide_thread_join(threads[i]);
  tide_cond_clear(&job.changed);
  tide_mutex_clear(&job.lock);
  gboolean ok = job.error == NULL;
  if (!ok)
    g_propagate_error(error, job.error);
  return tide_rollup_marks_save(options->marks, options->marks_path, ok ? error : NULL) && ok;
}
