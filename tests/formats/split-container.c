/* Takes a container file of Avro apart as the daemon does, and prints each object's bytes in hex, a line each: for
 * fastavro to be compared with. */
#include "decode/avro_container.h"
#include "files/avro_text.h"

#include <stdio.h>

/* The whole of the plain form. FALSE: the file is not read to its end. */
static gboolean
read_plain(const char *path, TideBuffer *plain)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(TideFileText) text = tide_file_text_open(path, &error);
  TideAvroText *avro = text != NULL ? tide_avro_text_new(text) : NULL;
  gsize n = 0, room = 65536;
  gboolean good;
  do {
    good = avro != NULL && tide_avro_text_read(avro, tide_buffer_reserve(plain, room), room, &n, &error);
    plain->len += good ? n : 0;
  } while (good && n > 0);
  tide_avro_text_free(avro);
  if (!good)
    fprintf(stderr, "%s\n", error->message);
  return good;
}

int
main(int argc, char **argv)
{
  TideAvroHead head;
  const char *detail;
  g_auto(TideBuffer) plain = {0};
  gboolean good = argc == 2 && read_plain(argv[1], &plain);
  gsize at = 0;
  if (plain.len > 0 && tide_avro_head_read(tide_buffer_bytes(&plain), &head, &detail) == TIDE_AVRO_WHOLE)
    at = head.len;
  while (at < plain.len) {
    TideAvroBlock block;
    g_assert(tide_avro_block_read(tide_bytes(plain.data + at, plain.len - at), &block) == TIDE_AVRO_WHOLE);
    g_autofree char *hex = tide_bytes_hex(tide_bytes(plain.data + at + block.start, (gsize)block.n_bytes));
    puts(hex);
    at += block.start + (gsize)block.n_bytes + TIDE_AVRO_SYNC_BYTES;
  }
  return good ? 0 : 1;
}
