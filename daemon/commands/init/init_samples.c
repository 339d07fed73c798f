#include "commands/init/init_samples.h"

#include "commands/cli/message_lines.h"
#include "commands/cli/progress.h"
#include "config/option/option_table.h"
#include "decode/avro_container.h"
#include "decode/formats.h"
#include "files/file_reader.h"
#include "files/file_text.h"
#include "kafka/kafka_topic_reader.h"
#include "util/clock.h"
#include "util/error.h"

#include <errno.h>

#define NO_HEADER                                                                                                      \
  "the first line of each message names the columns: if your messages have no such line, name them with "              \
  "'--columns host,ts,...', in the order of the values"

/* Maximum size of one read of CSV. */
#define READ_BYTES 65536u

/* A topic without a message for this long is considered empty. */
#define TOPIC_TIMEOUT_MS 15000

static void
free_sample(gpointer data)
{
  TideInitSample *sample = data;
  g_free((gpointer)sample->message.value.data);
  g_free((gpointer)sample->message.key.data);
  g_clear_pointer(&sample->headers, g_hash_table_unref);
  g_free(sample);
}

TideInitSamples *
tide_init_samples_new(TideConfig *config)
{
  TideInitSamples *samples = g_new0(TideInitSamples, 1);
  samples->config = config;
  samples->decode = &config->readings.decode;
  samples->names = tide_field_names_new();
  samples->decoder = tide_decoder_new(samples->decode, samples->names, 0);
  samples->survey = tide_field_survey_new();
  samples->all = g_ptr_array_new_with_free_func(free_sample);
  samples->messages = g_ptr_array_new();
  return samples;
}

void
tide_init_samples_free(TideInitSamples *samples)
{
  if (samples == NULL)
    return;
  tide_decoder_free(samples->decoder);
  tide_field_names_free(samples->names);
  tide_config_free(samples->config);
  tide_field_survey_free(samples->survey);
  g_ptr_array_unref(samples->messages);
  g_ptr_array_unref(samples->all);
  g_free(samples->first_bad);
  g_free(samples);
}

/* ---- one message ---------------------------------------------------------------------------------------------------
 */

static gboolean
is_text(TideBytes value)
{
  for (gsize i = 0; i < value.len; i++) {
    if (value.data[i] < 0x20 && strchr("\t\n\r\f\b", value.data[i]) == NULL)
      return FALSE;
  }
  return value.len == 0 || g_utf8_validate((const char *)value.data, (gssize)value.len, NULL);
}

static const char *
remedy_for(const TideInitSamples *samples, const TideReject *reject, TideBytes value)
{
  TideRejectReason reason = reject->reason;
  gboolean is_json = samples->decode->format == TIDE_FORMAT_JSON;
  if (reason == TIDE_REJECT_TOO_LARGE)
    return "use smaller messages as samples, or have the sender split them; the daemon accepts messages up to "
           "'readings.max_message_size'";
  if (tide_file_text_is_compressed(value))
    return "it is compressed: use the output of 'zcat' or 'zstdcat'";
  if (reject->remedy != NULL && (reason == TIDE_REJECT_PARSE || reason == TIDE_REJECT_UTF8))
    return reject->remedy; /* for a recognised frame */
  if (is_json && !is_text(value))
    return "it is not text: data that its sender compressed must be converted to JSON first; MessagePack is read "
           "with '--format msgpack', Avro with '--format avro', protobuf with '--format protobuf'";
  if (samples->decode->format == TIDE_FORMAT_AVRO && tide_avro_is_container(value))
    return "it is an object container file, which must be named as a file, and not be compressed; a message of a topic "
           "is a record without a container";
  if (samples->decode->format == TIDE_FORMAT_AVRO)
    return samples->decode->schemas != NULL
               ? "'--registry' must answer and know the number at the start of the message; messages without "
                 "a number are read with '--schema'"
               : "'--schema' names the schema that it was written with; if a zero and the number of a schema are at "
                 "the "
                 "start of each message, use '--registry'";
  if (samples->decode->format == TIDE_FORMAT_PROTOBUF)
    return "'--schema' and '--message' set the type of a message; if Confluent's serializer wrote it, add '--framing "
           "confluent'";
  const char *by_message = tide_message_remedy(samples->decode, value);
  if (by_message != NULL)
    return by_message;
  if (is_json && (reason == TIDE_REJECT_PARSE || reason == TIDE_REJECT_TYPE))
    return "a message is a JSON object, such as {\"host\":\"server1\",\"ts\":1426535612045,\"cpu\":0.02}, a list of "
           "them, or several one after the other; `jq -c .` writes each on one line. InfluxDB's line protocol is read "
           "with "
           "'--format influx', comma-separated values after a line of names with '--format csv'";
  gboolean has_lists = (tide_format_of(samples->decode)->takes & TIDE_TAKES_STRUCTURE) != 0;
  if (reason == TIDE_REJECT_MISSING_FIELD && has_lists)
    return "'--each' is the path to the readings in each message, with a name for each step: payload/metrics, or "
           "servers/{server} "
           "if names are data";
  if (samples->decode->csv.columns != NULL)
    return "'--columns' names the values of each line, in their order";
  return samples->decode->format == TIDE_FORMAT_CSV
             ? NO_HEADER
             : "'--format' sets the format of the messages, '--readings' its details";
}

