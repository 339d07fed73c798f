/* The mapping of a complete configuration, for one message at a time. */
#pragma once

#include "config-texts.h"
#include "mapping/mapping.h"

#define RECORD_TIME_MS G_GINT64_CONSTANT(1426535620000)

typedef struct MappingFixture {
  TideConfig *config;   /* owned */
  TideMapping *mapping; /* owned */
  const char *topic;    /* this and the next two are for the following messages */
  gint64 record_time_ms;
  gboolean is_append_time;
  TideMapped mapped; /* of the last message, or */
  TideReject reject;
} MappingFixture;

static inline MappingFixture
mapping_fixture_of(const char *text)
{
  TideConfig *config = load_text(text);
  return (MappingFixture){.config = config,
                          .mapping = tide_mapping_new(config, TIDE_WIRE_BINARY),
                          .topic = "metrics",
                          .record_time_ms = RECORD_TIME_MS};
}

static inline void
mapping_fixture_clear(MappingFixture *fixture)
{
  tide_mapping_free(fixture->mapping);
  tide_config_free(fixture->config);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(MappingFixture, mapping_fixture_clear)

/* @key: NULL: none. @value: NULL: a tombstone. */
static inline gboolean
mapping_fixture_apply(MappingFixture *fixture, const char *key, const char *value)
{
  TideMessage message = {.topic = tide_bytes_of_string(fixture->topic),
                         .offset = 42,
                         .timestamp_ms = fixture->record_time_ms,
                         .is_append_time = fixture->is_append_time,
                         .key = tide_bytes_of_string(key),
                         .value = tide_bytes_of_string(value),
                         .has_value = value != NULL};
  return tide_mapping_apply(fixture->mapping, &message, &fixture->mapped, &fixture->reject);
}

/* "REASON field" (transfer full) */
static inline char *
reject_text(const TideReject *reject)
{
  g_autofree char *field = tide_bytes_printable(reject->field);
  return g_strdup_printf("%s %s", tide_reject_reason_name(reject->reason), field);
}

/* "TABLE key M:column=value@time ..." */
static inline void
append_row(GString *text, const TideConfig *config, const TideRow *row)
{
  const TideTable *table = g_ptr_array_index(config->tables, row->table_index);
  g_autofree char *key = tide_bytes_printable(row->key);
  g_autofree char *dated = tide_bytes_printable(row->table_name);
  g_string_append_printf(text, "%s %s", row->table_name.len > 0 ? dated : table->name, key);
  if (row->follows > 0)
    g_string_append_printf(text, " after-row-%u", row->follows - 1);
  if (row->delete_to_ms > 0)
    g_string_append_printf(text, " deletes-to-%" G_GINT64_FORMAT, row->delete_to_ms);
  for (guint32 i = 0; i < row->n_cells; i++) {
    const TideCell *cell = &row->cells[i];
    g_autofree char *family = tide_bytes_printable(cell->column->family);
    g_autofree char *qualifier = tide_bytes_printable(cell->column->qualifier);
    g_autofree char *value = tide_bytes_printable(cell->value);
    g_string_append_printf(text, " %s:%s=%s@%" G_GINT64_FORMAT, family, qualifier, value, cell->timestamp_ms);
  }
  g_string_append_c(text, '\n');
}

/* Rows in the form of append_row(), or "REASON field" if the message is rejected; the message has been freed by then.
 * @key: NULL: none. @value: NULL: a tombstone. (transfer full) */
static inline char *
mapping_fixture_outcome(MappingFixture *fixture, const char *key, const char *value)
{
  g_autofree char *copy = g_strdup(value);
  gboolean good = mapping_fixture_apply(fixture, key, copy);
  if (copy != NULL)
    memset(copy, '#', strlen(copy));
  if (!good)
    return reject_text(&fixture->reject);
  GString *text = g_string_new(NULL);
  for (guint32 i = 0; i < fixture->mapped.n_rows; i++)
    append_row(text, fixture->config, &fixture->mapped.rows[i]);
  return g_string_free(text, FALSE);
}

static inline void
assert_outcome(MappingFixture *fixture, const char *value, const char *expected)
{
  g_autofree char *outcome = mapping_fixture_outcome(fixture, NULL, value);
  g_assert_cmpstr(outcome, ==, expected);
}
