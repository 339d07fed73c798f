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
     "What limits the throughput: `kafka` (no more messages, or no broker answers), `cpu` (a consumer thread uses its "
     "whole core), `gateway` (one is slow, none is up, or all writers wait for them), `region` (calls of a region or "
     "table fail, or it has reached its limit), `memory` (the budget is used up), `dead_letters` (they cannot be "
     "kept), `halted` (all partitions, or all that have messages to read, wait for an operator), `paused` (the "
     "operator paused something), `rate` (rows wait for a `rows_per_second`), `registry` (the schema registry does not "
     "give a schema)"},
    {"why", TEXT(TideStatusBottleneck, why), "The figures, and the gateway, region or thread"},
};

static const Field restart_fields[] = {
    {"clean", FLAG(TideBottleneckVerdict, is_good),
     "A stop would be quick and leave nothing to be written twice. No message is lost in either case"},
    {"why", TEXT(TideBottleneckVerdict, why), "What is in flight, and what delays it"},
};

static const Field hot_region_fields[] = {
    {"found", FLAG(TideBottleneckVerdict, is_good),
     "One region receives at least twice the average of the other regions of its table"},
    {"why", TEXT(TideBottleneckVerdict, why), "The region with the most rows, and its share"},
};

static const Field pause_fields[] = {
    {"scope", TEXT(TideStatusPause, scope), "`everything`, `topic` or `table`"},
    {"name", TEXT(TideStatusPause, name), "Name of the topic or table; null: everything"},
    {"reason", TEXT(TideStatusPause, reason), "Reason given to `tidemark pause`; null: none"},
    {"since", TIME(TideStatusPause, since_ms), "Start of the pause"},
    {"until", TIME(TideStatusPause, until_ms), "End of the pause; null: it lasts until `tidemark resume`"},
    {"no_effect", TEXT(TideStatusPause, no_effect),
     "Why the pause has no effect, and the command that ends it; null: it has one"},
};

static const Field kafka_fields[] = {
    {"group", TEXT(TideStatusKafka, group), "Consumer group"},
    {"reachable", FLAG(TideStatusKafka, is_reachable), "Whether a broker answers"},
    {"assigned_partitions", COUNT(TideStatusKafka, assigned_partitions), "Partitions assigned to this daemon"},
    {"halted_partitions", COUNT(TideStatusKafka, halted_partitions),
     "Assigned partitions that are halted until an operator acts"},
    {"paused_partitions", COUNT(TideStatusKafka, paused_partitions),
     "Assigned partitions that are paused; they resume automatically"},
    {"lag_messages", COUNT(TideStatusKafka, lag_messages),
     "Messages between the committed offsets and the ends; null: the brokers do not answer"},
    {"lag_seconds", COUNT(TideStatusKafka, lag_seconds),
     "Age of the oldest message that is not committed; null: unknown"},
    {"unread_messages", COUNT(TideStatusKafka, unread_messages), "Messages of the lag that have not been read yet"},
    {"in_flight_messages", COUNT(TideStatusKafka, in_flight_messages), "Messages that were read and are not finished"},
    {"messages_per_second", DECIMAL(TideStatusKafka, messages_per_second), "Read rate over the last seconds"},
    {"error", TEXT(TideStatusKafka, error), "Last error from Kafka; null: none"},
};

