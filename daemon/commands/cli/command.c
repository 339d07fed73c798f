#include "commands/cli/command.h"

#include "commands/cli/command_line.h"
#include "commands/cli/output.h"
#include "config/option/nearest_name.h"
#include "thrift/client/access_denied.h"

static GPtrArray **
list_of(const TideCommandCall *call, const TideOption *option)
{
  return (GPtrArray **)(gpointer)((char *)call->options + option->offset);
}

static void
begin_call(TideCommandCall *call, const TideCommand *command)
{
  *call = (TideCommandCall){
      .command = command, .options = g_malloc0(command->options_size), .arguments = g_ptr_array_new()};
  if (command->defaults != NULL)
    memcpy(call->options, command->defaults, command->options_size);
  for (gsize i = 0; i < command->n_options; i++) {
    if (command->options[i].kind == TIDE_OPTION_LIST)
      *list_of(call, &command->options[i]) = g_ptr_array_new();
  }
}

static void
end_call(TideCommandCall *call)
{
  for (gsize i = 0; i < call->command->n_options; i++) {
    if (call->command->options[i].kind == TIDE_OPTION_LIST)
      g_ptr_array_unref(*list_of(call, &call->command->options[i]));
  }
  g_free(call->options);
  g_ptr_array_unref(call->arguments);
  g_clear_pointer(&call->problems, g_ptr_array_unref);
  tide_config_free(call->config);
}

static int
finish_run(const TideCommandCall *call, const GError *error)
{
  int code = error != NULL ? tide_command_fail(call->command, error) : tide_output_close();
  if (call->failure_code != TIDE_EXIT_OK)
    return call->failure_code;
  return code != TIDE_EXIT_OK ? code : call->exit_code;
}

static int
run_call(TideCommandCall *call, int argc, char **argv)
{
  g_autoptr(GError) error = NULL;
  gboolean help = FALSE;
  if (!tide_command_line_parse(call, argc, argv, &help, &error))
    return tide_command_fail(call->command, error);
  if (help) {
    g_autofree char *text = tide_command_line_help(call->command, tide_colour_wanted(stdout));
    fputs(text, stdout);
    return TIDE_EXIT_OK;
  }
  (void)call->command->run(call, &error);
  return finish_run(call, error);
}

int
tide_command_main(const TideCommand *command, int argc, char **argv)
{
  TideCommandCall call;
  begin_call(&call, command);
  int exit_code = run_call(&call, argc, argv);
  end_call(&call);
  return exit_code;
}

int
tide_command_fail(const TideCommand *command, const GError *error)
{
  g_autofree char *text = tide_access_denied_explain(error);
  tide_say("tidemark %s: %s", command->name, text);
  return tide_error_exit_code(error);
}

const char *
tide_command_exit_meaning(const TideCommand *command, int code)
{
  static const struct {
    const char *meaning;
    gboolean is_of_any;
  } codes[] = {
      [TIDE_EXIT_OK] = {"done", TRUE},
      [TIDE_EXIT_USAGE] = {"the command line is wrong", TRUE},
      [TIDE_EXIT_DATA] = {"the input cannot be used"},
      [TIDE_EXIT_UNAVAILABLE] = {"a broker or gateway cannot be reached, or a topic or table is missing"},
      [TIDE_EXIT_INTERNAL] = {"an internal error of tidemark", TRUE},
      [TIDE_EXIT_IO] = {"a file cannot be read, or a file or the output cannot be written", TRUE},
      [TIDE_EXIT_TEMPFAIL] = {"stopped before the work was done: run the command again"},
      [TIDE_EXIT_CONFIG] = {"the configuration is wrong, or a server is not the expected one"},
  };
  for (const TideCommandExit *own = command->exits; own->code != 0 || own->meaning != NULL; own++)
    if (own->code == code)
      return own->meaning != NULL ? own->meaning : codes[code].meaning;
  return codes[code].is_of_any ? codes[code].meaning : NULL;
}

/* "list, show or replay" */
static char *
any_of(const char *const *verbs)
{
  GString *text = g_string_new(verbs[0]);
  for (guint i = 1; verbs[i] != NULL; i++)
    g_string_append_printf(text, "%s%s", verbs[i + 1] != NULL ? ", " : " or ", verbs[i]);
  return g_string_free(text, FALSE);
}

gboolean
tide_command_check_verb(const TideCommandCall *call, const char *const *verbs, const char *what, GError **error)
{
  const char *verb = call->arguments->len > 0 ? call->arguments->pdata[0] : NULL;
  if (verb != NULL && g_strv_contains(verbs, verb))
    return TRUE;
  g_autofree char *known = any_of(verbs);
  const char *nearest = verb != NULL ? tide_nearest_name(verb, verbs) : NULL;
  if (verb == NULL)
    tide_fail(error, TIDE_ERROR_USAGE, "the action is missing: %s", known);
  else if (nearest != NULL)
    tide_fail(error, TIDE_ERROR_USAGE, "cannot '%s' %s: did you mean '%s'?", verb, what, nearest);
  else
    tide_fail(error, TIDE_ERROR_USAGE, "cannot '%s' %s: use %s", verb, what, known);
  return FALSE;
}

gboolean
tide_command_check_table(const TideCommandCall *call, GError **error)
{
  if (call->arguments->len > 0)
    return TRUE;
  return tide_fail(error, TIDE_ERROR_USAGE, "the table is missing: see 'tidemark %s --help'", call->command->name);
}
