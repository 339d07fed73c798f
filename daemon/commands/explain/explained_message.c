#include "commands/explain/explained_message.h"

#include "commands/cli/message_lines.h"
#include "commands/cli/output.h"
#include "commands/cli/overwritten_cells.h"
#include "commands/cli/time_argument.h"
#include "commands/tables/split_sample.h"
#include "config/config_source.h"
#include "config/option/option_value.h"
#include "mapping/field_use.h"
#include "mapping/mapping.h"
#include "model/time/time_forms.h"
#include "util/clock.h"
#include "util/units.h"

#include <unistd.h>

/* Row keys kept of each table, to find out whether they increase with time. */
#define TREND_KEYS 1000u

/* The state of explain for one declared table. */
typedef struct TableNotes {
  GPtrArray *warnings;     /* owned (element-type utf8): of its declaration */
  GPtrArray *notes;        /* owned (element-type utf8): the same, for what may be intended */
  TideCellReader *reader;  /* owned */
  TideSplitSample *sample; /* owned */
  gboolean shown;          /* its warnings were printed as text */
} TableNotes;

struct TideExplainer {
  TideExplainerOptions options;
  TideMapping *mapping; /* owned */
  TideFieldUse field_use;
  guint32 n_known;     /* names that the configuration uses */
  TableNotes *tables;  /* owned, by the tables' index */
  GHashTable *regions; /* owned: name of a table -> GPtrArray of TideRegion */
  GPtrArray *none;     /* owned: no warnings */
  TideWireProtocol protocol;
  TideExplainerCounts counts;
  TideOverwrittenCells *overwritten; /* owned */

  /* of the current message */
  const TideMessage *message;
  guint64 line;
  TideMapped mapped;
  GPtrArray *rows; /* owned (element-type TideRow, borrowed): in the order of their readings */
};

/* ---- tables --------------------------------------------------------------------------------------------------------
 */

static const TideTable *
table_at(const TideExplainer *explainer, guint32 index)
{
  return explainer->options.config->tables->pdata[index];
}

static void
take_problems(const TideExplainer *explainer, const TideTable *table, const GPtrArray *problems, GPtrArray *warnings)
{
  const GPtrArray *tables = explainer->options.config->tables;
  guint end = G_MAXUINT; /* the line of the next table in the file */
  for (guint i = 0; i < tables->len; i++) {
    guint line = ((const TideTable *)tables->pdata[i])->line;
    end = line > table->line ? MIN(end, line) : end;
  }
  for (guint i = 0; i < problems->len; i++) {
    const TideConfigProblem *problem = problems->pdata[i];
    if (problem->line >= table->line && problem->line < end)
      g_ptr_array_add(warnings, g_strdup(problem->text));
  }
}

TideExplainer *
tide_explainer_new(const TideExplainerOptions *options)
{
  TideExplainer *explainer = g_new0(TideExplainer, 1);
  const TideConfig *config = options->config;
  explainer->options = *options;
  explainer->protocol = options->session != NULL      ? tide_gateway_session_mode(options->session).protocol
                        : config->hbase.protocol >= 0 ? (TideWireProtocol)config->hbase.protocol
                                                      : TIDE_WIRE_BINARY;
  explainer->mapping = tide_mapping_new(config, explainer->protocol);
  explainer->n_known = tide_field_names_count(tide_mapping_names(explainer->mapping));
  explainer->regions = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
  explainer->none = g_ptr_array_new();
  explainer->rows = g_ptr_array_new();
  explainer->overwritten = tide_overwritten_cells_new(config->tables->len);
  explainer->tables = g_new0(TableNotes, config->tables->len);
  for (guint i = 0; i < config->tables->len; i++) {
    TableNotes *notes = &explainer->tables[i];
    notes->warnings = g_ptr_array_new_with_free_func(g_free);
    take_problems(explainer, table_at(explainer, i), options->problems, notes->warnings);
    notes->notes = g_ptr_array_new_with_free_func(g_free);
    take_problems(explainer, table_at(explainer, i), config->notices, notes->notes);
    notes->reader = tide_cell_reader_new(table_at(explainer, i), tide_mapping_names(explainer->mapping));
    notes->sample = tide_split_sample_new(TREND_KEYS);
  }
  return explainer;
}

