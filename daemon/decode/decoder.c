#include "decode/decoder.h"

#include "decode/avro_container.h"
#include "decode/csv_lines.h"
#include "decode/formats.h"
#include "decode/frame.h"
#include "decode/influx_lines.h"
#include "decode/protobuf_walk.h"
#include "decode/readers.h"
#include "model/record_fields.h"
#include "model/scratch.h"

struct TideDecoder {
  /* set before start, then read-only */
  const TideDecodeOptions *options; /* borrowed */

  /* scratch, reused for each message */
  TideScratch scratch;
  TideRecordFields *record_fields; /* owned */
  TideReadingBuilder *builder;     /* owned */
  TideShaper shaper;               /* of the formats with a structure */
  TideJsonWalk *json;              /* owned */
  TideCsvLines *csv;               /* owned */
  TideProtobufWalk *protobuf;      /* owned; NULL with another format */
  const TideAvroSchema *schema;    /* borrowed: of the last message that named one; NULL: none did */
  guint32 schema_id;
  TideBuffer head;                 /* owned: of the last message that was a container */
  const TideAvroSchema *contained; /* owned: the schema in it */
};

gboolean
tide_decoder_reads(TideReadingFormat format)
{
  return tide_formats[format].is_built_in;
}

TideDecoder *
tide_decoder_new(const TideDecodeOptions *options, TideFieldNames *names, guint32 n_known)
{
  TideDecoder *decoder = g_new0(TideDecoder, 1);
  decoder->options = options;
  decoder->record_fields = tide_record_fields_new(names, n_known);
  decoder->builder = tide_reading_builder_new(options, names, n_known, &decoder->scratch);
  tide_shaper_init(&decoder->shaper, options, decoder->builder, &decoder->scratch);
  decoder->json = tide_json_walk_new(&decoder->shaper);
  decoder->csv = tide_csv_lines_new(options);
  if (options->format == TIDE_FORMAT_PROTOBUF)
    decoder->protobuf = tide_protobuf_walk_new(&decoder->shaper);
  return decoder;
}

void
tide_decoder_free(TideDecoder *decoder)
{
  if (decoder == NULL)
    return;
  tide_csv_lines_free(decoder->csv);
  tide_json_walk_free(decoder->json);
  tide_protobuf_walk_free(decoder->protobuf);
  tide_shaper_clear(&decoder->shaper);
  tide_reading_builder_free(decoder->builder);
  tide_record_fields_free(decoder->record_fields);
  tide_avro_schema_free(decoder->contained);
  tide_buffer_clear_memory(&decoder->head);
  tide_scratch_clear_memory(&decoder->scratch);
  g_free(decoder);
}

/* What can be said of @message without reading it. */
static TideRejectReason
refuse_unread(const TideDecoder *decoder, const TideMessage *message)
{
  if (!message->has_value)
    return TIDE_REJECT_TOMBSTONE;
  if (message->value.len == 0)
    return TIDE_REJECT_EMPTY;
  if (message->value.len > decoder->options->max_message_bytes)
    return TIDE_REJECT_TOO_LARGE;
  return TIDE_REJECT_NONE;
}

/* What @value names by its frame. FALSE: it cannot be read, or not yet. */
static gboolean
find_schema(TideDecoder *decoder, TideBytes value, TideReject *ret_reject)
{
  guint32 id;
  const char *why = NULL;
  if (!tide_frame_read(value, &id, &why))
    return tide_reject_set(ret_reject, TIDE_REJECT_PARSE, 0, why);
  if (G_LIKELY(decoder->schema != NULL && decoder->schema_id == id))
    return TRUE;
  TideSchemaSource *schemas = decoder->options->schemas;
  const TideAvroSchema *schema = NULL;
  switch (schemas->find(schemas, id, &schema, &why)) {
  case TIDE_SCHEMA_FOUND:
    decoder->schema = schema;
    decoder->schema_id = id;
    return TRUE;
  case TIDE_SCHEMA_AWAITED:
    *ret_reject = (TideReject){.reason = TIDE_REJECT_NONE, .byte_position = 1, .awaited_schema = id};
    return FALSE;
  case TIDE_SCHEMA_NONE:
    *ret_reject = (TideReject){.reason = TIDE_REJECT_PARSE, .byte_position = 1, .detail = why};
    return FALSE;
  }
  g_assert_not_reached();
}

static gboolean
reject_container(const char *detail, TideReject *ret_reject)
{
  *ret_reject = (TideReject){.reason = TIDE_REJECT_PARSE, .byte_position = 0, .detail = detail};
  return FALSE;
}

/* The head of @value, whose schema is kept: most messages have the same. */
static gboolean
take_head(TideDecoder *decoder, TideBytes value, TideReject *ret_reject)
{
  TideAvroHead head;
  const char *detail;
  gsize kept = decoder->head.len;
  if (kept > 0 && value.len > kept && tide_bytes_equal(tide_bytes(value.data, kept), tide_buffer_bytes(&decoder->head)))
    return TRUE;
  tide_buffer_reset(&decoder->head);
  tide_avro_schema_free(decoder->contained);
  decoder->contained = NULL;
  if (tide_avro_head_read(value, &head, &detail) != TIDE_AVRO_WHOLE)
    return reject_container(detail, ret_reject);
  decoder->contained = tide_avro_schema_new(head.schema, NULL);
  if (decoder->contained == NULL)
    return reject_container("its schema cannot be used", ret_reject);
  tide_buffer_append(&decoder->head, value.data, head.len);
  return TRUE;
}

