#include "commands/cli/listing.h"

#include <unistd.h>

/* Blanks between the columns of a table. */
#define GAP_COLUMNS 2

/* Minimum width of a last column that is wrapped. */
#define LEAST_BROKEN_COLUMNS 20

struct TideListing {
  FILE *stream; /* borrowed */
  TideOutputFormat format;
  gboolean colour;
  gboolean is_screen;
  TideListingColumn *columns; /* owned */
  gsize n_columns;
  gsize *widths;      /* owned; table only */
  GPtrArray *waiting; /* owned (element-type GStrv, n_columns each); NULL once the widths are known */
  char **above;       /* owned: the previous line's values of `once` columns; NULL if none */
  gboolean heading_done;
  TideBuffer line; /* owned; reused */
};

TideListing *
tide_listing_new(FILE *stream, TideOutputFormat format, gboolean colour, const TideListingColumn *columns,
                 gsize n_columns)
{
  TideListing *listing = g_new0(TideListing, 1);
  listing->stream = stream;
  listing->format = format;
  listing->colour = colour;
  listing->is_screen = isatty(fileno(stream)) == 1;
  listing->columns = g_memdup2(columns, n_columns * sizeof *columns);
  listing->n_columns = n_columns;
  listing->widths = g_new0(gsize, n_columns);
  listing->above = g_new0(char *, n_columns);
  for (gsize i = 0; i < n_columns; i++)
    listing->widths[i] = tide_text_width(columns[i].name);
  if (format == TIDE_OUTPUT_TABLE)
    listing->waiting = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
  return listing;
}

void
tide_listing_free(TideListing *listing)
{
  if (listing == NULL)
    return;
  g_clear_pointer(&listing->waiting, g_ptr_array_unref);
  for (gsize i = 0; i < listing->n_columns; i++)
    g_free(listing->above[i]);
  g_free(listing->above);
  tide_buffer_clear_memory(&listing->line);
  g_free(listing->widths);
  g_free(listing->columns);
  g_free(listing);
}

void
tide_listing_break_lines(TideListing *listing)
{
  listing->is_screen = TRUE;
}

/* One line of a table, without trailing blanks. */
static void
append_aligned(const TideListing *listing, GString *line, const char *const *values)
{
  gsize owed = 0; /* blanks that are written only if a value follows */
  for (gsize i = 0; i < listing->n_columns; i++) {
    gsize width = tide_text_width(values[i]);
    gsize padding = listing->widths[i] > width ? listing->widths[i] - width : 0;
    if (listing->columns[i].right)
      owed += padding;
    if (values[i][0] != '\0') {
      const char *colour = listing->colour && listing->columns[i].judges ? tide_colour_of(values[i]) : "";
      g_string_append_printf(line, "%*s%s%s%s", (int)owed, "", colour, values[i],
                             *colour != '\0' ? TIDE_COLOUR_END : "");
      owed = 0;
    } else {
      owed += width;
    }
    owed += GAP_COLUMNS + (listing->columns[i].right ? 0 : padding);
  }
}

static void
print_csv(TideListing *listing, const char *const *values)
{
  TideBuffer *line = &listing->line;
  tide_buffer_reset(line);
  for (gsize i = 0; i < listing->n_columns; i++) {
    if (i > 0)
      tide_buffer_append_byte(line, ',');
    tide_csv_append(line, values[i] != NULL ? values[i] : "");
  }
  tide_buffer_append_byte(line, '\n');
  fwrite(line->data, 1, line->len, listing->stream);
}

static void
print_heading(TideListing *listing)
{
  if (listing->heading_done)
    return;
  listing->heading_done = TRUE;
  g_autofree const char **names = g_new(const char *, listing->n_columns);
  for (gsize i = 0; i < listing->n_columns; i++)
    names[i] = listing->columns[i].name;
  if (listing->format == TIDE_OUTPUT_CSV) {
    print_csv(listing, names);
    return;
  }
  g_autoptr(GString) line = g_string_new(NULL);
  append_aligned(listing, line, names);
  if (listing->colour)
    fprintf(listing->stream, "\033[1m%s\033[0m\n", line->str);
  else
    fprintf(listing->stream, "%s\n", line->str);
}

