#include "commands/verify/samples.h"

struct TideVerifySamples {
  guint max_of_a_kind;
  guint n_of_kind[TIDE_VERDICT_COUNT];
  GArray *all; /* owned (element-type TideVerifySample) */
};

static void
clear_sample(gpointer data)
{
  TideVerifySample *sample = data;
  tide_buffer_clear_memory(&sample->row);
  tide_buffer_clear_memory(&sample->qualifier);
  tide_buffer_clear_memory(&sample->expected);
  tide_buffer_clear_memory(&sample->found);
  tide_buffer_clear_memory(&sample->lost_value);
}

TideVerifySamples *
tide_verify_samples_new(guint max_of_a_kind)
{
  TideVerifySamples *samples = g_new0(TideVerifySamples, 1);
  samples->max_of_a_kind = max_of_a_kind;
  samples->all = g_array_new(FALSE, FALSE, sizeof(TideVerifySample));
  g_array_set_clear_func(samples->all, clear_sample);
  return samples;
}

void
tide_verify_samples_free(TideVerifySamples *samples)
{
  if (samples == NULL)
    return;
  g_array_unref(samples->all);
  g_free(samples);
}

void
tide_verify_samples_offer(TideVerifySamples *samples, TideVerdict verdict, const TideVerifyEntry *entry,
                          const TideVerifyEntry *lost, const TideVerifyTables *tables)
{
  if (!tide_verdicts[verdict].is_sampled || samples->n_of_kind[verdict] >= samples->max_of_a_kind)
    return;
  samples->n_of_kind[verdict]++;
  TideVerifySample sample = {.verdict = verdict,
                             .entry = *entry,
                             .slot = tide_verify_tables_family(tables, entry->family)->table,
                             .has_message = entry->kind == TIDE_VERIFY_EXPECTED,
                             .has_lost = lost != NULL};
  if (lost != NULL)
    sample.lost = *lost;
  g_array_append_val(samples->all, sample);
}

static int
compare_samples(gconstpointer a, gconstpointer b)
{
  const TideVerifySample *left = a, *right = b;
  if (left->verdict != right->verdict)
    return left->verdict < right->verdict ? -1 : 1;
  if (left->slot != right->slot)
    return left->slot < right->slot ? -1 : 1;
  int order = tide_bytes_compare(tide_buffer_bytes(&left->row), tide_buffer_bytes(&right->row));
  return order != 0 ? order
                    : tide_bytes_compare(tide_buffer_bytes(&left->qualifier), tide_buffer_bytes(&right->qualifier));
}

const GArray *
tide_verify_samples_all(TideVerifySamples *samples)
{
  g_array_sort(samples->all, compare_samples);
  return samples->all;
}

/* ---- resolving -----------------------------------------------------------------------------------------------------
 */

typedef struct Resolving {
  TideVerifySamples *samples;
  const TideVerifySampleSources *sources;
  guint slot;    /* of the table that is scanned */
  GError *error; /* owned: of a callback */
} Resolving;

static TideVerifySample *
sample_at(const Resolving *resolving, guint i)
{
  return &g_array_index(resolving->samples->all, TideVerifySample, i);
}

static void
set_bytes(TideBuffer *buffer, TideBytes bytes)
{
  tide_buffer_reset(buffer);
  tide_buffer_append_bytes(buffer, bytes);
}

static gboolean
is_of_row(const TideVerifySample *sample, guint slot, TideVerifyRow row)
{
  return sample->slot == slot && sample->entry.row.high == row.high && sample->entry.row.low == row.low;
}

static gboolean
take_message_cell(guint slot, const TideRow *row, const TideCell *cell, const TideVerifyEntry *entry, gpointer data)
{
  Resolving *resolving = data;
  for (guint i = 0; i < resolving->samples->all->len; i++) {
    TideVerifySample *sample = sample_at(resolving, i);
    if (!sample->has_message || !is_of_row(sample, slot, entry->row) || sample->entry.column != entry->column ||
        sample->entry.time_ms != entry->time_ms)
      continue;
    if (sample->has_lost && sample->lost.value == entry->value)
      set_bytes(&sample->lost_value, cell->value);
    if (sample->entry.value != entry->value)
      continue;
    set_bytes(&sample->row, row->key);
    set_bytes(&sample->qualifier, cell->column->qualifier);
    set_bytes(&sample->expected, cell->value);
    sample->has_expected = sample->is_resolved = TRUE;
  }
  return TRUE;
}

static gint64
take_message(const TideMessage *message, guint part, gpointer data)
{
  Resolving *resolving = data;
  return tide_verify_messages_walk(resolving->sources->messages, message, take_message_cell, resolving,
                                   &resolving->error)
             ? message->offset + 1
             : TIDE_TOPIC_STOP;
}

static int
compare_spans(gconstpointer a, gconstpointer b)
{
  const TideTopicSpan *left = a, *right = b;
  if (left->part != right->part)
    return left->part < right->part ? -1 : 1;
  return (left->begin > right->begin) - (left->begin < right->begin);
}

