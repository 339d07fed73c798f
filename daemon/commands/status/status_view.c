#include "commands/status/status_view.h"

#include "commands/cli/listing.h"
#include "decode/decoder.h"
#include "util/error.h"
#include "util/units.h"

/* ---- the document ---- */

#define MAX_BYTES (64u << 20)

/* Up to this number a double represents every whole number; no count is higher. */
#define MAX_NUMBER 9007199254740992.0

struct TideStatusReader {
  TideDecodeOptions options;
  TideFieldNames *names; /* owned */
  TideDecoder *decoder;  /* owned */
  TideReading *readings; /* owned by the decoder */
  guint32 n;
  GPtrArray *texts; /* owned (element-type utf8): texts returned to callers */
};

TideStatusReader *
tide_status_reader_new(TideBytes json, GError **error)
{
  TideStatusReader *reader = g_new0(TideStatusReader, 1);
  reader->options = (TideDecodeOptions){.separator = g_strdup("."),
                                        .arrays = TIDE_ARRAY_JSON,
                                        .max_message_bytes = MAX_BYTES,
                                        .max_depth = 16,
                                        .max_fields = 1000,
                                        .max_readings = 1000000};
  reader->names = tide_field_names_new();
  reader->decoder = tide_decoder_new(&reader->options, reader->names, 0);
  reader->texts = g_ptr_array_new_with_free_func(g_free);
  TideMessage message = {.value = json, .has_value = TRUE};
  TideReject reject;
  if (tide_decoder_decode(reader->decoder, &message, &reader->readings, &reader->n, &reject))
    return reader;
  tide_fail(error, TIDE_ERROR_DATA, "the answer is not a status document of tidemark");
  tide_status_reader_free(reader);
  return NULL;
}

void
tide_status_reader_free(TideStatusReader *reader)
{
  if (reader == NULL)
    return;
  tide_decoder_free(reader->decoder);
  tide_field_names_free(reader->names);
  g_ptr_array_unref(reader->texts);
  g_free(reader->options.separator);
  g_free(reader);
}

guint32
tide_status_reader_n(const TideStatusReader *reader)
{
  return reader->n;
}

static const TideField *
field_of(const TideStatusReader *reader, guint32 i, const char *name)
{
  TideBytes wanted = tide_bytes_of_string(name);
  const TideReading *reading = i < reader->n ? &reader->readings[i] : NULL;
  for (guint32 f = 0; reading != NULL && f < reading->n_fields; f++)
    if (tide_bytes_equal(reading->fields[f].name, wanted))
      return reading->fields[f].kind != TIDE_VALUE_NULL ? &reading->fields[f] : NULL;
  return NULL;
}

const char *
tide_status_reader_text(TideStatusReader *reader, guint32 i, const char *name)
{
  const TideField *field = field_of(reader, i, name);
  if (field == NULL)
    return NULL;
  char *text = tide_text_printable(field->text);
  g_ptr_array_add(reader->texts, text);
  return text;
}

gboolean
tide_status_reader_flag(TideStatusReader *reader, guint32 i, const char *name)
{
  return g_strcmp0(tide_status_reader_text(reader, i, name), "true") == 0;
}

double
tide_status_reader_number(TideStatusReader *reader, guint32 i, const char *name)
{
  const TideField *field = field_of(reader, i, name);
  if (field == NULL || field->kind != TIDE_VALUE_NUMBER)
    return -1;
  double number = g_ascii_strtod(tide_status_reader_text(reader, i, name), NULL);
  return number >= 0 && number <= MAX_NUMBER ? number : -1;
}

TideStatusReader *
tide_status_reader_list(TideStatusReader *reader, const char *name)
{
  const TideField *field = field_of(reader, 0, name);
  gboolean is_list = field != NULL && field->kind == TIDE_VALUE_JSON;
  TideStatusReader *list = is_list ? tide_status_reader_new(field->text, NULL) : NULL;
  return list != NULL ? list : tide_status_reader_new(TIDE_BYTES_LITERAL("[]"), NULL);
}

/* ---- the view ---- */

/* Maximum lines of each list; the document contains all. */
#define MAX_LINES 20u

/* A share of a whole, or of a core, which a clock may slightly exceed. */
#define MAX_SHARE 10.0

