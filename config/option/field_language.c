#include "config/option/field_language.h"

#include "decode/field_steps.h"

#define OF_STEP(member) .offset = offsetof(TideFieldStep, member), .size = sizeof(((TideFieldStep *)NULL)->member)

/* Upper limit for the digits after a decimal point. */
#define MAX_SCALE 60

#define NAMES_SENTENCE                                                                                                 \
  "Prefix for the names of the new fields, joined by the separator. Default: the field's own name, without the $ of "  \
  "a record's field. \"\" means no prefix."

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
     .sentence = "Field, or `$key` or `$header.NAME`, whose text is a JSON object. The object's members become fields, "
                 "as if the object replaced the text."},
    INTO,
};

static const TideConfigOption pivot_options[] = {
    {"pivot", TIDE_CONFIG_STRING, OF_STEP(field), .example = "labels", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "Field that is a list of objects with a name and a value, or, with `names`, a list of values. Each "
                 "item becomes a field."},
    {"name", TIDE_CONFIG_STRING, OF_STEP(name), .example = "name",
     .sentence = "Member of each item that contains the field's name."},
    {"value", TIDE_CONFIG_TEXTS, OF_STEP(values), .example = "[value]",
     .sentence = "Member of each item that contains the field's value. If you list several, the first one that is "
                 "present and not null is used."},
    {"names", TIDE_CONFIG_STRING, OF_STEP(names), .example = "dsnames",
     .sentence = "Instead of `name` and `value`: a field that lists the names of the values, with the same length."},
    INTO,
};

static const TideConfigOption split_options[] = {
    {"split", TIDE_CONFIG_STRING, OF_STEP(field), .example = "$topic", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "Field, or `$key`, `$topic` or `$header.NAME`, whose text is split into parts."},
    {"into", TIDE_CONFIG_TEXTS, OF_STEP(parts), .example = "[_, device, kind]",
     .flags = TIDE_CONFIG_REQUIRED | TIDE_CONFIG_REPEATS,
     .sentence = "Names of the parts; _ skips a part. The last part contains the rest of the text. A text with too few "
                 "parts is a bad reading."},
    {"by", TIDE_CONFIG_STRING, OF_STEP(by), .example = "\"/\"", .sentence = "Delimiter between parts."},
    {"at", TIDE_CONFIG_TEXTS, OF_STEP(at), .example = "[4, 8]",
     .sentence = "Instead of `by`: positions, in bytes from the start, at which the second and later parts start."},
};

static const TideConfigOption decimal_options[] = {
    {"decimal", TIDE_CONFIG_STRING, OF_STEP(field), .example = "price", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "Field that is a decimal as Kafka Connect's JSON converter writes it by default: the unscaled integer "
                 "in base64. The exact number replaces it."},
    {"scale", TIDE_CONFIG_INTEGER, OF_STEP(scale), 0, MAX_SCALE, .example = "2", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "Number of digits after the decimal point, as the column declares it."},
};

static const TideConfigChoice dialects[] = {{"senml", 0}, {NULL, 0}};

static const TideConfigOption resolve_options[] = {
    {"resolve", TIDE_CONFIG_CHOICE, OF_STEP(dialect), .choices = dialects, .example = "senml",
     .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "Resolves SenML (RFC 8428). The base fields bn, bt, bu, bv and bs are added to n, t, u, v and s of "
                 "their record and the later ones. t is then always present, in seconds since 1970; a relative time "
                 "counts from the record's time. A bad reading rejects the whole message."},
};

const TideConfigGroup tide_step_open_options = TIDE_ITEM_GROUP("readings.fields: open", open_options);
const TideConfigGroup tide_step_pivot_options = TIDE_ITEM_GROUP("readings.fields: pivot", pivot_options);
const TideConfigGroup tide_step_split_options = TIDE_ITEM_GROUP("readings.fields: split", split_options);
const TideConfigGroup tide_step_decimal_options = TIDE_ITEM_GROUP("readings.fields: decimal", decimal_options);
const TideConfigGroup tide_step_resolve_options = TIDE_ITEM_GROUP("readings.fields: resolve", resolve_options);

const TideConfigGroup *const tide_field_language[] = {&tide_step_open_options,    &tide_step_pivot_options,
                                                      &tide_step_split_options,   &tide_step_decimal_options,
                                                      &tide_step_resolve_options, NULL};
