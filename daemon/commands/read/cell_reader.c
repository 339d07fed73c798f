#include "commands/read/cell_reader.h"

#include "commands/cli/time_argument.h"
#include "model/glob.h"
#include "model/scratch.h"
#include "util/number_text.h"

#include <math.h>

/* One declaration that can match a column. */
typedef struct Declared {
  TideDeclaredColumn column;
  TideBytes family;     /* borrowed from the rule */
  TideBuffer qualifier; /* owned: the name, or a pattern of names */
} Declared;

/* Facts that depend only on a cell's family and qualifier. */
typedef struct Known {
  TideBuffer name; /* owned: family, then qualifier */
  gsize family_len;
  TideDeclaredColumn column;
  TideBuffer field; /* owned: the name of its field */
  gboolean is_ambiguous;
  TideEncoding other; /* if is_ambiguous */
} Known;

/* Rows of a table mostly have the same columns: facts about this many cells of the previous row are checked first. */
#define MAX_KNOWN 256u

/* For a cell that does not match its declaration: it can only be restored as stored. */
#define KIND_AS_STORED "stored"

/* Longer names share one entry: names of a mebibyte each, at changing positions, would otherwise be kept by the
 * hundred. */
#define MAX_KNOWN_BYTES 1024u

struct TideCellReader {
  const TideFieldNames *names; /* borrowed */
  GArray *exact;               /* owned (element-type Declared): by whole name */
  GArray *patterns;            /* owned (element-type Declared): by pattern */
  GArray *rest;                /* owned (element-type Declared): the rest of a family; by prefix, or all */
  GArray *cells;               /* owned (element-type TideResultCell): of the current row */
  GArray *origins;             /* owned (element-type TideCellOrigin): of each of cells */
  Known known[MAX_KNOWN];      /* of the first cells of the previous row; reused */
  Known known_rest;            /* of later cells, or of a long name */
  TideBuffer name;             /* owned; reused */
  TideScratch texts;           /* memory that they point to, besides the row */
  TideResultRow shown;
  const TideResultCell *packed;  /* the cell that is being unpacked */
  const TideColumnRule *packing; /* its rule */
  guint64 n_unread;
};

static void
clear_declared(gpointer data)
{
  tide_buffer_clear_memory(&((Declared *)data)->qualifier);
}

static TideBuffer *
declare(GArray *list, const TideColumnRule *rule, const TideColumnItem *item)
{
  Declared declared = {.column = {.rule = rule, .item = item}, .family = tide_bytes_of_string(rule->family)};
  g_array_append_val(list, declared);
  return &g_array_index(list, Declared, list->len - 1).qualifier;
}

/* Appends the qualifier that @rule makes of @name. FALSE if it differs for each reading. */
static gboolean
append_qualifier(const TideColumnRule *rule, TideBytes name, TideBuffer *out)
{
  static const TideReading no_reading;
  TideReject reject;
  if (rule->qualifier == NULL) {
    tide_buffer_append_bytes(out, name);
    return TRUE;
  }
  return tide_key_text_is_constant(rule->qualifier) &&
         tide_key_text_append(rule->qualifier, &no_reading, name, out, &reject);
}

/* Declares the rest of the family that begins with @prefix. */
static void
declare_rest(TideCellReader *reader, const TideColumnRule *rule, const TideColumnItem *item, const char *prefix)
{
  tide_buffer_append_bytes(declare(reader->rest, rule, item), tide_bytes_of_string(prefix));
}

/* Declares by the pattern of the names that @item makes. Names of any form cannot be distinguished from others. */
static void
declare_pattern(TideCellReader *reader, const TideColumnRule *rule, const TideColumnItem *item)
{
  g_auto(TideBuffer) pattern = {0};
  /* The letters of a pattern, changed like those of the names, match the changed names. */
  if (item->qualifier == NULL)
    tide_column_rule_append_name(rule, tide_bytes_of_string(item->pattern), &pattern);
  for (const char *at = item->qualifier; at != NULL && *at != '\0'; at++) {
    if (*at == '?')
      tide_buffer_append_byte(&pattern, '\\'); /* a literal backslash */
    tide_buffer_append_byte(&pattern, (guint8)*at);
    if (*at == '\\' && at[1] != '\0')
      tide_buffer_append_byte(&pattern, (guint8) * ++at);
  }
  if (tide_bytes_equal(tide_buffer_bytes(&pattern), TIDE_BYTES_LITERAL("*")))
    declare_rest(reader, rule, item, NULL);
  else
    tide_buffer_append_bytes(declare(reader->patterns, rule, item), tide_buffer_bytes(&pattern));
}

