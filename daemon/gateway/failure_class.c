#include "gateway/failure_class.h"

#include "util/error.h"

#include <string.h>

static const char remedy_missing[] = "create the table with: tidemark tables create";
static const char remedy_disabled[] = "enable the table in the HBase shell with: enable '" TIDE_REMEDY_TABLE "'";
/* A putMultiple on a disabled table only reports that no server has its regions. */
static const char remedy_perhaps_disabled[] = "if this persists, check if the table is enabled";
static const char remedy_family[] =
    "add the column family in the HBase shell with: alter '" TIDE_REMEDY_TABLE "', 'FAMILY'";
static const char remedy_namespace[] = "create the namespace in the HBase shell with: create_namespace 'NAME'";
static const char remedy_access[] =
    "grant the gateway's user write access to the table, in the HBase shell with: grant";
static const char remedy_quota[] = "raise the table's space quota, or delete data from it";
static const char remedy_throttled[] =
    "HBase throttles the request: check for a quota in the HBase shell, with: list_quotas";
static const char remedy_nameless[] = "the region server's log has the cause; if calls have too many rows "
                                      "(hbase.rpc.rows.size.threshold.reject), lower 'batch.max_rows' and restart";
static const char remedy_unreached[] = "the gateway's log shows why its attempts to reach HBase failed: a server, "
                                       "ZooKeeper, hbase:meta, a Kerberos ticket";
static const char remedy_read_only[] = "end the read-only mode of the gateway or of the table";

/* Meaning of an exception's name, or of the beginning of its message. */
typedef struct FailureText {
  const char *text;
  TideFailure failure;
} FailureText;

#define RETRY                                                                                                          \
  {                                                                                                                    \
    .outcome = TIDE_OUTCOME_RETRY                                                                                      \
  }
#define RETRY_BUT(text)                                                                                                \
  {                                                                                                                    \
    .outcome = TIDE_OUTCOME_RETRY, .remedy = text                                                                      \
  }
/* The gateway got no answer from the region server, which may still execute the call. */
#define IN_DOUBT                                                                                                       \
  {                                                                                                                    \
    .outcome = TIDE_OUTCOME_UNKNOWN                                                                                    \
  }
#define IN_DOUBT_BUT(text)                                                                                             \
  {                                                                                                                    \
    .outcome = TIDE_OUTCOME_UNKNOWN, .remedy = text                                                                    \
  }
#define SUSPEND(text)                                                                                                  \
  {                                                                                                                    \
    .outcome = TIDE_OUTCOME_SUSPEND, .remedy = text                                                                    \
  }
#define POISON                                                                                                         \
  {                                                                                                                    \
    .outcome = TIDE_OUTCOME_POISON, .is_certain = TRUE                                                                 \
  }
/* The region server refused the whole call, but may accept parts of it. */
#define TOO_LARGE                                                                                                      \
  {                                                                                                                    \
    .outcome = TIDE_OUTCOME_POISON, .is_for_size = TRUE                                                                \
  }
#define SUSPECT                                                                                                        \
  {                                                                                                                    \
    .outcome = TIDE_OUTCOME_POISON                                                                                     \
  }

/* Java classes, without packages. RETRY: the region server did not begin, or has ended. For other names see
 * of_unknown_name(). */
