/* What the walk over a message (json_walk.c) and over what stands around its readings (json_envelope.c) share. */
#pragma once

#include "decode/json_index.h"
#include "decode/json_skeleton.h"
#include "decode/json_walk.h"

G_BEGIN_DECLS

/* The decimal digits of a guint32. */
#define ELEMENT_NAME_MAX_BYTES 10

/* An open object or array. */
typedef struct Frame {
  gsize outer; /* for tide_reading_builder_leave(); only where something was entered */
  guint32 n_members;
  gboolean is_object;
  gboolean is_entered;
} Frame;

struct TideJsonWalk {
  /* set before start, then read-only */
  const TideDecodeOptions *options; /* borrowed */
  TideJsonIndex *index;             /* owned */
  Frame *frames;                    /* owned: options->max_depth of them */
  char **root;                      /* owned, NULL-terminated: the names on the way to the readings */

  /* across messages */
  TideJsonSkeletons skeletons; /* of readings that came lately */

  /* of the message */
  TideReadingBuilder *builder; /* borrowed */
  TideReject *reject;          /* borrowed: the caller's */
  guint8 *text;                /* in scratch, padded with white space */
  const guint32 *next;         /* token: its offset in text */
  const guint32 *end;          /* behind the last token: the length of text */
  guint32 depth;
  gboolean has_escapes;
  gsize skipped_bytes; /* of the message, before text */

  /* of the reading */
  gboolean is_spoiled; /* it is left out: what is left of it is only checked */
  gboolean is_outer;   /* it is none, but stands around the list of readings */

  /* of what stands around readings */
  guint level;         /* names of root that were met */
  const guint32 *list; /* token: where the list of readings begins */

  /* the array or object that is kept as its raw JSON, while inside of it */
  guint32 raw_depth; /* of its frame; 0: none */
  gsize raw_start;   /* in text */
  TideBytes raw_name;
  char element_name[ELEMENT_NAME_MAX_BYTES];
};

/* ---- faults ---- */

static inline gboolean
fault(TideJsonWalk *walk, TideRejectReason reason, gsize position, const char *detail)
{
  return tide_reject_set(walk->reject, reason, (gint64)position, detail);
}

static inline gboolean
fault_in_field(TideJsonWalk *walk, TideRejectReason reason, gsize position, TideBytes field, const char *detail)
{
  walk->reject->field = field;
  return fault(walk, reason, position, detail);
}

/* ---- tokens ---- */

static inline gsize
token_offset(const TideJsonWalk *walk)
{
  return *walk->next;
}

/* The byte that the next token begins with; white space at the end of the text. */
static inline guint8
token_byte(const TideJsonWalk *walk)
{
  return walk->text[token_offset(walk)];
}

static inline gboolean
take_byte(TideJsonWalk *walk, guint8 byte)
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
fault_at_token(TideJsonWalk *walk, const char *detail)
{
  if (walk->next == walk->end)
    detail = "the text ends in the middle";
  return fault(walk, TIDE_REJECT_PARSE, token_offset(walk), detail);
}

static inline gboolean
push(TideJsonWalk *walk, gboolean is_object)
{
  if (walk->depth >= walk->options->max_depth)
    return fault(walk, TIDE_REJECT_DEPTH, token_offset(walk), NULL);
  walk->frames[walk->depth++] = (Frame){.is_object = is_object};
  walk->next++;
  return TRUE;
}

/* ---- json_walk.c: each takes what the next tokens are. FALSE: the message is rejected ---- */

gboolean tide_json_walk_take_name(TideJsonWalk *walk, TideBytes *ret_name);
gboolean tide_json_walk_take_value(TideJsonWalk *walk, TideBytes name);
gboolean tide_json_walk_take_reading(TideJsonWalk *walk);
gboolean tide_json_walk_fault_no_reading(TideJsonWalk *walk);

/* ---- json_envelope.c ---- */

/* All readings of the message. */
gboolean tide_json_envelope_take(TideJsonWalk *walk);

G_END_DECLS
