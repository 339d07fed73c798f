/* What HBase's errors mean: the texts of real gateways and region servers (2.4, 2.5, 2.6), through the reader of
 * replies that shortens them. */
#include "gateway/failure_class.h"

#include "unit/reply_builder.h"
#include "unit/test_case.h"
#include "util/error.h"

#define SEQUENCE_ID 7

typedef enum CanRetry { ABSENT = -1, NO = 0, YES = 1 } CanRetry;

typedef struct Case {
  const char *text;
  CanRetry can_retry;
  TideOutcome wanted;
  gboolean certain;
} Case;

/* An outcome, and whether a row is at fault for certain. */
#define RETRY TIDE_OUTCOME_RETRY, FALSE
#define SUSPEND TIDE_OUTCOME_SUSPEND, FALSE
#define UNKNOWN TIDE_OUTCOME_UNKNOWN, FALSE
#define POISON TIDE_OUTCOME_POISON, FALSE
#define POISON_ROW TIDE_OUTCOME_POISON, TRUE

#define HBASE "org.apache.hadoop.hbase."
#define TRACE                                                                                                          \
  "\n\tat " HBASE "regionserver.RSRpcServices.mutate(RSRpcServices.java:2911)\n\tat java.base/java.lang.Thread.run\n"
#define SERVER "servers with issues: rs1.example.com,16020,1718040000000"

