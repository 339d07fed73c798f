#include "model/reject.h"

/* A field name comes from outside and can be as long as a message; a log line shows this much of it. */
#define SHOWN_FIELD_MAX_BYTES 200

const char *
tide_reject_reason_name(TideRejectReason reason)
{
  switch (reason) {
  case TIDE_REJECT_NONE:
    return "none";
  case TIDE_REJECT_EMPTY:
    return "empty";
  case TIDE_REJECT_TOMBSTONE:
    return "tombstone";
  case TIDE_REJECT_TOO_LARGE:
    return "too_large";
  case TIDE_REJECT_PARSE:
    return "parse";
  case TIDE_REJECT_UTF8:
    return "utf8";
  case TIDE_REJECT_DEPTH:
    return "depth";
  case TIDE_REJECT_TOO_MANY_FIELDS:
    return "too_many_fields";
  case TIDE_REJECT_DUPLICATE_FIELD:
    return "duplicate_field";
  case TIDE_REJECT_TYPE:
    return "type";
  case TIDE_REJECT_NUMBER:
    return "number";
  case TIDE_REJECT_MISSING_FIELD:
    return "missing_field";
  case TIDE_REJECT_BAD_KEY:
    return "bad_key";
  case TIDE_REJECT_BAD_COLUMN:
    return "bad_column";
  case TIDE_REJECT_TIME_INVALID:
    return "time_invalid";
  case TIDE_REJECT_TIME_AMBIGUOUS:
    return "time_ambiguous";
  case TIDE_REJECT_TIME_IMPLAUSIBLE:
    return "time_implausible";
  case TIDE_REJECT_TIME_FUTURE:
    return "time_future";
  case TIDE_REJECT_ROW_TOO_LONG:
    return "row_too_long";
  case TIDE_REJECT_NO_CELLS:
    return "no_cells";
  case TIDE_REJECT_CELL_TOO_LARGE:
    return "cell_too_large";
  case TIDE_REJECT_N_REASONS:
    break;
  }
  return "unknown";
}

static const char *
sentence_of(TideRejectReason reason)
{
  switch (reason) {
  case TIDE_REJECT_NONE:
    return "nothing is wrong";
  case TIDE_REJECT_EMPTY:
    return "the message is empty";
  case TIDE_REJECT_TOMBSTONE:
    return "the message has no value (a tombstone)";
  case TIDE_REJECT_TOO_LARGE:
    return "too large";
  case TIDE_REJECT_PARSE:
    return "not in the declared format";
  case TIDE_REJECT_UTF8:
    return "not valid UTF-8";
  case TIDE_REJECT_DEPTH:
    return "nested too deeply";
  case TIDE_REJECT_TOO_MANY_FIELDS:
    return "too many fields";
  case TIDE_REJECT_DUPLICATE_FIELD:
    return "the field appears twice";
  case TIDE_REJECT_TYPE:
    return "a value of a kind that is declared as 'reject'";
  case TIDE_REJECT_NUMBER:
    return "a number that cannot be kept exactly";
  case TIDE_REJECT_MISSING_FIELD:
    return "a field that the key or the time needs is absent or null";
  case TIDE_REJECT_BAD_COLUMN:
    return "a field that can name no column";
  case TIDE_REJECT_BAD_KEY:
    return "a value that cannot stand in a row key";
  case TIDE_REJECT_TIME_INVALID:
    return "the time is not in the declared format";
  case TIDE_REJECT_TIME_AMBIGUOUS:
    return "the local time happens twice";
  case TIDE_REJECT_TIME_IMPLAUSIBLE:
    return "the time is implausible";
  case TIDE_REJECT_TIME_FUTURE:
    return "the time is too far in the future";
  case TIDE_REJECT_ROW_TOO_LONG:
    return "the row key is longer than 32767 bytes";
  case TIDE_REJECT_NO_CELLS:
    return "the row would have no cells";
  case TIDE_REJECT_CELL_TOO_LARGE:
    return "the cell is too large for HBase";
  case TIDE_REJECT_N_REASONS:
    break;
  }
  return "rejected";
}

void
tide_reject_resolve_field(TideReject *reject, const TideFieldNames *names)
{
  if (reject->field.len == 0 && reject->field_place > 0)
    reject->field = tide_field_names_text(names, reject->field_place - 1);
}

char *
tide_reject_describe(const TideReject *reject)
{
  GString *text = g_string_new(sentence_of(reject->reason));
  if (reject->detail != NULL)
    g_string_append_printf(text, ": %s", reject->detail);
  if (reject->field.len > 0) {
    gboolean is_cut = reject->field.len > SHOWN_FIELD_MAX_BYTES;
    TideBytes shown = tide_bytes(reject->field.data, MIN(reject->field.len, SHOWN_FIELD_MAX_BYTES));
    g_autofree char *printable = tide_bytes_printable(shown);
    g_string_append_printf(text, ", in '%s%s'", printable, is_cut ? "..." : "");
  }
  if (reject->reading_index > 0)
    g_string_append_printf(text, ", in reading %u of the message (from 0)", reject->reading_index);
  if (reject->byte_position >= 0)
    g_string_append_printf(text, ", at byte %" G_GINT64_FORMAT, reject->byte_position);
  return g_string_free(text, FALSE);
}