typedef enum CellKind {
  CELL_TEXT,
  CELL_START_KEY, /* of a region */
  CELL_VERDICT,   /* in colour, tide_colour_of() */
  CELL_TIME,      /* to the second */
  CELL_LIST,
  CELL_COUNT,
  CELL_RATE,
  CELL_SHARE,
  CELL_BYTES,
  CELL_SECONDS
} CellKind;

/* Its start key is empty. */
#define FIRST_REGION "(the first)"

typedef struct Column {
  const char *heading;
  const char *member;
  CellKind kind;
  guint max_columns; /* for TEXT; 0: unlimited */
} Column;

typedef struct View {
  const char *list;
  const char *noun;
  const Column *columns;
  gsize n_columns;
  const char *first; /* members that move an item to the front; NULL: none */
} View;

/* ---- values ---- */

/* Truncates between characters, with a mark. (transfer full) */
static char *
cut(const char *text, guint max_columns)
{
  if (max_columns == 0 || tide_text_width(text) <= max_columns)
    return g_strdup(text);
  g_autofree char *head = g_utf8_substring(text, 0, (glong)max_columns - 1);
  while (tide_text_width(head) > max_columns - 1)
    *g_utf8_prev_char(head + strlen(head)) = '\0';
  return g_strconcat(head, "…", NULL);
}

/* "memory, span" of ["memory","span"]. */
static char *
list_text(const char *json)
{
  GString *text = g_string_new(NULL);
  for (; *json != '\0'; json++)
    if (*json == ',')
      g_string_append(text, ", ");
    else if (strchr("[]\"", *json) == NULL)
      g_string_append_c(text, *json);
  return g_string_free(text, FALSE);
}

static char *
number_text(CellKind kind, double number)
{
  if (number < 0 || (kind == CELL_SHARE && number > MAX_SHARE))
    return g_strdup("-");
  switch (kind) {
  case CELL_SHARE:
    return g_strdup_printf("%.0f %%", number * 100);
  case CELL_BYTES:
    return tide_size_text(number);
  case CELL_SECONDS:
    return tide_age_text((gint64)(number * 1000));
  case CELL_RATE:
    return number > 0 && number < 10 ? g_strdup_printf("%.1f", number) : tide_count_text((guint64)number);
  case CELL_COUNT:
  case CELL_TEXT:
  case CELL_START_KEY:
  case CELL_VERDICT:
  case CELL_TIME:
  case CELL_LIST:
    break;
  }
  return tide_count_text((guint64)number);
}

/* Without fractions of a second. (transfer full) */
static char *
time_text(const char *iso)
{
  const char *dot = strchr(iso, '.');
  return dot != NULL ? g_strdup_printf("%.*sZ", (int)(dot - iso), iso) : g_strdup(iso);
}

static char *
cell_text(TideStatusReader *items, guint32 i, const Column *column)
{
  if (column->kind > CELL_LIST)
    return number_text(column->kind, tide_status_reader_number(items, i, column->member));
  const char *text = tide_status_reader_text(items, i, column->member);
  if (text == NULL)
    return g_strdup("-");
  if (column->kind == CELL_TIME)
    return time_text(text);
  if (column->kind == CELL_VERDICT && strcmp(text, "up") == 0 && tide_status_reader_flag(items, i, "slow"))
    return g_strdup("slow");
  g_autofree char *shown = column->kind == CELL_LIST ? list_text(text) : g_strdup(text);
  const char *none = column->kind == CELL_START_KEY ? FIRST_REGION : "-";
  return cut(shown[0] != '\0' ? shown : none, column->max_columns);
}

/* ---- lists ---- */

static const Column partition_columns[] = {
    {"TOPIC", "topic", CELL_TEXT, 20},
    {"PARTITION", "partition", CELL_COUNT},
    {"STORED", "stored_offset", CELL_COUNT},
    {"END", "end_offset", CELL_COUNT},
    {"LAG", "lag_messages", CELL_COUNT},
    {"AGE", "lag_seconds", CELL_SECONDS},
    {"IN FLIGHT", "in_flight_messages", CELL_COUNT},
    {"PAUSED FOR", "pauses", CELL_LIST, 20},
};

