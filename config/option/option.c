/* The types of options, one row of a table each. A text of the file becomes the value that an option stores, and the
 * value a text again. Errors are TIDE_ERROR_CONFIG and continue after the option's name: "must be 1..64". */
#include "config/option/option.h"

#include "config/option/option_value.h"
#include "config/yaml/yaml_text.h"
#include "model/time/time_pattern.h"
#include "thrift/client/endpoint.h"
#include "util/error.h"

#include <stdatomic.h>

/* Realistic names and addresses are shorter. */
#define MAX_STRING_BYTES 4096
#define TOPIC_MAX_BYTES 249 /* Kafka's limit: a topic's name, with the partition appended, names a folder */

/* @member: the option's value in its struct. */
typedef struct OptionType {
  const char *word; /* for the reference, if the option has no form of its own */
  gboolean (*parse)(const TideConfigOption *option, const char *text, gpointer member, TideFieldNames *names,
                    GError **error);
  /* (transfer full) (nullable): NULL: not set */
  char *(*print)(const TideConfigOption *option, gconstpointer member, const TideFieldNames *names);
  GDestroyNotify destroy; /* frees what member points to; NULL: nothing is owned */
  gboolean is_number;     /* a reload may change it while others read it */
  gboolean is_list;
  gboolean (*check_item)(const char *text, GError **error); /* checks an item of a list; NULL: any text */
} OptionType;

static gpointer
member_of(const TideConfigOption *option, gpointer base)
{
  return (guint8 *)base + option->offset;
}

/* ---- numbers ---- */

/* A DURATION is in seconds if its member has 4 bytes, as for HBase's time to live of a family. */
static gint64
stored_unit(const TideConfigOption *option)
{
  return option->type == TIDE_CONFIG_DURATION && option->size == sizeof(gint32) ? 1000 : 1;
}

/* Atomic if the option reloads, because others may read it meanwhile. */
static void
store_number(const TideConfigOption *option, gpointer member, gint64 value)
{
  g_assert(option->size == sizeof(gint64) || option->size == sizeof(gint32));
  if (option->size == sizeof(gint64))
    atomic_store_explicit((_Atomic gint64 *)member, value, memory_order_relaxed);
  else
    atomic_store_explicit((_Atomic gint32 *)member, (gint32)value, memory_order_relaxed);
}

static gint64
load_number(const TideConfigOption *option, gconstpointer member)
{
  if (option->size == sizeof(gint64))
    return atomic_load_explicit((const _Atomic gint64 *)member, memory_order_relaxed);
  return atomic_load_explicit((const _Atomic gint32 *)member, memory_order_relaxed);
}

static char *
format_number(const TideConfigOption *option, gint64 value)
{
  if (option->type == TIDE_CONFIG_DURATION)
    return tide_duration_format(value);
  if (option->type == TIDE_CONFIG_SIZE)
    return tide_size_format((guint64)value);
  if (option->type == TIDE_CONFIG_TIME)
    return tide_epoch_format(value);
  return g_strdup_printf("%" G_GINT64_FORMAT, value);
}

static gboolean
read_number(const TideConfigOption *option, const char *text, gint64 *ret_value, GError **error)
{
  guint64 number = 0;
  gint64 default_ms = 0; /* 0: none, or a value that switches it off */

  if (option->type == TIDE_CONFIG_TIME)
    return tide_epoch_parse(text, ret_value, error);
  if (option->type == TIDE_CONFIG_DURATION) {
    if (option->default_text != NULL && !tide_duration_parse(option->default_text, 0, 0, &default_ms, NULL))
      default_ms = 0;
    return tide_duration_parse(text, default_ms, option->max, ret_value, error);
  }
  if (option->type == TIDE_CONFIG_SIZE) {
    if (!tide_size_parse(text, &number, error))
      return FALSE;
  } else if (!tide_number_parse(text, &number, NULL)) {
    return tide_fail(error, TIDE_ERROR_CONFIG, "must be a number, %" G_GINT64_FORMAT "..%" G_GINT64_FORMAT, option->min,
                     option->max);
  }
  *ret_value = (gint64)MIN(number, (guint64)G_MAXINT64);
  return TRUE;
}

static gboolean
parse_number(const TideConfigOption *option, const char *text, gpointer member, TideFieldNames *names, GError **error)
{
  gint64 value = 0, unit = stored_unit(option);

  if (!read_number(option, text, &value, error))
    return FALSE;
  if (value < option->min || value > option->max) {
    g_autofree char *range = tide_config_option_describe_range(option);
    return tide_fail(error, TIDE_ERROR_CONFIG, "must be %s", range);
  }
  if (value % unit != 0)
    return tide_fail(error, TIDE_ERROR_CONFIG, "must be whole seconds");
  store_number(option, member, value / unit);
  return TRUE;
}

