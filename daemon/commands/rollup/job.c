#include "commands/rollup/job.h"

#include "commands/read/gateway_session.h"
#include "commands/read/range_reader.h"
#include "thrift/wire/put_encoder.h"
#include "util/backoff.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/lock.h"

/* Rows of a page at the most, and about its bytes: what one thread holds. Wide rows have some 100 cells of 50 bytes. */
#define PAGE_ROWS 1000u
#define PAGE_BYTES (4u * 1024 * 1024)

/* After a failure a thread waits, doubling from the one to the other. */
#define RETRY_MIN_US (100 * TIDE_US_PER_MS)
#define RETRY_MAX_US (10 * TIDE_US_PER_S)

struct TideRollupJob {
  /* set before start, then read-only */
  TideRollupOptions options;
  GPtrArray *threads; /* owned (element-type TideThread) */
  /* under lock */
  TideMutex lock;
  TideCond changed;
  guint next_range;
  guint32 running;
  gboolean stopped;
  gint64 next_row_us; /* when the rate lets the next row go */
  GError *error;      /* owned: the first */
};

/* One thread, and the range that it works on. */
typedef struct Worker {
  TideRollupJob *job;
  guint32 number;
  TideGatewaySession *session; /* owned; NULL before the first connection */
  TideRollupRange *range;      /* its keys are read-only, the rest under lock */
  TideRangeReader *reader;     /* owned */
  TideBuffer last_row;
  TideBuffer cells; /* of the put being made */
  guint32 n_cells;
  TideBuffer puts; /* of the call being made */
  guint32 n_puts;
  TideBuffer prefix;
  guint64 rows; /* since the mark */
  guint64 copied_cells;
  gint64 progress_us;
} Worker;

/* ---- the job's lock ---- */

static gboolean
is_stopped(TideRollupJob *job)
{
  tide_mutex_lock(&job->lock);
  gboolean stopped = job->stopped || job->error != NULL;
  tide_mutex_unlock(&job->lock);
  return stopped;
}

/* Waits, unless the job ends. */
static void
pause_until(TideRollupJob *job, gint64 until_us)
{
  tide_mutex_lock(&job->lock);
  while (!job->stopped && job->error == NULL && tide_now_us() < until_us)
    (void)tide_cond_wait_until(&job->changed, &job->lock, until_us);
  tide_mutex_unlock(&job->lock);
}

/* The next range that is not done; NULL at the end. */
static TideRollupRange *
take_range(TideRollupJob *job)
{
  GArray *ranges = job->options.marks->ranges;
  TideRollupRange *range = NULL;
  tide_mutex_lock(&job->lock);
  while (range == NULL && job->next_range < ranges->len && !job->stopped && job->error == NULL) {
    TideRollupRange *candidate = &g_array_index(ranges, TideRollupRange, job->next_range++);
    range = candidate->done ? NULL : candidate;
  }
  tide_mutex_unlock(&job->lock);
  return range;
}

/* ---- calls, again and again ---- */

static gboolean
open_session(Worker *worker, GError **error)
{
  if (worker->session != NULL && tide_hbase_client_is_open(tide_gateway_session_client(worker->session)))
    return TRUE;
  g_clear_pointer(&worker->session, tide_gateway_session_free);
  worker->session = tide_gateway_session_open_from(worker->job->options.config, TIDE_GATEWAY_ANY, worker->number,
                                                   worker->job->options.cluster, error);
  return worker->session != NULL;
}

/* Whether a failure is worth another try: FALSE when the job ends, or nothing moved for too long. @error: (transfer
 * full): goes to the job then. */
static gboolean
try_again(Worker *worker, guint32 *n_failures, GError *error)
{
  TideRollupJob *job = worker->job;
  gint64 now_us = tide_now_us();
  gboolean is_hopeless = now_us - worker->progress_us > job->options.stall_timeout_us ||
                         g_error_matches(error, TIDE_ERROR, TIDE_ERROR_NOT_FOUND) ||
                         g_error_matches(error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE);
  tide_mutex_lock(&job->lock);
  if (is_hopeless && !job->stopped && job->error == NULL)
    job->error = g_steal_pointer(&error);
  tide_cond_broadcast(&job->changed);
  tide_mutex_unlock(&job->lock);
  g_clear_error(&error);
  if (!is_hopeless)
    pause_until(job, now_us + tide_backoff_us(++*n_failures, RETRY_MIN_US, RETRY_MAX_US));
  return !is_stopped(job);
}

