/* Options of a table that contradict each other, or are probably not intended together. */
#include "config/load/load_table.h"

static TideSourcePosition
position_of(const TideTableLoad *it, const char *option)
{
  const TideYamlNode *node = tide_yaml_get(it->node, option);

  return node != NULL ? node->position : it->key_node->position;
}

static void
check_ttl(TideTableLoad *it)
{
  const TideYamlNode *ttl = tide_yaml_get(it->node, "ttl");

  if (it->table->latest == TIDE_LATEST_NONE || it->table->ttl_ms == 0)
    return;
  if (it->table->latest == TIDE_LATEST_REPLACE)
    tide_load_error(it->load, ttl,
                    "'%s.ttl' is not possible with 'latest: replace': a delete marker has no time to live and would "
                    "outlive the cells; set the family's 'ttl' instead",
                    it->path);
  else
    tide_load_warning(
        it->load, ttl,
        "'%s' is a latest table with a time to live: a device that has not reported for %s disappears from it",
        it->path, ttl->text);
}

static void
check_cell_time(TideTableLoad *it)
{
  TideCellTime cell_time = it->table->cell_time;

  if (cell_time == TIDE_CELL_TIME_EVENT || it->table->latest == TIDE_LATEST_NONE)
    return;
  if (it->table->latest == TIDE_LATEST_REPLACE)
    tide_problems_add_error(
        it->load->problems, position_of(it, "cell_time"),
        "'%s.cell_time' must be event with 'latest: replace': the row is deleted up to the reading's event time",
        it->path);
  else if (cell_time == TIDE_CELL_TIME_RECORD)
    tide_problems_add_warning(
        it->load->problems, position_of(it, "cell_time"),
        "'%s' is a latest table with record time: the last message in Kafka wins, not the newest by event time",
        it->path);
}

/* Conditions that a message without a value always meets. */
static void
note_unknown_conditions(TideTableLoad *it)
{
  const GArray *conditions = it->table->conditions;
  g_autoptr(GArray) of_key = g_array_new(FALSE, FALSE, sizeof(TideNameId));

  tide_row_key_fields(it->table->key, of_key);
  for (guint i = 0; conditions != NULL && i < conditions->len; i++) {
    TideNameId field = g_array_index(conditions, TideCondition, i).field;
    TideBytes name = tide_field_names_text(it->load->config->names, field);
    if (tide_field_name_is_of_record(name) || tide_name_ids_contain(of_key, field))
      continue;
    g_autofree char *shown = tide_bytes_printable(name);
    tide_problems_add_notice(it->load->config->notices, position_of(it, "tombstone"),
                             "'%s.when' needs '%s', which a message without a value does not have: unless its key is "
                             "JSON and contains it, the message deletes the row whatever '%s' was",
                             it->path, shown, shown);
  }
}

static void
check_tombstone(TideTableLoad *it)
{
  if (it->table->tombstone == TIDE_TOMBSTONE_IGNORE)
    return;
  if (it->table->latest == TIDE_LATEST_NONE)
    tide_problems_add_error(it->load->problems, position_of(it, "tombstone"),
                            "'%s.tombstone: delete' is only possible in a latest table, because a history table keeps "
                            "its rows as measured; remove it, or set 'latest: merge'",
                            it->path);
  else if (it->table->key != NULL && tide_row_key_has_time(it->table->key))
    tide_problems_add_error(it->load->problems, position_of(it, "tombstone"),
                            "'%s.tombstone: delete' is not possible with the time in the key: a message without a "
                            "value has no event time; remove the time from the key",
                            it->path);
  else if (it->table->key != NULL)
    note_unknown_conditions(it);
}

void
tide_load_check_table(TideTableLoad *it)
{
  check_ttl(it);
  check_cell_time(it);
  check_tombstone(it);
}