static char *
print_number(const TideConfigOption *option, gconstpointer member, const TideFieldNames *names)
{
  return format_number(option, load_number(option, member) * stored_unit(option));
}

static gboolean
parse_boolean(const TideConfigOption *option, const char *text, gpointer member, TideFieldNames *names, GError **error)
{
  gboolean value = strcmp(text, "true") == 0;

  if (!value && strcmp(text, "false") != 0)
    return tide_fail(error, TIDE_ERROR_CONFIG, "must be true or false");
  store_number(option, member, value);
  return TRUE;
}

static char *
print_boolean(const TideConfigOption *option, gconstpointer member, const TideFieldNames *names)
{
  return g_strdup(load_number(option, member) != 0 ? "true" : "false");
}

const char *
tide_config_choice_name(const TideConfigChoice *choices, int value)
{
  for (; choices->name != NULL; choices++) {
    if (choices->value == value)
      return choices->name;
  }
  return NULL;
}

char *
tide_config_choices_join(const TideConfigChoice *choices, const char *quote)
{
  GString *names = g_string_new(NULL);

  for (gsize i = 0; choices[i].name != NULL; i++)
    g_string_append_printf(names, "%s%s%s%s", i > 0 ? ", " : "", quote, choices[i].name, quote);
  return g_string_free(names, FALSE);
}

static gboolean
parse_choice(const TideConfigOption *option, const char *text, gpointer member, TideFieldNames *names, GError **error)
{
  for (const TideConfigChoice *choice = option->choices; choice->name != NULL; choice++) {
    if (strcmp(choice->name, text) == 0) {
      store_number(option, member, choice->value);
      return TRUE;
    }
  }
  g_autofree char *all = tide_config_choices_join(option->choices, "");
  return tide_fail(error, TIDE_ERROR_CONFIG, "must be one of %s", all);
}

static char *
print_choice(const TideConfigOption *option, gconstpointer member, const TideFieldNames *names)
{
  return g_strdup(tide_config_choice_name(option->choices, (int)load_number(option, member)));
}

/* ---- texts and names ---- */

static void
store_string(gpointer member, const char *text)
{
  g_free(*(char **)member);
  *(char **)member = g_strdup(text);
}

gboolean
tide_config_option_check_no_variable(const char *text, GError **error)
{
  if (strstr(text, "${") == NULL)
    return TRUE;
  return tide_fail(error, TIDE_ERROR_CONFIG, "must be written out, or as { env: NAME } to use an environment variable");
}

static gboolean
parse_string(const TideConfigOption *option, const char *text, gpointer member, TideFieldNames *names, GError **error)
{
  if (*text == '\0' || strlen(text) > MAX_STRING_BYTES)
    return tide_fail(error, TIDE_ERROR_CONFIG, "must be a text of 1 to %d bytes", MAX_STRING_BYTES);
  if (!tide_config_option_check_no_variable(text, error))
    return FALSE;
  store_string(member, text);
  return TRUE;
}

static gboolean
parse_pattern(const TideConfigOption *option, const char *text, gpointer member, TideFieldNames *names, GError **error)
{
  TideTimePattern **stored = member;
  g_autoptr(GError) reason = NULL;
  TideTimePattern *pattern = tide_time_pattern_compile(text, TIDE_PATTERN_TEXT, &reason);

  if (pattern == NULL)
    return tide_fail(error, TIDE_ERROR_CONFIG, "cannot be used: %s", reason->message);
  tide_time_pattern_free(*stored);
  *stored = pattern;
  return TRUE;
}

static char *
print_pattern(const TideConfigOption *option, gconstpointer member, const TideFieldNames *names)
{
  const TideTimePattern *pattern = *(TideTimePattern *const *)member;
  return pattern != NULL ? g_strdup(pattern->text) : NULL;
}

static char *
print_string(const TideConfigOption *option, gconstpointer member, const TideFieldNames *names)
{
  return g_strdup(*(char *const *)member);
}

gboolean
tide_config_option_check_field_name(const char *name, gsize len, GError **error)
{
  TideBytes bytes = tide_bytes(name, len);

  if (len == 0)
    return tide_fail(error, TIDE_ERROR_CONFIG, "must be the name of a field");
  if (name[0] == '$' && !tide_field_name_is_of_record(bytes))
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "must be a field of the record ($key, $topic, $partition, $offset, $timestamp or $header.NAME) or "
                     "$tags, all tags of a line");
  return TRUE;
}

