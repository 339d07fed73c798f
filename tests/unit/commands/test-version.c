/* What `version` says of this program is what it can do. */
#include "commands/cli/commands.h"
#include "config/option/option_table.h"
#include "unit/test_case.h"

TEST("/version/formats")
{
  if (g_test_subprocess()) {
    g_assert_true(tide_command_version.run(&(TideCommandCall){0}, NULL));
    return;
  }
  g_test_trap_subprocess(NULL, 0, 0);
  g_test_trap_assert_passed();
  const TideConfigOption *format =
      tide_config_option_find(tide_config_option_find(&tide_config_top, "readings")->section, "format");
  for (const TideConfigChoice *choice = format->choices; choice->name != NULL; choice++) {
    g_autofree char *pattern = g_strdup_printf("*\n  readings *%s*", choice->name);
    g_test_trap_assert_stdout(pattern);
  }
}