/* (transfer full) */
static char *
place_of(const TideInitSample *sample)
{
  if (sample->line == 0)
    return g_strdup_printf("partition %d, offset %" G_GINT64_FORMAT, sample->message.partition, sample->message.offset);
  return strchr(sample->unit, ' ') != NULL ? g_strdup(sample->unit)
                                           : g_strdup_printf("%s %" G_GUINT64_FORMAT, sample->unit, sample->line);
}

static void
note_bad(TideInitSamples *samples, const TideMessage *message, const char *place, const TideReject *reject)
{
  if (samples->n_bad++ > 0)
    return;
  g_autofree char *why = tide_reject_describe(reject);
  samples->first_bad = g_strdup_printf("%s: %s; %s", place, why, remedy_for(samples, reject, message->value));
}

/* Finds the delimiter among the usual ones: the one that splits the first line of @text that is not empty into
 * @columns, or into the most values, outside quotes. */
static char
likely_delimiter(TideBytes text, char **columns)
{
  static const char known[] = ",;\t|";
  guint counts[sizeof known] = {0}, best = 0;
  gboolean in_quotes = FALSE;
  gsize start = 0;
  while (start < text.len && (text.data[start] == '\n' || text.data[start] == '\r'))
    start++;
  for (gsize i = start; i < text.len && (in_quotes || text.data[i] != '\n'); i++) {
    const char *found = memchr(known, text.data[i], sizeof known - 1);
    if (text.data[i] == '"')
      in_quotes = !in_quotes;
    else if (found != NULL && !in_quotes)
      counts[found - known]++;
  }
  for (guint i = sizeof known - 1; columns != NULL && i > 0; i--) { /* the comma last, because it is also in numbers */
    if (counts[i - 1] > 0 && counts[i - 1] + 1 == g_strv_length(columns))
      return known[i - 1];
  }
  for (guint i = 1; i < sizeof known - 1; i++)
    best = counts[i] > counts[best] ? i : best;
  return known[best];
}

/* Detects the delimiter; repeated for each message until one could be decoded. */
static void
choose_delimiter(TideInitSamples *samples, TideBytes text)
{
  TideDecodeOptions *decode = samples->decode;
  for (guint32 i = 0; i < decode->csv.skip_lines && memchr(text.data, '\n', text.len) != NULL; i++)
    text = tide_bytes_from(text, (gsize)((const guint8 *)memchr(text.data, '\n', text.len) - text.data) + 1);
  char delimiter = likely_delimiter(text, decode->csv.columns);
  g_free(decode->csv.delimiter);
  decode->csv.delimiter = delimiter == ',' ? NULL : g_strndup(&delimiter, 1);
  tide_decoder_free(samples->decoder);
  samples->decoder = tide_decoder_new(decode, samples->names, 0);
}

static gboolean
find_header(const TideMessage *message, const char *name, TideBytes *ret_value)
{
  GHashTable *headers = (gpointer)(gsize)message->headers;
  gsize size = 0;
  GBytes *value = headers != NULL ? g_hash_table_lookup(headers, name) : NULL;
  const void *data = value != NULL ? g_bytes_get_data(value, &size) : NULL;
  *ret_value = headers == NULL ? TIDE_BYTES_LITERAL(TIDE_INIT_STAND_IN) : tide_bytes(data, size);
  return headers == NULL || value != NULL;
}

