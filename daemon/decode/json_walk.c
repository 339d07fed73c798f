/* Reads the readings of a JSON message, strictly: the whole message is checked against RFC 8259 before any reading is
 * used. decoder.h describes the accepted forms. There is no recursion, so nesting needs no stack. */
#include "decode/formats.h"

#include "decode/frame.h"
#include "decode/json_index.h"
#include "decode/json_text.h"
#include "decode/layout.h"

/* Readings with more bytes around their values are not learned. */
#define SKELETON_MAX_BYTES (64u * 1024)

/* After this many readings without a match, only every SKELETONS_RETRY-th reading is compared, and learned. */
#define SKELETONS_PATIENCE 32u
#define SKELETONS_RETRY 64u

/* The text between two values. */
typedef struct Joint {
  guint32 len;
  guint32 n_tokens; /* of this joint, with the first one */
} Joint;

/* A reading's text around its values: brackets, names, colons, commas and white space, byte for byte. A reading with
 * the same skeleton has the same names, and its values are found by their position. Text that begins at a token,
 * outside strings, and has the same bytes has the same tokens, so it is not parsed again. */
typedef struct Skeleton {
  TideReadingNames names; /* empty: nothing was learned */
  TideBuffer bytes;       /* of all joints, in sequence */
  TideBuffer joints;      /* of Joint: one before each value, and one after the last value */
  guint32 n_tokens;       /* of all joints, plus one per value */
  guint32 depth;          /* containers around the members */
} Skeleton;

/* Skeletons of one or a few producers; with more, they replace each other, the oldest first. */
typedef struct Skeletons {
  Skeleton all[TIDE_MAX_SHAPES]; /* by slot of their shape */
  guint32 likely;                /* the skeleton that matched last */
  guint32 oldest;                /* the next one to be replaced */
  guint32 n_unlike;              /* readings since the last match */
} Skeletons;

typedef struct Walk {
  const guint32 *next; /* its position, a token: the token's offset in text */

  /* set before start, then read-only */
  const TideDecodeOptions *options; /* borrowed */
  TideShaper *shaper;               /* borrowed */
  TideJsonIndex *index;             /* owned */

  /* across messages */
  Skeletons skeletons; /* of recent readings */

  /* of the message */
  TideReadingBuilder *builder; /* borrowed */
  TideReject *reject;          /* borrowed: the caller's */
  guint8 *text;                /* in scratch, padded with white space */
  const guint32 *end;          /* after the last token: the length of text */
  gboolean has_escapes;
} Walk;

static gpointer
open_walk(TideShaper *shaper)
{
  Walk *walk = g_new0(Walk, 1);
  walk->options = shaper->options;
  walk->shaper = shaper;
  walk->index = tide_json_index_new();
  for (guint32 i = 0; i < TIDE_MAX_SHAPES; i++)
    walk->skeletons.all[i].names.shape.slot = i;
  return walk;
}

static void
close_walk(gpointer kept)
{
  Walk *walk = kept;
  tide_json_index_free(walk->index);
  for (guint32 i = 0; i < TIDE_MAX_SHAPES; i++) {
    tide_reading_names_clear(&walk->skeletons.all[i].names);
    tide_buffer_clear_memory(&walk->skeletons.all[i].bytes);
    tide_buffer_clear_memory(&walk->skeletons.all[i].joints);
  }
  g_free(walk);
}

/* ---- faults ---- */

static inline gboolean
fault(Walk *walk, TideRejectReason reason, gsize position, const char *detail)
{
  return tide_reject_set(walk->reject, reason, (gint64)position, detail);
}

static inline gboolean
fault_in_field(Walk *walk, TideRejectReason reason, gsize position, TideBytes field, const char *detail)
{
  walk->reject->field = field;
  return fault(walk, reason, position, detail);
}

/* ---- tokens ---- */

static inline gsize
token_offset(const Walk *walk)
{
  return *walk->next;
}

/* The first byte of the next token; at the end of the text, white space. */
static inline guint8
token_byte(const Walk *walk)
{
  return walk->text[token_offset(walk)];
}

static inline gboolean
take_byte(Walk *walk, guint8 byte)
{
  if (token_byte(walk) != byte)
    return FALSE;
  walk->next++;
  return TRUE;
}

