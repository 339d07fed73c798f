#include "decode/frame.h"

#include "decode/formats.h"

gboolean
tide_frame_read(TideBytes message, guint32 *ret_id, const char **ret_detail)
{
  if (message.len < TIDE_FRAME_BYTES || message.data[0] != 0) {
    *ret_detail = "it does not begin as Confluent's serializers let it begin: a byte that is 0, and the number of its "
                  "schema";
    return FALSE;
  }
  *ret_id = GUINT32_FROM_BE(tide_load_u32(message.data + 1));
  return TRUE;
}

#define GLUE "it begins with the frame of AWS Glue's schema registry, which is not read"
#define GLUE_REMEDY "let its sender write Confluent's frame, or none"

static const struct {
  TideBytes start;
  gsize n_bytes;
  const char *detail;
  const char *remedy;
} frames[] = {
    {TIDE_BYTES_LITERAL("\xC3\x01"), 10,
     "it begins as a single object of Avro, with C3 01 and a fingerprint of its schema, which is not read",
     "let its sender write Confluent's frame, and name the registry in 'readings.registry'"},
    {TIDE_BYTES_LITERAL("\x03\x00"), 18, GLUE, GLUE_REMEDY},
    {TIDE_BYTES_LITERAL("\x03\x05"), 18, GLUE, GLUE_REMEDY},
    /* Confluent's registry gives no schema the number 0, with which Apicurio's numbers begin. */
    {TIDE_BYTES_LITERAL("\0\0\0\0\0"), 9,
     "it begins with Apicurio's frame, a byte that is 0 and a number of 8 bytes, which is not read",
     "let Apicurio's serializer write the frame that Confluent's does, with a number of 4 bytes: "
     "apicurio.registry.as-confluent=true"},
    {TIDE_BYTES_LITERAL("\0"), TIDE_FRAME_BYTES,
     "it begins with the frame of Confluent's serializers, a byte that is 0 and the number of a schema",
     "'readings.framing: confluent' reads it"},
};

void
tide_frame_name(const TideDecodeOptions *options, TideBytes message, TideReject *reject)
{
  gboolean is_framed = options->framing == TIDE_FRAMING_CONFLUENT || options->schemas != NULL;
  gsize n_known = G_N_ELEMENTS(frames) - (is_framed ? 1 : 0); /* Confluent's is read, then */
  if ((tide_format_of(options)->takes & (TIDE_TAKES_FRAMING | TIDE_TAKES_REGISTRY)) == 0 || options->containers ||
      (reject->reason != TIDE_REJECT_PARSE && reject->reason != TIDE_REJECT_UTF8))
    return;
  /* Avro without a frame may begin with any bytes: only what no record is likely to begin with is recognised. */
  if (options->format == TIDE_FORMAT_AVRO && !is_framed)
    n_known = 1;
  for (gsize i = 0; i < n_known; i++)
    if (message.len >= frames[i].n_bytes && tide_bytes_begin_with(message, frames[i].start)) {
      reject->detail = frames[i].detail;
      reject->remedy = frames[i].remedy;
      return;
    }
}
