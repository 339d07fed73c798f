/* Random files taken for containers of Avro. However they are read, in pieces of any size, the same is made of them,
 * and that is a head and blocks of one object each. */
#define _GNU_SOURCE /* memfd_create() */
#include "files/avro_text.h"

#include "decode/avro_container.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define REQUIRE(condition)                                                                                             \
  do {                                                                                                                 \
    if (!(condition))                                                                                                  \
      g_error("%s", #condition);                                                                                       \
  } while (0)

/* What is made of the file, @step bytes at a time. Returns: why it ends. (transfer full) (nullable) */
static char *
read_file(int fd, gsize step, TideBuffer *plain)
{
  char path[40];
  g_snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  g_autoptr(TideFileText) text = tide_file_text_open(path, NULL);
  REQUIRE(text != NULL);
  TideAvroText *avro = tide_avro_text_new(text);
  char *problem = NULL;
  for (gsize n = 1; n > 0;) {
    g_autoptr(GError) error = NULL;
    g_autofree guint8 *piece = g_malloc(step);
    n = 0;
    REQUIRE(tide_avro_text_read(avro, piece, step, &n, &error) == (error == NULL));
    if (error != NULL)
      problem = g_strdup(error->message);
    tide_buffer_append(plain, piece, n);
    REQUIRE(n > 0 || error != NULL || tide_avro_text_has_ended(avro));
  }
  tide_avro_text_free(avro);
  return problem;
}

static void
check_form(TideBytes plain)
{
  TideAvroHead head;
  TideAvroBlock block;
  const char *detail;
  if (plain.len == 0)
    return;
  REQUIRE(tide_avro_head_read(plain, &head, &detail) == TIDE_AVRO_WHOLE);
  for (gsize at = head.len; at < plain.len;) {
    TideBytes rest = tide_bytes(plain.data + at, plain.len - at);
    REQUIRE(tide_avro_block_read(rest, &block) == TIDE_AVRO_WHOLE && block.n_objects == 1);
    gsize len = block.start + (gsize)block.n_bytes + TIDE_AVRO_SYNC_BYTES;
    REQUIRE(len <= rest.len);
    REQUIRE(tide_bytes_equal(tide_bytes(rest.data + len - TIDE_AVRO_SYNC_BYTES, TIDE_AVRO_SYNC_BYTES), head.sync));
    at += len;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  g_auto(TideBuffer) whole = {0};
  g_auto(TideBuffer) in_pieces = {0};
  int fd = memfd_create("container", MFD_CLOEXEC);
  REQUIRE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
  g_autofree char *problem = read_file(fd, 65536, &whole);
  g_autofree char *other = read_file(fd, 1 + size % 13, &in_pieces);
  close(fd);
  REQUIRE(g_strcmp0(problem, other) == 0);
  REQUIRE(tide_bytes_equal(tide_buffer_bytes(&whole), tide_buffer_bytes(&in_pieces)));
  check_form(tide_buffer_bytes(&whole));
  return 0;
}
