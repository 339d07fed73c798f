/* `tidemark offsets`: shows the group's committed offset of each partition, and moves it while the group has no
 * members. */
#include "commands/cli/commands.h"
#include "commands/cli/listing.h"
#include "commands/cli/load_config.h"
#include "commands/cli/stop_signal.h"
#include "commands/offsets/move_plan.h"
#include "config/topic_pattern.h"
#include "kafka/group_offsets.h"
#include "kafka/kafka_client.h"
#include "util/clock.h"
#include "util/units.h"

#include <string.h>

#define ANSWER_MS 15000
#define MEMBERS_MS 5000

/* A dead member leaves the group within kafka.session_timeout of its last heartbeat, plus a moment for the brokers. */
#define LEAVE_MARGIN_MS 2000
#define ASK_MEMBERS_US TIDE_US_PER_S
#define STOP_LOOK_US (100 * TIDE_US_PER_MS)

/* Up to this lag the remaining records are read, to distinguish messages from a transaction's markers in the log. */
#define MAX_COUNTED_LAG 1000
#define COUNT_MS 10000

typedef struct OffsetsOptions {
  const char *to;
  gboolean dry_run;
  int format; /* TideOutputFormat */
} OffsetsOptions;

typedef struct Offsets {
  const TideCommandCall *call;
  const TideConfig *config;
  const OffsetsOptions *options;
  const volatile int *stop;
  TideMoveTarget target;
  TideTopicReader *reader; /* owned */
  GArray *parts;           /* owned (element-type TideTopicPart): the selected partitions */
  GArray *counts;          /* owned (element-type gint64): messages after the committed offset; -1: unknown */
  GArray *moves;           /* owned (element-type TideMove): of each part */
} Offsets;

static void
clear_offsets(Offsets *offsets)
{
  tide_topic_reader_free(offsets->reader);
  g_clear_pointer(&offsets->parts, g_array_unref);
  g_clear_pointer(&offsets->counts, g_array_unref);
  g_clear_pointer(&offsets->moves, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Offsets, clear_offsets)

static const TideTopicPart *
part_at(const Offsets *offsets, guint i)
{
  return &g_array_index(offsets->parts, TideTopicPart, i);
}

/* ---- selection
 *   -------------------------------------------------------------------------------------------------------- */

/* "metrics" or "metrics:3"; @ret_partition is then -1 or 3. (transfer full): the topic; NULL: invalid */
static char *
parse_selection(const char *word, gint64 *ret_partition)
{
  const char *colon = strrchr(word, ':');
  guint64 number = 0;
  *ret_partition = -1;
  if (colon == NULL)
    return g_strdup(word);
  if (!g_ascii_string_to_unsigned(colon + 1, 10, 0, G_MAXINT32, &number, NULL))
    return NULL;
  *ret_partition = (gint64)number;
  return g_strndup(word, (gsize)(colon - word));
}

static GPtrArray *
topics_of(const Offsets *offsets, GError **error)
{
  const GPtrArray *arguments = offsets->call->arguments;
  g_autoptr(GPtrArray) topics = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 1; i < arguments->len; i++) {
    gint64 partition;
    char *topic = parse_selection(arguments->pdata[i], &partition);
    if (topic == NULL) {
      tide_fail(error, TIDE_ERROR_USAGE, "'%s' is not a partition: write TOPIC or TOPIC:PARTITION",
                (const char *)arguments->pdata[i]);
      return NULL;
    }
    g_ptr_array_add(topics, topic);
    if (tide_topic_pattern_any_matches(offsets->config->kafka.topics, topic))
      continue;
    tide_fail(error, TIDE_ERROR_USAGE, "topic '%s' is not among 'kafka.topics' of the configuration", topic);
    return NULL;
  }
  for (char **topic = offsets->config->kafka.topics; arguments->len < 2 && topic != NULL && *topic != NULL; topic++)
    g_ptr_array_add(topics, g_strdup(*topic));
  g_ptr_array_add(topics, NULL);
  return g_steal_pointer(&topics);
}

