/* Which messages of the window are dead letters, so that what HBase refused of them is not called missing.
 *
 * Threads: one. Memory: 40 bytes for each. */
#pragma once

#include "commands/verify/cells.h"
#include "kafka/kafka_topic_reader.h"

G_BEGIN_DECLS

typedef struct TideVerifyDeadLetter {
  TideVerifySource source;
  gint32 reading;        /* its place in the message; -1: all of the message */
  gboolean is_of_row;    /* the original is gone: content is that of the row's key, else that of the message */
  gboolean is_unwritten; /* the present configuration may take it, and it was not written all the same: HBase refused
                          * it, or a clock did. Other reasons are those of a configuration, and excuse nothing that this
                          * one takes */
  guint64 content;       /* a dead letter of another message that once had its place says nothing */
} TideVerifyDeadLetter;

typedef struct TideVerifyDeadLetters TideVerifyDeadLetters;

/**
 * tide_verify_dead_letters_read: the dead letters of messages within what is asked for of @parts. A topic or file that
 * does not exist holds none. Read them when the parts are known: what is committed is kept before.
 * @file: (nullable): in place of what the configuration names
 * @max_dead_letters: more are refused
 * Ownership: (transfer full). Errors: KAFKA, IO; TOO_BIG.
 */
TideVerifyDeadLetters *tide_verify_dead_letters_read(const TideConfig *config, const char *file, const GArray *parts,
                                                     guint max_dead_letters, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_verify_dead_letters_free(TideVerifyDeadLetters *dead_letters); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideVerifyDeadLetters, tide_verify_dead_letters_free)

/* What dead letters know a message by, and a row. */
guint64 tide_verify_message_content(TideBytes key, TideBytes value);
guint64 tide_verify_row_content(TideBytes row_key);

/* Those of one message; NULL: it is none. */
const TideVerifyDeadLetter *tide_verify_dead_letters_of(const TideVerifyDeadLetters *dead_letters,
                                                        TideVerifySource source, guint *ret_n);

G_END_DECLS
