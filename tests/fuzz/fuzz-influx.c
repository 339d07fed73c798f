/* Random messages in InfluxDB's line protocol. */
#include "fuzz/decoder_fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  return fuzz_decoder(TIDE_FORMAT_INFLUX, TIDE_BYTES_LITERAL("a,b=c d=1 5"), data, size);
}