static gboolean
read_container(TideDecoder *decoder, TideBytes value, TideReject *ret_reject)
{
  TideAvroBlock block;
  if (!take_head(decoder, value, ret_reject))
    return FALSE;
  TideBytes rest = tide_bytes(value.data + decoder->head.len, value.len - decoder->head.len);
  if (tide_avro_block_read(rest, &block) != TIDE_AVRO_WHOLE || block.n_objects != 1 ||
      rest.len - block.start < TIDE_AVRO_SYNC_BYTES ||
      (guint64)block.n_bytes != rest.len - block.start - TIDE_AVRO_SYNC_BYTES)
    return reject_container("it does not hold one object", ret_reject);
  TideBytes object = tide_bytes(rest.data + block.start, (gsize)block.n_bytes);
  return tide_avro_walk_run(&decoder->shaper, decoder->contained, object, 0, ret_reject);
}

static gboolean
read_avro(TideDecoder *decoder, TideBytes value, TideReject *ret_reject)
{
  const TideDecodeOptions *options = decoder->options;
  if (G_UNLIKELY(options->containers))
    return read_container(decoder, value, ret_reject);
  if (options->schemas == NULL)
    return tide_avro_walk_run(&decoder->shaper, options->schema, value, 0, ret_reject);
  return find_schema(decoder, value, ret_reject) &&
         tide_avro_walk_run(&decoder->shaper, decoder->schema, value, TIDE_FRAME_BYTES, ret_reject);
}

static gboolean
read_json(TideDecoder *decoder, TideBytes value, TideReject *ret_reject)
{
  guint32 unused;
  const char *why;
  if (decoder->options->framing == TIDE_FRAMING_NONE)
    return tide_json_walk_run(decoder->json, value, 0, ret_reject);
  return tide_frame_read(value, &unused, &why) ? tide_json_walk_run(decoder->json, value, TIDE_FRAME_BYTES, ret_reject)
                                               : tide_reject_set(ret_reject, TIDE_REJECT_PARSE, 0, why);
}

static gboolean
read_value(TideDecoder *decoder, TideBytes value, TideReject *ret_reject)
{
  switch (decoder->options->format) {
  case TIDE_FORMAT_JSON:
    return read_json(decoder, value, ret_reject);
  case TIDE_FORMAT_INFLUX:
    return tide_influx_lines_run(decoder->options, value, &decoder->scratch, decoder->builder, ret_reject);
  case TIDE_FORMAT_CSV:
    return tide_csv_lines_run(decoder->csv, value, &decoder->scratch, decoder->builder, ret_reject);
  case TIDE_FORMAT_MSGPACK:
    return tide_msgpack_walk_run(&decoder->shaper, value, ret_reject);
  case TIDE_FORMAT_AVRO:
    return read_avro(decoder, value, ret_reject);
  case TIDE_FORMAT_PROTOBUF:
    return tide_protobuf_walk_run(decoder->protobuf, value, ret_reject);
  }
  g_assert_not_reached();
}

/* A message that cannot be read because of its frame is told as that. */
static void
name_frame(const TideDecodeOptions *options, TideBytes value, TideReject *reject)
{
  guint frames = TIDE_TAKES_FRAMING | TIDE_TAKES_REGISTRY;
  gboolean is_framed = options->framing == TIDE_FRAMING_CONFLUENT || options->schemas != NULL;
  if ((tide_format_of(options)->takes & frames) == 0 || options->containers ||
      (reject->reason != TIDE_REJECT_PARSE && reject->reason != TIDE_REJECT_UTF8))
    return;
  const TideKnownFrame *frame = tide_frame_known(value, is_framed, options->format == TIDE_FORMAT_AVRO);
  if (frame == NULL)
    return;
  reject->detail = frame->detail;
  reject->remedy = frame->remedy;
}

gboolean
tide_decoder_decode(TideDecoder *decoder, const TideMessage *message, TideReading **ret_readings,
                    guint32 *ret_n_readings, TideReject *ret_reject)
{
  *ret_reject = (TideReject){.byte_position = -1};
  ret_reject->reason = refuse_unread(decoder, message);
  if (ret_reject->reason != TIDE_REJECT_NONE)
    return FALSE;

  tide_scratch_reset(&decoder->scratch);
  guint32 n_record_fields;
  const TideField *record_fields =
      tide_record_fields_read(decoder->record_fields, message, &decoder->scratch, &n_record_fields);
  tide_reading_builder_begin_message(decoder->builder, record_fields, n_record_fields);
  if (!read_value(decoder, message->value, ret_reject)) {
    ret_reject->reading_index = tide_reading_builder_n_readings(decoder->builder);
    name_frame(decoder->options, message->value, ret_reject);
    return FALSE;
  }
  *ret_readings = tide_reading_builder_finish(decoder->builder, ret_n_readings);
  guint32 n_rejects;
  const TideReject *rejects = tide_reading_builder_rejects(decoder->builder, &n_rejects);
  if (G_LIKELY(n_rejects == 0 || *ret_n_readings > 1))
    return TRUE;
  *ret_reject = rejects[0];
  return FALSE;
}

gint64
tide_decoder_place(const TideDecoder *decoder, TideBytes value, TideBytes text)
{
  /* Each format begins with a copy of the message; without known names nothing is taken before it. */
  guintptr start = (guintptr)tide_scratch_first(&decoder->scratch), place = (guintptr)text.data - start;
  gboolean is_in = (guintptr)text.data >= start && place <= value.len && text.len <= value.len - place;
  return is_in && memcmp(value.data + place, text.data, text.len) == 0 ? (gint64)place : -1;
}

const TideReject *
tide_decoder_rejects(const TideDecoder *decoder, guint32 *ret_n_rejects)
{
  return tide_reading_builder_rejects(decoder->builder, ret_n_rejects);
}
