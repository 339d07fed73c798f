#include "decode/layout.h"

#define PLACE_MAX_BYTES 96u

/* Maximum length of a name in the error about lists of several lengths. */
#define SHOWN_NAME_MAX_BYTES 64

/* A step of `each`. */
typedef struct Step {
  TideBytes name;   /* of the member, or in braces of the new field */
  TideBytes prefix; /* of the names of outer values on this level */
  GHashTable *met;  /* owned: Set<TideBytes>, in scratch: names of the current object; NULL: no braces */
} Step;

/* A reader's position in its message. */
typedef struct Place {
  guint8 bytes[PLACE_MAX_BYTES];
} Place;

/* A list of a zipped object: the position of its next value. */
typedef struct Column {
  TideBytes name;
  Place place;
  TideShaperFrame frame;
} Column;

/* A member of an object, for a step that takes all. */
typedef struct Member {
  TideBytes name;
  gsize at;
  Place place;
} Member;

typedef gboolean (*TakeFunc)(TideLayout *layout);

struct TideLayout {
  /* set before start, then read-only */
  const TideDecodeOptions *options; /* borrowed */
  char **root;                      /* owned, NULL-terminated: the names that lead to the start of `each` */
  GArray *steps;                    /* owned (element-type Step) */
  GStringChunk *texts;              /* owned: texts of the steps */
  guint n_positions;                /* 0: lists are not readings */
  TakeFunc take_one;                /* for the values of a message */
  TakeFunc take_item;               /* after all steps: for a reading */
  gboolean message_may_be_list;     /* a reading by positions */

  /* of the message */
  TideShaper *shaper;
  const TideReaderCalls *calls;
  gpointer reader;
  guint level;      /* names of root that were found */
  guint step;       /* steps that were taken */
  Place inside;     /* the result of a step, while the values around it are read */
  gboolean is_last; /* no member follows it: the reader is still there */
  GArray *columns;  /* owned (element-type Column) */
  GArray *members;  /* owned (element-type Member): of the objects around the current one, outermost first */
};

/* ---- the reader ---- */

static inline void
keep_place(const TideLayout *layout, Place *place)
{
  memcpy(place->bytes, layout->reader, layout->calls->place_bytes);
}

static inline void
return_to(const TideLayout *layout, const Place *place)
{
  memcpy(layout->reader, place->bytes, layout->calls->place_bytes);
}

static inline gboolean
peek(const TideLayout *layout, TideNextValue *ret_next, gsize *ret_place)
{
  return layout->calls->peek(layout->reader, ret_next, ret_place);
}

/* Reads the next value with all it contains. */
static gboolean
take_whole(TideLayout *layout, TideBytes name)
{
  guint32 depth = layout->shaper->depth;
  return layout->calls->take(layout->reader, name) && layout->calls->take_members(layout->reader, depth);
}

/* Like take_value(), but only checks the value. */
static gboolean
check_whole(TideLayout *layout)
{
  gboolean was_spoiled = layout->shaper->is_spoiled;
  layout->shaper->is_spoiled = TRUE;
  gboolean good = take_whole(layout, TIDE_BYTES_EMPTY);
  layout->shaper->is_spoiled = was_spoiled;
  return good;
}

static gboolean
take_list(TideLayout *layout, TakeFunc take)
{
  TideBytes unused;
  gboolean has;
  if (!layout->calls->begin(layout->reader))
    return FALSE;
  do {
    if (!layout->calls->next(layout->reader, &has, &unused) || (has && !take(layout)))
      return FALSE;
  } while (has);
  return TRUE;
}

static gboolean
take_one_or_list(TideLayout *layout, TakeFunc take)
{
  TideNextValue next;
  gsize place;
  if (!peek(layout, &next, &place))
    return FALSE;
  return next == TIDE_NEXT_LIST ? take_list(layout, take) : take(layout);
}

/* ---- readings ---- */

