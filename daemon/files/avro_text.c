#include "files/avro_text.h"

#include "decode/avro_container.h"
#include "util/error.h"

#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

/* Bytes read from the file at once. */
#define CHUNK_BYTES (256u << 10)

/* Maximum size of a block's header. */
#define BLOCK_HEAD_MAX_BYTES 20u

/* Rest of zlib's checksum that Python's writers leave after a block: they cut off one byte instead of four. */
#define ZLIB_CHECKSUM_BYTES 4u

/* Checksum after a block compressed by snappy. */
#define SNAPPY_CHECKSUM_BYTES 4u

typedef enum Codec { CODEC_NULL, CODEC_DEFLATE, CODEC_ZSTANDARD, CODEC_SNAPPY, N_CODECS } Codec;

static const char *const codec_names[N_CODECS] = {"null", "deflate", "zstandard", "snappy"};

struct TideAvroText {
  TideFileText *text; /* borrowed */
  TideBuffer raw;     /* of the file ... */
  gsize raw_at;       /* ... consumed up to here */
  Codec codec;
  const TideAvroSchema *schema; /* owned; NULL: the header was not read yet */
  guint8 sync[TIDE_AVRO_SYNC_BYTES];
  TideBuffer block; /* decompressed ... */
  gsize block_at;   /* ... passed up to here */
  guint64 n_left;   /* remaining objects in it */
  guint64 n_empty;
  TideBuffer made; /* in the plain form ... */
  gsize made_at;   /* ... delivered up to here */
  GError *problem; /* owned: ends the text after made */
};

TideAvroText *
tide_avro_text_new(TideFileText *text)
{
  TideAvroText *avro = g_new0(TideAvroText, 1);
  avro->text = text;
  return avro;
}

void
tide_avro_text_free(TideAvroText *avro)
{
  if (avro == NULL)
    return;
  tide_avro_schema_free(avro->schema);
  g_clear_error(&avro->problem);
  tide_buffer_clear_memory(&avro->raw);
  tide_buffer_clear_memory(&avro->block);
  tide_buffer_clear_memory(&avro->made);
  g_free(avro);
}

static TideBytes
left_of(const TideBuffer *buffer, gsize at)
{
  return tide_bytes_from(tide_buffer_bytes(buffer), at);
}

/* ---- the header ---- */

static gboolean
choose_codec(TideAvroText *avro, TideBytes name, GError **error)
{
  for (guint i = 0; i < N_CODECS; i++) {
    avro->codec = (Codec)i;
    if (tide_bytes_equal(name, tide_bytes_of_string(codec_names[i])))
      return TRUE;
  }
  g_autofree char *shown = tide_bytes_printable(tide_bytes(name.data, MIN(name.len, 40)));
  return tide_fail(error, TIDE_ERROR_DATA,
                   "its blocks are compressed with the codec '%s'; supported are null, deflate, zstandard and snappy: "
                   "rewrite it with one of these, for example with 'avro-tools recodec --codec deflate'",
                   shown);
}

/* @ret_is_cut: more of the file is needed */
static gboolean
read_head(TideAvroText *avro, gboolean *ret_is_cut, GError **error)
{
  TideAvroHead head;
  const char *detail = NULL;
  g_autoptr(GError) problem = NULL;
  TideBytes raw = left_of(&avro->raw, avro->raw_at);
  TideAvroResult result = tide_avro_head_read(raw, &head, &detail);
  *ret_is_cut = result == TIDE_AVRO_CUT && raw.len <= TIDE_AVRO_HEAD_MAX_BYTES;
  if (*ret_is_cut)
    return TRUE;
  if (result != TIDE_AVRO_WHOLE)
    return tide_fail(error, TIDE_ERROR_DATA, "%s", result == TIDE_AVRO_CUT ? "its header is too long" : detail);
  if (!choose_codec(avro, head.codec, error))
    return FALSE;
  avro->schema = tide_avro_schema_new(head.schema, &problem);
  if (avro->schema == NULL)
    return tide_fail(error, TIDE_ERROR_DATA, "its schema cannot be used: %s", problem->message);
  memcpy(avro->sync, head.sync.data, sizeof avro->sync);
  tide_avro_head_append(&avro->made, head.schema, head.sync);
  avro->raw_at += head.len;
  return TRUE;
}

/* ---- blocks ---- */

