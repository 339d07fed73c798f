/* Where log lines go: standard error or the journal's socket. Never waits: what the other end does not take now is dropped
 * and counted, since a stalled reader of the log must not stall the data. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* Append the line that says that @n_dropped lines were dropped. Called under the sink's lock: must not log. */
typedef void (*TideLogRenderDropped)(GString *line, guint64 n_dropped);

/**
 * tide_log_sink_stderr: write @line to standard error.
 * @line: at most TIDE_LOG_LINE_MAX_BYTES, with its newline
 * @render_dropped: makes the line that goes ahead of @line when earlier ones were dropped
 * How it cannot block: poll() says whether there is room, under a lock that makes this process the only writer between
 * poll and write; a pipe then has room for PIPE_BUF bytes and a socket for more. Left over: another process that fills
 * the same pipe in between, and a terminal that stops within a line.
 * Returns: FALSE when it was not taken.
 * Threads: any.
 */
gboolean tide_log_sink_stderr(TideBytes line, TideLogRenderDropped render_dropped);

/* Send one datagram to the journal's socket at @path. FALSE with errno when it was not taken. Threads: any. */
gboolean tide_log_sink_journal(const char *path, TideBytes datagram);

/* Lines that no one took since the program started. Threads: any. */
guint64 tide_log_sink_dropped(void);

G_END_DECLS
