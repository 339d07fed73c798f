/* Containers of Avro, in the plain form that records are taken from. tests/formats/test_containers.py has fastavro
 * write them. */
#include "files/avro_text.h"

#include "decode/avro_container.h"
#include "unit/assert_bytes.h"
#include "unit/test_case.h"

#include <glib/gstdio.h>
#include <snappy-c.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define SCHEMA                                                                                                         \
  "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"s\",\"type\":\"string\"},{\"name\":\"m\",\"type\":"     \
  "{\"type\":\"map\",\"values\":[\"null\",\"double\"]}},{\"name\":\"f\",\"type\":{\"type\":\"fixed\",\"name\":\"F\","  \
  "\"size\":3}},{\"name\":\"n\",\"type\":\"null\"}]}"
#define SYNC "0123456789abcdef"

/* s: "abc"; m: { "k": 1.5, "": null }; f: xyz */
#define OBJECT                                                                                                         \
  "\x06"                                                                                                               \
  "abc"                                                                                                                \
  "\x04\x02k\x02\0\0\0\0\0\0\xF8\x3F\0\0\0"                                                                            \
  "xyz"
#define OTHER                                                                                                          \
  "\0\0"                                                                                                               \
  "xyz"

static const TideBytes objects[] = {{(const guint8 *)OBJECT, sizeof OBJECT - 1},
                                    {(const guint8 *)OTHER, sizeof OTHER - 1}};

static void
append_long(TideBuffer *out, gint64 value)
{
  guint64 zigzag = ((guint64)value << 1) ^ (guint64)(value >> 63);
  for (; zigzag >= 0x80; zigzag >>= 7)
    tide_buffer_append_byte(out, (guint8)(zigzag | 0x80));
  tide_buffer_append_byte(out, (guint8)zigzag);
}

static void
append_run(TideBuffer *out, TideBytes bytes)
{
  append_long(out, (gint64)bytes.len);
  tide_buffer_append_bytes(out, bytes);
}

static void
append_head(TideBuffer *out, const char *codec)
{
  tide_buffer_append_bytes(out, TIDE_BYTES_LITERAL("Obj\x01"));
  append_long(out, codec != NULL ? 2 : 1);
  append_run(out, TIDE_BYTES_LITERAL("avro.schema"));
  append_run(out, TIDE_BYTES_LITERAL(SCHEMA));
  if (codec != NULL) {
    append_run(out, TIDE_BYTES_LITERAL("avro.codec"));
    append_run(out, tide_bytes_of_string(codec));
  }
  append_long(out, 0);
  tide_buffer_append_bytes(out, TIDE_BYTES_LITERAL(SYNC));
}

static void
append_block(TideBuffer *out, gint64 n_objects, TideBytes bytes)
{
  append_long(out, n_objects);
  append_run(out, bytes);
  tide_buffer_append_bytes(out, TIDE_BYTES_LITERAL(SYNC));
}

static void
pack(const char *codec, TideBytes block, TideBuffer *out)
{
  gsize room = block.len + block.len / 6 + 1000; /* snappy says so */
  size_t len = room;
  guint8 *to = tide_buffer_reserve(out, room + 4);
  if (g_strcmp0(codec, "deflate") == 0) {
    z_stream stream = {
        .next_in = (Bytef *)(guintptr)block.data, .avail_in = (uInt)block.len, .next_out = to, .avail_out = (uInt)room};
    g_assert_cmpint(deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), ==, Z_OK);
    g_assert_cmpint(deflate(&stream, Z_FINISH), ==, Z_STREAM_END);
    len = stream.total_out;
    deflateEnd(&stream);
    memcpy(to + len, "abc", 3); /* as Python's writers do: what is left of zlib's checksum */
    len += 3;
  } else if (g_strcmp0(codec, "zstandard") == 0)
    len = ZSTD_compress(to, room, block.data, block.len, 1);
  else if (g_strcmp0(codec, "snappy") == 0) {
    g_assert_cmpint(snappy_compress((const char *)block.data, block.len, (char *)to, &len), ==, SNAPPY_OK);
    guint32 checksum = GUINT32_TO_BE((guint32)crc32_z(0, block.data, block.len));
    memcpy(to + len, &checksum, sizeof checksum);
    len += sizeof checksum;
  } else
    memcpy(to, block.data, len = block.len);
  out->len += len;
}

