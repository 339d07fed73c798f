/* `tidemark pause` and `tidemark resume`: stop what a daemon reads and writes, and let it go on. They change the file
 * `paused` of the daemon's state directory (util/operator_pauses.h), which it watches. */
#include "commands/cli/commands.h"
#include "commands/cli/load_config.h"
#include "commands/cli/output.h"
#include "commands/cli/time_argument.h"
#include "commands/read/key_arguments.h"
#include "config/topic_pattern.h"
#include "util/clock.h"
#include "util/operator_pauses.h"
#include "util/state_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* StateDirectory= of the installed unit. */
#define SERVICE_DIRECTORY "/var/lib/tidemark"

/* Kafka has no others in the name of a topic; a pattern may match more. */
#define TOPIC_LETTERS G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._-"

typedef struct PauseOptions {
  GPtrArray *topics;
  GPtrArray *tables;
  const char *reason;
  const char *until;
  const char *state_directory;
  /* of the run */
  gint64 now_ms;
  gint64 until_ms; /* 0: not given */
} PauseOptions;

/* (transfer full); NULL with @error set. */
static char *
find_directory(const PauseOptions *options, GError **error)
{
  g_autofree char *own = tide_state_directory();
  const char *directory = options->state_directory != NULL ? options->state_directory
                          : own != NULL                    ? own
                                                           : SERVICE_DIRECTORY;
  if (g_file_test(directory, G_FILE_TEST_IS_DIR))
    return g_strdup(directory);
  (void)tide_fail(error, TIDE_ERROR_UNAVAILABLE,
                  "there is no directory '%s': give the daemon's state directory with '--state-directory'", directory);
  return NULL;
}

/* Keeps two commands from overwriting each other's change. The descriptor holds the lock; -1 with @error set. */
static int
lock_directory(const char *directory, GError **error)
{
  int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0 && flock(fd, LOCK_EX) == 0)
    return fd;
  (void)tide_fail(error, TIDE_ERROR_IO, "cannot lock '%s': %s", directory, g_strerror(errno));
  if (fd >= 0)
    close(fd);
  return -1;
}

/* ---- what is named ---- */

/* Errors: USAGE, of a table or topic that the configuration does not have. */
static gboolean
check_names(TideCommandCall *call, GError **error)
{
  const PauseOptions *options = call->options;
  if (options->tables->len + options->topics->len == 0)
    return TRUE;
  if (!tide_command_load_config(call))
    return FALSE;
  for (guint i = 0; i < options->tables->len; i++) {
    const TideTable *table = tide_table_argument_find(call->config, options->tables->pdata[i], error);
    if (table == NULL)
      return FALSE;
    options->tables->pdata[i] = (table->declared != NULL ? table->declared : table)->name;
  }
  for (guint i = 0; i < options->topics->len; i++)
    if (strspn(options->topics->pdata[i], TOPIC_LETTERS) != strlen(options->topics->pdata[i]) ||
        !tide_topic_pattern_any_matches(call->config->kafka.topics, options->topics->pdata[i]))
      return tide_fail(error, TIDE_ERROR_USAGE, "the configuration '%s' does not read the topic '%s'",
                       call->config->path, (const char *)options->topics->pdata[i]);
  return TRUE;
}

/* ---- the commands ---- */

/* Applies the command to one topic or table, or to everything. */
typedef void (*ChangePause)(const PauseOptions *options, GPtrArray *pauses, TidePauseScope scope, const char *name);

/* Reads the file, calls @change with each thing that is named, or everything where nothing is, and writes the file. */
static gboolean
change_file(TideCommandCall *call, gboolean may_be_unreadable, ChangePause change, GError **error)
{
  const PauseOptions *options = call->options;
  g_autofree char *directory = find_directory(options, error);
  int lock = directory != NULL ? lock_directory(directory, error) : -1;
  if (lock < 0)
    return FALSE;
  g_autoptr(GError) unreadable = NULL;
  g_autoptr(GPtrArray) pauses = tide_operator_pauses_read(directory, &unreadable);
  gboolean ok = pauses != NULL || may_be_unreadable;
  if (!ok)
    g_propagate_error(error, g_steal_pointer(&unreadable));
  if (pauses == NULL)
    pauses = g_ptr_array_new_with_free_func((GDestroyNotify)tide_operator_pause_free);
  tide_operator_pauses_drop_over(pauses, options->now_ms);
  for (guint i = 0; ok && i < options->topics->len; i++)
    change(options, pauses, TIDE_SCOPE_TOPIC, options->topics->pdata[i]);
  for (guint i = 0; ok && i < options->tables->len; i++)
    change(options, pauses, TIDE_SCOPE_TABLE, options->tables->pdata[i]);
  if (ok && options->topics->len + options->tables->len == 0)
    change(options, pauses, TIDE_SCOPE_EVERYTHING, "");
  ok = ok && tide_operator_pauses_write(directory, pauses, error);
  close(lock);
  if (ok)
    printf("%s\n", tide_state_directory_is_in_use(directory)
                       ? "The daemon applies this within two seconds; 'tidemark status' shows what is paused."
                       : "No daemon uses this state directory now; it applies when one starts.");
  return ok;
}

/* The time and reason of a pause that is given again replace the earlier ones. */
static void
add_pause(const PauseOptions *options, GPtrArray *pauses, TidePauseScope scope, const char *name)
{
  gint64 since_ms = options->now_ms;
  for (guint i = pauses->len; i-- > 0;) {
    const TideOperatorPause *before = pauses->pdata[i];
    if (!tide_operator_pause_is_of(before, scope, name))
      continue;
    since_ms = before->since_ms;
    g_ptr_array_remove_index(pauses, i);
  }
  TideOperatorPause *pause =
      tide_operator_pause_new(scope, name, options->reason != NULL ? options->reason : "", since_ms, options->until_ms);
  g_ptr_array_add(pauses, pause);
  g_autofree char *text = tide_operator_pause_describe(pause);
  printf("%s\n", text);
}

