/* The sums of `tidemark bench --plan`: worked by hand, and as a load grows; and how they are told. */
#include "commands/bench/bench.h"

#include "unit/test_case.h"

#include <stdlib.h>

#define DAY_S 86400.0
#define US_PER_S 1e6
#define TIB ((double)(G_GUINT64_CONSTANT(1) << 40))

/* 20,000 readings a second of 100 metrics, in a table with history and one of latest values. */
static const TidePlanLoad fleet = {
    .readings_per_s = 20000,
    .messages_per_reading = 1,
    .message_bytes = 2000,
    .machines = 100000,
    .history = {.rows = 1, .cells = 100, .stored_bytes = 7000, .n_tables = 1},
    .latest = {.rows = 1, .cells = 100, .stored_bytes = 5500, .n_tables = 1},
    .latest_window_s = 0.005,
    .retention_s = 30 * DAY_S,
    .kafka_retention_s = 3 * DAY_S,
    .stored_share = 1,
    .replication = 3,
    .cores = 8,
    .margin = 0.5,
};

static void
assert_told(const char *text, const char *part)
{
  if (strstr(text, part) == NULL)
    g_error("'%s' is not in:\n%s", part, text);
}

static double
figure(const TidePlan *plan, TidePlanName name)
{
  g_assert_nonnull(plan->figures[name].why);
  return plan->figures[name].value;
}

typedef void (*Print)(FILE *stream, const TidePlanLoad *load, const TidePlan *plan);

/* (transfer full) */
static char *
printed(const TidePlanLoad *load, Print print)
{
  char *text = NULL;
  size_t len;
  FILE *stream = open_memstream(&text, &len);
  g_auto(TidePlan) plan;
  tide_plan_make(load, &plan);
  print(stream, load, &plan);
  fclose(stream);
  char *copy = g_strdup(text);
  free(text);
  return copy;
}

/* The costs are written out here: who changes one sees what depends on it. */
TEST("/bench-plan/worked-by-hand")
{
  g_auto(TidePlan) plan;
  tide_plan_make(&fleet, &plan);
  g_assert_cmpfloat_with_epsilon(plan.rows_per_s, 40000, 1e-6);
  g_assert_cmpfloat_with_epsilon(plan.cells_per_s, 4e6, 1e-6);
  double client_us = 0.55 + 2000 * 0.00048 + 2 * 0.299 + 200 * 0.0207 + 1.5;
  g_assert_cmpfloat_with_epsilon(plan.client_cores, 20000 * client_us / US_PER_S, 1e-6);            /* 0.15 */
  g_assert_cmpfloat_with_epsilon(plan.gateway_cores, (40000 * 2.26 + 4e6 * 1.34) / US_PER_S, 1e-6); /* 5.45 */
  g_assert_cmpfloat_with_epsilon(plan.hbase_cores, (40000 * 4.26 + 4e6 * 1.61) / US_PER_S, 1e-6);   /* 6.61 */
  g_assert_cmpfloat(figure(&plan, TIDE_PLAN_DAEMONS), ==, 2);
  g_assert_cmpfloat(figure(&plan, TIDE_PLAN_THREADS), ==, 2);
  g_assert_cmpfloat(figure(&plan, TIDE_PLAN_WRITERS), ==, 25); /* 2 (5.450 + 6.610) / 0.5 = 48.24, of two daemons */
  /* 2 s of 20,000 x 7,000 bytes are 267 MiB, in three eighths of it: 712. One daemon has failed. */
  g_assert_cmpfloat(figure(&plan, TIDE_PLAN_MEMORY), ==, 768);
  g_assert_cmpfloat(figure(&plan, TIDE_PLAN_PARTITIONS), ==, 16);
  g_assert_cmpfloat_with_epsilon(figure(&plan, TIDE_PLAN_TOPIC_DISK), 2e4 * 2000 * 3 * DAY_S * 3 / 0.75 / TIB, 1e-9);
  g_assert_cmpfloat(figure(&plan, TIDE_PLAN_GATEWAYS), ==, 2); /* 1.36, rounded up */
  /* 140 MB/s for 30 days are 330.03 TiB: 16,898 regions of 20 GiB, and of the latest rows those at first, 200 a server.
   */
  g_assert_cmpfloat(figure(&plan, TIDE_PLAN_REGIONS), ==, 16898 + 352);
  g_assert_cmpfloat(figure(&plan, TIDE_PLAN_REGION_SERVERS), ==, 88); /* 196.02 on each of 87 */
  g_assert_cmpfloat(figure(&plan, TIDE_PLAN_FIRST_REGIONS), ==, 352);
  g_assert_cmpstr(plan.figures[TIDE_PLAN_MEMORY].why, ==,
                  "2 s of rows: 267 MiB of history, 261 MiB of latest values including waiting ones, with one daemon "
                  "failed; 37.5 % is for each table; in steps of 64; MemoryMax= 256 more");
  g_assert_cmpstr(plan.figures[TIDE_PLAN_REGION_SERVERS].why, ==,
                  "6.61 cores busy: 2; by regions: 88, of (16,898 + 200) / (200 - 4); by copies: 3; with one failed, "
                  "the others are 1 % busy");
  g_assert_cmpstr(
      plan.figures[TIDE_PLAN_REGIONS].why, ==,
      "one copy, in regions of 20 GiB; 330 TiB of history: 16,898; 525 MiB of latest values: 352, as at first");
  double stored = 2e4 * 7000 * 30 * DAY_S + 1e5 * 5500;
  g_assert_cmpfloat_with_epsilon(figure(&plan, TIDE_PLAN_DISK), stored * 3 / 0.75 / TIB, 1e-6);
}

