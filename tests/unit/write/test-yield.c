/* How a process that yields follows the load of a gateway: what each call does to its bound, and what remains for live
 * calls on a simulated gateway. */
#include "util/clock.h"

#include "write/yield.h"
#include <math.h>

#define WRITERS 4
#define CALL_US (20 * TIDE_US_PER_MS)
#define CALL_ROWS 1000

/* As in yield.c, for calls of one kind. */
#define BASE_CALLS 16
#define ROUND_CALLS 8

/* ---- calls one by one ---- */

typedef struct World {
  TideYield yield;
  TideYieldKind kinds[2];
  guint kind; /* of the calls: index in kinds */
  gint64 now_us;
} World;

/* One call at a time, without waiting. */
static void
end_call(World *world, gint64 took_us, guint32 n_rows, gboolean is_turned_away)
{
  TideYieldCall call = {.start_us = world->now_us,
                        .n_rows = n_rows,
                        .is_acknowledged = !is_turned_away,
                        .is_turned_away = is_turned_away};
  tide_yield_begin_call(&world->yield);
  world->now_us += took_us;
  tide_yield_end_call(&world->yield, &world->kinds[world->kind], &call, world->now_us);
}

static void
end_calls(World *world, guint n_calls, gint64 took_us, guint32 n_rows)
{
  for (guint i = 0; i < n_calls; i++)
    end_call(world, took_us, n_rows, FALSE);
}

static void
end_rounds(World *world, guint n_rounds, gint64 took_us, guint32 n_rows)
{
  end_calls(world, n_rounds * ROUND_CALLS, took_us, n_rows);
}

/* Twice as long, and a bound of exactly half is not a matter of rounding. */
#define TWICE(us) (2 * (us)-1)

static void
assert_pause(const World *world, gint64 about_us)
{
  gint64 wait_us = tide_yield_wait_us(&world->yield, world->now_us);
  g_assert_cmpfloat_with_epsilon((double)wait_us, (double)about_us, (double)about_us / 1000);
}

static void
set_up(World *world, gconstpointer data)
{
  world->now_us = 1000 * TIDE_US_PER_S;
  world->kind = 0;
  memset(world->kinds, 0, sizeof world->kinds);
  tide_yield_init(&world->yield, WRITERS, world->now_us);
}

static void
tear_down(World *world, gconstpointer data)
{
}

/* How many calls may be in flight at once now. */
static guint32
count_allowed(const World *world)
{
  TideYield yield = world->yield;
  guint32 n = 0;
  while (tide_yield_wait_us(&yield, world->now_us) == 0 && n <= WRITERS) {
    tide_yield_begin_call(&yield);
    n++;
  }
  return n;
}

static void
widen(World *world, gint64 took_us, guint32 n_rows)
{
  end_rounds(world, 4 * (WRITERS - 1), took_us, n_rows);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS);
}

/* The base, and then as many rounds as it takes until all writers may have a call. */
static void
measure(World *world, gint64 took_us, guint32 n_rows)
{
  end_calls(world, BASE_CALLS, took_us, n_rows);
  widen(world, took_us, n_rows);
}

static void
let_base_expire(World *world)
{
  world->now_us += 60 * TIDE_US_PER_S;
  end_call(world, CALL_US, CALL_ROWS, FALSE); /* shows that the base has become too old */
  g_assert_cmpint(tide_yield_wait_us(&world->yield, world->now_us), >=, CALL_US);
  world->now_us = world->yield.not_before_us;
}

static void
test_first_calls_are_sent_one_by_one_with_pauses(World *world, gconstpointer data)
{
  for (guint i = 0; i < BASE_CALLS - 1; i++) {
    g_assert_cmpuint(count_allowed(world), ==, 1);
    end_call(world, CALL_US, CALL_ROWS, FALSE);
    g_assert_cmpint(tide_yield_wait_us(&world->yield, world->now_us), ==, CALL_US);
    world->now_us += CALL_US;
  }
  end_call(world, CALL_US, CALL_ROWS, FALSE);
  for (guint32 allowed = 1; allowed < WRITERS; allowed++) {
    g_assert_cmpuint(count_allowed(world), ==, allowed);
    end_rounds(world, 4, CALL_US * 6 / 5, CALL_ROWS);
  }
  end_rounds(world, 4, CALL_US, CALL_ROWS);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS);
}

