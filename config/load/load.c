/* Loads a configuration: reads the file, parses it, and lets each piece check and compile its part. */
#include "config/load/load_pieces.h"

#include "config/option/option_table.h"
#include "config/yaml/secret.h"
#include "decode/avro_schema.h"
#include "decode/protobuf_schema.h"
#include "model/table/dated_table.h"
#include "util/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void
clear_property(gpointer data)
{
  TideKafkaProperty *property = data;

  g_free(property->name);
  if (property->secret)
    tide_secret_free(property->value);
  else
    g_free(property->value);
}

static TideConfig *
new_config(const char *name)
{
  TideConfig *config = g_new0(TideConfig, 1);

  config->path = g_strdup(name);
  config->names = tide_field_names_new();
  config->notices = tide_problems_new();
  config->sources = g_ptr_array_new_with_free_func((GDestroyNotify)tide_load_free_source);
  config->tables = g_ptr_array_new_with_free_func((GDestroyNotify)tide_table_free);
  config->instances = g_ptr_array_new_with_free_func((GDestroyNotify)tide_dated_table_free);
  config->past_gateways = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
  config->kafka.properties = g_array_new(FALSE, TRUE, sizeof(TideKafkaProperty));
  g_array_set_clear_func(config->kafka.properties, clear_property);
  tide_config_group_set_defaults(&tide_config_top, config);
  return config;
}

void
tide_config_free(TideConfig *config)
{
  if (config == NULL)
    return;
  tide_registry_free(config->readings.decode.schemas); /* borrows the settings of the configuration */
  tide_config_group_clear(&tide_config_top, config);
  tide_time_spec_clear(&config->readings.time);
  tide_avro_schema_free(config->readings.decode.schema);
  tide_protobuf_schema_free(config->readings.decode.protobuf);
  g_clear_pointer(&config->readings.decode.fields.steps, g_array_unref);
  g_free(config->service.http_listen); /* stored by the option's own function */
  g_clear_pointer(&config->kafka.properties, g_array_unref);
  g_clear_pointer(&config->instances, g_ptr_array_unref);
  g_clear_pointer(&config->tables, g_ptr_array_unref);
  g_clear_pointer(&config->sources, g_ptr_array_unref);
  g_clear_pointer(&config->past_gateways, g_ptr_array_unref);
  g_clear_pointer(&config->notices, g_ptr_array_unref);
  g_clear_pointer(&config->names, tide_field_names_free);
  g_free(config->directory);
  g_free(config->path);
  g_free(config);
}

/* A field that no message can have would reject every message. */
static void
check_tags(const TideLoad *load)
{
  const TideConfig *config = load->config;
  if (tide_field_names_find(config->names, TIDE_BYTES_LITERAL(TIDE_FIELD_TAGS)) == TIDE_NAME_NONE)
    return;
  for (guint i = 0; i < config->sources->len; i++)
    if (((const TideConfigSource *)g_ptr_array_index(config->sources, i))->readings->decode.format ==
        TIDE_FORMAT_INFLUX)
      return;
  tide_problems_add_error(
      load->problems, TIDE_SOURCE_POSITION_FILE,
      "'" TIDE_FIELD_TAGS
      "' needs the tags of a line, but only line protocol has tags: set 'format: influx', or name the fields");
}

static void
load_tree(TideLoad *load)
{
  TideConfigTarget target = {
      .base = load->config, .names = load->config->names, .problems = load->problems, .top = &tide_config_top};
  if (tide_load_is_written(load, "sources"))
    target.waived = "kafka.topics";

  tide_config_group_read(&tide_config_top, "", load->root, TIDE_SOURCE_POSITION_FILE, &target);
  if (load->root->kind != TIDE_YAML_MAPPING)
    return;
  /* Options can only contradict each other if each value is valid. */
  gboolean is_good = tide_problems_n_errors(load->problems) == 0;
  tide_load_resolve(load, &load->config->dead_letters.file);
  tide_load_kafka_properties(load);
  tide_load_gateway_links(load);
  tide_load_http(load);
  tide_load_sources(load);
  tide_load_times(load);
  tide_load_tables(load);
  check_tags(load);
  if (is_good)
    tide_load_check_options(load);
}

static void
put_in(TideYamlNode *node, const TideYamlNode *variable, GPtrArray *problems)
{
  const char *text = g_getenv(variable->text);
  const char *fault = text == NULL                       ? "is not set"
                      : *text == '\0'                    ? "is empty"
                      : !g_utf8_validate(text, -1, NULL) ? "is not UTF-8 text"
                                                         : NULL;
  if (fault != NULL) {
    g_autofree char *name = tide_problem_quote(variable->text);
    tide_problems_add_error(
        problems, variable->position,
        "the environment variable '%s' %s: set it for the process (Environment= of the unit, -e of a container)", name,
        fault);
    text = "";
  }
  /* As if quoted: its text is not parsed as YAML. */
  node->kind = TIDE_YAML_SCALAR;
  node->text = g_strdup(text);
  node->len = strlen(text);
  node->is_quoted = TRUE;
  g_clear_pointer(&node->keys, g_ptr_array_unref);
  g_clear_pointer(&node->values, g_ptr_array_unref); /* last, because the variable is part of it */
}