static gboolean
inflate_block(TideBytes packed, TideBuffer *out)
{
  z_stream stream = {.next_in = (Bytef *)(guintptr)packed.data, .avail_in = (uInt)packed.len};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return FALSE;
  int result = Z_OK;
  while (result == Z_OK && out->len < TIDE_AVRO_BLOCK_MAX_BYTES) {
    stream.next_out = tide_buffer_reserve(out, CHUNK_BYTES);
    stream.avail_out = CHUNK_BYTES;
    result = inflate(&stream, Z_NO_FLUSH);
    out->len += CHUNK_BYTES - stream.avail_out;
  }
  gboolean is_whole = result == Z_STREAM_END && stream.avail_in <= ZLIB_CHECKSUM_BYTES;
  inflateEnd(&stream);
  return is_whole;
}

static gboolean
unpack_zstandard(TideBytes packed, TideBuffer *out)
{
  ZSTD_DStream *stream = ZSTD_createDStream();
  ZSTD_inBuffer in = {.src = packed.data, .size = packed.len};
  size_t result = 1;
  while (result != 0 && !ZSTD_isError(result) && out->len < TIDE_AVRO_BLOCK_MAX_BYTES) {
    gsize before = out->len, taken = in.pos;
    ZSTD_outBuffer to = {.dst = tide_buffer_reserve(out, CHUNK_BYTES), .size = CHUNK_BYTES};
    result = ZSTD_decompressStream(stream, &to, &in);
    out->len += to.pos;
    if (out->len == before && in.pos == taken)
      break;
  }
  ZSTD_freeDStream(stream);
  return result == 0 && in.pos == packed.len;
}

static gboolean
unpack_snappy(TideBytes packed, TideBuffer *out)
{
  size_t len = 0;
  if (packed.len < SNAPPY_CHECKSUM_BYTES)
    return FALSE;
  const char *data = (const char *)packed.data;
  gsize packed_len = packed.len - SNAPPY_CHECKSUM_BYTES;
  if (snappy_uncompressed_length(data, packed_len, &len) != SNAPPY_OK || len > TIDE_AVRO_BLOCK_MAX_BYTES ||
      snappy_uncompress(data, packed_len, (char *)tide_buffer_reserve(out, len + 1), &len) != SNAPPY_OK)
    return FALSE;
  out->len += len;
  guint32 checksum = tide_load_u32(packed.data + packed_len);
  return GUINT32_FROM_BE(checksum) == (guint32)crc32_z(0, out->data, out->len);
}

static gboolean
unpack_null(TideBytes packed, TideBuffer *out)
{
  tide_buffer_append_bytes(out, packed);
  return TRUE;
}

static gboolean
unpack(TideAvroText *avro, TideBytes packed, GError **error)
{
  static gboolean (*const codecs[N_CODECS])(TideBytes, TideBuffer *) = {
      [CODEC_NULL] = unpack_null,
      [CODEC_DEFLATE] = inflate_block,
      [CODEC_ZSTANDARD] = unpack_zstandard,
      [CODEC_SNAPPY] = unpack_snappy,
  };
  tide_buffer_reset(&avro->block);
  avro->block_at = 0;
  avro->n_empty = 0;
  return codecs[avro->codec](packed, &avro->block) ||
         tide_fail(error, TIDE_ERROR_DATA, "the %s compression of a block is damaged, or expands to more than %u bytes",
                   codec_names[avro->codec], TIDE_AVRO_BLOCK_MAX_BYTES);
}

static gboolean
take_block(TideAvroText *avro, const TideAvroBlock *block, GError **error)
{
  const guint8 *at = avro->raw.data + avro->raw_at + block->start;
  if (memcmp(at + block->n_bytes, avro->sync, sizeof avro->sync) != 0)
    return tide_fail(error, TIDE_ERROR_DATA,
                     "a block does not end with the sync marker of the file's header: it is damaged");
  if (!unpack(avro, tide_bytes(at, (gsize)block->n_bytes), error))
    return FALSE;
  if ((guint64)block->n_objects > avro->block.len || (block->n_objects == 0 && avro->block.len > 0))
    return tide_fail(error, TIDE_ERROR_DATA, "a block claims more objects than bytes, or no objects in some bytes");
  avro->n_left = (guint64)block->n_objects;
  avro->raw_at += block->start + (gsize)block->n_bytes + sizeof avro->sync;
  return TRUE;
}

