/* Computes ranges of keys for fields and times, and filters their rows by field. */
#include "model/key/key_part.h"
#include "util/error.h"

void
tide_key_range_clear(TideKeyRange *range)
{
  tide_buffer_clear_memory(&range->start);
  tide_buffer_clear_memory(&range->stop);
}

/* A plan under construction: the prefixes of the ranges, all of the same parts, one for each salt. */
typedef struct Plan {
  TideReading reading; /* the given fields, and a moment within the requested times */
  gint64 first_ns;     /* both inclusive, not negative */
  gint64 last_ns;
  GArray *prefixes; /* owned (element-type TideBuffer) */
  GArray *ranges;   /* owned (element-type TideKeyRange) */
} Plan;

static GArray *
new_prefixes(void)
{
  GArray *prefixes = g_array_new(FALSE, TRUE, sizeof(TideBuffer));
  g_array_set_clear_func(prefixes, (GDestroyNotify)tide_buffer_clear_memory);
  return prefixes;
}

/* Whether every requested moment produces the same bytes. */
static gboolean
time_is_given(const Plan *plan, const TideKeyPart *part)
{
  g_auto(TideBuffer) bytes = {0};
  if (!tide_key_time_is_ordered(part, plan->first_ns, plan->last_ns))
    return FALSE;
  tide_key_time_append(part, plan->first_ns, &bytes);
  gsize end = bytes.len;
  tide_key_time_append(part, plan->last_ns, &bytes);
  return tide_bytes_equal(tide_bytes(bytes.data, end), tide_bytes(bytes.data + end, bytes.len - end));
}

static gboolean
is_given(const Plan *plan, const TideKeyPart *part)
{
  switch (part->kind) {
  case TIDE_KEY_LITERAL:
    return TRUE;
  case TIDE_KEY_NAME:
    return FALSE;
  case TIDE_KEY_FIELD: {
    const TideField *field = tide_reading_field(&plan->reading, part->value.field);
    return field != NULL && field->kind != TIDE_VALUE_NULL;
  }
  case TIDE_KEY_TIME:
    return time_is_given(plan, part);
  case TIDE_KEY_HASH:
  case TIDE_KEY_SALT:
    /* The given value is in the form that rows show, cut or in another case. Several values may have that form, each
     * with its own hash. */
    if (!part->digest.is_alike)
      return FALSE;
    for (gsize i = 0; i < part->digest.n_of; i++)
      if (!is_given(plan, &part->digest.of[i]))
        return FALSE;
    return TRUE;
  }
  return FALSE;
}

/* Appends what @part writes for the plan's reading. */
static gboolean
append_part(const Plan *plan, const TideKeyPart *part, TideBuffer *out, GError **error)
{
  TideReject reject;
  if (tide_key_part_append(part, &plan->reading, TIDE_BYTES_EMPTY, out, &reject))
    return TRUE;
  g_autofree char *text = tide_reject_describe(&reject);
  return tide_fail(error, TIDE_ERROR_USAGE, "no row key can be built from the given fields: %s", text);
}

/* Extends each prefix by each salt. */
static void
fan_out(Plan *plan, const TideKeyPart *part)
{
  GArray *longer = new_prefixes();
  for (guint i = 0; i < plan->prefixes->len; i++) {
    for (guint32 salt = 0; salt < part->digest.modulo; salt++) {
      TideBuffer prefix = {0};
      tide_buffer_append_bytes(&prefix, tide_buffer_bytes(&g_array_index(plan->prefixes, TideBuffer, i)));
      tide_key_part_append_salt(part, salt, &prefix);
      g_array_append_val(longer, prefix);
    }
  }
  g_array_unref(plan->prefixes);
  plan->prefixes = longer;
}

