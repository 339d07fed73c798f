/* A dead letter as one line of JSON, in files and on standard output.
 *
 *     {"kept_at":"2026-07-26T12:34:56.789Z","topic":"metrics","partition":3,"offset":1234,"timestamp_ms":1785069296123,
 *      "reason":"parse","text":"…","source":"boards","table":"METRIC","row_key":"686f737431","reading":2,"attempts":1,
 *      "version":"0.1.0","original":"gone","key":BASE64,"value":BASE64,"headers":[{"name":"trace","value":BASE64}]}
 *
 * Left out: source, table, row_key and reading where there are none, timestamp_ms of a record without time, original
 * unless it is gone, and headers where there are none. key, value and a header's value are null where the record has
 * none. A header whose name is not UTF-8 has "name_base64" in place of "name", so that the record can be made again
 * byte for byte.
 *
 * Threads: one at a time. */
#pragma once

#include "model/dead_letter.h"

G_BEGIN_DECLS

/* The beginning of each line in a file. */
#define TIDE_DEAD_LETTER_JSON_BEGIN "{\"kept_at\":\""

/* Appends the line, including its newline. @kept_at_ms: wall clock; -1: unknown and omitted */
void tide_dead_letter_json_append(TideBuffer *out, const TideDeadLetter *dead_letter, gint64 kept_at_ms);

typedef struct TideDeadLetterParser TideDeadLetterParser;

TideDeadLetterParser *tide_dead_letter_parser_new(void);
void tide_dead_letter_parser_free(TideDeadLetterParser *parser);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideDeadLetterParser, tide_dead_letter_parser_free)

/**
 * tide_dead_letter_parser_parse: parses the dead letter in @line, with or without its newline. Unknown members are
 * ignored.
 * @ret_dead_letter: points into the parser's memory, valid until the next call
 * @ret_kept_at: (nullable): as in the line, empty if absent; valid likewise
 * Errors: DATA, with the cause.
 */
gboolean tide_dead_letter_parser_parse(TideDeadLetterParser *parser, TideBytes line, TideDeadLetter *ret_dead_letter,
                                       TideBytes *ret_kept_at, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