void
tide_explainer_free(TideExplainer *explainer)
{
  if (explainer == NULL)
    return;
  for (guint i = 0; i < explainer->options.config->tables->len; i++) {
    g_ptr_array_unref(explainer->tables[i].warnings);
    g_ptr_array_unref(explainer->tables[i].notes);
    tide_cell_reader_free(explainer->tables[i].reader);
    tide_split_sample_free(explainer->tables[i].sample);
  }
  g_free(explainer->tables);
  tide_field_use_clear(&explainer->field_use);
  tide_mapping_free(explainer->mapping);
  g_hash_table_unref(explainer->regions);
  g_ptr_array_unref(explainer->none);
  g_ptr_array_unref(explainer->rows);
  tide_overwritten_cells_free(explainer->overwritten);
  g_free(explainer);
}

/* The regions of the table called @name, asked for once; none while it does not exist. NULL on failure. */
static const GPtrArray *
regions_of(TideExplainer *explainer, const char *name, GError **error)
{
  GPtrArray *regions = g_hash_table_lookup(explainer->regions, name);
  if (regions != NULL)
    return regions;
  TideGatewaySession *session = explainer->options.session;
  regions = tide_hbase_client_regions(tide_gateway_session_client(session), tide_bytes_of_string(name),
                                      tide_gateway_session_deadline_us(session), error);
  if (regions == NULL) {
    g_prefix_error(error, "cannot read the regions of '%s': ", name);
    return NULL;
  }
  if (regions->len == 0)
    tide_say("tidemark explain: '%s' does not exist yet: its region is not shown", name);
  g_hash_table_insert(explainer->regions, g_strdup(name), regions);
  return regions;
}

/* ---- the position of a message -------------------------------------------------------------------------------------
 */

static char *
position_text(const TideExplainer *explainer)
{
  if (explainer->line > 0)
    return g_strdup_printf("line %" G_GUINT64_FORMAT, explainer->line);
  return g_strdup_printf("partition %d, offset %" G_GINT64_FORMAT, explainer->message->partition,
                         explainer->message->offset);
}

/* Begins a line with the position of the message. */
static void
begin_json(const TideExplainer *explainer, TideBuffer *text)
{
  tide_json_open(text, NULL, '{');
  if (explainer->line > 0) {
    tide_json_number(text, "line", (gint64)explainer->line);
    return;
  }
  tide_json_number(text, "partition", explainer->message->partition);
  tide_json_number(text, "offset", explainer->message->offset);
}

/* ---- rejects and rows ----------------------------------------------------------------------------------------------
 */

/* Follows a result that may differ for another record time. */
static const char *
time_note(const TideExplainer *explainer)
{
  return explainer->options.record_time_is_now ? " (the record's time is taken as now; give it with --timestamp)" : "";
}

/* What the operator can do if the declaration decides and the reject has no better remedy. */
#define PARSE_REMEDY "check that 'readings.format' is what senders write, and that this message is complete"