static const Column table_columns[] = {
    {"TABLE", "name", CELL_TEXT, 24},
    {"ROWS/S", "rows_per_second", CELL_RATE},
    {"SHARE", "share", CELL_SHARE},
    {"WAITING", "waiting_rows", CELL_COUNT},
    {"IN FLIGHT", "in_flight_rows", CELL_COUNT},
    {"MEMORY", "memory_bytes", CELL_BYTES},
    {"FAILING REGIONS", "failing_regions", CELL_COUNT},
};

static const Column region_columns[] = {
    {"REGION OF", "table", CELL_TEXT, 20},    {"FROM KEY", "start_key", CELL_START_KEY, 18},
    {"ROWS/S", "rows_per_second", CELL_RATE}, {"SHARE", "share", CELL_SHARE},
    {"WAITING", "waiting_rows", CELL_COUNT},  {"IN FLIGHT", "in_flight_rows", CELL_COUNT},
    {"FAILURES", "failures", CELL_COUNT},
};

static const Column gateway_columns[] = {
    {"GATEWAY", "name", CELL_TEXT, 36},         {"STATE", "state", CELL_VERDICT, 12},
    {"CONNECTIONS", "connections", CELL_COUNT}, {"ROWS/S", "rows_per_second", CELL_RATE},
    {"CALL", "call_seconds", CELL_SECONDS},     {"ROWS/CALL", "rows_per_call", CELL_RATE},
};

static const Column reason_columns[] = {
    {"DEAD LETTERS FOR", "reason", CELL_TEXT, 24},
    {"KEPT", "kept", CELL_COUNT},
    {"LAST", "last_at", CELL_TIME, 20},
    {"THE LAST ONE", "text", CELL_TEXT, 300},
};

static const Column recent_columns[] = {
    {"KEPT AT", "kept_at", CELL_TIME, 24}, {"TOPIC", "topic", CELL_TEXT, 14},   {"PARTITION", "partition", CELL_COUNT},
    {"OFFSET", "offset", CELL_COUNT},      {"REASON", "reason", CELL_TEXT, 16}, {"TABLE", "table", CELL_TEXT, 14},
};

#define COLUMNS(columns) columns, G_N_ELEMENTS(columns)

static const View views[] = {
    {"partitions", "partition", COLUMNS(partition_columns), "pauses"},
    {"tables", "table", COLUMNS(table_columns)},
    {"regions", "region", COLUMNS(region_columns)},
    {"gateways", "gateway", COLUMNS(gateway_columns)},
    {"dead_letters.reasons", "reason", COLUMNS(reason_columns)},
    {"dead_letters.recent", "dead letter", COLUMNS(recent_columns)},
};

static void
print_list(FILE *stream, TideStatusReader *status, const View *view, gboolean colour)
{
  g_autoptr(TideStatusReader) items = tide_status_reader_list(status, view->list);
  guint32 n = tide_status_reader_n(items), shown = 0;
  if (n == 0)
    return;
  TideListingColumn columns[16] = {0};
  for (gsize c = 0; c < view->n_columns; c++)
    columns[c] = (TideListingColumn){view->columns[c].heading, .right = view->columns[c].kind > CELL_LIST,
                                     .judges = view->columns[c].kind == CELL_VERDICT};
  g_autoptr(TideListing) listing = tide_listing_new(stream, TIDE_OUTPUT_TABLE, colour, columns, view->n_columns);
  tide_listing_break_lines(listing);
  fputc('\n', stream);
  for (int first = 1; first >= 0; first--)
    for (guint32 i = 0; i < n && shown < MAX_LINES; i++) {
      gboolean goes_first = view->first != NULL && g_strcmp0(tide_status_reader_text(items, i, view->first), "[]") != 0;
      if (goes_first != first)
        continue;
      g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func(g_free);
      for (gsize c = 0; c < view->n_columns; c++)
        g_ptr_array_add(values, cell_text(items, i, &view->columns[c]));
      (void)tide_listing_add(listing, (const char *const *)values->pdata);
      shown++;
    }
  (void)tide_listing_finish(listing);
  g_autofree char *others = tide_count_of(n - shown, view->noun, NULL);
  if (shown < n)
    fprintf(stream, "and %s more\n", others);
}

