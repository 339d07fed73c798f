#include "thrift/security/kerberos_ticket.h"

#include "util/clock.h"
#include "util/error.h"
#include "util/lock.h"

#include <errno.h>
#include <krb5.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Those who want the same. There are as many as gateways are configured; they live with the process. */
typedef struct Kind {
  char *memory_cache; /* owned; read-only */
  gboolean is_busy;   /* under lock: one of its jobs is with Kerberos */
  gboolean is_stale;  /* under lock: the gateway has refused what is in its cache */
} Kind;

/* Owned by whoever waits for it, then, if they gave up, by the list of abandoned ones. Its own thread only borrows it,
 * and nobody frees it before that thread was joined. */
typedef struct Job {
  /* set before start, then read-only */
  Kind *kind;
  int done_fd; /* an eventfd: readable when finished */
  TideThread *thread;
  /* the job's thread's until it sets finished */
  TideGssContext *context; /* owned */
  GError *error;           /* owned; NULL: the context has begun */
  gboolean is_given_up;    /* under lock */
  _Atomic gboolean finished;
} Job;

static TideMutex lock = {PTHREAD_MUTEX_INITIALIZER};
static TideCond turn_changed = {PTHREAD_COND_INITIALIZER};
static GHashTable *kinds;    /* under lock; (element-type utf8 Kind); made on first use, lives with the process */
static GPtrArray *abandoned; /* under lock; (element-type Job); likewise */

/* ---- the job's thread ---- */

/* FALSE when nobody wants it any more. */
static gboolean
wait_for_turn(Job *job, gboolean *ret_stale)
{
  tide_mutex_lock(&lock);
  while (job->kind->is_busy && !job->is_given_up)
    tide_cond_wait(&turn_changed, &lock);
  gboolean is_wanted = !job->is_given_up;
  if (is_wanted) {
    job->kind->is_busy = TRUE;
    *ret_stale = job->kind->is_stale;
    job->kind->is_stale = FALSE;
  }
  tide_mutex_unlock(&lock);
  return is_wanted;
}

static void
end_turn(Job *job)
{
  tide_mutex_lock(&lock);
  job->kind->is_busy = FALSE;
  tide_cond_broadcast(&turn_changed);
  tide_mutex_unlock(&lock);
}

/* A cache that cannot be emptied is one that is not there. */
static void
empty_cache(const char *name)
{
  krb5_context context = NULL;
  krb5_ccache cache;
  if (krb5_init_context(&context) == 0 && krb5_cc_resolve(context, name, &cache) == 0)
    (void)krb5_cc_destroy(context, cache);
  krb5_free_context(context);
}

static void
run_kerberos(gpointer data)
{
  Job *job = data;
  gboolean is_stale = FALSE;
  if (wait_for_turn(job, &is_stale)) {
    if (is_stale)
      empty_cache(job->kind->memory_cache);
    if (!tide_gss_context_begin(job->context, job->kind->memory_cache, &job->error))
      g_clear_pointer(&job->context, tide_gss_context_free);
    end_turn(job);
  }
  int done_fd = job->done_fd;
  atomic_store(&job->finished, TRUE);
  (void)eventfd_write(done_fd, 1); /* cannot fail: the counter is 0 */
}

/* ---- who waits for it ---- */

static void
job_free(Job *job)
{
  tide_thread_join(job->thread);
  tide_gss_context_free(job->context);
  g_clear_error(&job->error);
  close(job->done_fd);
  g_free(job);
}

guint
tide_kerberos_reap(void)
{
  g_autoptr(GPtrArray) ended = g_ptr_array_new_with_free_func((GDestroyNotify)job_free);
  tide_mutex_lock(&lock);
  guint n = abandoned != NULL ? abandoned->len : 0;
  for (guint i = n; i > 0; i--) {
    Job *job = g_ptr_array_index(abandoned, i - 1);
    if (atomic_load(&job->finished))
      g_ptr_array_add(ended, g_ptr_array_remove_index_fast(abandoned, i - 1));
  }
  guint running = n - ended->len;
  tide_mutex_unlock(&lock);
  return running;
}