static void
test_two_slow_rounds_shrink_the_bound_until_the_next_base(World *world, gconstpointer data)
{
  measure(world, CALL_US, CALL_ROWS);
  end_rounds(world, 1, TWICE(CALL_US), CALL_ROWS);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS);
  end_rounds(world, 1, CALL_US, CALL_ROWS); /* the slow one was chance */
  end_rounds(world, 1, TWICE(CALL_US), CALL_ROWS);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS);
  end_rounds(world, 1, TWICE(CALL_US), CALL_ROWS);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS / 2);
  end_rounds(world, 40, CALL_US, CALL_ROWS);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS - 1);
  let_base_expire(world);
  end_calls(world, BASE_CALLS, CALL_US, CALL_ROWS);
  end_rounds(world, 1, CALL_US, CALL_ROWS);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS);
}

static void
test_bound_below_one_is_pauses(World *world, gconstpointer data)
{
  measure(world, CALL_US, CALL_ROWS);
  end_rounds(world, 4, 4 * TWICE(CALL_US), CALL_ROWS); /* from four to a half, then to an eighth */
  g_assert_cmpuint(count_allowed(world), ==, 0);
  assert_pause(world, 7 * 4 * TWICE(CALL_US));
  world->now_us = world->yield.not_before_us;
  g_assert_cmpuint(count_allowed(world), ==, 1);
  let_base_expire(world);
  end_calls(world, BASE_CALLS, CALL_US, CALL_ROWS);
  end_rounds(world, 5, CALL_US, CALL_ROWS);
  g_assert_cmpint(tide_yield_wait_us(&world->yield, world->now_us), >, 0);
  end_rounds(world, 1, CALL_US, CALL_ROWS); /* one call without pauses */
  g_assert_cmpuint(count_allowed(world), ==, 1);
  widen(world, CALL_US, CALL_ROWS);
}

static void
test_bound_never_reaches_zero(World *world, gconstpointer data)
{
  measure(world, CALL_US, CALL_ROWS);
  end_rounds(world, 2, 100 * CALL_US, CALL_ROWS);
  for (guint i = 0; i < 10; i++)
    end_call(world, CALL_US, CALL_ROWS, TRUE);
  assert_pause(world, 7 * CALL_US);
  end_call(world, 30 * TIDE_US_PER_S, CALL_ROWS, TRUE); /* until its timeout: the pause is limited */
  g_assert_cmpint(tide_yield_wait_us(&world->yield, world->now_us), ==, 10 * TIDE_US_PER_S);
}

static void
test_refusals_halve_the_bound_once_for_calls_in_flight_together(World *world, gconstpointer data)
{
  measure(world, CALL_US, CALL_ROWS);
  gint64 start_us = world->now_us;
  for (guint i = 0; i < WRITERS; i++)
    tide_yield_begin_call(&world->yield);
  g_assert_cmpint(tide_yield_wait_us(&world->yield, world->now_us), ==, G_MAXINT64);
  world->now_us += CALL_US;
  for (guint i = 0; i < WRITERS; i++) {
    TideYieldCall call = {.start_us = start_us, .n_rows = CALL_ROWS, .is_turned_away = TRUE};
    tide_yield_end_call(&world->yield, &world->kinds[0], &call, world->now_us);
  }
  g_assert_cmpuint(count_allowed(world), ==, 2);
  end_call(world, CALL_US, CALL_ROWS, TRUE);
  g_assert_cmpuint(count_allowed(world), ==, 1);
  end_rounds(world, 12, CALL_US, CALL_ROWS);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS);
}

static void
test_other_failures_show_nothing(World *world, gconstpointer data)
{
  measure(world, CALL_US, CALL_ROWS);
  for (guint i = 0; i < 20; i++) {
    TideYieldCall call = {.start_us = world->now_us, .n_rows = CALL_ROWS};
    tide_yield_begin_call(&world->yield);
    world->now_us += 9 * CALL_US;
    tide_yield_end_call(&world->yield, &world->kinds[0], &call, world->now_us);
  }
  g_assert_cmpuint(count_allowed(world), ==, WRITERS);
}