static const FailureText exceptions[] = {
    {"TableNotFoundException", SUSPEND(remedy_missing)},
    {"TableNotEnabledException", SUSPEND(remedy_disabled)},
    {"NoSuchColumnFamilyException", SUSPEND(remedy_family)},
    {"InvalidFamilyOperationException", SUSPEND(remedy_family)},
    {"NamespaceNotFoundException", SUSPEND(remedy_namespace)},
    {"AccessDeniedException", SUSPEND(remedy_access)},
    {"AccessControlException", SUSPEND(remedy_access)},
    {"SpaceLimitingException", SUSPEND(remedy_quota)},
    {"QuotaExceededException", SUSPEND(remedy_quota)},
    /* These are DoNotRetryIOExceptions but temporary all the same. */
    {"RegionServerStoppedException", RETRY},
    {"RegionServerAbortedException", RETRY},
    {"RpcThrottlingException", RETRY_BUT(remedy_throttled)},
    {"ThrottlingException", RETRY_BUT(remedy_throttled)},
    {"MergeRegionException", RETRY},
    {"DoNotRetryRegionException", RETRY},
    {"RegionOfflineException", RETRY},
    {"WrongRegionException", RETRY},
    {"NotServingRegionException", RETRY_BUT(remedy_perhaps_disabled)},
    {"RegionMovedException", RETRY},
    {"RegionOpeningException", RETRY},
    {"RegionTooBusyException", RETRY},
    {"CallQueueTooBigException", RETRY},
    {"CallDroppedException", RETRY},
    {"ServerNotRunningYetException", RETRY},
    {"NoServerForRegionException", RETRY},
    {"FailedServerException", RETRY},
    {"ConnectException", RETRY}, /* nothing was sent */
    {"NoRouteToHostException", RETRY},
    {"UnknownHostException", RETRY},
    {"SaslException", RETRY_BUT(remedy_unreached)}, /* the gateway's own ticket, for region servers it knows */
    {"StoppedRpcClientException", RETRY},
    {"DroppedSnapshotException", RETRY},
    {"OutOfMemoryError", RETRY},
    {"CallTimeoutException", IN_DOUBT},
    {"SocketTimeoutException", IN_DOUBT},
    {"TimeoutException", IN_DOUBT},
    {"TimeoutIOException", IN_DOUBT},
    {"WALSyncTimeoutIOException", IN_DOUBT},
    {"RetriesExhaustedException", IN_DOUBT_BUT(remedy_unreached)},
    {"RetriesExhaustedWithDetailsException", IN_DOUBT},
    {"RequestTooBigException", TOO_LARGE},
    {"ConstraintException", SUSPECT},
    {"IllegalArgumentException", SUSPECT},
    {"NullPointerException", SUSPECT},
    {"UnsupportedOperationException", SUSPECT},
};

/* Messages without a class name, by their beginning: the client's own, and those of nameless wrappers. */
static const FailureText messages[] = {
    {"Failed after attempts=", IN_DOUBT},                 /* any of them may have timed out */
    {"Backoff time of ", IN_DOUBT_BUT(remedy_throttled)}, /* ... 7200000ms would exceed operation timeout */
    /* ... prior to executing any actions. */
    {"Operation timeout exceeded during resolution of region locations", RETRY_BUT(remedy_unreached)},
    {"Over memstore limit", RETRY},
    {"StoreTooBusy", RETRY},
    {"Region moved to", RETRY},
    {"Run out of memory", RETRY},
    {"Call id=", IN_DOUBT},                /* ... waitTime=10002, rpcTimeout=10000 */
    {"Requested row out of range", RETRY}, /* the map of regions is stale */
    {"Insufficient permissions", SUSPEND(remedy_access)},
    /* Space quotas, by policy: "NO_INSERTS Puts are disallowed due to a space quota." The policy DISABLE disables the
     * table, and reports "DISABLE This table is disabled due to violating a space quota." meanwhile. */
    {"NO_INSERTS ", SUSPEND(remedy_quota)},
    {"NO_WRITES ", SUSPEND(remedy_quota)},
    {"NO_WRITES_COMPACTIONS ", SUSPEND(remedy_quota)},
    {"DISABLE ", SUSPEND(remedy_quota)},
    {"Thrift Server is in Read-only mode", SUSPEND(remedy_read_only)},
    {"region is read only", SUSPEND(remedy_read_only)},
    {"KeyValue size too large", POISON},
    {"Cell with size ", POISON},
    {"Cell[", POISON},
    {"Row length ", POISON},
    {"Row buffer is null", POISON},
    {"Row can't be empty", POISON},
    {"No columns to insert", POISON},
    {"Family cannot be null", POISON},
    {"Timestamp cannot be negative", POISON},
    {"Timestamp for KV out of range", POISON}, /* hbase.hregion.keyvalue.timestamp.slop.millisecs */
    {"RPC data length of ", TOO_LARGE},        /* hbase.ipc.max.request.size */
    {"Internal error processing", SUSPECT},
};

/* Wrappers: only the wrapped message counts. */
static const char *const wrappers[] = {"DoNotRetryIOException",
                                       "IOException",
                                       "RemoteException",
                                       "RemoteWithExtrasException",
                                       "FailedSanityCheckException",
                                       "UncheckedIOException",
                                       NULL};

