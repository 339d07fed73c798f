#include "fault/gateway/scripted_fault.h"

#include "fault/gateway/fake_hbase_private.h"

struct TideActiveFault {
  _Atomic guint references;
  guint id;
  TideScriptedFault script; /* texts and bytes are owned copies */
  guint64 fitting;          /* under the lock of the list that holds it */
  guint64 hits;             /* likewise */
};

static const char *const call_names[TIDE_CALL_COUNT] = {
    [TIDE_CALL_ANY] = "any",
    [TIDE_CALL_GET_THRIFT_SERVER_TYPE] = "getThriftServerType",
    [TIDE_CALL_GET_CLUSTER_ID] = "getClusterId",
    [TIDE_CALL_EXISTS] = "exists",
    [TIDE_CALL_GET] = "get",
    [TIDE_CALL_GET_MULTIPLE] = "getMultiple",
    [TIDE_CALL_PUT_MULTIPLE] = "putMultiple",
    [TIDE_CALL_CHECK_AND_PUT] = "checkAndPut",
    [TIDE_CALL_MUTATE_ROW] = "mutateRow",
    [TIDE_CALL_OPEN_SCANNER] = "openScanner",
    [TIDE_CALL_GET_SCANNER_ROWS] = "getScannerRows",
    [TIDE_CALL_CLOSE_SCANNER] = "closeScanner",
    [TIDE_CALL_GET_ALL_REGION_LOCATIONS] = "getAllRegionLocations",
    [TIDE_CALL_TABLE_EXISTS] = "tableExists",
    [TIDE_CALL_GET_TABLE_DESCRIPTOR] = "getTableDescriptor",
    [TIDE_CALL_IS_TABLE_ENABLED] = "isTableEnabled",
    [TIDE_CALL_CREATE_TABLE] = "createTable",
    [TIDE_CALL_DISABLE_TABLE] = "disableTable",
    [TIDE_CALL_ENABLE_TABLE] = "enableTable",
    [TIDE_CALL_DELETE_TABLE] = "deleteTable",
    [TIDE_CALL_CREATE_NAMESPACE] = "createNamespace",
    [TIDE_CALL_LIST_NAMESPACES] = "listNamespaces",
    [TIDE_CALL_GET_TABLE_NAMES_BY_PATTERN] = "getTableNamesByPattern",
    [TIDE_CALL_UNKNOWN] = "unknown",
};

static const char *const kind_names[TIDE_FAULT_KIND_COUNT] = {
    [TIDE_FAULT_NONE] = "none",
    [TIDE_FAULT_CLOSE_ON_ACCEPT] = "close-on-accept",
    [TIDE_FAULT_CLOSE_MID_REQUEST] = "close-mid-request",
    [TIDE_FAULT_CLOSE_BEFORE_REPLY] = "close-before-reply",
    [TIDE_FAULT_CLOSE_MID_REPLY] = "close-mid-reply",
    [TIDE_FAULT_SILENCE] = "silence",
    [TIDE_FAULT_GARBAGE] = "garbage",
    [TIDE_FAULT_WRONG_NAME] = "wrong-name",
    [TIDE_FAULT_WRONG_SEQUENCE_ID] = "wrong-sequence-id",
    [TIDE_FAULT_IO_ERROR] = "io-error",
    [TIDE_FAULT_APPLICATION_ERROR] = "application-error",
};

const char *
tide_gateway_call_name(TideGatewayCall call)
{
  return call_names[call];
}

TideGatewayCall
tide_gateway_call_by_name(const char *name)
{
  for (guint i = TIDE_CALL_ANY + 1; i < TIDE_CALL_UNKNOWN; i++)
    if (strcmp(call_names[i], name) == 0)
      return (TideGatewayCall)i;
  return TIDE_CALL_UNKNOWN;
}

const char *
tide_fault_kind_name(TideFaultKind kind)
{
  return kind_names[kind];
}

TideActiveFault *
tide_active_fault_new(const TideScriptedFault *fault, guint id)
{
  TideActiveFault *active = g_new0(TideActiveFault, 1);
  active->references = 1;
  active->id = id;
  active->script = *fault;
  active->script.table = g_strdup(fault->table);
  active->script.row_prefix = fake_bytes_copy(fault->row_prefix);
  active->script.message = g_strdup(fault->message);
  active->script.garbage = fake_bytes_copy(fault->garbage);
  return active;
}

TideActiveFault *
tide_active_fault_ref(TideActiveFault *active)
{
  active->references++;
  return active;
}