static void
test_base_is_measured_again_every_minute(World *world, gconstpointer data)
{
  measure(world, CALL_US, CALL_ROWS);
  let_base_expire(world);
  g_assert_cmpuint(count_allowed(world), ==, 1);
  end_calls(world, BASE_CALLS, 5 * CALL_US, CALL_ROWS); /* others are busier now */
  g_assert_cmpuint(count_allowed(world), ==, WRITERS);
  end_rounds(world, 1, 6 * CALL_US, CALL_ROWS);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS);
  end_rounds(world, 2, TWICE(5 * CALL_US), CALL_ROWS);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS / 2);
}

/* Every other call of the base takes four times as long as the others: rounds half as slow again may be chance. */
static void
test_calls_that_always_vary_are_not_slow(World *world, gconstpointer data)
{
  for (guint i = 0; i < BASE_CALLS; i++)
    end_call(world, i % 2 == 0 ? CALL_US / 2 : 2 * CALL_US, CALL_ROWS, FALSE);
  widen(world, CALL_US, CALL_ROWS);
  end_rounds(world, 2, 3 * CALL_US / 2, CALL_ROWS);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS);
  end_rounds(world, 2, 4 * CALL_US, CALL_ROWS);
  g_assert_cmpuint(count_allowed(world), ==, 1);
}

/* A collection of garbage in each of two rounds costs a third of the speed, not nine tenths. */
static void
test_single_slow_calls_do_not_decide(World *world, gconstpointer data)
{
  measure(world, CALL_US, CALL_ROWS);
  for (guint i = 0; i < 2; i++) {
    end_call(world, 20 * CALL_US, CALL_ROWS, FALSE);
    end_calls(world, ROUND_CALLS - 1, CALL_US, CALL_ROWS);
  }
  g_assert_cmpuint(count_allowed(world), ==, 2);
  end_rounds(world, 2, CALL_US, CALL_ROWS);
  g_assert_cmpuint(count_allowed(world), ==, 3);
}

/* Whether a call's cost depends on its rows or not. */
static void
test_calls_of_other_sizes_are_not_slow(World *world, gconstpointer data)
{
  measure(world, CALL_US, 10);
  end_rounds(world, 1, 10 * CALL_US, 100);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS);
  end_rounds(world, 2, CALL_US, 1);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS);
  end_rounds(world, 2, TWICE(10 * CALL_US), 100);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS / 2);
}

/* The second kind takes a hundredth of the time of the first. */
static void
test_calls_are_compared_with_their_kind(World *world, gconstpointer data)
{
  for (guint i = 0; i < BASE_CALLS + 1; i++) {
    world->kind = i % 2;
    end_call(world, world->kind == 0 ? CALL_US : CALL_US / 100, CALL_ROWS, FALSE);
  }
  for (world->kind = 0; world->kind < 2; world->kind++)
    end_rounds(world, 6, world->kind == 0 ? CALL_US : CALL_US / 100, CALL_ROWS);
  world->kind = 0;
  g_assert_cmpuint(count_allowed(world), ==, WRITERS);
  world->kind = 1;
  end_rounds(world, 2, TWICE(CALL_US / 100), CALL_ROWS);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS / 2);
}

static void
test_kind_that_the_base_lacks_shows_nothing(World *world, gconstpointer data)
{
  measure(world, CALL_US, CALL_ROWS);
  world->kind = 1;
  end_rounds(world, 4, 9 * CALL_US, CALL_ROWS);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS);
  let_base_expire(world);
  end_calls(world, BASE_CALLS, CALL_US, CALL_ROWS);
  end_rounds(world, 2, 4 * CALL_US, CALL_ROWS);
  g_assert_cmpuint(count_allowed(world), ==, 1);
}

/* Calls of a second each: sixteen of them, with pauses, take half a minute. */
static void
test_base_of_slow_calls_lasts_longer(World *world, gconstpointer data)
{
  for (guint i = 0; i < BASE_CALLS; i++) {
    end_call(world, TIDE_US_PER_S, CALL_ROWS, FALSE);
    world->now_us = MAX(world->now_us, world->yield.not_before_us);
  }
  gint64 begin_us = world->now_us;
  while (world->yield.base.end_us > 0)
    end_call(world, TIDE_US_PER_S, CALL_ROWS, FALSE);
  g_assert_cmpint(world->now_us - begin_us, >=, 120 * TIDE_US_PER_S);
}

