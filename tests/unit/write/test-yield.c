/* How a process that yields follows the load of a gateway: what each call does to its bound, and what remains for live
 * calls on a simulated gateway. */
#include "util/clock.h"

#include "write/yield.h"
#include <math.h>

#define WRITERS 4
#define CALL_US (20 * TIDE_US_PER_MS)
#define CALL_ROWS 1000

/* ---- calls one by one ---- */

typedef struct World {
  TideYield yield;
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
  tide_yield_end_call(&world->yield, &call, world->now_us);
}

static void
end_rounds(World *world, guint n_rounds, gint64 took_us, guint32 n_rows)
{
  for (guint i = 0; i < 4 * n_rounds; i++)
    end_call(world, took_us, n_rows, FALSE);
}

static void
set_up(World *world, gconstpointer data)
{
  world->now_us = 1000 * TIDE_US_PER_S;
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

/* The base, and then as many rounds as it takes until all writers may have a call. */
static void
measure(World *world, gint64 took_us, guint32 n_rows)
{
  end_rounds(world, 1 + 4 * (WRITERS - 1), took_us, n_rows);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS);
}

static void
test_first_calls_are_sent_one_by_one_with_pauses(World *world, gconstpointer data)
{
  for (guint i = 0; i < 3; i++) {
    g_assert_cmpuint(count_allowed(world), ==, 1);
    end_call(world, CALL_US, CALL_ROWS, FALSE);
    g_assert_cmpint(tide_yield_wait_us(&world->yield, world->now_us), ==, CALL_US);
    world->now_us += CALL_US;
  }
  end_call(world, CALL_US, CALL_ROWS, FALSE);
  for (guint32 allowed = 1; allowed < WRITERS; allowed++) {
    g_assert_cmpuint(count_allowed(world), ==, allowed);
    end_rounds(world, 4, CALL_US * 13 / 10, CALL_ROWS);
  }
  end_rounds(world, 4, CALL_US, CALL_ROWS);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS);
}

static void
test_slower_calls_shrink_the_bound_and_faster_ones_widen_it(World *world, gconstpointer data)
{
  measure(world, CALL_US, CALL_ROWS);
  end_rounds(world, 1, 2 * CALL_US, CALL_ROWS);
  g_assert_cmpuint(count_allowed(world), ==, 2);
  end_rounds(world, 2, 4 * CALL_US, CALL_ROWS); /* half a call, then an eighth */
  g_assert_cmpuint(count_allowed(world), ==, 0);
  g_assert_cmpint(tide_yield_wait_us(&world->yield, world->now_us), ==, 7 * 4 * CALL_US);
  world->now_us += 7 * 4 * CALL_US;
  g_assert_cmpuint(count_allowed(world), ==, 1);
  end_rounds(world, 9, CALL_US, CALL_ROWS);
  g_assert_cmpint(tide_yield_wait_us(&world->yield, world->now_us), >, 0);
  end_rounds(world, 1, CALL_US, CALL_ROWS); /* one call without pauses */
  g_assert_cmpuint(count_allowed(world), ==, 1);
  end_rounds(world, 12, CALL_US, CALL_ROWS);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS);
}

static void
test_bound_never_reaches_zero(World *world, gconstpointer data)
{
  measure(world, CALL_US, CALL_ROWS);
  end_rounds(world, 1, 100 * CALL_US, CALL_ROWS);
  for (guint i = 0; i < 10; i++)
    end_call(world, CALL_US, CALL_ROWS, TRUE);
  g_assert_cmpint(tide_yield_wait_us(&world->yield, world->now_us), ==, 15 * CALL_US);
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
    tide_yield_end_call(&world->yield, &call, world->now_us);
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
    tide_yield_end_call(&world->yield, &call, world->now_us);
  }
  g_assert_cmpuint(count_allowed(world), ==, WRITERS);
}

static void
test_base_is_measured_again_every_minute(World *world, gconstpointer data)
{
  measure(world, CALL_US, CALL_ROWS);
  world->now_us += 60 * TIDE_US_PER_S;
  end_rounds(world, 1, CALL_US, CALL_ROWS); /* at its end the base has become too old */
  g_assert_cmpint(tide_yield_wait_us(&world->yield, world->now_us), ==, CALL_US);
  world->now_us += CALL_US;
  g_assert_cmpuint(count_allowed(world), ==, 1);
  end_rounds(world, 1, 5 * CALL_US, CALL_ROWS); /* others are busier now */
  g_assert_cmpuint(count_allowed(world), ==, WRITERS);
  end_rounds(world, 1, 6 * CALL_US, CALL_ROWS);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS);
  end_rounds(world, 1, 10 * CALL_US, CALL_ROWS);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS / 2);
}

static void
test_faster_round_replaces_the_base(World *world, gconstpointer data)
{
  measure(world, 5 * CALL_US, CALL_ROWS);
  end_rounds(world, 1, CALL_US, CALL_ROWS);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS);
  end_rounds(world, 1, 2 * CALL_US, CALL_ROWS);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS / 2);
}

