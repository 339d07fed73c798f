#include "config/option/field_language.h"

#include "decode/field_steps.h"

#define OF_STEP(member) .offset = offsetof(TideFieldStep, member), .size = sizeof(((TideFieldStep *)NULL)->member)

/* More digits than these are more than a number may have. */
#define MAX_SCALE 60

#define NAMES_SENTENCE                                                                                                 \
  "What the names of the new fields begin with, joined by the separator. Unless it is set, the field's own name, "     \
  "without the $ of a record's; \"\": nothing."

static gboolean
parse_into(const char *text, gpointer base, GError **error G_GNUC_UNUSED)
{
  TideFieldStep *step = base;
  g_free(step->into);
  step->into = g_strdup(text);
  return TRUE;
}

static char *
print_into(gconstpointer base)
{
  return g_strdup(((const TideFieldStep *)base)->into);
}

#define INTO                                                                                                           \
  {                                                                                                                    \
    "into", TIDE_CONFIG_CUSTOM, .form = "text", .example = "gateway", .parse = parse_into, .print = print_into,        \
                                .sentence = NAMES_SENTENCE                                                             \
  }

static const TideConfigOption open_options[] = {
    {"open", TIDE_CONFIG_STRING, OF_STEP(field), .example = "objectJSON", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "A field, or `$key` or `$header.NAME`, whose text holds a JSON object: its members become fields, as "
                 "if the object had been in place of the text."},
    INTO,
};

static const TideConfigOption pivot_options[] = {
    {"pivot", TIDE_CONFIG_STRING, OF_STEP(field), .example = "labels", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "A field that is a list: of objects with a name and a value, or, with `names`, of values. Each item "
                 "becomes a field."},
    {"name", TIDE_CONFIG_STRING, OF_STEP(name), .example = "name",
     .sentence = "The member of each item that names its field."},
    {"value", TIDE_CONFIG_TEXTS, OF_STEP(values), .example = "[value]",
     .sentence = "The member of each item that is the field's value; of several, the first that is present and not "
                 "null."},
    {"names", TIDE_CONFIG_STRING, OF_STEP(names), .example = "dsnames",
     .sentence = "In place of `name` and `value`: a field that is a list, as long as the other, of the names of its "
                 "values."},
    INTO,
};

static const TideConfigOption split_options[] = {
    {"split", TIDE_CONFIG_STRING, OF_STEP(field), .example = "$topic", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "A field, or `$key`, `$topic` or `$header.NAME`, whose text becomes its parts."},
    {"into", TIDE_CONFIG_TEXTS, OF_STEP(parts), .example = "[_, device, kind]",
     .flags = TIDE_CONFIG_REQUIRED | TIDE_CONFIG_REPEATS,
     .sentence =
         "The names of the parts; _ leaves a part out. The last takes all that remains. A text with fewer parts "
         "is a bad reading."},
    {"by", TIDE_CONFIG_STRING, OF_STEP(by), .example = "\"/\"", .sentence = "The text between two parts."},
    {"at", TIDE_CONFIG_TEXTS, OF_STEP(at), .example = "[4, 8]",
     .sentence =
         "In place of `by`: the positions, in bytes from the start, at which the second part and those after it "
         "begin."},
};

static const TideConfigOption decimal_options[] = {
    {"decimal", TIDE_CONFIG_STRING, OF_STEP(field), .example = "price", .flags = TIDE_CONFIG_REQUIRED,
     .sentence =
         "A field that is a decimal as Kafka Connect's JSON converter writes it by default, the unscaled integer "
         "in base64. It becomes the number, exactly."},
    {"scale", TIDE_CONFIG_INTEGER, OF_STEP(scale), 0, MAX_SCALE, .example = "2", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "Its digits after the decimal point, as the column is declared."},
};

static const TideConfigChoice dialects[] = {{"senml", 0}, {NULL, 0}};

static const TideConfigOption resolve_options[] = {
    {"resolve", TIDE_CONFIG_CHOICE, OF_STEP(dialect), .choices = dialects, .example = "senml",
     .flags = TIDE_CONFIG_REQUIRED,
     .sentence =
         "SenML (RFC 8428): the base fields bn, bt, bu, bv and bs are added to n, t, u, v and s of their record "
         "and of those after it in the message. t is then always present, in seconds since 1970: a time that "
         "is relative is counted from the record's. A bad reading rejects the whole message."},
};

const TideConfigGroup tide_step_open_options = TIDE_ITEM_GROUP("readings.fields: open", open_options);
const TideConfigGroup tide_step_pivot_options = TIDE_ITEM_GROUP("readings.fields: pivot", pivot_options);
const TideConfigGroup tide_step_split_options = TIDE_ITEM_GROUP("readings.fields: split", split_options);
const TideConfigGroup tide_step_decimal_options = TIDE_ITEM_GROUP("readings.fields: decimal", decimal_options);
const TideConfigGroup tide_step_resolve_options = TIDE_ITEM_GROUP("readings.fields: resolve", resolve_options);

const TideConfigGroup *const tide_field_language[] = {&tide_step_open_options,    &tide_step_pivot_options,
                                                      &tide_step_split_options,   &tide_step_decimal_options,
                                                      &tide_step_resolve_options, NULL};
