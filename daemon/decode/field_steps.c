#define _GNU_SOURCE /* memmem */
#include "decode/field_steps.h"

#include "decode/decimal_text.h"
#include "decode/layout.h"
#include "decode/senml.h"
#include "model/table/unit_change.h"

/* Fields, texts and names made from a message take at most this many times the largest message. Otherwise a text around
 * many readings, opened for each of them, could exhaust the memory. */
#define MADE_BYTES_FACTOR 8u

/* Maximum size of a decimal: longer ones have too many digits, unless they repeat the sign. */
#define BASE64_MAX_BYTES 64u

/* Decodes JSON texts with the decoder's own code. */
typedef struct TextReader {
  TideDecodeOptions options;
  TideReadingBuilder *builder; /* owned */
  TideLayout *layout;          /* owned */
  TideShaper shaper;
  gpointer kept; /* owned by the JSON reader */
} TextReader;

struct TideFieldSteps {
  /* set before start, then read-only */
  const TideDecodeOptions *options; /* borrowed */
  TideScratch *scratch;             /* borrowed */
  TideReadingBuilder *builder;      /* owned */
  TideFieldNames *text_names;       /* owned: of both readers */
  TextReader texts;
  TextReader items;         /* for a list, with a field for each object in it */
  TextReader lists;         /* for a list whose items become fields */
  gboolean readings_depend; /* a reading may affect the readings after it */
  GArray *null_numbers;     /* owned (element-type TideDecimal): null values that are numbers */

  /* of the message */
  const TideMessage *message;
  TideReject *reject; /* borrowed: the caller's */
  guint32 n_record_fields;
  guint64 made_bytes;
  TideSenml senml;

  /* of the reading */
  GArray *fields;            /* owned (element-type TideField) */
  guint32 n_name_fields;     /* at its beginning: the fields that name it */
  const TideFieldStep *step; /* borrowed: the current step */
};

void
tide_field_step_clear(TideFieldStep *step)
{
  g_free(step->field);
  g_free(step->into);
  g_free(step->prefix);
  g_free(step->name);
  g_strfreev(step->values);
  g_free(step->names);
  g_strfreev(step->parts);
  g_free(step->by);
  g_strfreev(step->at);
  g_free(step->cuts);
}

static const TideFieldStep *
step_at(const TideDecodeOptions *options, guint index)
{
  return &g_array_index(options->fields.steps, TideFieldStep, index);
}

static guint
n_steps(const TideDecodeOptions *options)
{
  return options->fields.steps != NULL ? options->fields.steps->len : 0;
}

gboolean
tide_field_steps_read(const TideDecodeOptions *options, const char *name)
{
  for (guint i = 0; i < n_steps(options); i++)
    if (g_strcmp0(step_at(options, i)->field, name) == 0)
      return TRUE;
  return FALSE;
}

static GArray *
null_numbers(const TideDecodeOptions *options)
{
  GArray *numbers = g_array_new(FALSE, FALSE, sizeof(TideDecimal));
  for (char *const *word = options->fields.null_values; word != NULL && *word != NULL; word++) {
    TideDecimal number;
    if (tide_decimal_read(tide_bytes_of_string(*word), &number))
      g_array_append_val(numbers, number);
  }
  return numbers;
}

/* The depth of an object with a list whose items are not nested. */
#define LIST_DEPTH 2u

static void
open_reader(TideFieldSteps *steps, TextReader *reader)
{
  reader->builder = tide_reading_builder_new(&reader->options, steps->text_names, 0, steps->scratch);
  reader->layout = tide_layout_new(&reader->options);
  tide_shaper_init(&reader->shaper, &reader->options, reader->layout, reader->builder, steps->scratch);
  reader->kept = tide_json_reader.open(&reader->shaper);
}

static void
close_reader(TextReader *reader)
{
  tide_json_reader.close(reader->kept);
  tide_shaper_clear(&reader->shaper);
  tide_layout_free(reader->layout);
  tide_reading_builder_free(reader->builder);
}

