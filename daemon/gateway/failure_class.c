#include "gateway/failure_class.h"

#include "util/error.h"

#include <string.h>

static const char remedy_missing[] = "create the table with: tidemark tables create";
static const char remedy_disabled[] = "enable the table in the HBase shell with: enable '" TIDE_REMEDY_TABLE "'";
/* All that a putMultiple says of a disabled table is that nobody serves its regions. */
static const char remedy_perhaps_disabled[] = "if this lasts, see whether the table is enabled";
static const char remedy_family[] =
    "add the column family in the HBase shell with: alter '" TIDE_REMEDY_TABLE "', 'FAMILY'";
static const char remedy_namespace[] = "create the namespace in the HBase shell with: create_namespace 'NAME'";
static const char remedy_access[] = "let the gateway's user write the table, in the HBase shell with: grant";
static const char remedy_quota[] = "raise the table's space quota, or delete what it holds";
static const char remedy_throttled[] =
    "HBase asks for a wait: see in the HBase shell whether a quota is why, with: list_quotas";
static const char remedy_nameless[] = "the region server's log says why; where it is that a call has too many rows "
                                      "(hbase.rpc.rows.size.threshold.reject), lower 'batch.max_rows' and restart";
static const char remedy_unreached[] =
    "the gateway's own log says why its tries at HBase failed: a server, ZooKeeper, hbase:meta, a Kerberos ticket";
static const char remedy_read_only[] = "end the read-only mode of the gateway, or of the table";

/* What an exception's name or the begin of its message means. */
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
/* The gateway itself has no answer of the region server, which may still be at work on it. */
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
/* The region server's words on the whole of a call, part of which it may take. */
#define TOO_LARGE                                                                                                      \
  {                                                                                                                    \
    .outcome = TIDE_OUTCOME_POISON, .is_for_size = TRUE                                                                \
  }
#define SUSPECT                                                                                                        \
  {                                                                                                                    \
    .outcome = TIDE_OUTCOME_POISON                                                                                     \
  }

/* Java classes, without their packages. RETRY is of those that say that the region server did not begin, or has ended;
 * names that are not here: see of_unknown_name(). */
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
    /* These are of DoNotRetryIOException, and pass all the same. */
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
    {"SaslException", RETRY_BUT(remedy_unreached)}, /* of the gateway's own ticket, beside region servers it knows */
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

/* Messages without a name before them, by how they begin: the client's own, and those of nameless wrappers. */
static const FailureText messages[] = {
    {"Failed after attempts=", IN_DOUBT},                 /* of which any may have timed out */
    {"Backoff time of ", IN_DOUBT_BUT(remedy_throttled)}, /* ... 7200000ms would exceed operation timeout */
    /* ... prior to executing any actions. */
    {"Operation timeout exceeded during resolution of region locations", RETRY_BUT(remedy_unreached)},
    {"Over memstore limit", RETRY},
    {"StoreTooBusy", RETRY},
    {"Region moved to", RETRY},
    {"Run out of memory", RETRY},
    {"Call id=", IN_DOUBT},                /* ... waitTime=10002, rpcTimeout=10000 */
    {"Requested row out of range", RETRY}, /* by a stale map of regions */
    {"Insufficient permissions", SUSPEND(remedy_access)},
    /* Space quotas, by their policies: "NO_INSERTS Puts are disallowed due to a space quota." That of DISABLE disables
     * the table, and says "DISABLE This table is disabled due to violating a space quota." while it does so. */
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

/* Wrappers: what counts is what they say. */
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

/* A class that is not in the table. HBase's client tries again by itself whatever may pass, and then names only the
 * class: nobody knows whether a region server still works on one of its attempts. With its package it comes from where
 * nothing was tried again, as of coprocessors. */
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

/* One failure: "org.apache.hadoop.hbase.RegionTooBusyException: Over memstore limit=...", a name alone, or a message
 * alone. Only how it begins is looked at: what follows may quote row keys, and so anything.
 * @for_good: the gateway said that it is not worth trying again */
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
  /* All that HBase says of a table that is not there is the table's name: "METRIC" or "ns:METRIC". */
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

/* What the exceptions of a putMultiple are counted by: ": 2 times, " behind each. Returns NULL when none follows. */
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

/* "A: 2 times, B: 1 time, servers with issues: host,16020,1 " - or its begin, when it was too long. */
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

/* The client puts the name of its gateway in front of all that went wrong there. */
static const char *
skip_gateway_name(const char *text)
{
  static const char before[] = "gateway '", behind[] = "': ";
  const char *end = g_str_has_prefix(text, before) ? strstr(text + sizeof before - 1, behind) : NULL;
  return end != NULL ? end + sizeof behind - 1 : text;
}

/* The gateway's own words: what reply_reader.c puts before them says whether canRetry was FALSE. */
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
  /* Of each row alone it may be the limit that is wrong, which others' success shows. */
  if (g_error_matches(error, TIDE_ERROR, TIDE_ERROR_TOO_BIG))
    return (TideFailure){.outcome = TIDE_OUTCOME_POISON, .is_for_size = TRUE};
  /* An unforeseen exception of the handler: of a bad row as of a broken gateway. */
  if (g_error_matches(error, TIDE_ERROR, TIDE_ERROR_APPLICATION))
    return (TideFailure){.outcome = TIDE_OUTCOME_POISON};
  return (TideFailure)RETRY;
}