static void
declare_item(TideCellReader *reader, const TideColumnRule *rule, const TideColumnItem *item)
{
  g_auto(TideBuffer) name = {0};
  g_auto(TideBuffer) qualifier = {0};
  if (item->pattern != NULL && rule->qualifier == NULL) {
    declare_pattern(reader, rule, item);
    return;
  }
  if (item->qualifier != NULL)
    tide_buffer_append_bytes(&name, tide_bytes_of_string(item->qualifier));
  else if (item->field != TIDE_NAME_NONE)
    tide_column_rule_append_name(rule, tide_field_names_text(reader->names, item->field), &name);
  if (item->pattern == NULL && append_qualifier(rule, tide_buffer_bytes(&name), &qualifier))
    tide_buffer_append_bytes(declare(reader->exact, rule, item), tide_buffer_bytes(&qualifier));
  else /* a name does not show which of several items made it */
    declare_rest(reader, rule, rule->n_items == 1 ? item : NULL, NULL);
}

static void
declare_rule(TideCellReader *reader, const TideColumnRule *rule)
{
  g_auto(TideBuffer) qualifier = {0};
  if (rule->packing != TIDE_PACK_NONE) { /* the one cell of all the fields */
    if (rule->qualifier != NULL && append_qualifier(rule, TIDE_BYTES_EMPTY, &qualifier))
      tide_buffer_append_bytes(declare(reader->exact, rule, NULL), tide_buffer_bytes(&qualifier));
    else
      declare_rest(reader, rule, NULL, NULL);
    return;
  }
  if (rule->all_remaining)
    declare_rest(reader, rule, NULL, rule->qualifier == NULL ? rule->prefix : NULL);
  for (gsize i = 0; i < rule->n_items; i++)
    declare_item(reader, rule, &rule->items[i]);
}

TideCellReader *
tide_cell_reader_new(const TideTable *table, const TideFieldNames *names)
{
  TideCellReader *reader = g_new0(TideCellReader, 1);
  reader->names = names;
  GArray **const lists[] = {&reader->exact, &reader->patterns, &reader->rest};
  for (gsize i = 0; i < G_N_ELEMENTS(lists); i++) {
    *lists[i] = g_array_new(FALSE, TRUE, sizeof(Declared));
    g_array_set_clear_func(*lists[i], clear_declared);
  }
  reader->cells = g_array_new(FALSE, FALSE, sizeof(TideResultCell));
  reader->origins = g_array_new(FALSE, FALSE, sizeof(TideCellOrigin));
  for (guint i = 0; i < table->rules->len; i++)
    declare_rule(reader, &g_array_index(table->rules, TideColumnRule, i));
  return reader;
}

static void
clear_known(Known *known)
{
  tide_buffer_clear_memory(&known->name);
  tide_buffer_clear_memory(&known->field);
}

void
tide_cell_reader_free(TideCellReader *reader)
{
  if (reader == NULL)
    return;
  g_array_unref(reader->exact);
  g_array_unref(reader->patterns);
  g_array_unref(reader->rest);
  g_array_unref(reader->cells);
  g_array_unref(reader->origins);
  for (guint i = 0; i < MAX_KNOWN; i++)
    clear_known(&reader->known[i]);
  clear_known(&reader->known_rest);
  tide_buffer_clear_memory(&reader->name);
  tide_scratch_clear_memory(&reader->texts);
  g_free(reader);
}

