/* What of a reading's JSON text stands around its values: brackets, names, colons, commas and white space, byte for
 * byte. Where another reading has the same, its names are those of the first, and its values are known by their place.
 *
 * Text that begins at a token, outside of strings, and has the same bytes has the same tokens, so nothing of it is
 * looked at again. */
#pragma once

#include "decode/reading_builder.h"

G_BEGIN_DECLS

/* What stands between two values. */
typedef struct TideJsonJoint {
  guint32 len;
  guint32 n_tokens; /* from the one that it begins with */
} TideJsonJoint;

typedef struct TideJsonSkeleton {
  TideReadingNames names; /* without any: nothing was learned */
  TideBuffer bytes;       /* of all joints, one behind the other */
  TideBuffer joints;      /* of TideJsonJoint: one before each value, and the last behind all */
  guint32 n_tokens;       /* of all joints, and one for each value */
  guint32 depth;          /* containers around the members */
} TideJsonSkeleton;

/* Of one producer or of a few; more take turns, and one that is gone gives way. */
typedef struct TideJsonSkeletons {
  TideJsonSkeleton all[TIDE_MAX_SHAPES]; /* by their shape's slot */
  guint32 likely;                        /* that of the last reading that was like one */
  guint32 oldest;                        /* that gives way to the next */
  guint32 n_unlike;                      /* readings since one was like any of these */
} TideJsonSkeletons;

void tide_json_skeletons_init(TideJsonSkeletons *skeletons);
void tide_json_skeletons_clear(TideJsonSkeletons *skeletons);

/* After so many readings of which none was like an earlier one, only each so many looks for one, and is learned. */
#define TIDE_JSON_SKELETONS_PATIENCE 32u
#define TIDE_JSON_SKELETONS_RETRY 64u

static inline gboolean
tide_json_skeletons_are_worth_a_look(const TideJsonSkeletons *skeletons)
{
  return skeletons->n_unlike < TIDE_JSON_SKELETONS_PATIENCE || skeletons->n_unlike % TIDE_JSON_SKELETONS_RETRY == 0;
}

static inline void
tide_json_skeletons_met(TideJsonSkeletons *skeletons, guint32 at)
{
  skeletons->likely = at;
  skeletons->n_unlike = 0;
}

/**
 * tide_json_skeletons_learn: from the reading that @builder ended last.
 * @text: in which no string has an escape
 * @first, @end: its tokens, from the opening bracket to behind the closing one: see tide_json_index_build()
 * Some cannot be learned, or take more bytes than is worth it.
 */
void tide_json_skeletons_learn(TideJsonSkeletons *skeletons, TideReadingBuilder *builder, const guint8 *text,
                               const guint32 *first, const guint32 *end, guint32 depth);

G_END_DECLS