/* NULL: the sample is not from a topic. */
static GHashTable *
headers_of(const TideMessage *message)
{
  TideDeadLetterHeader header;
  if (message->header_at == NULL)
    return NULL;
  GHashTable *headers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
  for (gsize i = 0; message->header_at(message, i, &header); i++)
    g_hash_table_replace(headers, g_strndup((const char *)header.name.data, header.name.len),
                         g_bytes_new(header.value.data, header.value.len));
  return headers;
}

/* Includes the record's key, if it is a text. */
static gboolean
survey_reading(TideInitSamples *samples, const TideInitSample *sample, const TideReading *reading)
{
  const TideMessage *message = &sample->message;
  if (sample->line > 0 || !message->has_key || message->key.len == 0 || !is_text(message->key))
    return tide_field_survey_add(samples->survey, samples->messages->len, reading);
  g_autofree TideField *fields = g_new(TideField, reading->n_fields + 1);
  TideReading with = *reading;
  memcpy(fields, reading->fields, reading->n_fields * sizeof *fields);
  fields[with.n_fields++] =
      (TideField){.name = TIDE_BYTES_LITERAL("$key"), .kind = TIDE_VALUE_STRING, .text = message->key};
  with.fields = fields;
  return tide_field_survey_add(samples->survey, samples->messages->len, &with);
}

/* FALSE: it is unusable. */
static gboolean
survey_message(TideInitSamples *samples, TideInitSample *sample)
{
  TideReading *readings;
  guint32 n_readings;
  TideReject reject;
  const TideMessage *message = &sample->message;
  if (samples->decode->format == TIDE_FORMAT_CSV && samples->messages->len == 0 && !samples->is_delimiter_given)
    choose_delimiter(samples, message->value);
  if (!tide_decoder_decode(samples->decoder, message, &readings, &n_readings, &reject)) {
    g_autofree char *place = place_of(sample);
    if (reject.reason != TIDE_REJECT_EMPTY) /* for example, a comment between lines */
      note_bad(samples, message, place, &reject);
    return FALSE;
  }
  for (guint32 i = 0; i < n_readings && (readings[i].is_skipped || survey_reading(samples, sample, &readings[i])); i++)
    continue;
  if (n_readings > 0)
    g_ptr_array_add(samples->messages, sample);
  return TRUE;
}

/* @headers: (transfer full) (nullable) */
static gboolean
keep_message(TideInitSamples *samples, const TideMessage *message, GHashTable *headers, const char *unit, guint64 line)
{
  TideInitSample *sample = g_new0(TideInitSample, 1);
  sample->message = *message;
  sample->message.value.data = g_memdup2(message->value.data, message->value.len);
  sample->message.key.data = g_memdup2(message->key.data, message->key.len);
  sample->message.header_at = NULL;
  sample->message.find_header = find_header;
  sample->message.headers = headers;
  sample->headers = headers;
  sample->unit = unit;
  sample->line = line;
  g_ptr_array_add(samples->all, sample);
  return survey_message(samples, sample);
}

static gboolean
add_message(TideInitSamples *samples, const TideMessage *message, const char *unit)
{
  return keep_message(samples, message, headers_of(message), unit, samples->n_lines);
}

void
tide_init_samples_read_again(TideInitSamples *samples, const TideInitSamples *before)
{
  samples->is_container = before->is_container;
  samples->n_lines = before->n_lines;
  for (guint i = 0; i < before->all->len; i++) {
    const TideInitSample *sample = before->all->pdata[i];
    (void)keep_message(samples, &sample->message, sample->headers != NULL ? g_hash_table_ref(sample->headers) : NULL,
                       sample->unit, sample->line);
  }
}

static TideMessage
message_of_text(TideBytes text)
{
  return (TideMessage){.value = text,
                       .has_value = TRUE,
                       .key = TIDE_BYTES_LITERAL(TIDE_INIT_STAND_IN),
                       .has_key = TRUE,
                       .timestamp_ms = tide_wall_clock_epoch_ms()};
}

TideMessage
tide_init_sample_message(const TideInitSample *sample, const char *topic)
{
  TideMessage message = sample->message;
  message.topic = tide_bytes_of_string(topic);
  return message;
}

/* ---- where they come from ------------------------------------------------------------------------------------------
 */