static void
abandon(Job *job)
{
  tide_mutex_lock(&lock);
  job->is_given_up = TRUE;
  if (abandoned == NULL)
    abandoned = g_ptr_array_new();
  g_ptr_array_add(abandoned, job);
  tide_cond_broadcast(&turn_changed);
  tide_mutex_unlock(&lock);
}

static const char *
or_empty(const char *text)
{
  return text != NULL ? text : "";
}

static Kind *
kind_of(const TideKerberosSituation *request)
{
  g_autofree char *key = g_strjoin("\n", request->service, request->host, or_empty(request->keytab),
                                   or_empty(request->principal), or_empty(request->cache), NULL);
  tide_mutex_lock(&lock);
  if (kinds == NULL)
    kinds = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  Kind *kind = g_hash_table_lookup(kinds, key);
  if (kind == NULL) {
    kind = g_new0(Kind, 1);
    kind->memory_cache = g_strdup_printf("MEMORY:tidemark-%u", g_hash_table_size(kinds));
    g_hash_table_insert(kinds, g_steal_pointer(&key), kind);
  }
  tide_mutex_unlock(&lock);
  return kind;
}

void
tide_kerberos_forget(const TideGssContext *context)
{
  const char *refused = tide_gss_context_memory_cache(context);
  if (refused == NULL)
    return;
  GHashTableIter at;
  gpointer kind;
  tide_mutex_lock(&lock);
  g_hash_table_iter_init(&at, kinds);
  while (g_hash_table_iter_next(&at, NULL, &kind)) {
    if (strcmp(((const Kind *)kind)->memory_cache, refused) == 0)
      ((Kind *)kind)->is_stale = TRUE;
  }
  tide_mutex_unlock(&lock);
}

/* FALSE when @deadline_us passed or @cancellable was cancelled before the job ended. */
static gboolean
wait_for(const Job *job, gint64 deadline_us, GCancellable *cancellable)
{
  GPollFD fds[2] = {{.fd = job->done_fd, .events = G_IO_IN}};
  guint n_fds = cancellable != NULL && g_cancellable_make_pollfd(cancellable, &fds[1]) ? 2 : 1;
  while (!atomic_load(&job->finished) && !g_cancellable_is_cancelled(cancellable)) {
    gint64 left_us = deadline_us - tide_now_us();
    if (left_us <= 0)
      break;
    gint64 left_ms = (left_us + TIDE_US_PER_MS - 1) / TIDE_US_PER_MS;
    (void)g_poll(fds, n_fds, (gint)MIN(left_ms, G_MAXINT)); /* an interruption is a turn of the loop */
  }
  if (n_fds == 2)
    g_cancellable_release_fd(cancellable);
  return atomic_load(&job->finished);
}

static TideGssContext *
result_of(Job *job, GError **error)
{
  TideGssContext *context = g_steal_pointer(&job->context);
  if (context == NULL)
    g_propagate_error(error, g_steal_pointer(&job->error));
  job_free(job);
  return context;
}

TideGssContext *
tide_kerberos_begin(const TideKerberosSituation *request, gint64 deadline_us, GCancellable *cancellable, GError **error)
{
  (void)tide_kerberos_reap();
  int done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (done_fd < 0) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT, "cannot authenticate to gateway '%s': %s", request->peer,
                g_strerror(errno));
    return NULL;
  }
  gint64 started_us = tide_now_us();
  Job *job = g_new0(Job, 1);
  job->kind = kind_of(request);
  job->context = tide_gss_context_new(request);
  job->done_fd = done_fd;
  job->thread = tide_thread_start("tide-kerberos", run_kerberos, job);
  if (wait_for(job, deadline_us, cancellable))
    return result_of(job, error);
  abandon(job);
  if (g_cancellable_is_cancelled(cancellable)) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CANCELLED, "the call to gateway '%s' was cancelled", request->peer);
    return NULL;
  }
  g_autofree char *text = tide_kerberos_silence_text(request, (deadline_us - started_us) / TIDE_US_PER_MS);
  g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_CONNECT, text);
  return NULL;
}
