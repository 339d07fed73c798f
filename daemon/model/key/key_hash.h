/* The digests of the key language. They are part of keys stored in HBase, so none may ever change. Allocates: nothing.
 */
#pragma once

#include "model/key/row_key.h"

G_BEGIN_DECLS

#define TIDE_KEY_DIGEST_MAX_BYTES 32 /* SHA-256's */

typedef struct TideKeyHashTraits {
  const char *name; /* the word in the configuration */
  guint32 size_bytes;
} TideKeyHashTraits;
extern const TideKeyHashTraits tide_key_hashes[TIDE_KEY_HASH_CRC32 + 1];

/* Whether @n_bytes of the digest identify the input, because two inputs do not share them by accident. Shorter digests
 * only spread keys. */
gboolean tide_key_hash_identifies(TideKeyHash hash, guint32 n_bytes);

/* @ret_digest: room for TIDE_KEY_DIGEST_MAX_BYTES. Numbers are big-endian, as in xxHash's canonical form. */
void tide_key_hash_digest(TideKeyHash hash, TideBytes input, guint8 *ret_digest);

/* The digest's first 8 bytes (or all of a shorter one) as a big-endian number; a salt is this number modulo N. */
guint64 tide_key_hash_number(TideKeyHash hash, TideBytes input);

G_END_DECLS