/* Removes partitions that no argument names. */
static gboolean
keep_selected(Offsets *offsets, GError **error)
{
  const GPtrArray *arguments = offsets->call->arguments;
  g_autofree gboolean *is_selected = g_new0(gboolean, MAX(offsets->parts->len, 1));
  for (guint i = 1; i < arguments->len; i++) {
    gint64 partition;
    gboolean found = FALSE;
    g_autofree char *topic = parse_selection(arguments->pdata[i], &partition);
    for (guint k = 0; k < offsets->parts->len; k++) {
      const TideTopicPart *part = part_at(offsets, k);
      if (strcmp(part->topic, topic) != 0 || (partition >= 0 && partition != part->partition))
        continue;
      is_selected[k] = found = TRUE;
    }
    if (!found)
      return tide_fail(error, TIDE_ERROR_NOT_FOUND, "topic '%s' has no partition %" G_GINT64_FORMAT, topic, partition);
  }
  for (guint k = offsets->parts->len; arguments->len > 1 && k-- > 0;)
    if (!is_selected[k])
      g_array_remove_index(offsets->parts, k);
  return TRUE;
}

/* Queries the brokers for everything about the partitions. */
static gboolean
ask(Offsets *offsets, GError **error)
{
  g_autoptr(GPtrArray) topics = topics_of(offsets, error);
  if (topics == NULL)
    return FALSE;
  g_clear_pointer(&offsets->parts, g_array_unref);
  offsets->parts = tide_topic_reader_find(offsets->reader, (const char *const *)topics->pdata, error);
  return offsets->parts != NULL && keep_selected(offsets, error) &&
         tide_topic_reader_ask_group(offsets->reader, offsets->config->kafka.group, offsets->parts, error);
}

/* ---- show ----------------------------------------------------------------------------------------------------------
 */

static gint64
count_message(const TideMessage *message, guint part, gpointer data)
{
  Offsets *offsets = data;
  g_array_index(offsets->counts, gint64, part)++;
  return message->offset + 1;
}

static void
end_count(guint part, gint64 next, const char *fault, gpointer data)
{
  Offsets *offsets = data;
  if (fault != NULL)
    g_array_index(offsets->counts, gint64, part) = G_MININT64; /* the earlier count is incomplete */
}

/* If the records cannot be read in time, their number stays unknown, which is not an error. */
static void
count_messages(Offsets *offsets)
{
  g_autoptr(GArray) spans = g_array_new(FALSE, FALSE, sizeof(TideTopicSpan));
  offsets->counts = g_array_new(FALSE, TRUE, sizeof(gint64));
  g_array_set_size(offsets->counts, offsets->parts->len);
  for (guint i = 0; i < offsets->parts->len; i++) {
    const TideTopicPart *part = part_at(offsets, i);
    TideTopicSpan span = {i, MAX(part->committed, part->first), part->last};
    if (part->committed < 0 || part->last - part->committed > MAX_COUNTED_LAG)
      g_array_index(offsets->counts, gint64, i) = G_MININT64;
    else
      g_array_append_val(spans, span);
  }
  if (!tide_topic_reader_read(offsets->reader, offsets->parts, spans, count_message, offsets, NULL))
    for (guint i = 0; i < spans->len; i++)
      g_array_index(offsets->counts, gint64, g_array_index(spans, TideTopicSpan, i).part) = G_MININT64;
}

/* Who committed the offset, according to its note. */
static const char *
writer_of(const TideTopicPart *part)
{
  TideCommitNote note;
  if (part->committed < 0)
    return NULL;
  if (part->note == NULL)
    return "no note";
  if (!tide_move_note_of(part, &note))
    return "not tidemark";
  return note.is_closed ? "tidemark, closed" : "tidemark, running";
}

/* "-1" for unknown. (transfer full) */
static char *
number_text(gint64 number)
{
  return number >= 0 ? g_strdup_printf("%" G_GINT64_FORMAT, number) : NULL;
}

static void
add_json_number(TideBuffer *line, const char *name, gint64 number)
{
  if (number >= 0)
    tide_json_number(line, name, number);
}

