#include "commands/cli/stop_signal.h"

#include <signal.h>

static volatile int stop_asked;

static void
ask_to_stop(int signal_number)
{
  stop_asked = 1;
}

const volatile int *
tide_stop_signal_install(void)
{
  struct sigaction action = {.sa_handler = ask_to_stop, .sa_flags = (int)SA_RESETHAND};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  return &stop_asked;
}
