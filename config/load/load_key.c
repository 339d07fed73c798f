/* Has the model compile a key, qualifier or value out of parts that were read, and names the part at fault where that
 * fails. */
#include "config/load/load_table.h"

static void
add_fault(TideLoad *load, const char *path, const TidePartList *parts, gsize bad, const GError *error)
{
  g_autofree char *shown = tide_problem_quote(path);

  tide_load_error(load, tide_load_part_node(parts, bad), "'%s': %s", shown, error->message);
}

TideRowKey *
tide_load_key(TideLoad *load, const char *path, const TidePartList *parts)
{
  gsize bad = 0;
  g_autoptr(GError) error = NULL;
  TideRowKey *key = tide_row_key_compile(parts->specs, parts->n, &bad, &error);

  if (key == NULL)
    add_fault(load, path, parts, bad, error);
  return key;
}

TideKeyText *
tide_load_key_text(TideLoad *load, const char *path, const TidePartList *parts, gboolean with_name)
{
  gsize bad = 0;
  g_autoptr(GError) error = NULL;
  TideKeyText *text = tide_key_text_compile(parts->specs, parts->n, with_name, &bad, &error);

  if (text == NULL)
    add_fault(load, path, parts, bad, error);
  return text;
}