TEST("/bench-plan/little-load-has-what-may-fail")
{
  TidePlanLoad load = fleet;
  load.readings_per_s = 1e-7;
  load.machines = 10;
  g_auto(TidePlan) plan;
  tide_plan_make(&load, &plan);
  g_assert_cmpfloat(figure(&plan, TIDE_PLAN_DAEMONS), ==, 2);
  g_assert_cmpfloat(figure(&plan, TIDE_PLAN_WRITERS), ==, 4);
  g_assert_cmpfloat(figure(&plan, TIDE_PLAN_GATEWAYS), ==, 2);
  g_assert_cmpfloat(figure(&plan, TIDE_PLAN_REGION_SERVERS), ==, 3); /* of three copies */
  g_assert_cmpfloat(figure(&plan, TIDE_PLAN_REGIONS), ==, 24);       /* four of each table on each server */
  g_assert_cmpstr(plan.figures[TIDE_PLAN_REGION_SERVERS].why, ==,
                  "hardly a core busy: 0; by regions: 2, of (2 + 200) / 200; by copies: 3; with one failed, the others "
                  "are hardly busy");
  load.replication = 1;
  g_auto(TidePlan) one_copy;
  tide_plan_make(&load, &one_copy);
  g_assert_cmpfloat(figure(&one_copy, TIDE_PLAN_REGION_SERVERS), ==, 2);
}

/* What waits for newer values is held besides, of each machine one row, and of one table no more than its share. */
TEST("/bench-plan/waiting-latest-rows-have-room")
{
  TidePlanLoad load = fleet;
  load.latest_window_s = 10;
  g_auto(TidePlan) plan;
  tide_plan_make(&load, &plan);
  /* 100,000 wait, 40,000 come in 2 s, of 1.2 x 5,500 + 220 bytes: 910.6 MiB, in three eighths of 2,428 */
  g_assert_cmpfloat(figure(&plan, TIDE_PLAN_MEMORY), ==, 2432);
  assert_told(plan.figures[TIDE_PLAN_MEMORY].why, " 911 MiB of latest values including waiting ones, ");
  load.history.n_tables = 10; /* so that no table has much, and all together have three quarters */
  load.latest.n_tables = 10;
  g_auto(TidePlan) many;
  tide_plan_make(&load, &many);
  g_assert_cmpfloat(figure(&many, TIDE_PLAN_MEMORY), ==, 1600); /* 267.0 + 910.6 of 1,570 */
  assert_told(many.figures[TIDE_PLAN_MEMORY].why, "; 75 % is for rows; ");
}

