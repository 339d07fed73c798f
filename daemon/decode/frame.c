#include "decode/frame.h"

#include "decode/formats.h"

gboolean
tide_frame_read(TideBytes message, guint32 *ret_id, const char **ret_detail)
{
  if (message.len < TIDE_FRAME_BYTES || message.data[0] != 0) {
    *ret_detail = "it does not begin with the frame of Confluent's serializers: a 0 byte, and the number of its "
                  "schema";
    return FALSE;
  }
  *ret_id = GUINT32_FROM_BE(tide_load_u32(message.data + 1));
  return TRUE;
}

#define GLUE "it begins with the frame of AWS Glue's schema registry, which is not supported"
#define GLUE_REMEDY "configure its sender to write Confluent's frame, or none"

static const struct {
  TideBytes start;
  gsize n_bytes;
  const char *detail;
  const char *remedy;
} frames[] = {
    {TIDE_BYTES_LITERAL("\xC3\x01"), 10,
     "it begins like an Avro single object, with C3 01 and a fingerprint of its schema, which is not supported",
     "configure its sender to write Confluent's frame, and set 'readings.registry'"},
    {TIDE_BYTES_LITERAL("\x03\x00"), 18, GLUE, GLUE_REMEDY},
    {TIDE_BYTES_LITERAL("\x03\x05"), 18, GLUE, GLUE_REMEDY},
    /* Confluent's registry never uses the number 0, with which Apicurio's frames begin. */
    {TIDE_BYTES_LITERAL("\0\0\0\0\0"), 9,
     "it begins with Apicurio's frame, a 0 byte and a number of 8 bytes, which is not supported",
     "configure Apicurio's serializer to write Confluent's frame, with a number of 4 bytes: "
     "apicurio.registry.as-confluent=true"},
    {TIDE_BYTES_LITERAL("\0"), TIDE_FRAME_BYTES,
     "it begins with the frame of Confluent's serializers, a 0 byte and the number of a schema",
     "'readings.framing: confluent' reads it"},
};

void
tide_frame_name(const TideDecodeOptions *options, TideBytes message, TideReject *reject)
{
  gboolean is_framed = options->framing == TIDE_FRAMING_CONFLUENT || options->schemas != NULL;
  gsize n_known = G_N_ELEMENTS(frames) - (is_framed ? 1 : 0); /* Confluent's, the last, is read if framed */
  if ((tide_format_of(options)->takes & (TIDE_TAKES_FRAMING | TIDE_TAKES_REGISTRY)) == 0 || options->containers ||
      (reject->reason != TIDE_REJECT_PARSE && reject->reason != TIDE_REJECT_UTF8))
    return;
  /* Avro without a frame may begin with any bytes, so only a start that is unlikely for a record is recognised. */
  if (options->format == TIDE_FORMAT_AVRO && !is_framed)
    n_known = 1;
  for (gsize i = 0; i < n_known; i++)
    if (message.len >= frames[i].n_bytes && tide_bytes_begin_with(message, frames[i].start)) {
      reject->detail = frames[i].detail;
      reject->remedy = frames[i].remedy;
      return;
    }
}
