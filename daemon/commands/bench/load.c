/* The messages of a measurement: given or synthetic, and all in memory before it begins. */
#include "commands/bench/bench.h"
#include "commands/cli/message_lines.h"
#include "mapping/mapping.h"
#include "util/clock.h"
#include "util/error.h"

TideBenchLoad *
tide_bench_load_new(const TideConfig *config)
{
  TideBenchLoad *load = g_new0(TideBenchLoad, 1);
  load->topic = tide_bytes_of_string(config->kafka.topics[0]);
  load->timestamp_ms = tide_wall_clock_epoch_ms();
  load->messages = g_array_new(FALSE, FALSE, sizeof(TideBenchMessage));
  return load;
}

void
tide_bench_load_free(TideBenchLoad *load)
{
  if (load == NULL)
    return;
  tide_buffer_clear_memory(&load->bytes);
  g_array_unref(load->messages);
  g_free(load->first_reject);
  g_free(load);
}

void
tide_bench_load_add(TideBenchLoad *load, TideBytes key, TideBytes value)
{
  TideBenchMessage message = {.offset = load->bytes.len, .key_len = (guint32)key.len, .value_len = (guint32)value.len};
  tide_buffer_append_bytes(&load->bytes, key);
  tide_buffer_append_bytes(&load->bytes, value);
  g_array_append_val(load->messages, message);
}

void
tide_bench_load_simulate(TideBenchLoad *load, const TideSimulationParameters *parameters)
{
  g_autoptr(TideSimulation) simulation = tide_simulation_new(parameters);
  g_auto(TideBuffer) key = {0};
  g_auto(TideBuffer) value = {0};
  TideSimulatedMessage message;
  while (tide_simulation_next(simulation, &message)) {
    tide_buffer_reset(&key);
    tide_buffer_reset(&value);
    tide_simulation_append_key(simulation, &message, &key);
    tide_simulation_append_payload(simulation, &message, &value);
    tide_bench_load_add(load, tide_buffer_bytes(&key), tide_buffer_bytes(&value));
  }
}

/* ---- given messages ---- */

typedef struct Lines {
  TideBenchLoad *load; /* borrowed */
  guint64 max_messages;
} Lines;

static gboolean
add_line(TideBytes line, gpointer data, GError **error)
{
  Lines *lines = data;
  tide_bench_load_add(lines->load, TIDE_BYTES_EMPTY, line);
  return lines->load->messages->len < lines->max_messages;
}

gboolean
tide_bench_load_read(TideBenchLoad *load, const char *path, const TideDecodeOptions *decode, guint64 max_messages,
                     GError **error)
{
  Lines lines = {.load = load, .max_messages = max_messages};
  const char *file = strcmp(path, "-") != 0 ? path : NULL;
  return load->messages->len >= max_messages ||
         tide_message_path_read(file, tide_message_is_whole(decode), add_line, &lines, error);
}

/* ---- counts ---- */

/* Overhead in addition to row key, family, qualifier and value: their lengths (4 + 4 + 2 + 1), time (8) and kind
 * (1). */
#define KEY_VALUE_BYTES 20

static void
count_row(TideBenchRows *rows, const TideRow *row, const TideTable *table)
{
  rows->rows++;
  rows->cells += row->n_cells;
  for (guint32 i = 0; i < row->n_cells; i++) {
    const TideCell *cell = &row->cells[i];
    gsize n_bytes =
        KEY_VALUE_BYTES + row->key.len + cell->column->family.len + cell->column->qualifier.len + cell->value.len;
    gint64 ttl_ms = tide_table_ttl_ms(table, cell->column->family);
    rows->stored_bytes += n_bytes;
    if (ttl_ms == 0)
      continue;
    rows->ttl_bytes += n_bytes;
    rows->ttl_byte_ms += (double)n_bytes * (double)ttl_ms;
    rows->min_ttl_ms = rows->min_ttl_ms == 0 ? ttl_ms : MIN(rows->min_ttl_ms, ttl_ms);
    rows->max_ttl_ms = MAX(rows->max_ttl_ms, ttl_ms);
  }
}

static void
take_out_rejected(TideBenchLoad *load, TideMapping *mapping)
{
  TideBenchMessage *messages = (TideBenchMessage *)(void *)load->messages->data;
  guint n_kept = 0;
  for (guint i = 0; i < load->messages->len; i++) {
    TideMessage message = tide_bench_load_message(load, i);
    TideMapped mapped;
    TideReject reject = {0};
    if (tide_mapping_apply(mapping, &message, &mapped, &reject)) {
      messages[n_kept++] = messages[i];
      load->given_bytes += message.key.len + message.value.len;
    } else if (load->n_rejected++ == 0)
      load->first_reject = tide_reject_describe(&reject);
  }
  g_array_set_size(load->messages, n_kept);
  load->n_given = n_kept;
}

gboolean
tide_bench_load_settle(TideBenchLoad *load, const TideConfig *config, guint64 n_messages, GError **error)
{
  g_autoptr(TideMapping) mapping = tide_mapping_new(config, TIDE_WIRE_BINARY);
  take_out_rejected(load, mapping);
  for (guint i = 0; load->n_given > 0 && load->messages->len < n_messages; i++) {
    TideBenchMessage again = g_array_index(load->messages, TideBenchMessage, i);
    g_array_append_val(load->messages, again);
  }
  for (guint i = 0; i < load->messages->len; i++) {
    TideMessage message = tide_bench_load_message(load, i);
    TideMapped mapped;
    TideReject reject = {0};
    if (!tide_mapping_apply(mapping, &message, &mapped, &reject))
      continue;
    load->n_readings += mapped.n_readings;
    for (guint32 k = 0; k < mapped.n_rows; k++) {
      const TideTable *table = g_ptr_array_index(config->tables, mapped.rows[k].table_index);
      count_row(table->latest == TIDE_LATEST_NONE ? &load->history : &load->latest, &mapped.rows[k], table);
    }
  }
  load->n_rows = load->history.rows + load->latest.rows;
  load->n_cells = load->history.cells + load->latest.cells;
  if (load->n_rows > 0)
    return TRUE;
  if (load->first_reject != NULL)
    tide_fail(error, TIDE_ERROR_DATA, "no message can be used; the first one: %s", load->first_reject);
  else if (load->messages->len == 0)
    tide_fail(error, TIDE_ERROR_DATA, "there are no messages");
  else
    tide_fail(error, TIDE_ERROR_DATA, "no table accepts any of the messages");
  return FALSE;
}