static gboolean
is_blank(TideBytes line)
{
  gsize i = 0;
  while (i < line.len && g_ascii_isspace(line.data[i]))
    i++;
  return i == line.len;
}

static void
keep_whole(TideInitSamples *samples, TideBytes line)
{
  if (samples->whole == NULL)
    return;
  g_string_append_len(samples->whole, (const char *)line.data, (gssize)line.len);
  g_string_append_c(samples->whole, '\n');
  if (samples->whole->len > samples->decode->max_message_bytes) {
    g_string_free(samples->whole, TRUE);
    samples->whole = NULL;
  }
}

static gboolean
take_line(TideBytes line, gpointer data, GError **error)
{
  TideInitSamples *samples = data;
  samples->n_lines++;
  keep_whole(samples, line);
  TideMessage message = message_of_text(line);
  if (!is_blank(line))
    (void)add_message(samples, &message, "line");
  gboolean may_be_one = samples->whole != NULL && samples->n_bad > 0;
  return may_be_one || (samples->messages->len < samples->max && samples->n_bad < samples->max);
}

/* Reads the whole text as one message if its lines are not messages, as with indented JSON. */
static void
try_whole(TideInitSamples *samples)
{
  TideMessage message = message_of_text(tide_bytes(samples->whole->str, samples->whole->len));
  TideReading *readings;
  guint32 n_readings;
  TideReject reject;
  if (!tide_decoder_decode(samples->decoder, &message, &readings, &n_readings, &reject))
    return;
  g_ptr_array_set_size(samples->messages, 0);
  g_ptr_array_set_size(samples->all, 0);
  tide_field_survey_free(samples->survey);
  samples->survey = tide_field_survey_new();
  g_clear_pointer(&samples->first_bad, g_free);
  samples->n_bad = 0;
  samples->n_lines = 1;
  (void)add_message(samples, &message, "the whole");
}

static gboolean
take_whole(TideBytes text, gpointer data, GError **error)
{
  TideInitSamples *samples = data;
  TideMessage message = message_of_text(text);
  samples->n_lines = 1;
  (void)add_message(samples, &message, "the whole");
  return TRUE;
}

static gboolean
wants_more(const TideInitSamples *samples)
{
  return samples->messages->len < samples->max && samples->n_bad < samples->max;
}

/* @line: with @header before it, as `load` builds messages from such a file. */
static void
take_csv_record(TideInitSamples *samples, const TideBuffer *header, TideBytes line)
{
  g_auto(TideBuffer) text = {0};
  tide_buffer_append_bytes(&text, tide_buffer_bytes(header));
  tide_buffer_append_bytes(&text, line);
  TideMessage message = message_of_text(tide_buffer_bytes(&text));
  (void)add_message(samples, &message, "line");
}

/* Removes complete records from the start of @text, the first into @header if it is one. FALSE: enough was read, or the
 * rest of an overlong line follows. */
static gboolean
take_csv(TideInitSamples *samples, TideBuffer *header, TideBuffer *text, gboolean is_last)
{
  if (samples->n_lines == 0 && !samples->is_delimiter_given)
    choose_delimiter(samples, tide_buffer_bytes(text));
  TideFileFraming framing = tide_file_framing_of(samples->decode);
  const TideCsvOptions *csv = &samples->decode->csv;
  guint n_head = csv->skip_lines + (csv->header ? 1 + csv->skip_after_header : 0); /* like `load` */
  TideFrame frame = {0};
  gsize at = 0;
  while (!frame.is_cut && wants_more(samples) &&
         tide_file_framing_next(&framing, tide_bytes_from(tide_buffer_bytes(text), at), is_last, &frame, NULL) ==
             TIDE_FRAME_FOUND) {
    TideBytes record = tide_bytes(text->data + at + frame.start, frame.len);
    samples->n_lines++; /* of the line on which it begins */
    if (samples->n_head < n_head && !frame.is_blank) {
      samples->n_head++;
      tide_buffer_append_bytes(header, record);
      tide_buffer_append_byte(header, '\n');
    } else if (!frame.is_blank)
      take_csv_record(samples, header, record);
    samples->n_lines += frame.n_lines - 1;
    at += frame.end;
  }
  memmove(text->data, text->data + at, text->len - at);
  text->len -= at;
  return !frame.is_cut && wants_more(samples);
}

