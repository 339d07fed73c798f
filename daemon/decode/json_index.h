/* Finds the first byte of each token of a JSON text with simdjson's first stage, at some gigabytes per second;
 * json_walk.c does the rest in C.
 *
 * simdjson's two full interfaces, DOM and On-Demand, are both built on this stage. It takes a fifth to two fifths of
 * DOM's time and a third to two thirds of On-Demand's (3.0.1, Debian 12's, on an EPYC with AVX-512, messages of 54 to
 * 428 bytes). DOM loses the text of numbers. On-Demand checks only what is requested: it does not check the raw token
 * of a number or skipped values, and 3.0.1 cannot detect text after the document. All of these checks would be needed
 * in addition.
 *
 * The first stage checks UTF-8 and control bytes of the whole text, selects the CPU's best kernel at run time, and
 * accepts every form of message in one pass. With its list of offsets, a strict walk is short and needs no stack.
 * simdjson regards it as internal: a version that changes it breaks the build, and the tests run every kernel that the
 * machine supports. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Readable bytes after the text, because the kernels load whole vectors. */
#define TIDE_JSON_PADDING_BYTES 64

typedef struct TideJsonIndex TideJsonIndex;

TideJsonIndex *tide_json_index_new(void);
void tide_json_index_free(TideJsonIndex *index); /* NULL ok */

/**
 * tide_json_index_build: find the offsets of all tokens in @text: brackets, colons, commas, opening quotes, and the
 * first byte of each run of other bytes that are not white space.
 * @text: @len bytes and then TIDE_JSON_PADDING_BYTES of white space
 * @ret_offsets: valid until the next call; one more than the number of tokens: the last is @len
 * Returns: FALSE if @text is not UTF-8, ends inside a string, or has a control byte in a string; tide_json_text_fault()
 * finds the cause and position. Threads: the owner's only. Allocates: only to grow. Aborts when out of memory, as GLib
 * does.
 */
gboolean tide_json_index_build(TideJsonIndex *index, const guint8 *text, gsize len, const guint32 **ret_offsets,
                               guint32 *ret_n_tokens) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