TideFieldSteps *
tide_field_steps_new(const TideDecodeOptions *options, TideFieldNames *names, guint32 n_known, TideScratch *scratch)
{
  if (n_steps(options) == 0 && options->fields.null_values == NULL)
    return NULL;
  TideFieldSteps *steps = g_new0(TideFieldSteps, 1);
  steps->options = options;
  steps->scratch = scratch;
  steps->builder = tide_reading_builder_new(options, names, n_known, scratch);
  steps->fields = g_array_new(FALSE, FALSE, sizeof(TideField));
  steps->null_numbers = null_numbers(options);
  steps->text_names = tide_field_names_new();
  steps->texts.options = tide_decode_options_of_json(options);
  steps->texts.options.max_readings = options->max_fields;
  steps->items.options = steps->lists.options = steps->texts.options;
  steps->items.options.objects = TIDE_OBJECT_MARKED;
  steps->lists.options.arrays = TIDE_ARRAY_INDEX;
  steps->lists.options.max_depth = LIST_DEPTH;
  open_reader(steps, &steps->texts);
  open_reader(steps, &steps->items);
  open_reader(steps, &steps->lists);
  for (guint i = 0; i < n_steps(options); i++)
    steps->readings_depend |= step_at(options, i)->verb == TIDE_FIELD_RESOLVE;
  return steps;
}

void
tide_field_steps_free(TideFieldSteps *steps)
{
  if (steps == NULL)
    return;
  close_reader(&steps->texts);
  close_reader(&steps->items);
  close_reader(&steps->lists);
  tide_field_names_free(steps->text_names);
  tide_reading_builder_free(steps->builder);
  g_array_unref(steps->fields);
  g_array_unref(steps->null_numbers);
  g_free(steps);
}

TideReadingBuilder *
tide_field_steps_builder(const TideFieldSteps *steps)
{
  return steps->builder;
}

/* ---- fields of the current reading ---- */

/* Advice for a step that cannot use its field. */
static const char *const remedies[] = {
    [TIDE_FIELD_OPEN] = "see the step 'open' of 'readings.fields': its field must be a text that holds one JSON object",
    [TIDE_FIELD_PIVOT] =
        "see the step 'pivot' of 'readings.fields': its field must be a list of objects that each "
        "have a name, or with 'names' two lists of the same length, of at most 'readings.max_fields' items",
    [TIDE_FIELD_SPLIT] =
        "see the step 'split' of 'readings.fields': its field must be a text or number with all the parts "
        "that 'into' names",
    [TIDE_FIELD_DECIMAL] = "see the step 'decimal' of 'readings.fields': its field must be a decimal in base64, as "
                           "Kafka Connect's JSON converter writes it by default",
    [TIDE_FIELD_RESOLVE] = "see the step 'resolve: senml' of 'readings.fields': messages must be SenML (RFC 8428), "
                           "whose names and units are texts, and whose times, values and sums are numbers",
};

static gboolean
refuse(TideFieldSteps *steps, TideRejectReason reason, const TideField *field, const char *detail)
{
  steps->reject->field = field->name;
  steps->reject->value = field->text;
  return tide_reject_set(steps->reject, reason, -1, detail);
}

/* Reports that the current step cannot use @field. */
static gboolean
bad_field(TideFieldSteps *steps, TideRejectReason reason, const TideField *field, const char *detail)
{
  steps->reject->remedy = remedies[steps->step->verb];
  return refuse(steps, reason, field, detail);
}

/* Whether @field's text is a null value: a word by its bytes, a number by its value. */
static gboolean
means_null(const TideFieldSteps *steps, const TideField *field)
{
  TideDecimal number;
  for (char *const *word = steps->options->fields.null_values; word != NULL && *word != NULL; word++)
    if (tide_bytes_equal(field->text, tide_bytes_of_string(*word)))
      return TRUE;
  if (field->kind != TIDE_VALUE_NUMBER)
    return FALSE;
  for (guint i = 0; i < steps->null_numbers->len; i++) {
    const TideDecimal *null = &g_array_index(steps->null_numbers, TideDecimal, i);
    /* Compare signs first: most null values are negative, and most numbers are not. */
    gboolean may_be_equal = null->n_digits == 0 || null->is_negative == (field->text.data[0] == '-');
    if (may_be_equal && tide_decimal_read(field->text, &number) && tide_decimal_equal(null, &number))
      return TRUE;
  }
  return FALSE;
}