static const char *const remedies[TIDE_REJECT_N_REASONS] = {
    [TIDE_REJECT_EMPTY] = "find out what sends it, or skip such messages with 'readings.on_bad_message: skip'",
    [TIDE_REJECT_TOO_LARGE] = "make senders send less at once, or raise the limit: 'readings.max_message_size', "
                              "'max_readings' for readings, 'batch.max_bytes' for a row",
    [TIDE_REJECT_PARSE] = PARSE_REMEDY,
    [TIDE_REJECT_UTF8] = "make senders write UTF-8",
    [TIDE_REJECT_DEPTH] = "raise 'readings.max_depth', or make senders nest less",
    [TIDE_REJECT_TOO_MANY_FIELDS] = "raise 'readings.max_fields', or make senders write fewer fields into a reading",
    [TIDE_REJECT_DUPLICATE_FIELD] =
        "make senders name each field once; if a nested name equals a flat one, use another 'readings.separator'",
    [TIDE_REJECT_TYPE] = "set 'nulls' to skip or empty",
    [TIDE_REJECT_NUMBER] = "use another 'encode', such as text",
    [TIDE_REJECT_MISSING_FIELD] =
        "give the key's part a 'default', or exclude such readings from the table with 'when'",
    [TIDE_REJECT_BAD_KEY] = "escape values that contain the following literal ('separator: escape'), or give them a "
                            "'width'; cut values that are too long ('long: cut')",
    [TIDE_REJECT_BAD_COLUMN] = "make senders name it, or name its column with 'as' or 'prefix'",
    [TIDE_REJECT_TIME_INVALID] = "check that the time's 'field' and 'format' are those of the readings and, if times "
                                 "have no offset from UTC, that 'zone' is that of the senders' clocks",
    [TIDE_REJECT_TIME_AMBIGUOUS] =
        "make senders write UTC or an offset, or set the time's 'ambiguous' to the moment that is meant",
    [TIDE_REJECT_TIME_IMPLAUSIBLE] = "check that the time's 'format' has the readings' unit, and check 'earliest'",
    [TIDE_REJECT_TIME_FUTURE] =
        "set the sender's clock, raise the time's 'max_future', or keep such readings only in history with 'on_future'",
    [TIDE_REJECT_ROW_TOO_LONG] = "remove long values from the key, hash them, or cut them ('width', 'long: cut')",
    [TIDE_REJECT_NO_CELLS] =
        "check which fields 'columns' selects, or exclude such readings from the table with 'when'",
    [TIDE_REJECT_CELL_TOO_LARGE] = "store large values elsewhere, or raise 'hbase.max_cell_size' here and in HBase",
};

/* NULL: none */
static const char *
remedy_by_reason(const TideExplainer *explainer, const TideReject *reject)
{
  if (reject->remedy != NULL || reject->reason != TIDE_REJECT_PARSE)
    return reject->remedy != NULL ? reject->remedy : remedies[reject->reason];
  const TideConfigSource *source = tide_config_source_of_topic(explainer->options.config, explainer->message->topic);
  const TideDecodeOptions *decode = &source->readings->decode;
  const char *by_message = tide_message_remedy(decode, explainer->message->value);
  if (by_message != NULL || !explainer->options.by_line || decode->format != TIDE_FORMAT_JSON)
    return by_message != NULL ? by_message : PARSE_REMEDY;
  return PARSE_REMEDY ": '--whole' reads a message of several lines, and 'jq -c .' turns it into one line";
}

/* The form that reads the rejected time, or the remedy of the reason. (transfer full) (nullable) */
static char *
remedy_of(const TideExplainer *explainer, const TideReject *reject)
{
  gboolean is_form = reject->reason == TIDE_REJECT_TIME_INVALID || reject->reason == TIDE_REJECT_TIME_IMPLAUSIBLE;
  gint64 earliest_ms = reject->bound == TIDE_REJECT_BOUND_EARLIEST ? reject->bound_ms : 0;
  char *by_value = is_form && reject->remedy == NULL ? tide_time_forms_remedy(reject->value, earliest_ms) : NULL;
  return by_value != NULL ? by_value : g_strdup(remedy_by_reason(explainer, reject));
}

/* Describes the fault, with its line if the message has several. @is_alone: the reading's number is printed before it.
 * (transfer full) */
static char *
reject_text(const TideExplainer *explainer, const TideReject *reject, gboolean is_alone)
{
  const TideMessage *message = explainer->message;
  const TideConfigSource *source = tide_config_source_of_topic(explainer->options.config, message->topic);
  gsize end = MIN((gsize)MAX(reject->byte_position, 0), message->value.len);
  guint line = 1;
  for (gsize i = 0; i < end; i++)
    line += message->value.data[i] == '\n';
  const TideDecodeOptions *decode = &source->readings->decode;
  gboolean has_lines = decode->format == TIDE_FORMAT_CSV || !tide_message_is_whole(decode);
  g_autofree char *place = line > 1 && has_lines ? g_strdup_printf(" (line %u of the message)", line) : g_strdup("");
  TideReject said = *reject;
  said.reading_index = is_alone ? 0 : reject->reading_index;
  g_autofree char *reason = tide_reject_describe(&said);
  g_autofree char *meant =
      reject->reason == TIDE_REJECT_MISSING_FIELD && reject->field.len > 0
          ? tide_field_meant(tide_mapping_names(explainer->mapping), explainer->n_known, reject->field)
          : NULL;
  return g_strconcat(reason, place, meant != NULL ? "; " : "", meant != NULL ? meant : "",
                     reject->by_record_time ? time_note(explainer) : "", NULL);
}

