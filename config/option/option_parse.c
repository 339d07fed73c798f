#include "config/option/option_parse.h"

#include "config/option/option_value.h"
#include "model/time/time_pattern.h"
#include "thrift/client/endpoint.h"
#include "util/error.h"

/* No name or address that is meant is longer. */
#define MAX_STRING_BYTES 4096
#define TOPIC_MAX_BYTES 249 /* Kafka's limit: it is the name of a folder, with the partition behind it */

static gpointer
member_of(const TideConfigOption *option, gpointer base)
{
  return (guint8 *)base + option->offset;
}

static void
store_number(const TideConfigOption *option, gpointer base, gint64 value)
{
  if (option->size == sizeof(gint64)) {
    *(gint64 *)member_of(option, base) = value;
  } else {
    g_assert(option->size == sizeof(gint32));
    *(guint32 *)member_of(option, base) = (guint32)value;
  }
}

/* DURATION is stored in seconds where the place is small: HBase counts a family's time to live so. */
static gboolean
is_in_seconds(const TideConfigOption *option)
{
  return option->type == TIDE_CONFIG_DURATION && option->size == sizeof(gint32);
}

static void
store_string(const TideConfigOption *option, gpointer base, const char *text)
{
  char **member = member_of(option, base);

  g_free(*member);
  *member = g_strdup(text);
}

static gboolean
store_in_range(const TideConfigOption *option, gpointer base, gint64 value, GError **error)
{
  if (value < option->min || value > option->max) {
    g_autofree char *range = tide_config_option_describe_range(option);
    return tide_fail(error, TIDE_ERROR_CONFIG, "must be %s", range);
  }
  if (is_in_seconds(option)) {
    if (value % 1000 != 0)
      return tide_fail(error, TIDE_ERROR_CONFIG, "must be whole seconds");
    value /= 1000;
  }
  store_number(option, base, value);
  return TRUE;
}

/* 0: none, or one that switches it off */
static gint64
default_duration(const TideConfigOption *option)
{
  gint64 default_ms = 0;

  if (option->default_text == NULL || !tide_duration_parse(option->default_text, 0, 0, &default_ms, NULL))
    return 0;
  return default_ms;
}

static gboolean
parse_number(const TideConfigOption *option, const char *text, gpointer base, GError **error)
{
  guint64 number = 0;
  gint64 value = 0;

  if (option->type == TIDE_CONFIG_DURATION) {
    if (!tide_duration_parse(text, default_duration(option), option->max, &value, error))
      return FALSE;
  } else if (option->type == TIDE_CONFIG_TIME) {
    if (!tide_epoch_parse(text, &value, error))
      return FALSE;
  } else {
    gboolean is_size = option->type == TIDE_CONFIG_SIZE;
    if (!(is_size ? tide_size_parse(text, &number, error) : tide_number_parse(text, &number, NULL)))
      return !is_size &&
             tide_fail(error, TIDE_ERROR_CONFIG, "must be a number, %" G_GINT64_FORMAT "..%" G_GINT64_FORMAT,
                       option->min, option->max);
    value = (gint64)MIN(number, (guint64)G_MAXINT64);
  }
  return store_in_range(option, base, value, error);
}

static gboolean
parse_boolean(const TideConfigOption *option, const char *text, gpointer base, GError **error)
{
  gboolean value = strcmp(text, "true") == 0;

  if (!value && strcmp(text, "false") != 0)
    return tide_fail(error, TIDE_ERROR_CONFIG, "must be true or false");
  *(gboolean *)member_of(option, base) = value;
  return TRUE;
}

static gboolean
parse_choice(const TideConfigOption *option, const char *text, gpointer base, GError **error)
{
  g_autoptr(GString) names = g_string_new(NULL);

  for (const TideConfigChoice *choice = option->choices; choice->name != NULL; choice++) {
    if (strcmp(choice->name, text) == 0) {
      *(int *)member_of(option, base) = choice->value;
      return TRUE;
    }
    g_string_append_printf(names, "%s%s", names->len > 0 ? ", " : "", choice->name);
  }
  return tide_fail(error, TIDE_ERROR_CONFIG, "must be one of %s", names->str);
}

