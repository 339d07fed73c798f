/* Messages in JSON one after the other, parted by bytes that are 0: what a decoder makes of one must not depend on
 * those before. The first byte chooses options. */
#include "fuzz/decoder_fuzzing.h"
#include "unit/decoder_twins.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const char *const used[] = {"host", "a", "a/b", "$key", "$offset"};
  if (size == 0)
    return 0;
  gsize head;
  TideDecodeOptions options = options_of(TIDE_FORMAT_JSON, data, size, &head);
  g_auto(DecoderTwins) twins;
  decoder_twins_init(&twins, &options, used, G_N_ELEMENTS(used));
  const uint8_t *end = data + size;
  for (const uint8_t *at = data + head; at < end;) {
    const uint8_t *stop = memchr(at, 0, (size_t)(end - at));
    if (stop == NULL)
      stop = end;
    decoder_twins_check(&twins, tide_bytes(at, (gsize)(stop - at)), TIDE_BYTES_LITERAL("\xFFkey"));
    at = stop + 1;
  }
  return 0;
}