/* The kind of the first item of the next list; NONE: it is empty. */
static gboolean
peek_inside(TideLayout *layout, TideNextValue *ret_next)
{
  Place start;
  TideBytes unused;
  gboolean has;
  gsize place;
  guint32 depth = layout->shaper->depth;
  keep_place(layout, &start);
  *ret_next = TIDE_NEXT_NONE;
  if (!layout->calls->begin(layout->reader) || !layout->calls->next(layout->reader, &has, &unused) ||
      (has && !peek(layout, ret_next, &place)))
    return FALSE;
  return_to(layout, &start);
  layout->shaper->depth = depth;
  return TRUE;
}

static inline gboolean
is_scalar(TideNextValue next)
{
  return next == TIDE_NEXT_SCALAR || next == TIDE_NEXT_NULL;
}

static gboolean
take_reading(TideLayout *layout)
{
  return layout->calls->take_reading(layout->reader);
}

gboolean
tide_layout_take_reading(TideShaper *shaper, gsize place)
{
  const TideLayout *layout = shaper->layout;
  return layout->calls->begin(layout->reader) && tide_shaper_begin_reading(shaper, place) &&
         layout->calls->take_members(layout->reader, shaper->depth - 1) && tide_shaper_end_reading(shaper, place);
}

/* Reads the values of a list, or a single value, with the names from positions. */
static gboolean
take_positions(TideLayout *layout, gboolean is_list, gsize place)
{
  const TideReaderCalls *calls = layout->calls;
  TideShaper *shaper = layout->shaper;
  guint n = 0;
  if (!tide_shaper_begin_reading(shaper, place) || (is_list && !calls->begin(layout->reader)))
    return FALSE;
  for (;; n++) {
    TideBytes unused;
    gboolean has = n == 0;
    if (is_list && !calls->next(layout->reader, &has, &unused))
      return FALSE;
    if (!has)
      break;
    const char *name = n < layout->n_positions ? layout->options->layout.positions[n] : TIDE_NO_NAME;
    if (!(strcmp(name, TIDE_NO_NAME) == 0 ? check_whole(layout) : take_whole(layout, tide_bytes_of_string(name))))
      return FALSE;
  }
  if (n != layout->n_positions && !shaper->is_spoiled) {
    shaper->reject->remedy = "name each value in 'readings.positions'; _ leaves one out";
    if (!tide_shaper_bad_value(shaper, TIDE_REJECT_TYPE, place, TIDE_BYTES_EMPTY,
                               n < layout->n_positions ? "a list of fewer values than 'positions' names"
                                                       : "a list of more values than 'positions' names"))
      return FALSE;
  }
  return tide_shaper_end_reading(shaper, place);
}

/* Reports that the value at @place is neither a reading, nor an object or a list around readings. */
static gboolean
say_misplaced(TideLayout *layout, gsize place)
{
  layout->shaper->reject->remedy =
      "see 'readings.each'; 'readings.positions' makes readings of lists and scalars, "
      "'readings.on_missing: skip' skips null, and 'readings.on_bad_reading: reading' rejects "
      "only the bad value";
  return tide_shaper_bad_value(layout->shaper, TIDE_REJECT_TYPE, place, TIDE_BYTES_EMPTY, "there is no object here");
}

static gboolean
check_misplaced(TideLayout *layout, gsize place)
{
  return check_whole(layout) && say_misplaced(layout, place);
}

/* Handles a next value, at @place, that is neither a reading of `each` nor an object around readings. */
static gboolean
take_no_reading(TideLayout *layout, TideNextValue next, gsize place)
{
  TideShaper *shaper = layout->shaper;
  if (layout->steps->len == 0 || next == TIDE_NEXT_NONE)
    return layout->calls->reject_instead_of(layout->reader, TIDE_NEXT_OBJECT);
  if (next == TIDE_NEXT_NULL && layout->options->layout.on_missing == TIDE_MISSING_SKIP)
    return check_whole(layout) && tide_shaper_skip_reading(shaper, place);
  return tide_shaper_begin_reading(shaper, place) && check_misplaced(layout, place) &&
         tide_shaper_end_reading(shaper, place);
}

/* ---- zipped objects ---- */