/* Returns @field, or a null with its name if its text is a null value. */
static TideField
or_null(const TideFieldSteps *steps, TideField field)
{
  if (field.kind <= TIDE_VALUE_NUMBER && means_null(steps, &field))
    field = (TideField){.kind = TIDE_VALUE_NULL, .name_id = field.name_id, .name = field.name};
  return field;
}

static void
append_field(TideFieldSteps *steps, TideField field)
{
  field = or_null(steps, field);
  g_array_append_val(steps->fields, field);
}

/* Charges @n_bytes for the fields made from @field. */
static gboolean
charge(TideFieldSteps *steps, const TideField *field, gsize n_bytes)
{
  steps->made_bytes += n_bytes;
  return steps->made_bytes <= (guint64)steps->options->max_message_bytes * MADE_BYTES_FACTOR ||
         refuse(steps, TIDE_REJECT_TOO_LARGE, field,
                "the fields that the steps make from the message take too much memory");
}

/* No field of the message, and none made from one, may have the name of a record's field, even if this record does not
 * have it. */
static gboolean
check_name(TideFieldSteps *steps, TideBytes name)
{
  TideField field = {.name = name};
  return !tide_field_name_is_of_record(name) ||
         refuse(steps, TIDE_REJECT_DUPLICATE_FIELD, &field, TIDE_NAME_IS_OF_RECORD);
}

/* Adds the field @prefix + @name to the reading. @of: its source */
static gboolean
add_field(TideFieldSteps *steps, const TideField *of, TideBytes prefix, TideBytes name, TideValueKind kind,
          TideBytes text)
{
  if (!charge(steps, of, sizeof(TideField) + prefix.len + name.len))
    return FALSE;
  name = tide_scratch_join(steps->scratch, prefix, name);
  if (!check_name(steps, name))
    return FALSE;
  append_field(steps, (TideField){.kind = kind, .name = name, .text = text});
  return TRUE;
}

static TideField *
find_field(const TideFieldSteps *steps, const char *name)
{
  TideBytes wanted = tide_bytes_of_string(name);
  for (guint i = 0; i < steps->fields->len; i++) {
    TideField *field = &g_array_index(steps->fields, TideField, i);
    if (tide_bytes_equal(field->name, wanted))
      return field;
  }
  return NULL;
}

static void
remove_field(TideFieldSteps *steps, const TideField *field)
{
  guint index = (guint)(field - &g_array_index(steps->fields, TideField, 0));
  steps->n_name_fields -= index < steps->n_name_fields ? 1 : 0;
  g_array_remove_index(steps->fields, index);
}

/* Removes the field called @name from the reading, unless it is the record's. FALSE: it is absent or null. */
static gboolean
take_field(TideFieldSteps *steps, const char *name, TideField *ret_field)
{
  const TideField *field = find_field(steps, name);
  if (field == NULL || field->kind == TIDE_VALUE_NULL)
    return FALSE;
  *ret_field = *field;
  if (!tide_field_name_is_of_record(field->name))
    remove_field(steps, field);
  return TRUE;
}

/* ---- texts that hold JSON ---- */

static guint8
first_byte(TideBytes text)
{
  for (gsize i = 0; i < text.len; i++)
    if (strchr(" \t\r\n", text.data[i]) == NULL || text.data[i] == '\0')
      return text.data[i];
  return '\0';
}

/* Decodes @text, the value of @field. @ret_readings: valid until @reader's next call; names and texts are valid as long
 * as the message's */