static const Field partition_fields[] = {
    {"topic", TEXT(TidePartitionView, topic), "Topic"},
    {"partition", COUNT(TidePartitionView, partition), "Partition number"},
    {"stored_offset", COUNT(TidePartitionView, mark), "All messages before this offset are finished; null: none yet"},
    {"committed_offset", COUNT(TidePartitionView, committed), "Committed offset of the group"},
    {"end_offset", COUNT(TidePartitionView, end), "End of the partition"},
    {"lag_messages", COUNT(TidePartitionView, lag_messages), "Messages between the committed offset and the end"},
    {"lag_seconds", COUNT(TidePartitionView, lag_seconds), "Age of the oldest message that is not committed"},
    {"open_transaction_messages", COUNT(TidePartitionView, undecided),
     "Messages of the lag that cannot be read until a producer's open transaction ends"},
    {"in_flight_messages", COUNT(TidePartitionView, in_flight),
     "Messages that were read and are not finished. Like `stored_offset` and `pauses`, it is up to a second old, "
     "unlike `kafka.in_flight_messages`"},
    {"pauses", PAUSES(TidePartitionView, pauses),
     "Why the partition is not fetched: `memory` (the budget is used up), `span` (too many messages are in flight "
     "after an unfinished one, or too many dead letters after a deferred commit), `halted`, `table` (a table of the "
     "partition uses its share of the memory), `dead_letters` (they cannot be kept), `schema` (the schema of the next "
     "message was not requested yet, or the registry does not answer), `commit` (the group has not confirmed the "
     "partition's first commit by this daemon), `operator` (its topic, or everything, is paused: see `pauses`)"},
    {"halted", TEXT(TidePartitionView, halt_text),
     "Why the partition is halted until an operator acts; null: it is not halted"},
    {"commit_deferred", TEXT(TidePartitionView, held_text),
     "Why the committed offset stays behind what was written, and when the partition is read again; null: it does not"},
    {"source", TEXT(TidePartitionView, source), "Source of the partition's topic; null: it has no name"},
};

static const Field table_fields[] = {
    {"name", TEXT(TideStatusTable, name), "Table"},
    {"rows_per_second", DECIMAL(TideStatusTable, load.rows_per_second),
     "Rows acknowledged per second, over the last seconds"},
    {"share", DECIMAL(TideStatusTable, load.share), "Share of the rows of all tables, 0 to 1"},
    {"regions", COUNT(TideStatusTable, regions), "Known regions of the table; 0: unknown"},
    {"waiting_rows", COUNT(TideStatusTable, load.waiting_rows), "Sealed rows waiting for a writer"},
    {"in_flight_rows", COUNT(TideStatusTable, load.in_flight_rows), "Rows in running calls"},
    {"rows_per_call", COUNT(TideStatusTable, load.rows_per_call),
     "Maximum rows per call: `batch.max_rows`, or less after larger calls were refused for their size or got no "
     "answer; it doubles each hour"},
    {"failing_regions", COUNT(TideStatusTable, load.troubled_lanes), "Regions whose calls keep failing"},
    {"memory_bytes", COUNT(TideStatusTable, memory_bytes), "Memory used by the rows of the table"},
    {"memory_share", DECIMAL(TideStatusTable, memory_share), "Share of the memory that one table may use, 0 to 1"},
    {"suspended", TEXT(TideStatusTable, load.error_text), "Why the table is suspended; null: it is not"},
    {"suspended_seconds", COUNT(TideStatusTable, load.failing_seconds), "Time since the table was suspended"},
};

static const Field region_fields[] = {
    {"table", TEXT(TideStatusRegion, table), "Table"},
    {"start_key", TEXT(TideStatusRegion, load.region_start), "First row key of the region; empty: the first region"},
    {"rows_per_second", DECIMAL(TideStatusRegion, load.rows_per_second),
     "Rows acknowledged per second, over the last seconds"},
    {"share", DECIMAL(TideStatusRegion, load.share), "Share of the rows of all tables, 0 to 1"},
    {"waiting_rows", COUNT(TideStatusRegion, load.waiting_rows), "Sealed rows waiting for a writer"},
    {"in_flight_rows", COUNT(TideStatusRegion, load.in_flight_rows), "Rows in running calls"},
    {"full", FLAG(TideStatusRegion, load.is_full),
     "Rows wait although writers are free: `hbase.max_in_flight_per_region` calls are running, or fewer after "
     "failures"},
    {"failures", COUNT(TideStatusRegion, load.failures),
     "Consecutive failed calls; null: its table is suspended, which gives the reason"},
    {"failing_seconds", COUNT(TideStatusRegion, load.failing_seconds), "Time since the first of them"},
    {"error", TEXT(TideStatusRegion, load.error_text),
     "Error of the last failed call, or the row that waits because it was refused alone or got no answer alone; null: "
     "neither"},
};