/* @is_alone: only the reading is rejected, not the message. */
static void
print_rejected(TideExplainer *explainer, const TideReject *reject, gboolean is_alone)
{
  explainer->counts.n_rejected++;
  g_autofree char *sentence = reject_text(explainer, reject, is_alone);
  const char *reason = tide_reject_reason_name(reject->reason);
  g_autofree char *remedy = remedy_of(explainer, reject);
  if (!explainer->options.json) {
    g_autofree char *position = position_text(explainer);
    g_autofree char *reading =
        is_alone ? g_strdup_printf(", reading %u of %u", reject->reading_index + 1, explainer->mapped.n_readings)
                 : NULL;
    printf("%s%s: rejected as %s: %s\n", position, is_alone ? reading : "", reason, sentence);
    if (remedy != NULL)
      printf("  remedy: %s\n", remedy);
    return;
  }
  g_auto(TideBuffer) text = {0};
  begin_json(explainer, &text);
  tide_json_text(&text, "rejected", reason);
  tide_json_number(&text, "reading", reject->reading_index);
  if (is_alone)
    tide_json_bool(&text, "alone", TRUE);
  if (reject->byte_position >= 0)
    tide_json_number(&text, "byte", reject->byte_position);
  tide_json_shown_text(&text, "text", sentence);
  if (remedy != NULL)
    tide_json_shown_text(&text, "remedy", remedy);
  tide_json_print_line(&text, stdout);
}

/* The first of @conditions that is not met. (transfer full) (nullable) */
static char *
describe_unmet(const TideExplainer *explainer, const GArray *conditions, const TideReading *reading)
{
  for (guint i = 0; conditions != NULL && i < conditions->len; i++) {
    const TideCondition *condition = &g_array_index(conditions, TideCondition, i);
    if (!tide_condition_holds(condition, reading))
      return tide_condition_describe(condition, tide_mapping_names(explainer->mapping));
  }
  return NULL;
}

/* Why @table has no row of @reading. (transfer full) */
static char *
why_not_taken(const TideExplainer *explainer, const TideTable *table, const TideReading *reading)
{
  const TideConfigSource *source = tide_mapping_source(explainer->mapping, explainer->message->topic);
  g_autofree char *of_source = describe_unmet(explainer, source->conditions, reading);
  g_autofree char *of_table = describe_unmet(explainer, table->conditions, reading);
  if (!tide_config_takes_from(table, source))
    return g_strdup_printf("it accepts nothing from the source '%s'", source->name);
  if (of_source != NULL)
    return g_strdup_printf("the source '%s' accepts only readings whose %s", source->name, of_source);
  if (of_table != NULL)
    return g_strdup_printf("it accepts only readings whose %s", of_table);
  const TideExpired *expired = explainer->mapped.expired;
  if (expired != NULL && expired[table->index].n_future_rows > 0)
    return g_strconcat(
        "later than the record's time by more than max_future, which on_future keeps out of latest tables",
        time_note(explainer), NULL);
  if (expired == NULL || expired[table->index].n_rows == 0)
    return g_strdup_printf("it is the index of '%s', which has no row", table_at(explainer, table->index_of)->name);
  g_autofree char *ttl = tide_duration_format(expired[table->index].ttl_ms);
  return g_strdup_printf("expired: older than its time to live of %s, so HBase would never show it%s", ttl,
                         time_note(explainer));
}

static void
print_not_taken(const TideExplainer *explainer, guint32 reading_index, const TideTable *table)
{
  g_autofree char *why = why_not_taken(explainer, table, &tide_mapping_readings(explainer->mapping)[reading_index]);
  if (!explainer->options.json) {
    printf("  %s  not written: %s\n", table->name, why);
    return;
  }
  g_auto(TideBuffer) text = {0};
  begin_json(explainer, &text);
  tide_json_number(&text, "reading", reading_index);
  tide_json_shown_text(&text, "not_written", table->name);
  tide_json_shown_text(&text, "text", why);
  tide_json_print_line(&text, stdout);
}