static gboolean
read_json(TideFieldSteps *steps, TextReader *reader, const TideField *field, TideBytes text, TideReading **ret_readings,
          guint32 *ret_n_readings)
{
  TideReject reject = {.byte_position = -1};
  if (!charge(steps, field, text.len))
    return FALSE;
  tide_reading_builder_begin_message(reader->builder, NULL, 0, 0);
  gboolean good = tide_json_reader.read(&reader->shaper, reader->kept, text, &reject);
  if (!charge(steps, field, tide_reading_builder_name_bytes(reader->builder)))
    return FALSE;
  *ret_readings = tide_reading_builder_finish(reader->builder, ret_n_readings);
  if (good)
    return TRUE;
  /* For these limits, the advice names the limit's own option. Each object of a list becomes a field. */
  if (reject.reason == TIDE_REJECT_DEPTH || reject.reason == TIDE_REJECT_TOO_MANY_FIELDS)
    return refuse(steps, reject.reason, field, reject.detail);
  if (reject.reason == TIDE_REJECT_TOO_LARGE && *ret_n_readings >= reader->options.max_readings)
    return refuse(steps, TIDE_REJECT_TOO_MANY_FIELDS, field, NULL);
  return bad_field(steps, reject.reason, field, reject.detail);
}

static gboolean
open_text(TideFieldSteps *steps, const TideFieldStep *step)
{
  TideBytes prefix = tide_bytes_of_string(step->prefix);
  TideField field;
  TideReading *readings;
  guint32 n_readings;
  if (!take_field(steps, step->field, &field))
    return TRUE;
  if (field.kind != TIDE_VALUE_STRING)
    return bad_field(steps, TIDE_REJECT_TYPE, &field, "it is not a text, and only a text can contain JSON to open");
  if (first_byte(field.text) != '{')
    return bad_field(steps, TIDE_REJECT_TYPE, &field, "it is not a JSON object, and only an object can be opened");
  if (!read_json(steps, &steps->texts, &field, field.text, &readings, &n_readings))
    return FALSE;
  if (n_readings != 1)
    return bad_field(steps, TIDE_REJECT_TYPE, &field, "it is more than one JSON object");
  for (guint32 i = 0; i < readings->n_fields; i++) {
    const TideField *inner = &readings->fields[i];
    if (!add_field(steps, &field, prefix, inner->name, inner->kind, inner->text))
      return FALSE;
  }
  return TRUE;
}

/* ---- lists of names and values ---- */

static const TideField *
find_member(const TideReading *reading, const char *name)
{
  TideBytes wanted = tide_bytes_of_string(name);
  for (guint32 i = 0; i < reading->n_fields; i++)
    if (reading->fields[i].kind != TIDE_VALUE_NULL && tide_bytes_equal(reading->fields[i].name, wanted))
      return &reading->fields[i];
  return NULL;
}

/* Whether @field is an object, whose members follow it. */
static gboolean
is_object(const TideField *field)
{
  return field->kind == TIDE_VALUE_JSON && field->text.data[0] == '{';
}

/* Whether @field can be a name: it is a text or a number. */
static gboolean
is_name(const TideField *field)
{
  return field != NULL && field->kind <= TIDE_VALUE_NUMBER;
}

/* Adds the members of a value that is an object, below the name. */
static gboolean
add_members(TideFieldSteps *steps, const TideField *list, TideBytes name, const TideReading *item,
            const TideField *object)
{
  TideBytes path = tide_scratch_join(steps->scratch, object->name, tide_bytes_of_string(steps->options->separator));
  for (guint32 i = 0; i < item->n_fields; i++) {
    const TideField *member = &item->fields[i];
    if (tide_bytes_begin_with(member->name, path) && !is_object(member) &&
        !add_field(steps, list, name, tide_bytes_from(member->name, object->name.len), member->kind, member->text))
      return FALSE;
  }
  return TRUE;
}

static gboolean
pivot_item(TideFieldSteps *steps, const TideFieldStep *step, const TideField *list, const TideReading *item)
{
  TideBytes prefix = tide_bytes_of_string(step->prefix);
  const TideField *name = find_member(item, step->name), *value = NULL;
  if (!is_name(name))
    return bad_field(steps, TIDE_REJECT_MISSING_FIELD, list, "an item of the list has no text or number as its name");
  for (char **member = step->values; value == NULL && *member != NULL; member++)
    value = find_member(item, *member);
  if (value != NULL && is_object(value)) {
    TideBytes below = tide_scratch_join(steps->scratch, prefix, name->text);
    return charge(steps, list, below.len + value->name.len) && add_members(steps, list, below, item, value);
  }
  return add_field(steps, list, prefix, name->text, value != NULL ? value->kind : TIDE_VALUE_NULL,
                   value != NULL ? value->text : TIDE_BYTES_EMPTY);
}