/* How long rows are kept is told with what says so. */
TEST("/bench-plan/retention-is-told")
{
  static const struct {
    double min_ttl_days;
    double max_ttl_days;
    double other_days;
    const char *told;
  } cases[] = {{0, 0, 0, "12 days, 3 copies"},
               {7, 7, 0, "7 days by ttl, 3 copies"},
               {1, 1, 0, "1 day by ttl, 3 copies"},
               {7, 365, 0, "7 to 365 days by ttl, 3 copies"},
               {0.5, 7, 30, "0.50 to 7 days by ttl, 30 without, 3 copies"}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TidePlanLoad load = fleet;
    load.retention_s = 12 * DAY_S;
    load.min_ttl_s = cases[i].min_ttl_days * DAY_S;
    load.max_ttl_s = cases[i].max_ttl_days * DAY_S;
    load.other_retention_s = cases[i].other_days * DAY_S;
    g_auto(TidePlan) plan;
    tide_plan_make(&load, &plan);
    g_assert_true(g_str_has_prefix(plan.figures[TIDE_PLAN_DISK].why, cases[i].told));
    g_assert_cmpfloat_with_epsilon(figure(&plan, TIDE_PLAN_DISK) * TIB * 0.75 / 3, 2e4 * 7000 * 12 * DAY_S + 1e5 * 5500,
                                   1e6);
  }
}

/* Of each thing enough for the load with its margin, and no more than one too many. */
TEST("/bench-plan/all-is-enough-at-every-load")
{
  for (double readings_per_s = 1; readings_per_s < 1e9; readings_per_s *= 1.7) {
    TidePlanLoad load = fleet;
    load.readings_per_s = readings_per_s;
    g_auto(TidePlan) plan;
    tide_plan_make(&load, &plan);
    double usable = load.cores * (1 - load.margin);
    double daemons = figure(&plan, TIDE_PLAN_DAEMONS), threads = figure(&plan, TIDE_PLAN_THREADS);
    g_assert_cmpfloat(daemons * usable, >=, plan.client_cores * (1 - 1e-9));
    double connections = 2 * (plan.gateway_cores + plan.hbase_cores) / 0.5, writers = figure(&plan, TIDE_PLAN_WRITERS);
    g_assert_cmpfloat(daemons - 1, <=, MAX(MAX(plan.client_cores / usable, connections / 256), 1));
    g_assert_cmpfloat(writers, <=, 256); /* as many as hbase.writers may be */
    g_assert_cmpfloat(writers * daemons, >=, connections * (1 - 1e-9));
    g_assert_cmpfloat(threads, >=, 2);
    g_assert_cmpfloat(threads, <=, 64);
    g_assert_cmpfloat(figure(&plan, TIDE_PLAN_GATEWAYS) * usable, >=, plan.gateway_cores * (1 - 1e-9));
    g_assert_cmpfloat(figure(&plan, TIDE_PLAN_REGION_SERVERS) * usable, >=, plan.hbase_cores * (1 - 1e-9));
    g_assert_cmpfloat((figure(&plan, TIDE_PLAN_REGION_SERVERS) - 1) * 200, >=, figure(&plan, TIDE_PLAN_REGIONS));
    g_assert_cmpfloat(figure(&plan, TIDE_PLAN_PARTITIONS), >=, daemons * threads);
    double stalled_mib = 2 * readings_per_s * 7000 / (daemons - 1) / (1 << 20);
    g_assert_cmpfloat(figure(&plan, TIDE_PLAN_MEMORY) * 3 / 8, >=, stalled_mib * (1 - 1e-9));
  }
}

/* What a machine says several times within a window is written once. */
TEST("/bench-plan/latest-rows-replace-each-other")
{
  TidePlanLoad load = fleet;
  load.machines = 1000;
  load.latest_window_s = 0.2; /* four readings of each machine */
  g_auto(TidePlan) plan;
  tide_plan_make(&load, &plan);
  g_assert_cmpfloat_with_epsilon(plan.rows_per_s, 25000, 1e-6);
  g_assert_cmpfloat_with_epsilon(plan.cells_per_s, 2.5e6, 1e-6);
}

TEST("/bench-plan/measured-path")
{
  TidePlanLoad load = fleet;
  load.path_us = 100;
  g_auto(TidePlan) plan;
  tide_plan_make(&load, &plan);
  g_assert_cmpfloat_with_epsilon(plan.client_cores, 20000 * (100 + 1.51 + 1.5) / US_PER_S, 1e-6);
  g_assert_cmpfloat(figure(&plan, TIDE_PLAN_THREADS), ==, 3); /* 4.1 threads by margin, of two daemons: three */
  g_assert_cmpfloat(figure(&plan, TIDE_PLAN_DAEMONS), ==, 2);
  g_autofree char *measured = printed(&load, tide_plan_print_json), *table = printed(&load, tide_plan_print);
  g_assert_null(strstr(measured, "daemon, a row"));
  g_assert_null(strstr(measured, "daemon, a cell"));
  g_assert_null(strstr(table, "daemon, a row"));
  assert_told(measured, "daemon, live");
  g_autofree char *model = printed(&fleet, tide_plan_print_json);
  assert_told(model, "daemon, a row");
  assert_told(model, "daemon, a cell");
}

