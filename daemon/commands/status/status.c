/* `tidemark status`: shows the state of a running daemon, once or repeatedly. */
#include "commands/cli/commands.h"
#include "commands/cli/load_config.h"
#include "commands/cli/output.h"
#include "commands/cli/stop_signal.h"
#include "commands/status/status_view.h"
#include "util/clock.h"

#include <math.h>

#define WATCH_SECONDS 2.0
#define MAX_WATCH_SECONDS 86400.0

/* Interval of checks for a signal while waiting. */
#define WAIT_US (TIDE_US_PER_S / 10)

typedef enum Format { FORMAT_TABLE, FORMAT_JSON } Format;

static const char *const formats[] = {"table", "json", NULL};

typedef struct StatusOptions {
  TideStatusPageOptions page;
  gboolean watch;
  int format;
} StatusOptions;

/* Shows the status once. */
static gboolean
show_once(TideCommandCall *call, GError **error)
{
  const StatusOptions *options = call->options;
  g_autofree char *page = tide_status_page_get(&options->page, call->config, error);
  if (page == NULL)
    return FALSE;
  g_autoptr(TideStatusReader) status = tide_status_reader_new(tide_bytes_of_string(page), error);
  if (status == NULL)
    return FALSE;
  gboolean is_well = tide_status_reader_flag(status, 0, "ready") && tide_status_reader_flag(status, 0, "healthy");
  call->exit_code = is_well ? TIDE_EXIT_OK : TIDE_EXIT_FINDINGS;
  if (options->format == FORMAT_JSON) {
    g_auto(TideBuffer) shown = {0};
    tide_buffer_append_bytes(&shown, tide_bytes_of_string(page));
    tide_json_escape_hidden(&shown);
    fwrite(shown.data, 1, shown.len, stdout);
  } else
    tide_status_view_print(stdout, status, tide_colour_wanted(stdout));
  return TRUE;
}

static void
wait_for(double seconds, const volatile int *stop)
{
  gint64 until_us = tide_now_us() + (gint64)(seconds * TIDE_US_PER_S);
  for (gint64 left_us; !*stop && (left_us = until_us - tide_now_us()) > 0;)
    g_usleep((gulong)MIN(left_us, WAIT_US));
}

/* Repeats until a signal. On a terminal each output replaces the previous one; a daemon that does not answer is
 * reported and asked again. */
static gboolean
watch(TideCommandCall *call, double seconds)
{
  const StatusOptions *options = call->options;
  const volatile int *stop = tide_stop_signal_install();
  gboolean is_screen = options->format == FORMAT_TABLE && tide_colour_wanted(stdout);
  for (guint i = 0; !*stop && !ferror(stdout); i++) {
    g_autoptr(GError) error = NULL;
    if (i > 0 && options->format == FORMAT_TABLE && !is_screen)
      putchar('\n');
    if (is_screen)
      fputs("\033[H\033[2J", stdout);
    if (!show_once(call, &error))
      call->exit_code = tide_command_fail(call->command, error);
    fflush(stdout);
    wait_for(seconds, stop);
  }
  return TRUE;
}

static gboolean
read_seconds(const TideCommandCall *call, double *ret_seconds, GError **error)
{
  const StatusOptions *options = call->options;
  *ret_seconds = WATCH_SECONDS;
  if (call->arguments->len == 0)
    return TRUE;
  const char *text = g_ptr_array_index(call->arguments, 0);
  char *end = NULL;
  *ret_seconds = g_ascii_strtod(text, &end);
  if (options->watch && *end == '\0' && end != text && isfinite(*ret_seconds) && *ret_seconds >= 0.1 &&
      *ret_seconds <= MAX_WATCH_SECONDS)
    return TRUE;
  return tide_fail(error, TIDE_ERROR_USAGE,
                   "invalid interval '%s': --watch accepts the seconds between two updates, 0.1 to 86400", text);
}

static gboolean
show_status(TideCommandCall *call, GError **error)
{
  const StatusOptions *options = call->options;
  double seconds;
  if (!read_seconds(call, &seconds, error))
    return FALSE;
  if (options->page.url == NULL && !tide_command_load_config(call)) {
    tide_say("The daemon may still run with the previous file: use '--url http://127.0.0.1:9464', or its previous "
             "service.http.");
    return FALSE;
  }
  return options->watch ? watch(call, seconds) : show_once(call, error);
}

static const TideOption status_options[] = {
    TIDE_CONFIG_OPTION,
    {"format", "FORMAT", TIDE_CHOICE(StatusOptions, format),
     "output format: table (the default), or json: the unchanged document", .letter = 'f', .choices = formats},
    {"watch", NULL, TIDE_FLAG(StatusOptions, watch), "repeat every SECONDS, or every 2 s", .letter = 'w'},
    {"url", "URL", TIDE_TEXT(StatusOptions, page.url), "ask the daemon at this address, instead of the configured one"},
    {"ca-file", "FILE", TIDE_TEXT(StatusOptions, page.ca_file), "authorities for the daemon's certificate"},
    {"user", "NAME", TIDE_TEXT(StatusOptions, page.user), "authenticate as this user, with --password-file"},
    {"password-file", "FILE", TIDE_TEXT(StatusOptions, page.password_file), "file with the password of --user"},
    {"token-file", "FILE", TIDE_TEXT(StatusOptions, page.token_file),
     "authenticate with the bearer token in this file"},
};

const TideCommand tide_command_status = {
    .name = "status",
    .arguments = "[--watch [SECONDS]]",
    .summary = "Shows the state of a running daemon: lag, tables, regions, gateways, dead letters.",
    .exits = {{TIDE_EXIT_OK, "the daemon is ready and healthy"},
              {TIDE_EXIT_FINDINGS, "the daemon is not ready, or not healthy"},
              {TIDE_EXIT_DATA, "the daemon requires authentication, or what answers is not tidemark"},
              {TIDE_EXIT_UNAVAILABLE, "the daemon does not answer"},
              {TIDE_EXIT_CONFIG}},
    .details = "The command queries the address in service.http of the configuration.\n"
               "\n"
               "Examples:\n"
               "  tidemark status -c tidemark.yaml\n"
               "  tidemark status -c tidemark.yaml --watch 5\n"
               "  tidemark status --url https://tidemark.example.com:9464 --token-file status.token -f json",
    .max_arguments = 1,
    TIDE_COMMAND_OPTIONS(status_options, StatusOptions),
    .run = show_status,
};