/* FALSE with the reject filled: @field has no list. */
static gboolean
check_list(TideFieldSteps *steps, const TideField *field)
{
  gboolean is_text = field->kind == TIDE_VALUE_STRING || field->kind == TIDE_VALUE_JSON;
  return (is_text && first_byte(field->text) == '[') ||
         bad_field(steps, TIDE_REJECT_TYPE, field, "it is not a list of names and values, or the text of one");
}

/* Reads the items of @field's list, as fields of a reading. The whole text must be a list: in the object around it,
 * text after the end of a list could be read as members. */
static gboolean
read_list(TideFieldSteps *steps, const TideField *field, TideReading **ret_reading)
{
  static const char flat[] = "it is not a list of only texts, numbers, booleans and nulls";
  TideBuffer *text = &steps->scratch->pieces;
  guint32 n_readings;
  if (field->kind != TIDE_VALUE_JSON)
    return bad_field(steps, TIDE_REJECT_TYPE, field, flat);
  tide_buffer_reset(text);
  tide_buffer_append_bytes(text, TIDE_BYTES_LITERAL("{\"\":"));
  tide_buffer_append_bytes(text, field->text);
  tide_buffer_append_byte(text, '}');
  return read_json(steps, &steps->lists, field, tide_buffer_bytes(text), ret_reading, &n_readings) ||
         (steps->reject->reason == TIDE_REJECT_DEPTH && bad_field(steps, TIDE_REJECT_TYPE, field, flat));
}

/* Combines two lists: the n-th name belongs to the n-th value. */
static gboolean
pivot_lists(TideFieldSteps *steps, const TideFieldStep *step, const TideField *list)
{
  TideField names;
  TideReading *reading;
  if (!take_field(steps, step->names, &names))
    return bad_field(steps, TIDE_REJECT_MISSING_FIELD, list, "the list of the names of its values is absent or null");
  if (!read_list(steps, &names, &reading))
    return FALSE;
  guint32 n = reading->n_fields;
  /* A copy, because the reader overwrites the names with the values. */
  TideField *copies = tide_scratch_take(steps->scratch, n * sizeof *copies);
  for (guint32 i = 0; i < n; i++) {
    if (!is_name(&reading->fields[i]))
      return bad_field(steps, TIDE_REJECT_TYPE, &names, "it is a list with an item that is not a text or number");
    copies[i] = reading->fields[i];
  }
  if (!read_list(steps, list, &reading))
    return FALSE;
  if (reading->n_fields != n)
    return bad_field(steps, TIDE_REJECT_TYPE, list, "it is a list of a different length than the names");
  for (guint32 i = 0; i < n; i++)
    if (!add_field(steps, list, tide_bytes_of_string(step->prefix), copies[i].text, reading->fields[i].kind,
                   reading->fields[i].text))
      return FALSE;
  return TRUE;
}

static gboolean
pivot(TideFieldSteps *steps, const TideFieldStep *step)
{
  TideField list;
  TideReading *items;
  guint32 n_items;
  if (!take_field(steps, step->field, &list))
    return TRUE;
  if (step->names != NULL)
    return pivot_lists(steps, step, &list);
  if (!check_list(steps, &list) || !read_json(steps, &steps->items, &list, list.text, &items, &n_items))
    return FALSE;
  for (guint32 i = 0; i < n_items; i++)
    if (!pivot_item(steps, step, &list, &items[i]))
      return FALSE;
  return TRUE;
}

/* ---- texts in parts ---- */

/* Cuts the next part, the @index-th, off @text. FALSE: it does not end. */
static gboolean
cut_part(const TideFieldStep *step, guint index, TideBytes *text, TideBytes *ret_part)
{
  gsize len, n_between = 0;
  if (step->by != NULL) {
    n_between = strlen(step->by);
    const guint8 *end = text->len > 0 ? memmem(text->data, text->len, step->by, n_between) : NULL;
    len = end != NULL ? (gsize)(end - text->data) : text->len + 1;
  } else {
    len = step->cuts[index] - (index > 0 ? step->cuts[index - 1] : 0);
  }
  if (len > text->len)
    return FALSE;
  *ret_part = tide_bytes(text->data, len);
  *text = tide_bytes_from(*text, len + n_between);
  return TRUE;
}

