#include "config/config_source.h"

#include "config/topic_pattern.h"
#include "util/error.h"

static const TideConfigSource *
source_at(const TideConfig *config, guint index)
{
  return g_ptr_array_index(config->sources, index);
}

static gboolean
names(const TideConfigSource *source, const char *topic)
{
  return source->topics != NULL && g_strv_contains((const char *const *)source->topics, topic);
}

const TideConfigSource *
tide_config_source_of_topic(const TideConfig *config, TideBytes topic)
{
  g_autofree char *name = g_strndup((const char *)topic.data, topic.len);
  if (config->sources->len == 1)
    return source_at(config, 0);
  for (guint i = 0; i < config->sources->len; i++)
    if (names(source_at(config, i), name))
      return source_at(config, i);
  for (guint i = 0; i < config->sources->len; i++)
    if (tide_topic_pattern_any_matches(source_at(config, i)->topics, name))
      return source_at(config, i);
  return NULL;
}

const char *
tide_config_source_name(const TideConfig *config, const char *topic)
{
  const TideConfigSource *source = tide_config_source_of_topic(config, tide_bytes_of_string(topic));
  return source != NULL ? source->name : NULL;
}

gboolean
tide_config_check_topic(const TideConfig *config, const char *topic, GError **error)
{
  if (config->sources->len == 1 ||
      (topic != NULL && tide_config_source_of_topic(config, tide_bytes_of_string(topic)) != NULL))
    return TRUE;
  if (topic == NULL)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE,
                "'%s' has %u sources with different formats: name the topic with '--topic'", config->path,
                config->sources->len);
  else
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE,
                "no source of '%s' reads the topic '%s': give '--topic' a topic of one of its sources", config->path,
                topic);
  return FALSE;
}

gboolean
tide_config_takes_from(const TideTable *table, const TideConfigSource *source)
{
  return table->sources == 0 || (table->sources >> source->index & 1) != 0;
}

const TideTimeSpec *
tide_config_time_of(const TideTable *table, const TideConfigSource *source)
{
  return table->time != NULL ? table->time : &source->readings->time;
}

const TideConfigSource *
tide_config_first_source(const TideConfig *config, const TideTable *table)
{
  for (guint i = 0; i < config->sources->len; i++)
    if (tide_config_takes_from(table, source_at(config, i)))
      return source_at(config, i);
  return source_at(config, 0);
}

guint32
tide_config_max_message_bytes(const TideConfig *config)
{
  guint32 max_bytes = 0;
  for (guint i = 0; i < config->sources->len; i++)
    max_bytes = MAX(max_bytes, source_at(config, i)->readings->decode.max_message_bytes);
  return max_bytes;
}

gboolean
tide_config_keeps_bad_messages(const TideConfig *config)
{
  for (guint i = 0; i < config->sources->len; i++)
    if (source_at(config, i)->readings->on_bad_message != TIDE_BAD_MESSAGE_STOP)
      return TRUE;
  return FALSE;
}