static gboolean
parse_field(const TideConfigOption *option, const char *text, gpointer member, TideFieldNames *names, GError **error)
{
  if (!tide_config_option_check_field_name(text, strlen(text), error))
    return FALSE;
  TideNameId id = tide_field_names_intern(names, tide_bytes_of_string(text));
  if (id == TIDE_NAME_NONE)
    return tide_fail(error, TIDE_ERROR_CONFIG, "exceeds the maximum number of fields");
  *(TideNameId *)member = id;
  return TRUE;
}

static char *
print_field(const TideConfigOption *option, gconstpointer member, const TideFieldNames *names)
{
  TideNameId id = *(const TideNameId *)member;
  TideBytes text = id != TIDE_NAME_NONE ? tide_field_names_text(names, id) : TIDE_BYTES_EMPTY;
  return id != TIDE_NAME_NONE ? g_strndup((const char *)text.data, text.len) : NULL;
}

/* GLib opens a file by this name, and accepts names for the machine's own zone, by which two machines would read one
 * message differently. */
static gboolean
is_zone_name(const char *text)
{
  if (*text == '\0' || *text == '/' || strstr(text, "..") != NULL || strlen(text) > 64)
    return FALSE;
  for (const char *at = text; *at != '\0'; at++) {
    if (!g_ascii_isalnum(*at) && strchr("_+-:/", *at) == NULL)
      return FALSE;
  }
  return TRUE;
}

static gboolean
parse_zone(const TideConfigOption *option, const char *text, gpointer member, TideFieldNames *names, GError **error)
{
  GTimeZone *zone = is_zone_name(text) ? g_time_zone_new_identifier(text) : NULL;

  if (zone == NULL)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "must be a time zone that this machine knows, such as Europe/Berlin, UTC or \"+02:00\"");
  g_clear_pointer((GTimeZone **)member, g_time_zone_unref);
  *(GTimeZone **)member = zone;
  return TRUE;
}

static char *
print_zone(const TideConfigOption *option, gconstpointer member, const TideFieldNames *names)
{
  GTimeZone *zone = *(GTimeZone *const *)member;
  return zone != NULL ? g_strdup(g_time_zone_get_identifier(zone)) : NULL;
}

/* ---- lists ---- */

/* A broker in librdkafka's syntax: "host", "host:port" or "[v6]:port", optionally after "PROTOCOL://". */
static gboolean
check_broker(const char *text, GError **error)
{
  const char *scheme = strstr(text, "://");
  g_autoptr(TideEndpoint) endpoint = tide_endpoint_parse(scheme != NULL ? scheme + 3 : text, NULL);

  if (endpoint != NULL && endpoint->unix_path == NULL)
    return TRUE;
  return tide_fail(error, TIDE_ERROR_CONFIG,
                   "must be 'host:port' or '[IPv6 address]:port' with a port from 1 to 65535");
}

static gboolean
check_gateway(const char *text, GError **error)
{
  g_autoptr(GError) reason = NULL;
  g_autoptr(TideEndpoint) endpoint = tide_endpoint_parse(text, &reason);

  return endpoint != NULL || tide_fail(error, TIDE_ERROR_CONFIG, "has an invalid address (%s)", reason->message);
}

