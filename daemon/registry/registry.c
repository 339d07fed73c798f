#include "registry/registry.h"

#include "decode/avro_schema.h"
#include "registry/registry_reply.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/lock.h"
#include "util/log.h"

#include <curl/curl.h>
#include <stdatomic.h>

/* The reply contains the schema as a JSON string with escaped quotes. */
#define REPLY_MAX_BYTES (2 * (gsize)TIDE_AVRO_SCHEMA_MAX_BYTES)

#define CONNECT_TIMEOUT_MS 5000L
#define TIMEOUT_MS 10000L
#define WAIT_US (10 * TIDE_US_PER_S)
#define MISSING_US (60 * TIDE_US_PER_S)

/* Different reasons for unusable schemas; each stays in memory. */
#define MAX_TEXTS 1000u
#define RETRY_MIN_US (TIDE_US_PER_S / 4)
#define RETRY_MAX_US (5 * TIDE_US_PER_S)
#define LOG_INTERVAL_US (60 * TIDE_US_PER_S)

/* Nonexistent numbers come from bytes that are not schema ids: beyond this number all are forgotten at once. */
#define MAX_MISSING 10000u

/* Ids are signed 32-bit integers in the registry's API. It is not asked for others, because it would report them as
 * malformed rather than missing (Apicurio 2.6: 404 with code 0), and their partition would wait forever. */
#define MAX_ID ((guint32)G_MAXINT32)

/* The registry's error_code for a missing schema, subject or version. */
#define SCHEMA_NOT_FOUND 40403
#define SUBJECT_NOT_FOUND 40401
#define VERSION_NOT_FOUND 40402

/* Limits for referenced schemas, including indirect ones. */
#define MAX_REFERENCES 100u
#define MAX_REFERENCE_DEPTH 16u

typedef struct Entry {
  guint32 id;
  TideSchemaAnswer answer;
  const TideAvroSchema *schema; /* owned; with FOUND */
  const char *why;              /* interned; with NONE */
  gint64 until_us;              /* with NONE: when it is requested again; G_MAXINT64: never */
} Entry;

typedef struct Registry {
  TideSchemaSource source; /* the interface for other modules */
  const TideRegistrySettings *settings;
  TideMutex lock;
  TideCond changed;
  GHashTable *entries; /* under lock; owned: Map<id, Entry> */
  GQueue wanted;       /* under lock; borrowed entries */
  guint n_missing;     /* under lock */
  guint n_texts;       /* the thread's: number of distinct reasons */
  TideThread *thread;  /* under lock; NULL: nothing requested yet */
  char *trouble;       /* under lock; owned */
  guint32 trouble_id;  /* under lock: the schema whose request failed */
  gboolean waits;      /* under lock */
  atomic_bool stops;

  /* For the thread only. */
  CURL *easy;
  GString *body;
  char reason[CURL_ERROR_SIZE];
  gint64 backoff_us;
  TideLogLimit log_limit;
} Registry;

/* ---- one request ---- */

#define SET(registry, option, value) (void)curl_easy_setopt((registry)->easy, option, value)

static size_t
take_body(char *bytes, size_t size, size_t n, void *data)
{
  Registry *registry = data;
  if (registry->body->len + size * n > REPLY_MAX_BYTES)
    return 0;
  g_string_append_len(registry->body, bytes, (gssize)(size * n));
  return size * n;
}

static int
is_stopped(void *data, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up)
{
  return atomic_load(&((Registry *)data)->stops) ? 1 : 0;
}

