/* Random messages of comma-separated values. */
#include "fuzz/decoder_fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  return fuzz_decoder(TIDE_FORMAT_CSV, TIDE_BYTES_LITERAL("a,b\n1,2\n"), data, size);
}
