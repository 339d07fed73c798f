/* Text for man(7): plain text and the few forms of Markdown that tidemark's own tables and documents use. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* ".TH NAME SECTION ..." and what else begins a page. @date: "2026-11-23" */
void tide_roff_begin(GString *page, const char *name, int section, const char *date, const char *version);

void tide_roff_heading(GString *page, const char *heading);

/* One line of text: `words` in backticks become bold. */
void tide_roff_text(GString *page, const char *text);

/* Begins a paragraph; none behind a heading, behind another one, and where the page is empty. */
void tide_roff_paragraph(GString *page);

/* Lines that stay as they are. */
void tide_roff_verbatim(GString *page, const char *lines);

/* What an option or a command is called, in bold but for what comes from the first of "[=" on, and below it @sentence.
 */
void tide_roff_item(GString *page, const char *name, const char *sentence);

/* Headings, paragraphs, lists, fenced blocks; a table as an item for each row, whose first cell is its name and whose
 * last one its text, those between in brackets. Behind the text of a link stands the page or the document that it leads
 * to. Comments are left out. */
void tide_roff_markdown(GString *page, const char *markdown);

G_END_DECLS