static gboolean
set_credentials(Registry *registry, GError **error)
{
  const TideRegistrySettings *settings = registry->settings;
  if (settings->user == NULL)
    return TRUE;
  char *password = tide_secret_read(&settings->password, error);
  if (password == NULL)
    return FALSE;
  SET(registry, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
  SET(registry, CURLOPT_USERNAME, settings->user);
  SET(registry, CURLOPT_PASSWORD, password);
  tide_secret_free(password); /* libcurl has a copy */
  return TRUE;
}

/* Requests @path. Returns FALSE if there was no answer. */
static gboolean
ask(Registry *registry, const char *path, long *ret_status, GError **error)
{
  g_autofree char *url = g_strconcat(registry->settings->url, path, NULL);
  g_string_truncate(registry->body, 0);
  registry->reason[0] = '\0';
  curl_easy_reset(registry->easy);
  SET(registry, CURLOPT_URL, url);
  SET(registry, CURLOPT_PROTOCOLS_STR, "http,https");
  SET(registry, CURLOPT_NOSIGNAL, 1L);
  SET(registry, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MS);
  SET(registry, CURLOPT_TIMEOUT_MS, TIMEOUT_MS);
  SET(registry, CURLOPT_ERRORBUFFER, registry->reason);
  SET(registry, CURLOPT_WRITEFUNCTION, take_body);
  SET(registry, CURLOPT_WRITEDATA, registry);
  SET(registry, CURLOPT_XFERINFOFUNCTION, is_stopped);
  SET(registry, CURLOPT_XFERINFODATA, registry);
  SET(registry, CURLOPT_NOPROGRESS, 0L);
  SET(registry, CURLOPT_PROXY, ""); /* ignores the environment: the password is for the registry only */
  if (registry->settings->ca != NULL) {
    SET(registry, CURLOPT_CAINFO, registry->settings->ca);
    SET(registry, CURLOPT_CAPATH, NULL); /* the system's would be accepted too */
  }
  if (!set_credentials(registry, error))
    return FALSE;
  CURLcode code = curl_easy_perform(registry->easy);
  (void)curl_easy_getinfo(registry->easy, CURLINFO_RESPONSE_CODE, ret_status);
  if (code == CURLE_OK)
    return TRUE;
  if (code == CURLE_WRITE_ERROR)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_PROTOCOL, "the answer exceeds %" G_GSIZE_FORMAT " bytes",
                REPLY_MAX_BYTES);
  else
    g_set_error(
        error, TIDE_ERROR, TIDE_ERROR_CONNECT, "%s: %s",
        registry->reason[0] != '\0' ? registry->reason : curl_easy_strerror(code),
        code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE
            ? "check 'readings.registry.ca', and that the certificate is for the host in 'readings.registry.url'"
        : code == CURLE_SSL_CONNECT_ERROR ? "check if the port in 'readings.registry.url' uses TLS"
                                          : "check 'readings.registry.url', and that the registry is running there");
  return FALSE;
}

static TideBytes
body_of(const Registry *registry)
{
  return tide_bytes(registry->body->str, registry->body->len);
}

/* The text of the schema in the answer. (transfer full) (nullable): NULL with @error. */
static char *
answered_schema(const Registry *registry, gboolean *ret_is_avro, GError **error)
{
  char *text = tide_registry_reply_schema(body_of(registry), ret_is_avro);
  if (text == NULL)
    g_set_error_literal(
        error, TIDE_ERROR, TIDE_ERROR_WRONG_SERVICE,
        "its answer is not a schema in JSON: check that 'readings.registry.url' is that of a schema registry");
  return text;
}

/* Whether the registry has answered that the schema does not exist. */
static gboolean
is_not_found(const Registry *registry, long status)
{
  return status == 404 && tide_registry_reply_error_code(body_of(registry)) == SCHEMA_NOT_FOUND;
}

/* Sets @error for an answer without information about the schema. Returns FALSE. */
static gboolean
fault_of_status(long status, GError **error)
{
  if (status == 401 || status == 403)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_GATEWAY,
                "it answered with status %ld: check 'readings.registry.user' and 'password'", status);
  else
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_GATEWAY, "it answered with status %ld%s", status,
                status == 404 ? ", but does not report the schema as missing: check 'readings.registry.url'" : "");
  return FALSE;
}

/* ---- references ---- */

/* The schemas that one refers to, each after its own references. Of two with the same name the first one counts, as in
 * Confluent's registry. */
typedef struct References {
  GHashTable *is_read; /* Map<name, gboolean>: FALSE while its own references are being read */
  GPtrArray *texts;    /* (element-type char *) */
  gsize bytes;
} References;

static gboolean
ask_for_reference(Registry *registry, const TideRegistryReference *reference, char **ret_text, GError **error)
{
  long status = 0;
  gboolean is_avro;
  g_autofree char *subject = g_uri_escape_string(reference->subject, NULL, FALSE);
  g_autofree char *path = g_strdup_printf("/subjects/%s/versions/%" G_GINT64_FORMAT, subject, reference->version);
  if (!ask(registry, path, &status, error))
    return FALSE;
  gint64 code = tide_registry_reply_error_code(body_of(registry));
  if (status == 404 && (code == SUBJECT_NOT_FOUND || code == VERSION_NOT_FOUND || code == SCHEMA_NOT_FOUND))
    return tide_fail(error, TIDE_ERROR_DATA,
                     "it refers to version %" G_GINT64_FORMAT " of '%s', which the schema registry does not have",
                     reference->version, reference->subject);
  if (status != 200)
    return fault_of_status(status, error);
  *ret_text = answered_schema(registry, &is_avro, error);
  if (*ret_text == NULL)
    return FALSE;
  return is_avro ||
         tide_fail(error, TIDE_ERROR_DATA, "it refers to '%s', which is not an Avro schema", reference->subject);
}

