/* Random messages in JSON. */
#include "fuzz/decoder_fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  return fuzz_decoder(TIDE_FORMAT_JSON, TIDE_BYTES_LITERAL("{\"a\":{\"b\":1}}"), data, size);
}
