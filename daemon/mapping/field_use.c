#include "mapping/field_use.h"

#include "config/option/nearest_name.h"

#define SHOWN_NAMES_MAX 20u

/* If a sender invents names, some name is similar to any other. */
#define MEANT_NAMES_MAX 1000u

typedef enum Mark { MARK_SEEN = 1, MARK_TAKEN = 2, MARK_VALUE = 4 } Mark;

void
tide_field_use_clear(TideFieldUse *use)
{
  g_clear_pointer(&use->marks, g_byte_array_unref);
}

void
tide_field_use_note(TideFieldUse *use, TideMapping *mapping, guint32 n_readings)
{
  const TideReading *readings = tide_mapping_readings(mapping);
  if (use->marks == NULL)
    use->marks = g_byte_array_new();
  for (guint32 i = 0; i < n_readings; i++) {
    use->n_known = readings[i].n_known;
    for (guint32 k = 0; k < readings[i].n_fields; k++) {
      const TideField *field = &readings[i].fields[k];
      guint known = use->marks->len;
      if (field->name_id == TIDE_NAME_NONE) /* a sender invents names: too many to report */
        continue;
      if (field->name_id >= known) {
        g_byte_array_set_size(use->marks, field->name_id + 1);
        memset(use->marks->data + known, 0, field->name_id + 1 - known);
      }
      guint8 *marks = &use->marks->data[field->name_id];
      if ((*marks & MARK_SEEN) == 0 && (field->name_id < use->n_known || tide_mapping_takes(mapping, field)))
        *marks |= MARK_TAKEN;
      *marks |= MARK_SEEN;
      if (field->kind != TIDE_VALUE_NULL)
        *marks |= MARK_VALUE;
    }
  }
  use->n_readings += n_readings;
}

static gboolean
is_of_kind(const TideFieldUse *use, TideNameId id, TideBytes name, TideFieldsKind kind)
{
  guint8 marks = id < use->marks->len ? use->marks->data[id] : 0;
  gboolean is_seen = (marks & MARK_SEEN) != 0, is_taken = (marks & MARK_TAKEN) != 0;
  switch (kind) {
  case TIDE_FIELDS_TAKEN:
    return is_taken && (marks & MARK_VALUE) != 0;
  case TIDE_FIELDS_LEFT:
    return is_seen && !is_taken;
  case TIDE_FIELDS_NULL:
    return is_taken && (marks & MARK_VALUE) == 0;
  case TIDE_FIELDS_ABSENT:
    return !is_seen && id < use->n_known && !tide_field_name_is_of_record(name);
  case TIDE_FIELDS_N_KINDS:
    break;
  }
  return FALSE;
}

char *
tide_field_meant(const TideFieldNames *names, guint32 n_known, TideBytes name)
{
  g_autoptr(GPtrArray) met = g_ptr_array_new_with_free_func(g_free);
  guint32 n_names = MIN(tide_field_names_count(names), n_known + MEANT_NAMES_MAX);
  for (TideNameId id = n_known; id < n_names; id++)
    if (!tide_bytes_equal(tide_field_names_text(names, id), name))
      g_ptr_array_add(met, tide_bytes_printable(tide_field_names_text(names, id)));
  g_ptr_array_add(met, NULL);
  g_autofree char *printable = tide_bytes_printable(name);
  const char *nearest = tide_nearest_name(printable, (const char *const *)met->pdata);
  return nearest != NULL ? g_strdup_printf("did you mean '%s'?", nearest) : NULL;
}

char *
tide_field_use_names(const TideFieldUse *use, const TideMapping *mapping, TideFieldsKind kind)
{
  const TideFieldNames *names = tide_mapping_names(mapping);
  guint32 n_names = use->marks != NULL ? MAX(use->marks->len, use->n_known) : 0, n_found = 0;
  g_autoptr(GString) text = g_string_new(NULL);
  for (TideNameId id = 0; id < n_names; id++) {
    TideBytes name = tide_field_names_text(names, id);
    if (!is_of_kind(use, id, name, kind) || n_found++ >= SHOWN_NAMES_MAX)
      continue;
    g_autofree char *printable = tide_bytes_printable(name);
    g_autofree char *meant = kind == TIDE_FIELDS_ABSENT ? tide_field_meant(names, use->n_known, name) : NULL;
    g_string_append_printf(text, "%s%s", text->len > 0 ? ", " : "", printable);
    if (meant != NULL)
      g_string_append_printf(text, " (%s)", meant);
  }
  if (n_found > SHOWN_NAMES_MAX)
    g_string_append_printf(text, " and %u more", n_found - SHOWN_NAMES_MAX);
  return n_found > 0 ? g_strdup(text->str) : NULL;
}
