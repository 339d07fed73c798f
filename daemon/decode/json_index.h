/* Where the tokens of a JSON text begin, found by simdjson's first stage at some gigabytes a second; json_walk.c does the
 * rest in C.
 *
 * Why the first stage alone, rather than one of simdjson's two interfaces, which both sit on it: it takes a fifth to
 * two fifths of DOM's time and a third to two thirds of On-Demand's (3.0.1, Debian 12's, on an EPYC with AVX-512,
 * messages of 54 to 428 bytes). DOM loses the text of numbers. On-Demand checks only what is asked for (a number by its
 * raw token not at all, what is skipped not at all, and 3.0.1 cannot say whether text is left behind the document), so
 * all of that would have to be checked by hand beside it. The first stage checks UTF-8 and control bytes of the whole
 * text, picks the CPU's best kernel at run time, takes every form of message in one pass, and leaves a list of offsets
 * on which a strict walk is short and needs no stack. simdjson calls it internal: a version that changes it stops the
 * build, and the tests run on every kernel that the machine has. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What must be readable after the text: the kernels load whole vectors. */
#define TIDE_JSON_PADDING_BYTES 64

typedef struct TideJsonIndex TideJsonIndex;

TideJsonIndex *tide_json_index_new(void);
void tide_json_index_free(TideJsonIndex *index); /* NULL ok */

/**
 * tide_json_index_build: the offsets of all tokens in @text: brackets, colons, commas, opening quotes, and
 * the first byte of each run of other bytes that are not white space.
 * @text: @len bytes and then TIDE_JSON_PADDING_BYTES of white space
 * @ret_offsets: valid until the next call; one more than there are tokens, the last being @len
 * Returns: FALSE when @text is not UTF-8, ends inside of a string, or has a control byte in a string; which
 * and where is for tide_json_text_fault() to find. Threads: the owner's only. Allocates: only to grow. Aborts
 * when out of memory, as GLib does.
 */
gboolean tide_json_index_build(TideJsonIndex *index, const guint8 *text, gsize len, const guint32 **ret_offsets,
                               guint32 *ret_n_tokens) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
