/* SIGINT and SIGTERM for commands that end long work cleanly. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * tide_stop_signal_install: from now on the first of these signals only sets the returned flag, which work checks
 * between its steps; a second one ends the program as usual. Threads: the main thread's, before others. The flag may be
 * read by any.
 */
const volatile int *tide_stop_signal_install(void);

G_END_DECLS