gboolean
tide_config_option_check_no_variable(const char *text, GError **error)
{
  if (strstr(text, "${") == NULL)
    return TRUE;
  return tide_fail(error, TIDE_ERROR_CONFIG,
                   "must be written out, or as { env: NAME } to take an environment variable");
}

gboolean
tide_config_option_check_field_name(const char *name, gsize len, GError **error)
{
  TideBytes bytes = tide_bytes(name, len);

  if (len == 0)
    return tide_fail(error, TIDE_ERROR_CONFIG, "must be the name of a field");
  if (name[0] == '$' && !tide_field_name_is_of_record(bytes))
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "must be one of the record's own fields, which are $key, $topic, $partition, $offset, "
                     "$timestamp and $header.NAME, or $tags, all tags of a line");
  return TRUE;
}

static gboolean
parse_field(const TideConfigOption *option, const char *text, gpointer base, TideFieldNames *names, GError **error)
{
  if (!tide_config_option_check_field_name(text, strlen(text), error))
    return FALSE;
  TideNameId id = tide_field_names_intern(names, tide_bytes_of_string(text));
  if (id == TIDE_NAME_NONE)
    return tide_fail(error, TIDE_ERROR_CONFIG, "is one field too many");
  *(TideNameId *)member_of(option, base) = id;
  return TRUE;
}

/* GLib opens a file by this name, and takes some names for the machine's own zone, which would make two
 * machines read one message differently. */
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
parse_zone(const TideConfigOption *option, const char *text, gpointer base, GError **error)
{
  GTimeZone *zone = is_zone_name(text) ? g_time_zone_new_identifier(text) : NULL;
  GTimeZone **member = member_of(option, base);

  if (zone == NULL)
    return tide_fail(error, TIDE_ERROR_CONFIG,
                     "must be a time zone that this machine knows, such as Europe/Berlin, UTC or \"+02:00\"");
  g_clear_pointer(member, g_time_zone_unref);
  *member = zone;
  return TRUE;
}

static gboolean
parse_pattern(const TideConfigOption *option, const char *text, gpointer base, GError **error)
{
  gboolean has_date = FALSE;
  g_autoptr(GError) reason = NULL;

  if (!tide_time_pattern_check(text, &has_date, &reason))
    return tide_fail(error, TIDE_ERROR_CONFIG, "cannot be used: %s", reason->message);
  store_string(option, base, text);
  return TRUE;
}

static gboolean
parse_string(const TideConfigOption *option, const char *text, gpointer base, GError **error)
{
  if (*text == '\0' || strlen(text) > MAX_STRING_BYTES)
    return tide_fail(error, TIDE_ERROR_CONFIG, "must be a text of 1 to %d bytes", MAX_STRING_BYTES);
  if (!tide_config_option_check_no_variable(text, error))
    return FALSE;
  store_string(option, base, text);
  return TRUE;
}

gboolean
tide_config_option_parse(const TideConfigOption *option, const char *text, const TideConfigTarget *target,
                         GError **error)
{
  gpointer base = target->base;

  switch (option->type) {
  case TIDE_CONFIG_STRING:
    return parse_string(option, text, base, error);
  case TIDE_CONFIG_INTEGER:
  case TIDE_CONFIG_DURATION:
  case TIDE_CONFIG_SIZE:
  case TIDE_CONFIG_TIME:
    return parse_number(option, text, base, error);
  case TIDE_CONFIG_BOOLEAN:
    return parse_boolean(option, text, base, error);
  case TIDE_CONFIG_CHOICE:
    return parse_choice(option, text, base, error);
  case TIDE_CONFIG_FIELD:
    return parse_field(option, text, base, target->names, error);
  case TIDE_CONFIG_ZONE:
    return parse_zone(option, text, base, error);
  case TIDE_CONFIG_PATTERN:
    return parse_pattern(option, text, base, error);
  case TIDE_CONFIG_CUSTOM:
    return option->parse(text, base, error);
  case TIDE_CONFIG_TOPICS:
  case TIDE_CONFIG_TEXTS:
  case TIDE_CONFIG_BROKERS:
  case TIDE_CONFIG_GATEWAYS:
  case TIDE_CONFIG_SECTION:
  case TIDE_CONFIG_STRUCTURE:
    break;
  }
  g_assert_not_reached();
}