static TideKeyRange *
add_range(Plan *plan, TideBytes prefix)
{
  TideKeyRange range = {0};
  tide_buffer_append_bytes(&range.start, prefix);
  tide_buffer_append_bytes(&range.stop, prefix);
  g_array_append_val(plan->ranges, range);
  return &g_array_index(plan->ranges, TideKeyRange, plan->ranges->len - 1);
}

/* Turns @bytes into the first key after all keys with that prefix; empty if there is none. */
static void
step_past(TideBuffer *bytes)
{
  while (bytes->len > 0 && bytes->data[bytes->len - 1] == 0xff)
    bytes->len--;
  if (bytes->len > 0)
    bytes->data[bytes->len - 1]++;
}

void
tide_key_range_set_prefix(TideKeyRange *range, TideBytes prefix)
{
  tide_buffer_append_bytes(&range->start, prefix);
  tide_buffer_append_bytes(&range->stop, prefix);
  step_past(&range->stop);
}

/* Appends where the requested times end for the TIME part @part: the number after the last one, exclusive. Returns
 * FALSE if no number follows; the appended bytes are then the last requested prefix, inclusive. */
static gboolean
append_stop(const TideKeyPart *part, gint64 ns, TideBuffer *out)
{
  if (part->moment.print != NULL) {
    tide_key_time_append(part, ns, out);
    return FALSE;
  }
  guint64 number = tide_key_time_number(part, ns),
          above = 1; /* the smallest number that needs more bytes or digits; 0: none */
  if (part->moment.binary)
    above = part->fixed_bytes == 8 ? 0 : (guint64)1 << (8 * part->fixed_bytes);
  for (guint32 i = 0; !part->moment.binary && i < part->fixed_bytes; i++)
    above *= 10; /* 19 digits at most */
  gboolean has_next = above == 0 || number + 1 < above;
  tide_key_time_append_number(part, has_next ? number + 1 : number, out);
  return has_next;
}

/* The bytes that follow the prefixes at both ends of the ranges. */
typedef struct TimeEnds {
  TideBuffer start;
  TideBuffer stop;
  gboolean stop_is_exclusive; /* FALSE: all keys with prefix stop are requested, too */
} TimeEnds;

/* Continues from the TIME part at @first as long as the times sort, across given parts in between. */
static gboolean
make_time_ends(const Plan *plan, const TideRowKey *key, gsize first, TimeEnds *ends, GError **error)
{
  gsize end = tide_key_times_end(key, first);
  gint64 start_ns = key->parts[first].moment.reversed ? plan->last_ns : plan->first_ns;
  gint64 stop_ns = key->parts[first].moment.reversed ? plan->first_ns : plan->last_ns;
  for (gsize i = first; i < end; i++)
    if (key->parts[i].kind != TIDE_KEY_TIME && !is_given(plan, &key->parts[i]))
      end = i;
  while (key->parts[end - 1].kind != TIDE_KEY_TIME)
    end--; /* no time follows */
  for (gsize i = first; i < end; i++) {
    const TideKeyPart *part = &key->parts[i];
    if (part->kind != TIDE_KEY_TIME) {
      if (!append_part(plan, part, &ends->start, error) || !append_part(plan, part, &ends->stop, error))
        return FALSE;
      continue;
    }
    tide_key_time_append(part, start_ns, &ends->start);
    if (i + 1 < end)
      tide_key_time_append(part, stop_ns, &ends->stop);
    else
      ends->stop_is_exclusive = append_stop(part, stop_ns, &ends->stop);
  }
  return TRUE;
}

static gboolean
add_time_ranges(Plan *plan, const TideRowKey *key, gsize first, GError **error)
{
  TimeEnds ends = {0};
  gboolean is_made = make_time_ends(plan, key, first, &ends, error);
  for (guint i = 0; is_made && i < plan->prefixes->len; i++) {
    TideKeyRange *range = add_range(plan, tide_buffer_bytes(&g_array_index(plan->prefixes, TideBuffer, i)));
    tide_buffer_append_bytes(&range->start, tide_buffer_bytes(&ends.start));
    tide_buffer_append_bytes(&range->stop, tide_buffer_bytes(&ends.stop));
    if (!ends.stop_is_exclusive)
      step_past(&range->stop);
  }
  tide_buffer_clear_memory(&ends.start);
  tide_buffer_clear_memory(&ends.stop);
  return is_made;
}

