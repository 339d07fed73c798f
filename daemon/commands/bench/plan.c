/* Calculates the resources that a load needs, with reasons, as in docs/sizing.md. */
#include "commands/bench/bench.h"
#include "commands/cli/listing.h"
#include "util/budget.h"
#include "util/units.h"

#include <math.h>

/* Units of memory and disk figures. */
#define MIB ((double)(1 << 20))
#define TIB (MIB * (1 << 20))
#define GIB (1024 * MIB)

/* The assumptions of the calculations. */
typedef struct Cost {
  const char *name;
  double value;
  const char *unit;
  const char *source;
} Cost;

typedef enum CostName {
  COST_MESSAGE,      /* of the daemon: Kafka's client */
  COST_MESSAGE_BYTE, /* likewise */
  COST_ROW,          /* of the daemon: from a message's bytes to a batch */
  COST_CELL,         /* likewise */
  COST_LIVE,         /* in addition, for each reading, when fetches and calls are small */
  COST_GATEWAY_ROW,
  COST_GATEWAY_CELL,
  COST_HBASE_ROW,
  COST_HBASE_CELL,
  COST_CONNECTIONS, /* per core of gateways and HBase */
  COST_REGION,      /* bytes per region, one copy */
  COST_REGIONS,     /* maximum per server */
  COST_DISK_FREE,   /* share */
  N_COSTS,
} CostName;

/* Medians of docs/performance.md, `client` and `cost`, and lines through two of them; tests/bench/test_plan_costs.py
 * compares them. */
static const Cost known_costs[N_COSTS] = {
    [COST_MESSAGE] = {"daemon, a message", 0.55, "us", "kcat: 0.58 us for 69 bytes, 0.65 for 243, 1.47 for 1,938"},
    [COST_MESSAGE_BYTE] = {"daemon, a byte of it", 0.00048, "us", "the same"},
    [COST_ROW] = {"daemon, a row", 0.299, "us", "two tables less kcat: 0.64 us for 2 cells, 4.73 for 200"},
    [COST_CELL] = {"daemon, a cell", 0.0207, "us", "the same"},
    [COST_LIVE] = {"daemon, live", 1.5, "us",
                   "3.05 us per reading at 40,000 per second from 16 partitions, 1.56 in a backlog"},
    [COST_GATEWAY_ROW] = {"gateway, a row", 2.26, "us", "15.7 us for a row of ten cells, 3.6 for one of one"},
    [COST_GATEWAY_CELL] = {"gateway, a cell", 1.34, "us", "the same"},
    [COST_HBASE_ROW] = {"HBase, a row", 4.26, "us", "20.4 us for a row of ten cells, 5.87 for one of one"},
    [COST_HBASE_CELL] = {"HBase, a cell", 1.61, "us", "the same"},
    [COST_CONNECTIONS] = {"connections", 2, "a core", "four were as fast as sixteen on two cores"},
    [COST_REGION] = {"a region", 20, "GiB", "HBase's guide: 10 to 50; hbase.hregion.max.filesize"},
    [COST_REGIONS] = {"regions of a server", 200, "at most", "HBase's guide: 20 to 200"},
    [COST_DISK_FREE] = {"disk that stays free", 0.25, "of all", "not measured: compactions write before they delete"},
};

static const TidePlanFigure titles[TIDE_PLAN_N] = {
    [TIDE_PLAN_DAEMONS] = {"daemons", "daemons", "hosts", 0, NULL},
    [TIDE_PLAN_THREADS] = {"threads", "kafka.threads", "each", 0, NULL},
    [TIDE_PLAN_WRITERS] = {"writers", "hbase.writers", "each", 0, NULL},
    [TIDE_PLAN_MEMORY] = {"memory_mib", "limits.memory", "MiB each", 0, NULL},
    [TIDE_PLAN_PARTITIONS] = {"partitions", "partitions", "of the topic", 0, NULL},
    [TIDE_PLAN_TOPIC_DISK] = {"topic_disk_tib", "disk of the topic", "TiB", 0, NULL},
    [TIDE_PLAN_GATEWAYS] = {"gateways", "gateways", "hosts", 0, NULL},
    [TIDE_PLAN_REGION_SERVERS] = {"region_servers", "region servers", "hosts", 0, NULL},
    [TIDE_PLAN_FIRST_REGIONS] = {"first_regions", "regions, at first", "each table", 0, NULL},
    [TIDE_PLAN_REGIONS] = {"regions", "regions, in the end", "in all", 0, NULL},
    [TIDE_PLAN_DISK] = {"disk_tib", "disk of the tables", "TiB", 0, NULL},
};