/* ---- text lines ---- */

#define LABEL_COLUMNS 14

/* Prints "Label         word: text", wrapped if too long; continuation lines are indented below the text. @word: NULL:
 * none; in colour if it is a verdict */
static void
print_said(FILE *stream, const char *label, const char *word, const char *text, gboolean colour)
{
  g_autoptr(GString) line = g_string_new(NULL);
  g_string_append_printf(line, "%-*s", LABEL_COLUMNS, label);
  g_autofree char *said = word != NULL ? g_strdup_printf("%s: %s", word, text) : g_strdup(text);
  tide_text_fill(line, said, LABEL_COLUMNS);
  const char *sequence = colour && word != NULL ? tide_colour_of(word) : "";
  if (*sequence != '\0') {
    g_string_insert(line, LABEL_COLUMNS + (gssize)strlen(word), TIDE_COLOUR_END);
    g_string_insert(line, LABEL_COLUMNS, sequence);
  }
  fprintf(stream, "%s\n", line->str);
}

static void
print_wrapped(FILE *stream, const char *label, const char *text)
{
  print_said(stream, label, NULL, text, FALSE);
}

/* A shorter reason is repeated rather than referred to. */
#define LONG_REASON 40

/* @text without what the line "Reason" already shows. (transfer full) */
static char *
without_reason(TideStatusReader *status, const char *text)
{
  const char *reason = tide_status_reader_text(status, 0, "reason");
  const char *at = reason != NULL && strlen(reason) >= LONG_REASON ? strstr(text, reason) : NULL;
  g_autofree char *before = at != NULL ? g_strndup(text, (gsize)(at - text)) : NULL;
  return at == NULL ? g_strdup(text) : g_strconcat(before, "see the reason above", at + strlen(reason), NULL);
}

static char *
member_text(TideStatusReader *status, const char *name, CellKind kind)
{
  return number_text(kind, tide_status_reader_number(status, 0, name));
}

static void
print_head(FILE *stream, TideStatusReader *status, gboolean colour)
{
  gboolean is_well = tide_status_reader_flag(status, 0, "ready") && tide_status_reader_flag(status, 0, "healthy");
  g_autofree char *age = member_text(status, "uptime_seconds", CELL_SECONDS);
  const char *version = tide_status_reader_text(status, 0, "version");
  const char *word = is_well ? "ready" : "not ready";
  fprintf(stream, "tidemark %s, up for %s: %s%s%s\n", version != NULL ? version : "?", age,
          colour ? tide_colour_of(word) : "", word, colour ? TIDE_COLOUR_END : "");
  const char *reason = tide_status_reader_text(status, 0, "reason");
  if (reason != NULL)
    print_wrapped(stream, "Reason", reason);
}

/* Prints what limits the daemon, whether a restart is good now, and which region is hot: a word and its reason. Nothing
 * if the daemon's version does not report it. */
static void
print_verdict(FILE *stream, TideStatusReader *status, const char *label, const char *word, const char *why,
              gboolean colour)
{
  const char *text = tide_status_reader_text(status, 0, why);
  if (word == NULL || text == NULL)
    return;
  g_autofree char *said = without_reason(status, text);
  print_said(stream, label, word, said, colour);
}

/* Prints the result of the last reload, if there was one. */
static void
print_reload(FILE *stream, TideStatusReader *status)
{
  const char *at = tide_status_reader_text(status, 0, "reload.at");
  if (at == NULL)
    return;
  const char *error = tide_status_reader_text(status, 0, "reload.error");
  const char *taken = tide_status_reader_text(status, 0, "reload.applied");
  const char *left = tide_status_reader_text(status, 0, "reload.needs_restart");
  g_autofree char *text =
      error != NULL ? g_strdup_printf("failed at %s; the previous configuration stays in force: %s", at, error)
                    : g_strdup_printf("at %s: applied %s", at, taken != NULL ? taken : "no changes");
  print_wrapped(stream, "Reload", text);
  if (left != NULL) {
    g_autofree char *restart = g_strdup_printf("changed, but needs a restart: %s", left);
    print_wrapped(stream, "", restart);
  }
}