TEST("/bench-plan/less-needs-less")
{
  TidePlanLoad load = fleet;
  load.readings_per_s = 1e6;
  g_auto(TidePlan) plan;
  tide_plan_make(&load, &plan);
  load.margin = 0;
  load.replication = 1;
  load.stored_share = 0.25;
  load.messages_per_reading = 0.1;
  g_auto(TidePlan) less;
  tide_plan_make(&load, &less);
  g_assert_cmpfloat(figure(&plan, TIDE_PLAN_GATEWAYS), ==, 69); /* 272.5 cores, four of each host; then eight */
  g_assert_cmpfloat(figure(&less, TIDE_PLAN_GATEWAYS), ==, 35);
  g_assert_cmpfloat_with_epsilon(figure(&less, TIDE_PLAN_DISK), figure(&plan, TIDE_PLAN_DISK) / 12, 1e-6);
  g_assert_cmpfloat_with_epsilon(figure(&less, TIDE_PLAN_TOPIC_DISK), figure(&plan, TIDE_PLAN_TOPIC_DISK) / 30, 1e-6);
  g_assert_cmpfloat(less.client_cores, <, plan.client_cores);
}

/* What is little is told as that, and not as nothing. */
TEST("/bench-plan/little-is-not-nothing")
{
  TidePlanLoad load = fleet;
  load.readings_per_s = 1.0 / 6;
  load.machines = 10;
  g_autofree char *text = printed(&load, tide_plan_print);
  assert_told(text, "Load    0.17 readings/s from 10 devices");
  assert_told(text, "hosts         hardly a core busy, of 8 in each; at least 2, so that one may fail");
  assert_told(text, "hardly any threads busy in total");
  assert_told(text, "each          1 connection in total");
  assert_told(
      text,
      "2 s of rows: 2.3 KiB of history, 2.2 KiB of latest values including waiting ones, with one daemon failed; ");
  assert_told(text, "; at least 256;");
  assert_told(text, " MiB           333 B/s for 3.0 days, 3 copies");
  assert_told(text, " GiB           30 days, 3 copies");
  assert_told(text, "one copy, in regions of 20 GiB; 2.8 GiB of history: 12, as at first; 53.7 KiB of latest ");
  g_assert_null(strstr(text, "0.00 "));
  g_autofree char *json = printed(&load, tide_plan_print_json);
  assert_told(json, "\"client_cores\":1.291");
  assert_told(json, "\"topic_disk_tib\":0.000314");
  assert_told(json, "\"because\":{\"daemons\":\"hardly a core busy, of 8 in each; at least 2, so that one may fail\"");
}

/* What the counts do not say by themselves is noted, and nothing where there is nothing to note. */
TEST("/bench-plan/notes")
{
  TidePlanLoad load = fleet;
  g_autofree char *none = printed(&load, tide_plan_print);
  g_assert_null(strstr(none, "Note "));
  load.margin = 0.29;
  load.history.n_tables = 50;
  g_autofree char *two = printed(&load, tide_plan_print);
  assert_told(two, "Note    a margin below 30 % leaves nothing for a failed host ");
  assert_told(two, "Note    51 tables with this number of initial regions make 206 regions on each server while one "
                   "has failed, but the limit is 200: ");
  load = fleet;
  load.readings_per_s = 10;
  load.machines = 10;
  g_autofree char *small = printed(&load, tide_plan_print);
  g_assert_null(strstr(small, "Note ")); /* 165 GiB */
  load.retention_s = DAY_S;
  g_autofree char *smaller = printed(&load, tide_plan_print);
  assert_told(smaller, "Note    one host for each role, and one region of each table, would carry this load: ");
}

/* What the configuration says, and the plan does not follow. */
TEST("/bench-plan/notes-of-a-configuration")
{
  TidePlanLoad load = fleet;
  load.memory_bytes = 1 << 30;
  g_autofree char *none = printed(&load, tide_plan_print_json);
  assert_told(none, "\"notes\":[],");
  load.memory_bytes = 32 << 20;
  load.share_unknown = TRUE;
  load.machines_assumed = TRUE;
  g_autofree char *text = printed(&load, tide_plan_print), *json = printed(&load, tide_plan_print_json);
  assert_told(text, "Note    families declare compression or encoding with an unknown result: ");
  assert_told(text, "Note    limits.memory of the configuration is 32 MiB, but this plan needs 768 MiB: ");
  assert_told(json, ",\"planned for 100000 devices: set their number with '--devices'\"]");
}

