/* The log: one line an event with its fields, to the journal, or to standard error as text or JSON.
 *
 * Only a thread's owner function and the commands log; library code returns errors. An event that can repeat at the
 * rate of the data goes through a TideLogLimit, so that a flood is one line with a count. Text echoed from outside has
 * its control bytes escaped by the log itself. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* Values are syslog's, so that the journal and SD-DAEMON prefixes need no table. */
typedef enum TideLogLevel {
  TIDE_LOG_CRIT = 2,    /* data at risk, or the program stops */
  TIDE_LOG_ERROR = 3,   /* an operator has to act */
  TIDE_LOG_WARNING = 4, /* degraded, handled */
  TIDE_LOG_NOTICE = 5,  /* a change of state: assigned, connected, drained */
  TIDE_LOG_INFO = 6,
  TIDE_LOG_DEBUG = 7,
} TideLogLevel;

typedef enum TideLogFormat {
  TIDE_LOG_FORMAT_AUTO, /* journal when standard error is the journal ($JOURNAL_STREAM), else text */
  TIDE_LOG_FORMAT_TEXT,
  TIDE_LOG_FORMAT_JSON,
  TIDE_LOG_FORMAT_JOURNAL,
} TideLogFormat;

typedef struct TideLogField {
  const char *name;  /* upper case as the journal wants it: "TOPIC" */
  const char *value; /* borrowed; NULL leaves the field out */
} TideLogField;

/**
 * tide_log_init: choose the form of the log. Call in main before any thread; the level can be changed later (reload).
 * Until then the log writes text at level info. Messages of GLib's own logging go through this log from here on.
 * Colour: in text on a terminal, unless $NO_COLOR is set or $TERM is "dumb".
 */
void tide_log_init(TideLogFormat format, TideLogLevel most_verbose);
TideLogFormat tide_log_format(void); /* what AUTO turned out to be */
void tide_log_set_level(TideLogLevel most_verbose);
gboolean tide_log_enabled(TideLogLevel level);

/* An array of fields and its length, as tide_log_fields() takes them: TIDE_LOG_FIELDS({"TOPIC", topic}, ...). */
#define TIDE_LOG_FIELDS(...) (const TideLogField[]){__VA_ARGS__}, G_N_ELEMENTS(((const TideLogField[]){__VA_ARGS__}))

typedef struct TideLogNumber {
  char text[24];
} TideLogNumber;

/* For a field, within the call: {"PARTITION", tide_log_number(partition).text}. */
TideLogNumber tide_log_number(gint64 number);

/**
 * tide_log, tide_log_fields: log one event, the name of the calling thread with it.
 * @id: (literal): what happened, in lower case and '-': it stays when the wording changes, the journal's MESSAGE_ID
 * follows from it, and docs/messages.md, which tests/style/check_messages.py makes, has a line for it Threads: any.
 * Blocks: never. What standard error or the journal does not take at once is dropped and counted, and the next line
 * that passes is preceded by one that says how many were. A line is at most 4096 bytes long, longer texts are cut and
 * end in "..." (the journal takes 32 KiB). Keeps errno.
 */
void tide_log(TideLogLevel level, const char *id, const char *format, ...) G_GNUC_PRINTF(3, 4);
void tide_log_fields(TideLogLevel level, const char *id, const TideLogField *fields, gsize n_fields, const char *format,
                     ...) G_GNUC_PRINTF(5, 6);

/* One a place that may flood; zero-initialised. Passes the first event, then at most one each interval and says how
 * many were held back. */
typedef struct TideLogLimit {
  gint64 next_us;     /* accessed atomically */
  guint64 suppressed; /* accessed atomically */
} TideLogLimit;

/* TRUE when the event may be logged; @ret_suppressed is how many were not since the last that was. Threads: any. */
gboolean tide_log_limit_pass(TideLogLimit *limit, gint64 now_us, gint64 interval_us, guint64 *ret_suppressed);

/* How many were held back since the last that was logged, for the end, when no other says it; none are from then on.
 * Threads: any. */
guint64 tide_log_limit_end(TideLogLimit *limit);

typedef struct TideLogSuppressed {
  char text[64]; /* " (3 such rows not logged)", or empty */
} TideLogSuppressed;

/* For the end of a line: how many were @suppressed before it; nothing where none were. @what: "rows". Threads: any. */
TideLogSuppressed tide_log_suppressed(guint64 suppressed, const char *what);

/* ---- the forms of a line: a record in, bytes out ---- */

/* A line of text or JSON, its newline included, is at most this long: PIPE_BUF of Linux, so that a pipe that poll()
 * calls writable takes all of it, and lines of several processes do not mix. */
#define TIDE_LOG_LINE_MAX_BYTES 4096

typedef struct TideLogRecord {
  TideLogLevel level;
  const char *id;             /* borrowed: see tide_log() */
  gint64 wall_clock_us;       /* since 1970-01-01T00:00:00Z */
  const char *thread;         /* borrowed: the thread's name */
  const char *text;           /* borrowed; may hold anything */
  const TideLogField *fields; /* borrowed */
  gsize n_fields;
} TideLogRecord;

/**
 * tide_log_escape: append @text so that it stays on one line and cannot steer a terminal.
 * Control characters (C0, DEL, C1), format characters (such as the ones that turn the writing direction) and bytes that
 * are not UTF-8 become \xHH; all else stays as it is, a backslash too: row keys come here already in that form.
 * @max_bytes: at most so many bytes are appended; what is cut ends in "..."
 */
void tide_log_escape(GString *line, const char *text, gsize max_bytes);

/* `2026-11-21T04:45:00.123Z warning tide-writer-2: text  TOPIC=a PARTITION=3` and a newline. @colour: the level in ANSI
 * colour. A field whose value has blanks, quotes or '=' is quoted. What does not fit into the line is cut. */
void tide_log_line_text(GString *line, const TideLogRecord *record, gboolean colour);

/* One JSON object and a newline: time, level, id, thread, message, then the fields by their names. Valid JSON and UTF-8
 * whatever was in the texts; what does not fit is cut inside its string, or left out as a whole field. */
void tide_log_line_json(GString *line, const TideLogRecord *record);

/* A datagram of the journal's native protocol (systemd.io/JOURNAL_NATIVE_PROTOCOL): MESSAGE, PRIORITY,
 * SYSLOG_IDENTIFIER, MESSAGE_ID (which follows from the id), TIDEMARK_ID, THREAD and the fields. The message is
 * escaped, for journalctl shows one with control bytes as
 * "[blob data]"; the fields' values are kept byte for byte: the protocol is length-prefixed. */
void tide_log_line_journal(TideBuffer *datagram, const TideLogRecord *record);

/* Sends one datagram to the journal's socket at @path, and never waits. FALSE, with errno, when it was not taken. Threads:
 * any. */
gboolean tide_log_send_to_journal(const char *path, TideBytes datagram);

G_END_DECLS