#define MIN_DAEMONS 2 /* also of gateways and region servers: one may fail */
#define MIN_THREADS 2 /* the configuration's defaults: this, and the next two */
#define MIN_WRITERS 4
#define MIN_MEMORY_MIB 256
#define MEMORY_STEP_MIB 64
#define STALL_S 2.0 /* stalls of gateways during which reading continues */

/* Bytes in memory per byte stored, for a waiting latest row. Its encoded cells are four fifths of what HBase stores, in
 * buffers that double and so average 1.4 times that; its entries in the other buffers (rows/row_buffer_private.h)
 * likewise. */
#define WAITING_SHARE 1.2
#define WAITING_ROW_BYTES 220

#define PARTITIONS_PER_THREAD 4 /* room for the group to grow */
#define REGIONS_PER_SERVER                                                                                             \
  4                    /* initial regions of each table: enough that the regions of a failed server are spread         \
                        * over all others */
#define MAX_THREADS 64 /* limits of a configuration: this, and the next one */
#define MAX_WRITERS 256
#define US_PER_S 1e6
#define DAY_S 86400.0

static double
cost(CostName name)
{
  return known_costs[name].value;
}

/* Rounds up a count of indivisible things, tolerating rounding errors just above a whole number. */
static double
whole(double value)
{
  return fmax(ceil(value - 1e-9), 0); /* for nearly zero it is -0 */
}

/* (transfer full) */
static char *
count_text(double value)
{
  if (value < 10) /* one reading a minute must not print as 0 */
    return g_strdup_printf("%.2g", value);
  return tide_count_text((guint64)llround(value));
}

/* (transfer full) */
static char *
cores_text(double cores)
{
  return cores < 0.005 ? g_strdup("hardly a core busy") : g_strdup_printf("%.2f cores busy", cores);
}

/* (transfer full) */
static char *
days_text(double seconds)
{
  return seconds < DAY_S ? g_strdup_printf("%.2f days", seconds / DAY_S)
                         : tide_count_of((guint64)llround(seconds / DAY_S), "day", NULL);
}

/* Sets a figure and its reason, given as a format with arguments. */
static void G_GNUC_PRINTF(4, 5) set(TidePlan *plan, TidePlanName name, double value, const char *why, ...)
{
  plan->figures[name] = titles[name];
  plan->figures[name].value = value;
  va_list arguments;
  va_start(arguments, why);
  plan->figures[name].why = g_strdup_vprintf(why, arguments);
  va_end(arguments);
}

static double
figure(const TidePlan *plan, TidePlanName name)
{
  return plan->figures[name].value;
}

static double
path_us(const TidePlanLoad *load)
{
  if (load->path_us > 0)
    return load->path_us;
  return (load->history.rows + load->latest.rows) * cost(COST_ROW) +
         (load->history.cells + load->latest.cells) * cost(COST_CELL);
}

static double
usable_cores(const TidePlanLoad *load)
{
  return load->cores * (1 - load->margin);
}

static void
plan_work(const TidePlanLoad *load, TidePlan *plan)
{
  /* The share of latest rows that is written: others are replaced by newer ones while they wait. */
  double in_a_window = load->readings_per_s * load->latest_window_s / load->machines;
  double share = in_a_window > 1 ? 1 / in_a_window : 1;
  plan->rows_per_s = load->readings_per_s * (load->history.rows + share * load->latest.rows);
  plan->cells_per_s = load->readings_per_s * (load->history.cells + share * load->latest.cells);
  double kafka_us = load->messages_per_reading * (cost(COST_MESSAGE) + load->message_bytes * cost(COST_MESSAGE_BYTE));
  plan->client_cores = load->readings_per_s * (kafka_us + path_us(load) + cost(COST_LIVE)) / US_PER_S;
  plan->gateway_cores =
      (plan->rows_per_s * cost(COST_GATEWAY_ROW) + plan->cells_per_s * cost(COST_GATEWAY_CELL)) / US_PER_S;
  plan->hbase_cores = (plan->rows_per_s * cost(COST_HBASE_ROW) + plan->cells_per_s * cost(COST_HBASE_CELL)) / US_PER_S;
}