static const Case cases[] = {
    /* The region is elsewhere, busy, or its server gone. */
    {"Failed 5 actions: NotServingRegionException: 5 times, " SERVER, YES, RETRY},
    {"Failed 2 actions: " HBASE "RegionTooBusyException: Over memstore limit=512.0M, regionName=ab12, server=rs1" TRACE
     ": 2 times, " SERVER,
     YES, RETRY},
    {"Failed 1 action: RegionTooBusyException: 1 time, " SERVER, YES, RETRY},
    {"Failed 1 action: StoreTooBusy,M,h:1:Above parallelPutToStoreThreadLimit(10): 1 time, " SERVER, YES, RETRY},
    {"Failed 1 action: ConnectException: 1 time, " SERVER, ABSENT, RETRY},
    {"Failed 9 actions: " HBASE "regionserver.RegionServerStoppedException: Server rs1 stopping" TRACE
     ": 9 times, " SERVER,
     NO, RETRY},
    {"Failed 1 action: " HBASE "exceptions.RegionMovedException: Region moved to: hostname=rs2 port=16020" TRACE
     ": 1 time, " SERVER,
     YES, RETRY},
    {"Failed 1 action: java.io.IOException: java.lang.OutOfMemoryError: Java heap space: 1 time, " SERVER, YES, RETRY},
    /* K11: as HBase 2.6.1 wrote it while it was slow. */
    {"Failed 3 actions: Operation timeout exceeded during resolution of region locations, prior to executing any "
     "actions. "
     "Meta may be slow or operation timeout too short for batch size or retries.: 3 times, servers with issues: null",
     YES, RETRY},
    {HBASE "quotas.RpcThrottlingException: write size limit exceeded - wait 1sec, 200ms" TRACE, NO, RETRY},
    {HBASE "exceptions.FailedSanityCheckException: Requested row out of range for doMiniBatchMutation on HRegion T,,1",
     NO, RETRY},
    {"Failed 1 action: " HBASE "exceptions.FailedSanityCheckException: no row may be so" TRACE ": 1 time, " SERVER, YES,
     POISON},
    /* Words that it quotes, as of row keys, say nothing. */
    {"no answer for row 'Over memstore limit'", YES, UNKNOWN},
    {"Failed 1 action: no answer for row Cell[1: 1 time, " SERVER, YES, UNKNOWN},
    {"no answer for row 'Insufficient permissions'", NO, POISON},
    /* The table takes nothing. */
    {"Failed 1 action: nosuch: 1 time, servers with issues: null", YES, SUSPEND},
    {"Failed 1 action: plant:no.such-table_1: 1 time, servers with issues: null, ", YES, SUSPEND},
    {"nosuch", NO, SUSPEND}, /* of mutateRow */
    {"nosuch", ABSENT, SUSPEND},
    {HBASE "TableNotFoundException: nosuch", NO, SUSPEND},
    {"Failed 4 actions: METRIC is disabled.: 4 times, servers with issues: null", YES, SUSPEND},
    {HBASE "TableNotEnabledException: METRIC is disabled.", NO, SUSPEND},
    {"Failed 1 action: " HBASE "regionserver.NoSuchColumnFamilyException: Column family X does not exist in region "
     "T,,1718.ab. in table 'T', {NAME => 'M', VERSIONS => '1'}" TRACE ": 1 time, " SERVER,
     YES, SUSPEND},
    {HBASE "regionserver.NoSuchColumnFamilyException: Column family X does not exist in region T" TRACE, NO, SUSPEND},
    {HBASE "NamespaceNotFoundException: plant", NO, SUSPEND},
    {"Failed 2 actions: " HBASE "security.AccessDeniedException: Insufficient permissions (user=tide, scope=T, "
     "family=M:v, params=[table=T,family=M:v],action=WRITE)" TRACE ": 2 times, " SERVER,
     YES, SUSPEND},
    {"Thrift Server is in Read-only mode.", NO, SUSPEND},
    {"Failed 1 action: " HBASE "DoNotRetryIOException: region is read only" TRACE ": 1 time, " SERVER, YES, SUSPEND},
    /* A row is to blame. */
    {"Failed 1 action: " HBASE
     "DoNotRetryIOException: Cell[host1#1/M:v/1/Put/vlen=10485761/seqid=0] with size 10485800 "
     "exceeds limit of 10485760 bytes" TRACE ": 1 time, " SERVER,
     YES, POISON_ROW},
    {"Failed 1 action: " HBASE "DoNotRetryIOException: Cell with size 10485800 exceeds limit of 10485760 bytes" TRACE
     ": 1 time, " SERVER,
     YES, POISON_ROW},
    {"KeyValue size too large", ABSENT, POISON_ROW},
    {"java.lang.IllegalArgumentException: Row length 40000 is > 32767", NO, POISON},
    {"Row length 40000 is > 32767", NO, POISON_ROW},
    {HBASE "exceptions.FailedSanityCheckException: Timestamp for KV out of range {\"row\":\"h\"} (too.new=60000)", NO,
     POISON_ROW},
    /* Perhaps a row is to blame. */
    {"Failed 1 action: " HBASE "DoNotRetryIOException: java.lang.NullPointerException" TRACE ": 1 time, " SERVER, YES,
     POISON},
    {"Failed 1 action: " HBASE "DoNotRetryIOException: the coprocessor does not like it" TRACE ": 1 time, " SERVER, YES,
     POISON},
    {"Failed 1 action: com.example.RuleException: no" TRACE ": 1 time, " SERVER, YES, POISON},
    {"no reason that anybody knows", NO, POISON},
    /* Several ways at once. */
    {"Failed 3 actions: NotServingRegionException: 2 times, nosuch is disabled.: 1 time, servers with issues: null",
     YES, SUSPEND},
    {"Failed 3 actions: " HBASE "DoNotRetryIOException: Cell with size 9 exceeds limit of 8 bytes" TRACE
     ": 2 times, CallQueueTooBigException: 1 time, " SERVER,
     YES, RETRY},
    {"Failed 3 actions: " HBASE "DoNotRetryIOException: Cell with size 9 exceeds limit of 8 bytes" TRACE
     ": 2 times, " HBASE "DoNotRetryIOException: a rule" TRACE ": 1 time, " SERVER,
     YES, POISON},
    /* What stands in a row is no verdict on the table. */
    {"Failed 1 action: " HBASE "DoNotRetryIOException: Cell[TableNotFoundException: x is disabled./M:v] with size 9 "
     "exceeds limit of 8 bytes" TRACE ": 1 time, " SERVER,
     YES, POISON_ROW},
};

/* F8: the region server gave the gateway no answer, or nobody knows what its answer means: it may write the rows later.
 */
