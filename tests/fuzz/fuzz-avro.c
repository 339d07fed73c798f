/* Random messages by Avro schemas that have each type; the second byte chooses one. Behind a NUL, the bytes in front of
 * it are the schema itself. */
#include "decode/avro_schema.h"
#include "fuzz/decoder_fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Its good message has no array in it, which options may reject. */
#define INNER                                                                                                          \
  "{'type':'record','name':'R','fields':[{'name':'a','type':'string'},{'name':'b','type':['null',{'type':'array',"     \
  "'items':['null','int','long','R']}]},{'name':'c','type':{'type':'map','values':{'type':'bytes','logicalType':"      \
  "'decimal','precision':40,'scale':2}}},{'name':'d','type':['null',{'type':'long','logicalType':'timestamp-micros'}"  \
  ",{'type':'enum','name':'E','symbols':['A','B']},{'type':'fixed','name':'F','size':3},'boolean','float','double',"   \
  "{'type':'int','logicalType':'date'},'bytes']}]}"

static const struct {
  const char *text;
  TideBytes good;
} schemas[] = {
    {INNER, TIDE_BYTES_LITERAL("\x00\x00\x00\x00")},
    {"{'type':'array','items':" INNER "}", TIDE_BYTES_LITERAL("\x00")},
    {"['null'," INNER
     ",{'type':'array','items':{'type':'record','name':'N','fields':[{'name':'a','type':{'type':'array',"
     "'items':'null'}}]}}]",
     TIDE_BYTES_LITERAL("\x04\x00")},
};

static const TideAvroSchema *
schema_of(const char *text)
{
  g_autofree char *json = g_strdelimit(g_strdup(text), "'", '"');
  const TideAvroSchema *schema = tide_avro_schema_new(tide_bytes_of_string(json), NULL);
  REQUIRE(schema != NULL);
  return schema;
}

/* A schema that nobody knows has no message that is surely right: one that is read twice must read the same. */
static void
fuzz_any_schema(const uint8_t *data, size_t text_len, size_t size)
{
  fuzz_schema = tide_avro_schema_new(tide_bytes(data, text_len), NULL);
  if (fuzz_schema == NULL)
    return;
  gsize head;
  TideDecodeOptions options = options_of(TIDE_FORMAT_AVRO, (const guint8 *)"", 1, &head);
  g_autoptr(TideFieldNames) names = tide_field_names_new();
  g_autoptr(TideDecoder) decoder = tide_decoder_new(&options, names, 0);
  TideReading *readings;
  guint32 n_readings;
  TideReject reject;
  gboolean good = decode(decoder, data + text_len + 1, size - text_len - 1, &readings, &n_readings, &reject);
  for (guint32 i = 0; good && i < n_readings; i++)
    check_reading(&readings[i], names);
  REQUIRE(good || (reject.reason != TIDE_REJECT_NONE && reject.byte_position < (gint64)size));
  tide_avro_schema_free(fuzz_schema);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const TideAvroSchema *compiled[G_N_ELEMENTS(schemas)];
  if (size < 2)
    return 0;
  const uint8_t *end = memchr(data, 0, size);
  if ((data[0] == '{' || data[0] == '[') && end != NULL) {
    fuzz_any_schema(data, (size_t)(end - data), size);
    return 0;
  }
  gsize chosen = data[1] % G_N_ELEMENTS(schemas);
  if (compiled[chosen] == NULL)
    compiled[chosen] = schema_of(schemas[chosen].text);
  fuzz_schema = compiled[chosen];
  g_autofree uint8_t *shifted = g_memdup2(data + 1, size - 1);
  shifted[0] = data[0];
  return fuzz_decoder(TIDE_FORMAT_AVRO, schemas[chosen].good, shifted, size - 1);
}
