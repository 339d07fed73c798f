/* Split points of a table at creation: listed in the configuration or in a file, or computed. */
#include "config/load/load_table.h"

#include <string.h>

#define MAX_POINTS 9999                  /* one less than the maximum of `regions` */
#define FILE_MAX_BYTES (4 * 1024 * 1024) /* 400 bytes for each of the maximum number of points */
#define HEX_PREFIX "hex:"

/* Position of a split point in its file, for error messages. */
typedef struct PointSource {
  TideSourcePosition position;
  const char *where; /* "'tables.T.splits'", or "'splits.txt', line 3," */
} PointSource;

/* Appends a copy of @point, which must sort after the previous one. FALSE with the error added. */
static gboolean
add_point(TideLoad *load, PointSource source, TideBytes point, GArray *splits)
{
  if (point.len == 0 || point.len > TIDE_ROW_KEY_MAX_BYTES) {
    tide_problems_add_error(load->problems, source.position, "%s contains a point of %zu bytes, must be 1..%d",
                            source.where, point.len, TIDE_ROW_KEY_MAX_BYTES);
    return FALSE;
  }
  if (splits->len > 0 && tide_bytes_compare(g_array_index(splits, TideBytes, splits->len - 1), point) >= 0) {
    g_autofree char *shown = tide_bytes_printable(point);
    tide_problems_add_error(load->problems, source.position,
                            "%s: '%s' does not sort after the previous point, by unsigned bytes", source.where, shown);
    return FALSE;
  }
  if (splits->len == MAX_POINTS) {
    tide_problems_add_error(load->problems, source.position,
                            "%s has more than %d points: HBase creates no more regions", source.where, MAX_POINTS);
    return FALSE;
  }
  TideBytes copy = tide_bytes(g_memdup2(point.data, point.len), point.len);
  g_array_append_val(splits, copy);
  return TRUE;
}

/* FALSE with the error added. */
static gboolean
add_line(TideLoad *load, PointSource source, TideBytes line, GArray *splits)
{
  g_autoptr(GByteArray) bytes = NULL;
  gsize prefix_len = strlen(HEX_PREFIX);

  if (line.len > 0 && line.data[line.len - 1] == '\r') {
    tide_problems_add_error(
        load->problems, source.position,
        "%s ends in a carriage return, which would be part of the point: save the file with Unix line ends",
        source.where);
    return FALSE;
  }
  if (line.len < prefix_len || memcmp(line.data, HEX_PREFIX, prefix_len) != 0)
    return add_point(load, source, line, splits);
  bytes = tide_load_decode_hex((const char *)line.data + prefix_len, line.len - prefix_len);
  if (bytes == NULL) {
    tide_problems_add_error(load->problems, source.position,
                            "%s starts with 'hex:', but no pairs of hexadecimal digits follow", source.where);
    return FALSE;
  }
  return add_point(load, source, tide_bytes(bytes->data, bytes->len), splits);
}

/* Stops at the first invalid line, because the later ones would only repeat its error. */
static void
load_lines(TideTableLoad *it, TideSourcePosition position, const char *path, TideBytes text, GArray *splits)
{
  const guint8 *at = text.data;
  const guint8 *end = at + text.len;
  g_autofree char *shown = tide_problem_quote(path);

  for (guint number = 1; at < end; number++) {
    const guint8 *newline = memchr(at, '\n', (gsize)(end - at));
    const guint8 *line_end = newline != NULL ? newline : end;
    g_autofree char *where = g_strdup_printf("'%s', line %u,", shown, number);
    if (!add_line(it->load, (PointSource){position, where}, tide_bytes(at, (gsize)(line_end - at)), splits))
      return;
    at = line_end + 1;
  }
}

/* { file: PATH } */
static void
load_file(TideTableLoad *it, const TideYamlNode *node, GArray *splits)
{
  TideSplitsDraft draft = {0};
  TideConfigTarget target = {.base = &draft, .problems = it->load->problems};
  g_autofree char *options_path = g_strconcat(it->path, ".splits", NULL);
  g_autofree char *reason = NULL;

  tide_config_group_read(&tide_splits_options, options_path, node, node->position, &target);
  if (draft.file == NULL)
    return; /* already reported: it is required */
  TideSourcePosition position = tide_yaml_get(node, "file")->position;
  g_autofree char *path = tide_load_path(it->load, draft.file);
  g_autofree char *shown = tide_problem_quote(path);
  g_autoptr(GByteArray) bytes = tide_load_file(path, FILE_MAX_BYTES, &reason);
  if (bytes == NULL)
    tide_problems_add_error(it->load->problems, position, "cannot read the split points in '%s': %s", shown, reason);
  else if (bytes->len == 0)
    tide_problems_add_error(it->load->problems, position,
                            "'%s' is empty: write one split point per line, or remove 'splits'", shown);
  else
    load_lines(it, position, path, tide_bytes(bytes->data, bytes->len), splits);
  tide_config_group_clear(&tide_splits_options, &draft);
}

static GArray *
load_declared(TideTableLoad *it, const TideYamlNode *node)
{
  GArray *splits = g_array_new(FALSE, FALSE, sizeof(TideBytes));

  if (node->kind == TIDE_YAML_MAPPING) {
    load_file(it, node, splits);
  } else if (node->kind == TIDE_YAML_LIST && node->values->len > 0) {
    g_autofree char *path = g_strconcat(it->path, ".splits", NULL);
    g_autofree char *where = g_strdup_printf("'%s'", path);
    for (guint i = 0; i < node->values->len; i++) {
      const TideYamlNode *item = g_ptr_array_index(node->values, i);
      TideBytes point = TIDE_BYTES_EMPTY;
      if (tide_load_bytes(it->load, path, item, &point))
        (void)add_point(it->load, (PointSource){item->position, where}, point, splits);
    }
  } else if (node->kind == TIDE_YAML_LIST) {
    tide_load_error(it->load, node, "'%s.splits' must be a list of keys, or { file: PATH }, got an empty list",
                    it->path);
  } else {
    tide_load_got_error(it->load, node, "'%s.splits' must be a list of keys, or { file: PATH }", it->path);
  }
  return splits;
}

static GArray *
compute(TideTableLoad *it, const TideYamlNode *regions)
{
  guint32 wanted = it->draft.regions;
  GArray *splits = it->table->key != NULL ? tide_row_key_splits(it->table->key, wanted)
                                          : g_array_new(FALSE, FALSE, sizeof(TideBytes));

  if (it->table->key == NULL || wanted <= 1 || splits->len + 1 == wanted)
    return splits;
  if (splits->len == 0)
    tide_load_warning(it->load, regions,
                      "'%s.regions': the split points cannot be calculated, because the key does not start with a "
                      "salt, a hash or a number with a 'range': list the points, 'splits: [\"g\", \"n\"]', or take "
                      "them from the topic with 'tidemark tables create --sample N'",
                      it->path);
  else
    tide_load_warning(it->load, regions, "'%s.regions' is %u, but the key's first part has only %u values to split at",
                      it->path, wanted, splits->len + 1);
  return splits;
}

void
tide_load_splits(TideTableLoad *it)
{
  const TideYamlNode *splits = tide_yaml_get(it->node, "splits");
  const TideYamlNode *regions = tide_yaml_get(it->node, "regions");

  if (splits != NULL && regions != NULL)
    tide_load_error(it->load, splits, "'%s' has both 'regions' and 'splits': remove one of them", it->path);
  it->table->creation.regions = it->draft.regions;
  it->table->splits = splits != NULL ? load_declared(it, splits) : compute(it, regions);
}
