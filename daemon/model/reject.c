#include "model/reject.h"

#include "util/calendar.h"

/* Names and values come from senders and can be as long as a message; a log line shows this many bytes of them. */
#define SHOWN_FIELD_MAX_BYTES 200
#define SHOWN_VALUE_MAX_BYTES 80

typedef struct Reason {
  const char *name;
  const char *sentence;
} Reason;

static const Reason reasons[TIDE_REJECT_N_REASONS] = {
    [TIDE_REJECT_NONE] = {"none", "nothing is wrong"},
    [TIDE_REJECT_EMPTY] = {"empty", "the message is empty"},
    [TIDE_REJECT_TOMBSTONE] = {"tombstone", "the message has no value (a tombstone)"},
    [TIDE_REJECT_TOO_LARGE] = {"too_large", "too large"},
    [TIDE_REJECT_PARSE] = {"parse", "not in the declared format"},
    [TIDE_REJECT_UTF8] = {"utf8", "not valid UTF-8"},
    [TIDE_REJECT_DEPTH] = {"depth", "nested too deeply"},
    [TIDE_REJECT_TOO_MANY_FIELDS] = {"too_many_fields", "too many fields"},
    [TIDE_REJECT_DUPLICATE_FIELD] = {"duplicate_field", "the field appears twice"},
    [TIDE_REJECT_TYPE] = {"type", "a value of a kind that is declared as 'reject'"},
    [TIDE_REJECT_NUMBER] = {"number", "a number that cannot be stored exactly"},
    [TIDE_REJECT_MISSING_FIELD] = {"missing_field", "a field that the key or the time needs is absent or null"},
    [TIDE_REJECT_BAD_KEY] = {"bad_key", "a value that a row key cannot contain"},
    [TIDE_REJECT_BAD_COLUMN] = {"bad_column", "a field whose name cannot be a column"},
    [TIDE_REJECT_TIME_INVALID] = {"time_invalid", "the time is not in the declared format"},
    [TIDE_REJECT_TIME_AMBIGUOUS] = {"time_ambiguous", "the local time occurs twice"},
    [TIDE_REJECT_TIME_IMPLAUSIBLE] = {"time_implausible", "the time is implausible"},
    [TIDE_REJECT_TIME_FUTURE] = {"time_future", "the time is too far in the future"},
    [TIDE_REJECT_ROW_TOO_LONG] = {"row_too_long", "the row key is longer than 32767 bytes"},
    [TIDE_REJECT_NO_CELLS] = {"no_cells", "the row would have no cells"},
    [TIDE_REJECT_CELL_TOO_LARGE] = {"cell_too_large", "the cell is too large for HBase"},
};

const char *
tide_reject_reason_name(TideRejectReason reason)
{
  return reason < G_N_ELEMENTS(reasons) ? reasons[reason].name : "unknown";
}

void
tide_reject_resolve_field(TideReject *reject, const TideFieldNames *names)
{
  if (reject->field.len == 0 && reject->field_place > 0)
    reject->field = tide_field_names_text(names, reject->field_place - 1);
}

/* " (max_past: 90m)" */
static void
append_bound(GString *text, TideRejectBound bound, gint64 bound_ms)
{
  static const struct {
    gint64 ms;
    const char *name;
  } units[] = {{86400000, "d"}, {3600000, "h"}, {60000, "m"}, {1000, "s"}, {1, "ms"}};
  char time[TIDE_ISO_TIME_BYTES];
  guint unit = 0;
  if (bound == TIDE_REJECT_BOUND_NONE)
    return;
  if (bound == TIDE_REJECT_BOUND_EARLIEST) {
    g_string_append_printf(text, " (earliest: %s)", tide_iso_time_print(bound_ms, time));
    return;
  }
  while (bound_ms % units[unit].ms != 0)
    unit++;
  g_string_append_printf(text, " (%s: %" G_GINT64_FORMAT "%s)",
                         bound == TIDE_REJECT_BOUND_MAX_PAST ? "max_past" : "max_future", bound_ms / units[unit].ms,
                         bound_ms == 0 ? "s" : units[unit].name);
}

/* @text in quotes, cut after @max_bytes. (transfer full) */
static char *
quote(TideBytes text, gsize max_bytes)
{
  g_autofree char *shown = tide_bytes_printable(tide_bytes(text.data, MIN(text.len, max_bytes)));
  return g_strdup_printf("'%s%s'", shown, text.len > max_bytes ? "..." : "");
}

char *
tide_reject_describe(const TideReject *reject)
{
  static const char it_is[] = "it is "; /* a detail about the field, whose name then replaces "it" */
  GString *text = g_string_new(reject->reason < G_N_ELEMENTS(reasons) ? reasons[reject->reason].sentence : "rejected");
  g_autofree char *field = reject->field.len > 0 ? quote(reject->field, SHOWN_FIELD_MAX_BYTES) : NULL;
  g_autofree char *value = reject->value.len > 0 ? quote(reject->value, SHOWN_VALUE_MAX_BYTES) : NULL;
  gboolean is_about_field = field != NULL && reject->detail != NULL && g_str_has_prefix(reject->detail, it_is);
  if (is_about_field)
    g_string_append_printf(text, ": %s is %s", field, reject->detail + strlen(it_is));
  else if (reject->detail != NULL)
    g_string_append_printf(text, ": %s", reject->detail);
  append_bound(text, reject->bound, reject->bound_ms);
  if (field != NULL && !is_about_field)
    g_string_append_printf(text, ", in %s", field);
  if (value != NULL)
    g_string_append_printf(text, ", got %s", value);
  if (reject->reading_index > 0)
    g_string_append_printf(text, ", in reading %u of the message (from 0)", reject->reading_index);
  if (reject->byte_position >= 0)
    g_string_append_printf(text, ", at byte %" G_GINT64_FORMAT, reject->byte_position);
  return g_string_free(text, FALSE);
}
