#include "decode/decoder.h"

#include "decode/field_steps.h"
#include "decode/formats.h"
#include "decode/frame.h"
#include "decode/layout.h"
#include "decode/shaper.h"
#include "model/record_fields.h"

struct TideDecoder {
  /* set before start, then read-only */
  const TideDecodeOptions *options; /* borrowed */
  const TideFormatReader *reader;

  /* scratch memory, reused for each message */
  TideScratch scratch;
  TideRecordFields *record_fields; /* owned */
  TideReadingBuilder *builder;     /* owned */
  TideLayout *layout;              /* owned */
  TideShaper shaper;
  gpointer kept;            /* owned by the reader */
  TideFieldSteps *steps;    /* owned; NULL: the readings need no steps */
  TideReadingBuilder *made; /* borrowed: contains the last message's readings */
};

TideDecoder *
tide_decoder_new(const TideDecodeOptions *options, TideFieldNames *names, guint32 n_known)
{
  TideDecoder *decoder = g_new0(TideDecoder, 1);
  decoder->options = options;
  decoder->reader = tide_format_of(options)->reader;
  decoder->record_fields = tide_record_fields_new(names, n_known);
  decoder->builder = tide_reading_builder_new(options, names, n_known, &decoder->scratch);
  decoder->made = decoder->builder; /* rejects may be requested before any decode, for scanned rows */
  decoder->layout = tide_layout_new(options);
  tide_shaper_init(&decoder->shaper, options, decoder->layout, decoder->builder, &decoder->scratch);
  if (decoder->reader->open != NULL)
    decoder->kept = decoder->reader->open(&decoder->shaper);
  decoder->steps = tide_field_steps_new(options, names, n_known, &decoder->scratch);
  return decoder;
}

void
tide_decoder_free(TideDecoder *decoder)
{
  if (decoder == NULL)
    return;
  if (decoder->kept != NULL)
    decoder->reader->close(decoder->kept);
  tide_shaper_clear(&decoder->shaper);
  tide_field_steps_free(decoder->steps);
  tide_layout_free(decoder->layout);
  tide_reading_builder_free(decoder->builder);
  tide_record_fields_free(decoder->record_fields);
  tide_scratch_clear_memory(&decoder->scratch);
  g_free(decoder);
}

/* Runs the steps on the readings of the message. */
static gboolean
take_steps(TideDecoder *decoder, const TideMessage *message, guint32 n_record_fields, TideReject *ret_reject)
{
  guint32 n_readings, n_rejects;
  const TideReject *rejects = tide_reading_builder_rejects(decoder->builder, &n_rejects);
  const TideReading *readings = tide_reading_builder_finish(decoder->builder, &n_readings);
  decoder->made = tide_field_steps_builder(decoder->steps);
  return tide_field_steps_run(decoder->steps, message, n_record_fields, readings, n_readings, rejects, n_rejects,
                              ret_reject);
}

gboolean
tide_decoder_decode(TideDecoder *decoder, const TideMessage *message, TideReading **ret_readings,
                    guint32 *ret_n_readings, TideReject *ret_reject)
{
  *ret_reject = (TideReject){.byte_position = -1};
  ret_reject->reason = !message->has_value                                        ? TIDE_REJECT_TOMBSTONE
                       : message->value.len == 0                                  ? TIDE_REJECT_EMPTY
                       : message->value.len > decoder->options->max_message_bytes ? TIDE_REJECT_TOO_LARGE
                                                                                  : TIDE_REJECT_NONE;
  if (ret_reject->reason != TIDE_REJECT_NONE)
    return FALSE;

  tide_scratch_reset(&decoder->scratch);
  guint32 n_record_fields, n_absent;
  const TideField *record_fields =
      tide_record_fields_read(decoder->record_fields, message, &decoder->scratch, &n_record_fields, &n_absent);
  tide_reading_builder_begin_message(decoder->builder, record_fields, n_record_fields, n_absent);
  decoder->made = decoder->builder;
  gboolean good = decoder->reader->read(&decoder->shaper, decoder->kept, message->value, ret_reject);
  if (!good)
    tide_frame_name(decoder->options, message->value, ret_reject);
  if (!good || (decoder->steps != NULL && !take_steps(decoder, message, n_record_fields, ret_reject))) {
    ret_reject->reading_index = tide_reading_builder_n_readings(decoder->made);
    return FALSE;
  }
  *ret_readings = tide_reading_builder_finish(decoder->made, ret_n_readings);
  guint32 n_rejects;
  const TideReject *rejects = tide_reading_builder_rejects(decoder->made, &n_rejects);
  if (G_LIKELY(n_rejects == 0 || *ret_n_readings > 1))
    return TRUE;
  *ret_reject = rejects[0];
  return FALSE;
}

gint64
tide_decoder_place(const TideDecoder *decoder, TideBytes value, TideBytes text)
{
  /* Each format first copies the message, and without known names nothing else is in the scratch before the copy. */
  guintptr start = (guintptr)tide_scratch_first(&decoder->scratch), place = (guintptr)text.data - start;
  gboolean is_in = (guintptr)text.data >= start && place <= value.len && text.len <= value.len - place;
  for (gsize i = 0; is_in && i < text.len; i++)
    is_in = value.data[place + i] == text.data[i] ||
            (decoder->options->csv.decimal_comma && value.data[place + i] == ',' && text.data[i] == '.');
  return is_in ? (gint64)place : -1;
}

const TideReject *
tide_decoder_rejects(const TideDecoder *decoder, guint32 *ret_n_rejects)
{
  return tide_reading_builder_rejects(decoder->made, ret_n_rejects);
}
