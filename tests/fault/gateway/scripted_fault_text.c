/* A fault as words, for the standalone gateway's line protocol. */
#include "fault/gateway/scripted_fault.h"

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