static gboolean
scan_page(const TideScanRequest *request, TideRowFunc func, gpointer func_data, gpointer data, GError **error)
{
  Worker *worker = data;
  const TideRollupMarks *marks = worker->job->options.marks;
  const char *table = worker->job->options.count_only ? marks->target : marks->source;
  return open_session(worker, error) &&
         tide_gateway_session_scan(worker->session, tide_bytes_of_string(table), request, func, func_data, error);
}

/* The next row; FALSE when the job ends. @ret_row: NULL at the range's end. */
static gboolean
next_row(Worker *worker, const TideResultRow **ret_row)
{
  guint32 n_failures = 0; /* in a row */
  GError *error = NULL;
  while (!tide_range_reader_peek(worker->reader, ret_row, &error))
    if (!try_again(worker, &n_failures, g_steal_pointer(&error)))
      return FALSE;
  return TRUE;
}

/* FALSE when the job ends. */
static gboolean
send_puts(Worker *worker)
{
  guint32 n_failures = 0; /* in a row */
  TideBytes puts = tide_buffer_bytes(&worker->puts), table = tide_bytes_of_string(worker->job->options.marks->target);
  while (worker->n_puts > 0) {
    GError *error = NULL;
    if (open_session(worker, &error) &&
        tide_hbase_client_put_multiple(tide_gateway_session_client(worker->session), table, &puts, 1, worker->n_puts,
                                       tide_gateway_session_deadline_us(worker->session), &error))
      break;
    if (!try_again(worker, &n_failures, error))
      return FALSE;
  }
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
  tide_put_tail_append(protocol, &worker->puts, TIDE_PUT_NO_TIME, worker->job->options.ttl_ms);
  worker->n_puts++;
  tide_buffer_reset(&worker->cells);
  worker->n_cells = 0;
}