TideConfigItems
tide_config_option_items_new(void)
{
  return (TideConfigItems){
      .texts = g_ptr_array_new_with_free_func(g_free),
      .gateways = g_ptr_array_new_with_free_func((GDestroyNotify)tide_endpoint_free),
  };
}

void
tide_config_option_items_clear(TideConfigItems *items)
{
  g_clear_pointer(&items->texts, g_ptr_array_unref);
  g_clear_pointer(&items->gateways, g_ptr_array_unref);
}

/* A broker as librdkafka takes it: "host", "host:port", "[v6]:port", with "PROTOCOL://" in front or not. */
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
add_gateway(GPtrArray *gateways, const char *text, GError **error)
{
  g_autoptr(GError) reason = NULL;
  TideEndpoint *endpoint = tide_endpoint_parse(text, &reason);

  if (endpoint == NULL)
    return tide_fail(error, TIDE_ERROR_CONFIG, "has an address that cannot be used (%s)", reason->message);
  g_ptr_array_add(gateways, endpoint);
  return TRUE;
}

/* A name by Kafka's rules, or a pattern, which only librdkafka can read. */
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
                   "must be names of letters, digits, . _ and -, of at most %d bytes, or patterns that begin with ^",
                   TOPIC_MAX_BYTES);
}

gboolean
tide_config_option_add_item(const TideConfigOption *option, TideConfigItems *items, const char *text, GError **error)
{
  if ((*text == '\0' && option->type != TIDE_CONFIG_TEXTS) || strlen(text) > MAX_STRING_BYTES)
    return tide_fail(error, TIDE_ERROR_CONFIG, "has an item that is empty or longer than %d bytes", MAX_STRING_BYTES);
  /* A repeated item would do nothing, or ask for double: a mistake either way. */
  if (g_ptr_array_find_with_equal_func(items->texts, text, g_str_equal, NULL))
    return tide_fail(error, TIDE_ERROR_CONFIG, "has an item twice");
  if (option->type == TIDE_CONFIG_TOPICS && !check_topic(text, error))
    return FALSE;
  if (option->type == TIDE_CONFIG_BROKERS && !check_broker(text, error))
    return FALSE;
  if (option->type == TIDE_CONFIG_GATEWAYS && !add_gateway(items->gateways, text, error))
    return FALSE;
  g_ptr_array_add(items->texts, g_strdup(text));
  return TRUE;
}

static void
store_texts(const TideConfigOption *option, GPtrArray *texts, gpointer base)
{
  g_auto(GStrv) list = g_new0(char *, texts->len + 1);

  for (guint i = 0; i < texts->len; i++)
    list[i] = g_strdup(g_ptr_array_index(texts, i));
  if (option->type == TIDE_CONFIG_BROKERS) {
    g_autofree char *joined = g_strjoinv(",", list);
    store_string(option, base, joined);
    return;
  }
  char ***member = member_of(option, base);
  g_strfreev(*member);
  *member = g_steal_pointer(&list);
}

void
tide_config_option_store_items(const TideConfigOption *option, TideConfigItems *items, gpointer base)
{
  if (option->type != TIDE_CONFIG_GATEWAYS) {
    store_texts(option, items->texts, base);
    return;
  }
  GPtrArray **member = member_of(option, base);
  g_clear_pointer(member, g_ptr_array_unref);
  *member = g_ptr_array_ref(items->gateways);
}
