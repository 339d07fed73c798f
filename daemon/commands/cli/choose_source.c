#include "commands/cli/choose_source.h"

#include "decode/avro_container.h"
#include "util/error.h"

#include <string.h>

static TideConfigSource *
find_source(const TideConfig *config, const char *name, GError **error)
{
  g_autoptr(GString) names = g_string_new(NULL);
  if (name == NULL && config->sources->len == 1)
    return config->sources->pdata[0];
  for (guint i = 0; i < config->sources->len; i++) {
    TideConfigSource *source = config->sources->pdata[i];
    if (source->name == NULL)
      continue;
    if (name != NULL && strcmp(source->name, name) == 0)
      return source;
    g_string_append_printf(names, "%s'%s'", names->len > 0 ? ", " : "", source->name);
  }
  if (names->len == 0)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "'--source %s': the configuration has no 'sources'", name);
  else
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_USAGE, "'--source' says which of the sources the files are of: %s",
                names->str);
  return NULL;
}

/* A file of Avro's says its schema itself, and so does each of its records. */
static void
read_containers(TideConfig *config, TideConfigSource *source)
{
  TideDecodeOptions *decode = source->readings == &source->own ? &source->own.decode : &config->readings.decode;
  decode->containers = TRUE;
  decode->max_message_bytes = MIN(decode->max_message_bytes, G_MAXUINT32 - TIDE_AVRO_HEAD_MAX_BYTES);
  decode->max_message_bytes += TIDE_AVRO_HEAD_MAX_BYTES;
}

TideConfigSource *
tide_command_choose_source(TideConfig *config, const char *name, GError **error)
{
  TideConfigSource *source = find_source(config, name, error);
  if (source == NULL)
    return NULL;
  if (source->readings->decode.format == TIDE_FORMAT_AVRO)
    read_containers(config, source);
  for (guint i = config->sources->len; i > 0; i--)
    if (g_ptr_array_index(config->sources, i - 1) != source) {
      g_ptr_array_remove_index(config->sources, i - 1);
      config->is_narrowed = TRUE;
    }
  return source;
}
