#include "decode/shaper.h"

#include "decode/json_text.h"
#include "util/json_writer.h"

/* Texts of lists that are made for a message take at most this many times the largest message: a long name around many
 * short values must not fill the memory. */
#define MADE_BYTES_FACTOR 8u

void
tide_shaper_clear(TideShaper *shaper)
{
  g_free(shaper->frames);
  g_strfreev(shaper->root);
}

void
tide_shaper_begin_message(TideShaper *shaper, TideReject *reject, const guint8 *text, gsize skipped_bytes)
{
  shaper->reject = reject;
  shaper->text = text;
  shaper->skipped_bytes = skipped_bytes;
  shaper->depth = shaper->raw.depth = 0;
  shaper->made_bytes = 0;
  shaper->level = 0;
  shaper->is_spoiled = shaper->is_outer = FALSE;
}

/* ---- faults ---- */

G_GNUC_NO_INLINE gboolean
tide_shaper_spoil(TideShaper *shaper, gsize place)
{
  TideReject *reject = shaper->reject;
  reject->byte_position = (gint64)place;
  if (shaper->is_outer || !tide_reading_builder_can_spoil(shaper->builder, reject))
    return FALSE;
  reject->byte_position += (gint64)shaper->skipped_bytes;
  tide_reading_builder_spoil(shaper->builder, reject);
  shaper->is_spoiled = TRUE;
  return TRUE;
}

gboolean
tide_shaper_bad_value(TideShaper *shaper, TideRejectReason reason, gsize place, TideBytes field, const char *detail)
{
  if (shaper->is_spoiled)
    return TRUE;
  tide_shaper_reject(shaper, reason, place, field, detail);
  return tide_shaper_spoil(shaper, place);
}

gboolean
tide_shaper_bad_utf8(TideShaper *shaper, gsize place, TideBytes field, TideBytes text)
{
  return tide_shaper_bad_value(shaper, TIDE_REJECT_UTF8, place + (gsize)tide_json_utf8_fault(text), field, NULL);
}

/* ---- lists and objects as their JSON text ---- */

static inline gboolean
makes_text(const TideShaper *shaper)
{
  return shaper->raw.depth > 0 && shaper->text == NULL && !shaper->is_spoiled;
}

static gboolean
check_text_size(TideShaper *shaper, gsize place)
{
  guint64 max_bytes = (guint64)shaper->options->max_message_bytes * MADE_BYTES_FACTOR;
  return shaper->made_bytes + shaper->scratch->pieces.len <= max_bytes ||
         tide_shaper_reject(shaper, TIDE_REJECT_TOO_LARGE, place, shaper->raw.name,
                            "the JSON text of arrays takes too much memory");
}

/* @n_members: of what is open, with the one that begins. */
static void
write_comma(TideShaper *shaper, guint32 n_members)
{
  if (n_members > 1)
    tide_buffer_append_byte(&shaper->scratch->pieces, ',');
}

void
tide_shaper_write_name(TideShaper *shaper, TideBytes name)
{
  if (!makes_text(shaper))
    return;
  write_comma(shaper, tide_shaper_top(shaper)->n_members);
  tide_json_string_append(&shaper->scratch->pieces, name);
  tide_buffer_append_byte(&shaper->scratch->pieces, ':');
}

gboolean
tide_shaper_add_inside(TideShaper *shaper, gsize place, TideValueKind kind, TideBytes text)
{
  TideBuffer *json = &shaper->scratch->pieces;
  if (!makes_text(shaper))
    return TRUE;
  if (kind == TIDE_VALUE_STRING)
    tide_json_string_append(json, text);
  else
    tide_buffer_append_bytes(json, kind == TIDE_VALUE_NULL ? TIDE_BYTES_LITERAL("null") : text);
  return check_text_size(shaper, place);
}

/* ---- members ---- */

TideBytes
tide_shaper_next_element(TideShaper *shaper)
{
  guint32 index = tide_shaper_top(shaper)->n_members++;
  if (shaper->raw.depth > 0) {
    if (makes_text(shaper))
      write_comma(shaper, index + 1);
    return TIDE_BYTES_EMPTY;
  }
  gsize start = sizeof shaper->element_name;
  do {
    shaper->element_name[--start] = (char)('0' + index % 10);
    index /= 10;
  } while (index > 0);
  return tide_bytes(shaper->element_name + start, sizeof shaper->element_name - start);
}