TideDeclaredColumn
tide_cell_reader_find(const TideCellReader *reader, TideBytes family, TideBytes qualifier)
{
  for (guint i = 0; i < reader->exact->len; i++) {
    const Declared *declared = &g_array_index(reader->exact, Declared, i);
    if (tide_bytes_equal(declared->family, family) &&
        tide_bytes_equal(tide_buffer_bytes(&declared->qualifier), qualifier))
      return declared->column;
  }
  for (guint i = 0; i < reader->patterns->len; i++) {
    const Declared *declared = &g_array_index(reader->patterns, Declared, i);
    if (tide_bytes_equal(declared->family, family) &&
        tide_glob_matches(tide_buffer_bytes(&declared->qualifier), qualifier))
      return declared->column;
  }
  for (guint i = 0; i < reader->rest->len; i++) {
    const Declared *declared = &g_array_index(reader->rest, Declared, i);
    if (tide_bytes_equal(declared->family, family) &&
        tide_bytes_begin_with(qualifier, tide_buffer_bytes(&declared->qualifier)))
      return declared->column;
  }
  return (TideDeclaredColumn){0};
}

/* ---- the field of a cell ---- */

void
tide_cell_reader_columns(const TideTable *table, gboolean *ret_renames, gboolean *ret_keeps_kinds)
{
  *ret_renames = *ret_keeps_kinds = FALSE;
  for (guint i = 0; i < table->rules->len; i++) {
    const TideColumnRule *rule = &g_array_index(table->rules, TideColumnRule, i);
    gboolean is_packed = rule->packing != TIDE_PACK_NONE;
    *ret_renames |= rule->prefix != NULL || rule->strip_prefix != NULL || rule->strip_spaces ||
                    rule->name_case != TIDE_CASE_AS_IS || (!is_packed && rule->qualifier != NULL);
    *ret_keeps_kinds |= is_packed || rule->encoding != TIDE_ENCODE_TEXT;
    for (gsize k = 0; k < rule->n_items; k++) {
      *ret_renames |= rule->items[k].qualifier != NULL;
      *ret_keeps_kinds |= rule->items[k].encoding > TIDE_ENCODE_TEXT;
    }
  }
}

/* TRUE if @rule makes @name from the field @field. */
static gboolean
makes(const TideColumnRule *rule, TideBytes field, TideBytes name)
{
  g_auto(TideBuffer) made = {0};
  tide_column_rule_append_name(rule, field, &made);
  return tide_bytes_equal(tide_buffer_bytes(&made), name);
}

/* Returns the name that @rule changed to @name, without @stripped or with it prepended; empty: it does not make
 * @name. */
static TideBytes
unchanged(const TideColumnRule *rule, TideBytes name, TideBytes stripped, TideBuffer *scratch)
{
  TideBytes prefix = tide_bytes_of_string(rule->prefix);
  gsize start = scratch->len;
  if (name.len < prefix.len || !tide_bytes_equal(tide_bytes(name.data, prefix.len), prefix))
    return TIDE_BYTES_EMPTY;
  tide_buffer_append_bytes(scratch, stripped);
  tide_buffer_append(scratch, name.data + prefix.len, name.len - prefix.len);
  TideBytes field = tide_bytes(scratch->data + start, scratch->len - start);
  return makes(rule, field, name) ? field : TIDE_BYTES_EMPTY;
}

/* Puts the text matched by the stars of the new name in place of the stars of the pattern. */
static TideBytes
unrenamed(const TideColumnItem *item, TideBytes name, TideBuffer *scratch)
{
  TideGlobStars stars;
  gsize start = scratch->len;
  if (!tide_glob_match_stars(tide_bytes_of_string(item->qualifier), name, &stars))
    return TIDE_BYTES_EMPTY;
  tide_glob_append_renamed(tide_bytes_of_string(item->pattern), &stars, scratch);
  return tide_bytes(scratch->data + start, scratch->len - start);
}

static TideBytes
matching(const TideColumnRule *rule, const TideColumnItem *item, TideBytes name, TideBuffer *scratch)
{
  TideBytes pattern = tide_bytes_of_string(item->pattern);
  TideBytes stripped = tide_bytes_of_string(rule->strip_prefix);
  TideBytes field =
      item->qualifier != NULL ? unrenamed(item, name, scratch) : unchanged(rule, name, TIDE_BYTES_EMPTY, scratch);
  if (item->qualifier == NULL && stripped.len > 0 && (field.len == 0 || !tide_glob_matches(pattern, field)))
    field = unchanged(rule, name, stripped, scratch);
  return field.len > 0 && tide_glob_matches(pattern, field) ? field : TIDE_BYTES_EMPTY;
}