/* The load of the others when one of at least two @hosts fails. (transfer full) */
static char *
others_text(const TidePlanLoad *load, double busy_cores, double hosts)
{
  double percent = 100 * busy_cores / ((hosts - 1) * load->cores);
  if (percent > 100)
    return g_strdup("none may fail at this load");
  return percent < 0.5 ? g_strdup("with one failed, the others are hardly busy")
                       : g_strdup_printf("with one failed, the others are %.0f %% busy", percent);
}

/* The reason for @hosts when the load needs @needed. (transfer full) */
static char *
failure_text(const TidePlanLoad *load, double busy_cores, double needed, double hosts)
{
  return needed < MIN_DAEMONS ? g_strdup_printf("at least %d, so that one may fail", MIN_DAEMONS)
                              : others_text(load, busy_cores, hosts);
}

double
tide_plan_waiting_bytes(double n_rows, double stored_bytes)
{
  return WAITING_SHARE * stored_bytes + WAITING_ROW_BYTES * n_rows;
}

/* Enough for the rows of all tables, and of each table: one table may use only a share, and Kafka's prefetched messages
 * another (util/budget.h). */
static void
plan_memory(const TidePlanLoad *load, TidePlan *plan)
{
  double readers = figure(plan, TIDE_PLAN_DAEMONS) - 1;
  double history_bytes = STALL_S * load->readings_per_s * load->history.stored_bytes / readers;
  /* For latest tables: rows that wait for newer values in the window, and rows of another STALL_S while those are in
   * flight. In each, a device has at most one row. */
  double in_window = MIN(load->readings_per_s * load->latest_window_s, load->machines);
  double in_stall = MIN(load->readings_per_s * STALL_S, load->machines);
  double latest_bytes =
      (in_window + in_stall) * tide_plan_waiting_bytes(load->latest.rows, load->latest.stored_bytes) / readers;
  double rows_percent = 100 - TIDE_BUDGET_PREFETCH_PERCENT,
         table_percent = rows_percent * TIDE_BUDGET_TABLE_PERCENT / 100;
  double of_a_table = MAX(history_bytes / MAX(load->history.n_tables, 1), latest_bytes / MAX(load->latest.n_tables, 1));
  double by_table = of_a_table / table_percent * 100, by_all = (history_bytes + latest_bytes) / rows_percent * 100;
  double memory_mib = MEMORY_STEP_MIB * whole(MAX(by_table, by_all) / MIB / MEMORY_STEP_MIB);
  g_autofree char *history = tide_size_text(history_bytes), *latest = tide_size_text(latest_bytes);
  set(plan, TIDE_PLAN_MEMORY, MAX(MIN_MEMORY_MIB, memory_mib),
      "%.0f s of rows: %s of history, %s of latest values including waiting ones, with one daemon failed; %.3g %% is "
      "for %s; %s; MemoryMax= 256 more",
      STALL_S, history, latest, by_table > by_all ? table_percent : rows_percent,
      by_table > by_all ? "each table" : "rows",
      memory_mib < MIN_MEMORY_MIB ? "at least " G_STRINGIFY(MIN_MEMORY_MIB)
                                  : "in steps of " G_STRINGIFY(MEMORY_STEP_MIB));
}

