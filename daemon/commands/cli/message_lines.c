#include "commands/cli/message_lines.h"

#include "decode/avro_container.h"
#include "util/error.h"

#include <errno.h>
#include <stdlib.h>

#define READ_BYTES 65536

gboolean
tide_message_lines_read(FILE *stream, const char *name, TideMessageLineFunc func, gpointer data, GError **error)
{
  char *line = NULL;
  size_t capacity = 0;
  ssize_t len;
  GError *failure = NULL;
  gboolean wanted = TRUE;
  errno = 0;
  while (wanted && (len = getline(&line, &capacity, stream)) >= 0) {
    wanted = func(tide_bytes(line, (gsize)len - (line[len - 1] == '\n' ? 1 : 0)), data, &failure);
    errno = 0;
  }
  int cause = errno;
  free(line);
  if (failure != NULL) {
    g_propagate_error(error, failure);
    return FALSE;
  }
  if (!wanted || !ferror(stream))
    return TRUE;
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_IO, "cannot read %s: %s", name, g_strerror(cause));
  return FALSE;
}

gboolean
tide_message_read_whole(FILE *stream, const char *name, TideMessageLineFunc func, gpointer data, GError **error)
{
  g_auto(TideBuffer) message = {0};
  size_t n;
  while ((n = fread(tide_buffer_reserve(&message, READ_BYTES), 1, READ_BYTES, stream)) > 0)
    message.len += n;
  if (!ferror(stream) && tide_avro_is_container(tide_buffer_bytes(&message))) { /* none of the formats begins so */
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA,
                "%s is an object container file, which is read by its name, and by 'init' and 'load' alone ('load "
                "--dry-run' says what would become of it); one message is wanted here",
                name);
    return FALSE;
  }
  if (!ferror(stream)) {
    GError *failure = NULL;
    gboolean wanted = func(tide_buffer_bytes(&message), data, &failure);
    if (failure != NULL)
      g_propagate_error(error, failure);
    return wanted || failure == NULL;
  }
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_IO, "cannot read %s: %s", name, g_strerror(errno));
  return FALSE;
}

gboolean
tide_message_is_whole(const TideDecodeOptions *decode)
{
  switch (decode->format) {
  case TIDE_FORMAT_MSGPACK:
  case TIDE_FORMAT_AVRO:
  case TIDE_FORMAT_PROTOBUF:
    return TRUE;
  case TIDE_FORMAT_CSV:
    return decode->csv.header;
  case TIDE_FORMAT_JSON:
  case TIDE_FORMAT_INFLUX:
    return FALSE;
  }
  return FALSE;
}