static TideBytes
of_item(const TideColumnRule *rule, const TideColumnItem *item, const TideFieldNames *names, TideBytes name,
        TideBuffer *scratch)
{
  if (item->value != NULL)
    return TIDE_BYTES_EMPTY;
  return item->field != TIDE_NAME_NONE ? tide_field_names_text(names, item->field)
                                       : matching(rule, item, name, scratch);
}

static TideBytes
of_member(const TideColumnRule *rule, const TideFieldNames *names, TideBytes name, TideBuffer *scratch)
{
  for (gsize i = 0; i < rule->n_items; i++) {
    const TideColumnItem *item = &rule->items[i];
    if (item->pattern == NULL &&
        (item->qualifier != NULL ? tide_bytes_equal(tide_bytes_of_string(item->qualifier), name)
                                 : makes(rule, tide_field_names_text(names, item->field), name)))
      return of_item(rule, item, names, name, scratch);
  }
  for (gsize i = 0; i < rule->n_items; i++) {
    TideBytes field =
        rule->items[i].pattern != NULL ? matching(rule, &rule->items[i], name, scratch) : TIDE_BYTES_EMPTY;
    if (field.len > 0)
      return field;
  }
  return rule->all_remaining ? unchanged(rule, name, TIDE_BYTES_EMPTY, scratch) : TIDE_BYTES_EMPTY;
}

/* Returns the name of the field from which @column made @qualifier, or, for a packed cell, the member of that name.
 * Empty: unknown. Appended to @scratch, or borrowed from the declarations or @qualifier. */
static TideBytes
origin_field(TideDeclaredColumn column, const TideFieldNames *names, TideBytes qualifier, TideBuffer *scratch)
{
  const TideColumnRule *rule = column.rule;
  if (rule == NULL)
    return qualifier;
  if (rule->packing != TIDE_PACK_NONE)
    return of_member(rule, names, qualifier, scratch);
  if (column.item != NULL && (rule->qualifier == NULL || column.item->field != TIDE_NAME_NONE))
    return of_item(rule, column.item, names, qualifier, scratch);
  return rule->all_remaining && rule->qualifier == NULL ? unchanged(rule, qualifier, TIDE_BYTES_EMPTY, scratch)
                                                        : TIDE_BYTES_EMPTY;
}

static const char *const kind_names[] = {[TIDE_VALUE_STRING] = "string",
                                         [TIDE_VALUE_NUMBER] = "number",
                                         [TIDE_VALUE_BOOL] = "bool",
                                         [TIDE_VALUE_NULL] = "null",
                                         [TIDE_VALUE_JSON] = "json"};

/* ---- values ---- */

static TideBytes
keep_text(TideCellReader *reader, const char *text)
{
  return tide_scratch_copy(&reader->texts, tide_bytes_of_string(text));
}

static TideBytes
decode_number(TideCellReader *reader, TideEncoding encoding, TideBytes value)
{
  char text[TIDE_NUMBER_TEXT_BYTES];
  if (value.len != sizeof(guint64)) {
    reader->n_unread += value.len > 0 ? 1 : 0; /* a null may have been written as an empty value */
    return value;
  }
  guint64 bits;
  memcpy(&bits, value.data, sizeof bits);
  bits = GUINT64_FROM_BE(bits);
  if (encoding == TIDE_ENCODE_INT64) {
    g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, (gint64)bits);
    return keep_text(reader, text);
  }
  double number;
  memcpy(&number, &bits, sizeof number);
  return isfinite(number) ? keep_text(reader, tide_double_print(number, text)) : value;
}

static gboolean
is_text(TideBytes value)
{
  for (gsize i = 0; i < value.len; i++)
    if (value.data[i] < 0x20 || value.data[i] == 0x7f)
      return FALSE;
  return g_utf8_validate_len((const char *)value.data, value.len, NULL);
}