static void
show_json(const TideTopicPart *part, gint64 lag, gint64 n_messages, const TideHaltNote *halt)
{
  g_auto(TideBuffer) line = {0};
  const char *writer = writer_of(part);
  tide_json_open(&line, NULL, '{');
  tide_json_shown_text(&line, "topic", part->topic);
  tide_json_number(&line, "partition", part->partition);
  add_json_number(&line, "committed", part->committed);
  tide_json_number(&line, "beginning", part->first);
  tide_json_number(&line, "end", part->last);
  add_json_number(&line, "lag", lag);
  add_json_number(&line, "messages", n_messages);
  if (writer != NULL)
    tide_json_text(&line, "written_by", writer);
  if (part->note != NULL)
    tide_json_shown_text(&line, "note", part->note);
  if (halt->cause != TIDE_HALT_NONE) {
    tide_json_number(&line, "halt_offset", halt->offset);
    tide_json_text(&line, "halted", tide_halt_kinds[halt->cause].text);
  }
  tide_json_print_line(&line, stdout);
}

static void
show_line(TideListing *listing, const TideTopicPart *part, gint64 lag, gint64 n_messages, const TideHaltNote *halt)
{
  g_autofree char *partition = number_text(part->partition), *committed = number_text(part->committed);
  g_autofree char *first = number_text(part->first), *last = number_text(part->last);
  g_autofree char *lag_text = number_text(lag), *messages = number_text(n_messages);
  g_autofree char *halted =
      halt->cause == TIDE_HALT_NONE
          ? NULL
          : g_strdup_printf("at offset %" G_GINT64_FORMAT ": %s", halt->offset, tide_halt_kinds[halt->cause].text);
  const char *const values[] = {part->topic, partition, committed,       first, last,
                                lag_text,    messages,  writer_of(part), halted};
  (void)tide_listing_add(listing, values); /* tide_output_close() reports errors */
}

static gboolean
show(Offsets *offsets, GError **error)
{
  static const TideListingColumn columns[] = {
      {"TOPIC", FALSE, TRUE},     {"PARTITION", TRUE, FALSE},   {"COMMITTED", TRUE, FALSE},
      {"BEGINNING", TRUE, FALSE}, {"END", TRUE, FALSE},         {"LAG", TRUE, FALSE},
      {"MESSAGES", TRUE, FALSE},  {"WRITTEN BY", FALSE, FALSE}, {"HALTED", FALSE, FALSE}};
  TideOutputFormat format = (TideOutputFormat)offsets->options->format;
  g_autoptr(TideListing) listing = NULL;
  guint n_halted = 0, n_at_message = 0;
  if (!ask(offsets, error))
    return FALSE;
  count_messages(offsets);
  if (format != TIDE_OUTPUT_JSON)
    listing = tide_listing_new(stdout, format, tide_colour_wanted(stdout), columns, G_N_ELEMENTS(columns));
  for (guint i = 0; i < offsets->parts->len; i++) {
    const TideTopicPart *part = part_at(offsets, i);
    gint64 lag = part->committed >= 0 ? MAX(part->last - part->committed, 0) : -1;
    TideCommitNote note;
    (void)tide_move_note_of(part, &note);
    n_halted += note.halt.cause != TIDE_HALT_NONE ? 1 : 0;
    n_at_message += note.halt.cause == TIDE_HALT_MESSAGE ? 1 : 0;
    if (listing == NULL)
      show_json(part, lag, g_array_index(offsets->counts, gint64, i), &note.halt);
    else
      show_line(listing, part, lag, g_array_index(offsets->counts, gint64, i), &note.halt);
  }
  if (listing != NULL)
    (void)tide_listing_finish(listing);
  g_autofree char *config = tide_config_option(offsets->call->config_path);
  if (n_halted > 0 && format == TIDE_OUTPUT_TABLE)
    printf("\nTo continue after a halt, stop every daemon of the group, then run: tidemark offsets move --to "
           "past-halt%s\n",
           config);
  if (n_at_message > 0 && format == TIDE_OUTPUT_TABLE)
    printf("If a message halts its partition, correct the configuration and restart instead: 'past-halt' skips that "
           "message permanently.\n");
  return TRUE;
}

/* ---- the group's members -------------------------------------------------------------------------------------------
 */

