/* Warnings about configurations that are valid but probably not intended. A certain problem is a warning. One that
 * depends on the values, which are unknown here, is a note: `tidemark check` shows notes, a start does not. */
#include "config/config_source.h"
#include "config/load/load_table.h"
#include "model/time/time_pattern.h"

#include <string.h>

#define NS_PER_S G_GINT64_CONSTANT(1000000000)
#define DAY_NS (86400 * NS_PER_S)
#define FOREVER_NS G_MAXINT64
/* A row should stay below 100 MB because it is never split. A cell with its key, names and value has about 200
 * bytes. */
#define MANY_CELLS 500000

static const TideTimeSpec *
time_of(const TideTableLoad *it)
{
  return tide_config_time_of(it->table, tide_config_first_source(it->load->config, it->table));
}

static gboolean
is_time(const TideTableLoad *it, const TideKeyPartSpec *part)
{
  TideNameId field = time_of(it)->field;

  return part->kind == TIDE_KEY_TIME ||
         (part->kind == TIDE_KEY_FIELD && field != TIDE_NAME_NONE && part->value.field == field);
}

/* Index of the first part from @from on that differs between keys; n if there is none. */
static gsize
next_varying(const TidePartList *parts, gsize from)
{
  while (from < parts->n && parts->specs[from].kind == TIDE_KEY_LITERAL)
    from++;
  return from;
}

/* The leading parts decide where new rows are written. */
static void
warn_of_beginning(TideTableLoad *it)
{
  gsize first = next_varying(&it->key, 0);
  const TideKeyPartSpec *part = &it->key.specs[first];

  if (first == it->key.n)
    return;
  if (is_time(it, part)) {
    tide_load_warning(it->load, it->key.node,
                      "'%s' starts with the time: all new rows are written to one region, however many servers there "
                      "are; start the key with a field, a hash or a salt",
                      it->path);
    return;
  }
  gboolean is_number = part->kind == TIDE_KEY_FIELD && !part->value.text_reversed &&
                       (part->value.form != TIDE_KEY_TEXT || (part->width_bytes > 0 && part->value.pad_byte == '0'));
  gboolean is_integer = is_number && part->value.form != TIDE_KEY_FLOAT32 && part->value.form != TIDE_KEY_FLOAT64;
  if (is_integer)
    tide_load_notice(it->load, tide_load_part_node(&it->key, first),
                     "'%s' starts with a number: if it increases (a sequence, a counter), all new rows are written to "
                     "one region; in that case write it reversed, or start the key with a hash or a salt",
                     it->path);
}

static void
warn_of_time_in_key(TideTableLoad *it)
{
  gboolean has_time = FALSE;
  for (gsize i = 0; i < it->key.n; i++)
    has_time |= is_time(it, &it->key.specs[i]);

  if (it->table->latest != TIDE_LATEST_NONE && has_time)
    tide_load_warning(
        it->load, it->key.node,
        "'%s' is a latest table with the time in its key: each reading creates a row of its own, and rows accumulate",
        it->path);
  /* A qualifier that is built for each reading distinguishes them. An index without `latest` is reported elsewhere. */
  if (it->table->latest == TIDE_LATEST_NONE && !has_time && it->qualifiers->len == 0 && it->draft.index_of == NULL)
    tide_load_warning(it->load, it->key.node,
                      "'%s' has no time in its key: each reading overwrites the previous one; set 'latest: merge' if "
                      "that is intended",
                      it->path);
}

static void
note_salt(TideTableLoad *it)
{
  for (gsize i = 0; i < it->key.n; i++) {
    const TideKeyPartSpec *salt = &it->key.specs[i];
    gsize next = next_varying(&it->key, i + 1);
    if (salt->kind != TIDE_KEY_SALT || salt->digest.n_of != 1 || salt->digest.of[0].kind != TIDE_KEY_FIELD ||
        next == it->key.n)
      continue;
    const TideKeyPartSpec *field = &it->key.specs[next];
    if (field->kind == TIDE_KEY_FIELD && field->value.field == salt->digest.of[0].value.field)
      tide_load_notice(
          it->load, tide_load_part_node(&it->key, i),
          "'%s' has a salt of the field that follows it: the field alone spreads the rows as well, unless few of its "
          "values are hot or all increase together; with the salt, reading all rows takes %u scans",
          it->path, salt->digest.modulo);
  }
}