static void
plan_daemons(const TidePlanLoad *load, TidePlan *plan)
{
  double usable = 1 - load->margin;
  double threads = load->readings_per_s * (path_us(load) + cost(COST_LIVE)) / US_PER_S / usable;
  double connections = cost(COST_CONNECTIONS) * (plan->gateway_cores + plan->hbase_cores) / usable;
  double by_cores = whole(plan->client_cores / usable_cores(load)), by_writers = whole(connections / MAX_WRITERS);
  double needed = MAX(MAX(by_cores, by_writers), whole(threads / MAX_THREADS)), daemons = MAX(MIN_DAEMONS, needed);
  g_autofree char *busy = cores_text(plan->client_cores);
  g_autofree char *writers = g_strdup_printf("; by writers, at most %d in each: %.0f", MAX_WRITERS, by_writers);
  g_autofree char *failure = failure_text(load, plan->client_cores, needed, daemons);
  set(plan, TIDE_PLAN_DAEMONS, daemons, "%s, of %u in each%s; %s", busy, load->cores,
      by_writers > by_cores ? writers : "", failure);
  g_autofree char *working =
      threads * usable < 0.005 ? g_strdup("hardly any") : g_strdup_printf("%.2f", threads * usable);
  double each = whole(threads / figure(plan, TIDE_PLAN_DAEMONS));
  set(plan, TIDE_PLAN_THREADS, MAX(MIN_THREADS, each), "%s threads busy in total; at least %d, the default", working,
      MIN_THREADS);
  each = whole(connections / figure(plan, TIDE_PLAN_DAEMONS));
  g_autofree char *all = tide_count_of((guint64)whole(connections), "connection", NULL);
  set(plan, TIDE_PLAN_WRITERS, MAX(MIN_WRITERS, each), "%s in total; at least %d, the default", all, MIN_WRITERS);
  plan_memory(load, plan);
}

static void
plan_topic(const TidePlanLoad *load, TidePlan *plan)
{
  double threads = figure(plan, TIDE_PLAN_DAEMONS) * figure(plan, TIDE_PLAN_THREADS);
  double messages_per_s = load->readings_per_s * load->messages_per_reading;
  set(plan, TIDE_PLAN_PARTITIONS, PARTITIONS_PER_THREAD * threads, "%d for each of %.0f threads: room to grow",
      PARTITIONS_PER_THREAD, threads);
  double bytes = messages_per_s * load->message_bytes * load->kafka_retention_s * load->replication;
  g_autofree char *flow = tide_size_text(messages_per_s * load->message_bytes);
  g_autofree char *copies = tide_count_of(load->replication, "copy", "copies");
  set(plan, TIDE_PLAN_TOPIC_DISK, bytes / TIB / (1 - cost(COST_DISK_FREE)), "%s/s for %.1f days, %s, %.0f %% free",
      flow, load->kafka_retention_s / DAY_S, copies, cost(COST_DISK_FREE) * 100);
}

/* The number of servers for so many regions, and its calculation. */
typedef struct Servers {
  double count;
  char *why; /* owned: "(3,204 + 200) / (200 - 4)" */
} Servers;

/* The regions of one kind of table: finally, and per server at first; and the latter for the other kind. */
typedef struct KindRegions {
  double regions;
  double first;
  double others;
} KindRegions;

/* Raises the count to @count, if that is more, with its reason. */
static void
raise_servers(Servers *servers, double count, char *why)
{
  if (count > servers->count) {
    servers->count = count;
    g_free(servers->why);
    servers->why = why;
  } else
    g_free(why);
}

/* Enough servers for the final number of regions while one server has failed and the others take over its share. Each
 * table has at least REGIONS_PER_SERVER per server, so if one kind has more in the end, less room is left for the
 * other. The initial regions may exceed the room; more servers would not help then. */
