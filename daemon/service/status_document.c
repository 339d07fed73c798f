#include "service/status_document.h"

#include "consumer/partition.h"
#include "util/calendar.h"
#include "util/json_writer.h"

#include <stddef.h>
#include <string.h>

typedef enum FieldKind {
  FIELD_TEXT,    /* char *; NULL: null */
  FIELD_COUNT,   /* gint64; below 0: null */
  FIELD_DECIMAL, /* double; below 0: null */
  FIELD_TIME,    /* gint64: milliseconds since the epoch; 0: null */
  FIELD_FLAG,    /* gboolean */
  FIELD_PAUSES,  /* guint: TidePauseReason */
  FIELD_OBJECT,  /* a struct */
  FIELD_LIST,    /* GArray * of structs; NULL: empty */
  N_FIELD_KINDS,
} FieldKind;

typedef struct Group Group;

typedef struct Field {
  const char *name;
  FieldKind kind;
  gsize offset;
  const char *help;   /* for docs/status.md */
  const Group *group; /* of OBJECT and LIST */
} Field;

struct Group {
  const Field *fields;
  gsize n_fields;
};

#define GROUP(fields)                                                                                                  \
  &(const Group)                                                                                                       \
  {                                                                                                                    \
    fields, G_N_ELEMENTS(fields)                                                                                       \
  }

/* The offset of @member in @type; does not compile if its type is not @of. */
#define OFFSET(type, member, of) (offsetof(type, member) + _Generic(&((type *)NULL)->member, of * : 0))

#define TEXT(type, member)                                                                                             \
  FIELD_TEXT, (offsetof(type, member) + _Generic(((type *)NULL)->member, char * : 0, const char * : 0))
#define COUNT(type, member) FIELD_COUNT, OFFSET(type, member, gint64)
#define DECIMAL(type, member) FIELD_DECIMAL, OFFSET(type, member, double)
#define TIME(type, member) FIELD_TIME, OFFSET(type, member, gint64)
#define FLAG(type, member) FIELD_FLAG, OFFSET(type, member, gboolean)
#define PAUSES(type, member) FIELD_PAUSES, OFFSET(type, member, guint)
#define OBJECT(type, member) FIELD_OBJECT, offsetof(type, member)
#define LIST(type, member) FIELD_LIST, OFFSET(type, member, GArray *)

/* ---- the members ---- */

static const Field bottleneck_fields[] = {
    {"limit", TEXT(TideStatusBottleneck, limit),
     "`kafka` (nothing more comes, or no broker answers), `cpu` (a consumer thread takes its core), `gateway` (one is "
     "slow, none is up, or all writers wait for them), `region` (a region's or table's calls fail, or it has as many "
     "as "
     "it may), `memory` (the budget is spent), `dead_letters` (they cannot be kept), `halted` (all "
     "partitions wait for an operator), `paused` (the operator has paused something), `rate` (rows wait for a "
     "`rows_per_second` of the configuration)"},
    {"why", TEXT(TideStatusBottleneck, why), "The figures, and which gateway, region or thread it is"},
};

static const Field restart_fields[] = {
    {"good_now", FLAG(TideStatusRestart, good_now),
     "A stop would be over soon, and leave nothing to be written twice. No message is lost in any case"},
    {"why", TEXT(TideStatusRestart, why), "What is in flight, and what holds it"},
};

static const Field hot_region_fields[] = {
    {"found", FLAG(TideStatusHotRegion, found),
     "One region takes several times what the others of its table do on average"},
    {"why", TEXT(TideStatusHotRegion, why), "Which region takes most, and how much"},
};

static const Field pause_fields[] = {
    {"scope", TEXT(TideStatusPause, scope), "`everything`, `topic` or `table`"},
    {"name", TEXT(TideStatusPause, name), "Name of the topic or table; null: everything"},
    {"reason", TEXT(TideStatusPause, reason), "Reason given to `tidemark pause`; null: none"},
    {"since", TIME(TideStatusPause, since_ms), "Start of the pause"},
    {"until", TIME(TideStatusPause, until_ms), "End of the pause; null: it lasts until `tidemark resume`"},
};