static const Field gateway_fields[] = {
    {"name", TEXT(TideGatewayView, name), "Address of the gateway"},
    {"state", TEXT(TideGatewayView, state),
     "`up`; `down`; `suspect`: a connection broke, and the gateway is probed; `circuit_open`: its calls failed while "
     "those of others did not, until it accepts a call again; `wrong_cluster`: it belongs to another HBase cluster"},
    {"slow", FLAG(TideGatewayView, is_slow), "The gateway takes several times as long per row as the fastest gateway"},
    {"connections", COUNT(TideGatewayView, connections), "Connections of writers"},
    {"allowed_connections", COUNT(TideGatewayView, allowed_connections),
     "Maximum number of connections at present: low after the gateway recovered, or while it is full"},
    {"rows_per_second", DECIMAL(TideGatewayView, rows_per_second),
     "Rows acknowledged per second, over the last seconds"},
    {"call_seconds", DECIMAL(TideGatewayView, call_seconds),
     "Moving average duration of acknowledged calls; null: not measured"},
    {"rows_per_call", DECIMAL(TideGatewayView, rows_per_call),
     "Moving average of rows per acknowledged call; null: not measured"},
    {"error", TEXT(TideGatewayView, error_text), "Why the gateway is not `up`; null: it is"},
};

static const Field writer_fields[] = {
    {"index", COUNT(TideStatusWriter, index), "Number N of the thread tide-writer-N"},
    {"gateway", TEXT(TideStatusWriter, gateway), "Gateway of the current or last call; null: no call yet"},
    {"call_seconds", DECIMAL(TideStatusWriter, call_seconds),
     "Duration of the running call; null: the writer waits for rows or a gateway"},
};

static const Field reason_fields[] = {
    {"reason", TEXT(TideDeadLetterReasonView, reason), "Reason, as in docs/dead-letters.md"},
    {"kept", COUNT(TideDeadLetterReasonView, kept), "Number since the start"},
    {"first_at", TIME(TideDeadLetterReasonView, first_ms), "When the first one was kept; null: none"},
    {"last_at", TIME(TideDeadLetterReasonView, last_ms), "When the last one was kept; null: none"},
    {"text", TEXT(TideDeadLetterReasonView, text), "Message of the last one"},
};

static const Field recent_fields[] = {
    {"kept_at", TIME(TideRecentDeadLetter, kept_ms), "When it was kept"},
    {"topic", TEXT(TideRecentDeadLetter, topic), "Topic of the message"},
    {"partition", COUNT(TideRecentDeadLetter, partition), "Partition of the message"},
    {"offset", COUNT(TideRecentDeadLetter, offset), "Offset of the message"},
    {"table", TEXT(TideRecentDeadLetter, table), "Table of the row; null: the message produced none"},
    {"reason", TEXT(TideRecentDeadLetter, reason), "Reason"},
    {"text", TEXT(TideRecentDeadLetter, text), "The reason as a sentence"},
};

static const Field dead_letters_fields[] = {
    {"location", TEXT(TideStatusDeadLetters, location), "Topic or file for dead letters; null: none"},
    {"blocked", TEXT(TideStatusDeadLetters, blocked),
     "Why dead letters cannot be kept, so that all partitions pause; null: they can"},
    {"kept", COUNT(TideStatusDeadLetters, view.kept), "Number since the start"},
    {"reasons", LIST(TideStatusDeadLetters, view.reasons), "Reasons, the most frequent first", GROUP(reason_fields)},
    {"recent", LIST(TideStatusDeadLetters, view.recent), "The last eight, the newest first", GROUP(recent_fields)},
};

static const Field memory_fields[] = {
    {"limit_bytes", COUNT(TideStatusMemory, limit_bytes), "`limits.memory`"},
    {"budget_bytes", COUNT(TideStatusMemory, budget_bytes),
     "Share of the limit for what is in flight; the rest is for fetching ahead"},
    {"used_bytes", COUNT(TideStatusMemory, used_bytes),
     "Memory budget in use; partitions pause when the budget is used up"},
    {"uncertain_bytes", COUNT(TideStatusMemory, uncertain_bytes),
     "Part of the used memory that records uncertain cells until `hbase.uncertain_timeout` is over: an unanswered "
     "call, or a call "
     "of a killed daemon, may still overwrite them"},
    {"resident_bytes", COUNT(TideStatusMemory, resident_bytes), "Resident memory of the process"},
    {"paused_share", DECIMAL(TideStatusMemory, paused_share),
     "Share of the last second, 0 to 1, in which the most affected consumer read nothing because the budget was used "
     "up"},
};