static gboolean
walk(Plan *plan, const TideRowKey *key, GError **error)
{
  gboolean are_whole_keys = TRUE;
  for (gsize i = 0; i < key->n_parts && are_whole_keys; i++) {
    const TideKeyPart *part = &key->parts[i];
    if (is_given(plan, part)) {
      g_auto(TideBuffer) bytes = {0};
      if (!append_part(plan, part, &bytes, error))
        return FALSE;
      for (guint k = 0; k < plan->prefixes->len; k++)
        tide_buffer_append_bytes(&g_array_index(plan->prefixes, TideBuffer, k), tide_buffer_bytes(&bytes));
    } else if (part->kind == TIDE_KEY_SALT) {
      fan_out(plan, part);
    } else if (part->kind == TIDE_KEY_TIME && tide_key_time_is_ordered(part, plan->first_ns, plan->last_ns)) {
      return add_time_ranges(plan, key, i, error);
    } else {
      are_whole_keys = FALSE;
    }
  }
  for (guint i = 0; i < plan->prefixes->len; i++) {
    TideKeyRange *range = add_range(plan, tide_buffer_bytes(&g_array_index(plan->prefixes, TideBuffer, i)));
    if (are_whole_keys)
      tide_buffer_append_byte(&range->stop, 0); /* the next possible key is one byte longer */
    else
      step_past(&range->stop);
  }
  return TRUE;
}

GArray *
tide_row_key_plan(const TideRowKey *key, const TideReading *reading, gint64 from_ns, gint64 to_ns, GError **error)
{
  Plan plan = {.reading = *reading, .first_ns = MAX(from_ns, 0)};
  plan.ranges = g_array_new(FALSE, TRUE, sizeof(TideKeyRange));
  g_array_set_clear_func(plan.ranges, (GDestroyNotify)tide_key_range_clear);
  if (to_ns <= plan.first_ns)
    return plan.ranges;

  plan.last_ns = to_ns - 1;
  plan.reading.event_time_ns = plan.first_ns;
  plan.prefixes = new_prefixes();
  g_array_set_size(plan.prefixes, 1);
  gboolean is_made = walk(&plan, key, error);
  g_array_unref(plan.prefixes);
  if (!is_made)
    g_clear_pointer(&plan.ranges, g_array_unref);
  return plan.ranges;
}

/* ---- rows of the ranges ---- */

/* The required bytes of one part. */
typedef struct FilterPart {
  gsize part_index; /* in the key */
  gsize offset;     /* in the filter's bytes */
  gsize len;
} FilterPart;

struct TideKeyFilter {
  const TideRowKey *key; /* borrowed */
  GArray *parts;         /* owned (element-type FilterPart); parts that no range covers come last */
  guint n_open;          /* the number of those parts */
  TideBuffer bytes;
};

/* Whether @field is among the inputs of @part, all of which are given. */
static gboolean
is_made_of(const TideKeyPart *part, TideNameId field)
{
  if (part->kind == TIDE_KEY_FIELD)
    return part->value.field == field;
  for (gsize i = 0; part->kind == TIDE_KEY_HASH && i < part->digest.n_of; i++)
    if (part->digest.of[i].kind == TIDE_KEY_FIELD && part->digest.of[i].value.field == field)
      return TRUE;
  return FALSE; /* a salt is shared with other values */
}