/* Adds the references in @of, recursively. Errors: DATA: the schema is unusable; others: a request failed. */
static gboolean
add_references(Registry *registry, const GArray *of, guint depth, References *references, GError **error)
{
  for (guint i = 0; i < of->len; i++) {
    const TideRegistryReference *reference = &g_array_index(of, TideRegistryReference, i);
    gpointer is_read;
    if (g_hash_table_lookup_extended(references->is_read, reference->name, NULL, &is_read)) {
      if (!GPOINTER_TO_INT(is_read))
        return tide_fail(error, TIDE_ERROR_DATA, "its references form a cycle through '%s'", reference->name);
      continue;
    }
    if (depth >= MAX_REFERENCE_DEPTH || g_hash_table_size(references->is_read) >= MAX_REFERENCES)
      return tide_fail(error, TIDE_ERROR_DATA,
                       "it refers to more than %u other schemas, or through more than %u levels", MAX_REFERENCES,
                       MAX_REFERENCE_DEPTH);
    g_hash_table_insert(references->is_read, g_strdup(reference->name), GINT_TO_POINTER(FALSE));
    g_autofree char *text = NULL;
    if (!ask_for_reference(registry, reference, &text, error))
      return FALSE;
    if ((references->bytes += strlen(text)) > TIDE_AVRO_SCHEMA_MAX_BYTES)
      return tide_fail(error, TIDE_ERROR_DATA, "the schemas that it refers to exceed %d bytes",
                       TIDE_AVRO_SCHEMA_MAX_BYTES);
    g_autoptr(GArray) its = tide_registry_reply_references(body_of(registry));
    if (!add_references(registry, its, depth + 1, references, error))
      return FALSE;
    g_ptr_array_add(references->texts, g_steal_pointer(&text));
    g_hash_table_insert(references->is_read, g_strdup(reference->name), GINT_TO_POINTER(TRUE));
  }
  return TRUE;
}

/* ---- evaluating an answer ---- */

static void
answer_none(Entry *entry, gint64 until_us, const char *why)
{
  entry->answer = TIDE_SCHEMA_NONE;
  entry->until_us = until_us;
  entry->why = why;
}

/* Answers that a schema cannot be used; it is requested again later, since missing references may be added. @text stays
 * in memory for the life of the process, because others read it without the lock. Its number is limited, since bad
 * schemas may cause many different texts. */
static void
answer_unusable(Registry *registry, Entry *entry, const char *text)
{
  gboolean is_too_many = g_quark_try_string(text) == 0 && registry->n_texts++ >= MAX_TEXTS;
  answer_none(entry, tide_now_us() + MISSING_US,
              is_too_many ? "the schema that it names cannot be used; the reason is omitted after too many others"
                          : g_intern_string(text));
}

/* Requests the schema of @entry. Returns FALSE if the request failed. */
static gboolean
ask_for_schema(Registry *registry, Entry *entry, GError **error)
{
  long status = 0;
  g_autofree char *path = g_strdup_printf("/schemas/ids/%u", entry->id);
  if (!ask(registry, path, &status, error))
    return FALSE;
  if (is_not_found(registry, status)) {
    answer_none(entry, tide_now_us() + MISSING_US,
                "the schema registry has no schema with the number before the value");
    return TRUE;
  }
  if (status != 200)
    return fault_of_status(status, error);
  gboolean is_avro;
  g_autofree char *text = answered_schema(registry, &is_avro, error);
  if (text == NULL)
    return FALSE;
  if (!is_avro) {
    answer_none(entry, G_MAXINT64, "the schema that it names is not an Avro schema");
    return TRUE;
  }
  g_autoptr(GError) fault = NULL;
  g_autoptr(GArray) of = tide_registry_reply_references(body_of(registry));
  References references = {g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                           g_ptr_array_new_with_free_func(g_free), 0};
  entry->answer = TIDE_SCHEMA_FOUND;
  if (add_references(registry, of, 0, &references, &fault))
    entry->schema = tide_avro_schema_new_with(tide_bytes_of_string(text), references.texts, &fault);
  g_hash_table_unref(references.is_read);
  g_ptr_array_unref(references.texts);
  if (g_error_matches(fault, TIDE_ERROR, TIDE_ERROR_DATA))
    answer_unusable(registry, entry, fault->message);
  else if (fault != NULL)
    g_propagate_error(error, g_steal_pointer(&fault));
  return *error == NULL;
}