/* Prints the tables in which a message without a value deletes rows, but not this one. */
static void
print_not_deleted(const TideExplainer *explainer)
{
  for (guint i = 0; i < explainer->options.config->tables->len; i++) {
    const TideTable *table = table_at(explainer, i);
    const TideCondition *unmet = tide_mapping_unmet(explainer->mapping, i);
    if (unmet == NULL)
      continue;
    g_autofree char *why = tide_condition_describe(unmet, tide_mapping_names(explainer->mapping));
    g_autofree char *sentence = g_strdup_printf("it accepts only messages whose %s", why);
    if (!explainer->options.json) {
      printf("  %s  nothing deleted: %s\n", table->name, sentence);
      continue;
    }
    g_auto(TideBuffer) text = {0};
    begin_json(explainer, &text);
    tide_json_shown_text(&text, "not_deleted", table->name);
    tide_json_shown_text(&text, "text", sentence);
    tide_json_print_line(&text, stdout);
  }
}

static gboolean
print_row(TideExplainer *explainer, const TideRow *row, GError **error)
{
  const TideTable *table = table_at(explainer, row->table_index);
  TableNotes *notes = &explainer->tables[row->table_index];
  TideReading reading = tide_mapping_readings(explainer->mapping)[row->reading_index];
  reading.event_time_ns = row->event_time_ns;
  gboolean repeats = notes->shown && !explainer->options.json;
  TideExplainedRow explained = {
      .config = explainer->options.config,
      .names = tide_mapping_names(explainer->mapping),
      .reading = &reading,
      .row = row,
      .rows = explainer->mapped.rows,
      .expired_ttl_ms = row->n_expired_cells > 0 ? explainer->mapped.expired[table->index].ttl_ms : 0,
      .reader = notes->reader,
      .warnings = repeats ? explainer->none : notes->warnings,
      .notes = repeats ? explainer->none : notes->notes,
      .protocol = explainer->protocol,
  };
  if (explainer->options.session != NULL) {
    g_autofree char *name = row->table_name.len > 0 ? g_strndup((const char *)row->table_name.data, row->table_name.len)
                                                    : g_strdup(table->name);
    const GPtrArray *regions = regions_of(explainer, name, error);
    if (regions == NULL)
      return FALSE;
    explained.region = tide_region_of_key(regions, row->key);
  }
  if (explainer->options.json) {
    g_auto(TideBuffer) text = {0};
    begin_json(explainer, &text);
    tide_explained_row_json(&explained, &text);
    tide_json_print_line(&text, stdout);
  } else {
    g_autofree char *text = tide_explained_row_text(&explained);
    fputs(text, stdout);
  }
  notes->shown = TRUE;
  tide_split_sample_add(notes->sample, row->key, row->event_time_ns);
  return TRUE;
}

/* ---- a message -----------------------------------------------------------------------------------------------------
 */

static int
compare_readings(gconstpointer a, gconstpointer b)
{
  const TideRow *left = *(const TideRow *const *)a, *right = *(const TideRow *const *)b;
  if (left->reading_index != right->reading_index)
    return left->reading_index < right->reading_index ? -1 : 1;
  return (left > right) - (left < right); /* in the order of mapping */
}

static void
print_heading(const TideExplainer *explainer, guint32 reading_index, gint64 event_time_ns)
{
  if (explainer->options.json)
    return;
  g_autofree char *position = position_text(explainer);
  const TideReading *reading = &tide_mapping_readings(explainer->mapping)[reading_index];
  g_autoptr(GString) line = g_string_new(NULL);
  g_autoptr(GString) text = g_string_new(NULL);
  g_string_append_printf(text, "%s, reading %u of %u: %u fields", position, reading_index + 1,
                         explainer->mapped.n_readings, reading->n_fields);
  const TideConfigSource *source = tide_mapping_source(explainer->mapping, explainer->message->topic);
  if (source->name != NULL)
    g_string_append_printf(text, ", source %s", source->name);
  if (event_time_ns > 0) {
    gint64 time_ms = tide_ns_to_ms(event_time_ns);
    g_autofree char *time = tide_time_text(time_ms);
    g_string_append_printf(text, ", event time %" G_GINT64_FORMAT " = %s", time_ms, time);
  }
  if (isatty(STDOUT_FILENO) == 1)
    tide_text_fill(line, text->str, 4);
  puts(line->len > 0 ? line->str : text->str);
}