/* Whether rows with a given value of @field can be distinguished from others. */
static gboolean
identifies_field(const TideKeyFilter *filter, const TideField *field, GError **error)
{
  for (guint i = 0; i < filter->parts->len; i++)
    if (is_made_of(&filter->key->parts[g_array_index(filter->parts, FilterPart, i).part_index], field->name_id))
      return TRUE;
  g_autofree char *name = tide_bytes_printable(field->name);
  return tide_fail(error, TIDE_ERROR_USAGE,
                   "rows cannot be selected by '%s': it is only in the key's salt, or hashed together "
                   "with what is not given",
                   name);
}

/* The parts built from the given fields. Literals are compared in any case. */
static gboolean
add_filter_parts(TideKeyFilter *filter, const Plan *plan, GError **error)
{
  gboolean is_open = FALSE;
  for (gsize i = 0; i < filter->key->n_parts; i++) {
    const TideKeyPart *part = &filter->key->parts[i];
    gboolean given = is_given(plan, part);
    is_open = is_open || (!given && part->kind != TIDE_KEY_SALT);
    if (!given || part->kind == TIDE_KEY_LITERAL || part->kind == TIDE_KEY_TIME)
      continue;
    FilterPart added = {.part_index = i, .offset = filter->bytes.len};
    if (!append_part(plan, part, &filter->bytes, error))
      return FALSE;
    added.len = filter->bytes.len - added.offset;
    g_array_append_val(filter->parts, added);
    filter->n_open += is_open ? 1 : 0;
  }
  for (guint32 i = 0; i < plan->reading.n_fields; i++)
    if (!identifies_field(filter, &plan->reading.fields[i], error))
      return FALSE;
  return TRUE;
}

TideKeyFilter *
tide_row_key_filter(const TideRowKey *key, const TideReading *reading, gint64 from_ns, gint64 to_ns, GError **error)
{
  Plan plan = {.reading = *reading, .first_ns = MAX(from_ns, 0)};
  plan.last_ns = MAX(to_ns - 1, plan.first_ns);
  plan.reading.event_time_ns = plan.first_ns;
  g_autoptr(TideKeyFilter) filter = g_new0(TideKeyFilter, 1);
  filter->key = key;
  filter->parts = g_array_new(FALSE, FALSE, sizeof(FilterPart));
  return add_filter_parts(filter, &plan, error) ? g_steal_pointer(&filter) : NULL;
}

void
tide_key_filter_free(TideKeyFilter *filter)
{
  if (filter == NULL)
    return;
  g_array_unref(filter->parts);
  tide_buffer_clear_memory(&filter->bytes);
  g_free(filter);
}

static TideBytes
filter_bytes(const TideKeyFilter *filter, const FilterPart *part)
{
  return tide_bytes(filter->bytes.data + part->offset, part->len);
}

TideKeyMatch
tide_key_filter_match(const TideKeyFilter *filter, TideBytes row)
{
  gsize ends[TIDE_ROW_KEY_MAX_PARTS];
  if (filter->parts->len == 0)
    return TIDE_KEY_TAKEN;
  if (!tide_row_key_locate(filter->key, row, ends)) /* if the ranges cover all given parts, the row has that prefix */
    return filter->n_open == 0 ? TIDE_KEY_TAKEN : TIDE_KEY_FOREIGN;
  for (guint i = 0; i < filter->parts->len; i++) {
    const FilterPart *part = &g_array_index(filter->parts, FilterPart, i);
    gsize start = part->part_index > 0 ? ends[part->part_index - 1] : 0;
    if (!tide_bytes_equal(tide_bytes(row.data + start, ends[part->part_index] - start), filter_bytes(filter, part)))
      return TIDE_KEY_LEFT_OUT;
  }
  return TIDE_KEY_TAKEN;
}

guint
tide_key_filter_n_open(const TideKeyFilter *filter)
{
  return filter->n_open;
}

TideBytes
tide_key_filter_open_bytes(const TideKeyFilter *filter, guint i)
{
  guint first = filter->parts->len - filter->n_open;
  return filter_bytes(filter, &g_array_index(filter->parts, FilterPart, first + i));
}