/* Time between two consecutive values of a time part. */
static gint64
resolution_ns(const TideKeyPartSpec *part)
{
  static const gint64 units_ns[] = {[TIDE_KEY_TIME_S] = NS_PER_S,
                                    [TIDE_KEY_TIME_MS] = NS_PER_S / 1000,
                                    [TIDE_KEY_TIME_US] = NS_PER_S / 1000000,
                                    [TIDE_KEY_TIME_NS] = 1};
  gint64 cut_ns = part->moment.cut_to.unit != TIDE_CUT_NONE ? tide_time_cut_longest_ns(part->moment.cut_to) : 1;
  g_autoptr(TideTimePattern) print = part->moment.pattern != NULL
                                         ? tide_time_pattern_compile(part->moment.pattern, TIDE_PATTERN_QUALIFIER, NULL)
                                         : NULL;
  gint64 step_ns = print != NULL ? tide_time_pattern_resolution_ns(print) : units_ns[part->moment.unit];

  for (guint32 i = 0; i < part->moment.drop_digits && step_ns < FOREVER_NS / 10; i++)
    step_ns *= 10;
  return MAX(cut_ns, step_ns);
}

/* Time after which the values of a pattern repeat: one step of the element above its largest, except for years. */
static gint64
pattern_period_ns(const TideTimePattern *pattern)
{
  int largest = g_bit_nth_lsf(pattern->named & ~TIDE_NAMES(YEAR), -1);
  return tide_time_level_ns((TideTimeLevel)(largest - 1), 0);
}

static gint64
period_ns(const TideKeyPartSpec *part)
{
  g_autoptr(TideTimePattern) print = part->moment.pattern != NULL
                                         ? tide_time_pattern_compile(part->moment.pattern, TIDE_PATTERN_QUALIFIER, NULL)
                                         : NULL;

  if (print != NULL)
    return tide_time_names_from_year(print->named) ? FOREVER_NS : pattern_period_ns(print);
  return part->moment.since.unit != TIDE_CUT_NONE ? tide_time_cut_longest_ns(part->moment.since) : FOREVER_NS;
}

/* Period that the readings of one row cover: unlimited if no key part distinguishes times permanently. */
static gint64
row_span_ns(const TideTableLoad *it)
{
  gint64 span_ns = FOREVER_NS;

  for (gsize pass = 0; pass < it->key.n; pass++) {
    for (gsize i = 0; i < it->key.n; i++) {
      const TideKeyPartSpec *part = &it->key.specs[i];
      gint64 of_part_ns = part->kind == TIDE_KEY_TIME ? period_ns(part) : 0;
      /* A part counts if it distinguishes times within the span that earlier parts do not. A slot may be an hour or two
       * longer than the usual day or month of the clocks. */
      if (of_part_ns == FOREVER_NS || (of_part_ns > 0 && span_ns != FOREVER_NS && of_part_ns >= span_ns - span_ns / 8))
        span_ns = MIN(span_ns, resolution_ns(part));
      else if (part->kind != TIDE_KEY_TIME && is_time(it, part))
        return 1;
    }
  }
  return span_ns;
}

/* A row gets a cell for each value that the times of its qualifiers can have. */
static void
warn_of_wide_row(TideTableLoad *it, const TidePartList *qualifier)
{
  gint64 row_ns = row_span_ns(it);
  gint64 longest_ns = 0;
  gint64 finest_ns = FOREVER_NS;

  for (gsize i = 0; i < qualifier->n; i++) {
    if (qualifier->specs[i].kind != TIDE_KEY_TIME)
      continue;
    longest_ns = MAX(longest_ns, period_ns(&qualifier->specs[i]));
    finest_ns = MIN(finest_ns, resolution_ns(&qualifier->specs[i]));
  }
  if (MIN(longest_ns, row_ns) == FOREVER_NS)
    tide_load_warning(it->load, qualifier->node,
                      "rows of '%s' grow without limit: each reading adds columns, and the key does not distinguish "
                      "times; add the time to the key, cut to a day or a month, for example",
                      it->path);
  else if (MIN(longest_ns, row_ns) / finest_ns > MANY_CELLS)
    tide_load_warning(it->load, qualifier->node,
                      "a row of '%s' can get %" G_GINT64_FORMAT
                      " cells per field, and is never split; cut the time in the key to a shorter slot, or the time in "
                      "the qualifier to a longer one",
                      it->path, MIN(longest_ns, row_ns) / finest_ns);
}