static gboolean
reject_lengths(TideLayout *layout, gsize place, const Column *first, gsize n_first, TideBytes name, gsize n)
{
  TideShaper *shaper = layout->shaper;
  char *detail = tide_scratch_take(shaper->scratch, SHOWN_NAME_MAX_BYTES + 80);
  int end = g_snprintf(detail, SHOWN_NAME_MAX_BYTES + 80,
                       "a list of %" G_GSIZE_FORMAT " values beside '%.*s' with %" G_GSIZE_FORMAT, n,
                       (int)MIN(first->name.len, SHOWN_NAME_MAX_BYTES), (const char *)first->name.data, n_first);
  for (int i = 0; i < end; i++)
    if (g_ascii_iscntrl(detail[i]))
      detail[i] = '?';
  shaper->reject->remedy = "'readings.zip' needs lists of the same length; exclude other lists from the object";
  return tide_shaper_reject(shaper, TIDE_REJECT_TYPE, place, name, detail);
}

/* Counts the values of the next list, at @place: each list must have @n_values, except the first. */
static gboolean
add_column(TideLayout *layout, TideBytes name, gsize place, gsize *n_values)
{
  TideShaper *shaper = layout->shaper;
  TideBytes unused;
  gboolean has;
  gsize n = 0;
  if (layout->columns->len >= layout->options->max_fields)
    return tide_shaper_reject(shaper, TIDE_REJECT_TOO_MANY_FIELDS, place, name, NULL);
  if (!layout->calls->begin(layout->reader))
    return FALSE;
  Column column = {.name = name, .frame = *tide_shaper_top(shaper)};
  keep_place(layout, &column.place);
  for (;; n++) {
    if (!layout->calls->next(layout->reader, &has, &unused))
      return FALSE;
    if (!has)
      break;
    if (!layout->calls->pass(layout->reader))
      return FALSE;
  }
  if (layout->columns->len > 0 && n != *n_values)
    return reject_lengths(layout, place, &g_array_index(layout->columns, Column, 0), *n_values, name, n);
  *n_values = n;
  g_array_append_val(layout->columns, column);
  return TRUE;
}

/* Makes a reading of the next value of each column. */
static gboolean
take_row(TideLayout *layout, gsize place)
{
  TideShaper *shaper = layout->shaper;
  guint32 depth = shaper->depth;
  if (!tide_shaper_begin_reading(shaper, place))
    return FALSE;
  for (guint i = 0; i < layout->columns->len; i++) {
    Column *column = &g_array_index(layout->columns, Column, i);
    TideBytes unused;
    gboolean has;
    return_to(layout, &column->place);
    shaper->frames[depth] = column->frame;
    shaper->depth = depth + 1;
    if (!layout->calls->next(layout->reader, &has, &unused) || !take_whole(layout, column->name))
      return FALSE;
    column->frame = *tide_shaper_top(shaper);
    keep_place(layout, &column->place);
    shaper->depth = depth;
  }
  return tide_shaper_end_reading(shaper, place);
}

/* Reads the next object, at @place: its lists have the values of consecutive readings, and all other members are the
 * same for each reading. */
static gboolean
take_zip(TideLayout *layout, gsize place)
{
  const TideReaderCalls *calls = layout->calls;
  TideShaper *shaper = layout->shaper;
  gsize n_values = 0;
  Place behind;
  g_array_set_size(layout->columns, 0);
  if (!tide_shaper_begin_outer(shaper, place, TIDE_BYTES_EMPTY) || !calls->begin(layout->reader))
    return FALSE;
  for (;;) {
    TideNextValue next;
    TideBytes name;
    gboolean has;
    gsize at;
    if (!calls->next(layout->reader, &has, &name))
      return FALSE;
    if (!has)
      break;
    if (!peek(layout, &next, &at) ||
        !(next == TIDE_NEXT_LIST ? add_column(layout, name, at, &n_values) : take_whole(layout, name)))
      return FALSE;
  }
  if (layout->columns->len == 0) {
    shaper->reject->remedy = "'readings.each' names the object whose members are lists, with 'readings.zip'";
    return tide_shaper_reject(shaper, TIDE_REJECT_TYPE, place, TIDE_BYTES_EMPTY, "an object without a list to zip");
  }
  TideOuterMark mark = tide_shaper_end_outer(shaper);
  keep_place(layout, &behind);
  shaper->depth++; /* the object around the lists, whose frame is unchanged */
  for (gsize i = 0; i < n_values; i++)
    if (!take_row(layout, place))
      return FALSE;
  shaper->depth--;
  return_to(layout, &behind);
  tide_reading_builder_leave_outer(shaper->builder, mark);
  return TRUE;
}