static gboolean
split(TideFieldSteps *steps, const TideFieldStep *step)
{
  TideField field;
  if (!take_field(steps, step->field, &field))
    return TRUE;
  if (field.kind > TIDE_VALUE_NUMBER)
    return bad_field(steps, TIDE_REJECT_TYPE, &field, "it is neither text nor number, and cannot be split");
  gboolean is_text = field.kind == TIDE_VALUE_STRING && !tide_field_name_is_of_record(field.name);
  TideBytes rest = field.text, part;
  for (guint i = 0; step->parts[i] != NULL; i++) {
    gboolean is_last = step->parts[i + 1] == NULL;
    part = rest;
    if (!is_last && !cut_part(step, i, &rest, &part)) {
      TideField missing = {.name = tide_bytes_of_string(step->parts[i + 1]), .text = field.text};
      return bad_field(steps, TIDE_REJECT_MISSING_FIELD, &missing, "the text ends before this part");
    }
    if (is_text && rest.len > 0 && (rest.data[0] & 0xC0) == 0x80)
      return bad_field(steps, TIDE_REJECT_UTF8, &field, "a position is inside a character");
    if (strcmp(step->parts[i], TIDE_NO_NAME) != 0 &&
        !add_field(steps, &field, TIDE_BYTES_EMPTY, tide_bytes_of_string(step->parts[i]), TIDE_VALUE_STRING, part))
      return FALSE;
  }
  return TRUE;
}

/* ---- numbers ---- */

static gboolean
is_base64(TideBytes text)
{
  gsize n = text.len;
  while (n > 0 && text.len - n < 2 && text.data[n - 1] == '=')
    n--;
  for (gsize i = 0; i < n; i++)
    if (!g_ascii_isalnum(text.data[i]) && text.data[i] != '+' && text.data[i] != '/')
      return FALSE;
  return n > 0 && text.len % 4 == 0;
}

static gboolean
resolve_decimal(TideFieldSteps *steps, const TideFieldStep *step)
{
  TideField *field = find_field(steps, step->field);
  guint8 bytes[BASE64_MAX_BYTES];
  gint state = 0;
  guint save = 0;
  if (field == NULL || field->kind == TIDE_VALUE_NULL)
    return TRUE;
  if (field->kind != TIDE_VALUE_STRING || !is_base64(field->text))
    return bad_field(steps, TIDE_REJECT_TYPE, field, "it is not a decimal in base64");
  char *room = tide_scratch_take(steps->scratch, TIDE_NUMBER_MAX_BYTES);
  TideBytes text = TIDE_BYTES_EMPTY;
  if (field->text.len > BASE64_MAX_BYTES ||
      !tide_decimal_of_bytes(room,
                             tide_bytes(bytes, g_base64_decode_step((const char *)field->text.data, field->text.len,
                                                                    bytes, &state, &save)),
                             step->scale, &text))
    return bad_field(steps, TIDE_REJECT_NUMBER, field,
                     "a decimal of more than " G_STRINGIFY(TIDE_NUMBER_MAX_BYTES) " bytes");
  field->kind = TIDE_VALUE_NUMBER;
  field->text = text;
  *field = or_null(steps, *field);
  return TRUE;
}

static gboolean
resolve_senml(TideFieldSteps *steps)
{
  TideField *fields = &g_array_index(steps->fields, TideField, 0), made[TIDE_SENML_MAX_MADE];
  guint n_made;
  const TideField *fault = NULL;
  const char *detail;
  if (!tide_senml_resolve(&steps->senml, fields, steps->fields->len, steps->message->timestamp_ms, steps->scratch, made,
                          &n_made, &fault, &detail))
    return bad_field(steps, TIDE_REJECT_NUMBER, fault, detail);
  for (guint i = steps->fields->len; i-- > 0;)
    if (tide_senml_replaces(g_array_index(steps->fields, TideField, i).name))
      remove_field(steps, &g_array_index(steps->fields, TideField, i));
  for (guint i = 0; i < n_made; i++) {
    if (!charge(steps, &made[i], sizeof(TideField) + made[i].name.len + made[i].text.len))
      return FALSE;
    append_field(steps, made[i]);
  }
  return TRUE;
}