static const Field kafka_fields[] = {
    {"group", TEXT(TideStatusKafka, group), "The consumer group"},
    {"answers", FLAG(TideStatusKafka, answers), "Whether a broker answers"},
    {"assigned_partitions", COUNT(TideStatusKafka, assigned_partitions), "Partitions that this daemon has"},
    {"halted_partitions", COUNT(TideStatusKafka, halted_partitions), "Of them, halted until somebody acts"},
    {"paused_partitions", COUNT(TideStatusKafka, paused_partitions),
     "Of them, not fetched now; they go on by themselves"},
    {"lag_messages", COUNT(TideStatusKafka, lag_messages),
     "Messages from what is committed to the ends; null: the brokers do not say"},
    {"lag_seconds", COUNT(TideStatusKafka, lag_seconds),
     "Age of the oldest message that is not committed; null: not known"},
    {"unread_messages", COUNT(TideStatusKafka, unread_messages), "Of the lag, what was not even read yet"},
    {"in_flight_messages", COUNT(TideStatusKafka, in_flight_messages), "Messages that were read and are not finished"},
    {"messages_per_second", DECIMAL(TideStatusKafka, messages_per_second), "Read, over the last seconds"},
    {"trouble", TEXT(TideStatusKafka, trouble), "What Kafka said last that is wrong; null: nothing"},
};

static const Field partition_fields[] = {
    {"topic", TEXT(TidePartitionView, topic), "The topic"},
    {"partition", COUNT(TidePartitionView, partition), "The number"},
    {"mark", COUNT(TidePartitionView, mark), "All before this offset is finished; null: nothing was yet"},
    {"committed", COUNT(TidePartitionView, committed), "What the group has committed"},
    {"end", COUNT(TidePartitionView, end), "Where the partition ends"},
    {"lag_messages", COUNT(TidePartitionView, lag_messages), "From what is committed to the end"},
    {"lag_seconds", COUNT(TidePartitionView, lag_seconds), "Age of the oldest message that is not committed"},
    {"undecided_messages", COUNT(TidePartitionView, undecided),
     "Of the lag, what may not be read before an open transaction of a producer ends"},
    {"in_flight_messages", COUNT(TidePartitionView, in_flight),
     "Messages that were read and are not finished, as of up to a second ago, like `mark` and `pauses`; "
     "`kafka.in_flight_messages` is of now"},
    {"pauses", PAUSES(TidePartitionView, pauses),
     "Why it is not fetched: `memory` (the budget is spent), `span` (too much is open behind one message, or too many "
     "dead letters behind a held offset), `halted`, `table` (a table that it feeds holds its share of the memory), "
     "`dead_letters` (they cannot be kept), `schema` (the schema "
     "registry was not yet asked for the schema of its next message, or does not answer), `commit` (the group has not "
     "committed yet that it is this daemon's), `operator` (its topic, or everything, is paused: see `pauses`)"},
    {"halted", TEXT(TidePartitionView, halt_text), "Why it is halted until somebody acts; null: it is not"},
    {"held", TEXT(TidePartitionView, held_text),
     "Why what is committed stays behind what is written, and when it is read again from there on; null: it does not"},
    {"source", TEXT(TidePartitionView, source), "Which of several sources reads it; null: it has no name"},
};

