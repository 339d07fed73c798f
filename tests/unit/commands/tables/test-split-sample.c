/* Split points from sampled keys: where they lie, how short they are, and how evenly they divide. */
#include "commands/tables/split_sample.h"

#include "model/key/row_key.h"
#include "unit/assert_bytes.h"
#include "unit/test_case.h"

#include <stdio.h>

static void
add_texts(TideSplitSample *sample, const char *const *keys)
{
  for (; *keys != NULL; keys++)
    tide_split_sample_add(sample, tide_bytes_of_string(*keys), 0);
}

static void
assert_points(TideSplitSample *sample, guint32 n_regions, const char *const *expected)
{
  GArray *points = tide_split_sample_points(sample, n_regions);
  g_assert_cmpuint(points->len, ==, g_strv_length((char **)expected));
  for (guint i = 0; i < points->len; i++)
    assert_bytes_equal(g_array_index(points, TideBytes, i), tide_bytes_of_string(expected[i]));
  tide_splits_free(points);
}

TEST("/split-sample/points-are-quantiles")
{
  g_autoptr(TideSplitSample) sample = tide_split_sample_new(100);
  add_texts(sample,
            (const char *const[]){"delta", "alpha", "golf", "bravo", "foxtrot", "charlie", "hotel", "echo", NULL});
  assert_points(sample, 1, (const char *const[]){NULL});
  assert_points(sample, 2, (const char *const[]){"e", NULL});
  assert_points(sample, 4, (const char *const[]){"c", "e", "g", NULL});
  assert_points(sample, 8, (const char *const[]){"b", "c", "d", "e", "f", "g", "h", NULL});
  /* More regions than keys: one point before each key but the first. */
  assert_points(sample, 100, (const char *const[]){"b", "c", "d", "e", "f", "g", "h", NULL});
}

TEST("/split-sample/points-are-as-short-as-can-be")
{
  g_autoptr(TideSplitSample) sample = tide_split_sample_new(100);
  add_texts(sample, (const char *const[]){"server10#1", "server10#2", "server11#1", "server2#1", NULL});
  assert_points(sample, 4, (const char *const[]){"server10#2", "server11", "server2", NULL});
}

/* A key that goes on where the one before ends: one byte more is what divides them. */
TEST("/split-sample/a-longer-key-is-divided-from-its-prefix")
{
  g_autoptr(TideSplitSample) sample = tide_split_sample_new(100);
  add_texts(sample, (const char *const[]){"a", "abc", NULL});
  assert_points(sample, 2, (const char *const[]){"ab", NULL});
}

TEST("/split-sample/bytes-are-unsigned")
{
  g_autoptr(TideSplitSample) sample = tide_split_sample_new(100);
  tide_split_sample_add(sample, TIDE_BYTES_LITERAL("\x7f\xff"), 0);
  tide_split_sample_add(sample, TIDE_BYTES_LITERAL("\x80\x00\x01"), 0);
  assert_points(sample, 2, (const char *const[]){"\x80", NULL});
}

TEST("/split-sample/a-repeated-key-is-not-divided")
{
  g_autoptr(TideSplitSample) sample = tide_split_sample_new(100);
  add_texts(sample, (const char *const[]){"a", "hot", "hot", "hot", "hot", "hot", "hot", "z", NULL});
  assert_points(sample, 4, (const char *const[]){"z", NULL});
  g_autoptr(TideSplitSample) same = tide_split_sample_new(100);
  add_texts(same, (const char *const[]){"hot", "hot", NULL});
  assert_points(same, 4, (const char *const[]){NULL});
  g_autoptr(TideSplitSample) none = tide_split_sample_new(100);
  assert_points(none, 4, (const char *const[]){NULL});
}

/* Memory is bounded: of long keys the beginning stands for the whole. */
TEST("/split-sample/long-keys-are-told-apart-by-their-beginning")
{
  g_autofree char *text = g_strnfill(TIDE_SPLIT_SAMPLE_KEY_BYTES + 1, 'x');
  g_autoptr(TideSplitSample) sample = tide_split_sample_new(100);
  for (char last = 'a'; last <= 'z'; last++) {
    text[TIDE_SPLIT_SAMPLE_KEY_BYTES] = last;
    tide_split_sample_add(sample, tide_bytes_of_string(text), 0);
  }
  assert_points(sample, 4, (const char *const[]){NULL});
}

/* Keys of an uneven distribution: most machines in few racks, names of several lengths. */
static TideBytes
random_key(GRand *random, char *text, gsize size)
{
  double skew = g_rand_double(random);
  int len = g_snprintf(text, size, "rack%d.host%d#%u", (int)(skew * skew * skew * 50),
                       g_rand_int_range(random, 0, 3000), g_rand_int(random));
  return tide_bytes(text, (gsize)len);
}

