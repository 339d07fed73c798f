/* Readings made after messages of the operator's own: each line of a file is one sender, whose message comes again and
 * again with another event time and other measurements. What is a field of a row's key or of a condition, a text, or
 * true or false stays.
 *
 * The decoder reads each line once and tells where in it the values stand that change; all else is as it was, byte for
 * byte, in every format of text. The binary ones are walked through (value_change.h). Threads: any. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

typedef struct TideMessageSample TideMessageSample;

/**
 * tide_message_sample_load: the messages in the files at @paths (element-type char *): one a line, and of the binary
 * formats one a file; of csv with a header, a file's first line stands in front of each of its others.
 * @config: borrowed for the sample's life: names the fields of times and keys
 * @topic: whose source's messages they are
 * Errors: IO; CONFIG: a time's pattern that cannot be printed; DATA: no message in it, or one that the configuration
 * cannot read.
 */
TideMessageSample *tide_message_sample_load(const GPtrArray *paths, const TideConfig *config, const char *topic,
                                            GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_message_sample_free(TideMessageSample *sample); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideMessageSample, tide_message_sample_free)

gboolean tide_message_sample_is_binary(const TideMessageSample *sample);
guint tide_message_sample_n_lines(const TideMessageSample *sample); /* at least 1 */

/* Appends message @line of the file as of @time_ms. @seed: another one makes other measurements, each within a tenth of
 * the file's, with as many digits behind the point. */
void tide_message_sample_append(const TideMessageSample *sample, guint line, gint64 time_ms, guint64 seed,
                                TideBuffer *out);

G_END_DECLS
