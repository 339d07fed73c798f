/* Split points from a sample of a table's row keys: for keys of free text, whose distribution is unknown. Pure. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

typedef struct TideSplitSample TideSplitSample;

/* With fewer keys per region, random variation moves the points noticeably: with 100, the keys of one region vary by
 * about a tenth (the square root of 100). */
#define TIDE_SPLIT_SAMPLE_KEYS_PER_REGION 100u

/* Longer keys are truncated to this length: keys with the same prefix are not divided. Together with max_keys it limits
 * the memory. */
#define TIDE_SPLIT_SAMPLE_KEY_BYTES 256u

/* @max_keys: the number of keys to keep, each key added having the same chance (reservoir sampling). The same keys in
 * the same order give the same points. */
TideSplitSample *tide_split_sample_new(guint32 max_keys);
void tide_split_sample_free(TideSplitSample *sample); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideSplitSample, tide_split_sample_free)

/* @key: copied if kept. @event_time_ns: of its reading. */
void tide_split_sample_add(TideSplitSample *sample, TideBytes key, gint64 event_time_ns);

guint64 tide_split_sample_n_seen(const TideSplitSample *sample); /* keys added */

/**
 * tide_split_sample_points: split points that give each of @n_regions about the same number of keys. Each point is as
 * short as possible while dividing the two keys around it. A frequent key is one row and cannot be divided, so there
 * may be fewer points than requested, and none for an empty sample. Ownership: (transfer full), free with
 * tide_splits_free(). (element-type TideBytes): ascending, all different.
 */
GArray *tide_split_sample_points(TideSplitSample *sample, guint32 n_regions);

typedef enum TideSplitTrend {
  TIDE_SPLIT_TREND_NONE,
  TIDE_SPLIT_TREND_UP,   /* later readings sort after earlier ones: all new rows are in the last region */
  TIDE_SPLIT_TREND_DOWN, /* before them, as with a reversed time first: in the first region */
} TideSplitTrend;

/* Whether the keys follow the event time, so that points from the past do not divide future rows. */
TideSplitTrend tide_split_sample_trend(TideSplitSample *sample);

G_END_DECLS