static Servers
servers_by_regions(const TidePlanLoad *load, double history_regions, double latest_regions)
{
  double most = cost(COST_REGIONS), all = history_regions + latest_regions;
  double history_first = REGIONS_PER_SERVER * load->history.n_tables;
  double latest_first = REGIONS_PER_SERVER * load->latest.n_tables;
  const KindRegions kinds[] = {{history_regions, history_first, latest_first},
                               {latest_regions, latest_first, history_first}};
  g_autofree char *count = count_text(all);
  Servers servers = {.count = (all + most) / most, .why = g_strdup_printf("(%s + %.0f) / %.0f", count, most, most)};
  for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++) {
    double while_away = (kinds[i].regions + most) / MAX(most - kinds[i].others, 1);
    double as_at_first = kinds[i].regions / MAX(kinds[i].first, 1); /* with this many, the final number is not higher */
    g_autofree char *of_kind = count_text(kinds[i].regions);
    if (while_away <= as_at_first)
      raise_servers(&servers, while_away,
                    g_strdup_printf("(%s + %.0f) / (%.0f - %.0f)", of_kind, most, most, kinds[i].others));
    else
      raise_servers(&servers, as_at_first, g_strdup_printf("%s / %.0f, as at first", of_kind, kinds[i].first));
  }
  servers.count = whole(servers.count);
  return servers;
}

/* "; 320.42 TiB of history: 16,406" */
static void
append_regions(GString *text, const char *what, double bytes, double regions, double first)
{
  if (first == 0)
    return; /* there are no such tables */
  g_autofree char *size = tide_size_text(bytes), *count = count_text(MAX(regions, first));
  g_string_append_printf(text, "; %s of %s: %s%s", size, what, count, regions < first ? ", as at first" : "");
}

/* One copy of the tables with history, and of the latest tables. */
static double
history_bytes(const TidePlanLoad *load)
{
  return load->readings_per_s * load->history.stored_bytes * load->stored_share * load->retention_s;
}

static double
latest_bytes(const TidePlanLoad *load)
{
  return load->machines * load->latest.stored_bytes * load->stored_share;
}

static void
plan_regions(const TidePlanLoad *load, TidePlan *plan)
{
  double region_bytes = cost(COST_REGION) * GIB, by_cores = whole(plan->hbase_cores / usable_cores(load));
  double history_regions = whole(history_bytes(load) / region_bytes),
         latest_regions = whole(latest_bytes(load) / region_bytes);
  Servers by_regions = servers_by_regions(load, history_regions, latest_regions);
  g_autofree char *quotient = by_regions.why, *busy = cores_text(plan->hbase_cores);
  double servers = MAX(MAX(by_cores, by_regions.count), MAX(load->replication, MIN_DAEMONS)),
         first = REGIONS_PER_SERVER * servers;
  g_autofree char *others = others_text(load, plan->hbase_cores, servers);
  set(plan, TIDE_PLAN_REGION_SERVERS, servers, "%s: %.0f; by regions: %.0f, of %s; by copies: %u; %s", busy, by_cores,
      by_regions.count, quotient, load->replication, others);
  set(plan, TIDE_PLAN_FIRST_REGIONS, first, "%d on each server, so that all work", REGIONS_PER_SERVER);
  double history_first = first * load->history.n_tables, latest_first = first * load->latest.n_tables;
  g_autoptr(GString) parts = g_string_new(NULL);
  append_regions(parts, "history", history_bytes(load), history_regions, history_first);
  append_regions(parts, "latest values", latest_bytes(load), latest_regions, latest_first);
  set(plan, TIDE_PLAN_REGIONS, MAX(history_regions, history_first) + MAX(latest_regions, latest_first),
      "one copy, in regions of %.0f GiB%s", cost(COST_REGION), parts->str);
}

/* "30 days"; "7 to 365 days by ttl, 30 without". (transfer full) */
static char *
retention_text(const TidePlanLoad *load)
{
  if (load->min_ttl_s == 0)
    return days_text(load->retention_s);
  g_autofree char *most = days_text(load->max_ttl_s);
  GString *text = g_string_new(NULL);
  if (load->min_ttl_s < load->max_ttl_s)
    g_string_append_printf(text, "%.*f to ", load->min_ttl_s < DAY_S ? 2 : 0, load->min_ttl_s / DAY_S);
  g_string_append_printf(text, "%s by ttl", most);
  if (load->other_retention_s > 0)
    g_string_append_printf(text, ", %.0f without", load->other_retention_s / DAY_S);
  return g_string_free(text, FALSE);
}

