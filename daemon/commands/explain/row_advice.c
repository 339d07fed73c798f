/* The size of a row in HBase, and advice before there are millions of it: for `explain`. Loading the configuration
 * warns of faults in a declaration alone; the advice here needs a reading. Pure. */
#include "commands/cli/output.h"
#include "commands/explain/explained_message.h"
#include "util/units.h"

#define CELL_OVERHEAD_BYTES 20u /* a KeyValue's lengths, time and type */

#define HOUR_NS (3600 * 1000 * TIDE_NS_PER_MS)
#define DAY_NS (24 * HOUR_NS)

/* After one of these, a clock without a date repeats, and so does a calendar without a year. */
static const gint64 cycles_ns[] = {HOUR_NS, DAY_NS, 7 * DAY_NS, 365 * DAY_NS, 366 * DAY_NS};

gsize
tide_stored_cell_bytes(const TideRow *row, const TideCell *cell)
{
  return CELL_OVERHEAD_BYTES + row->key.len + cell->column->family.len + cell->column->qualifier.len + cell->value.len;
}

/* ---- how the qualifier follows the time----------------------------------------------------------------------------
 */

/* A qualifier, built from one reading at several times. */
typedef struct Probe {
  const TideKeyText *text;
  TideReading reading; /* only its time varies */
  TideBuffer first;    /* at the first time */
  TideBuffer other;
} Probe;

static gboolean
append_at(Probe *probe, gint64 ns, TideBuffer *out)
{
  TideReject reject;
  tide_buffer_reset(out);
  probe->reading.event_time_ns = ns;
  /* The name of the field does not matter: only the time varies. */
  return tide_key_text_append(probe->text, &probe->reading, TIDE_BYTES_LITERAL("x"), out, &reject);
}

static gboolean
is_same_at(Probe *probe, gint64 ns)
{
  return append_at(probe, ns, &probe->other) &&
         tide_bytes_equal(tide_buffer_bytes(&probe->first), tide_buffer_bytes(&probe->other));
}

/* How long after @from_ns the qualifier changes, in steps of milliseconds; @span_ns if it does not before that. */
static gint64
slot_ns(Probe *probe, gint64 from_ns, gint64 span_ns)
{
  gint64 same_ns = 0, other_ns = TIDE_NS_PER_MS;
  while (other_ns < span_ns && is_same_at(probe, from_ns + other_ns)) {
    same_ns = other_ns;
    other_ns *= 2;
  }
  if (other_ns >= span_ns) {
    if (is_same_at(probe, from_ns + span_ns - 1))
      return span_ns;
    other_ns = span_ns;
  }
  while (other_ns - same_ns > TIDE_NS_PER_MS) {
    gint64 middle_ns = same_ns + (other_ns - same_ns) / 2;
    if (is_same_at(probe, from_ns + middle_ns))
      same_ns = middle_ns;
    else
      other_ns = middle_ns;
  }
  return other_ns;
}

/* The length of a slot: of the one after that of @from_ns, which may be within a slot. */
static gint64
whole_slot_ns(Probe *probe, gint64 from_ns, gint64 span_ns)
{
  gint64 rest_ns = slot_ns(probe, from_ns, span_ns);
  if (rest_ns == span_ns || !append_at(probe, from_ns + rest_ns, &probe->first))
    return rest_ns;
  return MAX(rest_ns, slot_ns(probe, from_ns + rest_ns, span_ns));
}

/* The time after which the qualifiers repeat; 0: they never do. */
static gint64
cycle_ns(Probe *probe, gint64 from_ns)
{
  for (gsize i = 0; i < G_N_ELEMENTS(cycles_ns); i++) {
    if (is_same_at(probe, from_ns + cycles_ns[i]) && !is_same_at(probe, from_ns + cycles_ns[i] / 2 + 1))
      return cycles_ns[i];
  }
  return 0;
}

/* ---- one row -------------------------------------------------------------------------------------------------------
 */

/* The qualifier that changes from reading to reading; NULL: none of the table does. */
static const TideKeyText *
moving_qualifier(const TideTable *table)
{
  for (guint i = 0; i < table->rules->len; i++) {
    const TideColumnRule *rule = &g_array_index(table->rules, TideColumnRule, i);
    if (rule->qualifier != NULL && !tide_key_text_is_constant(rule->qualifier))
      return rule->qualifier;
  }
  return NULL;
}

