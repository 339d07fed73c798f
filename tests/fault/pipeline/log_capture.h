/* What an operator would have had to read: the log's lines at warning and above, while a part of a test runs. Takes the
 * place of standard error; one at a time. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct LogCapture LogCapture;

LogCapture *log_capture_start(void);
/* Gives standard error back and frees @capture. Returns: the lines, "" when there were none; (transfer full). */
char *log_capture_end(LogCapture *capture);

G_END_DECLS
