/* sources: topics with their own readings; or the single source that kafka.topics and readings form. */
#include "config/config_source.h"
#include "config/load/load_table.h"
#include "config/option/nearest_name.h"
#include "config/option/option_table.h"
#include "config/topic_pattern.h"
#include "config/yaml/yaml_text.h"
#include "decode/avro_schema.h"
#include "decode/protobuf_schema.h"

#define NAME_MAX_BYTES 64 /* used in logs, labels and pages */

static TideConfigSource *
add_source(TideLoad *load, const char *name)
{
  TideConfigSource *source = g_new0(TideConfigSource, 1);
  source->index = load->config->sources->len;
  source->name = g_strdup(name);
  source->readings = name != NULL ? &source->own : &load->config->readings;
  g_ptr_array_add(load->config->sources, source);
  return source;
}

void
tide_load_free_source(TideConfigSource *source)
{
  if (source->conditions != NULL) {
    g_array_set_clear_func(source->conditions, (GDestroyNotify)tide_condition_clear);
    g_array_unref(source->conditions);
  }
  tide_registry_free(source->own.decode.schemas); /* borrows the settings of the configuration */
  tide_config_group_clear(&tide_source_options, source);
  tide_config_group_clear(&tide_readings_options, &source->own);
  tide_avro_schema_free(source->own.decode.schema);
  tide_protobuf_schema_free(source->own.decode.protobuf);
  g_clear_pointer(&source->own.decode.fields.steps, g_array_unref);
  tide_time_spec_clear(&source->own.time);
  g_free(source->name);
  g_free(source);
}

char *
tide_load_readings_path(const TideConfigSource *source)
{
  return source->name != NULL ? g_strdup_printf("sources.%s.readings", source->name) : g_strdup("readings");
}

/* ---- one source ---- */

static gboolean
check_name(TideLoad *load, const TideYamlNode *key)
{
  gboolean is_good = key->len > 0 && key->len <= NAME_MAX_BYTES;
  g_autofree char *shown = tide_yaml_quote(key);
  for (gsize i = 0; i < key->len; i++)
    is_good &= g_ascii_isalnum(key->text[i]) || key->text[i] == '_' || key->text[i] == '-';
  if (!is_good)
    tide_load_error(load, key, "'%s' is not a valid source name: use 1 to %d letters A to Z, digits, _ and -", shown,
                    NAME_MAX_BYTES);
  return is_good;
}

void
tide_load_check_patterns(TideLoad *load, const char *path, const TideYamlNode *node, char *const *topics)
{
  for (; topics != NULL && *topics != NULL; topics++) {
    g_autofree char *problem = tide_topic_pattern_problem(*topics);
    g_autofree char *shown = problem != NULL ? tide_problem_quote(*topics) : NULL;
    if (problem != NULL)
      tide_load_error(load, node, "'%s.topics' contains an invalid pattern, '%s': %s", path, shown, problem);
  }
}

/* Whether two patterns match the same topic depends on the existing topics; the first source then reads it. */
static void
check_topics_of(TideLoad *load, const TideConfigSource *source, const TideConfigSource *before,
                const TideYamlNode *node)
{
  for (char **topic = source->topics; topic != NULL && *topic != NULL; topic++)
    for (char **other = before->topics; other != NULL && *other != NULL; other++) {
      gboolean are_patterns = **topic == '^' && **other == '^'; /* neither is a topic that the other could match */
      if (strcmp(*topic, *other) != 0 && (are_patterns || (!tide_topic_pattern_matches(*topic, *other) &&
                                                           !tide_topic_pattern_matches(*other, *topic))))
        continue;
      g_autofree char *shown = tide_problem_quote(*topic);
      g_autofree char *shown_other = tide_problem_quote(*other);
      tide_load_error(
          load, node,
          "the sources '%s' (with '%s') and '%s' (with '%s') read the same topic: remove it from one of them",
          before->name, shown_other, source->name, shown);
    }
}

static void
load_source(TideLoad *load, const TideYamlNode *key, const TideYamlNode *node)
{
  if (!check_name(load, key))
    return;
  TideConfigSource *source = add_source(load, key->text);
  const TideYamlNode *topics = tide_yaml_get(node, "topics"), *readings = tide_yaml_get(node, "readings"),
                     *when = tide_yaml_get(node, "when");
  g_autofree char *path = g_strdup_printf("sources.%s", source->name), *when_path = g_strconcat(path, ".when", NULL),
                  *readings_path = tide_load_readings_path(source);
  TideConfigTarget target = {.base = source, .names = load->config->names, .problems = load->problems};
  tide_config_group_read(&tide_source_options, path, node, key->position, &target);
  target.base = &source->own;
  tide_config_group_set_defaults(&tide_readings_options, &source->own);
  tide_config_group_read(&tide_readings_options, readings_path, readings, TIDE_SOURCE_POSITION_FILE, &target);
  tide_load_readings(load, readings_path, readings, &source->own);
  if (when != NULL) {
    source->conditions = g_array_new(FALSE, FALSE, sizeof(TideCondition));
    tide_load_conditions(load, when_path, when, source->conditions);
  }
  tide_load_check_patterns(load, path, topics, source->topics);
  for (guint i = 0; i < source->index; i++)
    check_topics_of(load, source, g_ptr_array_index(load->config->sources, i), topics);
}