/* ---- items ---- */

/* Reads the next value after all steps, if readings may be other than objects. */
static gboolean
take_any_item(TideLayout *layout)
{
  TideNextValue next, first;
  gsize place;
  if (!peek(layout, &next, &place))
    return FALSE;
  if (next == TIDE_NEXT_OBJECT)
    return layout->options->layout.zip ? take_zip(layout, place) : take_reading(layout);
  if (layout->n_positions == 0 || next == TIDE_NEXT_NONE ||
      (next == TIDE_NEXT_NULL && layout->options->layout.on_missing == TIDE_MISSING_SKIP))
    return take_no_reading(layout, next, place);
  if (next == TIDE_NEXT_LIST) {
    if (!peek_inside(layout, &first))
      return FALSE;
    if (first == TIDE_NEXT_OBJECT || first == TIDE_NEXT_LIST)
      return take_list(layout, take_any_item);
  }
  return take_positions(layout, next == TIDE_NEXT_LIST, place);
}

/* ---- steps ---- */

/* Calls a function for the value of each member of the next object: @take_wanted for the member called @wanted, which
 * may occur once. Other members are added as fields, or only checked.
 * @ret_missing: -1, or the position of the member if it is null, or of the object without it */
static gboolean
find_member(TideLayout *layout, TideBytes wanted, TakeFunc take_wanted, gint64 *ret_missing)
{
  const TideReaderCalls *calls = layout->calls;
  gsize start, place;
  TideNextValue next;
  gboolean has, is_found = FALSE;
  if (!peek(layout, &next, &start))
    return FALSE;
  if (next != TIDE_NEXT_OBJECT)
    return calls->reject_instead_of(layout->reader, TIDE_NEXT_OBJECT);
  if (!calls->begin(layout->reader))
    return FALSE;
  *ret_missing = (gint64)start;
  for (;;) {
    TideBytes name;
    if (!calls->next(layout->reader, &has, &name))
      return FALSE;
    if (!has)
      return TRUE;
    if (!tide_bytes_equal(name, wanted)) {
      if (!take_whole(layout, name))
        return FALSE;
      continue;
    }
    if (!peek(layout, &next, &place))
      return FALSE;
    if (is_found)
      return tide_shaper_reject(layout->shaper, TIDE_REJECT_DUPLICATE_FIELD, place, name, NULL);
    is_found = TRUE;
    *ret_missing = next == TIDE_NEXT_NULL ? (gint64)place : -1;
    if (!(next == TIDE_NEXT_NULL ? check_whole(layout) : take_wanted(layout)))
      return FALSE;
    if (layout->is_last)
      return TRUE;
  }
}

/* Handles the object at @start, whose member @name is absent, or null at @place. */
static gboolean
take_missing(TideLayout *layout, const Place *start, TideBytes name, gsize place)
{
  TideShaper *shaper = layout->shaper;
  switch (layout->options->layout.on_missing) {
  case TIDE_MISSING_SKIP:
    return tide_shaper_skip_reading(shaper, place);
  case TIDE_MISSING_READING:
    return_to(layout, start);
    return take_reading(layout);
  case TIDE_MISSING_REJECT:
    break;
  }
  shaper->reject->remedy = "see 'readings.root' and 'readings.each'; 'readings.on_missing' may skip such messages, or "
                           "read them as readings";
  return tide_shaper_reject(shaper, TIDE_REJECT_MISSING_FIELD, place, name,
                            "there is no such member around the readings, or it is null");
}

/* Continues after the step's result, if more follows: the values beside it are read first. */
static gboolean
pass_inside(TideLayout *layout)
{
  const TideReaderCalls *calls = layout->calls;
  gsize place;
  TideNextValue next;
  if (!peek(layout, &next, &place))
    return FALSE;
  if (next == TIDE_NEXT_NONE)
    return calls->reject_instead_of(layout->reader, TIDE_NEXT_LIST);
  if (next == TIDE_NEXT_SCALAR && layout->n_positions == 0)
    return check_misplaced(layout, place);
  layout->is_last = calls->is_last != NULL && calls->is_last(layout->reader);
  if (layout->is_last)
    return TRUE;
  keep_place(layout, &layout->inside);
  return layout->calls->pass(layout->reader);
}

