#include "decode/frame.h"

#define APICURIO_BYTES 9u
#define GLUE_BYTES 18u
#define SINGLE_OBJECT_BYTES 10u

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

static gboolean
begins_with(TideBytes message, const char *start, gsize n_start, gsize n_frame)
{
  return message.len >= n_frame && memcmp(message.data, start, n_start) == 0;
}

const TideKnownFrame *
tide_frame_known(TideBytes message, gboolean is_framed, gboolean begins_anyhow)
{
  static const TideKnownFrame single_object = {
      "it begins as a single object of Avro, with C3 01 and a fingerprint of its schema, which is not read",
      "let its sender write Confluent's frame, and name the registry in 'readings.registry'"};
  static const TideKnownFrame glue = {"it begins with the frame of AWS Glue's schema registry, which is not read",
                                      "let its sender write Confluent's frame, or none"};
  static const TideKnownFrame apicurio = {
      "it begins with Apicurio's frame, a byte that is 0 and a number of 8 bytes, which is not read",
      "let Apicurio's serializer write the frame that Confluent's does, with a number of 4 bytes: "
      "apicurio.registry.as-confluent=true"};
  static const TideKnownFrame confluent = {
      "it begins with the frame of Confluent's serializers, a byte that is 0 and the number of a schema",
      "'readings.framing: confluent' reads it"};
  if (begins_with(message, "\xC3\x01", 2, SINGLE_OBJECT_BYTES))
    return &single_object;
  if (begins_anyhow && !is_framed)
    return NULL;
  if (begins_with(message, "\x03\x00", 2, GLUE_BYTES) || begins_with(message, "\x03\x05", 2, GLUE_BYTES))
    return &glue;
  /* Confluent's registry gives no schema the number 0, with which Apicurio's numbers begin. */
  if (begins_with(message, "\0\0\0\0\0", 5, APICURIO_BYTES))
    return &apicurio;
  return !is_framed && begins_with(message, "\0", 1, TIDE_FRAME_BYTES) ? &confluent : NULL;
}
