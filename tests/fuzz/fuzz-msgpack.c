/* Random messages in MessagePack. */
#include "fuzz/decoder_fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  return fuzz_decoder(TIDE_FORMAT_MSGPACK,
                      TIDE_BYTES_LITERAL("\x81\xA1"
                                         "a\x01"),
                      data, size);
}
