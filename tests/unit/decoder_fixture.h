/* A decoder with its options and names, and readings as text, for tests of decoders. */
#pragma once

#include "decode/decoder.h"

typedef struct DecoderFixture {
  TideDecodeOptions options;
  TideFieldNames *names; /* owned */
  TideDecoder *decoder;  /* owned; NULL until the first message: options and known names may be changed before */
  guint32 n_known;
  TideMessage message; /* the record without its value */
  TideReading *readings;
  guint32 n_readings;
  TideReject reject;
} DecoderFixture;

static inline DecoderFixture
decoder_fixture_of(TideReadingFormat format)
{
  static char separator[] = "/";
  return (DecoderFixture){
      .options = {.format = format,
                  .separator = separator,
                  .csv = {.quotes = TRUE},
                  .max_message_bytes = 1024 * 1024,
                  .max_depth = 32,
                  .max_fields = 1024,
                  .max_readings = 1024},
      .names = tide_field_names_new(),
      .message = {.topic = TIDE_BYTES_LITERAL("metrics"), .timestamp_ms = -1},
  };
}

static inline void
decoder_fixture_clear(DecoderFixture *fixture)
{
  tide_decoder_free(fixture->decoder);
  tide_field_names_free(fixture->names);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DecoderFixture, decoder_fixture_clear)

/* Interns a name that "the configuration uses". */
static inline TideNameId
decoder_fixture_use(DecoderFixture *fixture, const char *name)
{
  g_assert_null(fixture->decoder);
  TideNameId id = tide_field_names_intern(fixture->names, tide_bytes_of_string(name));
  fixture->n_known = tide_field_names_count(fixture->names);
  return id;
}

/* Decodes a copy of @value in a heap block of its own, which is overwritten and freed before the readings are examined.
 */
static inline gboolean
decoder_fixture_decode(DecoderFixture *fixture, TideBytes value)
{
  if (fixture->decoder == NULL)
    fixture->decoder = tide_decoder_new(&fixture->options, fixture->names, fixture->n_known);
  guint8 *copy = g_malloc(MAX(value.len, 1));
  if (value.len > 0)
    memcpy(copy, value.data, value.len);
  TideMessage message = fixture->message;
  message.value = tide_bytes(copy, value.len);
  message.has_value = TRUE;
  gboolean good =
      tide_decoder_decode(fixture->decoder, &message, &fixture->readings, &fixture->n_readings, &fixture->reject);
  memset(copy, '#', value.len);
  g_free(copy);
  return good;
}

/* "host=S:a ts=N:1;" for each reading; bytes that are not printable ASCII as \xHH. (transfer full) */
static inline char *
decoder_fixture_readings_text(const DecoderFixture *fixture)
{
  static const char kinds[] = {[TIDE_VALUE_STRING] = 'S',
                               [TIDE_VALUE_NUMBER] = 'N',
                               [TIDE_VALUE_BOOL] = 'B',
                               [TIDE_VALUE_NULL] = '0',
                               [TIDE_VALUE_JSON] = 'J'};
  GString *text = g_string_new(NULL);
  for (guint32 i = 0; i < fixture->n_readings; i++) {
    const TideReading *reading = &fixture->readings[i];
    g_assert_cmpuint(reading->index, ==, i);
    for (guint32 f = 0; f < reading->n_fields; f++) {
      g_autofree char *name = tide_bytes_printable(reading->fields[f].name);
      g_autofree char *value = tide_bytes_printable(reading->fields[f].text);
      g_string_append_printf(text, "%s%s=%c:%s", f > 0 ? " " : "", name, kinds[reading->fields[f].kind], value);
    }
    g_string_append_c(text, ';');
  }
  return g_string_free(text, FALSE);
}