/* The points of 20,000 sampled keys divide 100,000 others of the same distribution within 20 % of even. */
TEST("/split-sample/points-divide-the-same-distribution-evenly")
{
  enum { N_REGIONS = 16, N_SEEN = 60000, N_KEPT = 20000, N_OTHERS = 100000 };
  GRand *random = g_rand_new_with_seed(20261121);
  char text[64];
  g_autoptr(TideSplitSample) sample = tide_split_sample_new(N_KEPT);
  for (guint i = 0; i < N_SEEN; i++)
    tide_split_sample_add(sample, random_key(random, text, sizeof text), i);
  g_assert_cmpuint(tide_split_sample_n_seen(sample), ==, N_SEEN);
  GArray *points = tide_split_sample_points(sample, N_REGIONS);
  g_assert_cmpuint(points->len, ==, N_REGIONS - 1);
  for (guint i = 1; i < points->len; i++)
    g_assert_cmpint(tide_bytes_compare(g_array_index(points, TideBytes, i - 1), g_array_index(points, TideBytes, i)), <,
                    0);
  guint counts[N_REGIONS] = {0};
  for (guint i = 0; i < N_OTHERS; i++) {
    TideBytes key = random_key(random, text, sizeof text);
    guint region = 0;
    while (region < points->len && tide_bytes_compare(g_array_index(points, TideBytes, region), key) <= 0)
      region++;
    counts[region]++;
  }
  for (guint i = 0; i < N_REGIONS; i++) {
    g_assert_cmpuint(counts[i], >=, N_OTHERS / N_REGIONS * 8 / 10);
    g_assert_cmpuint(counts[i], <=, N_OTHERS / N_REGIONS * 12 / 10);
  }
  tide_splits_free(points);
  g_rand_free(random);
}

/* What is kept is of all that was seen, not of its beginning. */
TEST("/split-sample/what-is-kept-stands-for-all-that-was-seen")
{
  g_autoptr(TideSplitSample) sample = tide_split_sample_new(1000);
  char text[16];
  for (guint i = 0; i < 100000; i++) {
    g_snprintf(text, sizeof text, "%05u", i);
    tide_split_sample_add(sample, tide_bytes_of_string(text), i);
  }
  GArray *points = tide_split_sample_points(sample, 2);
  g_assert_cmpuint(points->len, ==, 1);
  TideBytes middle = g_array_index(points, TideBytes, 0);
  g_assert_cmpint(tide_bytes_compare(middle, TIDE_BYTES_LITERAL("45")), >, 0);
  g_assert_cmpint(tide_bytes_compare(middle, TIDE_BYTES_LITERAL("55")), <, 0);
  tide_splits_free(points);
}

typedef enum KeyShape { TIME_FIRST, TIME_REVERSED_FIRST, TIME_LAST, NO_TIME } KeyShape;

static TideSplitTrend
trend_of(KeyShape shape)
{
  g_autoptr(TideSplitSample) sample = tide_split_sample_new(10000);
  char text[64];
  for (guint i = 0; i < 5000; i++) {
    guint host = i * 7919 % 500;
    if (shape == TIME_FIRST)
      g_snprintf(text, sizeof text, "%013u#host%u", i, host);
    else if (shape == TIME_REVERSED_FIRST)
      g_snprintf(text, sizeof text, "%013u#host%u", 100000 - i, host);
    else if (shape == TIME_LAST)
      g_snprintf(text, sizeof text, "host%u#%013u", host, i);
    else
      g_snprintf(text, sizeof text, "host%u", host);
    tide_split_sample_add(sample, tide_bytes_of_string(text), (gint64)i * 1000);
  }
  return tide_split_sample_trend(sample);
}

TEST("/split-sample/keys-that-move-with-time-are-found")
{
  g_assert_cmpint(trend_of(TIME_FIRST), ==, TIDE_SPLIT_TREND_UP);
  g_assert_cmpint(trend_of(TIME_REVERSED_FIRST), ==, TIDE_SPLIT_TREND_DOWN);
  g_assert_cmpint(trend_of(TIME_LAST), ==, TIDE_SPLIT_TREND_NONE);
  g_assert_cmpint(trend_of(NO_TIME), ==, TIDE_SPLIT_TREND_NONE);
}

/* Readings of one moment, or of few machines, show no trend. */
TEST("/split-sample/no-trend-is-seen-where-none-can-be")
{
  g_autoptr(TideSplitSample) sample = tide_split_sample_new(10000);
  char text[16];
  for (guint i = 0; i < 1000; i++) {
    g_snprintf(text, sizeof text, "%04u", i);
    tide_split_sample_add(sample, tide_bytes_of_string(text), 1426535612045);
  }
  g_assert_cmpint(tide_split_sample_trend(sample), ==, TIDE_SPLIT_TREND_NONE);
  g_autoptr(TideSplitSample) few = tide_split_sample_new(10000);
  add_texts(few, (const char *const[]){"a", "b", NULL});
  g_assert_cmpint(tide_split_sample_trend(few), ==, TIDE_SPLIT_TREND_NONE);
}