const TideOutcomeKind tide_outcomes[] = {
    [TIDE_OUTCOME_OK] = {.name = "ok"},
    [TIDE_OUTCOME_NOT_SENT] = {.name = "not_sent"},
    [TIDE_OUTCOME_RETRY] = {.name = "retry", .rank = 2, .is_lane_failure = TRUE, .is_often_passing = TRUE},
    [TIDE_OUTCOME_UNKNOWN] = {.name = "unknown", .rank = 4, .is_lane_failure = TRUE, .is_often_passing = TRUE},
    [TIDE_OUTCOME_SUSPEND] = {.name = "suspend", .rank = 3},
    [TIDE_OUTCOME_POISON] = {.name = "poison", .rank = 1, .is_lane_failure = TRUE}, /* a row is suspected so far */
};

/* Classifies a class that is not in the table. HBase's client retries temporary failures itself and then names only the
 * class, so a region server may still execute one of its attempts. A name with a package comes from code without
 * retries, such as coprocessors. */
static TideFailure
of_unknown_name(const char *qualified_name, gboolean for_good)
{
  gboolean is_javas = g_str_has_prefix(qualified_name, "java.");
  gboolean has_package = strchr(qualified_name, '.') != NULL;
  if (for_good || (has_package && !is_javas))
    return (TideFailure)SUSPECT;
  return strcmp(qualified_name, "IOException") == 0 ? (TideFailure)IN_DOUBT_BUT(remedy_nameless)
                                                    : (TideFailure)IN_DOUBT;
}

/* Classifies one failure: "org.apache.hadoop.hbase.RegionTooBusyException: Over memstore limit=...", a class name, or a
 * message. Only the beginning counts, since the rest may quote row keys, and so anything.
 * @for_good: the gateway reported the failure as permanent */
