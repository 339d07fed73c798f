/* Formats one event of the log: as text for a person, as a JSON object, or in the journal's native protocol. Pure: a
 * record in, bytes out. */
#pragma once

#include "util/bytes.h"
#include "util/log.h"

G_BEGIN_DECLS

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

G_END_DECLS