/* What is read of @file, @capacity bytes at a time; behind it why it ends. */
static char *
read_file(TideBytes file, gsize capacity, TideBuffer *plain)
{
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp("tidemark-XXXXXX", &path, NULL);
  g_assert_cmpint(write(fd, file.data, file.len), ==, (gssize)file.len);
  close(fd);
  g_autoptr(TideFileText) text = tide_file_text_open(path, NULL);
  TideAvroText *avro = tide_avro_text_new(text);
  g_unlink(path);
  char *problem = NULL;
  tide_buffer_reset(plain);
  for (;;) {
    g_autoptr(GError) error = NULL;
    gsize n = 0;
    if (!tide_avro_text_read(avro, tide_buffer_reserve(plain, capacity), capacity, &n, &error)) {
      problem = g_strdup(error->message);
      break;
    }
    plain->len += n;
    if (n == 0) {
      g_assert_true(tide_avro_text_has_ended(avro));
      break;
    }
  }
  tide_avro_text_free(avro);
  return problem;
}

static void
append_plain(TideBuffer *out, gsize n_objects)
{
  append_head(out, NULL);
  for (gsize i = 0; i < n_objects; i++)
    append_block(out, 1, objects[i % 2]);
}

static void
make_file(TideBuffer *file, const char *codec)
{
  g_auto(TideBuffer) block = {0};
  g_auto(TideBuffer) packed = {0};
  append_head(file, codec);
  for (gint64 n = 2; n <= 4; n += 2) {
    tide_buffer_reset(&block);
    tide_buffer_reset(&packed);
    for (gint64 i = 0; i < n; i++)
      tide_buffer_append_bytes(&block, objects[i % 2]);
    pack(codec, tide_buffer_bytes(&block), &packed);
    append_block(file, n, tide_buffer_bytes(&packed));
    append_block(file, 0, TIDE_BYTES_EMPTY);
    file->len -= n == 2 && codec != NULL && strcmp(codec, "null") != 0 ? 18 : 0; /* what is compressed is never empty */
  }
  if (codec != NULL && strcmp(codec, "null") != 0)
    file->len -= 18;
}

TEST("/codecs")
{
  static const char *const codecs[] = {NULL, "null", "deflate", "zstandard", "snappy"};
  static const gsize capacities[] = {1, 7, 100000};
  g_auto(TideBuffer) expected = {0};
  append_plain(&expected, 6);
  for (gsize i = 0; i < G_N_ELEMENTS(codecs); i++)
    for (gsize k = 0; k < G_N_ELEMENTS(capacities); k++) {
      g_auto(TideBuffer) file = {0};
      g_auto(TideBuffer) plain = {0};
      make_file(&file, codecs[i]);
      g_autofree char *problem = read_file(tide_buffer_bytes(&file), capacities[k], &plain);
      g_assert_cmpstr(problem, ==, NULL);
      assert_bytes_equal(tide_buffer_bytes(&plain), tide_buffer_bytes(&expected));
    }
}

/* @n_good objects, and then @why. */
static void
assert_problem(const TideBuffer *file, gsize n_good, const char *why)
{
  g_auto(TideBuffer) plain = {0};
  g_auto(TideBuffer) expected = {0};
  g_autofree char *problem = read_file(tide_buffer_bytes(file), 100, &plain);
  g_assert_nonnull(problem);
  if (strstr(problem, why) == NULL)
    g_error("'%s' is not '%s'", problem, why);
  append_plain(&expected, n_good);
  assert_bytes_equal(tide_buffer_bytes(&plain), plain.len == 0 ? TIDE_BYTES_EMPTY : tide_buffer_bytes(&expected));
}

TEST("/codecs-that-cannot-be-read")
{
  g_auto(TideBuffer) file = {0};
  append_head(&file, "bzip2");
  assert_problem(&file, 0, "with the codec 'bzip2'; supported are null, deflate, zstandard and snappy: rewrite it");
}