static void
print_resumed(const TideOperatorPause *pause)
{
  gboolean is_everything = pause->scope == TIDE_SCOPE_EVERYTHING;
  g_autofree char *since = tide_time_text(pause->since_ms);
  printf("%s%s%s%s is resumed; it was paused at %s\n", tide_pause_scope_names[pause->scope], is_everything ? "" : " '",
         pause->name, is_everything ? "" : "'", since);
}

/* A name that is not paused may be one day's of a dated table, or misspelt: the others show it. */
static void
print_others(const GPtrArray *pauses, TidePauseScope scope, const char *name)
{
  printf("%s '%s' is not paused", tide_pause_scope_names[scope], name);
  for (guint i = 0; i < pauses->len; i++) {
    g_autofree char *other = tide_operator_pause_describe(pauses->pdata[i]);
    printf("; %s", other);
  }
  printf("\n");
}

/* To resume everything ends every pause. */
static void
end_pause(const PauseOptions *options, GPtrArray *pauses, TidePauseScope scope, const char *name)
{
  gboolean is_any = FALSE;
  for (guint i = pauses->len; i-- > 0;) {
    const TideOperatorPause *pause = pauses->pdata[i];
    if (scope != TIDE_SCOPE_EVERYTHING && !tide_operator_pause_is_of(pause, scope, name))
      continue;
    is_any = TRUE;
    print_resumed(pause);
    g_ptr_array_remove_index(pauses, i);
  }
  if (!is_any && scope == TIDE_SCOPE_EVERYTHING)
    printf("nothing is paused\n");
  else if (!is_any)
    print_others(pauses, scope, name);
}

static gboolean
run_pause(TideCommandCall *call, GError **error)
{
  PauseOptions *options = call->options;
  options->now_ms = tide_wall_clock_epoch_ms();
  if (!check_names(call, error) ||
      !tide_time_option_parse_ms("until", options->until, options->now_ms, &options->until_ms, error))
    return FALSE;
  if (options->until != NULL && options->until_ms <= options->now_ms)
    return tide_fail(error, TIDE_ERROR_USAGE, "'--until' is in the past: give a later time, such as '--until +2h'");
  return change_file(call, FALSE, add_pause, error);
}

static gboolean
run_resume(TideCommandCall *call, GError **error)
{
  PauseOptions *options = call->options;
  options->now_ms = tide_wall_clock_epoch_ms();
  return change_file(call, options->topics->len + options->tables->len == 0, end_pause, error);
}

#define UNREADABLE_PAUSES "the file of pauses is damaged: 'tidemark resume' removes it"

#define WHAT_OPTIONS                                                                                                   \
  {"topic", "NAME", TIDE_LIST(PauseOptions, topics), "topic; repeatable"},                                             \
      {"table", "NAME", TIDE_LIST(PauseOptions, tables), "table; repeatable"},                                         \
  {                                                                                                                    \
    "state-directory", "DIR", TIDE_TEXT(PauseOptions, state_directory),                                                \
        "the daemon's state directory ($STATE_DIRECTORY, or " SERVICE_DIRECTORY ")"                                    \
  }

static const TideOption pause_options[] = {
    TIDE_CONFIG_OPTION,
    WHAT_OPTIONS,
    {"reason", "TEXT", TIDE_TEXT(PauseOptions, reason), "reason, shown in the status"},
    {"until", "TIME", TIDE_TEXT(PauseOptions, until), "end of the pause: +2h, 2026-11-21T04:45:00Z (until resumed)"},
};

static const TideOption resume_options[] = {WHAT_OPTIONS};

const TideCommand tide_command_pause = {
    .name = "pause",
    .summary = "Stops reading a topic or writing to a table, or both for everything, until it is resumed.",
    .exits = {{TIDE_EXIT_DATA, UNREADABLE_PAUSES},
              {TIDE_EXIT_UNAVAILABLE, "there is no such state directory"},
              {TIDE_EXIT_CONFIG}},
    .details =
        "Without --topic and --table, everything is paused: nothing is read from Kafka or sent to HBase. A paused\n"
        "topic is not read. Rows of a paused table wait in memory; when they fill the table's share, the partitions\n"
        "that feed it pause too. Partitions stay assigned and offsets where they are: nothing is lost, and after the\n"
        "pause the daemon catches up. A pause survives a restart.\n"
        "\n"
        "A pause applies only to the daemon that uses the state directory. If a rebalance moves a partition to\n"
        "another daemon, that daemon reads and writes it: pause each daemon of the group.\n"
        "\n"
        "Examples:\n"
        "  tidemark pause --reason 'HBase upgrade' --until +2h\n"
        "  tidemark pause --table METRIC\n"
        "  tidemark pause --topic metrics --topic events",
    TIDE_COMMAND_OPTIONS(pause_options, PauseOptions),
    .run = run_pause,
};

const TideCommand tide_command_resume = {
    .name = "resume",
    .summary = "Ends pauses that 'tidemark pause' started.",
    .exits = {{TIDE_EXIT_DATA, "with --topic or --table: " UNREADABLE_PAUSES},
              {TIDE_EXIT_UNAVAILABLE, "there is no such state directory"}},
    .details = "Without --topic and --table, every pause ends.\n"
               "\n"
               "Examples:\n"
               "  tidemark resume\n"
               "  tidemark resume --table METRIC",
    TIDE_COMMAND_OPTIONS(resume_options, PauseOptions),
    .run = run_resume,
};
