/* Split points from a sample of a table's row keys: for keys of free text, whose distribution no scheme tells. Pure. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

typedef struct TideSplitSample TideSplitSample;

/* Below this many keys for each region, chance moves the points noticeably: with 100, the keys of one region vary by
 * about a tenth (the square root of 100). */
#define TIDE_SPLIT_SAMPLE_KEYS_PER_REGION 100u

/* Of a longer key only so much is kept: keys that are equal so far are not divided. With max_keys it bounds the memory.
 */
#define TIDE_SPLIT_SAMPLE_KEY_BYTES 256u

/* @max_keys: that many are kept, each key seen with the same chance (a reservoir). The same keys in the same order give
 * the same points. */
TideSplitSample *tide_split_sample_new(guint32 max_keys);
void tide_split_sample_free(TideSplitSample *sample); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideSplitSample, tide_split_sample_free)

/* @key: copied when it is kept. @event_time_ns: of the reading that made it. */
void tide_split_sample_add(TideSplitSample *sample, TideBytes key, gint64 event_time_ns);

guint64 tide_split_sample_n_seen(const TideSplitSample *sample); /* keys added */

/**
 * tide_split_sample_points: where to split so that each of @n_regions holds about the same number of keys.
 * Each point is as short as it can be and still divides the two keys it stands between. A key that was met often is one
 * row and cannot be divided, so there may be fewer points than asked for, and none of an empty sample.
 * Ownership: (transfer full), free with tide_splits_free(). (element-type TideBytes): ascending, all different.
 */
GArray *tide_split_sample_points(TideSplitSample *sample, guint32 n_regions);

typedef enum TideSplitTrend {
  TIDE_SPLIT_TREND_NONE,
  TIDE_SPLIT_TREND_UP,   /* later readings sort behind the earlier ones: all new rows would fall into the last region */
  TIDE_SPLIT_TREND_DOWN, /* before them, as with a reversed time in front: into the first region */
} TideSplitTrend;

/* Whether the keys move with the event time, so that points taken from the past divide nothing that is to come. */
TideSplitTrend tide_split_sample_trend(TideSplitSample *sample);

G_END_DECLS
