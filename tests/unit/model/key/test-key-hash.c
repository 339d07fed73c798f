#include "model/key/key_hash.h"

typedef struct Vector {
  TideKeyHash hash;
  const char *input;
  const char *digest; /* hex */
} Vector;

#define FOX "The quick brown fox jumps over the lazy dog"

/* Published by the algorithms' authors and standards: RFC 1321, FIPS 180-4, the zlib and SMHasher documents and their
 * test programs. Of XXH3: the empty input is from the xxHash specification, the others were made by libxxhash 0.8.1 and
 * hold it to what it was. */
static const Vector vectors[] = {
    {TIDE_KEY_HASH_MD5, "", "d41d8cd98f00b204e9800998ecf8427e"},
    {TIDE_KEY_HASH_MD5, "abc", "900150983cd24fb0d6963f7d28e17f72"},
    {TIDE_KEY_HASH_MD5, FOX, "9e107d9d372bb6826bd81d3542a419d6"},
    {TIDE_KEY_HASH_SHA1, "", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
    {TIDE_KEY_HASH_SHA1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"},
    {TIDE_KEY_HASH_SHA1, FOX, "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"},
    {TIDE_KEY_HASH_SHA256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {TIDE_KEY_HASH_SHA256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {TIDE_KEY_HASH_MURMUR3, "", "00000000"},
    {TIDE_KEY_HASH_MURMUR3, "test", "ba6bd213"},
    {TIDE_KEY_HASH_MURMUR3, "hello", "248bfa47"},
    {TIDE_KEY_HASH_MURMUR3, "hello, world", "149bbb7f"},
    {TIDE_KEY_HASH_MURMUR3, "Hello, world!", "c0363e43"},
    {TIDE_KEY_HASH_MURMUR3, FOX, "2e4ff723"},
    {TIDE_KEY_HASH_CRC32, "", "00000000"},
    {TIDE_KEY_HASH_CRC32, "123456789", "cbf43926"},
    {TIDE_KEY_HASH_CRC32, FOX, "414fa339"},
    {TIDE_KEY_HASH_XXH3, "", "2d06800538d394c2"},
    {TIDE_KEY_HASH_XXH3, "abc", "78af5f94892f3950"},
    {TIDE_KEY_HASH_XXH3, FOX, "ce7d19a5418fb365"},
};

static void
test_published_vectors(void)
{
  for (gsize i = 0; i < G_N_ELEMENTS(vectors); i++) {
    guint8 digest[TIDE_KEY_DIGEST_MAX_BYTES];
    guint32 size_bytes = tide_key_hashes[vectors[i].hash].size_bytes;
    tide_key_hash_digest(vectors[i].hash, tide_bytes_of_string(vectors[i].input), digest);
    g_autofree char *hex = tide_bytes_hex(tide_bytes(digest, size_bytes));
    g_test_message("%s of '%s'", tide_key_hashes[vectors[i].hash].name, vectors[i].input);
    g_assert_cmpstr(hex, ==, vectors[i].digest);
  }
}

static void
test_number_is_the_first_eight_bytes(void)
{
  for (gsize i = 0; i < G_N_ELEMENTS(vectors); i++) {
    g_autofree char *leading = g_strndup(vectors[i].digest, 16);
    guint64 expected = g_ascii_strtoull(leading, NULL, 16);
    g_assert_cmpuint(tide_key_hash_number(vectors[i].hash, tide_bytes_of_string(vectors[i].input)), ==, expected);
  }
}

/* Inputs of every length up to some blocks, at every alignment: the same bytes, the same digest. */
static void
test_digest_depends_on_the_bytes_alone(void)
{
  guint8 at_start[300], shifted[304];
  for (gsize i = 0; i < sizeof at_start; i++)
    at_start[i] = (guint8)(i * 7 + 3);
  for (TideKeyHash hash = TIDE_KEY_HASH_MD5; hash <= TIDE_KEY_HASH_CRC32; hash++) {
    for (gsize len = 0; len < sizeof at_start; len++) {
      gsize shift = 1 + len % 3;
      guint8 one[TIDE_KEY_DIGEST_MAX_BYTES] = {0}, other[TIDE_KEY_DIGEST_MAX_BYTES] = {0};
      memcpy(shifted + shift, at_start, len);
      tide_key_hash_digest(hash, tide_bytes(at_start, len), one);
      tide_key_hash_digest(hash, tide_bytes(shifted + shift, len), other);
      g_assert_true(memcmp(one, other, sizeof one) == 0);
    }
  }
}

static void
test_only_long_digests_identify(void)
{
  g_assert_true(tide_key_hash_identifies(TIDE_KEY_HASH_MD5, 16));
  g_assert_true(tide_key_hash_identifies(TIDE_KEY_HASH_SHA256, 32));
  g_assert_false(tide_key_hash_identifies(TIDE_KEY_HASH_MD5, 15));
  g_assert_false(tide_key_hash_identifies(TIDE_KEY_HASH_XXH3, 8));
  g_assert_false(tide_key_hash_identifies(TIDE_KEY_HASH_XXH3, 16)); /* it has only 8 */
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/key-hash/published-vectors", test_published_vectors);
  g_test_add_func("/key-hash/number-is-the-first-eight-bytes", test_number_is_the_first_eight_bytes);
  g_test_add_func("/key-hash/digest-depends-on-the-bytes-alone", test_digest_depends_on_the_bytes_alone);
  g_test_add_func("/key-hash/only-long-digests-identify", test_only_long_digests_identify);
  return g_test_run();
}