/* Prints the rows of one reading, from @at on, and the tables without one. Returns: the first row of the next reading.
 */
static gboolean
print_reading(TideExplainer *explainer, guint32 reading_index, guint *at, GError **error)
{
  const GPtrArray *tables = explainer->options.config->tables;
  g_autofree gboolean *taken = g_new0(gboolean, tables->len);
  guint end = *at;
  while (end < explainer->rows->len && ((const TideRow *)explainer->rows->pdata[end])->reading_index == reading_index)
    end++;
  print_heading(explainer, reading_index,
                end > *at ? ((const TideRow *)explainer->rows->pdata[*at])->event_time_ns : 0);
  for (; *at < end; (*at)++) {
    const TideRow *row = explainer->rows->pdata[*at];
    taken[row->table_index] = TRUE;
    if (!print_row(explainer, row, error))
      return FALSE;
  }
  for (guint i = 0; i < tables->len; i++) {
    if (!taken[i])
      print_not_taken(explainer, reading_index, tables->pdata[i]);
  }
  return TRUE;
}

static void
print_no_reading(const TideExplainer *explainer, const char *what)
{
  if (!explainer->options.json) {
    g_autofree char *position = position_text(explainer);
    printf("%s: %s\n", position, what);
    return;
  }
  g_auto(TideBuffer) text = {0};
  begin_json(explainer, &text);
  tide_json_number(&text, "readings", 0);
  tide_json_text(&text, "text", what);
  tide_json_print_line(&text, stdout);
}

/* Prints readings in the message's order. A tombstone has no readings, but rows to delete. */
static gboolean
print_mapped(TideExplainer *explainer, GError **error)
{
  explainer->counts.n_rows += explainer->mapped.n_rows;
  tide_overwritten_cells_add(explainer->overwritten, explainer->mapped.rows, explainer->mapped.n_rows);
  g_autofree char *position = position_text(explainer);
  if (explainer->mapped.n_cut_times > 0 && !explainer->options.json)
    printf("%s: a time finer than nanoseconds was truncated\n", position);
  if (explainer->mapped.n_ambiguous_readings > 0 && !explainer->options.json)
    printf("%s: a local time that occurs twice; 'ambiguous' decided which is meant%s\n", position,
           time_note(explainer));
  g_ptr_array_set_size(explainer->rows, 0);
  for (guint32 i = 0; i < explainer->mapped.n_rows; i++)
    g_ptr_array_add(explainer->rows, (gpointer)&explainer->mapped.rows[i]);
  g_ptr_array_sort(explainer->rows, compare_readings);
  guint at = 0;
  guint32 at_reject = 0, n_shown = 0;
  for (guint32 i = 0; i < explainer->mapped.n_readings; i++) {
    if (explainer->options.max_readings > 0 && n_shown == explainer->options.max_readings) {
      explainer->counts.n_unshown += explainer->mapped.n_readings - i;
      return TRUE;
    }
    if (at_reject < explainer->mapped.n_rejects && explainer->mapped.rejects[at_reject].reading_index == i)
      print_rejected(explainer, &explainer->mapped.rejects[at_reject++], TRUE);
    else if (tide_mapping_readings(explainer->mapping)[i].is_skipped)
      print_no_reading(explainer, "no reading at 'readings.root' or 'readings.each': it is skipped, by "
                                  "'readings.on_missing: skip'");
    else if (!print_reading(explainer, i, &at, error))
      return FALSE;
    else
      n_shown++;
  }
  if (explainer->mapped.n_readings == 0)
    print_no_reading(explainer, at < explainer->rows->len ? "no value: the rows that its key names are deleted"
                                                          : "no readings in it: nothing is written");
  for (; at < explainer->rows->len; at++) {
    if (!print_row(explainer, explainer->rows->pdata[at], error))
      return FALSE;
  }
  print_not_deleted(explainer);
  return TRUE;
}