/* A computed value that is text is already decoded; for bytes, a time or a field is decoded. */
static TideBytes
decode_computed(TideCellReader *reader, const TideKeyText *computed, TideBytes value)
{
  gint64 time_ns = 0;
  if (is_text(value))
    return value;
  if (tide_key_text_read_time(computed, value, &time_ns)) {
    g_autofree char *text = tide_time_text(tide_ns_to_ms(time_ns));
    return keep_text(reader, text);
  }
  TideDecodedKey decoded = {0};
  TideBytes shown = value;
  if (tide_row_key_decode(computed, value, &decoded) && decoded.n_fields == 1)
    shown = tide_scratch_copy(&reader->texts, decoded.fields[0].text);
  else
    reader->n_unread++;
  tide_decoded_key_clear(&decoded);
  return shown;
}

static TideEncoding
declared_encoding(TideDeclaredColumn column)
{
  return column.item != NULL && column.item->encoding >= 0 ? (TideEncoding)column.item->encoding
                                                           : column.rule->encoding;
}

/* The encoding to decode with; a text is shown as stored. */
static TideEncoding
encoding_of(TideDeclaredColumn column)
{
  TideEncoding encoding = declared_encoding(column);
  return encoding == TIDE_ENCODE_JSON              ? TIDE_ENCODE_TEXT
         : encoding == TIDE_ENCODE_FLOAT64_ROUNDED ? TIDE_ENCODE_FLOAT64
                                                   : encoding;
}

/* TRUE if fields of other declarations may also have made @cell's name with another encoding than @encoding: after {
 * pattern: "temp.*", as: "*" } a name does not show its field. @ret_other: the encoding of the last of them. */
static gboolean
is_ambiguous(const TideCellReader *reader, const TideResultCell *cell, TideDeclaredColumn column,
             TideEncoding *ret_other)
{
  gboolean is_of_rest = FALSE, found = FALSE;
  for (guint i = 0; i < reader->rest->len; i++) {
    const Declared *declared = &g_array_index(reader->rest, Declared, i);
    if (declared->column.rule->packing != TIDE_PACK_NONE || !tide_bytes_equal(declared->family, cell->family) ||
        !tide_bytes_begin_with(cell->qualifier, tide_buffer_bytes(&declared->qualifier)))
      continue;
    is_of_rest |= declared->column.rule == column.rule && declared->column.item == column.item;
    if (!is_of_rest || encoding_of(declared->column) == encoding_of(column))
      continue;
    *ret_other = encoding_of(declared->column);
    found = TRUE;
  }
  return found;
}

static TideBytes
decode_value(TideCellReader *reader, const Known *known, TideBytes value)
{
  TideDeclaredColumn column = known->column;
  if (column.rule == NULL)
    return value;
  if (column.item != NULL && column.item->value != NULL)
    return decode_computed(reader, column.item->value, value);
  TideEncoding encoding = encoding_of(column), other = known->is_ambiguous ? known->other : encoding;
  gboolean is_one_number = encoding == TIDE_ENCODE_TEXT || other == TIDE_ENCODE_TEXT;
  if (!known->is_ambiguous)
    return encoding != TIDE_ENCODE_TEXT ? decode_number(reader, encoding, value) : value;
  /* It may be a number or a text: eight bytes that are not a valid text are the number. */
  if (value.len != sizeof(guint64))
    return value;
  if (is_one_number && !is_text(value))
    return decode_number(reader, encoding == TIDE_ENCODE_TEXT ? other : encoding, value);
  reader->n_unread++;
  return value;
}

static gboolean
is_known(const Known *known, const TideResultCell *cell)
{
  return known->name.len == cell->family.len + cell->qualifier.len && known->family_len == cell->family.len &&
         tide_memory_equal(known->name.data, cell->family.data, cell->family.len) &&
         tide_memory_equal(known->name.data + known->family_len, cell->qualifier.data, cell->qualifier.len);
}

/* Returns the facts about the cell at index @i. Valid until another cell has that index, which for kept ones is not in
 * this row. */