/* Encodes @row behind what waits, and sends what is full; a row that is wider than a call goes in several. */
static gboolean
copy_row(Worker *worker, const TideResultRow *row)
{
  TideWireProtocol protocol = tide_gateway_session_mode(worker->session).protocol;
  const TideBatchConfig *limits = &worker->job->options.config->batch;
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

/* Sends what waits; what was read up to the last row counts from then on. */
static gboolean
finish_page(Worker *worker, gboolean done)
{
  TideRollupJob *job = worker->job;
  TideRollupRange *range = worker->range;
  guint64 rate = job->options.rate_rows_per_s;
  if (rate > 0) {
    tide_mutex_lock(&job->lock);
    gint64 at_us = MAX(job->next_row_us, tide_now_us());
    job->next_row_us = at_us + (gint64)(worker->rows * (guint64)TIDE_US_PER_S / rate);
    tide_mutex_unlock(&job->lock);
    pause_until(job, at_us);
  }
  if (!send_puts(worker))
    return FALSE;
  tide_mutex_lock(&job->lock);
  if (worker->rows > 0) {
    tide_buffer_reset(&range->mark);
    tide_buffer_append_bytes(&range->mark, tide_buffer_bytes(&worker->last_row));
  }
  range->rows += worker->rows;
  range->cells += worker->copied_cells;
  range->done = done;
  tide_mutex_unlock(&job->lock);
  worker->rows = worker->copied_cells = 0;
  worker->progress_us = tide_now_us();
  return TRUE;
}

static gboolean
work_through(Worker *worker)
{
  const TideResultRow *row;
  while (next_row(worker, &row)) {
    if (row == NULL)
      return finish_page(worker, TRUE);
    if (!worker->job->options.count_only && !copy_row(worker, row))
      return FALSE;
    tide_buffer_reset(&worker->last_row);
    tide_buffer_append_bytes(&worker->last_row, row->row);
    worker->rows++;
    worker->copied_cells += row->n_cells;
    tide_range_reader_pass(worker->reader);
    if (worker->rows >= PAGE_ROWS && !finish_page(worker, FALSE))
      return FALSE;
    if (is_stopped(worker->job))
      return FALSE;
  }
  return FALSE;
}

/* Goes on behind the mark. */
static gboolean
work_on_range(Worker *worker, TideRollupRange *range)
{
  const TideRollupMarks *marks = worker->job->options.marks;
  TideKeyRange keys = {0};
  const TideBuffer *mark = &range->mark;
  tide_buffer_append_bytes(&keys.start, tide_buffer_bytes(mark->len > 0 ? mark : &range->keys.start));
  if (mark->len > 0)
    tide_buffer_append_byte(&keys.start, 0); /* the first key behind it */
  tide_buffer_append_bytes(&keys.stop, tide_buffer_bytes(&range->keys.stop));
  TideRangeReaderOptions options = {
      .scan = scan_page,
      .scan_data = worker,
      .min_time_ms = marks->from_ms,
      .max_time_ms = marks->to_ms,
      .page_rows = PAGE_ROWS,
      .page_bytes = PAGE_BYTES,
  };
  worker->range = range;
  worker->reader = tide_range_reader_new(&keys, &options);
  worker->progress_us = tide_now_us();
  gboolean done = work_through(worker);
  g_clear_pointer(&worker->reader, tide_range_reader_free);
  tide_key_range_clear(&keys);
  return done;
}

/* The thread's owner function. */
static void
run_worker(gpointer data)
{
  Worker *worker = data;
  TideRollupJob *job = worker->job;
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

/* ---- for the command ---- */

TideRollupJob *
tide_rollup_job_start(const TideRollupOptions *options)
{
  TideRollupJob *job = g_new0(TideRollupJob, 1);
  job->options = *options;
  tide_mutex_init(&job->lock);
  tide_cond_init(&job->changed);
  job->threads = g_ptr_array_new();
  job->running = options->threads;
  for (guint32 i = 0; i < options->threads; i++) {
    Worker *worker = g_new0(Worker, 1);
    worker->job = job;
    worker->number = i;
    g_autofree char *name = g_strdup_printf("tide-rollup-%u", i);
    g_ptr_array_add(job->threads, tide_thread_start(name, run_worker, worker));
  }
  return job;
}

TideRollupState
tide_rollup_job_wait(TideRollupJob *job, gint64 deadline_us)
{
  TideRollupState state = {0};
  tide_mutex_lock(&job->lock);
  while (job->running > 0 && tide_now_us() < deadline_us)
    (void)tide_cond_wait_until(&job->changed, &job->lock, deadline_us);
  for (guint i = 0; i < job->options.marks->ranges->len; i++) {
    const TideRollupRange *range = &g_array_index(job->options.marks->ranges, TideRollupRange, i);
    state.rows += range->rows;
    state.cells += range->cells;
    state.ranges_done += range->done ? 1 : 0;
  }
  state.ended = job->running == 0;
  tide_mutex_unlock(&job->lock);
  return state;
}

char *
tide_rollup_job_marks_text(TideRollupJob *job)
{
  tide_mutex_lock(&job->lock);
  char *text = tide_rollup_marks_text(job->options.marks);
  tide_mutex_unlock(&job->lock);
  return text;
}

void
tide_rollup_job_stop(TideRollupJob *job)
{
  tide_mutex_lock(&job->lock);
  job->stopped = TRUE;
  tide_cond_broadcast(&job->changed);
  tide_mutex_unlock(&job->lock);
}

gboolean
tide_rollup_job_finish(TideRollupJob *job, GError **error)
{
  for (guint i = 0; i < job->threads->len; i++)
    tide_thread_join(job->threads->pdata[i]);
  g_ptr_array_unref(job->threads);
  gboolean complete = TRUE;
  for (guint i = 0; i < job->options.marks->ranges->len; i++)
    complete &= g_array_index(job->options.marks->ranges, TideRollupRange, i).done;
  if (!complete && job->error == NULL)
    g_set_error_literal(&job->error, TIDE_ERROR, TIDE_ERROR_CANCELLED, "stopped before all was done");
  gboolean ok = job->error == NULL;
  if (!ok)
    g_propagate_error(error, job->error);
  tide_cond_clear(&job->changed);
  tide_mutex_clear(&job->lock);
  g_free(job);
  return ok;
}