static void
plan_hbase(const TidePlanLoad *load, TidePlan *plan)
{
  g_autofree char *busy = cores_text(plan->gateway_cores);
  double needed = whole(plan->gateway_cores / usable_cores(load)), gateways = MAX(MIN_DAEMONS, needed);
  g_autofree char *failure = failure_text(load, plan->gateway_cores, needed, gateways);
  set(plan, TIDE_PLAN_GATEWAYS, gateways, "%s, of %u in each; %s", busy, load->cores, failure);
  plan_regions(load, plan);
  g_autofree char *retention = retention_text(load), *copies = tide_count_of(load->replication, "copy", "copies");
  /* Tables with history need nearly all of the disk. */
  const TidePlanRows *rows = load->history.cells > 0 ? &load->history : &load->latest;
  set(plan, TIDE_PLAN_DISK,
      (history_bytes(load) + latest_bytes(load)) * load->replication / TIB / (1 - cost(COST_DISK_FREE)),
      "%s, %s, %.0f %% free; %.0f bytes per cell", retention, copies, cost(COST_DISK_FREE) * 100,
      load->stored_share * rows->stored_bytes / rows->cells);
}

static gboolean
uses(const TidePlanLoad *load, CostName name)
{
  return load->path_us == 0 || (name != COST_ROW && name != COST_CELL);
}

void
tide_plan_make(const TidePlanLoad *load, TidePlan *ret_plan)
{
  *ret_plan = (TidePlan){0};
  plan_work(load, ret_plan);
  plan_daemons(load, ret_plan);
  plan_topic(load, ret_plan);
  plan_hbase(load, ret_plan);
}

void
tide_plan_clear(TidePlan *plan)
{
  for (int i = 0; i < TIDE_PLAN_N; i++)
    g_clear_pointer(&plan->figures[i].why, g_free);
}

/* ---- output ---- */

/* Larger cells cost more than the model, which was measured with numbers, and with ten of them packed. */
#define MEASURED_CELL_BYTES 400.0

/* A smaller margin leaves nothing for the unforeseen: docs/sizing.md, "How far it carries". */
#define LEAST_MARGIN 0.3

static void G_GNUC_PRINTF(2, 3) add_note(GPtrArray *notes, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_ptr_array_add(notes, g_strdup_vprintf(format, arguments));
  va_end(arguments);
}

/* The limits of the figures. (transfer full) (element-type utf8) */
static GPtrArray *
notes_of(const TidePlanLoad *load, const TidePlan *plan)
{
  GPtrArray *notes = g_ptr_array_new_with_free_func(g_free);
  /* Regions of all tables on each server, before there is data, while one server has failed. */
  double n_servers = figure(plan, TIDE_PLAN_REGION_SERVERS);
  guint n_tables = load->history.n_tables + load->latest.n_tables;
  double first_regions = REGIONS_PER_SERVER * n_tables * n_servers / (n_servers - 1);
  double cell_bytes = MAX(load->history.cells > 0 ? load->history.stored_bytes / load->history.cells : 0,
                          load->latest.cells > 0 ? load->latest.stored_bytes / load->latest.cells : 0);
  double busiest_cores = MAX(plan->client_cores, MAX(plan->gateway_cores, plan->hbase_cores));
  if (cell_bytes > MEASURED_CELL_BYTES) {
    g_autofree char *cell = count_text(cell_bytes);
    add_note(
        notes,
        "cells of %s bytes cost gateways and HBase more cores than shown here: measured were cells of up to %.0f bytes",
        cell, MEASURED_CELL_BYTES);
  }
  if (busiest_cores <= usable_cores(load) &&
      history_bytes(load) + latest_bytes(load) <= cost(COST_REGION) * GIB) /* one host, and one region of a table */
    add_note(notes, "one host for each role, and one region of each table, would carry this load: the counts below are "
                    "the minimum of any plan, so that one may fail and all can grow");
  if (load->share_unknown)
    add_note(notes, "families declare compression or encoding with an unknown result: disk and regions are planned for "
                    "100 %%; set '--stored' to the share left, measured on your own table");
  double planned_mib = plan->figures[TIDE_PLAN_MEMORY].value;
  const char *unit;
  double size = tide_size_in_unit(load->memory_bytes, &unit);
  if (load->memory_bytes > 0 && load->memory_bytes < planned_mib * MIB)
    add_note(notes,
             "limits.memory of the configuration is %.4g %s, but this plan needs %.0f MiB: if rows need more than "
             "available (BECAUSE), reading pauses until some are written",
             size, unit, planned_mib);
  if (load->margin < LEAST_MARGIN)
    add_note(notes, "a margin below %.0f %% leaves nothing for a failed host or for unmeasured load",
             LEAST_MARGIN * 100);
  if (first_regions > cost(COST_REGIONS))
    add_note(notes,
             "%u tables with this number of initial regions make %.0f regions on each server while one has failed, but "
             "the limit is %.0f: give small tables fewer (their 'regions')",
             n_tables, first_regions, cost(COST_REGIONS));
  return notes;
}