static gboolean take_step(TideLayout *layout);

/* The function for the values after the steps taken so far. */
static inline TakeFunc
next_taker(const TideLayout *layout)
{
  return layout->step < layout->steps->len ? take_step : layout->take_item;
}

/* Reads the next value, or each item if it is a list. */
static gboolean
take_items(TideLayout *layout)
{
  return take_one_or_list(layout, next_taker(layout));
}

/* With positions, a list that begins with a scalar is a reading. */
static gboolean
take_items_or_reading(TideLayout *layout)
{
  TideNextValue next, first = TIDE_NEXT_NONE;
  gsize place;
  if (layout->n_positions == 0 || layout->step < layout->steps->len)
    return take_items(layout);
  if (!peek(layout, &next, &place) || (next == TIDE_NEXT_LIST && !peek_inside(layout, &first)))
    return FALSE;
  return is_scalar(first) ? take_any_item(layout) : take_items(layout);
}

/* Continues after one more step. */
static gboolean
take_inside(TideLayout *layout, TakeFunc take)
{
  layout->step++;
  gboolean good = take(layout);
  layout->step--;
  return good;
}

/* Reads the next object, at @place, by a step into one member. */
static gboolean
take_member(TideLayout *layout, const Step *step, gsize place)
{
  TideShaper *shaper = layout->shaper;
  Place start, behind;
  gint64 missing = -1;
  TideBytes unused;
  gboolean has;
  keep_place(layout, &start);
  if (!tide_shaper_begin_outer(shaper, place, step->prefix) || !find_member(layout, step->name, pass_inside, &missing))
    return FALSE;
  TideOuterMark mark = tide_shaper_end_outer(shaper);
  if (missing >= 0) {
    tide_reading_builder_leave_outer(shaper->builder, mark);
    return take_missing(layout, &start, step->name, (gsize)missing);
  }
  if (layout->is_last) {
    layout->is_last = FALSE;
    if (!take_inside(layout, take_items) || !layout->calls->next(layout->reader, &has, &unused))
      return FALSE;
  } else {
    keep_place(layout, &behind);
    return_to(layout, &layout->inside);
    shaper->depth++; /* the object around it, whose frame is unchanged */
    if (!take_inside(layout, take_items))
      return FALSE;
    shaper->depth--;
    return_to(layout, &behind);
  }
  tide_reading_builder_leave_outer(shaper->builder, mark);
  return TRUE;
}

/* Reads the next object, at @place, and keeps the members that may have readings. A scalar is an outer field, unless
 * positions make it a reading. @ret_scalar: -1, or the position of the first one */
static gboolean
keep_members(TideLayout *layout, const Step *step, gsize place, gint64 *ret_scalar)
{
  const TideReaderCalls *calls = layout->calls;
  TideShaper *shaper = layout->shaper;
  gboolean scalars_are_readings = layout->n_positions > 0 && layout->step + 1 == layout->steps->len;
  /* A name that is not UTF-8 is the message's fault, like any outer field. */
  if (!tide_shaper_begin_outer(shaper, place, step->prefix) || !calls->begin(layout->reader))
    return FALSE;
  g_hash_table_remove_all(step->met);
  *ret_scalar = -1;
  for (;;) {
    TideNextValue next;
    Member member;
    gboolean has;
    if (!calls->next(layout->reader, &has, &member.name))
      return FALSE;
    if (!has)
      return TRUE;
    if (!peek(layout, &next, &member.at))
      return FALSE;
    TideBytes *kept = tide_scratch_take(shaper->scratch, sizeof *kept);
    *kept = member.name;
    if (!g_hash_table_add(step->met, kept))
      return tide_shaper_reject(shaper, TIDE_REJECT_DUPLICATE_FIELD, member.at, member.name, NULL);
    if (next == TIDE_NEXT_NONE)
      return calls->reject_instead_of(layout->reader, TIDE_NEXT_OBJECT);
    if (next == TIDE_NEXT_SCALAR && !scalars_are_readings) {
      *ret_scalar = *ret_scalar < 0 ? (gint64)member.at : *ret_scalar;
      if (!take_whole(layout, member.name))
        return FALSE;
      continue;
    }
    if (layout->members->len >= layout->options->max_readings)
      return tide_shaper_reject(shaper, TIDE_REJECT_TOO_LARGE, member.at, member.name,
                                "more members than a message may have readings");
    keep_place(layout, &member.place);
    g_array_append_val(layout->members, member);
    if (!layout->calls->pass(layout->reader))
      return FALSE;
  }
}