static const Case cases_in_doubt[] = {
    {"Failed 3 actions: CallTimeoutException: 3 times, " SERVER, YES, UNKNOWN},
    {"Failed 1 action: " HBASE "ipc.CallTimeoutException: Call to rs1:16020 failed: waitTime=10002ms" TRACE
     ": 1 time, " SERVER,
     YES, UNKNOWN},
    {"Failed 1 action: SocketTimeoutException: 1 time, " SERVER, ABSENT, UNKNOWN},
    {"Failed 1 action: java.net.SocketTimeoutException: callTimeout=60000, callDuration=60108: 1 time, " SERVER, YES,
     UNKNOWN},
    {"Failed 1 action: " HBASE "exceptions.TimeoutIOException: Failed to get sync result after 300000 ms" TRACE
     ": 1 time, " SERVER,
     YES, UNKNOWN},
    {"Failed 1 action: " HBASE "regionserver.wal.WALSyncTimeoutIOException: Failed to get sync result" TRACE
     ": 1 time, " SERVER,
     YES, UNKNOWN},
    {"Failed 1 action: ConnectionClosedException: 1 time, " SERVER, YES, UNKNOWN},
    {"Failed 1 action: IOException: 1 time, " SERVER, YES, UNKNOWN},
    {"Call id=17, waitTime=10002, rpcTimeout=10000", YES, UNKNOWN},
    {HBASE "client.RetriesExhaustedException: Can't get the location of table", YES, UNKNOWN},
    {"Failed after attempts=16, exceptions:\n2026-11-21T10:00:00Z, RpcRetryingCaller{globalStartTime=1, pause=100, "
     "maxAttempts=16}, " HBASE "NotServingRegionException: T,,1 is not online on rs1",
     YES, UNKNOWN},
    {"Failed 1 action: java.lang.IllegalStateException: closed: 1 time, " SERVER, YES, UNKNOWN},
    {"Failed 1 action: UnheardOfException: 1 time, " SERVER, YES, UNKNOWN},
    {"its disk is full", YES, UNKNOWN},
    {"its disk is full", ABSENT, UNKNOWN},
    {NULL, ABSENT, UNKNOWN},
    {"Failed 3 actions: ", YES, UNKNOWN},
    {"Failed to do anything", YES, UNKNOWN},
    /* Beside others it is what counts. */
    {"Failed 3 actions: nosuch is disabled.: 2 times, CallTimeoutException: 1 time, " SERVER, YES, UNKNOWN},
    {"Failed 3 actions: CallTimeoutException: 2 times, RegionTooBusyException: 1 time, " SERVER, YES, UNKNOWN},
    {"Failed 3 actions: " HBASE "DoNotRetryIOException: Cell with size 9 exceeds limit of 8 bytes" TRACE
     ": 2 times, CallTimeoutException: 1 time, " SERVER,
     YES, UNKNOWN},
};

static GError *
error_of_reply(const Case *item)
{
  Oracle *oracle = oracle_get(TIDE_WIRE_BINARY);
  ThriftProtocol *to = reply_begin(oracle, "putMultiple", T_REPLY, SEQUENCE_ID);
  reply_write_exception(to, 1, item->text, item->can_retry);
  TideReply reply = {TIDE_WIRE_BINARY, SEQUENCE_ID, reply_end(oracle), "putMultiple"};
  GError *error = NULL;
  g_assert_false(tide_reply_read_void(&reply, &error));
  g_prefix_error(&error, "gateway '%s': ", "gw1.example:9090"); /* as the client does */
  return error;
}

static void
assert_cases(const Case *items, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    g_autoptr(GError) error = error_of_reply(&items[i]);
    TideFailure failure = tide_failure_of(error);
    g_test_message("%s: %s", tide_outcomes[failure.outcome].name, error->message);
    g_assert_cmpstr(tide_outcomes[failure.outcome].name, ==, tide_outcomes[items[i].wanted].name);
    g_assert_cmpint(failure.is_certain, ==, items[i].certain);
    g_assert_true(failure.remedy != NULL || failure.outcome != TIDE_OUTCOME_SUSPEND);
  }
}

TEST("/failure-class/texts-of-hbase")
{
  assert_cases(cases, G_N_ELEMENTS(cases));
}

TEST("/failure-class/F8-timeouts-of-region-servers-are-in-doubt")
{
  assert_cases(cases_in_doubt, G_N_ELEMENTS(cases_in_doubt));
}