static const Field table_fields[] = {
    {"name", TEXT(TideStatusTable, name), "The table"},
    {"rows_per_second", DECIMAL(TideStatusTable, load.rows_per_second), "Acknowledged, over the last seconds"},
    {"share", DECIMAL(TideStatusTable, load.share), "Of the rows of all tables, 0 to 1"},
    {"regions", COUNT(TideStatusTable, regions), "That it is known to have; 0: not known"},
    {"waiting_rows", COUNT(TideStatusTable, load.waiting_rows), "Sealed rows that wait for a writer"},
    {"in_flight_rows", COUNT(TideStatusTable, load.in_flight_rows), "Rows in calls that run"},
    {"rows_per_call", COUNT(TideStatusTable, load.rows_per_call),
     "The most that one call has: `batch.max_rows`, or less since larger calls were refused for their size or got no "
     "answer; it doubles each hour"},
    {"lanes_in_trouble", COUNT(TideStatusTable, load.troubled_lanes), "Regions whose calls keep failing"},
    {"memory_bytes", COUNT(TideStatusTable, memory_bytes), "What its rows take"},
    {"memory_share", DECIMAL(TideStatusTable, memory_share), "Of what one table may take, 0 to 1"},
    {"stopped", TEXT(TideStatusTable, load.error_text), "Why nothing is written to it; null: it is written to"},
    {"stopped_seconds", COUNT(TideStatusTable, load.failing_seconds), "For how long"},
};

static const Field region_fields[] = {
    {"table", TEXT(TideStatusRegion, table), "The table"},
    {"start_key", TEXT(TideStatusRegion, load.region_start),
     "The row key that the region begins with; empty: the first one"},
    {"rows_per_second", DECIMAL(TideStatusRegion, load.rows_per_second), "Acknowledged, over the last seconds"},
    {"share", DECIMAL(TideStatusRegion, load.share), "Of the rows of all tables, 0 to 1"},
    {"waiting_rows", COUNT(TideStatusRegion, load.waiting_rows), "Sealed rows that wait for a writer"},
    {"in_flight_rows", COUNT(TideStatusRegion, load.in_flight_rows), "Rows in calls that run"},
    {"full", FLAG(TideStatusRegion, load.is_full),
     "Rows wait although writers are free: `hbase.max_in_flight_per_region` calls run, or fewer since some failed"},
    {"failures", COUNT(TideStatusRegion, load.failures),
     "Calls that failed in a row; null: its table is stopped, which says why"},
    {"failing_seconds", COUNT(TideStatusRegion, load.failing_seconds), "Since the first of them"},
    {"error", TEXT(TideStatusRegion, load.error_text),
     "What the last of them said, or which row waits because it was refused alone or got no answer alone; null: "
     "neither"},
};

static const Field gateway_fields[] = {
    {"name", TEXT(TideGatewayView, name), "The address"},
    {"state", TEXT(TideGatewayView, state),
     "`up`; `down`; `suspect`: a connection broke, and it is probed; `circuit_open`: its calls failed while others' "
     "did not, and where that lasts it stays so until it takes a call; `refused`: it belongs to another HBase cluster"},
    {"slow", FLAG(TideGatewayView, is_slow), "It takes several times as long for a row as the fastest"},
    {"connections", COUNT(TideGatewayView, connections), "Of writers"},
    {"allowed_connections", COUNT(TideGatewayView, allowed_connections),
     "It may have now: few after it came back, or while it is full"},
    {"rows_per_second", DECIMAL(TideGatewayView, rows_per_second), "Acknowledged, over the last seconds"},
    {"call_seconds", DECIMAL(TideGatewayView, call_seconds),
     "Moving average of acknowledged calls; null: not measured"},
    {"rows_per_call", DECIMAL(TideGatewayView, rows_per_call), "Likewise"},
    {"error", TEXT(TideGatewayView, error_text), "Why it is not `up`; null: it is"},
};

static const Field writer_fields[] = {
    {"index", COUNT(TideStatusWriter, index), "Of the thread tide-writer-N"},
    {"gateway", TEXT(TideStatusWriter, gateway), "Of its present or last call; null: it has made none"},
    {"call_seconds", DECIMAL(TideStatusWriter, call_seconds),
     "How long its call has run; null: it waits for rows, or for a gateway"},
};