void
tide_active_fault_unref(TideActiveFault *active)
{
  if (active == NULL || --active->references > 0)
    return;
  g_free((char *)active->script.table);
  fake_bytes_free(active->script.row_prefix);
  g_free((char *)active->script.message);
  fake_bytes_free(active->script.garbage);
  g_free(active);
}

const TideScriptedFault *
tide_active_fault_script(const TideActiveFault *active)
{
  return &active->script;
}

guint
tide_active_fault_id(const TideActiveFault *active)
{
  return active->id;
}

guint64
tide_active_fault_hits(const TideActiveFault *active)
{
  return active->hits;
}

static TideFaultStage
stage_of(TideFaultKind kind)
{
  switch (kind) {
  case TIDE_FAULT_CLOSE_ON_ACCEPT:
    return TIDE_STAGE_ACCEPTED;
  case TIDE_FAULT_CLOSE_MID_REQUEST:
    return TIDE_STAGE_CALL_HEAD;
  case TIDE_FAULT_NONE:
  case TIDE_FAULT_CLOSE_BEFORE_REPLY:
  case TIDE_FAULT_CLOSE_MID_REPLY:
  case TIDE_FAULT_SILENCE:
  case TIDE_FAULT_GARBAGE:
  case TIDE_FAULT_WRONG_NAME:
  case TIDE_FAULT_WRONG_SEQUENCE_ID:
  case TIDE_FAULT_IO_ERROR:
  case TIDE_FAULT_APPLICATION_ERROR:
    return TIDE_STAGE_CALL_READ;
  }
  g_assert_not_reached();
}

gboolean
tide_fault_names_row(const TideScriptedFault *fault, TideBytes row)
{
  TideBytes prefix = fault->row_prefix;
  if (prefix.len > row.len || !tide_bytes_equal(prefix, tide_bytes(row.data, prefix.len)))
    return FALSE;
  return fault->row_matches == NULL || fault->row_matches(row, fault->row_matches_data);
}

static gboolean
rows_fit(const TideScriptedFault *fault, const TideFaultTarget *target)
{
  if (fault->row_prefix.len == 0 && fault->row_matches == NULL)
    return TRUE;
  for (guint i = 0; i < target->n_rows; i++)
    if (tide_fault_names_row(fault, target->rows[i]))
      return TRUE;
  return FALSE;
}

static gboolean
fits(const TideScriptedFault *fault, const TideFaultTarget *target)
{
  if (stage_of(fault->kind) != target->stage)
    return FALSE;
  if (fault->connection != 0 && fault->connection != target->connection)
    return FALSE;
  if (target->stage == TIDE_STAGE_ACCEPTED)
    return TRUE;
  if (fault->call != TIDE_CALL_ANY && fault->call != target->call)
    return FALSE;
  if (target->stage == TIDE_STAGE_CALL_HEAD)
    return TRUE;
  return (fault->table == NULL || g_strcmp0(fault->table, target->table) == 0) && rows_fit(fault, target);
}

gboolean
tide_active_fault_takes(TideActiveFault *active, const TideFaultTarget *target)
{
  const TideScriptedFault *fault = &active->script;
  if ((fault->max_hits > 0 && active->hits >= fault->max_hits) || !fits(fault, target))
    return FALSE;
  guint64 ordinal = active->fitting++;
  if (ordinal < fault->skip_calls || (ordinal - fault->skip_calls) % MAX(fault->every, 1) != 0)
    return FALSE;
  active->hits++;
  return TRUE;
}

static TideFaultApply
apply_of_kind(TideFaultKind kind)
{
  return kind == TIDE_FAULT_IO_ERROR || kind == TIDE_FAULT_APPLICATION_ERROR ? TIDE_APPLY_NONE : TIDE_APPLY_ALL;
}

gboolean
tide_fault_applies_row(const TideScriptedFault *fault, guint index, TideBytes row)
{
  switch (fault->apply != TIDE_APPLY_BY_KIND ? fault->apply : apply_of_kind(fault->kind)) {
  case TIDE_APPLY_BY_KIND:
  case TIDE_APPLY_ALL:
    return TRUE;
  case TIDE_APPLY_NONE:
    return FALSE;
  case TIDE_APPLY_FIRST:
    return index < fault->apply_rows;
  case TIDE_APPLY_OTHERS:
    return !tide_fault_names_row(fault, row);
  }
  g_assert_not_reached();
}