/* "lag 7 messages (2.0 s)", as far as known. (transfer full) */
static char *
lag_text(TideStatusReader *status)
{
  double lag = tide_status_reader_number(status, 0, "kafka.lag_messages");
  g_autofree char *messages = tide_count_of((guint64)MAX(lag, 0), "message", NULL);
  g_autofree char *age = member_text(status, "kafka.lag_seconds", CELL_SECONDS);
  return lag < 0 ? g_strdup("lag unknown") : g_strdup_printf("lag %s (%s)", messages, age);
}

static void
print_kafka(FILE *stream, TideStatusReader *status)
{
  g_autofree char *partitions = member_text(status, "kafka.assigned_partitions", CELL_COUNT);
  g_autofree char *lag = lag_text(status);
  g_autofree char *in_flight = member_text(status, "kafka.in_flight_messages", CELL_COUNT);
  g_autofree char *rate = member_text(status, "kafka.messages_per_second", CELL_RATE);
  gboolean is_all_read = tide_status_reader_number(status, 0, "kafka.lag_messages") > 0 &&
                         tide_status_reader_number(status, 0, "kafka.unread_messages") == 0;
  g_autofree char *text = g_strdup_printf("%s partition%s, %s messages/s, %s, in flight %s%s", partitions,
                                          strcmp(partitions, "1") == 0 ? "" : "s", rate, lag, in_flight,
                                          is_all_read ? "; all read, not committed yet" : "");
  print_wrapped(stream, "Kafka", text);
  const char *trouble = tide_status_reader_text(status, 0, "kafka.error");
  if (trouble != NULL)
    print_wrapped(stream, "", trouble);
}

static void
print_writers(FILE *stream, TideStatusReader *status)
{
  g_autoptr(TideStatusReader) writers = tide_status_reader_list(status, "writers");
  guint n_busy = 0;
  double longest = -1;
  for (guint32 i = 0; i < tide_status_reader_n(writers); i++) {
    double seconds = tide_status_reader_number(writers, i, "call_seconds");
    n_busy += seconds >= 0 ? 1 : 0;
    longest = MAX(longest, seconds);
  }
  g_autofree char *age = number_text(CELL_SECONDS, longest);
  g_autofree char *text =
      n_busy > 0 ? g_strdup_printf("%u of %u in a call, the longest for %s", n_busy, tide_status_reader_n(writers), age)
                 : g_strdup_printf("%u, none in a call", tide_status_reader_n(writers));
  print_wrapped(stream, "Writers", text);
}

static void
print_memory_and_cpu(FILE *stream, TideStatusReader *status)
{
  double budget = tide_status_reader_number(status, 0, "memory.budget_bytes");
  double used_bytes = tide_status_reader_number(status, 0, "memory.used_bytes");
  g_autofree char *used = member_text(status, "memory.used_bytes", CELL_BYTES);
  g_autofree char *budget_text = number_text(CELL_BYTES, budget);
  g_autofree char *resident = member_text(status, "memory.resident_bytes", CELL_BYTES);
  g_autofree char *share = number_text(CELL_SHARE, budget > 0 ? used_bytes / budget : -1);
  g_autofree char *doubt = member_text(status, "memory.uncertain_bytes", CELL_BYTES);
  gboolean is_in_doubt = tide_status_reader_number(status, 0, "memory.uncertain_bytes") > 0 && *doubt != '-';
  g_autofree char *text = g_strdup_printf(
      "%s in use of %s%s%s%s%s%s%s, process %s", used, budget_text, *share != '-' ? " (" : "",
      *share != '-' ? share : "", *share != '-' ? ")" : "", is_in_doubt ? ", " : "", is_in_doubt ? doubt : "",
      is_in_doubt ? " of it to remember cells of uncertain outcome until hbase.uncertain_timeout is over" : "",
      resident);
  print_wrapped(stream, "Memory", text);
  g_autofree char *cores = member_text(status, "cpu.cores", CELL_COUNT);
  g_autofree char *busiest = member_text(status, "cpu.busiest_consumer", CELL_SHARE);
  double taken = tide_status_reader_number(status, 0, "cpu.process");
  g_autofree char *process = taken < 0 ? g_strdup("-") : g_strdup_printf("%.1f", taken);
  g_autofree char *cpu = g_strdup_printf("%s of %s cores, busiest consumer %s", process, cores, busiest);
  print_wrapped(stream, "CPU", cpu);
}