/* A load that is paused for an hour while it measures. */
static void
test_base_lasts_ten_minutes_at_most(World *world, gconstpointer data)
{
  end_calls(world, BASE_CALLS / 2, CALL_US, CALL_ROWS);
  world->now_us += 3600 * TIDE_US_PER_S;
  end_calls(world, BASE_CALLS / 2, CALL_US, CALL_ROWS);
  g_assert_cmpint(world->yield.base.end_us - world->now_us, ==, 600 * TIDE_US_PER_S);
}

/* Only five of 128 calls are not the first of their kind: too few to say how much calls of one kind vary. */
static void
test_base_of_calls_of_many_kinds_shows_nothing(World *world, gconstpointer data)
{
  TideYieldKind kinds[123] = {0};
  for (guint i = 0; i < 10 * G_N_ELEMENTS(kinds); i++) {
    TideYieldCall call = {.start_us = world->now_us, .n_rows = CALL_ROWS, .is_acknowledged = TRUE};
    tide_yield_begin_call(&world->yield);
    world->now_us += i < 128 ? CALL_US : 2 * CALL_US;
    tide_yield_end_call(&world->yield, &kinds[i % G_N_ELEMENTS(kinds)], &call, world->now_us);
  }
  g_assert_cmpuint(count_allowed(world), ==, WRITERS);
}

static void
test_refused_calls_keep_the_base(World *world, gconstpointer data)
{
  for (guint i = 0; i < BASE_CALLS; i++) {
    end_call(world, CALL_US, CALL_ROWS, TRUE);
    end_call(world, CALL_US, CALL_ROWS, FALSE);
  }
  g_assert_cmpint(world->yield.base.end_us, >, 0);
}

/* ---- a simulated gateway ---- */

#define MAX_SERVERS 8

/* The servers of a gateway, and the calls that it gets. */
typedef struct Scene {
  guint n_servers;
  double live_share; /* of what the servers can do */
  gboolean is_even;  /* live calls come at equal intervals, not at random */
  double noise;   /* of a call's time: standard deviation of its logarithm; then one in fifty is twenty times longer */
  guint n_kinds;  /* of the load's calls, in turn; those of the second take half as long. 0: one */
  double refused; /* share of the load's calls that are turned away */
} Scene;

typedef enum Pace { NO_LOAD, FULL_SPEED, YIELDING } Pace;

typedef struct LoadCall {
  gint64 start_us;
  gint64 end_us;
  guint kind;
} LoadCall;

typedef struct Simulation {
  Scene scene;
  Pace pace;
  gint64 free_us[MAX_SERVERS]; /* calls wait in one queue for them */
  TideYield yield;
  TideYieldKind kinds[2];
  guint n_calls; /* of the load, in flight */
  LoadCall calls[WRITERS];
  GRand *live_random;    /* owned: when live calls come */
  GRand *random;         /* owned: everything else */
  gint64 next_live_us;   /* when the next live call comes */
  GArray *live_calls_us; /* owned (element-type gint64): how long they took */
  guint n_begun;         /* calls of the load */
  guint n_loaded;        /* those that were acknowledged */
} Simulation;

static void
simulation_begin(Simulation *simulation, const Scene *scene, Pace pace)
{
  *simulation = (Simulation){.scene = *scene,
                             .pace = pace,
                             .live_random = g_rand_new_with_seed(1),
                             .random = g_rand_new_with_seed(2),
                             .live_calls_us = g_array_new(FALSE, FALSE, sizeof(gint64))};
  tide_yield_init(&simulation->yield, WRITERS, 0);
}

static void
simulation_end(Simulation *simulation)
{
  g_rand_free(simulation->live_random);
  g_rand_free(simulation->random);
  g_array_unref(simulation->live_calls_us);
}

static double
noise_factor(Simulation *simulation)
{
  if (simulation->scene.noise <= 0)
    return 1;
  double uniform = 1 - g_rand_double(simulation->random), angle = 2 * G_PI * g_rand_double(simulation->random);
  double normal = sqrt(-2 * log(uniform)) * cos(angle);
  gboolean is_pause = g_rand_double(simulation->random) < 0.02;
  return is_pause ? 20 : exp(simulation->scene.noise * normal);
}

