/* Readings based on the operator's own messages: each line of a file is one sender, whose message is repeated with
 * another event time and other measurements. Fields of a row's key or of a condition, texts and booleans keep their
 * values.
 *
 * The decoder reads each line once and locates the values that change. All other bytes are kept, in every text format.
 * Binary messages are walked through (value_change.h). Threads: any. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

typedef struct TideMessageSample TideMessageSample;

/**
 * tide_message_sample_load: load the messages in the files at @paths (element-type char *): one per line, or one per
 * file in the binary formats. For csv with a header, the first line of a file precedes each of its others.
 * @config: borrowed for the sample's life: names the fields of times and keys
 * @topic: whose source's messages they are
 * Errors: IO; CONFIG: a time's pattern that cannot be printed; DATA: a file without a message, or with one that the
 * configuration cannot read.
 */
TideMessageSample *tide_message_sample_load(const GPtrArray *paths, const TideConfig *config, const char *topic,
                                            GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_message_sample_free(TideMessageSample *sample); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideMessageSample, tide_message_sample_free)

gboolean tide_message_sample_is_binary(const TideMessageSample *sample);
guint tide_message_sample_n_lines(const TideMessageSample *sample); /* at least 1 */

/* Appends message @line of the file with the time @time_ms. Another @seed produces other measurements, each within a
 * tenth of the file's, with as many decimals. */
void tide_message_sample_append(const TideMessageSample *sample, guint line, gint64 time_ms, guint64 seed,
                                TideBuffer *out);

G_END_DECLS