static const Known *
look_up(TideCellReader *reader, gsize i, const TideResultCell *cell)
{
  gboolean is_kept = i < MAX_KNOWN && cell->family.len + cell->qualifier.len <= MAX_KNOWN_BYTES;
  Known *known = is_kept ? &reader->known[i] : &reader->known_rest;
  if (is_known(known, cell))
    return known;
  tide_buffer_set(&known->name, cell->family);
  tide_buffer_append_bytes(&known->name, cell->qualifier);
  known->family_len = cell->family.len;
  known->column = tide_cell_reader_find(reader, cell->family, cell->qualifier);
  known->is_ambiguous = known->column.rule != NULL && known->column.rule->packing == TIDE_PACK_NONE &&
                        is_ambiguous(reader, cell, known->column, &known->other);
  tide_buffer_reset(&known->field);
  tide_buffer_reset(&reader->name);
  tide_buffer_append_bytes(&known->field, origin_field(known->column, reader->names, cell->qualifier, &reader->name));
  return known;
}

/* @kind: NULL: the table does not store it */
static void
add_origin(TideCellReader *reader, TideBytes field, const char *kind)
{
  TideCellOrigin origin = {.field = field, .kind = kind};
  g_array_append_val(reader->origins, origin);
}

static gboolean
add_member(TideBytes name, TideValueKind kind, TideBytes text, gpointer data)
{
  TideCellReader *reader = data;
  TideResultCell cell = {
      .family = reader->packed->family,
      .qualifier = tide_scratch_copy(&reader->texts, name),
      .value = tide_scratch_copy(&reader->texts, text),
      .timestamp_ms = reader->packed->timestamp_ms,
  };
  g_array_append_val(reader->cells, cell);
  tide_buffer_reset(&reader->name);
  TideBytes field = origin_field((TideDeclaredColumn){.rule = reader->packing}, reader->names, name, &reader->name);
  add_origin(reader, tide_scratch_copy(&reader->texts, field), kind_names[kind]);
  return TRUE;
}

/* For a value in a cell of its own. */
static const char *
kind_of(const Known *known, gboolean is_unread)
{
  TideDeclaredColumn column = known->column;
  if (column.rule == NULL || (column.item != NULL && column.item->value != NULL))
    return NULL;
  if (is_unread || known->is_ambiguous)
    return KIND_AS_STORED;
  TideEncoding encoding = declared_encoding(column);
  return encoding == TIDE_ENCODE_TEXT ? NULL
                                      : kind_names[encoding == TIDE_ENCODE_JSON ? TIDE_VALUE_JSON : TIDE_VALUE_NUMBER];
}

const TideResultRow *
tide_cell_reader_read(TideCellReader *reader, const TideResultRow *row)
{
  g_array_set_size(reader->cells, 0);
  g_array_set_size(reader->origins, 0);
  tide_scratch_reset(&reader->texts);
  for (gsize i = 0; i < row->n_cells; i++) {
    TideResultCell cell = row->cells[i];
    const Known *known = look_up(reader, i, &cell);
    const TideColumnRule *rule = known->column.rule;
    gboolean packed = rule != NULL && rule->packing != TIDE_PACK_NONE;
    guint64 n_unread = reader->n_unread;
    reader->packed = &row->cells[i];
    reader->packing = rule;
    if (packed && tide_packed_read(rule->packing, cell.value, add_member, reader, NULL))
      continue;
    reader->n_unread += packed ? 1 : 0; /* it is not packed as declared */
    if (!packed)
      cell.value = decode_value(reader, known, cell.value);
    g_array_append_val(reader->cells, cell);
    TideBytes field = tide_buffer_bytes(&known->field);
    add_origin(reader, known == &reader->known_rest ? tide_scratch_copy(&reader->texts, field) : field,
               kind_of(known, reader->n_unread > n_unread));
  }
  reader->shown = (TideResultRow){
      .row = row->row,
      .cells = (const TideResultCell *)(gpointer)reader->cells->data,
      .n_cells = reader->cells->len,
  };
  return &reader->shown;
}

const TideCellOrigin *
tide_cell_reader_origins(const TideCellReader *reader)
{
  return (const TideCellOrigin *)(gpointer)reader->origins->data;
}

guint64
tide_cell_reader_n_unread(const TideCellReader *reader)
{
  return reader->n_unread;
}
