#include "manual/roff.h"

#include <string.h>

/* What roff's own checkers wish for. */
#define MAX_LINE_BYTES 78

/* Where a text begins a line, a dot or a quote would make it a request. */
static void
append_escaped(GString *page, const char *text, gsize len)
{
  gboolean begins_line = page->len == 0 || page->str[page->len - 1] == '\n';
  if (len > 0 && begins_line && (text[0] == '.' || text[0] == '\''))
    g_string_append(page, "\\&");
  for (gsize i = 0; i < len; i++) {
    if (text[i] == '\\')
      g_string_append(page, "\\e");
    else if (text[i] == '-')
      g_string_append(page, "\\-");
    else
      g_string_append_c(page, text[i]);
  }
}

/* What a reader of the manual finds behind a link of the documents; NULL: it leads within the page, or out of it to
 * where its text says. (transfer full) (nullable) */
static char *
target_of(const char *link)
{
  gsize len = strcspn(link, "#");
  if (strstr(link, "://") != NULL || len < 3 || strncmp(link + len - 3, ".md", 3) != 0)
    return NULL;
  if (g_str_has_prefix(link, "configuration.md"))
    return g_strdup("tidemark.yaml(5)");
  if (g_str_has_prefix(link, "commands.md"))
    return g_strdup_printf("tidemark%s%s(1)", link[len] == '#' ? "-" : "", link[len] == '#' ? link + len + 1 : "");
  return g_str_has_prefix(link, "../") ? g_strndup(link + 3, len - 3) : g_strdup_printf("docs/%.*s", (int)len, link);
}

static void append_inline(GString *page, const char *text);

/* Its text, and where that leads to, unless the text is that file's name. */
static void
append_link(GString *page, const char *text, const char *link)
{
  g_autofree char *target = target_of(link);
  gboolean is_name = target != NULL && g_str_has_suffix(text, ".md");
  if (!is_name)
    append_inline(page, text);
  if (target != NULL) {
    g_autofree char *shown = g_strdup_printf(is_name ? "%s" : " (%s)", target);
    append_escaped(page, shown, strlen(shown));
  }
}

/* `bold`, **bold**, and [text](link). */
static void
append_inline(GString *page, const char *text)
{
  gboolean is_bold = FALSE;
  for (const char *at = text; *at != '\0';) {
    gsize n = strcspn(at, "`[*");
    append_escaped(page, at, n);
    at += n;
    gsize n_mark = *at == '`' ? 1 : g_str_has_prefix(at, "**") ? 2 : 0;
    const char *close = *at == '[' && !is_bold ? strstr(at, "](") : NULL;
    const char *end = close != NULL ? strchr(close, ')') : NULL;
    if (n_mark > 0) {
      is_bold = !is_bold;
      g_string_append(page, is_bold ? "\\fB" : "\\fR");
      at += n_mark;
    } else if (end != NULL && memchr(at + 1, '[', (gsize)(close - at - 1)) == NULL) {
      g_autofree char *inner = g_strndup(at + 1, (gsize)(close - at - 1));
      g_autofree char *link = g_strndup(close + 2, (gsize)(end - close - 2));
      append_link(page, inner, link);
      at = end + 1;
    } else if (*at != '\0') {
      append_escaped(page, at++, 1);
    }
  }
}

void
tide_roff_begin(GString *page, const char *name, int section, const char *date, const char *version)
{
  g_autofree char *title = g_ascii_strup(name, -1);
  g_string_append_printf(page, ".TH %s %d %s \"tidemark %s\" tidemark\n", title, section, date, version);
}

void
tide_roff_heading(GString *page, const char *heading)
{
  g_autofree char *upper = g_ascii_strup(heading, -1);
  g_string_append(page, ".SH ");
  append_inline(page, upper);
  g_string_append_c(page, '\n');
}

void
tide_roff_text(GString *page, const char *text)
{
  g_autoptr(GString) line = g_string_new(NULL);
  append_inline(line, text);
  g_auto(GStrv) words = g_strsplit(line->str, " ", -1);
  gsize width = 0;
  for (gsize i = 0; words[i] != NULL; i++) {
    gsize len = strlen(words[i]);
    gboolean may_begin_line = words[i][0] != '.' && words[i][0] != '\'' && words[i][0] != '\0';
    gboolean breaks = width > 0 && width + 1 + len > MAX_LINE_BYTES && may_begin_line;
    g_string_append(page, breaks ? "\n" : i > 0 ? " " : "");
    g_string_append(page, words[i]);
    width = breaks || i == 0 ? len : width + 1 + len;
  }
  g_string_append_c(page, '\n');
}