/* Whether a call's cost depends on its rows or not. */
static void
test_calls_of_other_sizes_are_not_slow(World *world, gconstpointer data)
{
  measure(world, CALL_US, 10);
  end_rounds(world, 1, 100 * CALL_US, 1000);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS);
  end_rounds(world, 1, CALL_US, 1000); /* less for each row: the base from now on */
  end_rounds(world, 1, CALL_US, 10);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS);
  end_rounds(world, 1, 2 * CALL_US, 1000);
  g_assert_cmpuint(count_allowed(world), ==, WRITERS / 2);
}

/* ---- a simulated gateway ---- */

#define MAX_SERVERS 8

/* Calls wait in one queue for some servers. */
typedef struct Gateway {
  guint n_servers;
  gint64 free_us[MAX_SERVERS];
} Gateway;

/* Returns when a call that comes at @now_us ends. */
static gint64
serve(Gateway *gateway, gint64 now_us)
{
  gint64 *free_us = &gateway->free_us[0];
  for (guint i = 1; i < gateway->n_servers; i++)
    if (gateway->free_us[i] < *free_us)
      free_us = &gateway->free_us[i];
  *free_us = MAX(*free_us, now_us) + CALL_US;
  return *free_us;
}

typedef enum Pace { NO_LOAD, FULL_SPEED, YIELDING } Pace;

typedef struct Simulation {
  Gateway gateway;
  Pace pace;
  TideYield yield;
  guint n_calls; /* of the load, in flight */
  gint64 start_us[WRITERS];
  gint64 end_us[WRITERS];
  GRand *random;         /* owned */
  double mean_us;        /* between live calls; 0: there are none */
  gboolean is_even;      /* they come at equal intervals, not at random */
  gint64 next_live_us;   /* when the next one comes */
  GArray *live_calls_us; /* owned (element-type gint64): how long they took */
  guint n_loaded;        /* ended calls of the load */
} Simulation;

/* @live_share: of what the servers can do */
static void
simulation_begin(Simulation *simulation, guint n_servers, double live_share, Pace pace)
{
  *simulation = (Simulation){.gateway.n_servers = n_servers,
                             .pace = pace,
                             .random = g_rand_new_with_seed(1),
                             .mean_us = live_share > 0 ? CALL_US / (live_share * n_servers) : 0,
                             .live_calls_us = g_array_new(FALSE, FALSE, sizeof(gint64))};
  tide_yield_init(&simulation->yield, WRITERS, 0);
}

static void
simulation_end(Simulation *simulation)
{
  g_rand_free(simulation->random);
  g_array_unref(simulation->live_calls_us);
}

static guint
first_to_end(const Simulation *simulation)
{
  guint first = 0;
  for (guint i = 1; i < simulation->n_calls; i++)
    if (simulation->end_us[i] < simulation->end_us[first])
      first = i;
  return first;
}

static void
end_load_call(Simulation *simulation, guint index, gint64 now_us)
{
  TideYieldCall call = {.start_us = simulation->start_us[index], .n_rows = CALL_ROWS, .is_acknowledged = TRUE};
  tide_yield_end_call(&simulation->yield, &call, now_us);
  guint last = --simulation->n_calls;
  simulation->start_us[index] = simulation->start_us[last];
  simulation->end_us[index] = simulation->end_us[last];
  simulation->n_loaded++;
}

static void
begin_load_call(Simulation *simulation, gint64 now_us)
{
  tide_yield_begin_call(&simulation->yield);
  simulation->start_us[simulation->n_calls] = now_us;
  simulation->end_us[simulation->n_calls++] = serve(&simulation->gateway, now_us);
}