/* ---- the thread ---- */

static void
report_trouble(Registry *registry, guint32 id, const char *why)
{
  guint64 suppressed;
  g_free(registry->trouble);
  registry->trouble =
      g_strdup_printf("%s; 'curl %s/schemas/ids/%u' asks the registry for it", why, registry->settings->url, id);
  registry->trouble_id = id;
  tide_mutex_unlock(&registry->lock);
  if (tide_log_limit_pass(&registry->log_limit, tide_now_us(), LOG_INTERVAL_US, &suppressed))
    tide_log(TIDE_LOG_WARNING, "registry-down",
             "cannot query the schema registry '%s' for schema %u: %s; partitions that need it wait; retrying",
             registry->settings->url, id, why);
  tide_mutex_lock(&registry->lock);
}

/* Schemas are requested in turn. When the one that failed last succeeds, all others have succeeded in between. */
static void
report_recovery(Registry *registry, guint32 id)
{
  if (registry->trouble == NULL || registry->trouble_id != id)
    return;
  g_clear_pointer(&registry->trouble, g_free);
  registry->log_limit = (TideLogLimit){0};
  tide_mutex_unlock(&registry->lock);
  tide_log(TIDE_LOG_NOTICE, "registry-up", "the schema registry '%s' answers again", registry->settings->url);
  tide_mutex_lock(&registry->lock);
}

/* Makes one request and handles the result. Called under the lock, which is released meanwhile. */
static void
ask_next(Registry *registry, Entry *entry)
{
  g_autoptr(GError) error = NULL;
  Entry found = *entry;
  tide_mutex_unlock(&registry->lock);
  gboolean good = ask_for_schema(registry, &found, &error);
  tide_mutex_lock(&registry->lock);
  if (atomic_load(&registry->stops))
    return;
  (void)g_queue_pop_head(&registry->wanted);
  if (!good) {
    g_queue_push_tail(&registry->wanted, entry); /* other requests may succeed */
    report_trouble(registry, found.id, error->message);
    registry->backoff_us = CLAMP(registry->backoff_us * 2, RETRY_MIN_US, RETRY_MAX_US);
    gint64 until_us = tide_now_us() + registry->backoff_us;
    while (!atomic_load(&registry->stops) && tide_cond_wait_until(&registry->changed, &registry->lock, until_us))
      ;
    return;
  }
  *entry = found;
  registry->n_missing += found.answer == TIDE_SCHEMA_NONE;
  registry->backoff_us = 0;
  report_recovery(registry, found.id);
  tide_cond_broadcast(&registry->changed);
}

static void
run(gpointer data)
{
  Registry *registry = data;
  tide_mutex_lock(&registry->lock);
  while (!atomic_load(&registry->stops)) {
    Entry *entry = g_queue_peek_head(&registry->wanted);
    if (entry != NULL)
      ask_next(registry, entry);
    else
      tide_cond_wait(&registry->changed, &registry->lock);
  }
  tide_mutex_unlock(&registry->lock);
}

/* ---- lookups ---- */

static gboolean
is_missing(gpointer id, gpointer entry, gpointer data)
{
  return ((const Entry *)entry)->answer == TIDE_SCHEMA_NONE;
}

/* The entry of @id, which is requested if it was not, or not recently. */
static Entry *
entry_of(Registry *registry, guint32 id)
{
  Entry *entry = g_hash_table_lookup(registry->entries, GUINT_TO_POINTER(id));
  if (entry != NULL && (entry->answer != TIDE_SCHEMA_NONE || entry->until_us > tide_now_us()))
    return entry;
  if (entry == NULL && registry->n_missing > MAX_MISSING) {
    (void)g_hash_table_foreach_remove(registry->entries, is_missing, NULL);
    registry->n_missing = 0;
  }
  if (entry == NULL) {
    entry = g_new0(Entry, 1);
    g_hash_table_insert(registry->entries, GUINT_TO_POINTER(id), entry);
  } else
    registry->n_missing--;
  *entry = (Entry){.id = id, .answer = TIDE_SCHEMA_AWAITED};
  g_queue_push_tail(&registry->wanted, entry);
  if (registry->thread == NULL)
    registry->thread = tide_thread_start("tide-registry", run, registry);
  tide_cond_broadcast(&registry->changed);
  return entry;
}