void
tide_roff_paragraph(GString *page)
{
  g_autofree char *line = g_strndup(page->str, page->len > 0 ? page->len - 1 : 0);
  const char *last = strrchr(line, '\n') != NULL ? strrchr(line, '\n') + 1 : line;
  if (line[0] != '\0' && !g_str_has_prefix(last, ".S") && strcmp(last, ".PP") != 0)
    g_string_append(page, ".PP\n");
}

static void
drop_paragraph(GString *page)
{
  if (g_str_has_suffix(page->str, "\n.PP\n"))
    g_string_truncate(page, page->len - strlen(".PP\n"));
}

void
tide_roff_verbatim(GString *page, const char *lines)
{
  g_auto(GStrv) each = g_strsplit(lines, "\n", -1);
  tide_roff_paragraph(page);
  g_string_append(page, ".nf\n");
  for (gsize i = 0; each[i] != NULL; i++) {
    if (each[i][0] == '\0' && each[i + 1] == NULL)
      break;
    append_escaped(page, each[i], strlen(each[i]));
    g_string_append_c(page, '\n');
  }
  g_string_append(page, ".fi\n");
}

void
tide_roff_item(GString *page, const char *name, const char *sentence)
{
  gsize n_bold = strcspn(name, "[=");
  g_string_append(page, ".TP\n\\fB");
  append_escaped(page, name, n_bold);
  g_string_append(page, "\\fR");
  append_escaped(page, name + n_bold, strlen(name + n_bold));
  g_string_append_c(page, '\n');
  tide_roff_text(page, sentence);
}

/* ---- Markdown ---- */

/* The cells of "| a | b |". */
static GPtrArray *
cells_of(const char *line)
{
  g_auto(GStrv) parts = g_strsplit(line, " |", -1);
  GPtrArray *cells = g_ptr_array_new_with_free_func(g_free);
  for (gsize i = 0; parts[i] != NULL && (parts[i + 1] != NULL || i == 0); i++)
    g_ptr_array_add(cells, g_strstrip(g_strdup(parts[i][0] == '|' ? parts[i] + 1 : parts[i])));
  return cells;
}

static void
append_row(GString *page, const char *line)
{
  g_autoptr(GPtrArray) cells = cells_of(line);
  g_string_append(page, ".TP\n");
  append_inline(page, cells->pdata[0]);
  for (guint i = 1; i + 1 < cells->len; i++) {
    g_string_append(page, i == 1 ? " (" : "; ");
    if (i > 1 && i + 2 == cells->len && strcmp(cells->pdata[i], "required") != 0 &&
        strcmp(cells->pdata[i], "not set") != 0)
      g_string_append(page, "default ");
    append_inline(page, cells->pdata[i]);
  }
  g_string_append(page, cells->len > 2 ? ")\n" : "\n");
  tide_roff_text(page, cells->len > 1 ? cells->pdata[cells->len - 1] : "");
}

static gboolean
is_rule(const char *line)
{
  return g_str_has_prefix(line, "|-") || g_str_has_prefix(line, "| -");
}

/* Takes one line that is in no fenced block. @next: the line behind it, which tells a table's heading; NULL: there is
 * none */
static void
append_line(GString *page, const char *line, const char *next)
{
  if (line[0] == '\0')
    tide_roff_paragraph(page);
  if (line[0] == '\0' || g_str_has_prefix(line, "<!--") || is_rule(line))
    return;
  if (line[0] == '|' && next != NULL && is_rule(next))
    return;
  if (line[0] == '#' || line[0] == '|' || g_str_has_prefix(line, "- "))
    drop_paragraph(page);
  if (line[0] == '|') {
    append_row(page, line);
  } else if (line[0] == '#') {
    g_string_append(page, ".SS ");
    tide_roff_text(page, line + strspn(line, "# "));
  } else if (g_str_has_prefix(line, "- ")) {
    g_string_append(page, ".IP \\(bu 2\n");
    tide_roff_text(page, line + 2);
  } else {
    tide_roff_text(page, line + strspn(line, " "));
  }
}

void
tide_roff_markdown(GString *page, const char *markdown)
{
  g_auto(GStrv) lines = g_strsplit(markdown, "\n", -1);
  for (gsize i = 0; lines[i] != NULL; i++) {
    if (!g_str_has_prefix(lines[i], "```")) {
      append_line(page, lines[i], lines[i + 1]);
      continue;
    }
    g_autoptr(GString) block = g_string_new(NULL);
    while (lines[i + 1] != NULL && !g_str_has_prefix(lines[++i], "```"))
      g_string_append_printf(block, "%s\n", lines[i]);
    tide_roff_verbatim(page, block->str);
  }
  drop_paragraph(page);
}