/* Replaces each `{ env: NAME }` in @node by the variable's text, as if it were quoted. Keys of secrets are excluded:
 * they have files and credentials (secret.h), while other users may read the environment of a process. A variable that
 * is not set, empty or not UTF-8 is added to @problems. */
static void
put_in_environment(TideYamlNode *node, GPtrArray *problems)
{
  const TideYamlNode *variable =
      node->kind == TIDE_YAML_MAPPING && node->keys->len == 1 ? tide_yaml_get(node, "env") : NULL;
  if (variable != NULL && variable->kind == TIDE_YAML_SCALAR && !tide_yaml_is_null(variable)) {
    put_in(node, variable, problems);
    return;
  }
  for (guint i = 0; node->kind != TIDE_YAML_SCALAR && i < node->values->len; i++) {
    const TideYamlNode *key = node->keys != NULL ? g_ptr_array_index(node->keys, i) : NULL;
    if (key == NULL || !tide_secret_is_name(key->text))
      put_in_environment(g_ptr_array_index(node->values, i), problems);
  }
}

static TideConfig *
load_text(const char *name, TideBytes text, gboolean has_mode, guint mode, GPtrArray *problems)
{
  g_autoptr(TideYamlNode) root = tide_yaml_parse(text, problems);

  if (root == NULL)
    return NULL;
  guint n_errors = tide_problems_n_errors(problems);
  put_in_environment(root, problems);
  if (tide_problems_n_errors(problems) > n_errors)
    return NULL;
  g_autoptr(TideConfig) config = new_config(name);
  if (has_mode && strcmp(name, "/dev/stdin") != 0) {
    g_autofree char *path = g_canonicalize_filename(name, NULL);
    config->directory = g_path_get_dirname(path);
  }
  g_autoptr(GPtrArray) scratch = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GPtrArray) zones = g_ptr_array_new_with_free_func((GDestroyNotify)g_time_zone_unref);
  TideLoad load = {.config = config,
                   .root = root,
                   .problems = problems,
                   .has_mode = has_mode,
                   .mode = mode,
                   .scratch = scratch,
                   .zones = zones};
  load_tree(&load);
  tide_problems_sort(problems);
  tide_problems_sort(config->notices);
  return tide_problems_n_errors(problems) == 0 ? g_steal_pointer(&config) : NULL;
}

TideConfig *
tide_config_load_text(const char *name, TideBytes text, GPtrArray **ret_problems)
{
  *ret_problems = tide_problems_new();
  return load_text(name, text, FALSE, 0, *ret_problems);
}

static TideConfig *
load_fd(const char *path, int fd, gboolean is_stdin, GPtrArray *problems)
{
  g_autoptr(GByteArray) text = g_byte_array_new();
  struct stat status;

  if (fstat(fd, &status) != 0) {
    tide_problems_add_error(problems, TIDE_SOURCE_POSITION_FILE, "cannot be read: %s", g_strerror(errno));
    return NULL;
  }
  if (!S_ISREG(status.st_mode) && (!is_stdin || S_ISDIR(status.st_mode))) {
    tide_problems_add_error(problems, TIDE_SOURCE_POSITION_FILE,
                            "%s: give the path of a configuration, or /dev/stdin to read it from standard input",
                            S_ISDIR(status.st_mode) ? "is a directory" : "is not a regular file");
    return NULL;
  }
  /* One byte above the limit, so that the parser can report that it is too large. */
  if (!tide_load_read_up_to(fd, TIDE_YAML_MAX_BYTES + 1, text)) {
    tide_problems_add_error(problems, TIDE_SOURCE_POSITION_FILE, "cannot be read: %s", g_strerror(errno));
    return NULL;
  }
  return load_text(path, tide_bytes(text->data, text->len), S_ISREG(status.st_mode), status.st_mode & 07777u, problems);
}

TideConfig *
tide_config_load(const char *path, GPtrArray **ret_problems)
{
  GPtrArray *problems = tide_problems_new();
  gboolean is_stdin = strcmp(path, "/dev/stdin") == 0;
  /* Non-blocking, so that opening a FIFO fails instead of waiting for a writer. */
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (is_stdin ? 0 : O_NONBLOCK));

  *ret_problems = problems;
  if (fd < 0) {
    tide_problems_add_error(
        problems, TIDE_SOURCE_POSITION_FILE, "cannot be opened: %s%s", g_strerror(errno),
        errno == ENOENT
            ? ": name the configuration with '-c FILE', or create one from sample messages with 'tidemark init'"
            : "");
    return NULL;
  }
  TideConfig *config = load_fd(path, fd, is_stdin, problems);
  close(fd);
  return config;
}
