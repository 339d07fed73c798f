/* A field's text as the bytes of a cell, in the encodings that change it. */
#pragma once

#include "model/reading.h"
#include "model/table/table.h"

G_BEGIN_DECLS

/**
 * tide_cell_value_append: append the value of @field, which is not null, to @out.
 * INT64 takes decimal integers from Long.MIN_VALUE to Long.MAX_VALUE, FLOAT64 decimal numbers, both as they are written
 * by the sender, in quotes or not; of a FLOAT64 the nearest double is kept, and what is beyond the largest is no
 * number. JSON puts texts in quotes and leaves numbers, booleans and JSON as they are. Returns: FALSE with @ret_detail
 * (a string literal) when the text is no such number; @out is as it was then. Threads: any. Allocates: only by growing
 * @out.
 */
gboolean tide_cell_value_append(TideEncoding encoding, const TideField *field, TideBuffer *out,
                                const char **ret_detail) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