/* Returns when a call that comes at @now_us ends. */
static gint64
serve(Simulation *simulation, gint64 call_us, gint64 now_us)
{
  gint64 *free_us = &simulation->free_us[0];
  for (guint i = 1; i < simulation->scene.n_servers; i++)
    if (simulation->free_us[i] < *free_us)
      free_us = &simulation->free_us[i];
  *free_us = MAX(*free_us, now_us) + (gint64)((double)call_us * noise_factor(simulation));
  return *free_us;
}

static guint
first_to_end(const Simulation *simulation)
{
  guint first = 0;
  for (guint i = 1; i < simulation->n_calls; i++)
    if (simulation->calls[i].end_us < simulation->calls[first].end_us)
      first = i;
  return first;
}

static void
end_load_call(Simulation *simulation, guint index, gint64 now_us)
{
  const LoadCall *ended = &simulation->calls[index];
  gboolean is_refused = g_rand_double(simulation->random) < simulation->scene.refused;
  TideYieldCall call = {
      .start_us = ended->start_us, .n_rows = CALL_ROWS, .is_acknowledged = !is_refused, .is_turned_away = is_refused};
  tide_yield_end_call(&simulation->yield, &simulation->kinds[ended->kind], &call, now_us);
  simulation->calls[index] = simulation->calls[--simulation->n_calls];
  simulation->n_loaded += is_refused ? 0 : 1;
}

static void
begin_load_call(Simulation *simulation, gint64 now_us)
{
  LoadCall call = {.start_us = now_us, .kind = simulation->n_begun++ % MAX(simulation->scene.n_kinds, 1)};
  tide_yield_begin_call(&simulation->yield);
  call.end_us = serve(simulation, CALL_US / (1 + call.kind), now_us);
  simulation->calls[simulation->n_calls++] = call;
}

/* Live calls come however long others take. */
static void
begin_live_call(Simulation *simulation, gint64 now_us)
{
  gint64 took_us = serve(simulation, CALL_US, now_us) - now_us;
  g_array_append_val(simulation->live_calls_us, took_us);
  double chance = g_rand_double(simulation->live_random);
  double mean_us = CALL_US / (simulation->scene.live_share * simulation->scene.n_servers);
  double interval_us = (simulation->scene.is_even ? 1 : -log(1 - chance)) * mean_us;
  simulation->next_live_us = now_us + MAX((gint64)interval_us, 1);
}

/* How long the load's next call waits now; G_MAXINT64: until one ends. */
static gint64
load_wait_us(const Simulation *simulation, gint64 now_us)
{
  if (simulation->pace == NO_LOAD || simulation->n_calls == WRITERS)
    return G_MAXINT64;
  return simulation->pace == YIELDING ? tide_yield_wait_us(&simulation->yield, now_us) : 0;
}

static void
simulate(Simulation *simulation, gint64 from_us, gint64 until_us)
{
  simulation->next_live_us = simulation->scene.live_share > 0 ? from_us : G_MAXINT64;
  for (gint64 now_us = from_us; now_us < until_us;) {
    guint first = first_to_end(simulation);
    gint64 end_us = simulation->n_calls > 0 ? simulation->calls[first].end_us : G_MAXINT64;
    gint64 wait_us = load_wait_us(simulation, now_us);
    if (end_us <= now_us)
      end_load_call(simulation, first, now_us);
    else if (simulation->next_live_us <= now_us)
      begin_live_call(simulation, now_us);
    else if (wait_us == 0)
      begin_load_call(simulation, now_us);
    else
      now_us = MIN(MIN(end_us, simulation->next_live_us), wait_us < G_MAXINT64 ? now_us + wait_us : G_MAXINT64);
  }
}

static int
compare_times(gconstpointer a, gconstpointer b)
{
  gint64 first = *(const gint64 *)a, second = *(const gint64 *)b;
  return first < second ? -1 : first > second ? 1 : 0;
}

typedef struct Outcome {
  double live_p50_ms;
  double live_p99_ms;
  guint n_loaded;
} Outcome;

