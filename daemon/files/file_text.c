#include "files/file_text.h"

#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define RAW_BYTES (256u << 10)

/* Number of bytes that identify a compression. */
#define MAGIC_BYTES 4u

/* For zlib: the largest window, with gzip's header and checksum. */
#define GZIP_WINDOW_BITS (MAX_WBITS + 16)

typedef enum Compression { PLAIN, GZIP, ZSTD } Compression;

struct TideFileText {
  char *name; /* owned: for errors */
  int fd;
  gboolean is_regular;
  gboolean is_known; /* compression is known */
  Compression compression;
  gboolean is_within; /* a compressed frame has begun and not ended */
  gboolean is_at_end; /* of the file itself */
  gboolean is_full;   /* the last read had no room for everything in the decompressor */
  guint64 raw_bytes;
  TideBuffer raw; /* bytes read from the file ... */
  gsize raw_at;   /* ... consumed up to here */
  z_stream gzip;
  ZSTD_DStream *zstd; /* owned; NULL: not in use */
};

TideFileText *
tide_file_text_open(const char *path, GError **error)
{
  gboolean is_input = strcmp(path, "-") == 0;
  int fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  struct stat state;
  if (fd < 0 || fstat(fd, &state) != 0) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_IO, "cannot open '%s': %s", path, g_strerror(errno));
    if (fd >= 0 && !is_input)
      close(fd);
    return NULL;
  }
  if (S_ISDIR(state.st_mode)) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_IO, "'%s' is a directory: name the files in it", path);
    close(fd);
    return NULL;
  }
  TideFileText *text = g_new0(TideFileText, 1);
  text->name = is_input ? g_strdup("standard input") : g_strdup_printf("'%s'", path);
  text->fd = fd;
  text->is_regular = S_ISREG(state.st_mode);
  return text;
}

void
tide_file_text_free(TideFileText *text)
{
  if (text == NULL)
    return;
  if (text->compression == GZIP)
    inflateEnd(&text->gzip);
  ZSTD_freeDStream(text->zstd);
  if (text->fd != STDIN_FILENO)
    close(text->fd);
  tide_buffer_clear_memory(&text->raw);
  g_free(text->name);
  g_free(text);
}

/* ---- the file itself ---- */

/* Reads nothing from a pipe without data, so that signals are handled. */
static gboolean
read_raw(TideFileText *text, guint8 *to, gsize capacity, gsize *ret_n_bytes, GError **error)
{
  ssize_t n = read(text->fd, to, capacity);
  *ret_n_bytes = 0;
  if (n < 0 && errno == EINTR)
    return TRUE;
  if (n < 0)
    return tide_fail(error, TIDE_ERROR_IO, "cannot read %s: %s", text->name, g_strerror(errno));
  text->is_at_end = n == 0;
  text->raw_bytes += (guint64)n;
  *ret_n_bytes = (gsize)n;
  return TRUE;
}

static TideBytes
raw_left(const TideFileText *text)
{
  return tide_bytes_from(tide_buffer_bytes(&text->raw), text->raw_at);
}

/* Reads more of the file after the unconsumed bytes. */
static gboolean
refill(TideFileText *text, GError **error)
{
  gsize n;
  tide_file_text_drop(&text->raw, text->raw_at);
  text->raw_at = 0;
  if (!read_raw(text, tide_buffer_reserve(&text->raw, RAW_BYTES), RAW_BYTES, &n, error))
    return FALSE;
  text->raw.len += n;
  return TRUE;
}

/* ---- compression ---- */

static Compression
find_compression(TideBytes beginning)
{
  if (tide_bytes_begin_with(beginning, TIDE_BYTES_LITERAL("\x1F\x8B")))
    return GZIP;
  if (tide_bytes_begin_with(beginning, TIDE_BYTES_LITERAL("\x28\xB5\x2F\xFD")))
    return ZSTD;
  /* pzstd writes a skippable frame, one of sixteen kinds, before each compressed frame. */
  gboolean is_skipped = beginning.len > 0 && (beginning.data[0] & 0xF0) == 0x50 &&
                        tide_bytes_begin_with(tide_bytes_from(beginning, 1), TIDE_BYTES_LITERAL("\x2A\x4D\x18"));
  return is_skipped ? ZSTD : PLAIN;
}

gboolean
tide_file_text_is_compressed(TideBytes beginning)
{
  return find_compression(beginning) != PLAIN;
}

/* FALSE without an error: a pipe has too few bytes yet. */
static gboolean
begin(TideFileText *text, GError **error)
{
  do
    if (!refill(text, error))
      return FALSE;
  while (text->is_regular && raw_left(text).len < MAGIC_BYTES && !text->is_at_end);
  if (raw_left(text).len < MAGIC_BYTES && !text->is_at_end)
    return FALSE;
  text->is_known = TRUE;
  Compression compression = find_compression(raw_left(text));
  if (compression == GZIP && inflateInit2(&text->gzip, GZIP_WINDOW_BITS) != Z_OK)
    g_error("zlib cannot be used");
  if (compression == ZSTD)
    text->zstd = ZSTD_createDStream();
  text->compression = compression;
  return TRUE;
}

static gboolean
damaged(const TideFileText *text, const char *why, GError **error)
{
  return tide_fail(error, TIDE_ERROR_DATA, "the %s compression of %s is damaged near byte %" G_GUINT64_FORMAT ": %s",
                   text->compression == GZIP ? "gzip" : "zstd", text->name, text->raw_bytes - raw_left(text).len, why);
}

