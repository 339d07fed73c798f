/* Lines of columns on standard output: an aligned table for people, or CSV for programs. */
#pragma once

#include "commands/cli/output.h"

G_BEGIN_DECLS

/* One column of a listing. */
typedef struct TideListingColumn {
  const char *name; /* borrowed; upper case in tables by custom of the caller, as it is in CSV */
  gboolean right;   /* numbers are aligned to the right */
  gboolean once; /* on a terminal, a value equal to the line above is left blank while all `once` columns before it are;
                  * elsewhere each line stands for itself, for grep and awk */
  gboolean judges; /* its words are verdicts: in colour, tide_colour_of() */
} TideListingColumn;

typedef struct TideListing TideListing;

/* Lines of a table that are held back to find the widths. Later lines are printed with these widths as they come, so
 * that a long scan streams; a longer value there only shifts the rest of its line. */
#define TIDE_LISTING_MEASURED_LINES 200

/* On a terminal, the text of the last column goes on below where the line would be longer than TIDE_SCREEN_COLUMNS.
 * @format: TABLE or CSV. @columns: copied, but not their names. @stream: borrowed. @colour: headings with terminal
 * sequences. */
TideListing *tide_listing_new(FILE *stream, TideOutputFormat format, gboolean colour, const TideListingColumn *columns,
                              gsize n_columns);

/* Breaks long lines in a pipe as on a terminal: of a listing that is part of a screen for people. */
void tide_listing_break_lines(TideListing *listing);

/**
 * tide_listing_add: one line.
 * @values: n_columns texts, copied; NULL is empty. They must be printable: tide_text_printable().
 * Returns: FALSE when the stream took no more (a closed pipe, a full disk): stop then.
 */
gboolean tide_listing_add(TideListing *listing, const char *const *values);

/* Prints what is held back, and the heading of an empty CSV. FALSE as above. */
gboolean tide_listing_finish(TideListing *listing);
void tide_listing_free(TideListing *listing); /* without finishing; NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideListing, tide_listing_free)

G_END_DECLS