/* ---- readings ---- */

static gboolean
take_step(TideFieldSteps *steps, const TideFieldStep *step)
{
  steps->step = step;
  switch (step->verb) {
  case TIDE_FIELD_OPEN:
    return open_text(steps, step);
  case TIDE_FIELD_PIVOT:
    return pivot(steps, step);
  case TIDE_FIELD_SPLIT:
    return split(steps, step);
  case TIDE_FIELD_DECIMAL:
    return resolve_decimal(steps, step);
  case TIDE_FIELD_RESOLVE:
    return resolve_senml(steps);
  }
  return FALSE;
}

/* Adds the fields of @reading after all steps to the current reading. */
static gboolean
make_fields(TideFieldSteps *steps, const TideReading *reading)
{
  const TideBytes tags = TIDE_BYTES_LITERAL(TIDE_FIELD_TAGS);
  gboolean has_tags = steps->options->format == TIDE_FORMAT_INFLUX;
  g_array_set_size(steps->fields, 0);
  steps->n_name_fields = reading->n_name_fields;
  for (guint32 i = 0; i < reading->n_fields; i++) {
    const TideField *field = &reading->fields[i];
    gboolean is_own =
        i + steps->n_record_fields < reading->n_fields && !(has_tags && tide_bytes_equal(field->name, tags));
    if (is_own && n_steps(steps->options) > 0 && !check_name(steps, field->name))
      return FALSE;
    append_field(steps, *field);
  }
  for (guint i = 0; i < n_steps(steps->options); i++)
    if (!take_step(steps, step_at(steps->options, i)))
      return FALSE;
  for (guint i = 0; i < steps->fields->len; i++) {
    const TideField *field = &g_array_index(steps->fields, TideField, i);
    if (!tide_reading_builder_add(steps->builder, field->name, field->kind, field->text, steps->reject)) {
      if (steps->reject->reason == TIDE_REJECT_DUPLICATE_FIELD)
        steps->reject->remedy =
            "a step of 'readings.fields' makes one of them: see its 'into'; of the list of a 'pivot', "
            "each name must stand there once";
      return FALSE;
    }
    if (i + 1 == steps->n_name_fields)
      tide_reading_builder_end_names(steps->builder);
  }
  return TRUE;
}

gboolean
tide_field_steps_run(TideFieldSteps *steps, const TideMessage *message, guint32 n_record_fields,
                     const TideReading *readings, guint32 n_readings, const TideReject *rejects, guint32 n_rejects,
                     TideReject *ret_reject)
{
  gboolean may_spoil = steps->options->on_bad_reading == TIDE_BAD_READING_ALONE && !steps->readings_depend;
  steps->message = message;
  steps->n_record_fields = n_record_fields;
  steps->reject = ret_reject;
  steps->made_bytes = 0;
  steps->senml = (TideSenml){0};
  tide_reading_builder_begin_message(steps->builder, NULL, 0, 0);
  for (guint32 i = 0; i < n_readings; i++) {
    gboolean was_bad = n_rejects > 0 && rejects->reading_index == i;
    if (!tide_reading_builder_begin_reading(steps->builder, ret_reject))
      return FALSE;
    if (readings[i].is_skipped) {
      (void)tide_reading_builder_skip(steps->builder);
      continue;
    }
    if (was_bad) {
      *ret_reject = *rejects++;
      n_rejects--;
    }
    if (was_bad || !make_fields(steps, &readings[i])) {
      if (!may_spoil)
        return FALSE;
      tide_reading_builder_spoil(steps->builder, ret_reject);
    }
    if (!tide_reading_builder_end_reading(steps->builder, ret_reject))
      return FALSE;
  }
  return TRUE;
}