/* Counts and lengths are whatever the sender says. */
TEST("/hostile")
{
  static const struct {
    gint64 n_objects;
    TideBytes bytes;
    gsize n_good;
    const char *why;
  } cases[] = {
      {3, {(const guint8 *)OBJECT OTHER, sizeof OBJECT OTHER - 1}, 2, "an object does not match its schema"},
      {1, {(const guint8 *)OBJECT "x", sizeof OBJECT}, 1, "bytes after its objects"},
      {G_MAXINT64, {(const guint8 *)OTHER, sizeof OTHER - 1}, 0, "more objects than bytes"},
      {0, {(const guint8 *)OTHER, sizeof OTHER - 1}, 0, "or no objects in some bytes"},
      {-1, {(const guint8 *)OTHER, sizeof OTHER - 1}, 0, "invalid block"},
      {1,
       {(const guint8 *)"\xFE\xFF\xFF\xFF\x0F"
                        "abc",
        8},
       0,
       "an object does not match its schema"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(TideBuffer) file = {0};
    append_head(&file, NULL);
    append_block(&file, cases[i].n_objects, cases[i].bytes);
    assert_problem(&file, cases[i].n_good, cases[i].why);
  }
  g_auto(TideBuffer) long_block = {0};
  append_head(&long_block, NULL);
  append_long(&long_block, 1);
  append_long(&long_block, G_MAXINT64);
  assert_problem(&long_block, 0, "or a block of more than 67108864 bytes");
  g_auto(TideBuffer) marked = {0};
  append_head(&marked, NULL);
  append_block(&marked, 1, objects[0]);
  append_block(&marked, 1, objects[1]);
  marked.data[marked.len - 1] ^= 1;
  assert_problem(&marked, 1, "a block does not end with the sync marker of the file's header");
  g_auto(TideBuffer) other = {0};
  tide_buffer_append_bytes(&other, TIDE_BYTES_LITERAL("{\"host\":1}\n"));
  assert_problem(&other, 0, "it does not begin like an Avro object container");
}

/* A block of little that becomes much, in every codec. */
TEST("/bombs")
{
  static const char *const codecs[] = {"deflate", "zstandard", "snappy"};
  gsize len = TIDE_AVRO_BLOCK_MAX_BYTES + 1000;
  g_autofree guint8 *zeros = g_malloc0(len);
  for (gsize i = 0; i < G_N_ELEMENTS(codecs); i++) {
    g_auto(TideBuffer) file = {0};
    g_auto(TideBuffer) packed = {0};
    append_head(&file, codecs[i]);
    pack(codecs[i], tide_bytes(zeros, len), &packed);
    append_block(&file, 1, tide_buffer_bytes(&packed));
    assert_problem(&file, 0, "");
  }
}

/* Cut off anywhere, and with any byte in any place, it ends; and what was good before is there. */
TEST("/cut-and-changed")
{
  g_auto(TideBuffer) file = {0};
  g_auto(TideBuffer) plain = {0};
  g_auto(TideBuffer) whole = {0};
  make_file(&file, "deflate");
  g_autofree char *none = read_file(tide_buffer_bytes(&file), 1000, &whole);
  g_assert_null(none);
  for (gsize len = 0; len < file.len; len++) {
    g_autofree char *problem = read_file(tide_bytes(file.data, len), 1000, &plain);
    g_assert_cmpuint(plain.len, <, whole.len);
    assert_bytes_equal(tide_buffer_bytes(&plain), tide_bytes(whole.data, plain.len));
    g_assert_cmpint(problem != NULL, ==, !(len == 0 || (plain.len > 0 && memcmp(file.data + len - 16, SYNC, 16) == 0)));
    for (guint change = 1; change < 256; change += 51) {
      g_autofree guint8 *changed = g_memdup2(file.data, file.len);
      changed[len] ^= (guint8)change;
      g_autofree char *other G_GNUC_UNUSED = read_file(tide_bytes(changed, file.len), 1000, &plain);
    }
  }
}
