#include "fault/gateway/scripted_fault.h"

#include "fault/gateway/fake_hbase_private.h"

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

static TideFaultStage
stage_of(TideFaultKind kind)
{
  return kind == TIDE_FAULT_CLOSE_ON_ACCEPT     ? TIDE_STAGE_ACCEPTED
         : kind == TIDE_FAULT_CLOSE_MID_REQUEST ? TIDE_STAGE_CALL_HEAD
                                                : TIDE_STAGE_CALL_READ;
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
  if (target->n_rows < fault->min_rows)
    return FALSE;
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

gboolean
tide_fault_applies_row(const TideScriptedFault *fault, guint index, TideBytes row)
{
  switch (fault->apply) {
  case TIDE_APPLY_BY_KIND:
    return fault->kind != TIDE_FAULT_IO_ERROR && fault->kind != TIDE_FAULT_APPLICATION_ERROR;
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

/* ---- a fault as words, for the standalone gateway's line protocol ---- */

typedef enum TideFieldType {
  FIELD_TEXT,
  FIELD_BYTES,
  FIELD_SIZE,
  FIELD_COUNT64,
  FIELD_COUNT32,
  FIELD_CHOICE
} TideFieldType;

typedef struct TideFaultField {
  const char *name;
  TideFieldType type;
  gsize offset;
  const char *const *choices; /* FIELD_CHOICE: NULL-terminated, in the enum's order */
} TideFaultField;

static const char *const no_yes[] = {"no", "yes", NULL};
static const char *const apply_names[] = {"by-kind", "all", "none", "first", "others", NULL};
static const char *const can_retry_names[] = {"yes", "no", "absent", NULL};

#define FIELD(name_, type_, member_)                                                                                   \
  {                                                                                                                    \
    name_, type_, G_STRUCT_OFFSET(TideScriptedFault, member_), NULL                                                    \
  }
#define CHOICE(name_, member_, choices_)                                                                               \
  {                                                                                                                    \
    name_, FIELD_CHOICE, G_STRUCT_OFFSET(TideScriptedFault, member_), choices_                                         \
  }

static const TideFaultField fields[] = {
    FIELD("connection", FIELD_COUNT64, connection),
    FIELD("table", FIELD_TEXT, table),
    FIELD("row-prefix", FIELD_BYTES, row_prefix),
    FIELD("min-rows", FIELD_COUNT32, min_rows),
    FIELD("skip-calls", FIELD_COUNT64, skip_calls),
    FIELD("every", FIELD_COUNT64, every),
    FIELD("max-hits", FIELD_COUNT64, max_hits),
    FIELD("delay-apply-ms", FIELD_COUNT64, delay_apply_ms),
    CHOICE("lands-after-kill", lands_after_kill, no_yes),
    FIELD("delay-reply-ms", FIELD_COUNT64, delay_reply_ms),
    FIELD("drip-bytes", FIELD_SIZE, drip_bytes),
    FIELD("drip-interval-ms", FIELD_COUNT64, drip_interval_ms),
    CHOICE("reset", reset, no_yes),
    FIELD("cut-bytes", FIELD_SIZE, cut_bytes),
    FIELD("garbage", FIELD_BYTES, garbage),
    CHOICE("apply", apply, apply_names),
    FIELD("apply-rows", FIELD_COUNT32, apply_rows),
    FIELD("message", FIELD_TEXT, message),
    CHOICE("can-retry", can_retry, can_retry_names),
    FIELD("application-type", FIELD_COUNT32, application_type),
};

/* \xHH in place; the rest as it is. The length. */
static gsize
unescape(char *text)
{
  gsize len = 0;
  for (const char *c = text; *c != '\0'; c++) {
    gboolean escaped = c[0] == '\\' && c[1] == 'x' && g_ascii_isxdigit(c[2]) && g_ascii_isxdigit(c[3]);
    if (escaped) {
      text[len++] = (char)(g_ascii_xdigit_value(c[2]) << 4 | g_ascii_xdigit_value(c[3]));
      c += 3;
    } else {
      text[len++] = *c;
    }
  }
  text[len] = '\0';
  return len;
}

static gboolean
parse_choice(const TideFaultField *field, const char *value, void *member)
{
  for (guint i = 0; field->choices[i] != NULL; i++) {
    if (strcmp(field->choices[i], value) == 0) {
      *(guint *)member = i;
      return TRUE;
    }
  }
  return FALSE;
}

/* FALSE when @value is not one of the field's. */
static gboolean
parse_value(const TideFaultField *field, char *value, TideScriptedFault *fault)
{
  void *member = G_STRUCT_MEMBER_P(fault, field->offset);
  guint64 number = 0;
  switch (field->type) {
  case FIELD_TEXT:
    unescape(value);
    *(const char **)member = value;
    return TRUE;
  case FIELD_BYTES:
    *(TideBytes *)member = tide_bytes(value, unescape(value));
    return TRUE;
  case FIELD_CHOICE:
    return parse_choice(field, value, member);
  case FIELD_SIZE:
  case FIELD_COUNT64:
    if (!g_ascii_string_to_unsigned(value, 10, 0, G_MAXINT32, &number, NULL))
      return FALSE;
    *(guint64 *)member = number;
    return TRUE;
  case FIELD_COUNT32:
    if (!g_ascii_string_to_unsigned(value, 10, 0, G_MAXINT32, &number, NULL))
      return FALSE;
    *(guint32 *)member = (guint32)number;
    return TRUE;
  }
  g_assert_not_reached();
}

G_STATIC_ASSERT(sizeof(gsize) == sizeof(guint64)); /* FIELD_SIZE is stored as a count of 64 bits */

static gboolean
parse_kind(const char *word, TideScriptedFault *fault)
{
  for (guint i = 0; i < TIDE_FAULT_KIND_COUNT; i++) {
    if (strcmp(tide_fault_kind_name((TideFaultKind)i), word) == 0) {
      fault->kind = (TideFaultKind)i;
      return TRUE;
    }
  }
  return FALSE;
}

static const TideFaultField *
find_field(const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
    if (strcmp(fields[i].name, name) == 0)
      return &fields[i];
  return NULL;
}

static char *
parse_word(char *word, TideScriptedFault *fault)
{
  char *equals = strchr(word, '=');
  if (equals == NULL)
    return g_strdup_printf("'%s' is not NAME=VALUE", word);
  *equals = '\0';
  char *value = equals + 1;
  if (strcmp(word, "call") == 0) {
    fault->call = tide_gateway_call_by_name(value);
    return fault->call != TIDE_CALL_UNKNOWN ? NULL : g_strdup_printf("no call '%s'", value);
  }
  const TideFaultField *field = find_field(word);
  if (field == NULL)
    return g_strdup_printf("a fault has no '%s'", word);
  return parse_value(field, value, fault) ? NULL : g_strdup_printf("'%s' cannot be '%s'", word, value);
}

char *
tide_scripted_fault_parse(char **words, TideScriptedFault *ret_fault)
{
  TideScriptedFault fault = {0};
  if (words[0] == NULL || !parse_kind(words[0], &fault))
    return g_strdup_printf("no fault '%s'", words[0] != NULL ? words[0] : "");
  for (guint i = 1; words[i] != NULL; i++) {
    char *problem = parse_word(words[i], &fault);
    if (problem != NULL)
      return problem;
  }
  *ret_fault = fault;
  return NULL;
}
