/* Lines of columns on standard output: an aligned table for people, or CSV for programs. */
#pragma once

#include "commands/cli/output.h"

G_BEGIN_DECLS

/* One column of a listing. */
typedef struct TideListingColumn {
  const char *name; /* borrowed; in the case used for CSV; by convention upper case in tables */
  gboolean right;   /* numbers are aligned to the right */
  gboolean once; /* on a terminal, a value equal to the previous line's is left blank if all earlier `once` columns are;
                  * elsewhere each line is complete, for grep and awk */
  gboolean judges; /* its words are verdicts, shown in colour: tide_colour_of() */
} TideListingColumn;

typedef struct TideListing TideListing;

/* Number of table lines that are buffered to determine the widths. Later lines are printed at once with these widths,
 * so that a long scan streams; a longer value only shifts the rest of its line. */
#define TIDE_LISTING_MEASURED_LINES 200

/* On a terminal, the text of the last column continues below if the line would exceed TIDE_SCREEN_COLUMNS. @format:
 * TABLE or CSV. @columns: copied, but not their names. @stream: borrowed. @colour: headings with terminal sequences. */
TideListing *tide_listing_new(FILE *stream, TideOutputFormat format, gboolean colour, const TideListingColumn *columns,
                              gsize n_columns);

/* Wraps long lines in a pipe as on a terminal: for a listing that is part of a screen for people. */
void tide_listing_break_lines(TideListing *listing);

/**
 * tide_listing_add: add one line.
 * @values: n_columns texts, copied; NULL is empty. They must be printable: tide_text_printable().
 * Returns: FALSE when writing to the stream failed (a closed pipe, a full disk): stop then.
 */
gboolean tide_listing_add(TideListing *listing, const char *const *values);

/* Prints the buffered lines, and the heading of an empty CSV. FALSE as above. */
gboolean tide_listing_finish(TideListing *listing);
void tide_listing_free(TideListing *listing); /* without finishing; NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideListing, tide_listing_free)

G_END_DECLS