/* Of an entry of refusals.ini, as the client has it. */
static GError *
error_of_entry(GKeyFile *refusals, const char *entry)
{
  g_autofree char *kind = g_key_file_get_string(refusals, entry, "kind", NULL);
  g_autofree char *text = g_key_file_get_string(refusals, entry, "text", NULL);
  g_assert_nonnull(kind);
  if (strcmp(kind, "closed") == 0)
    return g_error_new_literal(TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST, "closed");
  if (strcmp(kind, "silent") == 0)
    return g_error_new_literal(TIDE_ERROR, TIDE_ERROR_TIMEOUT, "silent");
  if (strcmp(kind, "TIOError") == 0) {
    Case item = {.text = text, .can_retry = ABSENT};
    if (g_key_file_has_key(refusals, entry, "can_retry", NULL))
      item.can_retry = g_key_file_get_boolean(refusals, entry, "can_retry", NULL) ? YES : NO;
    return error_of_reply(&item);
  }
  g_assert_cmpstr(kind, ==, "TApplicationException");
  gint32 type = g_key_file_get_integer(refusals, entry, "type", NULL);
  Oracle *oracle = oracle_get(TIDE_WIRE_BINARY);
  TideReply reply = {TIDE_WIRE_BINARY, SEQUENCE_ID,
                     reply_application_exception(oracle, "putMultiple", SEQUENCE_ID, text, type), "putMultiple"};
  GError *error = NULL;
  g_assert_false(tide_reply_read_void(&reply, &error));
  return error;
}

static void
assert_entry(GKeyFile *refusals, const char *entry)
{
  g_autofree char *wanted = g_key_file_get_string(refusals, entry, "outcome", NULL);
  g_autofree char *remedy = g_key_file_get_string(refusals, entry, "remedy", NULL);
  g_autoptr(GError) error = error_of_entry(refusals, entry);
  TideFailure failure = tide_failure_of(error);
  g_test_message("%s: %s: %s", entry, tide_outcomes[failure.outcome].name, error->message);
  g_assert_cmpstr(tide_outcomes[failure.outcome].name, ==, wanted);
  g_assert_cmpint(failure.is_certain, ==, g_key_file_get_boolean(refusals, entry, "certain", NULL));
  g_assert_cmpint(failure.is_for_size, ==, g_key_file_get_boolean(refusals, entry, "for_size", NULL));
  if (remedy != NULL)
    g_assert_nonnull(strstr(failure.remedy != NULL ? failure.remedy : "none", remedy));
}

/* K11: all that HBase 2.6.1 and its gateways were brought to say (tests/stack/refusals.py). */
TEST("/failure-class/K11-refusals-of-real-peers")
{
  g_autoptr(GKeyFile) refusals = g_key_file_new();
  g_autoptr(GError) error = NULL;
  (void)g_key_file_load_from_file(refusals, TIDE_REFUSALS, G_KEY_FILE_NONE, &error);
  g_assert_no_error(error);
  gsize n_entries;
  g_auto(GStrv) entries = g_key_file_get_groups(refusals, &n_entries);
  g_assert_cmpuint(n_entries, >, 50);
  for (gsize i = 0; i < n_entries; i++)
    assert_entry(refusals, entries[i]);
}

TEST("/failure-class/kinds-of-errors")
{
  static const struct {
    TideErrorCode code;
    TideOutcome wanted;
  } kinds[] = {
      {TIDE_ERROR_CONNECT, TIDE_OUTCOME_NOT_SENT},        {TIDE_ERROR_TIMEOUT, TIDE_OUTCOME_UNKNOWN},
      {TIDE_ERROR_CONNECTION_LOST, TIDE_OUTCOME_UNKNOWN}, {TIDE_ERROR_PROTOCOL, TIDE_OUTCOME_UNKNOWN},
      {TIDE_ERROR_SERVER_FAILED, TIDE_OUTCOME_UNKNOWN},   {TIDE_ERROR_CANCELLED, TIDE_OUTCOME_UNKNOWN},
      {TIDE_ERROR_WRONG_SERVICE, TIDE_OUTCOME_RETRY},     {TIDE_ERROR_APPLICATION, TIDE_OUTCOME_POISON},
      {TIDE_ERROR_TOO_BIG, TIDE_OUTCOME_POISON},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++) {
    /* Whatever the text says. */
    g_autoptr(GError) error = g_error_new(TIDE_ERROR, (gint)kinds[i].code, "TableNotFoundException: x");
    g_assert_cmpint(tide_failure_of(error).outcome, ==, kinds[i].wanted);
    g_assert_false(tide_failure_of(error).is_certain);
    g_assert_cmpint(tide_failure_of(error).is_for_size, ==, kinds[i].code == TIDE_ERROR_TOO_BIG);
  }
  g_assert_cmpint(tide_failure_of(NULL).outcome, ==, TIDE_OUTCOME_OK);
}