gboolean
tide_shaper_begin(TideShaper *shaper, gsize place, TideBytes name, gboolean is_object)
{
  gboolean is_member = shaper->raw.depth == 0;
  TideArrayForm form = shaper->options->arrays;
  if (is_member && !is_object && form == TIDE_ARRAY_REJECT && !shaper->is_spoiled) {
    shaper->reject->remedy =
        "let 'readings.arrays' be json (one field, its JSON text) or index (a field for each item)";
    if (!tide_shaper_bad_value(shaper, TIDE_REJECT_TYPE, place, name, "an array"))
      return FALSE;
  }
  if (!tide_shaper_push(shaper, place, name, is_object))
    return FALSE;
  if (is_member && (is_object ? shaper->options->raw_objects : form == TIDE_ARRAY_JSON)) {
    shaper->raw.depth = shaper->depth;
    shaper->raw.place = place;
    shaper->raw.name = name;
    tide_buffer_reset(&shaper->scratch->pieces);
  }
  if (shaper->raw.depth > 0) {
    if (makes_text(shaper))
      tide_buffer_append_byte(&shaper->scratch->pieces, is_object ? '{' : '[');
    return !makes_text(shaper) || check_text_size(shaper, place);
  }
  if (shaper->is_spoiled)
    return TRUE;
  TideShaperFrame *frame = tide_shaper_top(shaper);
  frame->is_entered = tide_reading_builder_enter(shaper->builder, name, &frame->outer, shaper->reject);
  return frame->is_entered || tide_shaper_spoil(shaper, place);
}

gboolean
tide_shaper_end(TideShaper *shaper, gsize place)
{
  const TideShaperFrame *frame = tide_shaper_top(shaper);
  if (frame->is_entered)
    tide_reading_builder_leave(shaper->builder, frame->outer);
  if (makes_text(shaper))
    tide_buffer_append_byte(&shaper->scratch->pieces, frame->is_object ? '}' : ']');
  gboolean ends_raw = shaper->depth == shaper->raw.depth;
  shaper->depth--;
  if (!ends_raw)
    return TRUE;
  shaper->raw.depth = 0;
  if (shaper->is_spoiled)
    return TRUE;
  TideBytes text = tide_buffer_bytes(&shaper->scratch->pieces);
  shaper->made_bytes += text.len;
  text = shaper->text != NULL ? tide_bytes(shaper->text + shaper->raw.place, place - shaper->raw.place)
                              : tide_scratch_copy(shaper->scratch, text);
  return tide_shaper_add(shaper, shaper->raw.place, shaper->raw.name, TIDE_VALUE_JSON, text);
}

/* ---- what stands around readings ---- */

typedef gboolean (*TakeFunc)(TideShaper *shaper);

static gboolean
take_list(TideShaper *shaper, TakeFunc take)
{
  TideBytes unused;
  gboolean has;
  if (!shaper->calls->begin(shaper->reader))
    return FALSE;
  do {
    if (!shaper->calls->next(shaper->reader, &has, &unused) || (has && !take(shaper)))
      return FALSE;
  } while (has);
  return TRUE;
}

static gboolean
take_one_or_list(TideShaper *shaper, TakeFunc take)
{
  TideNextValue next;
  gsize place;
  if (!shaper->calls->peek(shaper->reader, &next, &place))
    return FALSE;
  return next == TIDE_NEXT_LIST ? take_list(shaper, take) : take(shaper);
}

static gboolean
take_reading(TideShaper *shaper)
{
  return shaper->calls->take_reading(shaper->reader);
}

gboolean
tide_shaper_take_reading(TideShaper *shaper, gsize place)
{
  return shaper->calls->begin(shaper->reader) && tide_shaper_begin_reading(shaper, place) &&
         shaper->calls->take_members(shaper->reader, shaper->depth - 1) && tide_shaper_end_reading(shaper, place);
}

/* The value that comes next, with all that is in it. */
static gboolean
take_whole(TideShaper *shaper, TideBytes name)
{
  guint32 depth = shaper->depth;
  return shaper->calls->take(shaper->reader, name) && shaper->calls->take_members(shaper->reader, depth);
}

/* What the configuration says is in the object that begins at @place. */
static gboolean
reject_missing(TideShaper *shaper, gsize place, const char *name)
{
  shaper->reject->remedy = "see 'readings.root' and 'readings.each'";
  return tide_shaper_reject(shaper, TIDE_REJECT_MISSING_FIELD, place, tide_bytes_of_string(name),
                            "no such member stands around the readings, or it is null");
}

/* Hands the value of each member of the object that comes next to a function: @take_wanted that of the member called
 * @wanted, which must be there once and not null. Others are fields of what is begun, or checked only. */
static gboolean
take_around(TideShaper *shaper, const char *wanted, TakeFunc take_wanted)
{
  const TideReaderCalls *calls = shaper->calls;
  gpointer reader = shaper->reader;
  gsize start, place;
  TideNextValue next;
  gboolean has, is_found = FALSE;
  if (!calls->peek(reader, &next, &start))
    return FALSE;
  if (next != TIDE_NEXT_OBJECT)
    return calls->reject_instead_of(reader, TIDE_NEXT_OBJECT);
  if (!calls->begin(reader))
    return FALSE;
  for (;;) {
    TideBytes name;
    if (!calls->next(reader, &has, &name))
      return FALSE;
    if (!has)
      return is_found || reject_missing(shaper, start, wanted);
    if (!tide_bytes_equal(name, tide_bytes_of_string(wanted))) {
      if (!take_whole(shaper, name))
        return FALSE;
      continue;
    }
    if (!calls->peek(reader, &next, &place))
      return FALSE;
    if (is_found)
      return tide_shaper_reject(shaper, TIDE_REJECT_DUPLICATE_FIELD, place, name, NULL);
    is_found = TRUE;
    if (next == TIDE_NEXT_NULL)
      return reject_missing(shaper, place, wanted);
    if (!take_wanted(shaper))
      return FALSE;
  }
}