static void
print_dead_letters(FILE *stream, TideStatusReader *status)
{
  g_autoptr(TideStatusReader) reasons = tide_status_reader_list(status, "dead_letters.reasons");
  const char *first_at = NULL; /* of all reasons */
  for (guint32 i = 0; i < tide_status_reader_n(reasons); i++) {
    const char *at = tide_status_reader_text(reasons, i, "first_at");
    if (at != NULL && (first_at == NULL || strcmp(at, first_at) < 0))
      first_at = at;
  }
  g_autofree char *first = first_at != NULL ? time_text(first_at) : NULL;
  g_autofree char *kept = member_text(status, "dead_letters.kept", CELL_COUNT);
  const char *place = tide_status_reader_text(status, 0, "dead_letters.location");
  const char *stalled = tide_status_reader_text(status, 0, "dead_letters.blocked");
  g_autofree char *text =
      place != NULL ? g_strdup_printf("%s stored since the start%s%s, in %s", kept,
                                      first != NULL ? ", the first at " : "", first != NULL ? first : "", place)
                    : g_strdup("they are not stored");
  print_wrapped(stream, "Dead letters", text);
  if (stalled != NULL) {
    g_autofree char *said = without_reason(status, stalled);
    print_wrapped(stream, "", said);
  }
}

/* Prints, after the lists, one line for each problem or delay: "METRIC host5: ...", or "METRIC (the first): ..." for
 * the first region. */
static void
print_troubles(FILE *stream, TideStatusReader *status)
{
  static const struct {
    const char *list, *name, *detail, *text, *label;
  } troubles[] = {{"pauses", "scope", "name", "no_effect", "Pause"},
                  {"partitions", "topic", "partition", "halted", "Trouble"},
                  {"partitions", "topic", "partition", "commit_deferred", "Deferred"},
                  {"tables", "name", NULL, "suspended", "Suspended"},
                  {"regions", "table", "start_key", "error", "Trouble"},
                  {"gateways", "name", NULL, "error", "Trouble"}};
  for (gsize t = 0; t < G_N_ELEMENTS(troubles); t++) {
    g_autoptr(TideStatusReader) items = tide_status_reader_list(status, troubles[t].list);
    for (guint32 i = 0, n = 0; i < tide_status_reader_n(items) && n < MAX_LINES; i++) {
      const char *text = tide_status_reader_text(items, i, troubles[t].text);
      if (text == NULL)
        continue;
      const char *detail = troubles[t].detail != NULL ? tide_status_reader_text(items, i, troubles[t].detail) : NULL;
      g_autofree char *place =
          detail != NULL ? g_strconcat(" ", *detail != '\0' ? detail : FIRST_REGION, NULL) : g_strdup("");
      g_autofree char *said = without_reason(status, text);
      g_autofree char *line =
          g_strdup_printf("%s%s: %s", tide_status_reader_text(items, i, troubles[t].name), place, said);
      fputc('\n', stream);
      print_wrapped(stream, troubles[t].label, line);
      n++;
    }
  }
}

void
tide_status_view_print(FILE *stream, TideStatusReader *status, gboolean colour)
{
  print_head(stream, status, colour);
  gboolean is_good = tide_status_reader_flag(status, 0, "restart.clean");
  gboolean is_hot = tide_status_reader_flag(status, 0, "hot_region.found");
  print_verdict(stream, status, "Limited by", tide_status_reader_text(status, 0, "bottleneck.limit"), "bottleneck.why",
                colour);
  print_verdict(stream, status, "Restart now", is_good ? "yes" : "better not", "restart.why", colour);
  print_verdict(stream, status, "Hot region", is_hot ? "hot" : "none", "hot_region.why", colour);
  print_reload(stream, status);
  print_kafka(stream, status);
  print_writers(stream, status);
  print_memory_and_cpu(stream, status);
  print_dead_letters(stream, status);
  for (gsize i = 0; i < G_N_ELEMENTS(views); i++)
    print_list(stream, status, &views[i], colour);
  print_troubles(stream, status);
}