static const Field reason_fields[] = {
    {"reason", TEXT(TideDeadLetterReasonView, reason), "The reason, as in docs/dead-letters.md"},
    {"kept", COUNT(TideDeadLetterReasonView, kept), "How many, since the start"},
    {"first_at", TIME(TideDeadLetterReasonView, first_ms), "When the first of them was kept; null: none was"},
    {"last_at", TIME(TideDeadLetterReasonView, last_ms), "When the last of them was kept; null: none was"},
    {"text", TEXT(TideDeadLetterReasonView, text), "What the last one says"},
};

static const Field recent_fields[] = {
    {"kept_at", TIME(TideRecentDeadLetter, kept_ms), "When it was kept"},
    {"topic", TEXT(TideRecentDeadLetter, topic), "Of the message"},
    {"partition", COUNT(TideRecentDeadLetter, partition), "Of the message"},
    {"offset", COUNT(TideRecentDeadLetter, offset), "Of the message"},
    {"table", TEXT(TideRecentDeadLetter, table), "The table of the row; null: it made none"},
    {"reason", TEXT(TideRecentDeadLetter, reason), "The reason"},
    {"text", TEXT(TideRecentDeadLetter, text), "The reason in a sentence"},
};

static const Field dead_letters_fields[] = {
    {"place", TEXT(TideStatusDeadLetters, place), "The topic or the file that they are kept in; null: none"},
    {"stalled", TEXT(TideStatusDeadLetters, stalled),
     "Why none can be kept, so that all partitions pause; null: they can"},
    {"kept", COUNT(TideStatusDeadLetters, view.kept), "Since the start"},
    {"reasons", LIST(TideStatusDeadLetters, view.reasons), "The most frequent first", GROUP(reason_fields)},
    {"recent", LIST(TideStatusDeadLetters, view.recent), "The last eight, the newest first", GROUP(recent_fields)},
};

static const Field memory_fields[] = {
    {"limit_bytes", COUNT(TideStatusMemory, limit_bytes), "`limits.memory`"},
    {"budget_bytes", COUNT(TideStatusMemory, budget_bytes),
     "Of it, for what is in flight; the rest is for what is fetched ahead"},
    {"used_bytes", COUNT(TideStatusMemory, used_bytes), "Of the budget, in use; partitions pause when it is spent"},
    {"doubt_bytes", COUNT(TideStatusMemory, doubt_bytes),
     "Of what is in use, remembered until `hbase.uncertain_timeout` is over: cells that a call without an answer, or "
     "one of a "
     "daemon that "
     "was killed, may still overwrite"},
    {"resident_bytes", COUNT(TideStatusMemory, resident_bytes), "What the process takes of the host's memory"},
    {"held_share", DECIMAL(TideStatusMemory, held_share),
     "Of the last second or so, 0 to 1, that the consumer that waits most read nothing because it was spent"},
};

static const Field cpu_fields[] = {
    {"cores", COUNT(TideStatusCpu, cores), "That the process may use"},
    {"process", DECIMAL(TideStatusCpu, process), "Cores that it takes, over the last second"},
    {"busiest_consumer", DECIMAL(TideStatusCpu, busiest_consumer),
     "Of one core, what the busiest consumer thread takes; 1: it can do no more"},
};

static const Field reload_fields[] = {
    {"result", TEXT(TideStatusReload, result),
     "`none` (since the start), `taken_over`, or `failed`: then all is in force that was before"},
    {"at", TEXT(TideStatusReload, at), "When; null: none since the start"},
    {"taken_over", TEXT(TideStatusReload, taken_over), "Options that it changed, by commas; null: none"},
    {"needs_restart", TEXT(TideStatusReload, needs_restart),
     "Options that differ from those in force and need a restart, by commas, in the last file without mistakes; null: "
     "none"},
    {"error", TEXT(TideStatusReload, error), "Why it failed; null: it did not"},
};