/* Whether @part differs between the two hours that clocks show alike. */
static gboolean
tells_hours_apart(const TideKeyPartSpec *part)
{
  gboolean is_utc = part->moment.zone == NULL || !tide_zone_has_changes(part->moment.zone);

  return part->kind == TIDE_KEY_TIME && (part->moment.pattern == NULL || is_utc) && resolution_ns(part) <= DAY_NS / 24;
}

/* For the @parts of a qualifier; a key with such an hour is rejected. */
static void
warn_of_hour_twice(TideTableLoad *it, const TidePartList *parts)
{
  const TideKeyPartSpec *ambiguous = NULL;
  gsize at = 0;

  for (gsize i = 0; i < it->key.n; i++) {
    if (tells_hours_apart(&it->key.specs[i]))
      return;
  }
  for (gsize i = 0; i < parts->n; i++) {
    const TideKeyPartSpec *part = &parts->specs[i];
    if (tells_hours_apart(part))
      return;
    if (part->kind != TIDE_KEY_TIME || part->moment.pattern == NULL || part->moment.zone == NULL)
      continue;
    g_autoptr(TideTimePattern) print = tide_time_pattern_compile(part->moment.pattern, TIDE_PATTERN_QUALIFIER, NULL);
    if (print != NULL && (print->named & TIDE_NAMES_CLOCK) && tide_zone_has_changes(part->moment.zone)) {
      ambiguous = part;
      at = i;
    }
  }
  if (ambiguous != NULL)
    tide_load_warning(
        it->load, tide_load_part_node(parts, at),
        "'%s': when the clocks of %s are set back, an hour occurs twice, and the readings of its second pass overwrite "
        "the columns of the first; use 'zone: UTC', or 'time: epoch_s' with 'since: day' instead of a pattern",
        it->path, ambiguous->moment.zone_name);
}

/* Limits that a dated table name can reach. */
static void
note_dated_name(TideTableLoad *it)
{
  const TideTimeSpec *time = time_of(it);
  const char *pattern = strchr(it->table->name, '{');

  if (it->table->dated_name == NULL || pattern == NULL)
    return;
  if (strstr(pattern, "mm") != NULL)
    tide_load_notice(it->load, it->key_node,
                     "'%s' creates 1,440 tables per day, and a process is limited to 16,384: it must be restarted "
                     "within 11 days; with the hour instead of the minute, within 22 months",
                     it->path);
  if (time->max_past_ms == 0 && it->table->ttl_ms == 0)
    tide_load_notice(it->load, it->key_node,
                     "'%s' creates a table for every event time back to 'earliest': a device with a wrong clock "
                     "creates many; set 'readings.time.max_past' to the maximum delay of readings",
                     it->path);
}

void
tide_load_warn_of_table(TideTableLoad *it)
{
  note_dated_name(it);
  warn_of_beginning(it);
  warn_of_time_in_key(it);
  for (guint i = 0; i < it->qualifiers->len; i++) {
    const TidePartList *qualifier = &g_array_index(it->qualifiers, TidePartList, i);
    warn_of_hour_twice(it, qualifier);
    warn_of_wide_row(it, qualifier);
  }
  note_salt(it);
  /* Correct for one reading per day; otherwise the readings of a day overwrite each other. */
  if (it->table->latest == TIDE_LATEST_NONE && it->qualifiers->len == 0 && tide_row_key_has_time(it->table->key) &&
      row_span_ns(it) > NS_PER_S)
    tide_load_notice(
        it->load, it->key.node,
        "'%s' has only coarse times in its key: readings within the same slot become one row, and the newest "
        "overwrites the others; if there are several per slot, add the time to the 'qualifier' of the columns",
        it->path);
  g_autoptr(GPtrArray) lost = tide_row_key_lost(it->table->key, it->load->config->names);
  for (guint i = 0; i < lost->len; i++)
    tide_load_notice(it->load, it->key.node, "'%s' cannot be read back completely: %s", it->path,
                     (const char *)g_ptr_array_index(lost, i));
}