/* Takes the part of *@text that fits into @room columns, up to a blank if possible; *@text then continues after it.
 * (transfer full) */
static char *
take_piece(const char **text, gsize room)
{
  const char *begin = *text, *end = begin, *blank = NULL;
  for (gsize width = 0; *end != '\0'; end = g_utf8_next_char(end)) {
    char one[8] = {0};
    (void)g_unichar_to_utf8(g_utf8_get_char(end), one);
    width += tide_text_width(one);
    if (*end == ' ')
      blank = end;
    if (width > room)
      break;
  }
  const char *cut = *end == '\0' || blank == NULL || blank == begin ? end : blank;
  *text = cut + strspn(cut, " ");
  return g_strndup(begin, (gsize)(cut - begin));
}

static void
print_line(const TideListing *listing, const char *const *values)
{
  g_autoptr(GString) line = g_string_new(NULL);
  append_aligned(listing, line, values);
  fprintf(listing->stream, "%s\n", line->str);
}

/* Prints the line; on a terminal, the rest of a long last column continues below. @values: the last one is changed */
static void
print_broken(const TideListing *listing, const char **values)
{
  gsize last = listing->n_columns - 1, indent = 0;
  for (gsize i = 0; i < last; i++)
    indent += listing->widths[i] + GAP_COLUMNS;
  const char *text = values[last];
  if (!listing->is_screen || listing->columns[last].right || indent + LEAST_BROKEN_COLUMNS > TIDE_SCREEN_COLUMNS ||
      indent + tide_text_width(text) <= TIDE_SCREEN_COLUMNS) {
    print_line(listing, values);
    return;
  }
  while (*text != '\0') {
    g_autofree char *piece = take_piece(&text, TIDE_SCREEN_COLUMNS - indent);
    values[last] = piece;
    print_line(listing, values);
    for (gsize i = 0; i < last; i++)
      values[i] = "";
  }
}

static void
print_table_line(TideListing *listing, const char *const *values)
{
  g_autofree const char **shown = g_new(const char *, listing->n_columns);
  gboolean repeats = TRUE;
  for (gsize i = 0; i < listing->n_columns; i++) {
    shown[i] = values[i];
    if (!listing->columns[i].once || !listing->is_screen)
      continue;
    repeats = repeats && g_strcmp0(listing->above[i], values[i]) == 0;
    if (repeats) {
      shown[i] = "";
      continue;
    }
    g_free(listing->above[i]);
    listing->above[i] = g_strdup(values[i]);
  }
  print_broken(listing, shown);
}

static void
print_waiting(TideListing *listing)
{
  g_autoptr(GPtrArray) waiting = g_steal_pointer(&listing->waiting);
  if (waiting == NULL || waiting->len == 0)
    return;
  print_heading(listing);
  for (guint i = 0; i < waiting->len; i++)
    print_table_line(listing, waiting->pdata[i]);
}

static void
keep_waiting(TideListing *listing, const char *const *values)
{
  char **line = g_new0(char *, listing->n_columns + 1);
  for (gsize i = 0; i < listing->n_columns; i++) {
    line[i] = g_strdup(values[i]);
    listing->widths[i] = MAX(listing->widths[i], tide_text_width(values[i]));
  }
  g_ptr_array_add(listing->waiting, line);
  if (listing->waiting->len == TIDE_LISTING_MEASURED_LINES)
    print_waiting(listing);
}

gboolean
tide_listing_add(TideListing *listing, const char *const *values)
{
  if (listing->format == TIDE_OUTPUT_CSV) {
    print_heading(listing);
    print_csv(listing, values);
    return !ferror(listing->stream);
  }
  g_autofree const char **filled = g_new(const char *, listing->n_columns);
  for (gsize i = 0; i < listing->n_columns; i++)
    filled[i] = values[i] != NULL ? values[i] : "";

  if (listing->waiting != NULL)
    keep_waiting(listing, filled);
  else
    print_table_line(listing, filled);
  return !ferror(listing->stream);
}

gboolean
tide_listing_finish(TideListing *listing)
{
  print_waiting(listing);
  if (listing->format == TIDE_OUTPUT_CSV)
    print_heading(listing);
  return !ferror(listing->stream);
}