static const Field status_fields[] = {
    {"version", TEXT(TideStatus, version), "Of the program"},
    {"started_at", TEXT(TideStatus, started_at), "When the daemon started"},
    {"uptime_seconds", COUNT(TideStatus, uptime_seconds), "Since then"},
    {"stage", TEXT(TideStatus, stage), "`waiting_for_gateway`, `waiting_for_tables`, `running` or `failed`"},
    {"ready", FLAG(TideStatus, ready), "As /readyz"},
    {"healthy", FLAG(TideStatus, healthy), "As /healthz"},
    {"reason", TEXT(TideStatus, reason), "Why it is not ready or not healthy; null: it is both"},
    {"line", TEXT(TideStatus, line), "The line that `systemctl status` shows"},
    {"bottleneck", OBJECT(TideStatus, bottleneck), "What keeps it from being faster now", GROUP(bottleneck_fields)},
    {"restart", OBJECT(TideStatus, restart), "Whether now is a good moment for a restart", GROUP(restart_fields)},
    {"hot_region", OBJECT(TideStatus, hot_region), "Whether rows go to one region", GROUP(hot_region_fields)},
    {"pauses", LIST(TideStatus, operator.pauses), "What an operator has paused", GROUP(pause_fields)},
    {"kafka", OBJECT(TideStatus, kafka), "All partitions together", GROUP(kafka_fields)},
    {"partitions", LIST(TideStatus, partitions), "By topic and number", GROUP(partition_fields)},
    {"tables", LIST(TideStatus, tables), "Those with most rows first", GROUP(table_fields)},
    {"regions", LIST(TideStatus, regions),
     "The sixteen that most rows go to at the most, and others that are at work or in trouble, up to 32; those with "
     "most rows first",
     GROUP(region_fields)},
    {"gateways", LIST(TideStatus, gateways), "As in the configuration", GROUP(gateway_fields)},
    {"writers", LIST(TideStatus, writers), "The threads that write to HBase", GROUP(writer_fields)},
    {"dead_letters", OBJECT(TideStatus, dead_letters), "What can never be written", GROUP(dead_letters_fields)},
    {"memory", OBJECT(TideStatus, memory), "What is in use", GROUP(memory_fields)},
    {"cpu", OBJECT(TideStatus, cpu), "What is in use", GROUP(cpu_fields)},
    {"reload", OBJECT(TideStatus, reload), "The last reload of the configuration (SIGHUP)", GROUP(reload_fields)},
    {"configuration_file", TEXT(TideStatus, configuration_file), "That is read at the start and at SIGHUP"},
    {"configuration", TEXT(TideStatus, configuration),
     "All options in force, secrets masked, as `tidemark check --print-config` prints them"},
};

static const Group status_group = {status_fields, G_N_ELEMENTS(status_fields)};

/* ---- as JSON ---- */

static void print_members(TideBuffer *out, const Group *group, gconstpointer base);

static void
print_null(TideBuffer *out, const char *name)
{
  tide_json_name(out, name);
  tide_buffer_append_bytes(out, TIDE_BYTES_LITERAL("null"));
}

static void
print_number(TideBuffer *out, const Field *field, gconstpointer at)
{
  char time[TIDE_ISO_TIME_BYTES];
  if (field->kind == FIELD_TIME    ? *(const gint64 *)at == 0
      : field->kind == FIELD_COUNT ? *(const gint64 *)at < 0
                                   : *(const double *)at < 0)
    print_null(out, field->name);
  else if (field->kind == FIELD_TIME)
    tide_json_text(out, field->name, tide_iso_time_print(*(const gint64 *)at, time));
  else if (field->kind == FIELD_COUNT)
    tide_json_number(out, field->name, *(const gint64 *)at);
  else
    tide_json_decimal(out, field->name, *(const double *)at, 3);
}

