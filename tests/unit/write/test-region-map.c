/* The map from row keys to lanes, at the borders of its regions. */
#include "write/lanes.h"
#include "write/region_map.h"

static const TideTable table = {.index = 0, .name = (char *)"T"};

static TideLanes *
lanes_new(void)
{
  TideLanesOptions options = {.n_tables = 1, .max_rows = 10, .max_bytes = 1000, .max_in_flight_per_region = 1};
  return tide_lanes_new(&options);
}

/* A map of regions that begin with @starts. */
static TideRegionMap *
map_new(TideLanes *lanes, const TideBytes *starts, guint n)
{
  TideRegionMap *map = tide_region_map_new(n, 0, 1);
  for (guint i = 0; i < n; i++)
    map->lanes[i] = tide_lanes_make_lane(lanes, &table, starts[i], i + 1 < n ? starts[i + 1] : TIDE_BYTES_EMPTY);
  tide_region_map_prepare(map);
  return map;
}

static void
test_key_at_a_border(void)
{
  static const TideBytes starts[] = {{NULL, 0},
                                     {(const guint8 *)"b", 1},
                                     {(const guint8 *)"b\0", 2},
                                     {(const guint8 *)"d\xff", 2},
                                     {(const guint8 *)"\xff", 1}};
  static const struct {
    const char *key;
    gsize len;
    guint32 region;
  } cases[] = {
      {"", 0, 0},    {"a", 1, 0},         {"a\xff\xff", 3, 0}, {"b", 1, 1},
      {"b\0", 2, 2}, {"b\0\0", 3, 2},     {"b\1", 2, 2},       {"c", 1, 2},
      {"d", 1, 2},   {"d\xfe\xff", 3, 2}, {"d\xff", 2, 3},     {"d\xff\0", 3, 3},
      {"e", 1, 3},   {"\xfe", 1, 3},      {"\xff", 1, 4},      {"\xff\xff\xff", 3, 4},
  };
  TideLanes *lanes = lanes_new();
  TideRegionMap *map = map_new(lanes, starts, G_N_ELEMENTS(starts));
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    g_assert_cmpuint(tide_region_map_find(map, tide_bytes(cases[i].key, cases[i].len)), ==, cases[i].region);
  tide_region_map_unref(map);
  tide_lanes_free(lanes);
}

/* Of every number of regions: the key that is a region's start is in it, the one before in the region before. */
static void
test_every_start_of_every_map(void)
{
  TideLanes *lanes = lanes_new();
  for (guint n = 1; n <= 40; n++) {
    guint8 bytes[40][2];
    TideBytes starts[40] = {{NULL, 0}};
    for (guint i = 1; i < n; i++) {
      bytes[i][0] = (guint8)(5 * i);
      starts[i] = tide_bytes(bytes[i], 1);
    }
    TideRegionMap *map = map_new(lanes, starts, n);
    for (guint i = 0; i < n; i++) {
      g_assert_cmpuint(tide_region_map_find(map, starts[i]), ==, i);
      guint8 before[2] = {(guint8)(5 * i + 4), 0xff};
      g_assert_cmpuint(tide_region_map_find(map, tide_bytes(before, 2)), ==, i);
    }
    tide_region_map_unref(map);
  }
  tide_lanes_free(lanes);
}

static int
compare_texts(gconstpointer a, gconstpointer b)
{
  const TideBytes *first = a, *second = b;
  return tide_bytes_compare(*first, *second);
}

/* A random key of few different bytes, so that keys share beginnings, longer and shorter than what is kept of them. */
static TideBytes
draw_key(guint8 *bytes)
{
  static const guint8 drawn[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
  gsize n_shared = (gsize)g_test_rand_int_range(0, 10), len = n_shared + (gsize)g_test_rand_int_range(0, 4);
  for (gsize i = 0; i < len; i++)
    bytes[i] = i < n_shared ? 0x00 : drawn[g_test_rand_int_range(0, G_N_ELEMENTS(drawn))];
  return tide_bytes(bytes, len);
}

/* Against a walk along all starts. */
static void
test_random_maps(void)
{
  TideLanes *lanes = lanes_new();
  for (guint round = 0; round < 200; round++) {
    guint8 bytes[30][16];
    TideBytes starts[30] = {{NULL, 0}};
    guint n = 1, n_drawn = (guint)g_test_rand_int_range(1, G_N_ELEMENTS(starts));
    for (guint i = 1; i < n_drawn; i++)
      starts[i] = draw_key(bytes[i]);
    qsort(starts, n_drawn, sizeof *starts, compare_texts);
    for (guint i = 1; i < n_drawn; i++)
      if (compare_texts(&starts[i], &starts[n - 1]) > 0)
        starts[n++] = starts[i];
    TideRegionMap *map = map_new(lanes, starts, n);
    for (guint k = 0; k < 100; k++) {
      guint8 key_bytes[16];
      TideBytes key = draw_key(key_bytes);
      guint expected = 0;
      while (expected + 1 < n && tide_bytes_compare(starts[expected + 1], key) <= 0)
        expected++;
      g_assert_cmpuint(tide_region_map_find(map, key), ==, expected);
    }
    tide_region_map_unref(map);
  }
  tide_lanes_free(lanes);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/region-map/X18-key-at-a-border", test_key_at_a_border);
  g_test_add_func("/region-map/X18-every-start-of-every-map", test_every_start_of_every_map);
  g_test_add_func("/region-map/X18-random-maps", test_random_maps);
  return g_test_run();
}