#define SIMULATED_US (300 * TIDE_US_PER_S)

static double
percentile_ms(const GArray *sorted_us, guint percent)
{
  return sorted_us->len > 0 ? (double)g_array_index(sorted_us, gint64, sorted_us->len * percent / 100) / TIDE_US_PER_MS
                            : 0;
}

static Outcome
outcome_of(const Scene *scene, Pace pace)
{
  Simulation simulation;
  simulation_begin(&simulation, scene, pace);
  simulate(&simulation, 0, SIMULATED_US);
  g_array_sort(simulation.live_calls_us, compare_times);
  Outcome outcome = {.live_p50_ms = percentile_ms(simulation.live_calls_us, 50),
                     .live_p99_ms = percentile_ms(simulation.live_calls_us, 99),
                     .n_loaded = simulation.n_loaded};
  simulation_end(&simulation);
  return outcome;
}

/* The load begins while live calls have this share of the gateway, so its base contains their queue. */
static void
test_live_calls_take_twice_as_long_at_most(World *world, gconstpointer data)
{
  static const Scene scenes[] = {
      {.n_servers = 1, .live_share = 0.3},
      {.n_servers = 1, .live_share = 0.4},
      {.n_servers = 1, .live_share = 0.5},
      {.n_servers = 2, .live_share = 0.2},
      {.n_servers = 2, .live_share = 0.3},
      {.n_servers = 2, .live_share = 0.4},
      {.n_servers = 2, .live_share = 0.5},
      {.n_servers = 4, .live_share = 0.3},
      {.n_servers = 4, .live_share = 0.4},
      {.n_servers = 4, .live_share = 0.5},
      {.n_servers = 4, .live_share = 0.7},
      {.n_servers = 2, .live_share = 0.3, .is_even = TRUE},
      {.n_servers = 2, .live_share = 0.4, .is_even = TRUE},
      {.n_servers = 2, .live_share = 0.4, .n_kinds = 2},
      {.n_servers = 4, .live_share = 0.5, .n_kinds = 2},
      {.n_servers = 4, .live_share = 0.3, .noise = 0.2},
      {.n_servers = 4, .live_share = 0.3, .noise = 0.5},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(scenes); i++) {
    const Scene *scene = &scenes[i];
    Outcome alone = outcome_of(scene, NO_LOAD), full = outcome_of(scene, FULL_SPEED);
    Outcome yielding = outcome_of(scene, YIELDING);
    g_test_message("%u servers, live %.1f%s, noise %.1f, %u kinds: p50 and p99 %.1f and %.1f ms, beside a load at full "
                   "speed %.1f and %.1f, yielding %.1f and %.1f; %u of %u calls",
                   scene->n_servers, scene->live_share, scene->is_even ? " even" : "", scene->noise,
                   MAX(scene->n_kinds, 1), alone.live_p50_ms, alone.live_p99_ms, full.live_p50_ms, full.live_p99_ms,
                   yielding.live_p50_ms, yielding.live_p99_ms, yielding.n_loaded, full.n_loaded);
    g_assert_cmpfloat(yielding.live_p50_ms, <=, 3 * alone.live_p50_ms);
    g_assert_cmpfloat(yielding.live_p99_ms, <=, 2 * alone.live_p99_ms);
    g_assert_cmpuint(yielding.n_loaded, >=, full.n_loaded / 3);
    if (scene->noise <= 0)
      g_assert_cmpfloat(full.live_p99_ms, >, 2 * alone.live_p99_ms);
  }
}

static void
test_load_that_is_alone_has_full_speed(World *world, gconstpointer data)
{
  static const guint servers[] = {1, 2, 3, 4, 8};
  static const double noises[] = {0, 0.2, 0.5, 1};
  for (gsize i = 0; i < G_N_ELEMENTS(servers); i++)
    for (gsize j = 0; j < G_N_ELEMENTS(noises); j++)
      for (guint n_kinds = 1; n_kinds <= 2; n_kinds++) {
        Scene scene = {.n_servers = servers[i], .noise = noises[j], .n_kinds = n_kinds};
        Outcome full = outcome_of(&scene, FULL_SPEED), yielding = outcome_of(&scene, YIELDING);
        g_test_message("alone: %u servers, noise %.1f, %u kinds: %u of %u calls", servers[i], noises[j], n_kinds,
                       yielding.n_loaded, full.n_loaded);
        g_assert_cmpuint(yielding.n_loaded, >=, full.n_loaded * (noises[j] > 0 ? 60 : 95) / 100);
      }
}