static void
print_member(TideBuffer *out, const Field *field, gconstpointer at)
{
  switch (field->kind) {
  case FIELD_TEXT:
    if (*(const char *const *)at != NULL)
      tide_json_text(out, field->name, *(const char *const *)at);
    else
      print_null(out, field->name);
    break;
  case FIELD_COUNT:
  case FIELD_DECIMAL:
  case FIELD_TIME:
    print_number(out, field, at);
    break;
  case FIELD_FLAG:
    tide_json_bool(out, field->name, *(const gboolean *)at);
    break;
  case FIELD_PAUSES:
    tide_json_open(out, field->name, '[');
    for (guint bit = 0; bit < TIDE_N_PAUSE_REASONS; bit++)
      if (*(const guint *)at & 1u << bit)
        tide_json_text(out, NULL, tide_pause_names[bit]);
    tide_json_close(out, "]");
    break;
  case FIELD_OBJECT:
    tide_json_open(out, field->name, '{');
    print_members(out, field->group, at);
    tide_json_close(out, "}");
    break;
  case FIELD_LIST: {
    GArray *list = *(GArray *const *)at;
    tide_json_open(out, field->name, '[');
    for (guint i = 0; list != NULL && i < list->len; i++) {
      tide_json_open(out, NULL, '{');
      print_members(out, field->group, list->data + (gsize)i * g_array_get_element_size(list));
      tide_json_close(out, "}");
    }
    tide_json_close(out, "]");
    break;
  }
  case N_FIELD_KINDS:
    break;
  }
}

static void
print_members(TideBuffer *out, const Group *group, gconstpointer base)
{
  for (gsize i = 0; i < group->n_fields; i++)
    print_member(out, &group->fields[i], (const guint8 *)base + group->fields[i].offset);
}

char *
tide_status_print(const TideStatus *status)
{
  TideBuffer out = {0};
  tide_buffer_append_byte(&out, '{');
  print_members(&out, &status_group, status);
  tide_json_close(&out, "}\n");
  tide_json_escape_hidden(&out);
  char *text = g_strndup((const char *)out.data, out.len);
  tide_buffer_clear_memory(&out);
  return text;
}

/* ---- as plain tables ---- */

/* A null value becomes an empty cell. */
static void
append_value(GString *page, const Field *field, gconstpointer at)
{
  char time[TIDE_ISO_TIME_BYTES];
  if (field->kind == FIELD_TEXT && *(const char *const *)at != NULL) {
    g_autofree char *valid = g_utf8_make_valid(*(const char *const *)at, -1);
    g_autofree char *escaped = g_markup_escape_text(valid, -1);
    g_string_append_printf(page, strchr(valid, '\n') != NULL ? "<pre>%s</pre>" : "%s", escaped);
  } else if (field->kind == FIELD_TIME && *(const gint64 *)at != 0)
    g_string_append(page, tide_iso_time_print(*(const gint64 *)at, time));
  else if (field->kind == FIELD_FLAG)
    g_string_append(page, *(const gboolean *)at ? "yes" : "no");
  else if (field->kind == FIELD_PAUSES) {
    const char *between = "";
    for (guint bit = 0; bit < TIDE_N_PAUSE_REASONS; bit++)
      if (*(const guint *)at & 1u << bit) {
        g_string_append_printf(page, "%s%s", between, tide_pause_names[bit]);
        between = ", ";
      }
  } else if (field->kind == FIELD_COUNT && *(const gint64 *)at >= 0)
    g_string_append_printf(page, "%" G_GINT64_FORMAT, *(const gint64 *)at);
  else if (field->kind == FIELD_DECIMAL && *(const double *)at >= 0)
    g_string_append_printf(page, "%.3f", *(const double *)at);
}

static void
append_list(GString *page, const Field *field, const GArray *list)
{
  if (list == NULL || list->len == 0)
    return;
  const Group *group = field->group;
  g_string_append_printf(page, "<h2>%s</h2><div class=\"scroll\"><table><tr>", field->name);
  for (gsize i = 0; i < group->n_fields; i++)
    g_string_append_printf(page, "<th>%s</th>", group->fields[i].name);
  for (guint n = 0; n < list->len; n++) {
    const guint8 *base = (const guint8 *)list->data + (gsize)n * g_array_get_element_size((GArray *)list);
    g_string_append(page, "</tr>\n<tr>");
    for (gsize i = 0; i < group->n_fields; i++) {
      g_string_append(page, "<td>");
      append_value(page, &group->fields[i], base + group->fields[i].offset);
      g_string_append(page, "</td>");
    }
  }
  g_string_append(page, "</tr></table></div>\n");
}