/* ---- all of them ---- */

static void
refuse_short_form(TideLoad *load, const char *path)
{
  if (tide_load_is_written(load, path))
    tide_load_option_error(load, path, "'%s' and 'sources' cannot be combined: move it to a source", path);
}

static void
load_named_sources(TideLoad *load, const TideYamlNode *node)
{
  gboolean is_mapping = node->kind == TIDE_YAML_MAPPING;
  refuse_short_form(load, "kafka.topics");
  refuse_short_form(load, "readings");
  if (!is_mapping || node->keys->len == 0 || node->keys->len > TIDE_CONFIG_MAX_SOURCES) {
    g_autofree char *got = is_mapping ? g_strdup_printf("%u", node->keys->len) : tide_yaml_describe(node);
    tide_load_error(load, node,
                    "'sources' must contain 1 to %d sources ('boards: { topics: ..., readings: ... }'), got %s",
                    TIDE_CONFIG_MAX_SOURCES, got);
    return;
  }
  for (guint i = 0; i < node->keys->len; i++)
    load_source(load, g_ptr_array_index(node->keys, i), g_ptr_array_index(node->values, i));
  GString *yaml = g_string_new(NULL);
  tide_yaml_append_node(yaml, node, 2, 2);
  load->config->sources_yaml = g_string_free(yaml, FALSE);
}

void
tide_load_sources(TideLoad *load)
{
  const TideYamlNode *node = tide_yaml_get(load->root, "sources");
  if (!tide_yaml_is_null(node)) {
    g_autoptr(GStrvBuilder) topics = g_strv_builder_new(); /* kafka.topics then contains the topics of all sources */
    load_named_sources(load, node);
    for (guint i = 0; i < load->config->sources->len; i++) {
      const TideConfigSource *source = g_ptr_array_index(load->config->sources, i);
      if (source->topics != NULL)
        g_strv_builder_addv(topics, (const char **)source->topics);
    }
    g_strfreev(load->config->kafka.topics);
    load->config->kafka.topics = g_strv_builder_end(topics);
  } else {
    tide_load_readings(load, "readings", tide_yaml_get(load->root, "readings"), &load->config->readings);
  }
  if (load->config->sources->len == 0)
    add_source(load, NULL); /* also after errors, so that the tables can be checked */
}

/* ---- of a table ---- */

static void
add_unknown_source(TideLoad *load, const char *path, const TideYamlNode *item)
{
  const GPtrArray *sources = load->config->sources;
  g_autofree const char **names = g_new0(const char *, sources->len + 1);
  g_autofree char *got = tide_yaml_describe(item);
  for (guint i = 0; i < sources->len; i++)
    names[i] = ((const TideConfigSource *)g_ptr_array_index(sources, i))->name;
  const char *nearest =
      item->kind == TIDE_YAML_SCALAR && names[0] != NULL ? tide_nearest_name(item->text, names) : NULL;
  if (nearest != NULL)
    tide_load_error(load, item, "'%s': there is no source %s; did you mean '%s'?", path, got, nearest);
  else
    tide_load_error(load, item, "'%s': there is no source %s: name one that 'sources' contains", path, got);
}

static guint64
bit_of(const TideLoad *load, const TideYamlNode *item)
{
  const GPtrArray *sources = load->config->sources;
  for (guint i = 0; item->kind == TIDE_YAML_SCALAR && i < sources->len; i++) {
    const TideConfigSource *source = g_ptr_array_index(sources, i);
    if (source->name != NULL && strcmp(source->name, item->text) == 0)
      return G_GUINT64_CONSTANT(1) << i;
  }
  return 0;
}

guint64
tide_load_table_sources(TideLoad *load, const char *path, const TideYamlNode *table)
{
  const TideYamlNode *node = tide_yaml_get(table, "sources");
  guint64 found = 0;
  if (node == NULL)
    return 0;
  for (guint i = 0; i < tide_yaml_n_items(node); i++) {
    const TideYamlNode *item = tide_yaml_item(node, i);
    guint64 bit = bit_of(load, item);
    found |= bit;
    if (bit == 0 && path != NULL)
      add_unknown_source(load, path, item);
  }
  if (path != NULL && tide_yaml_n_items(node) == 0)
    tide_load_error(load, node, "'%s' is empty: remove it to use all sources", path);
  return found;
}
