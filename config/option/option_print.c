/* The values of options as text, and what the reference says of them. */
#include "config/option/option.h"
#include "config/option/option_value.h"
#include "config/yaml/yaml_text.h"
#include "thrift/client/endpoint.h"

#include <stdatomic.h>

static gconstpointer
const_member_of(const TideConfigOption *option, gconstpointer base)
{
  return (const guint8 *)base + option->offset;
}

/* A reload may change it meanwhile. */
static gint64
load_number(const TideConfigOption *option, gconstpointer base)
{
  gconstpointer member = const_member_of(option, base);
  if (option->size == sizeof(gint64))
    return atomic_load_explicit((const _Atomic gint64 *)member, memory_order_relaxed);
  return atomic_load_explicit((const _Atomic gint32 *)member, memory_order_relaxed);
}

static char *
format_number(const TideConfigOption *option, gint64 value)
{
  switch (option->type) {
  case TIDE_CONFIG_DURATION:
    return tide_duration_format(value);
  case TIDE_CONFIG_SIZE:
    return tide_size_format((guint64)value);
  case TIDE_CONFIG_TIME:
    return tide_epoch_format(value);
  case TIDE_CONFIG_INTEGER:
  case TIDE_CONFIG_STRING:
  case TIDE_CONFIG_TOPICS:
  case TIDE_CONFIG_TEXTS:
  case TIDE_CONFIG_BROKERS:
  case TIDE_CONFIG_GATEWAYS:
  case TIDE_CONFIG_BOOLEAN:
  case TIDE_CONFIG_CHOICE:
  case TIDE_CONFIG_FIELD:
  case TIDE_CONFIG_ZONE:
  case TIDE_CONFIG_PATTERN:
  case TIDE_CONFIG_CUSTOM:
  case TIDE_CONFIG_SECTION:
  case TIDE_CONFIG_STRUCTURE:
    break;
  }
  return g_strdup_printf("%" G_GINT64_FORMAT, value);
}

static char *
print_scalar(const char *text)
{
  GString *out = g_string_new(NULL);

  tide_yaml_append_scalar(out, text, strlen(text));
  return g_string_free(out, FALSE);
}

static char *
print_list(const char *const *texts)
{
  GString *out = g_string_new("[");

  for (gsize i = 0; texts[i] != NULL; i++) {
    g_string_append(out, i > 0 ? ", " : "");
    tide_yaml_append_scalar(out, texts[i], strlen(texts[i]));
  }
  g_string_append_c(out, ']');
  return g_string_free(out, FALSE);
}

static char *
print_gateways(const GPtrArray *gateways)
{
  if (gateways == NULL)
    return NULL;
  g_autofree const char **texts = g_new0(const char *, gateways->len + 1);

  for (guint i = 0; i < gateways->len; i++)
    texts[i] = ((const TideEndpoint *)g_ptr_array_index(gateways, i))->text;
  return print_list(texts);
}

static char *
print_field(TideNameId id, const TideFieldNames *names)
{
  if (id == TIDE_NAME_NONE)
    return NULL;
  TideBytes text = tide_field_names_text(names, id);
  GString *out = g_string_new(NULL);
  g_autofree char *copy = g_strndup((const char *)text.data, text.len);
  tide_yaml_append_scalar(out, copy, text.len);
  return g_string_free(out, FALSE);
}

char *
tide_config_option_print_value(const TideConfigOption *option, gconstpointer base, const TideFieldNames *names)
{
  gconstpointer member = const_member_of(option, base);
  g_autofree char *text = NULL;

  switch (option->type) {
  case TIDE_CONFIG_STRING:
  case TIDE_CONFIG_BROKERS:
  case TIDE_CONFIG_PATTERN:
    text = g_strdup(*(char *const *)member);
    break;
  case TIDE_CONFIG_TOPICS:
  case TIDE_CONFIG_TEXTS:
    return *(const char *const *const *)member != NULL ? print_list(*(const char *const *const *)member) : NULL;
  case TIDE_CONFIG_GATEWAYS:
    return print_gateways(atomic_load_explicit((GPtrArray *const _Atomic *)member, memory_order_acquire));
  case TIDE_CONFIG_BOOLEAN:
    text = g_strdup(load_number(option, base) ? "true" : "false");
    break;
  case TIDE_CONFIG_CHOICE:
    text = g_strdup(tide_config_choice_name(option->choices, (int)load_number(option, base)));
    break;
  case TIDE_CONFIG_FIELD:
    return print_field(*(const TideNameId *)member, names);
  case TIDE_CONFIG_ZONE:
    text =
        *(GTimeZone *const *)member != NULL ? g_strdup(g_time_zone_get_identifier(*(GTimeZone *const *)member)) : NULL;
    break;
  case TIDE_CONFIG_CUSTOM:
    text = option->print(base);
    break;
  case TIDE_CONFIG_INTEGER:
  case TIDE_CONFIG_SIZE:
  case TIDE_CONFIG_TIME:
    text = format_number(option, load_number(option, base));
    break;
  case TIDE_CONFIG_DURATION:
    text = format_number(option, load_number(option, base) * (option->size == sizeof(gint32) ? 1000 : 1));
    break;
  case TIDE_CONFIG_SECTION:
  case TIDE_CONFIG_STRUCTURE:
    break;
  }
  return text != NULL ? print_scalar(text) : NULL;
}

static char *
describe_choices(const TideConfigChoice *choices)
{
  GString *out = g_string_new("one of ");

  for (gsize i = 0; choices[i].name != NULL; i++)
    g_string_append_printf(out, "%s`%s`", i > 0 ? ", " : "", choices[i].name);
  return g_string_free(out, FALSE);
}

char *
tide_config_option_describe_type(const TideConfigOption *option)
{
  /* of the types that have no form of their own */
  static const char *const words[] = {
      [TIDE_CONFIG_STRING] = "text",
      [TIDE_CONFIG_TOPICS] = "list of topics",
      [TIDE_CONFIG_TEXTS] = "list of texts",
      [TIDE_CONFIG_BROKERS] = "list of `host:port`",
      [TIDE_CONFIG_GATEWAYS] = "list of addresses",
      [TIDE_CONFIG_INTEGER] = "number",
      [TIDE_CONFIG_DURATION] = "duration",
      [TIDE_CONFIG_SIZE] = "size",
      [TIDE_CONFIG_BOOLEAN] = "`true` or `false`",
      [TIDE_CONFIG_TIME] = "date or time",
      [TIDE_CONFIG_FIELD] = "field",
      [TIDE_CONFIG_ZONE] = "time zone",
      [TIDE_CONFIG_PATTERN] = "time pattern",
      [TIDE_CONFIG_SECTION] = "mapping",
      [TIDE_CONFIG_STRUCTURE] = "mapping",
  };
  if (option->type == TIDE_CONFIG_CHOICE)
    return option->choices[1].name != NULL ? describe_choices(option->choices)
                                           : g_strdup_printf("`%s`", option->choices[0].name);
  return g_strdup(option->form != NULL ? option->form : words[option->type]);
}

char *
tide_config_option_describe_range(const TideConfigOption *option)
{
  if (option->min == option->max)
    return NULL;
  g_autofree char *min = format_number(option, option->min);
  g_autofree char *max = format_number(option, option->max);
  return g_strdup_printf("%s..%s", min, max);
}
