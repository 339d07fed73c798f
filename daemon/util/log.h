/* The log: one line per event with its fields, to the journal, or to standard error as text or JSON.
 *
 * Only main functions of threads and commands log; library code returns errors. Events at the rate of the data use a
 * TideLogLimit, so that a flood becomes one line with a count. The log itself escapes control bytes in texts from
 * outside. */
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
  const char *name;  /* upper case as required by the journal: "TOPIC" */
  const char *value; /* borrowed; NULL omits the field */
} TideLogField;

/**
 * tide_log_init: choose the format of the log. Call in main before any thread; the level can be changed later (reload).
 * Before that, the log writes text at level info. From here on, GLib's own messages use this log, too. Colour: in text
 * on a terminal, unless $NO_COLOR is set or $TERM is "dumb".
 */
void tide_log_init(TideLogFormat format, TideLogLevel most_verbose);
TideLogFormat tide_log_format(void); /* the format chosen by AUTO */
void tide_log_set_level(TideLogLevel most_verbose);
gboolean tide_log_enabled(TideLogLevel level);

/* An array of fields and its length, as tide_log_fields() expects them: TIDE_LOG_FIELDS({"TOPIC", topic}, ...). */
#define TIDE_LOG_FIELDS(...) (const TideLogField[]){__VA_ARGS__}, G_N_ELEMENTS(((const TideLogField[]){__VA_ARGS__}))

typedef struct TideLogNumber {
  char text[24];
} TideLogNumber;

/* For a field, within the call: {"PARTITION", tide_log_number(partition).text}. */
TideLogNumber tide_log_number(gint64 number);

/**
 * tide_log, tide_log_fields: log one event, with the name of the calling thread.
 * @id: (literal): identifies the event, in lower case and '-'. It stays the same when the wording changes; the
 *     journal's
 *     MESSAGE_ID is derived from it, and docs/messages.md has a line for it (tests/style/check_messages.py).
 * Threads: any. Blocks: never. Lines that standard error or the journal does not accept at once are dropped and
 * counted; the next accepted line is preceded by one with their number. A line has at most 4096 bytes; longer texts are
 * truncated and end in "..." (the journal's limit is 32 KiB). Keeps errno.
 */
void tide_log(TideLogLevel level, const char *id, const char *format, ...) G_GNUC_PRINTF(3, 4);
void tide_log_fields(TideLogLevel level, const char *id, const TideLogField *fields, gsize n_fields, const char *format,
                     ...) G_GNUC_PRINTF(5, 6);

/* One per place that may flood; zero-initialised. Passes the first event, then at most one per interval, with the
 * number of suppressed ones. */
typedef struct TideLogLimit {
  gint64 next_us;     /* accessed atomically */
  guint64 suppressed; /* accessed atomically */
} TideLogLimit;

/* TRUE when the event may be logged; @ret_suppressed: how many were suppressed since the last one. Threads: any. */
gboolean tide_log_limit_pass(TideLogLimit *limit, gint64 now_us, gint64 interval_us, guint64 *ret_suppressed);

/* Returns how many events were suppressed since the last one, for a final line, and resets the count. Threads: any. */
guint64 tide_log_limit_end(TideLogLimit *limit);

typedef struct TideLogSuppressed {
  char text[64]; /* " (3 such rows not logged)", or empty */
} TideLogSuppressed;

/* For the end of a line: how many events were @suppressed before it; empty if none. @what: "rows". Threads: any. */
TideLogSuppressed tide_log_suppressed(guint64 suppressed, const char *what);

/* ---- formats of a line: a record in, bytes out ---- */

/* Maximum length of a line of text or JSON, including its newline: PIPE_BUF of Linux, so that a pipe that poll()
 * reports as writable accepts the whole line, and lines of several processes do not mix. */
#define TIDE_LOG_LINE_MAX_BYTES 4096

typedef struct TideLogRecord {
  TideLogLevel level;
  const char *id;             /* borrowed: see tide_log() */
  gint64 wall_clock_us;       /* since 1970-01-01T00:00:00Z */
  const char *thread;         /* borrowed: the thread's name */
  const char *text;           /* borrowed; may contain anything */
  const TideLogField *fields; /* borrowed */
  gsize n_fields;
} TideLogRecord;

/**
 * tide_log_escape: append @text so that it stays on one line and cannot control a terminal. Control characters (C0,
 * DEL, C1), format characters (such as those that change the writing direction) and invalid UTF-8 become \xHH.
 * Everything else is unchanged, including backslashes: row keys are already escaped.
 * @max_bytes: maximum number of bytes appended; truncated text ends in "..."
 */
void tide_log_escape(GString *line, const char *text, gsize max_bytes);

/* `2026-11-21T04:45:00.123Z warning tide-writer-2: text  TOPIC=a PARTITION=3` and a newline. @colour: the level in ANSI
 * colour. A field value with blanks, quotes or '=' is quoted. Lines that are too long are truncated. */
void tide_log_line_text(GString *line, const TideLogRecord *record, gboolean colour);

/* One JSON object and a newline: time, level, id, thread, message, then the fields by name. Always valid JSON and
 * UTF-8; long values are truncated within their string, or the whole field is omitted. */
void tide_log_line_json(GString *line, const TideLogRecord *record);

/* A datagram of the journal's native protocol (systemd.io/JOURNAL_NATIVE_PROTOCOL): MESSAGE, PRIORITY,
 * SYSLOG_IDENTIFIER, MESSAGE_ID (derived from the id), TIDEMARK_ID, THREAD and the fields. The message is escaped,
 * because journalctl shows control bytes as "[blob data]"; field values are unchanged: the protocol is
 * length-prefixed. */
void tide_log_line_journal(TideBuffer *datagram, const TideLogRecord *record);

/* Sends one datagram to the journal's socket at @path without waiting. FALSE, with errno, if it was not accepted.
 * Threads: any. */
gboolean tide_log_send_to_journal(const char *path, TideBytes datagram);

G_END_DECLS