static inline gboolean
is_white_space(guint8 byte)
{
  return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

/* Whether a number, true, false or null may end before @byte. */
static inline gboolean
ends_scalar(guint8 byte)
{
  return byte == ',' || byte == '}' || byte == ']' || is_white_space(byte);
}

static inline gboolean
fault_at_token(Walk *walk, const char *detail)
{
  if (walk->next == walk->end)
    detail = "the text is truncated";
  return fault(walk, TIDE_REJECT_PARSE, token_offset(walk), detail);
}

static gboolean
unescape(Walk *walk, TideBytes *text)
{
  gsize start = (gsize)(text->data - walk->text);
  guint8 *out = walk->shaper->raw.depth > 0                 ? NULL
                : tide_layout_rereads(walk->shaper->layout) ? tide_scratch_take(walk->shaper->scratch, text->len)
                                                            : walk->text + start;
  gsize len;
  switch (tide_json_unescape(*text, out, &len)) {
  case TIDE_JSON_ESCAPE_OK:
    if (out != NULL)
      text->data = out;
    text->len = len;
    return TRUE;
  case TIDE_JSON_ESCAPE_UNKNOWN:
    return fault(walk, TIDE_REJECT_PARSE, start + len, "an unknown escape in a string");
  case TIDE_JSON_ESCAPE_LONE_SURROGATE:
    return fault(walk, TIDE_REJECT_UTF8, start + len, "an escape of half a character (a lone surrogate)");
  }
  return FALSE;
}

/* The string at the next token, which begins with a quote. Only white space may follow its closing quote before the
 * next token. */
static inline gboolean
take_string(Walk *walk, TideBytes *ret_text)
{
  gsize start = token_offset(walk) + 1;
  walk->next++;
  gsize end = token_offset(walk);
  while (end > start && is_white_space(walk->text[end - 1]))
    end--;
  if (G_UNLIKELY(end <= start || walk->text[end - 1] != '"'))
    return fault(walk, TIDE_REJECT_PARSE, start - 1, "a string that does not end");
  *ret_text = tide_bytes(walk->text + start, end - 1 - start);
  if (G_LIKELY(!walk->has_escapes) || memchr(ret_text->data, '\\', ret_text->len) == NULL)
    return TRUE;
  return unescape(walk, ret_text);
}

/* ---- values ---- */

static inline gboolean
read_number(Walk *walk, TideBytes name, TideBytes *ret_text)
{
  gsize offset = token_offset(walk);
  const guint8 *start = walk->text + offset;
  const guint8 *end = walk->text + walk->next[1];
  if (!tide_json_is_short_number(start, (gsize)(end - start)))
    end = tide_json_number_end(start);
  if (G_UNLIKELY(end == NULL || !ends_scalar(*end)))
    return fault_in_field(walk, TIDE_REJECT_PARSE, offset, name, "not a number");
  walk->next++;
  *ret_text = tide_bytes(start, (gsize)(end - start));
  return TRUE;
}

/* Reads true, false or null. */
static gboolean
read_word(Walk *walk, TideBytes name, TideBytes word)
{
  gsize offset = token_offset(walk);
  const guint8 *start = walk->text + offset;
  if (memcmp(start, word.data, word.len) != 0 || !ends_scalar(start[word.len]))
    return fault_in_field(walk, TIDE_REJECT_PARSE, offset, name, "not a value");
  walk->next++;
  return TRUE;
}

/* Reads NaN or the like as null, if the configuration allows it. Within a list whose text is kept it is a fault,
 * because the text must be JSON. */
static G_GNUC_NO_INLINE gboolean
take_not_finite(Walk *walk, TideValueKind *ret_kind, TideBytes *ret_text)
{
  const guint8 *end = tide_not_finite_end(walk->text + token_offset(walk));
  if (!walk->options->fields.nan_is_null || walk->shaper->raw.depth != 0 || end == NULL || !ends_scalar(*end))
    return FALSE;
  walk->next++;
  *ret_kind = TIDE_VALUE_NULL;
  *ret_text = TIDE_BYTES_EMPTY;
  return TRUE;
}

/* Reads the next value, a scalar called @name. */
static inline gboolean
read_scalar(Walk *walk, TideBytes name, TideValueKind *ret_kind, TideBytes *ret_text)
{
  switch (token_byte(walk)) {
  case '-':
    if (G_UNLIKELY(!g_ascii_isdigit(walk->text[token_offset(walk) + 1])) && take_not_finite(walk, ret_kind, ret_text))
      return TRUE;
    G_GNUC_FALLTHROUGH;
  case '0' ... '9':
    *ret_kind = TIDE_VALUE_NUMBER;
    return read_number(walk, name, ret_text);
  case '"':
    *ret_kind = TIDE_VALUE_STRING;
    return take_string(walk, ret_text);
  case 't':
    *ret_kind = TIDE_VALUE_BOOL;
    *ret_text = tide_boolean_text(walk->options->booleans, TRUE);
    return read_word(walk, name, TIDE_BYTES_LITERAL("true"));
  case 'f':
    *ret_kind = TIDE_VALUE_BOOL;
    *ret_text = tide_boolean_text(walk->options->booleans, FALSE);
    return read_word(walk, name, TIDE_BYTES_LITERAL("false"));
  case 'n':
    *ret_kind = TIDE_VALUE_NULL;
    *ret_text = TIDE_BYTES_EMPTY;
    return read_word(walk, name, TIDE_BYTES_LITERAL("null"));
  default:
    if (take_not_finite(walk, ret_kind, ret_text))
      return TRUE;
    walk->reject->field = name;
    return fault_at_token(walk, "not a value");
  }
}

static inline gboolean
is_too_long(TideValueKind kind, TideBytes text)
{
  return kind == TIDE_VALUE_NUMBER && text.len > TIDE_NUMBER_MAX_BYTES;
}

/* ---- members ---- */

static inline gboolean
take_value(gpointer reader, TideBytes name)
{
  Walk *walk = reader;
  guint8 byte = token_byte(walk);
  gsize offset = token_offset(walk);
  TideValueKind kind;
  TideBytes text;
  if (byte == '{' || byte == '[') {
    walk->next++;
    return tide_shaper_begin(walk->shaper, offset, name, byte == '{');
  }
  if (!read_scalar(walk, name, &kind, &text))
    return FALSE;
  if (G_UNLIKELY(is_too_long(kind, text)))
    return tide_shaper_bad_value(walk->shaper, TIDE_REJECT_NUMBER, offset, name, TIDE_NUMBER_TOO_LONG);
  return tide_shaper_add(walk->shaper, offset, name, kind, text);
}

static inline gboolean
take_name(Walk *walk, TideBytes *ret_name)
{
  if (G_UNLIKELY(token_byte(walk) != '"'))
    return fault_at_token(walk, "a member's name in quotes was expected");
  if (!take_string(walk, ret_name))
    return FALSE;
  if (!take_byte(walk, ':'))
    return fault_at_token(walk, "a colon was expected");
  tide_shaper_name(walk->shaper, *ret_name);
  return TRUE;
}

/* Advances to the next member of the innermost object or array, or closes it. */
static G_ALWAYS_INLINE inline gboolean
next_member(gpointer reader, gboolean *ret_has, TideBytes *ret_name)
{
  Walk *walk = reader;
  const TideShaperFrame *frame = tide_shaper_top(walk->shaper);
  *ret_has = token_byte(walk) != (frame->is_object ? '}' : ']');
  if (!*ret_has)
    return tide_shaper_end(walk->shaper, *walk->next++ + 1);
  if (frame->n_members > 0 && !take_byte(walk, ','))
    return fault_at_token(walk, "a comma or the closing bracket was expected");
  if (frame->is_object)
    return take_name(walk, ret_name);
  *ret_name = tide_shaper_next_element(walk->shaper);
  return TRUE;
}

static gboolean
take_members(gpointer reader, guint32 depth)
{
  return tide_shaper_take_members(((Walk *)reader)->shaper, reader, depth, next_member, take_value);
}

/* ---- values around readings ---- */

static gboolean
peek(gpointer reader, TideNextValue *ret_next, gsize *ret_place)
{
  const Walk *walk = reader;
  const guint8 *text = walk->text + token_offset(walk);
  gboolean is_null = memcmp(text, "null", 4) == 0 && ends_scalar(text[4]);
  *ret_place = token_offset(walk);
  *ret_next = *text == '{'              ? TIDE_NEXT_OBJECT
              : *text == '['            ? TIDE_NEXT_LIST
              : walk->next == walk->end ? TIDE_NEXT_NONE
              : is_null                 ? TIDE_NEXT_NULL
                                        : TIDE_NEXT_SCALAR;
  return TRUE;
}

static inline gboolean
push(Walk *walk, gboolean is_object)
{
  gsize offset = token_offset(walk);
  walk->next++;
  return tide_shaper_push(walk->shaper, offset, TIDE_BYTES_EMPTY, is_object);
}

static gboolean
begin_around(gpointer reader)
{
  Walk *walk = reader;
  return push(walk, token_byte(walk) == '{');
}

/* Consecutive opening brackets deeper than allowed are reported as a depth fault. */
static gboolean
reject_instead_of(gpointer reader, TideNextValue wanted)
{
  Walk *walk = reader;
  const guint32 *token = walk->next;
  guint32 depth = walk->shaper->depth;
  if (wanted == TIDE_NEXT_LIST)
    return fault_at_token(walk, "a list of readings was expected");
  while (walk->text[*token] == '[' && depth < walk->options->max_depth) {
    token++;
    depth++;
  }
  if (walk->text[*token] == '[')
    return fault(walk, TIDE_REJECT_DEPTH, *token, NULL);
  return fault_at_token(walk, "an object was expected");
}

/* Skips a value; in a container only the brackets are examined. */
static gboolean
pass(gpointer reader)
{
  Walk *walk = reader;
  TideShaper *shaper = walk->shaper;
  guint32 outer_depth = shaper->depth;
  do {
    guint8 byte = token_byte(walk);
    if (byte == '[' || byte == '{') {
      if (!push(walk, byte == '{'))
        return FALSE;
      continue;
    }
    if (walk->next == walk->end)
      return fault_at_token(walk, NULL);
    if (byte == ']' || byte == '}') {
      if (shaper->depth == outer_depth)
        return fault_at_token(walk, "not a value");
      if (tide_shaper_top(shaper)->is_object != (byte == '}'))
        return fault_at_token(walk, "a comma or the closing bracket was expected");
      shaper->depth--;
    }
    walk->next++;
  } while (shaper->depth > outer_depth);
  return TRUE;
}

/* ---- readings like earlier ones ----
 *
 * Producers write the same names in the same order. If the text around a reading's values equals a skeleton, its names
 * are not parsed again. Nothing is added until the whole reading has matched. */

/* Reads the next value, at the position of a value in the skeleton. */
static inline gboolean
read_known(Walk *walk, TideField *field)
{
  const guint32 *token = walk->next;
  TideBytes text = tide_bytes(walk->text + token[0], token[1] - token[0]);
  if (G_LIKELY(tide_json_is_short_number(text.data, text.len))) {
    /* The comparison of the next joint, which begins there, checks that the number ends. */
    field->kind = TIDE_VALUE_NUMBER;
    field->text = text;
    walk->next++;
    return TRUE;
  }
  if (text.data[0] == '"') {
    field->kind = TIDE_VALUE_STRING;
    return take_string(walk, &field->text);
  }
  return read_scalar(walk, TIDE_BYTES_EMPTY, &field->kind, &field->text) && !is_too_long(field->kind, field->text);
}

/* Reads a reading's values into @fields if its text matches @skeleton. Its loop uses all registers: in one function
 * with the general parser, it is a tenth slower. */
static G_GNUC_NO_INLINE gboolean
read_values(Walk *walk, const Skeleton *skeleton, TideField *fields, gboolean *ret_some_null)
{
  const TideReadingNames *names = &skeleton->names;
  const TideField *known = names->fields + names->n_outer;
  const Joint *joint = (const Joint *)(const void *)skeleton->joints.data;
  const guint8 *bytes = skeleton->bytes.data;
  gboolean some_null = FALSE;
  for (guint32 i = 0; i < names->n_own; i++, joint++) {
    gsize offset = token_offset(walk);
    walk->next += joint->n_tokens;
    if (token_offset(walk) - offset != joint->len || !tide_memory_equal(walk->text + offset, bytes, joint->len))
      return FALSE;
    bytes += joint->len;
    TideField *field = &fields[i];
    if (!read_known(walk, field))
      return FALSE;
    field->name = known[i].name;
    field->name_id = known[i].name_id;
    some_null |= field->kind == TIDE_VALUE_NULL;
  }
  *ret_some_null = some_null;
  gsize offset = token_offset(walk);
  walk->next += joint->n_tokens;
  /* The same bytes have the same tokens and so this length; but a joint may be longer than the rest of the text. */
  return walk->next[-1] + 1 - offset == joint->len && tide_memory_equal(walk->text + offset, bytes, joint->len);
}

/* Reads the reading that begins at @first, if it matches @skeleton. */
static gboolean
take_like(Walk *walk, const guint32 *first, const Skeleton *skeleton)
{
  gboolean some_null;
  if (skeleton->n_tokens > (gsize)(walk->end - first) || skeleton->depth != walk->shaper->depth)
    return FALSE;
  TideField *fields = tide_reading_builder_offer(walk->builder, &skeleton->names);
  if (fields == NULL)
    return FALSE;
  walk->next = first;
  if (!read_values(walk, skeleton, fields, &some_null)) {
    *walk->reject = (TideReject){.byte_position = -1};
    return FALSE;
  }
  tide_reading_builder_take_offered(walk->builder, &skeleton->names, some_null);
  return TRUE;
}

/* Reads the members of the reading that begins at @first, and its end. FALSE: it matches no skeleton, and nothing was
 * done. */
static gboolean
take_known_members(Walk *walk, const guint32 *first)
{
  Skeletons *skeletons = &walk->skeletons;
  for (guint32 i = 0; i < TIDE_MAX_SHAPES; i++) {
    guint32 at = (skeletons->likely + i) % TIDE_MAX_SHAPES;
    if (!take_like(walk, first, &skeletons->all[at]))
      continue;
    skeletons->likely = at;
    skeletons->n_unlike = 0;
    walk->shaper->depth--;
    return TRUE;
  }
  walk->next = first + 1;
  return FALSE;
}

/* Whether @token is a scalar value. */
static gboolean
is_scalar_token(const guint8 *text, const guint32 *token)
{
  switch (text[token[0]]) {
  case '{':
  case '}':
  case '[':
  case ']':
  case ':':
  case ',':
    return FALSE;
  case '"':
    return text[token[1]] != ':'; /* otherwise it is a name */
  default:
    return TRUE;
  }
}

static gboolean
add_joint(Skeleton *skeleton, const guint8 *text, gsize start, gsize end, guint32 n_tokens)
{
  Joint joint = {.len = (guint32)(end - start), .n_tokens = n_tokens};
  if (joint.len > SKELETON_MAX_BYTES - skeleton->bytes.len)
    return FALSE;
  tide_buffer_append(&skeleton->bytes, text + start, joint.len);
  tide_buffer_append(&skeleton->joints, &joint, sizeof joint);
  skeleton->n_tokens += n_tokens;
  return TRUE;
}

/* Builds the joints of the tokens; FALSE: there are not exactly @n_values values between them. */
static gboolean
learn_joints(Skeleton *skeleton, const guint8 *text, const guint32 *first, const guint32 *end, guint32 n_values)
{
  const guint32 *start = first;
  guint32 n = 0;
  for (const guint32 *token = first; token < end; token++) {
    if (!is_scalar_token(text, token))
      continue;
    if (!add_joint(skeleton, text, *start, *token, (guint32)(token - start)))
      return FALSE;
    start = token + 1;
    skeleton->n_tokens++;
    n++;
  }
  return n == n_values && add_joint(skeleton, text, *start, (gsize)end[-1] + 1, (guint32)(end - start));
}

/* Learns the reading that ended last, whose text has no escapes. @first: its opening bracket; its tokens end before the
 * next one. Some readings cannot be learned, or are too large to be worth it. */
static void
learn_skeleton(Walk *walk, const guint32 *first)
{
  Skeletons *skeletons = &walk->skeletons;
  Skeleton *skeleton = &skeletons->all[skeletons->oldest];
  tide_buffer_reset(&skeleton->bytes);
  tide_buffer_reset(&skeleton->joints);
  skeleton->n_tokens = 0;
  skeleton->depth = walk->shaper->depth + 1;
  if (!tide_reading_builder_learn(walk->builder, &skeleton->names) ||
      !learn_joints(skeleton, walk->text, first, walk->next, skeleton->names.n_own)) {
    tide_reading_names_clear(&skeleton->names); /* `oldest` stays, so that readings that cannot be learned do not
                                                   replace one skeleton after the other */
    return;
  }
  skeletons->oldest = (skeletons->oldest + 1) % TIDE_MAX_SHAPES;
}

/* ---- readings ---- */

static gboolean
take_reading(gpointer reader)
{
  Walk *walk = reader;
  TideShaper *shaper = walk->shaper;
  const guint32 *first = walk->next;
  gsize offset = token_offset(walk);
  if (token_byte(walk) != '{')
    return reject_instead_of(walk, TIDE_NEXT_OBJECT);
  if (!push(walk, TRUE) || !tide_shaper_begin_reading(shaper, offset))
    return FALSE;
  guint32 n_unlike = walk->skeletons.n_unlike;
  gboolean looks = !walk->has_escapes && /* unescaping changes the text */
                   (n_unlike < SKELETONS_PATIENCE || n_unlike % SKELETONS_RETRY == 0);
  if (looks && take_known_members(walk, first))
    return tide_shaper_end_reading(shaper, offset);
  walk->skeletons.n_unlike++;
  if (!take_members(walk, shaper->depth - 1) || !tide_shaper_end_reading(shaper, offset))
    return FALSE;
  if (looks && !shaper->is_spoiled)
    learn_skeleton(walk, first);
  return TRUE;
}

static const TideReaderCalls calls = {
    .peek = peek,
    .begin = begin_around,
    .next = next_member,
    .take = take_value,
    .take_members = take_members,
    .take_reading = take_reading,
    .reject_instead_of = reject_instead_of,
    .pass = pass,
    .place_bytes = sizeof(((Walk *)NULL)->next),
    .detail_behind = "text after the array",
};

/* ---- messages ---- */

static gboolean
run(Walk *walk, TideBytes json)
{
  guint32 n_tokens;
  if (!tide_json_index_build(walk->index, walk->text, json.len, &walk->next, &n_tokens)) {
    tide_json_text_fault(json, walk->reject);
    return FALSE;
  }
  walk->end = walk->next + n_tokens;
  if (n_tokens == 0)
    return fault(walk, TIDE_REJECT_EMPTY, 0, "only white space");
  if (tide_layout_run(walk->shaper, &calls, walk))
    return TRUE;
  /* Only some kernels of simdjson check bytes outside strings; the reported reason must not depend on the CPU. */
  gssize utf8_fault = walk->reject->reason == TIDE_REJECT_PARSE ? tide_json_utf8_fault(json) : -1;
  if (utf8_fault >= 0)
    fault(walk, TIDE_REJECT_UTF8, (gsize)utf8_fault, NULL);
  return FALSE;
}

static gboolean
read_message(TideShaper *shaper, gpointer kept, TideBytes message, TideReject *ret_reject)
{
  Walk *walk = kept;
  guint32 unused; /* the schema's number, not needed because JSON contains the names */
  const char *why;
  gboolean is_framed = shaper->options->framing != TIDE_FRAMING_NONE;
  if (is_framed && !tide_frame_read(message, &unused, &why))
    return tide_reject_set(ret_reject, TIDE_REJECT_PARSE, 0, why);
  TideBytes json = tide_bytes_behind_mark(tide_bytes_from(message, is_framed ? TIDE_FRAME_BYTES : 0));
  gsize skipped_bytes = message.len - json.len;
  guint8 *copy = tide_scratch_take(shaper->scratch, message.len + TIDE_JSON_PADDING_BYTES);
  memcpy(copy, message.data, message.len);
  memset(copy + message.len, ' ', TIDE_JSON_PADDING_BYTES);
  walk->builder = shaper->builder;
  walk->reject = ret_reject;
  walk->text = copy + skipped_bytes;
  walk->has_escapes = memchr(json.data, '\\', json.len) != NULL;
  tide_shaper_begin_message(shaper, ret_reject, walk->text, skipped_bytes);
  gboolean good = run(walk, json);
  if (!good)
    ret_reject->byte_position += (gint64)skipped_bytes;
  return good;
}

const TideFormatReader tide_json_reader = {.open = open_walk, .close = close_walk, .read = read_message};