/* ---- table ---- */

static void
print_load(FILE *stream, const TidePlanLoad *load, const TidePlan *plan)
{
  g_autofree char *readings = count_text(load->readings_per_s);
  g_autofree char *machines = tide_count_of((guint64)load->machines, "device", NULL);
  g_autofree char *bytes = count_text(load->message_bytes);
  g_autofree char *rows = count_text(plan->rows_per_s);
  g_autofree char *cells = count_text(plan->cells_per_s);
  fprintf(stream, "Load    %s readings/s from %s, in messages of %s bytes\n", readings, machines, bytes);
  fprintf(stream, "Tables  %u with history, %u with latest values: %s rows/s, %s cells/s\n", load->history.n_tables,
          load->latest.n_tables, rows, cells);
  fprintf(stream,
          "Margin  %.0f %% of each host's %u cores stay free, for peaks and after outages: the plan uses %.3g\n",
          load->margin * 100, load->cores, usable_cores(load));
  if (load->path_us > 0)
    fprintf(stream, "Client  %.2f us per reading from its bytes to a batch: measured here, just now\n", load->path_us);
  g_autoptr(GPtrArray) notes = notes_of(load, plan);
  for (guint i = 0; i < notes->len; i++)
    fprintf(stream, "Note    %s\n", (const char *)notes->pdata[i]);
  fputc('\n', stream);
}

static gboolean
add_figure(TideListing *listing, const TidePlan *plan, int name)
{
  const TidePlanFigure *figure = &plan->figures[name];
  gboolean cut = name == TIDE_PLAN_TOPIC_DISK || name == TIDE_PLAN_DISK; /* everything else is counted in whole units */
  const char *unit = figure->unit;
  double size = cut ? tide_size_in_unit(figure->value * TIB, &unit) : 0;
  g_autofree char *value = cut ? g_strdup_printf("%.2f", size) : count_text(figure->value);
  return tide_listing_add(listing, (const char *[]){figure->title, value, unit, figure->why});
}

static gboolean
add_cost(TideListing *listing, const Cost *cost)
{
  g_autofree char *value = g_strdup_printf("%.6g", cost->value);
  return tide_listing_add(listing, (const char *[]){cost->name, value, cost->unit, cost->source});
}

void
tide_plan_print(FILE *stream, const TidePlanLoad *load, const TidePlan *plan)
{
  static const TideListingColumn needed[] = {
      {.name = "NEEDED"}, {.name = "COUNT", .right = TRUE}, {.name = "OF"}, {.name = "BECAUSE"}};
  static const TideListingColumn assumed[] = {
      {.name = "ASSUMED"}, {.name = "COST", .right = TRUE}, {.name = "UNIT"}, {.name = "MEASURED OR TAKEN FROM"}};
  gboolean colour = tide_colour_wanted(stream);
  print_load(stream, load, plan);
  g_autoptr(TideListing) figures = tide_listing_new(stream, TIDE_OUTPUT_TABLE, colour, needed, G_N_ELEMENTS(needed));
  for (int i = 0; i < TIDE_PLAN_N; i++)
    if (!add_figure(figures, plan, i))
      return;
  if (!tide_listing_finish(figures))
    return;
  fputc('\n', stream);
  g_autoptr(TideListing) costs = tide_listing_new(stream, TIDE_OUTPUT_TABLE, colour, assumed, G_N_ELEMENTS(assumed));
  for (int i = 0; i < N_COSTS; i++)
    if (uses(load, (CostName)i) && !add_cost(costs, &known_costs[i]))
      return;
  (void)tide_listing_finish(costs);
}