static void
test_few_refusals_cost_little(World *world, gconstpointer data)
{
  Scene scene = {.n_servers = 4, .refused = 0.01};
  Outcome full = outcome_of(&scene, FULL_SPEED), yielding = outcome_of(&scene, YIELDING);
  g_test_message("one call in a hundred turned away: %u of %u calls", yielding.n_loaded, full.n_loaded);
  g_assert_cmpuint(yielding.n_loaded, >=, full.n_loaded * 50 / 100);
  scene.refused = 1;
  g_assert_cmpuint(outcome_of(&scene, YIELDING).n_loaded, ==, 0);
}

static void
test_speed_comes_back_after_live_calls(World *world, gconstpointer data)
{
  Simulation simulation;
  Scene scene = {.n_servers = 4, .live_share = 0.95};
  simulation_begin(&simulation, &scene, YIELDING);
  simulate(&simulation, 0, SIMULATED_US);
  guint n_beside = simulation.n_loaded;
  simulation.scene.live_share = 0;
  simulate(&simulation, SIMULATED_US, 2 * SIMULATED_US);
  guint n_after = simulation.n_loaded - n_beside, n_possible = 4 * SIMULATED_US / CALL_US;
  g_test_message("%u calls beside live ones, then %u of %u", n_beside, n_after, n_possible);
  g_assert_cmpuint(n_beside, <, n_possible / 10);
  g_assert_cmpuint(n_after, >=, n_possible * 85 / 100);
  simulation_end(&simulation);
}

#define ADD(path, function) g_test_add(path, World, NULL, set_up, function, tear_down)

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  ADD("/yield/first-calls-are-sent-one-by-one-with-pauses", test_first_calls_are_sent_one_by_one_with_pauses);
  ADD("/yield/two-slow-rounds-shrink-the-bound-until-the-next-base",
      test_two_slow_rounds_shrink_the_bound_until_the_next_base);
  ADD("/yield/bound-below-one-is-pauses", test_bound_below_one_is_pauses);
  ADD("/yield/bound-never-reaches-zero", test_bound_never_reaches_zero);
  ADD("/yield/refusals-halve-the-bound-once-for-calls-in-flight-together",
      test_refusals_halve_the_bound_once_for_calls_in_flight_together);
  ADD("/yield/other-failures-show-nothing", test_other_failures_show_nothing);
  ADD("/yield/base-is-measured-again-every-minute", test_base_is_measured_again_every_minute);
  ADD("/yield/calls-that-always-vary-are-not-slow", test_calls_that_always_vary_are_not_slow);
  ADD("/yield/single-slow-calls-do-not-decide", test_single_slow_calls_do_not_decide);
  ADD("/yield/calls-of-other-sizes-are-not-slow", test_calls_of_other_sizes_are_not_slow);
  ADD("/yield/calls-are-compared-with-their-kind", test_calls_are_compared_with_their_kind);
  ADD("/yield/kind-that-the-base-lacks-shows-nothing", test_kind_that_the_base_lacks_shows_nothing);
  ADD("/yield/base-of-slow-calls-lasts-longer", test_base_of_slow_calls_lasts_longer);
  ADD("/yield/base-lasts-ten-minutes-at-most", test_base_lasts_ten_minutes_at_most);
  ADD("/yield/base-of-calls-of-many-kinds-shows-nothing", test_base_of_calls_of_many_kinds_shows_nothing);
  ADD("/yield/refused-calls-keep-the-base", test_refused_calls_keep_the_base);
  ADD("/yield/few-refusals-cost-little", test_few_refusals_cost_little);
  ADD("/yield/live-calls-take-twice-as-long-at-most", test_live_calls_take_twice_as_long_at_most);
  ADD("/yield/load-that-is-alone-has-full-speed", test_load_that_is_alone_has_full_speed);
  ADD("/yield/speed-comes-back-after-live-calls", test_speed_comes_back_after_live_calls);
  return g_test_run();
}