/* Who is left when one of several is away: of a host that the load needs, that is not said by its count. */
TEST("/bench-plan/failures-are-told")
{
  TidePlanLoad load = fleet;
  g_autofree char *two = printed(&load, tide_plan_print);
  assert_told(two, "5.45 cores busy, of 8 in each; with one failed, the others are 68 % busy"); /* 5.45 of 8 */
  load.margin = 0;
  load.readings_per_s *= 3;
  g_autofree char *none = printed(&load, tide_plan_print);
  assert_told(none, "16.35 cores busy, of 8 in each; none may fail at this load");
}

/* A cell with a hundred packed metrics is none of those that were measured. */
TEST("/bench-plan/large-cells-are-told-of")
{
  TidePlanLoad load = fleet;
  load.history.cells = 1;
  load.history.stored_bytes = 1800;
  g_autofree char *text = printed(&load, tide_plan_print);
  assert_told(
      text,
      "Note    cells of 1,800 bytes cost gateways and HBase more cores than shown here: measured were cells of up to "
      "400 bytes\n");
  g_autofree char *json = printed(&load, tide_plan_print_json);
  assert_told(json, "\"notes\":[\"cells of 1,800 bytes cost gateways and HBase more cores than shown here: ");
  g_autofree char *none = printed(&fleet, tide_plan_print_json);
  assert_told(none, "\"notes\":[],");
}

/* Of one there is one, of none there are several. */
TEST("/bench-plan/plurals")
{
  TidePlanLoad load = fleet;
  load.machines = 1;
  load.readings_per_s = 1e-7;
  load.replication = 1;
  load.retention_s = DAY_S;
  g_autofree char *one = printed(&load, tide_plan_print);
  assert_told(one, " readings/s from 1 device, in messages");
  assert_told(one, " days, 1 copy, 25 % free\n");
  assert_told(one, " 1 day, 1 copy, 25 % free;");
  load.readings_per_s = 1e-16;
  g_autofree char *none = printed(&load, tide_plan_print);
  assert_told(none, "0 connections in total");
}

/* Many tables have many regions at first: a plan that grows by that never tells of more servers than it plans. */
TEST("/bench-plan/servers-hold-their-regions")
{
  for (guint n_tables = 1; n_tables <= 60; n_tables++) {
    for (guint n_latest = 0; n_latest <= n_tables; n_latest += 7) {
      TidePlanLoad load = fleet;
      load.machines *= n_tables % 2 == 0 ? 1 : 1e6; /* these have more of the latest rows than of the others */
      load.history.n_tables = n_tables - n_latest;
      load.latest.n_tables = n_latest;
      load.history.stored_bytes *= load.history.n_tables > 0;
      load.latest.stored_bytes *= load.latest.n_tables > 0;
      g_auto(TidePlan) plan;
      tide_plan_make(&load, &plan);
      double servers = figure(&plan, TIDE_PLAN_REGION_SERVERS), regions = figure(&plan, TIDE_PLAN_REGIONS);
      const char *told = strstr(plan.figures[TIDE_PLAN_REGION_SERVERS].why, "by regions: ");
      g_assert_nonnull(told);
      g_assert_cmpfloat(g_ascii_strtod(told + strlen("by regions: "), NULL), <=, servers);
      if (n_tables <= 50)
        g_assert_cmpfloat(regions, <=, servers * 200);
      if (4 * n_tables * servers <= 200 * (servers - 1)) /* while one is away */
        g_assert_cmpfloat(regions, <=, (servers - 1) * 200);
    }
  }
}

/* Tables that are nearly empty have regions of their own, and no servers. */
TEST("/bench-plan/little-tables-need-no-servers")
{
  for (guint n_latest = 0; n_latest <= 50; n_latest++) {
    TidePlanLoad load = fleet;
    load.readings_per_s = 1;
    load.machines = 1;
    load.history.n_tables = 50 - n_latest;
    load.latest.n_tables = n_latest;
    g_auto(TidePlan) plan;
    tide_plan_make(&load, &plan);
    g_assert_cmpfloat(figure(&plan, TIDE_PLAN_REGION_SERVERS), ==, 3);
  }
}
