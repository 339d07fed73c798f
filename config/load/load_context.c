#include "config/load/load_context.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

char *
tide_load_path(const TideLoad *load, const char *path)
{
  return g_canonicalize_filename(path, load->config->directory);
}

void
tide_load_resolve(const TideLoad *load, char **path)
{
  if (*path == NULL)
    return;
  g_autofree char *written = *path;
  *path = tide_load_path(load, written);
}

gboolean
tide_load_is_written(const TideLoad *load, const char *path)
{
  return !tide_yaml_is_null(tide_yaml_find(load->root, path));
}

gboolean
tide_load_check_one_source(TideLoad *load, const char *path, const TideSecretSource *source, const char *what)
{
  g_autofree char *credential = g_strconcat(path, ".credential", NULL);
  if (source->file == NULL || source->credential == NULL)
    return TRUE;
  tide_load_option_error(load, credential, "'%s' has both 'file' and 'credential': %s from one of them only", path,
                         what);
  return FALSE;
}

void
tide_load_got_error(TideLoad *load, const TideYamlNode *node, const char *format, ...)
{
  va_list args;

  va_start(args, format);
  g_autofree char *text = g_strdup_vprintf(format, args);
  va_end(args);
  g_autofree char *got = tide_yaml_describe(node);
  tide_problems_add_error(load->problems, node != NULL ? node->position : TIDE_SOURCE_POSITION_FILE, "%s, got %s", text,
                          got);
}

void
tide_load_refuse_option(TideLoad *load, const char *path, const TideYamlNode *mapping, const char *option,
                        const char *reason)
{
  const TideYamlNode *node = tide_yaml_get(mapping, option);

  if (!tide_yaml_is_null(node))
    tide_load_error(load, node, "'%s.%s' has no effect %s: remove it", path, option, reason);
}

TideSourcePosition
tide_load_position(const TideLoad *load, const char *path)
{
  const TideYamlNode *node = tide_yaml_find(load->root, path);

  if (node != NULL)
    return node->position;
  const char *dot = strrchr(path, '.');
  if (dot == NULL)
    return TIDE_SOURCE_POSITION_FILE;
  g_autofree char *section = g_strndup(path, (gsize)(dot - path));
  return tide_load_position(load, section);
}

gboolean
tide_load_read_up_to(int fd, gsize max_bytes, GByteArray *bytes)
{
  guint8 chunk[4096];
  for (gssize n = 1; n != 0 && bytes->len < max_bytes;) {
    n = read(fd, chunk, MIN(sizeof chunk, max_bytes - bytes->len));
    if (n < 0 && errno != EINTR)
      return FALSE;
    g_byte_array_append(bytes, chunk, (guint)MAX(n, 0));
  }
  return TRUE;
}

GByteArray *
tide_load_file_begin(const char *path, gsize max_bytes, char **ret_reason)
{
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  struct stat status;
  g_autoptr(GByteArray) bytes = g_byte_array_new();

  gboolean is_open = fd >= 0 && fstat(fd, &status) == 0;
  if (is_open && !S_ISREG(status.st_mode))
    *ret_reason = g_strdup("it is not a regular file");
  else if (!is_open || !tide_load_read_up_to(fd, max_bytes, bytes))
    *ret_reason = g_strdup(g_strerror(errno));
  if (fd >= 0)
    (void)close(fd);
  return *ret_reason == NULL ? g_steal_pointer(&bytes) : NULL;
}

GByteArray *
tide_load_file(const char *path, gsize max_bytes, char **ret_reason)
{
  g_autoptr(GByteArray) bytes = tide_load_file_begin(path, max_bytes + 1, ret_reason);
  if (bytes == NULL || bytes->len <= max_bytes)
    return g_steal_pointer(&bytes);
  *ret_reason = g_strdup_printf("it is larger than %" G_GSIZE_FORMAT " bytes", max_bytes);
  return NULL;
}

GByteArray *
tide_load_decode_hex(const char *digits, gsize len)
{
  g_auto(TideBuffer) bytes = {0};

  if (len == 0 || !tide_bytes_from_hex(digits, len, &bytes))
    return NULL;
  return g_byte_array_append(g_byte_array_new(), bytes.data, (guint)bytes.len);
}

gboolean
tide_load_hex(TideLoad *load, const char *path, const TideYamlNode *node, TideBytes *ret_bytes)
{
  gboolean is_text = node != NULL && node->kind == TIDE_YAML_SCALAR;
  g_autoptr(GByteArray) bytes = is_text ? tide_load_decode_hex(node->text, node->len) : NULL;

  if (bytes == NULL) {
    g_autofree char *shown = tide_problem_quote(path);
    tide_load_got_error(load, node, "'%s.hex' must be pairs of hexadecimal digits such as \"00ff\"", shown);
    return FALSE;
  }
  gsize len = bytes->len;
  guint8 *data = g_byte_array_free(g_steal_pointer(&bytes), FALSE);
  g_ptr_array_add(load->scratch, data);
  *ret_bytes = tide_bytes(data, len);
  return TRUE;
}

gboolean
tide_load_bytes(TideLoad *load, const char *path, const TideYamlNode *node, TideBytes *ret_bytes)
{
  const TideYamlNode *hex = tide_yaml_get(node, "hex");

  if (node->kind == TIDE_YAML_SCALAR && !tide_yaml_is_null(node)) {
    *ret_bytes = tide_bytes(node->text, node->len);
    return TRUE;
  }
  if (hex != NULL && node->keys->len == 1)
    return tide_load_hex(load, path, hex, ret_bytes);
  g_autofree char *shown = tide_problem_quote(path);
  tide_load_got_error(load, node, "'%s' must be a text or { hex: \"00ff\" }", shown);
  return FALSE;
}