/* Reads the next object, at @place, by a step into every member that may have readings, with a field for its name. */
static gboolean
take_every_member(TideLayout *layout, const Step *step, gsize place)
{
  TideShaper *shaper = layout->shaper;
  guint first = layout->members->len;
  Place behind;
  gint64 scalar;
  if (!keep_members(layout, step, place, &scalar))
    return FALSE;
  TideOuterMark around = tide_shaper_end_outer(shaper);
  guint n_members = layout->members->len;
  keep_place(layout, &behind);
  shaper->depth++; /* the object around them, whose frame is unchanged */
  for (guint i = first; i < n_members; i++) {
    Member member = g_array_index(layout->members, Member, i); /* a copy, because the array grows in the call */
    if (!tide_shaper_begin_outer(shaper, member.at, TIDE_BYTES_EMPTY) ||
        !tide_shaper_add(shaper, member.at, step->name, TIDE_VALUE_STRING, member.name))
      return FALSE;
    TideOuterMark mark = tide_shaper_end_outer(shaper);
    return_to(layout, &member.place);
    if (!take_inside(layout, take_items_or_reading))
      return FALSE;
    tide_reading_builder_leave_outer(shaper->builder, mark);
  }
  shaper->depth--;
  g_array_set_size(layout->members, first);
  return_to(layout, &behind);
  tide_reading_builder_leave_outer(shaper->builder, around);
  return n_members > first || scalar < 0 ||
         (tide_shaper_begin_reading(shaper, (gsize)scalar) && say_misplaced(layout, (gsize)scalar) &&
          tide_shaper_end_reading(shaper, (gsize)scalar));
}

/* Reads the next value by the next step. */
static gboolean
take_step(TideLayout *layout)
{
  TideNextValue next;
  gsize place;
  const Step *step = &g_array_index(layout->steps, Step, layout->step);
  if (!peek(layout, &next, &place))
    return FALSE;
  if (next != TIDE_NEXT_OBJECT)
    return take_no_reading(layout, next, place);
  return step->met != NULL ? take_every_member(layout, step, place) : take_member(layout, step, place);
}

/* Reads the next object, which is on the path of `root`. */
static gboolean
take_root(TideLayout *layout)
{
  const char *name = layout->root[layout->level];
  TideShaper *shaper = layout->shaper;
  Place start;
  gint64 missing = -1;
  gboolean good;
  keep_place(layout, &start);
  shaper->is_spoiled = TRUE; /* its other members are only checked */
  layout->level++;
  if (name != NULL)
    good = find_member(layout, tide_bytes_of_string(name), take_root, &missing);
  else
    good = take_items_or_reading(layout);
  layout->level--;
  if (good && missing >= 0)
    good = take_missing(layout, &start, tide_bytes_of_string(name), (gsize)missing);
  shaper->is_spoiled = TRUE;
  return good;
}

/* ---- messages ---- */

/* Reads one value of a message, or the lists in a list where the format allows it. */
static gboolean
take_nested(TideLayout *layout)
{
  TideNextValue next;
  gsize place;
  if (!peek(layout, &next, &place))
    return FALSE;
  return next == TIDE_NEXT_LIST ? take_list(layout, take_nested) : layout->take_one(layout);
}