/* @members: (nullable): the brokers do not name them. FALSE: the time is over, or a signal arrived. */
static gboolean
wait_for_members(const Offsets *offsets, const GArray *members, gint64 give_up_us, char **shown, GError **error)
{
  const char *group = offsets->config->kafka.group;
  g_autoptr(GString) names = g_string_new(NULL); /* "tidemark at 10.1.2.3, rdkafka at 10.1.2.4" */
  for (guint i = 0; members != NULL && i < members->len; i++) {
    const TideKafkaMember *member = &g_array_index(members, TideKafkaMember, i);
    g_autofree char *client = tide_text_printable(tide_bytes_of_string(member->client_id));
    g_string_append_printf(names, "%s'%s' at %s", i > 0 ? ", " : "", client,
                           member->host + (member->host[0] == '/' ? 1 : 0));
  }
  const char *text = names->len > 0 ? names->str : "(the brokers do not name them)";
  gint64 now_us = tide_now_us();
  if (now_us >= give_up_us)
    return tide_fail(error, TIDE_ERROR_IN_USE,
                     "nothing was moved: group '%s' still has members: %s; stop them ('systemctl stop tidemark' on "
                     "that host), and run this command again",
                     group, text);
  if (g_strcmp0(*shown, text) != 0) {
    g_autofree char *left = tide_age_text((give_up_us - now_us) / TIDE_US_PER_MS);
    tide_say("tidemark offsets: group '%s' has members: %s; waiting up to %s for them to leave", group, text, left);
    g_free(*shown);
    *shown = g_strdup(text);
  }
  while (tide_now_us() < now_us + ASK_MEMBERS_US && *offsets->stop == 0)
    g_usleep(STOP_LOOK_US);
  return *offsets->stop == 0 || tide_fail(error, TIDE_ERROR_CANCELLED, "stopped by a signal; nothing was moved");
}

/* ---- move ----------------------------------------------------------------------------------------------------------
 */

static gboolean
plan(Offsets *offsets, GError **error)
{
  const TideConfig *config = offsets->config;
  TideMoveContext context = {.now_epoch_ms = tide_wall_clock_epoch_ms(),
                             .settle_ms = config->hbase.settle_ms,
                             .span_messages = (guint64)config->kafka.max_span_messages};
  if (!ask(offsets, error) ||
      (offsets->target.to == TIDE_MOVE_TIME &&
       !tide_topic_reader_limit_to_times(offsets->reader, offsets->target.value, G_MAXINT64, offsets->parts, error)))
    return FALSE;
  g_clear_pointer(&offsets->moves, g_array_unref);
  offsets->moves = g_array_new(FALSE, TRUE, sizeof(TideMove));
  for (guint i = 0; i < offsets->parts->len; i++) {
    TideMove move;
    if (!tide_move_plan(&offsets->target, part_at(offsets, i), &context, &move, error))
      return FALSE;
    g_array_append_val(offsets->moves, move);
  }
  return TRUE;
}

/* @results: of each part. */
static void
print_moves(const Offsets *offsets, const char *const *results)
{
  static const TideListingColumn columns[] = {{"TOPIC", FALSE, TRUE},   {"PARTITION", TRUE, FALSE},
                                              {"OLD", TRUE, FALSE},     {"NEW", TRUE, FALSE},
                                              {"RESULT", FALSE, FALSE}, {"RESTORE", FALSE, FALSE}};
  TideOutputFormat format = (TideOutputFormat)offsets->options->format;
  g_autoptr(TideListing) listing = NULL;
  g_autoptr(GString) commands = g_string_new(NULL);
  g_autofree char *config = tide_config_option(offsets->call->config_path);
  if (format != TIDE_OUTPUT_JSON)
    listing = tide_listing_new(stdout, format, tide_colour_wanted(stdout), columns,
                               G_N_ELEMENTS(columns) - (format == TIDE_OUTPUT_TABLE ? 1 : 0));
  for (guint i = 0; i < offsets->parts->len; i++) {
    const TideTopicPart *part = part_at(offsets, i);
    const TideMove *move = &g_array_index(offsets->moves, TideMove, i);
    gint64 new = move->kind == TIDE_MOVE_MOVES ? move->to : -1;
    gboolean can_be_restored = part->committed >= part->first && part->committed <= part->last;
    g_autofree char *restore = /* a line for the shell */
        strcmp(results[i], "moved") == 0 && can_be_restored
            ? g_strdup_printf("tidemark offsets move --to %" G_GINT64_FORMAT " %s:%d%s", part->committed, part->topic,
                              part->partition, config)
            : NULL;
    if (listing != NULL) {
      g_autofree char *partition = number_text(part->partition), *old_text = number_text(part->committed);
      g_autofree char *new_text = number_text(new);
      const char *const values[] = {part->topic, partition, old_text, new_text, results[i], restore};
      (void)tide_listing_add(listing, values); /* tide_output_close() reports errors */
    } else {
      g_auto(TideBuffer) line = {0};
      tide_json_open(&line, NULL, '{');
      tide_json_shown_text(&line, "topic", part->topic);
      tide_json_number(&line, "partition", part->partition);
      add_json_number(&line, "old", part->committed);
      add_json_number(&line, "new", new);
      tide_json_text(&line, "result", results[i]);
      if (restore != NULL)
        tide_json_shown_text(&line, "restore", restore);
      tide_json_print_line(&line, stdout);
    }
    if (restore != NULL)
      g_string_append_printf(commands, "  %s\n", restore);
    else if (strcmp(results[i], "moved") == 0)
      g_string_append_printf(commands, "  (topic '%s' partition %d: %s)\n", part->topic, part->partition,
                             part->committed < 0 ? "nothing was committed before"
                                                 : "the old offset is no longer in the log");
  }
  if (listing != NULL)
    (void)tide_listing_finish(listing);
  if (commands->len > 0 && format == TIDE_OUTPUT_TABLE)
    printf("\nTo restore the old offsets:\n%s", commands->str);
}