/* Prints plain members as a table of two columns, and each other member as a table after it. */
static void
append_object(GString *page, const char *title, const Group *group, const guint8 *base)
{
  g_string_append_printf(page, "<h2>%s</h2><div class=\"scroll\"><table>\n", title);
  for (gsize i = 0; i < group->n_fields; i++) {
    const Field *field = &group->fields[i];
    if (field->group != NULL)
      continue;
    g_string_append_printf(page, "<tr><th>%s</th><td>", field->name);
    append_value(page, field, base + field->offset);
    g_string_append(page, "</td></tr>\n");
  }
  g_string_append(page, "</table></div>\n");
  for (gsize i = 0; i < group->n_fields; i++) {
    const Field *field = &group->fields[i];
    if (field->kind == FIELD_OBJECT)
      append_object(page, field->name, field->group, base + field->offset);
    else if (field->kind == FIELD_LIST)
      append_list(page, field, *(GArray *const *)(gconstpointer)(base + field->offset));
  }
}

char *
tide_status_print_tables(const TideStatus *status)
{
  GString *page = g_string_new(NULL);
  append_object(page, "tidemark", &status_group, (const guint8 *)status);
  return g_string_free(page, FALSE);
}

/* ---- the reference ---- */

static const char *const kind_names[] = {
    [FIELD_TEXT] = "text",     [FIELD_COUNT] = "number",       [FIELD_DECIMAL] = "number",
    [FIELD_TIME] = "time",     [FIELD_FLAG] = "true or false", [FIELD_PAUSES] = "list of texts",
    [FIELD_OBJECT] = "object", [FIELD_LIST] = "list"};
G_STATIC_ASSERT(G_N_ELEMENTS(kind_names) == N_FIELD_KINDS);

static void
append_reference(GString *out, const Group *group, const char *prefix)
{
  for (gsize i = 0; i < group->n_fields; i++) {
    const Field *field = &group->fields[i];
    g_string_append_printf(out, "| `%s%s` | %s | %s |\n", prefix, field->name, kind_names[field->kind], field->help);
    if (field->group == NULL)
      continue;
    g_autofree char *below = g_strconcat(prefix, field->name, field->kind == FIELD_LIST ? "[]." : ".", NULL);
    append_reference(out, field->group, below);
  }
}

char *
tide_status_print_reference(void)
{
  GString *out = g_string_new("| member | what it is | meaning |\n|---|---|---|\n");
  append_reference(out, &status_group, "");
  return g_string_free(out, FALSE);
}

/* ---- lifetime ---- */

void
tide_status_reload_clear(TideStatusReload *reload)
{
  g_free(reload->at);
  g_free(reload->taken_over);
  g_free(reload->needs_restart);
  g_free(reload->error);
  *reload = (TideStatusReload){0};
}

void
tide_status_clear(TideStatus *status)
{
  char *texts[] = {status->bottleneck.why,
                   status->restart.why,
                   status->hot_region.why,
                   status->started_at,
                   status->operator.paused,
                   status->reason,
                   status->line,
                   status->kafka.group,
                   status->kafka.trouble,
                   status->dead_letters.place,
                   status->dead_letters.stalled,
                   status->configuration_file,
                   status->configuration};
  GArray *lists[] = {status->operator.pauses,
                     status->partitions,
                     status->tables,
                     status->regions,
                     status->gateways,
                     status->writers,
                     status->dead_letters.view.reasons,
                     status->dead_letters.view.recent};
  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
    g_free(texts[i]);
  for (gsize i = 0; i < G_N_ELEMENTS(lists); i++)
    if (lists[i] != NULL)
      g_array_unref(lists[i]);
  tide_status_reload_clear(&status->reload);
  *status = (TideStatus){0};
}