gboolean
tide_layout_run(TideShaper *shaper, const TideReaderCalls *calls, gpointer reader)
{
  TideLayout *layout = shaper->layout;
  TakeFunc take = calls->lists_nest && !layout->message_may_be_list ? take_nested : layout->take_one;
  TideNextValue next, first = TIDE_NEXT_NONE;
  gsize place;
  g_assert(calls->place_bytes <= PLACE_MAX_BYTES);
  layout->shaper = shaper;
  layout->calls = calls;
  layout->reader = reader;
  layout->level = layout->step = 0;
  g_array_set_size(layout->members, 0);
  if (!calls->peek(reader, &next, &place) ||
      (next == TIDE_NEXT_LIST && layout->message_may_be_list && !peek_inside(layout, &first)))
    return FALSE;
  gboolean is_list = next == TIDE_NEXT_LIST && !is_scalar(first);
  if (is_list || calls->is_one_value) {
    if (!(is_list ? take_list(layout, take) : take(layout)) || !calls->peek(reader, &next, &place))
      return FALSE;
    return next == TIDE_NEXT_NONE ||
           tide_shaper_reject(shaper, TIDE_REJECT_PARSE, place, TIDE_BYTES_EMPTY, calls->detail_behind);
  }
  do {
    if (!take(layout) || !calls->peek(reader, &next, &place))
      return FALSE;
  } while (next != TIDE_NEXT_NONE);
  return TRUE;
}

gboolean
tide_layout_rereads(const TideLayout *layout)
{
  return layout->options->layout.on_missing == TIDE_MISSING_READING || layout->options->layout.zip;
}

/* ---- new and free ---- */

static TideBytes
keep_text(TideLayout *layout, const char *text)
{
  return tide_bytes_of_string(g_string_chunk_insert(layout->texts, text));
}

static void
clear_step(gpointer step)
{
  g_clear_pointer(&((Step *)step)->met, g_hash_table_unref);
}

static void
add_steps(TideLayout *layout, const TideDecodeOptions *options)
{
  g_auto(GStrv) names = g_strsplit(options->layout.each, options->separator, -1);
  g_autoptr(GString) prefix = g_string_new(options->layout.outer_prefix);
  for (char **name = names; *name != NULL; name++) {
    Step step = {.prefix = keep_text(layout, prefix->str)};
    g_autofree char *field = tide_layout_field_of_step(*name);
    step.met = field != NULL ? tide_name_set_new() : NULL;
    step.name = keep_text(layout, field != NULL ? field : *name);
    if (field == NULL)
      g_string_append_printf(prefix, "%s%s", *name, options->separator);
    g_array_append_val(layout->steps, step);
  }
}

TideLayout *
tide_layout_new(const TideDecodeOptions *options)
{
  const TideLayoutOptions *how = &options->layout;
  TideLayout *layout = g_new0(TideLayout, 1);
  layout->options = options;
  layout->root = how->root != NULL ? g_strsplit(how->root, options->separator, -1) : g_new0(char *, 1);
  layout->steps = g_array_new(FALSE, FALSE, sizeof(Step));
  g_array_set_clear_func(layout->steps, clear_step);
  layout->texts = g_string_chunk_new(64);
  layout->columns = g_array_new(FALSE, FALSE, sizeof(Column));
  layout->members = g_array_new(FALSE, FALSE, sizeof(Member));
  layout->n_positions = how->positions != NULL ? g_strv_length(how->positions) : 0;
  if (how->each != NULL)
    add_steps(layout, options);
  /* The reader has a better error for a message that is no object. */
  gboolean is_plain = layout->n_positions == 0 && !how->zip && layout->steps->len == 0;
  layout->take_item = is_plain ? take_reading : take_any_item;
  layout->take_one = layout->root[0] != NULL ? take_root : next_taker(layout);
  layout->message_may_be_list = layout->n_positions > 0 && layout->take_one == take_any_item;
  return layout;
}

void
tide_layout_free(TideLayout *layout)
{
  if (layout == NULL)
    return;
  g_strfreev(layout->root);
  g_array_unref(layout->steps);
  g_array_unref(layout->columns);
  g_array_unref(layout->members);
  g_string_chunk_free(layout->texts);
  g_free(layout);
}

char *
tide_layout_field_of_step(const char *step)
{
  gsize len = strlen(step);
  return len > 2 && step[0] == '{' && step[len - 1] == '}' ? g_strndup(step + 1, len - 2) : NULL;
}