gboolean
tide_explainer_add(TideExplainer *explainer, const TideMessage *message, guint64 line, GError **error)
{
  TideReject reject;
  explainer->counts.n_messages++;
  explainer->message = message;
  explainer->line = line;
  tide_mapping_set_now(explainer->mapping, tide_wall_clock_epoch_ms());
  if (tide_mapping_apply(explainer->mapping, message, &explainer->mapped, &reject)) {
    tide_field_use_note(&explainer->field_use, explainer->mapping, explainer->mapped.n_readings);
    return print_mapped(explainer, error);
  }
  print_rejected(explainer, &reject, FALSE);
  print_not_deleted(explainer);
  return TRUE;
}

/* @kind: of a JSON line, with the number of cells. */
static void
print_finding(const TideExplainer *explainer, const TideTable *table, const char *kind, guint64 n_cells,
              const char *weight, const char *sentence)
{
  if (!explainer->options.json) {
    printf("%s: %s: %s\n", table->name, weight, sentence);
    return;
  }
  g_auto(TideBuffer) text = {0};
  tide_json_open(&text, NULL, '{');
  tide_json_shown_text(&text, kind, table->name);
  tide_json_number(&text, "cells", (gint64)n_cells);
  tide_json_text(&text, "weight", weight);
  tide_json_shown_text(&text, "text", sentence);
  tide_json_print_line(&text, stdout);
}

/* Prints values of @table that HBase will not show, because another reading overwrites them. A latest table is meant to
 * keep the later of two values of one time. */
static void
print_overwritten(const TideExplainer *explainer, const TideTable *table)
{
  const TideOverwritten *overwritten = tide_overwritten_cells_of(explainer->overwritten, table->index);
  gboolean is_latest = table->latest != TIDE_LATEST_NONE;
  g_autofree char *given = tide_count_of(overwritten->n_corrected, "cell gets", "cells get"),
                  *corrected = g_strconcat(
                      given, " another value of the same reading by a later message, and the later value stays", NULL);
  if (overwritten->n_corrected > 0)
    print_finding(explainer, table, "corrected", overwritten->n_corrected, "note", corrected);
  g_autofree char *lost = tide_count_text(overwritten->n_lost), *cells = tide_count_text(overwritten->n_cells),
                  *in_message = tide_count_text(overwritten->n_in_message);
  g_autofree char *sentence = g_strdup_printf(
      "%s of %s cells are overwritten by another value of the same row, column and time (%s of them within one "
      "message), first in row '%s' %s: one value stays, %s",
      lost, cells, in_message, overwritten->row, overwritten->column,
      is_latest ? "the later one"
                : "the others are lost; put a field that distinguishes the readings into the key, or name the column "
                  "by it ('qualifier')");
  if (overwritten->n_lost > 0)
    print_finding(explainer, table, "overwritten", overwritten->n_lost, is_latest ? "note" : "warning", sentence);
}

void
tide_explainer_finish(TideExplainer *explainer)
{
  const char *const headings[TIDE_FIELDS_N_KINDS] = {
      [TIDE_FIELDS_TAKEN] = "fields taken",
      [TIDE_FIELDS_LEFT] = "fields that no table uses",
      [TIDE_FIELDS_NULL] = "fields that were always null",
      [TIDE_FIELDS_ABSENT] = explainer->options.config->sources->len > 1
                                 ? "configured fields that no reading had (including those of other sources)"
                                 : "configured fields that no reading had",
  };
  for (int kind = 0; !explainer->options.json && kind < TIDE_FIELDS_N_KINDS; kind++) {
    g_autofree char *names = tide_field_use_names(&explainer->field_use, explainer->mapping, (TideFieldsKind)kind);
    if (names != NULL)
      printf("%s: %s\n", headings[kind], names);
  }
  for (guint i = 0; i < explainer->options.config->tables->len; i++)
    print_overwritten(explainer, table_at(explainer, i));
  for (guint i = 0; i < explainer->options.config->tables->len && !explainer->options.json; i++) {
    TideSplitTrend trend = tide_split_sample_trend(explainer->tables[i].sample);
    if (trend != TIDE_SPLIT_TREND_NONE)
      printf(
          "%s: warning: its keys increase or decrease with time: each new row sorts %s all others, so one region gets "
          "them all; begin the key with a field, a hash or a salt\n",
          table_at(explainer, i)->name, trend == TIDE_SPLIT_TREND_UP ? "after" : "before");
  }
}

TideExplainerCounts
tide_explainer_counts(const TideExplainer *explainer)
{
  return explainer->counts;
}