static const Field cpu_fields[] = {
    {"cores", COUNT(TideStatusCpu, cores), "Cores that the process may use"},
    {"process", DECIMAL(TideStatusCpu, process), "Cores in use over the last second"},
    {"busiest_consumer", DECIMAL(TideStatusCpu, busiest_consumer),
     "Share of one core that the busiest consumer thread uses; 1: it is at its limit"},
};

static const Field reload_fields[] = {
    {"result", TEXT(TideStatusReload, result),
     "`none` (since the start), `applied`, or `failed`: the previous configuration stays in force"},
    {"at", TEXT(TideStatusReload, at), "Time of the reload; null: none since the start"},
    {"applied", TEXT(TideStatusReload, applied), "Changed options, separated by commas; null: none"},
    {"needs_restart", TEXT(TideStatusReload, needs_restart),
     "Options of the last valid file that differ from those in force and need a restart, separated by commas; null: "
     "none"},
    {"error", TEXT(TideStatusReload, error), "Why it failed; null: it did not"},
};

static const Field status_fields[] = {
    {"version", TEXT(TideStatus, version), "Version of the program"},
    {"started_at", TEXT(TideStatus, started_at), "Start time of the daemon"},
    {"uptime_seconds", COUNT(TideStatus, uptime_seconds), "Time since the start"},
    {"stage", TEXT(TideStatus, stage), "`waiting_for_gateway`, `waiting_for_tables`, `running` or `failed`"},
    {"ready", FLAG(TideStatus, ready), "As in /readyz"},
    {"healthy", FLAG(TideStatus, healthy), "As in /healthz"},
    {"reason", TEXT(TideStatus, reason), "Why the daemon is not ready or not healthy; null: it is both"},
    {"line", TEXT(TideStatus, line), "Status line of `systemctl status`"},
    {"bottleneck", OBJECT(TideStatus, bottleneck), "What limits the throughput now", GROUP(bottleneck_fields)},
    {"restart", OBJECT(TideStatus, restart), "Whether now is a good time for a restart", GROUP(restart_fields)},
    {"hot_region", OBJECT(TideStatus, hot_region), "Whether the load concentrates on one region",
     GROUP(hot_region_fields)},
    {"pauses", LIST(TideStatus, operator.pauses), "What an operator has paused", GROUP(pause_fields)},
    {"kafka", OBJECT(TideStatus, kafka), "All partitions together", GROUP(kafka_fields)},
    {"partitions", LIST(TideStatus, partitions), "Partitions, by topic and number", GROUP(partition_fields)},
    {"tables", LIST(TideStatus, tables), "Tables, those with the most rows first", GROUP(table_fields)},
    {"regions", LIST(TideStatus, regions),
     "The up to sixteen regions with the most rows, and others that are busy or failing, at most 32; those with the "
     "most rows first",
     GROUP(region_fields)},
    {"gateways", LIST(TideStatus, gateways), "Gateways, in the order of the configuration", GROUP(gateway_fields)},
    {"writers", LIST(TideStatus, writers), "Threads that write to HBase", GROUP(writer_fields)},
    {"dead_letters", OBJECT(TideStatus, dead_letters), "Messages and rows that can never be written",
     GROUP(dead_letters_fields)},
    {"memory", OBJECT(TideStatus, memory), "Memory in use", GROUP(memory_fields)},
    {"cpu", OBJECT(TideStatus, cpu), "CPU in use", GROUP(cpu_fields)},
    {"reload", OBJECT(TideStatus, reload), "Last reload of the configuration (SIGHUP)", GROUP(reload_fields)},
    {"configuration_file", TEXT(TideStatus, configuration_file), "File that is read at the start and at SIGHUP"},
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
  GString *out = g_string_new("| member | type | meaning |\n|---|---|---|\n");
  append_reference(out, &status_group, "");
  return g_string_free(out, FALSE);
}

/* ---- lifetime ---- */

void
tide_status_reload_clear(TideStatusReload *reload)
{
  g_free(reload->at);
  g_free(reload->applied);
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
                   status->kafka.error,
                   status->kafka.schema_trouble,
                   status->dead_letters.location,
                   status->dead_letters.blocked,
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
