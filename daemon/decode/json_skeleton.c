#include "decode/json_skeleton.h"

/* More bytes around the values of a reading are not learned. */
#define SKELETON_MAX_BYTES (64u * 1024)

void
tide_json_skeletons_init(TideJsonSkeletons *skeletons)
{
  *skeletons = (TideJsonSkeletons){0};
  for (guint32 i = 0; i < TIDE_MAX_SHAPES; i++)
    skeletons->all[i].names.shape.slot = i;
}

void
tide_json_skeletons_clear(TideJsonSkeletons *skeletons)
{
  for (guint32 i = 0; i < TIDE_MAX_SHAPES; i++) {
    tide_reading_names_clear(&skeletons->all[i].names);
    tide_buffer_clear_memory(&skeletons->all[i].bytes);
    tide_buffer_clear_memory(&skeletons->all[i].joints);
  }
}

/* Whether @token is a value that is no container. */
static gboolean
is_scalar(const guint8 *text, const guint32 *token)
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
    return text[token[1]] != ':'; /* else it is a name */
  default:
    return TRUE;
  }
}

static gboolean
add_joint(TideJsonSkeleton *skeleton, const guint8 *text, gsize start, gsize end, guint32 n_tokens)
{
  TideJsonJoint joint = {.len = (guint32)(end - start), .n_tokens = n_tokens};
  if (joint.len > SKELETON_MAX_BYTES - skeleton->bytes.len)
    return FALSE;
  tide_buffer_append(&skeleton->bytes, text + start, joint.len);
  tide_buffer_append(&skeleton->joints, &joint, sizeof joint);
  skeleton->n_tokens += n_tokens;
  return TRUE;
}

/* The joints of the tokens; FALSE: they are not those of @n_values values. */
static gboolean
learn_joints(TideJsonSkeleton *skeleton, const guint8 *text, const guint32 *first, const guint32 *end, guint32 n_values)
{
  const guint32 *start = first;
  guint32 n = 0;
  for (const guint32 *token = first; token < end; token++) {
    if (!is_scalar(text, token))
      continue;
    if (!add_joint(skeleton, text, *start, *token, (guint32)(token - start)))
      return FALSE;
    start = token + 1;
    skeleton->n_tokens++;
    n++;
  }
  return n == n_values && add_joint(skeleton, text, *start, (gsize)end[-1] + 1, (guint32)(end - start));
}

void
tide_json_skeletons_learn(TideJsonSkeletons *skeletons, TideReadingBuilder *builder, const guint8 *text,
                          const guint32 *first, const guint32 *end, guint32 depth)
{
  TideJsonSkeleton *skeleton = &skeletons->all[skeletons->oldest];
  tide_buffer_reset(&skeleton->bytes);
  tide_buffer_reset(&skeleton->joints);
  skeleton->n_tokens = 0;
  skeleton->depth = depth;
  if (!tide_reading_builder_learn(builder, &skeleton->names) ||
      !learn_joints(skeleton, text, first, end, skeleton->names.n_own)) {
    tide_reading_names_clear(&skeleton->names); /* the next one may have its place: one that cannot be learned must not
                                                 * drive out one after the other */
    return;
  }
  skeletons->oldest = (skeletons->oldest + 1) % TIDE_MAX_SHAPES;
}