static gboolean
read_block(TideAvroText *avro, gboolean *ret_is_cut, GError **error)
{
  TideAvroBlock block;
  TideBytes raw = left_of(&avro->raw, avro->raw_at);
  TideAvroResult result = tide_avro_block_read(raw, &block);
  *ret_is_cut = result == TIDE_AVRO_CUT && raw.len < BLOCK_HEAD_MAX_BYTES;
  if (*ret_is_cut)
    return TRUE;
  if (result != TIDE_AVRO_WHOLE || block.n_bytes > TIDE_AVRO_BLOCK_MAX_BYTES)
    return tide_fail(error, TIDE_ERROR_DATA, "invalid block, or a block of more than %u bytes",
                     TIDE_AVRO_BLOCK_MAX_BYTES);
  *ret_is_cut = raw.len - block.start < (gsize)block.n_bytes + sizeof avro->sync;
  return *ret_is_cut || take_block(avro, &block, error);
}

/* Makes the next object of the current block; no bytes may follow the last one. */
static gboolean
make_object(TideAvroText *avro, GError **error)
{
  const char *detail = NULL;
  TideBytes block = tide_buffer_bytes(&avro->block);
  gsize start = avro->block_at;
  if (!tide_avro_object_pass(avro->schema, block, &avro->block_at, &avro->n_empty, &detail))
    return tide_fail(error, TIDE_ERROR_DATA, "an object does not match its schema: %s", detail);
  TideBytes object = tide_bytes(block.data + start, avro->block_at - start);
  tide_avro_block_append(&avro->made, object, tide_bytes(avro->sync, sizeof avro->sync));
  avro->n_left--;
  return avro->n_left > 0 || avro->block_at == block.len ||
         tide_fail(error, TIDE_ERROR_DATA, "a block has bytes after its objects: it is damaged");
}

/* ---- reading ---- */

gboolean
tide_avro_text_has_ended(const TideAvroText *avro)
{
  return tide_file_text_has_ended(avro->text) && avro->raw_at == avro->raw.len && avro->n_left == 0 &&
         avro->made_at == avro->made.len;
}

/* Makes more of the plain form, if possible; before a fault, the valid part is delivered. @ret_has: there is some */
static gboolean
make_more(TideAvroText *avro, gboolean *ret_has, GError **error)
{
  gsize n_bytes = 1;
  gboolean is_cut = avro->raw_at == avro->raw.len;
  while (avro->made.len == 0) {
    if (avro->n_left > 0) {
      if (!make_object(avro, error))
        return FALSE;
      continue;
    }
    if (!is_cut && !(avro->schema == NULL ? read_head : read_block)(avro, &is_cut, error))
      return FALSE;
    if (!is_cut) {
      is_cut = avro->raw_at == avro->raw.len;
      continue;
    }
    tide_file_text_drop(&avro->raw, avro->raw_at);
    avro->raw_at = 0;
    guint8 *to = tide_buffer_reserve(&avro->raw, CHUNK_BYTES);
    if (!tide_file_text_read(avro->text, to, CHUNK_BYTES, &n_bytes, error))
      return FALSE;
    avro->raw.len += n_bytes;
    if (n_bytes == 0)
      break;
    is_cut = FALSE;
  }
  *ret_has = avro->made.len > 0;
  if (!*ret_has && tide_file_text_has_ended(avro->text) && avro->raw.len > avro->raw_at)
    return tide_fail(error, TIDE_ERROR_DATA, "it ends within a block, like a truncated copy");
  return TRUE;
}

/* The valid part of a file is delivered before its fault is reported. */
gboolean
tide_avro_text_read(TideAvroText *avro, guint8 *to, gsize capacity, gsize *ret_n_bytes, GError **error)
{
  gboolean has = TRUE;
  *ret_n_bytes = 0;
  while (has && *ret_n_bytes < capacity) {
    TideBytes made = left_of(&avro->made, avro->made_at);
    gsize n_bytes = MIN(made.len, capacity - *ret_n_bytes);
    if (n_bytes > 0)
      memcpy(to + *ret_n_bytes, made.data, n_bytes);
    *ret_n_bytes += n_bytes;
    avro->made_at += n_bytes;
    if (made.len > 0)
      continue;
    tide_buffer_reset(&avro->made);
    avro->made_at = 0;
    if (avro->problem == NULL)
      (void)make_more(avro, &has, &avro->problem);
    has = has && avro->problem == NULL ? TRUE : avro->made.len > 0;
  }
  if (*ret_n_bytes > 0 || avro->problem == NULL)
    return TRUE;
  g_propagate_error(error, g_error_copy(avro->problem));
  return FALSE;
}