/* A file may contain several gzip members, and zeros after the last one, as from a tape. */
static gboolean
inflate_some(TideFileText *text, guint8 *to, gsize capacity, gsize *ret_n_bytes, GError **error)
{
  TideBytes left = raw_left(text);
  if (!text->is_within && left.len > 0 && left.data[0] == 0) {
    text->raw_at++;
    return TRUE;
  }
  text->gzip.next_in = (Bytef *)(guintptr)left.data;
  text->gzip.avail_in = (uInt)left.len;
  text->gzip.next_out = to;
  text->gzip.avail_out = (uInt)MIN(capacity, G_MAXUINT32);
  gsize room = text->gzip.avail_out;
  text->is_within = TRUE;
  int result = inflate(&text->gzip, Z_NO_FLUSH);
  text->raw_at += left.len - text->gzip.avail_in;
  *ret_n_bytes = room - text->gzip.avail_out;
  if (result == Z_STREAM_END) {
    text->is_within = FALSE;
    return inflateReset(&text->gzip) == Z_OK;
  }
  if (result == Z_OK || result == Z_BUF_ERROR)
    return TRUE;
  return damaged(text, text->gzip.msg != NULL ? text->gzip.msg : "it is not gzip", error);
}

static gboolean
unpack_zstd(TideFileText *text, guint8 *to, gsize capacity, gsize *ret_n_bytes, GError **error)
{
  TideBytes left = raw_left(text);
  ZSTD_inBuffer in = {.src = left.data, .size = left.len};
  ZSTD_outBuffer out = {.dst = to, .size = capacity};
  size_t result = ZSTD_decompressStream(text->zstd, &out, &in);
  text->raw_at += in.pos;
  *ret_n_bytes = out.pos;
  text->is_within = result != 0;
  if (ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge)
    return tide_fail(error, TIDE_ERROR_DATA,
                     "%s cannot be unpacked within zstd's default memory limit of 128 MiB: it was made with 'zstd "
                     "--long'; rewrite it without that option, or load '-' with the output of 'zstd -dc --long=31'",
                     text->name);
  return !ZSTD_isError(result) || damaged(text, ZSTD_getErrorName(result), error);
}

/* At the end of the file the decompressor may hold more than there was room for. A pipe is read once. */
static gboolean
unpack(TideFileText *text, guint8 *to, gsize capacity, gsize *ret_n_bytes, GError **error)
{
  gboolean may_read = text->is_regular || (raw_left(text).len == 0 && !text->is_full);
  for (*ret_n_bytes = 0; *ret_n_bytes == 0;) {
    if (raw_left(text).len == 0 && !text->is_at_end && may_read && !refill(text, error))
      return FALSE;
    if (raw_left(text).len == 0 && (text->is_at_end ? !text->is_within : !text->is_full))
      return TRUE;
    may_read = text->is_regular;
    gsize before = raw_left(text).len;
    if (!(text->compression == GZIP ? inflate_some : unpack_zstd)(text, to, capacity, ret_n_bytes, error))
      return FALSE;
    text->is_full = *ret_n_bytes == capacity && text->is_within;
    if (*ret_n_bytes == 0 && before == raw_left(text).len && text->is_at_end && text->is_within)
      return damaged(text, "it is truncated, like an incomplete copy", error);
  }
  return TRUE;
}

gboolean
tide_file_text_read(TideFileText *text, guint8 *to, gsize capacity, gsize *ret_n_bytes, GError **error)
{
  g_autoptr(GError) problem = NULL;
  *ret_n_bytes = 0;
  if (!text->is_known && !begin(text, &problem)) {
    if (problem == NULL)
      return TRUE;
    g_propagate_error(error, g_steal_pointer(&problem));
    return FALSE;
  }
  if (text->compression != PLAIN)
    return unpack(text, to, capacity, ret_n_bytes, error);
  TideBytes left = raw_left(text);
  if (left.len == 0)
    return read_raw(text, to, capacity, ret_n_bytes, error);
  *ret_n_bytes = MIN(left.len, capacity);
  memcpy(to, left.data, *ret_n_bytes);
  text->raw_at += *ret_n_bytes;
  return TRUE;
}

gboolean
tide_file_text_has_ended(const TideFileText *text)
{
  return text->is_at_end && raw_left(text).len == 0 && !text->is_within;
}

gboolean
tide_file_text_seek(TideFileText *text, guint64 n_bytes)
{
  g_autoptr(GError) error = NULL;
  if (!text->is_regular || (!text->is_known && !begin(text, &error)) || text->compression != PLAIN)
    return FALSE;
  if (n_bytes > tide_file_text_state(text).size_bytes)
    return FALSE;
  gsize kept = MIN(raw_left(text).len, n_bytes);
  guint64 further = n_bytes - kept;
  if (further > 0 && lseek(text->fd, (off_t)further, SEEK_CUR) < 0)
    return FALSE;
  text->raw_at += kept;
  text->raw_bytes += further;
  return TRUE;
}

guint64
tide_file_text_raw_bytes(const TideFileText *text)
{
  return text->raw_bytes;
}

int
tide_file_text_waited_fd(const TideFileText *text)
{
  gboolean has_some = (text->is_known && raw_left(text).len > 0) || text->is_full;
  return text->is_regular || text->is_at_end || has_some ? -1 : text->fd;
}

static gint64
ns_of(struct timespec time)
{
  return (gint64)time.tv_sec * 1000000000 + time.tv_nsec;
}

TideFileState
tide_file_text_state(const TideFileText *text)
{
  struct stat state;
  if (fstat(text->fd, &state) != 0)
    return (TideFileState){0};
  if (!text->is_regular)
    return (TideFileState){.device = state.st_dev, .inode = state.st_ino};
  return (TideFileState){.device = state.st_dev,
                         .inode = state.st_ino,
                         .size_bytes = (guint64)state.st_size,
                         .modified_ns = ns_of(state.st_mtim),
                         .changed_ns = ns_of(state.st_ctim)};
}
