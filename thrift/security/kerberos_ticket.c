#include "thrift/security/kerberos_ticket.h"

#include "util/clock.h"
#include "util/error.h"
#include "util/job.h"

#include <errno.h>
#include <krb5.h>

/* Requests for the same gateway, keytab, principal and cache. There is one per configured gateway; they live as long as
 * the process. */
typedef struct Kind {
  char *memory_cache;  /* owned; read-only */
  gboolean is_busy;    /* under lock: one of its attempts is in a Kerberos call */
  gboolean is_stale;   /* under lock: the gateway has refused the tickets in its cache */
  gint64 forgotten_us; /* under lock: when is_stale was last set; 0: never */
} Kind;

/* Limits requests to the KDC when a gateway refuses every ticket because it has another identity. */
#define FORGET_INTERVAL_US (60 * TIDE_US_PER_S)

typedef struct Attempt {
  Kind *kind;
  TideGssContext *context; /* owned */
  GError *error;           /* owned; NULL: the context has begun */
  gboolean is_abandoned;   /* under lock */
} Attempt;

static TideMutex lock = {PTHREAD_MUTEX_INITIALIZER};
static TideCond turn_changed = {PTHREAD_COND_INITIALIZER};
static GHashTable *kinds; /* under lock; (element-type utf8 Kind); created on first use, lives as long as the process */

/* ---- the attempt's thread ---- */

/* FALSE when the attempt was abandoned. */
static gboolean
wait_for_turn(Attempt *attempt, gboolean *ret_stale)
{
  tide_mutex_lock(&lock);
  while (attempt->kind->is_busy && !attempt->is_abandoned)
    tide_cond_wait(&turn_changed, &lock);
  gboolean is_wanted = !attempt->is_abandoned;
  if (is_wanted) {
    attempt->kind->is_busy = TRUE;
    *ret_stale = attempt->kind->is_stale;
    attempt->kind->is_stale = FALSE;
  }
  tide_mutex_unlock(&lock);
  return is_wanted;
}

static void
end_turn(const Attempt *attempt)
{
  tide_mutex_lock(&lock);
  attempt->kind->is_busy = FALSE;
  tide_cond_broadcast(&turn_changed);
  tide_mutex_unlock(&lock);
}

/* A cache that cannot be emptied does not exist. */
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
  Attempt *attempt = data;
  gboolean is_stale = FALSE;
  if (!wait_for_turn(attempt, &is_stale))
    return;
  if (is_stale)
    empty_cache(attempt->kind->memory_cache);
  if (!tide_gss_context_begin(attempt->context, attempt->kind->memory_cache, &attempt->error))
    g_clear_pointer(&attempt->context, tide_gss_context_free);
  end_turn(attempt);
}

static void
attempt_free(gpointer data)
{
  Attempt *attempt = data;
  tide_gss_context_free(attempt->context);
  g_clear_error(&attempt->error);
  g_free(attempt);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Attempt, attempt_free)

static TideJobKind attempts = {.thread_name = "tide-kerberos",
                               .run = run_kerberos,
                               .free_data = attempt_free,
                               .lock = {PTHREAD_MUTEX_INITIALIZER}};

/* ---- the waiting caller ---- */

guint
tide_kerberos_reap(void)
{
  return tide_job_reap(&attempts);
}

/* The attempt ends before its turn. */
static void
abandon(Attempt *attempt)
{
  tide_mutex_lock(&lock);
  attempt->is_abandoned = TRUE;
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
  gint64 now_us = tide_now_us();
  GHashTableIter at;
  gpointer value;
  tide_mutex_lock(&lock);
  g_hash_table_iter_init(&at, kinds);
  while (g_hash_table_iter_next(&at, NULL, &value)) {
    Kind *kind = value;
    if (strcmp(kind->memory_cache, refused) != 0 ||
        (kind->forgotten_us != 0 && now_us - kind->forgotten_us < FORGET_INTERVAL_US))
      continue;
    kind->forgotten_us = now_us;
    kind->is_stale = TRUE;
  }
  tide_mutex_unlock(&lock);
}

TideGssContext *
tide_kerberos_begin(const TideKerberosSituation *request, gint64 deadline_us, GCancellable *cancellable, GError **error)
{
  (void)tide_kerberos_reap();
  gint64 started_us = tide_now_us();
  Attempt *attempt = g_new0(Attempt, 1);
  attempt->kind = kind_of(request);
  attempt->context = tide_gss_context_new(request);
  TideJob *job = tide_job_start(&attempts, attempt);
  if (job == NULL) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONNECT, "cannot authenticate to gateway '%s': %s", request->peer,
                g_strerror(errno));
    return NULL;
  }
  if (tide_job_wait(job, deadline_us, cancellable)) {
    g_autoptr(Attempt) ended = tide_job_take(job);
    if (ended->error != NULL)
      g_propagate_error(error, g_steal_pointer(&ended->error));
    return g_steal_pointer(&ended->context);
  }
  abandon(attempt);
  tide_job_abandon(job);
  if (g_cancellable_is_cancelled(cancellable)) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CANCELLED, "the call to gateway '%s' was cancelled", request->peer);
    return NULL;
  }
  g_autofree char *text = tide_kerberos_silence_text(request, (deadline_us - started_us) / TIDE_US_PER_MS);
  g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_CONNECT, text);
  return NULL;
}