static TideSchemaAnswer
find(TideSchemaSource *source, guint32 id, const TideAvroSchema **ret_schema, const char **ret_why)
{
  Registry *registry = (Registry *)source;
  gint64 until_us = tide_now_us() + WAIT_US;
  if (id > MAX_ID) {
    *ret_schema = NULL;
    *ret_why = "the number before the value is not a schema's: a registry has none above 2147483647";
    return TIDE_SCHEMA_NONE;
  }
  tide_mutex_lock(&registry->lock);
  Entry *entry = entry_of(registry, id);
  while (registry->waits && entry->answer == TIDE_SCHEMA_AWAITED &&
         tide_cond_wait_until(&registry->changed, &registry->lock, until_us))
    entry = entry_of(registry, id); /* it may have been forgotten meanwhile */
  TideSchemaAnswer answer = entry->answer;
  *ret_schema = entry->schema;
  *ret_why = entry->why;
  if (registry->waits && answer == TIDE_SCHEMA_AWAITED) {
    answer = TIDE_SCHEMA_NONE;
    *ret_why = "its schema is unknown, because the schema registry does not answer";
  }
  tide_mutex_unlock(&registry->lock);
  return answer;
}

gboolean
tide_registry_try(const TideRegistrySettings *settings, gboolean *ret_is_forbidden, GError **error)
{
  TideSchemaSource *source = tide_registry_new(settings);
  Registry *registry = (Registry *)source;
  long status = 0;
  gboolean is_avro, good = ask(registry, "/schemas/ids/1", &status, error);
  /* A registry that denies this schema knows the user, and may permit others. A proxy's own page has no error code. */
  *ret_is_forbidden = good && status == 403 && tide_registry_reply_error_code(body_of(registry)) != 0;
  if (good && status == 200) {
    g_autofree char *text = answered_schema(registry, &is_avro, error);
    good = text != NULL;
  } else if (good && !*ret_is_forbidden && !is_not_found(registry, status))
    good = fault_of_status(status, error);
  tide_registry_free(source);
  return good;
}

void
tide_registry_set_waiting(TideSchemaSource *source, gboolean waits)
{
  Registry *registry = (Registry *)source;
  tide_mutex_lock(&registry->lock);
  registry->waits = waits;
  tide_mutex_unlock(&registry->lock);
}

char *
tide_registry_trouble(TideSchemaSource *source)
{
  Registry *registry = (Registry *)source;
  tide_mutex_lock(&registry->lock);
  char *trouble = g_strdup(registry->trouble);
  tide_mutex_unlock(&registry->lock);
  return trouble;
}

/* ---- life ---- */

static void
free_entry(gpointer data)
{
  Entry *entry = data;
  tide_avro_schema_free(entry->schema);
  g_free(entry);
}

TideSchemaSource *
tide_registry_new(const TideRegistrySettings *settings)
{
  Registry *registry = g_new0(Registry, 1);
  registry->source.find = find;
  registry->settings = settings;
  tide_mutex_init(&registry->lock);
  tide_cond_init(&registry->changed);
  registry->entries = g_hash_table_new_full(NULL, NULL, NULL, free_entry);
  registry->waits = TRUE;
  registry->body = g_string_new(NULL);
  registry->easy = curl_easy_init();
  if (registry->easy == NULL)
    g_error("libcurl cannot be used");
  return &registry->source;
}

void
tide_registry_free(TideSchemaSource *source)
{
  Registry *registry = (Registry *)source;
  if (registry == NULL)
    return;
  tide_mutex_lock(&registry->lock);
  atomic_store(&registry->stops, TRUE);
  tide_cond_broadcast(&registry->changed);
  tide_mutex_unlock(&registry->lock);
  tide_thread_join(registry->thread);
  curl_easy_cleanup(registry->easy);
  g_string_free(registry->body, TRUE);
  g_queue_clear(&registry->wanted);
  g_hash_table_unref(registry->entries);
  g_free(registry->trouble);
  tide_cond_clear(&registry->changed);
  tide_mutex_clear(&registry->lock);
  g_free(registry);
}