/* ---- JSON ---- */

static void
append_rows(TideBuffer *text, const char *name, const TidePlanRows *rows)
{
  tide_json_open(text, name, '{');
  tide_json_number(text, "tables", rows->n_tables);
  tide_json_significant(text, "rows_per_reading", rows->rows);
  tide_json_significant(text, "cells_per_reading", rows->cells);
  tide_json_significant(text, "stored_bytes_per_reading", rows->stored_bytes);
  tide_json_close(text, "}");
}

static void
append_load(TideBuffer *text, const TidePlanLoad *load)
{
  tide_json_open(text, "load", '{');
  tide_json_significant(text, "readings_per_s", load->readings_per_s);
  tide_json_significant(text, "devices", load->machines);
  tide_json_significant(text, "bytes_per_message", load->message_bytes);
  append_rows(text, "history", &load->history);
  append_rows(text, "latest", &load->latest);
  tide_json_significant(text, "retention_s", load->retention_s);
  tide_json_significant(text, "kafka_retention_s", load->kafka_retention_s);
  tide_json_significant(text, "stored_share", load->stored_share);
  tide_json_number(text, "replication", load->replication);
  tide_json_number(text, "cores", load->cores);
  tide_json_significant(text, "margin", load->margin);
  if (load->path_us > 0)
    tide_json_significant(text, "measured_us_per_reading", load->path_us);
  tide_json_close(text, "}");
}

static void
append_needs(TideBuffer *text, const TidePlan *plan)
{
  tide_json_open(text, "busy", '{');
  tide_json_significant(text, "rows_per_s", plan->rows_per_s);
  tide_json_significant(text, "cells_per_s", plan->cells_per_s);
  tide_json_significant(text, "client_cores", plan->client_cores);
  tide_json_significant(text, "gateway_cores", plan->gateway_cores);
  tide_json_significant(text, "hbase_cores", plan->hbase_cores);
  tide_json_close(text, "}");
  tide_json_open(text, "needed", '{');
  for (int i = 0; i < TIDE_PLAN_N; i++)
    tide_json_significant(text, plan->figures[i].name, plan->figures[i].value);
  tide_json_close(text, "}");
  tide_json_open(text, "because", '{');
  for (int i = 0; i < TIDE_PLAN_N; i++)
    tide_json_text(text, plan->figures[i].name, plan->figures[i].why);
  tide_json_close(text, "}");
}

char *
tide_plan_machines_note(const TidePlanLoad *load)
{
  return g_strdup_printf("planned for %.0f devices: set their number with '--devices'", load->machines);
}

void
tide_plan_print_json(FILE *stream, const TidePlanLoad *load, const TidePlan *plan)
{
  g_auto(TideBuffer) text = {0};
  tide_json_open(&text, NULL, '{');
  append_load(&text, load);
  append_needs(&text, plan);
  tide_json_open(&text, "notes", '[');
  g_autoptr(GPtrArray) notes = notes_of(load, plan);
  for (guint i = 0; i < notes->len; i++)
    tide_json_text(&text, NULL, notes->pdata[i]);
  if (load->machines_assumed) {
    g_autofree char *note = tide_plan_machines_note(load);
    tide_json_text(&text, NULL, note);
  }
  tide_json_close(&text, "]");
  tide_json_open(&text, "assumed", '[');
  for (int i = 0; i < N_COSTS; i++) {
    if (!uses(load, (CostName)i))
      continue;
    tide_json_open(&text, NULL, '{');
    tide_json_text(&text, "name", known_costs[i].name);
    tide_json_significant(&text, "cost", known_costs[i].value);
    tide_json_text(&text, "unit", known_costs[i].unit);
    tide_json_text(&text, "source", known_costs[i].source);
    tide_json_close(&text, "}");
  }
  tide_json_close(&text, "]");
  tide_json_print_line(&text, stream);
}