static gboolean
read_csv(TideInitSamples *samples, FILE *stream, const char *name, GError **error)
{
  g_auto(TideBuffer) header = {0};
  g_auto(TideBuffer) text = {0};
  gboolean is_last = FALSE;
  do {
    gsize n = fread(tide_buffer_reserve(&text, READ_BYTES), 1, READ_BYTES, stream);
    text.len += n;
    is_last = n < READ_BYTES;
  } while (take_csv(samples, &header, &text, is_last) && !is_last);
  if (ferror(stream)) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_IO, "cannot read %s: %s", name, g_strerror(errno));
    return FALSE;
  }
  if (samples->messages->len == 0 && samples->n_bad == 0 && header.len > 0) /* report its fault, if it has one */
    take_csv_record(samples, &header, TIDE_BYTES_EMPTY);
  return TRUE;
}

gboolean
tide_init_samples_read_stream(TideInitSamples *samples, FILE *stream, const char *name, guint64 max, GError **error)
{
  samples->max = max;
  if (samples->decode->format == TIDE_FORMAT_CSV)
    return read_csv(samples, stream, name, error);
  if (tide_message_is_whole(samples->decode))
    return tide_message_read_whole(stream, name, take_whole, samples, error);
  samples->whole = g_string_new(NULL);
  gboolean ok = tide_message_lines_read(stream, name, take_line, samples, error);
  GString *whole = samples->whole;
  if (ok && whole != NULL && samples->n_bad > 0)
    try_whole(samples);
  samples->whole = NULL;
  if (whole != NULL)
    g_string_free(whole, TRUE);
  return ok;
}

static void
take_records_in_hand(TideInitSamples *samples, TideFileReader *reader)
{
  TideFileRecord record;
  while (wants_more(samples) && tide_file_reader_next(reader, &record)) {
    samples->n_lines++;
    TideMessage message = message_of_text(record.text);
    (void)add_message(samples, &message, "record");
    (void)tide_file_reader_pass(reader, record.offset + 1);
  }
}

static gboolean
goes_on(gpointer unused)
{
  return TRUE;
}

gboolean
tide_init_samples_read_container(TideInitSamples *samples, const char *path, guint64 max, GError **error)
{
  const TideFileMark start = TIDE_FILE_MARK_START;
  TideFileReaderOptions options = {.path = path, .decode = samples->decode, .mark = &start, .go_on = goes_on};
  TideFileReader *reader = tide_file_reader_open(&options, error);
  if (reader == NULL)
    return FALSE;
  samples->max = max;
  while (wants_more(samples) && !tide_file_reader_is_at_end(reader)) {
    tide_file_reader_fill(reader);
    take_records_in_hand(samples, reader);
  }
  const char *problem = tide_file_reader_problem(reader);
  gboolean good = problem == NULL || samples->messages->len > 0;
  if (!good)
    g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_DATA, problem);
  tide_file_reader_free(reader);
  return good;
}

static gboolean
take_record(const TideMessage *message, gpointer data)
{
  if (message->has_value)
    (void)add_message(data, message, "record");
  return TRUE;
}

gboolean
tide_init_samples_read_topic(TideInitSamples *samples, const TideKafkaConfig *kafka, const char *topic, guint64 max,
                             GError **error)
{
  TideKafkaReadRequest request = {
      .topic = topic, .max_messages = max, .spread = TRUE, .to_present_end = TRUE, .timeout_ms = TOPIC_TIMEOUT_MS};
  TideKafkaReadResult result;
  tide_progress_step("reading topic '%s'", topic);
  gboolean was_read = tide_kafka_read(kafka, &request, take_record, samples, &result, error);
  tide_progress_step_end();
  samples->n_of_topic = was_read ? result.n_messages : 0;
  return was_read;
}

/* ---- what they are -------------------------------------------------------------------------------------------------
 */

gboolean
tide_init_samples_check(const TideInitSamples *samples, const char *where, GError **error)
{
  if (samples->survey->fields->len > 0)
    return TRUE;
  if (samples->first_bad != NULL)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA, "%s contains no message that can be read: %s", where,
                samples->first_bad);
  else
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA,
                "%s contains no reading: give at least one message, better several from different devices and times%s",
                where, samples->decode->csv.header && samples->decode->format == TIDE_FORMAT_CSV ? "; " NO_HEADER : "");
  return FALSE;
}
