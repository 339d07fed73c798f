/* Random messages in protobuf, of the type plant.Reading in tests/formats/readings.proto. */
#include "fuzz/decoder_fuzzing.h"

#include "decode/protobuf_schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static TideProtobufSchema *
load_schema(void)
{
  g_autofree char *set = NULL;
  gsize len;
  g_autoptr(GError) error = NULL;
  if (!g_file_get_contents(TIDE_PROTOBUF_TEST_SET, &set, &len, &error))
    g_error("%s", error->message);
  TideProtobufSchema *schema =
      tide_protobuf_schema_new(tide_bytes(set, len), "plant.Reading", TIDE_FRAMING_NONE, &error);
  if (schema == NULL)
    g_error("%s", error->message);
  return schema;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static TideProtobufSchema *schema;
  if (schema == NULL)
    schema = load_schema();
  fuzz_descriptors = schema;
  return fuzz_decoder(TIDE_FORMAT_PROTOBUF, TIDE_BYTES_LITERAL("\x0A\x01x"), data, size);
}