/* Live calls come however long others take. */
static void
begin_live_call(Simulation *simulation, gint64 now_us)
{
  gint64 took_us = serve(&simulation->gateway, now_us) - now_us;
  g_array_append_val(simulation->live_calls_us, took_us);
  double chance = g_rand_double(simulation->random);
  double interval_us = (simulation->is_even ? 1 : -log(1 - chance)) * simulation->mean_us;
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
  gboolean is_live = simulation->mean_us > 0;
  simulation->next_live_us = is_live ? from_us : G_MAXINT64;
  for (gint64 now_us = from_us; now_us < until_us;) {
    guint first = first_to_end(simulation);
    gint64 end_us = simulation->n_calls > 0 ? simulation->end_us[first] : G_MAXINT64;
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
  double live_p99_ms;
  guint n_loaded;
} Outcome;

#define SIMULATED_US (300 * TIDE_US_PER_S)

static Outcome
outcome_of(guint n_servers, double live_share, gboolean is_even, Pace pace)
{
  Simulation simulation;
  simulation_begin(&simulation, n_servers, live_share, pace);
  simulation.is_even = is_even;
  simulate(&simulation, 0, SIMULATED_US);
  GArray *took = simulation.live_calls_us;
  g_array_sort(took, compare_times);
  gint64 p99_us = took->len > 0 ? g_array_index(took, gint64, took->len * 99 / 100) : 0;
  Outcome outcome = {.live_p99_ms = (double)p99_us / TIDE_US_PER_MS, .n_loaded = simulation.n_loaded};
  simulation_end(&simulation);
  return outcome;
}

/* The load begins while live calls have this share of the gateway, so its base contains their queue. */
static void
test_live_calls_take_twice_as_long_at_most(World *world, gconstpointer data)
{
  static const struct {
    guint n_servers;
    double live_share;
    gboolean is_even;
  } scenes[] = {{1, 0.3, FALSE}, {1, 0.4, FALSE}, {1, 0.5, FALSE}, {2, 0.2, FALSE}, {2, 0.3, FALSE},
                {2, 0.4, FALSE}, {2, 0.5, FALSE}, {4, 0.3, FALSE}, {4, 0.4, FALSE}, {4, 0.5, FALSE},
                {4, 0.7, FALSE}, {2, 0.3, TRUE},  {2, 0.4, TRUE}};
  for (gsize i = 0; i < G_N_ELEMENTS(scenes); i++) {
    Outcome alone = outcome_of(scenes[i].n_servers, scenes[i].live_share, scenes[i].is_even, NO_LOAD);
    Outcome full = outcome_of(scenes[i].n_servers, scenes[i].live_share, scenes[i].is_even, FULL_SPEED);
    Outcome yielding = outcome_of(scenes[i].n_servers, scenes[i].live_share, scenes[i].is_even, YIELDING);
    g_test_message(
        "%u servers, live %.1f: p99 %.1f ms, beside a load at full speed %.1f, yielding %.1f; %u of %u calls",
        scenes[i].n_servers, scenes[i].live_share, alone.live_p99_ms, full.live_p99_ms, yielding.live_p99_ms,
        yielding.n_loaded, full.n_loaded);
    g_assert_cmpfloat(full.live_p99_ms, >, 2 * alone.live_p99_ms);
    g_assert_cmpfloat(yielding.live_p99_ms, <=, 2 * alone.live_p99_ms);
    g_assert_cmpuint(yielding.n_loaded, >=, full.n_loaded / 12);
  }
}

static void
test_load_that_is_alone_has_full_speed(World *world, gconstpointer data)
{
  static const guint servers[] = {1, 2, 3, 4, 8};
  for (gsize i = 0; i < G_N_ELEMENTS(servers); i++) {
    Outcome full = outcome_of(servers[i], 0, FALSE, FULL_SPEED), yielding = outcome_of(servers[i], 0, FALSE, YIELDING);
    g_test_message("%u servers: %u of %u calls", servers[i], yielding.n_loaded, full.n_loaded);
    g_assert_cmpuint(yielding.n_loaded, >=, full.n_loaded * 95 / 100);
  }
}

static void
test_speed_comes_back_after_live_calls(World *world, gconstpointer data)
{
  Simulation simulation;
  simulation_begin(&simulation, 4, 0.95, YIELDING);
  simulate(&simulation, 0, SIMULATED_US);
  guint n_beside = simulation.n_loaded;
  simulation.mean_us = 0;
  simulate(&simulation, SIMULATED_US, 2 * SIMULATED_US);
  guint n_after = simulation.n_loaded - n_beside, n_possible = 4 * SIMULATED_US / CALL_US;
  g_test_message("%u calls beside live ones, then %u of %u", n_beside, n_after, n_possible);
  g_assert_cmpuint(n_beside, <, n_possible / 10);
  g_assert_cmpuint(n_after, >=, n_possible * 95 / 100);
  simulation_end(&simulation);
}

#define ADD(path, function) g_test_add(path, World, NULL, set_up, function, tear_down)

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  ADD("/yield/first-calls-are-sent-one-by-one-with-pauses", test_first_calls_are_sent_one_by_one_with_pauses);
  ADD("/yield/slower-calls-shrink-the-bound-and-faster-ones-widen-it",
      test_slower_calls_shrink_the_bound_and_faster_ones_widen_it);
  ADD("/yield/bound-never-reaches-zero", test_bound_never_reaches_zero);
  ADD("/yield/refusals-halve-the-bound-once-for-calls-in-flight-together",
      test_refusals_halve_the_bound_once_for_calls_in_flight_together);
  ADD("/yield/other-failures-show-nothing", test_other_failures_show_nothing);
  ADD("/yield/base-is-measured-again-every-minute", test_base_is_measured_again_every_minute);
  ADD("/yield/faster-round-replaces-the-base", test_faster_round_replaces_the_base);
  ADD("/yield/calls-of-other-sizes-are-not-slow", test_calls_of_other_sizes_are_not_slow);
  ADD("/yield/live-calls-take-twice-as-long-at-most", test_live_calls_take_twice_as_long_at_most);
  ADD("/yield/load-that-is-alone-has-full-speed", test_load_that_is_alone_has_full_speed);
  ADD("/yield/speed-comes-back-after-live-calls", test_speed_comes_back_after_live_calls);
  return g_test_run();
}