/* The readings as text, or "REASON" and "@place" if the message is rejected. (transfer full) */
static inline char *
decoder_fixture_outcome(DecoderFixture *fixture, TideBytes value)
{
  if (decoder_fixture_decode(fixture, value))
    return decoder_fixture_readings_text(fixture);
  return g_strdup_printf("%s@%" G_GINT64_FORMAT, tide_reject_reason_name(fixture->reject.reason),
                         fixture->reject.byte_position);
}

/* A message, and its readings or its fault in the form of decoder_fixture_outcome(). */
typedef struct DecoderCase {
  TideBytes value;
  const char *outcome;
} DecoderCase;

#define DECODER_CASE(value, outcome)                                                                                   \
  {                                                                                                                    \
    TIDE_BYTES_LITERAL(value), outcome                                                                                 \
  }

static inline void
decoder_fixture_check(DecoderFixture *fixture, const DecoderCase *cases, gsize n_cases)
{
  for (gsize i = 0; i < n_cases; i++) {
    g_autofree char *outcome = decoder_fixture_outcome(fixture, cases[i].value);
    if (strcmp(outcome, cases[i].outcome) != 0) {
      g_autofree char *value = tide_bytes_printable(cases[i].value);
      g_error("%s gave '%s', expected '%s'", value, outcome, cases[i].outcome);
    }
  }
}

static inline void
decoder_fixture_check_format(TideReadingFormat format, const DecoderCase *cases, gsize n_cases)
{
  g_auto(DecoderFixture) fixture = decoder_fixture_of(format);
  decoder_fixture_check(&fixture, cases, n_cases);
}

static inline void
decoder_fixture_check_with_defaults(const DecoderCase *cases, gsize n_cases)
{
  decoder_fixture_check_format(TIDE_FORMAT_JSON, cases, n_cases);
}

/* The faults of single readings: "reason@place reading;". (transfer full) */
static inline char *
decoder_fixture_rejects_text(const DecoderFixture *fixture)
{
  guint32 n_rejects;
  const TideReject *rejects = tide_decoder_rejects(fixture->decoder, &n_rejects);
  GString *text = g_string_new(NULL);
  for (guint32 i = 0; i < n_rejects; i++)
    g_string_append_printf(text, "%s@%d %u;", tide_reject_reason_name(rejects[i].reason), (int)rejects[i].byte_position,
                           rejects[i].reading_index);
  return g_string_free(text, FALSE);
}

/* A message, its readings, and the faults of single readings; NULL: the message is rejected. */
typedef struct DecoderAloneCase {
  TideBytes value;
  const char *outcome;
  const char *rejects;
} DecoderAloneCase;

static inline void
decoder_fixture_check_alone(DecoderFixture *fixture, const DecoderAloneCase *cases, gsize n_cases)
{
  fixture->options.on_bad_reading = TIDE_BAD_READING_ALONE;
  for (gsize i = 0; i < n_cases; i++) {
    g_autofree char *outcome = decoder_fixture_outcome(fixture, cases[i].value);
    g_assert_cmpstr(outcome, ==, cases[i].outcome);
    g_autofree char *rejects = cases[i].rejects != NULL ? decoder_fixture_rejects_text(fixture) : NULL;
    g_assert_cmpstr(rejects, ==, cases[i].rejects);
  }
}

/* Decodes @message truncated after each byte, and with each byte replaced by every value, to check that nothing is read
 * beyond its end. */
static inline void
decoder_fixture_try_prefixes_and_bytes(DecoderFixture *fixture, TideBytes message)
{
  fixture->options.on_bad_reading = TIDE_BAD_READING_ALONE;
  for (gsize len = 1; len <= message.len; len++) {
    g_autofree guint8 *mutant = g_memdup2(message.data, len);
    for (guint byte = 0; byte < 256; byte++) {
      mutant[len - 1] = (guint8)byte;
      g_autofree char *outcome = decoder_fixture_outcome(fixture, tide_bytes(mutant, len));
      g_assert_nonnull(outcome);
    }
  }
}