/* Goes on behind the list of readings that comes next: what stands beside it comes first. */
static gboolean
pass_list(TideShaper *shaper)
{
  const TideReaderCalls *calls = shaper->calls;
  gsize place;
  TideNextValue next;
  if (!calls->peek(shaper->reader, &next, &place))
    return FALSE;
  if (next != TIDE_NEXT_LIST)
    return calls->reject_instead_of(shaper->reader, TIDE_NEXT_LIST);
  memcpy(shaper->list, shaper->reader, calls->place_bytes);
  if (calls->pass_list != NULL)
    return calls->pass_list(shaper->reader);
  shaper->is_spoiled = TRUE;
  gboolean good = take_whole(shaper, TIDE_BYTES_EMPTY);
  shaper->is_spoiled = FALSE;
  return good;
}

/* An object with a list of readings in it, which take what stands beside the list along. */
static gboolean
take_each(TideShaper *shaper)
{
  const TideReaderCalls *calls = shaper->calls;
  gpointer reader = shaper->reader;
  TideNextValue next;
  gsize place;
  if (!calls->peek(reader, &next, &place))
    return FALSE;
  shaper->is_outer = TRUE;
  if (!tide_shaper_begin_reading(shaper, place) || !take_around(shaper, shaper->options->each, pass_list))
    return FALSE;
  shaper->is_outer = FALSE;
  tide_reading_builder_end_outer(shaper->builder);
  guint8 behind[TIDE_READER_PLACE_MAX_BYTES];
  memcpy(behind, reader, calls->place_bytes);
  memcpy(reader, shaper->list, calls->place_bytes);
  shaper->depth++; /* the object around the list, whose frame is still as it was */
  if (!take_list(shaper, take_reading))
    return FALSE;
  shaper->depth--;
  memcpy(reader, behind, calls->place_bytes);
  tide_reading_builder_leave_outer(shaper->builder);
  return TRUE;
}

/* The object that comes next: the way to the readings leads through it. */
static gboolean
take_root(TideShaper *shaper)
{
  const char *name = shaper->root[shaper->level];
  shaper->is_spoiled = TRUE; /* what stands beside it is only checked */
  shaper->level++;
  gboolean good = name != NULL ? take_around(shaper, name, take_root)
                               : take_one_or_list(shaper, shaper->options->each != NULL ? take_each : take_reading);
  shaper->level--;
  shaper->is_spoiled = TRUE;
  return good;
}

/* What a message may have several of, where lists of such may stand in lists. */
static gboolean
take_nested(TideShaper *shaper)
{
  TideNextValue next;
  gsize place;
  if (!shaper->calls->peek(shaper->reader, &next, &place))
    return FALSE;
  return next == TIDE_NEXT_LIST ? take_list(shaper, take_nested) : shaper->take_one(shaper);
}

gboolean
tide_shaper_run(TideShaper *shaper, const TideReaderCalls *calls, gpointer reader)
{
  TakeFunc take = calls->lists_nest ? take_nested : shaper->take_one;
  TideNextValue next;
  gsize place;
  g_assert(calls->place_bytes <= sizeof shaper->list);
  shaper->calls = calls;
  shaper->reader = reader;
  if (!calls->peek(reader, &next, &place))
    return FALSE;
  if (next == TIDE_NEXT_LIST || calls->is_one_value) {
    if (!take_one_or_list(shaper, take) || !calls->peek(reader, &next, &place))
      return FALSE;
    return next == TIDE_NEXT_NONE ||
           tide_shaper_reject(shaper, TIDE_REJECT_PARSE, place, TIDE_BYTES_EMPTY, calls->detail_behind);
  }
  do {
    if (!take(shaper) || !calls->peek(reader, &next, &place))
      return FALSE;
  } while (next != TIDE_NEXT_NONE);
  return TRUE;
}

void
tide_shaper_init(TideShaper *shaper, const TideDecodeOptions *options, TideReadingBuilder *builder,
                 TideScratch *scratch)
{
  *shaper = (TideShaper){
      .options = options,
      .builder = builder,
      .scratch = scratch,
      .frames = g_new0(TideShaperFrame, options->max_depth),
      .root = options->root != NULL ? g_strsplit(options->root, options->separator, -1) : g_new0(char *, 1),
  };
  shaper->take_one = shaper->root[0] != NULL ? take_root : options->each != NULL ? take_each : take_reading;
}
