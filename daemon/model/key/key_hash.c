#include "model/key/key_hash.h"

#include <nettle/md5.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <zlib.h>

/* Inlined: the inputs are short, and a call through the library costs as much as the hash. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#define IDENTIFYING_MIN_BYTES 16 /* 128 bits: 10^9 inputs share a digest with a probability below 10^-20 */

const TideKeyHashTraits tide_key_hashes[] = {
    [TIDE_KEY_HASH_MD5] = {"md5", MD5_DIGEST_SIZE},
    [TIDE_KEY_HASH_SHA1] = {"sha1", SHA1_DIGEST_SIZE},
    [TIDE_KEY_HASH_SHA256] = {"sha256", SHA256_DIGEST_SIZE},
    [TIDE_KEY_HASH_MURMUR3] = {"murmur3", 4},
    [TIDE_KEY_HASH_XXH3] = {"xxh3", 8},
    [TIDE_KEY_HASH_CRC32] = {"crc32", 4},
};

gboolean
tide_key_hash_identifies(TideKeyHash hash, guint32 n_bytes)
{
  return MIN(n_bytes, tide_key_hashes[hash].size_bytes) >= IDENTIFYING_MIN_BYTES;
}

static guint32
rotate_left(guint32 number, int bits)
{
  return (number << bits) | (number >> (32 - bits));
}

static guint32
murmur3_scramble(guint32 block)
{
  return rotate_left(block * 0xcc9e2d51u, 15) * 0x1b873593u;
}

/* MurmurHash3_x86_32 with seed 0, after Austin Appleby's description. Blocks are read as little-endian on every
 * machine. */
static guint32
murmur3(TideBytes input)
{
  guint32 hash = 0;
  gsize at = 0;
  for (; input.len - at >= 4; at += 4) {
    const guint8 *b = input.data + at;
    guint32 block = b[0] | (guint32)b[1] << 8 | (guint32)b[2] << 16 | (guint32)b[3] << 24;
    hash = rotate_left(hash ^ murmur3_scramble(block), 13) * 5 + 0xe6546b64u;
  }
  guint32 rest = 0;
  for (gsize i = input.len; i > at; i--)
    rest = rest << 8 | input.data[i - 1];
  hash ^= murmur3_scramble(rest);

  hash ^= (guint32)input.len;
  hash = (hash ^ hash >> 16) * 0x85ebca6bu;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
  return hash ^ hash >> 16;
}

static void
put_big_endian(guint8 *at, guint64 number, guint32 n_bytes)
{
  for (guint32 i = n_bytes; i > 0; i--, number >>= 8)
    at[i - 1] = (guint8)number;
}

void
tide_key_hash_digest(TideKeyHash hash, TideBytes input, guint8 *ret_digest)
{
  TideBytes bytes =
      input.len > 0 ? input : tide_bytes("", 0); /* the libraries need a pointer even for an empty input */
  union {
    struct md5_ctx md5;
    struct sha1_ctx sha1;
    struct sha256_ctx sha256;
  } context;
  switch (hash) {
  case TIDE_KEY_HASH_MD5:
    md5_init(&context.md5);
    md5_update(&context.md5, bytes.len, bytes.data);
    md5_digest(&context.md5, MD5_DIGEST_SIZE, ret_digest);
    return;
  case TIDE_KEY_HASH_SHA1:
    sha1_init(&context.sha1);
    sha1_update(&context.sha1, bytes.len, bytes.data);
    sha1_digest(&context.sha1, SHA1_DIGEST_SIZE, ret_digest);
    return;
  case TIDE_KEY_HASH_SHA256:
    sha256_init(&context.sha256);
    sha256_update(&context.sha256, bytes.len, bytes.data);
    sha256_digest(&context.sha256, SHA256_DIGEST_SIZE, ret_digest);
    return;
  case TIDE_KEY_HASH_MURMUR3:
    put_big_endian(ret_digest, murmur3(bytes), 4);
    return;
  case TIDE_KEY_HASH_XXH3:
    put_big_endian(ret_digest, XXH3_64bits(bytes.data, bytes.len), 8);
    return;
  case TIDE_KEY_HASH_CRC32:
    put_big_endian(ret_digest, crc32_z(0, bytes.data, bytes.len), 4);
    return;
  }
}

guint64
tide_key_hash_number(TideKeyHash hash, TideBytes input)
{
  guint8 digest[TIDE_KEY_DIGEST_MAX_BYTES] = {0};
  tide_key_hash_digest(hash, input, digest);
  guint64 number = 0;
  for (guint32 i = 0; i < MIN(tide_key_hashes[hash].size_bytes, 8); i++)
    number = number << 8 | digest[i];
  return number;
}