/* A name by Kafka's rules, or a pattern, which only librdkafka can check. */
static gboolean
check_topic(const char *text, GError **error)
{
  gsize len = strlen(text);
  gboolean is_good = len <= TOPIC_MAX_BYTES && strcmp(text, ".") != 0 && strcmp(text, "..") != 0;

  if (!tide_config_option_check_no_variable(text, error))
    return FALSE;
  if (text[0] == '^')
    return TRUE;
  for (gsize i = 0; i < len; i++)
    is_good &= g_ascii_isalnum(text[i]) || strchr("._-", text[i]) != NULL;
  return is_good ||
         tide_fail(error, TIDE_ERROR_CONFIG,
                   "must be names of letters, digits, . _ and -, of at most %d bytes, or patterns that start with ^",
                   TOPIC_MAX_BYTES);
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
print_texts(const TideConfigOption *option, gconstpointer member, const TideFieldNames *names)
{
  const char *const *texts = *(const char *const *const *)member;
  return texts != NULL ? print_list(texts) : NULL;
}

static char *
print_gateways(const TideConfigOption *option, gconstpointer member, const TideFieldNames *names)
{
  const GPtrArray *gateways = atomic_load_explicit((GPtrArray *const _Atomic *)member, memory_order_acquire);
  g_autofree const char **texts = g_new0(const char *, gateways != NULL ? gateways->len + 1 : 1);

  for (guint i = 0; gateways != NULL && i < gateways->len; i++)
    texts[i] = ((const TideEndpoint *)g_ptr_array_index(gateways, i))->text;
  return gateways != NULL ? print_list(texts) : NULL;
}

/* A scalar type that owns nothing has an empty row. So has CUSTOM: the option has its own functions, and the owner of
 * the struct frees what they store. */
static const OptionType types[] = {
    [TIDE_CONFIG_STRING] = {"text", parse_string, print_string, g_free},
    [TIDE_CONFIG_TOPICS] = {"list of topics", NULL, print_texts, (GDestroyNotify)g_strfreev, .is_list = TRUE,
                            .check_item = check_topic},
    [TIDE_CONFIG_TEXTS] = {"list of texts", NULL, print_texts, (GDestroyNotify)g_strfreev, .is_list = TRUE},
    [TIDE_CONFIG_BROKERS] = {"list of `host:port`", NULL, print_string, g_free, .is_list = TRUE,
                             .check_item = check_broker},
    [TIDE_CONFIG_GATEWAYS] = {"list of addresses", NULL, print_gateways, (GDestroyNotify)g_ptr_array_unref,
                              .is_list = TRUE, .check_item = check_gateway},
    [TIDE_CONFIG_INTEGER] = {"number", parse_number, print_number, .is_number = TRUE},
    [TIDE_CONFIG_DURATION] = {"duration", parse_number, print_number, .is_number = TRUE},
    [TIDE_CONFIG_SIZE] = {"size", parse_number, print_number, .is_number = TRUE},
    [TIDE_CONFIG_BOOLEAN] = {"`true` or `false`", parse_boolean, print_boolean, .is_number = TRUE},
    [TIDE_CONFIG_CHOICE] = {NULL, parse_choice, print_choice, .is_number = TRUE},
    [TIDE_CONFIG_TIME] = {"date or time", parse_number, print_number},
    [TIDE_CONFIG_FIELD] = {"field", parse_field, print_field},
    [TIDE_CONFIG_ZONE] = {"time zone", parse_zone, print_zone, (GDestroyNotify)g_time_zone_unref},
    [TIDE_CONFIG_PATTERN] = {"time pattern", parse_pattern, print_pattern, (GDestroyNotify)tide_time_pattern_free},
    [TIDE_CONFIG_CUSTOM] = {NULL},
    [TIDE_CONFIG_SECTION] = {"mapping"},
    [TIDE_CONFIG_STRUCTURE] = {"mapping", NULL, print_string, g_free},
};

gboolean
tide_config_option_parse(const TideConfigOption *option, const char *text, const TideConfigTarget *target,
                         GError **error)
{
  if (option->type == TIDE_CONFIG_CUSTOM)
    return option->parse(text, target->base, error);
  return types[option->type].parse(option, text, member_of(option, target->base), target->names, error);
}

gboolean
tide_config_option_is_list(const TideConfigOption *option)
{
  return types[option->type].is_list;
}

gboolean
tide_config_option_add_item(const TideConfigOption *option, GPtrArray *texts, const char *text, GError **error)
{
  const OptionType *type = &types[option->type];

  if ((*text == '\0' && option->type != TIDE_CONFIG_TEXTS) || strlen(text) > MAX_STRING_BYTES)
    return tide_fail(error, TIDE_ERROR_CONFIG, "has an item that is empty or longer than %d bytes", MAX_STRING_BYTES);
  /* A repeated item would have no effect, or a double one: a mistake in both cases. */
  if ((option->flags & TIDE_CONFIG_REPEATS) == 0 && g_ptr_array_find_with_equal_func(texts, text, g_str_equal, NULL))
    return tide_fail(error, TIDE_ERROR_CONFIG, "contains an item twice");
  if (type->check_item != NULL && !type->check_item(text, error))
    return FALSE;
  g_ptr_array_add(texts, g_strdup(text));
  return TRUE;
}

static void
clear_member(const TideConfigOption *option, gpointer base)
{
  gpointer member = member_of(option, base), value = NULL;

  memcpy(&value, member, sizeof value);
  if (value != NULL)
    types[option->type].destroy(value);
  memset(member, 0, sizeof value);
}

void
tide_config_option_store_items(const TideConfigOption *option, const GPtrArray *texts, gpointer base)
{
  g_auto(GStrv) list = g_new0(char *, texts->len + 1);

  clear_member(option, base);
  for (guint i = 0; i < texts->len; i++)
    list[i] = g_strdup(g_ptr_array_index(texts, i));
  if (option->type == TIDE_CONFIG_GATEWAYS) {
    GPtrArray *gateways = g_ptr_array_new_with_free_func((GDestroyNotify)tide_endpoint_free);
    for (guint i = 0; i < texts->len; i++)
      g_ptr_array_add(gateways, tide_endpoint_parse(list[i], NULL)); /* valid: it was checked when it was read */
    *(GPtrArray **)member_of(option, base) = gateways;
  } else if (option->type == TIDE_CONFIG_BROKERS) {
    *(char **)member_of(option, base) = g_strjoinv(",", list);
  } else {
    *(char ***)member_of(option, base) = g_steal_pointer(&list);
  }
}

char *
tide_config_option_print_value(const TideConfigOption *option, gconstpointer base, const TideFieldNames *names)
{
  const OptionType *type = &types[option->type];
  g_autofree char *text = NULL;

  if (option->type == TIDE_CONFIG_CUSTOM)
    text = option->print(base);
  else if (type->print != NULL && option->size > 0)
    text = type->print(option, (const guint8 *)base + option->offset, names);
  if (text == NULL || option->type == TIDE_CONFIG_STRUCTURE || (type->is_list && type->print != print_string))
    return g_steal_pointer(&text);
  GString *out = g_string_new(NULL);
  tide_yaml_append_scalar(out, text, strlen(text));
  return g_string_free(out, FALSE);
}

void
tide_config_option_take_over(const TideConfigOption *option, gpointer base, gconstpointer after)
{
  if (types[option->type].is_number) {
    store_number(option, member_of(option, base), load_number(option, (const guint8 *)after + option->offset));
    return;
  }
  if (option->type != TIDE_CONFIG_CUSTOM)
    g_error("'%s' is of a type that cannot reload", option->name);
  g_autofree char *text = option->print(after);
  if (!option->parse(text, base, NULL))
    g_error("'%s' does not read back what it prints: %s", option->name, text);
}

char *
tide_config_option_describe_type(const TideConfigOption *option)
{
  if (option->type != TIDE_CONFIG_CHOICE)
    return g_strdup(option->form != NULL ? option->form : types[option->type].word);
  g_autofree char *names = tide_config_choices_join(option->choices, "`");
  return g_strconcat(option->choices[1].name != NULL ? "one of " : "", names, NULL);
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

/* ---- groups ---- */

const TideConfigOption *
tide_config_option_find(const TideConfigGroup *group, const char *name)
{
  for (gsize i = 0; i < group->n_options; i++) {
    if (strcmp(group->options[i].name, name) == 0)
      return &group->options[i];
  }
  return NULL;
}

char *
tide_config_option_path(const char *path, const char *name)
{
  g_autofree char *quoted_path = tide_problem_quote(path);
  g_autofree char *quoted_name = tide_problem_quote(name);

  return g_strdup_printf("'%s%s%s'", quoted_path, *path != '\0' ? "." : "", quoted_name);
}

void
tide_config_group_set_defaults(const TideConfigGroup *group, gpointer base)
{
  TideConfigTarget target = {.base = base};

  for (gsize i = 0; i < group->n_options; i++) {
    const TideConfigOption *option = &group->options[i];
    g_autoptr(GError) error = NULL;
    if (option->type == TIDE_CONFIG_SECTION)
      tide_config_group_set_defaults(option->section, (guint8 *)base + option->offset);
    else if (option->type == TIDE_CONFIG_FIELD)
      *(TideNameId *)((guint8 *)base + option->offset) = TIDE_NAME_NONE;
    else if (option->type == TIDE_CONFIG_STRUCTURE)
      continue; /* its own function knows the default; the text is for the reference */
    else if (option->default_text != NULL && !tide_config_option_parse(option, option->default_text, &target, &error))
      g_error("default of '%s.%s': %s", group->path, option->name, error->message);
  }
}

void
tide_config_group_clear(const TideConfigGroup *group, gpointer base)
{
  for (gsize i = 0; i < group->n_options; i++) {
    const TideConfigOption *option = &group->options[i];
    if (option->type == TIDE_CONFIG_SECTION)
      tide_config_group_clear(option->section, member_of(option, base));
    else if (types[option->type].destroy != NULL && option->size > 0)
      clear_member(option, base);
  }
}