static TideFailure
of_member(const char *text, gboolean for_good)
{
  for (;;) {
    gsize name_len = strspn(text, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_.$");
    g_autofree char *qualified_name = g_strndup(text, name_len);
    if (!g_str_has_suffix(qualified_name, "Exception") && !g_str_has_suffix(qualified_name, "Error"))
      break;
    const char *dot = strrchr(qualified_name, '.');
    const char *name = dot != NULL ? dot + 1 : qualified_name;
    for (gsize i = 0; i < G_N_ELEMENTS(exceptions); i++)
      if (strcmp(name, exceptions[i].text) == 0)
        return exceptions[i].failure;
    const char *rest = text + name_len;
    if (!g_strv_contains(wrappers, name) || !g_str_has_prefix(rest, ": "))
      return of_unknown_name(qualified_name, for_good || strcmp(name, "DoNotRetryIOException") == 0);
    for_good =
        for_good || strcmp(name, "DoNotRetryIOException") == 0 || strcmp(name, "FailedSanityCheckException") == 0;
    text = rest + 2;
  }
  for (gsize i = 0; i < G_N_ELEMENTS(messages); i++)
    if (g_str_has_prefix(text, messages[i].text))
      return messages[i].failure;
  if (g_str_has_suffix(text, " is disabled.") || g_str_has_suffix(text, " is disabled"))
    return (TideFailure)SUSPEND(remedy_disabled);
  /* For a missing table HBase reports only the table's name: "METRIC" or "ns:METRIC". */
  if (*text != '\0' && strspn(text, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_.:-") == strlen(text) &&
      strcmp(text, "null") != 0)
    return (TideFailure)SUSPEND(remedy_missing);
  return for_good ? (TideFailure)SUSPECT : (TideFailure)IN_DOUBT;
}

static TideFailure
worse_of(TideFailure a, TideFailure b)
{
  TideFailure worse = tide_outcomes[b.outcome].rank > tide_outcomes[a.outcome].rank ? b : a;
  if (a.outcome == TIDE_OUTCOME_POISON && b.outcome == TIDE_OUTCOME_POISON)
    worse.is_certain = a.is_certain && b.is_certain;
  return worse;
}

/* Finds the count after an exception of a putMultiple: ": 2 times, ". Returns NULL if there is none. */
static const char *
find_count(const char *text, const char **ret_behind)
{
  for (const char *at = strstr(text, ": "); at != NULL; at = strstr(at + 1, ": ")) {
    gsize n_digits = strspn(at + 2, G_CSET_DIGITS);
    const char *unit = at + 2 + n_digits;
    if (n_digits == 0 || !g_str_has_prefix(unit, " time"))
      continue;
    const char *behind = unit + strlen(unit[5] == 's' ? " times" : " time");
    if (!g_str_has_prefix(behind, ", "))
      continue;
    *ret_behind = behind + 2;
    return at;
  }
  return NULL;
}

/* Classifies "A: 2 times, B: 1 time, servers with issues: host,16020,1 ", or its beginning if it was too long. */
static TideFailure
of_members(const char *text, gboolean for_good)
{
  TideFailure worst = {.outcome = TIDE_OUTCOME_OK};
  gboolean is_first = TRUE;
  while (*text != '\0' && !g_str_has_prefix(text, "servers with issues:")) {
    const char *behind = NULL;
    const char *end = find_count(text, &behind);
    g_autofree char *member = end != NULL ? g_strndup(text, (gsize)(end - text)) : g_strdup(text);
    TideFailure failure = of_member(g_strstrip(member), for_good);
    worst = is_first ? failure : worse_of(worst, failure);
    is_first = FALSE;
    text = end != NULL ? behind : "";
  }
  return is_first ? (TideFailure)IN_DOUBT : worst;
}

/* The client puts the gateway's name before each of its errors. */
static const char *
skip_gateway_name(const char *text)
{
  static const char before[] = "gateway '", behind[] = "': ";
  const char *end = g_str_has_prefix(text, before) ? strstr(text + sizeof before - 1, behind) : NULL;
  return end != NULL ? end + sizeof behind - 1 : text;
}

/* Skips the introduction that reply_reader.c adds to the gateway's message; it shows if canRetry was FALSE. */
static const char *
skip_introduction(const char *message, gboolean *ret_for_good)
{
  const char *text = skip_gateway_name(message);
  *ret_for_good = FALSE;
  if (!g_str_has_prefix(text, "the gateway "))
    return text;
  const char *method_end = strstr(text, "'");
  method_end = method_end != NULL ? strstr(method_end + 1, "'") : NULL;
  const char *words = method_end != NULL ? strstr(method_end, ": ") : NULL;
  if (words == NULL)
    return text;
  *ret_for_good = g_str_has_prefix(method_end + 1, " permanently: ");
  return words + 2;
}

static TideFailure
of_answer(const char *message)
{
  gboolean for_good;
  const char *text = skip_introduction(message, &for_good);
  if (!g_str_has_prefix(text, "Failed "))
    return of_member(text, for_good);
  gsize n_digits = strspn(text + strlen("Failed "), G_CSET_DIGITS);
  const char *unit = text + strlen("Failed ") + n_digits;
  const char *members = n_digits > 0 && g_str_has_prefix(unit, " action") ? strstr(unit, ": ") : NULL;
  return members != NULL ? of_members(members + 2, for_good) : of_member(text, for_good);
}

TideFailure
tide_failure_of(const GError *error)
{
  if (error == NULL)
    return (TideFailure){.outcome = TIDE_OUTCOME_OK};
  if (tide_error_outcome_unknown(error))
    return (TideFailure){.outcome = TIDE_OUTCOME_UNKNOWN};
  if (g_error_matches(error, TIDE_ERROR, TIDE_ERROR_CONNECT))
    return (TideFailure){.outcome = TIDE_OUTCOME_NOT_SENT};
  if (g_error_matches(error, TIDE_ERROR, TIDE_ERROR_GATEWAY))
    return of_answer(error->message);
  /* For a single row the limit may be wrong, which the success of other rows shows. */
  if (g_error_matches(error, TIDE_ERROR, TIDE_ERROR_TOO_BIG))
    return (TideFailure){.outcome = TIDE_OUTCOME_POISON, .is_for_size = TRUE};
  /* An unforeseen exception of the handler may be caused by a bad row or a broken gateway. */
  if (g_error_matches(error, TIDE_ERROR, TIDE_ERROR_APPLICATION))
    return (TideFailure){.outcome = TIDE_OUTCOME_POISON};
  return (TideFailure)RETRY;
}