static void
find_growth(const TideTable *table, Probe *probe, const TideRow *row, TideRowShape *shape)
{
  TideDecodedKey decoded = {0};
  gboolean ends = tide_row_key_has_time(table->key) && tide_row_key_decode(table->key, row->key, &decoded) &&
                  decoded.has_time && decoded.to_ns > decoded.from_ns;
  gint64 from_ns = ends ? decoded.from_ns : row->event_time_ns, to_ns = decoded.to_ns;
  tide_decoded_key_clear(&decoded);
  if (!append_at(probe, from_ns, &probe->first))
    return;
  gint64 span_ns = ends ? to_ns - from_ns : 0;
  gint64 repeats_ns = cycle_ns(probe, from_ns);
  if (repeats_ns > 0 && (!ends || repeats_ns < span_ns))
    span_ns = repeats_ns;
  gint64 limit_ns = span_ns > 0 ? span_ns : cycles_ns[G_N_ELEMENTS(cycles_ns) - 1];
  gint64 one_ns = whole_slot_ns(probe, from_ns, limit_ns);
  if (one_ns == limit_ns)
    shape->growth = tide_row_key_has_time(probe->text) ? TIDE_ROW_SLOTS : TIDE_ROW_BY_VALUE;
  else if (span_ns == 0)
    shape->growth = TIDE_ROW_WITHOUT_END;
  else {
    shape->growth = TIDE_ROW_SLOTS;
    shape->n_slots = (guint64)((span_ns + one_ns - 1) / one_ns);
  }
}

TideRowShape
tide_row_shape(const TideTable *table, const TideReading *reading, const TideRow *row)
{
  TideRowShape shape = {.growth = TIDE_ROW_ONE_READING, .n_slots = 1};
  for (guint32 i = 0; i < row->n_cells; i++) {
    shape.stored_bytes += tide_stored_cell_bytes(row, &row->cells[i]);
    shape.value_bytes += row->cells[i].value.len;
  }
  Probe probe = {.text = moving_qualifier(table), .reading = *reading};
  if (probe.text != NULL)
    find_growth(table, &probe, row, &shape);
  tide_buffer_clear_memory(&probe.first);
  tide_buffer_clear_memory(&probe.other);
  return shape;
}

/* ---- advice --------------------------------------------------------------------------------------------------------
 */

/* Adds one sentence for all long names, about the longest. */
static void
advise_on_names(const TideRow *row, GPtrArray *advice)
{
  const TideCell *longest = NULL;
  gsize most = 0;
  for (guint32 i = 0; i < row->n_cells; i++) {
    const TideColumn *column = row->cells[i].column;
    gsize bytes = column->family.len + column->qualifier.len;
    if (bytes <= TIDE_ROW_ADVICE_NAME_BYTES || bytes <= most)
      continue;
    longest = &row->cells[i];
    most = bytes;
  }
  if (longest == NULL)
    return;
  g_autofree char *column = tide_column_text(longest->column->family, longest->column->qualifier);
  g_ptr_array_add(advice, g_strdup_printf("the name %s has %" G_GSIZE_FORMAT " bytes, and is stored with each of its "
                                          "values (this one has %" G_GSIZE_FORMAT "): shorten family and qualifier",
                                          column, most, longest->value.len));
}

static void
advise_on_cells(const TideRow *row, GPtrArray *advice)
{
  for (guint32 i = 0; i < row->n_cells; i++) {
    gsize bytes = tide_stored_cell_bytes(row, &row->cells[i]);
    if (bytes <= TIDE_ROW_ADVICE_CELL_BYTES)
      continue;
    g_autofree char *column = tide_column_text(row->cells[i].column->family, row->cells[i].column->qualifier);
    g_autofree char *count = tide_count_text(bytes);
    g_ptr_array_add(advice,
                    g_strdup_printf("the cell %s has %s bytes; HBase works well up to 10 MB: store large values "
                                    "elsewhere and their location here",
                                    column, count));
  }
}

GPtrArray *
tide_row_advice(const TideRow *row, const TideRowShape *shape)
{
  GPtrArray *advice = g_ptr_array_new_with_free_func(g_free);
  advise_on_cells(row, advice);
  guint64 most = shape->stored_bytes * MAX(shape->n_slots, 1);
  g_autofree char *bytes = tide_count_text(most);
  g_autofree char *slots = tide_count_text(shape->n_slots);
  if (most > TIDE_ROW_ADVICE_ROW_BYTES)
    g_ptr_array_add(advice, g_strdup_printf("this row can grow to %s bytes (%s times the cells of this reading); HBase "
                                            "works well up to 100 MB: end rows earlier, or make slots longer",
                                            bytes, slots));
  advise_on_names(row, advice);
  return advice;
}