/* The planned result of each part; a commit may change it. */
static const char **
planned_results(const Offsets *offsets)
{
  static const char *const names[] = {
      [TIDE_MOVE_MOVES] = "would move", [TIDE_MOVE_UNCHANGED] = "unchanged", [TIDE_MOVE_NOT_HALTED] = "not halted"};
  const char **results = g_new0(const char *, MAX(offsets->parts->len, 1));
  for (guint i = 0; i < offsets->parts->len; i++)
    results[i] = names[g_array_index(offsets->moves, TideMove, i).kind];
  return results;
}

/* Commits the plan and prints the results. Errors: IN_USE, without output, if the group has members. */
static gboolean
commit_and_print(const Offsets *offsets, TideKafkaClient *client, GError **error)
{
  g_autofree TideKafkaGroupOffset *commits = g_new0(TideKafkaGroupOffset, MAX(offsets->parts->len, 1));
  g_autofree guint *parts = g_new0(guint, MAX(offsets->parts->len, 1));
  g_autofree const char **results = planned_results(offsets);
  g_autoptr(GError) refused = NULL;
  gsize n = 0;
  for (guint i = 0; i < offsets->parts->len; i++) {
    const TideTopicPart *part = part_at(offsets, i);
    const TideMove *move = &g_array_index(offsets->moves, TideMove, i);
    if (move->kind != TIDE_MOVE_MOVES)
      continue;
    parts[n] = i;
    commits[n++] = (TideKafkaGroupOffset){.topic = part->topic,
                                          .partition = part->partition,
                                          .offset = move->to,
                                          .note = tide_commit_note_format(&move->note)};
  }
  gboolean ok = n == 0 || tide_kafka_group_commit(tide_kafka_client_handle(client), commits, n, &refused);
  for (gsize i = 0; i < n; i++) {
    results[parts[i]] = commits[i].is_committed ? "moved" : "failed";
    g_free(commits[i].note);
  }
  if (!g_error_matches(refused, TIDE_ERROR, TIDE_ERROR_IN_USE))
    print_moves(offsets, results);
  if (!ok)
    g_propagate_error(error, g_steal_pointer(&refused));
  return ok;
}

static gboolean
move(Offsets *offsets, GError **error)
{
  const TideKafkaConfig *kafka = &offsets->config->kafka;
  if (!plan(offsets, error)) /* before the wait: report mistakes on the command line at once */
    return FALSE;
  if (offsets->options->dry_run) {
    g_autofree const char **results = planned_results(offsets);
    print_moves(offsets, results);
    return TRUE;
  }
  gint64 give_up_us = tide_now_us() + (kafka->session_timeout_ms + LEAVE_MARGIN_MS) * TIDE_US_PER_MS;
  g_autofree char *shown = NULL;
  g_autoptr(TideKafkaClient) client = tide_kafka_client_new(kafka, kafka->group, NULL, error);
  if (client == NULL)
    return FALSE;
  for (;;) {
    /* Only the coordinator knows whether the group is empty; otherwise it refuses the commit of an outsider. Members
     * are queried before the plan, because leaving members commit their progress. */
    g_autoptr(GArray) members =
        tide_kafka_group_describe(tide_kafka_client_handle(client), kafka->group, MEMBERS_MS, NULL);
    if (members == NULL || members->len == 0) {
      g_autoptr(GError) refused = NULL;
      if (!plan(offsets, error))
        return FALSE;
      if (commit_and_print(offsets, client, &refused))
        return TRUE;
      if (!g_error_matches(refused, TIDE_ERROR, TIDE_ERROR_IN_USE)) {
        g_propagate_error(error, g_steal_pointer(&refused));
        return FALSE;
      }
    }
    if (!wait_for_members(offsets, members, give_up_us, &shown, error))
      return FALSE;
  }
}