/* The messages of the samples, each once. */
static GArray *
list_messages(const Resolving *resolving)
{
  GArray *spans = g_array_new(FALSE, FALSE, sizeof(TideTopicSpan));
  for (guint i = 0; i < resolving->samples->all->len; i++) {
    const TideVerifySample *sample = sample_at(resolving, i);
    gint64 offset = tide_verify_source_offset(sample->entry.source);
    TideTopicSpan span = {tide_verify_source_partition(sample->entry.source), offset, offset + 1};
    if (sample->has_message)
      g_array_append_val(spans, span);
    offset = tide_verify_source_offset(sample->lost.source);
    TideTopicSpan lost = {tide_verify_source_partition(sample->lost.source), offset, offset + 1};
    if (sample->has_lost)
      g_array_append_val(spans, lost);
  }
  g_array_sort(spans, compare_spans);
  for (guint i = spans->len; i > 1; i--)
    if (compare_spans(&g_array_index(spans, TideTopicSpan, i - 1), &g_array_index(spans, TideTopicSpan, i - 2)) == 0)
      g_array_remove_index(spans, i - 1);
  return spans;
}

static gboolean
read_messages(Resolving *resolving, GError **error)
{
  const TideVerifySampleSources *sources = resolving->sources;
  g_autoptr(GArray) spans = list_messages(resolving);
  if (!sources->input->read(sources->input->data, sources->parts, spans, take_message, resolving, error))
    return FALSE;
  if (resolving->error == NULL)
    return TRUE;
  g_propagate_error(error, g_steal_pointer(&resolving->error));
  return FALSE;
}

/* Whether a cell of the table at place came from no message and is not found again yet. */
static gboolean
lacks_row(const Resolving *resolving)
{
  for (guint i = 0; i < resolving->samples->all->len; i++) {
    const TideVerifySample *sample = sample_at(resolving, i);
    if (!sample->has_message && !sample->is_resolved && sample->slot == resolving->slot)
      return TRUE;
  }
  return FALSE;
}

static gboolean
take_scanned_row(const TideResultRow *row, gpointer data)
{
  Resolving *resolving = data;
  TideVerifyRow hash = tide_verify_row(resolving->slot, row->row);
  for (guint i = 0; i < resolving->samples->all->len; i++) {
    TideVerifySample *sample = sample_at(resolving, i);
    if (sample->has_message || !is_of_row(sample, resolving->slot, hash))
      continue;
    for (gsize k = 0; k < row->n_cells; k++) {
      TideVerifyEntry entry;
      if (!tide_verify_tables_entry(resolving->sources->tables, resolving->slot, hash, &row->cells[k], &entry) ||
          entry.column != sample->entry.column || entry.time_ms != sample->entry.time_ms)
        continue;
      set_bytes(&sample->row, row->row);
      set_bytes(&sample->qualifier, row->cells[k].qualifier);
      set_bytes(&sample->found, row->cells[k].value);
      sample->found_ms = entry.time_ms;
      sample->has_found = sample->is_resolved = TRUE;
    }
  }
  return lacks_row(resolving);
}

static gboolean
scan_tables(Resolving *resolving, GError **error)
{
  const TideVerifySampleSources *sources = resolving->sources;
  for (guint slot = 0; slot < tide_verify_tables_count(sources->tables); slot++) {
    TideVerifyScan scan = {.slot = slot, .stop = sources->stop, .take_row = take_scanned_row, .data = resolving};
    resolving->slot = slot;
    if (lacks_row(resolving) && !tide_verify_tables_scan(sources->tables, &scan, error))
      return FALSE;
  }
  return TRUE;
}

/* The newest cell of the sample's column. */
static gboolean
take_found_row(const TideResultRow *row, gpointer data)
{
  TideVerifySample *sample = data;
  for (gsize i = 0; i < row->n_cells; i++) {
    const TideResultCell *cell = &row->cells[i];
    if (!tide_bytes_equal(cell->qualifier, tide_buffer_bytes(&sample->qualifier)) ||
        (sample->has_found && cell->timestamp_ms < sample->found_ms))
      continue;
    set_bytes(&sample->found, cell->value);
    sample->found_ms = cell->timestamp_ms;
    sample->has_found = TRUE;
  }
  return TRUE;
}

/* What stands in the place of an expected cell. */
static gboolean
get_found(Resolving *resolving, TideVerifySample *sample, GError **error)
{
  TideVerifyTables *tables = resolving->sources->tables;
  const TideVerifyTable *table = tide_verify_tables_at(tables, sample->slot);
  if (!table->is_there)
    return TRUE;
  TideBytes row = tide_buffer_bytes(&sample->row);
  TideColumnName column = {.family =
                               tide_bytes_of_string(tide_verify_tables_family(tables, sample->entry.family)->name),
                           .qualifier = tide_buffer_bytes(&sample->qualifier)};
  TideGetRequest request = {.rows = &row, .n_rows = 1, .columns = &column, .n_columns = 1};
  TideGatewayTable read = {tide_verify_tables_session(tables), tide_bytes_of_string(table->table->name)};
  return tide_gateway_table_get(&request, take_found_row, sample, &read, error);
}

gboolean
tide_verify_samples_resolve(TideVerifySamples *samples, const TideVerifySampleSources *sources, GError **error)
{
  Resolving resolving = {.samples = samples, .sources = sources};
  if (!read_messages(&resolving, error) || !scan_tables(&resolving, error))
    return FALSE;
  for (guint i = 0; i < samples->all->len; i++) {
    TideVerifySample *sample = sample_at(&resolving, i);
    if (sample->has_expected && !get_found(&resolving, sample, error)) {
      g_prefix_error(error, "cannot read what is in the place of a cell: ");
      return FALSE;
    }
  }
  return TRUE;
}