/* ---- the command line ----------------------------------------------------------------------------------------------
 */

static gboolean
run_offsets(TideCommandCall *call, GError **error)
{
  static const char *const verbs[] = {"show", "move", NULL};
  const OffsetsOptions *options = call->options;
  g_auto(Offsets) offsets = {.call = call, .options = options};
  if (!tide_command_check_verb(call, verbs, "offsets", error))
    return FALSE;
  gboolean is_move = strcmp(call->arguments->pdata[0], "move") == 0;
  if (!is_move && (options->to != NULL || options->dry_run))
    return tide_fail(error, TIDE_ERROR_USAGE, "'--to' and '--dry-run' need 'tidemark offsets move'");
  if (is_move && !tide_move_target_parse(options->to, tide_wall_clock_epoch_ms(), &offsets.target, error))
    return FALSE;
  if (!tide_command_load_config(call))
    return FALSE;
  offsets.config = call->config;
  offsets.stop = tide_stop_signal_install();
  TideTopicReaderOptions reading = {
      .stop = offsets.stop, .answer_ms = ANSWER_MS, .silence_ms = COUNT_MS, .is_total = TRUE, .ended = end_count};
  offsets.reader = tide_topic_reader_new(&call->config->kafka, &reading, error);
  return offsets.reader != NULL && (is_move ? move : show)(&offsets, error);
}

static const TideOption offsets_options[] = {
    TIDE_CONFIG_OPTION,
    {"to", "WHERE", TIDE_TEXT(OffsetsOptions, to), "move: beginning, end, an offset, a time, or past-halt"},
    {"dry-run", NULL, TIDE_FLAG(OffsetsOptions, dry_run), "move: commit nothing, and show the changes"},
    {"format", "FORMAT", TIDE_CHOICE(OffsetsOptions, format), "output format: table, csv or json (table)",
     .letter = 'f', .choices = tide_output_format_names},
};

const TideCommand tide_command_offsets = {
    .name = "offsets",
    .arguments = "show|move [TOPIC[:PARTITION]…]",
    .summary = "Shows the group's committed offset of each partition, or moves it.",
    .exits = {{TIDE_EXIT_DATA, "move --to past-halt: messages before the halt are not written yet"},
              {TIDE_EXIT_UNAVAILABLE},
              {TIDE_EXIT_TEMPFAIL, "move: the group still has members, or the command was stopped: run it again"},
              {TIDE_EXIT_CONFIG}},
    .details = "show  shows the committed offset, beginning and end of the log, lag, the committing member, and why a "
               "partition\n"
               "      is halted. It also works while the daemon runs.\n"
               "move  commits another offset, from which the daemon reads after its next start. Stop every daemon of "
               "the group\n"
               "      first: the command waits up to kafka.session_timeout for members to leave, then fails (75).\n"
               "      It prints the commands that restore the old offsets.\n"
               "\n"
               "Without TOPIC, the command applies to all partitions of the configured topics.\n"
               "WHERE is beginning, end, an offset, a time (the first message at or after it, by record time), or "
               "past-halt: after\n"
               "the message that halted a partition; other partitions do not move. A time is now, -15m, 2026-11-21 or\n"
               "2026-11-21T04:45:00Z.\n"
               "\n"
               "Examples:\n"
               "  tidemark offsets show\n"
               "  tidemark offsets move --to past-halt --dry-run\n"
               "  tidemark offsets move --to 1400 metrics:0",
    .max_arguments = G_MAXUINT,
    TIDE_COMMAND_OPTIONS(offsets_options, OffsetsOptions),
    .run = run_offsets,
};
