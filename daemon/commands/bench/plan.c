#include "commands/bench/plan.h"

#include "commands/cli/time_argument.h"
#include "util/budget.h"

#include <math.h>

#define GIB (1024 * TIDE_PLAN_MIB)

/* Medians of docs/performance.md, `client` and `cost`, and lines through two of them: tests/bench/test_plan_costs.py
 * holds these against that. */
const TidePlanCost tide_plan_costs[TIDE_N_COSTS] = {
    [TIDE_COST_MESSAGE] = {"daemon, a message", 0.55, "us", "kcat: 0.58 us for 69 bytes, 0.65 for 243, 1.47 for 1,938"},
    [TIDE_COST_MESSAGE_BYTE] = {"daemon, a byte of it", 0.00048, "us", "the same"},
    [TIDE_COST_ROW] = {"daemon, a row", 0.299, "us", "two tables less kcat: 0.64 us for 2 cells, 4.73 for 200"},
    [TIDE_COST_CELL] = {"daemon, a cell", 0.0207, "us", "the same"},
    [TIDE_COST_LIVE] = {"daemon, live", 5.6, "us",
                        "7.14 us a reading at 40,000 a second from 16 partitions, 1.56 in a backlog"},
    [TIDE_COST_GATEWAY_ROW] = {"gateway, a row", 2.26, "us", "15.7 us for a row of ten cells, 3.6 for one of one"},
    [TIDE_COST_GATEWAY_CELL] = {"gateway, a cell", 1.34, "us", "the same"},
    [TIDE_COST_HBASE_ROW] = {"HBase, a row", 4.26, "us", "20.4 us for a row of ten cells, 5.87 for one of one"},
    [TIDE_COST_HBASE_CELL] = {"HBase, a cell", 1.61, "us", "the same"},
    [TIDE_COST_CONNECTIONS] = {"connections", 2, "a core", "four were as fast as sixteen on two cores"},
    [TIDE_COST_REGION] = {"a region", 20, "GiB", "HBase's guide: 10 to 50; hbase.hregion.max.filesize"},
    [TIDE_COST_REGIONS] = {"regions of a server", 200, "at most", "HBase's guide: 20 to 200"},
    [TIDE_COST_DISK_FREE] = {"disk that stays free", 0.25, "of all",
                             "not measured: compactions write before they delete"},
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

#define MIN_DAEMONS 2 /* and gateways, and region servers: one may fail */
#define MIN_THREADS 2 /* what a configuration that says nothing has: this, and the next two */
#define MIN_WRITERS 4
#define MIN_MEMORY_MIB 256
#define MEMORY_STEP_MIB 64
#define STALL_S 2.0 /* of gateways, in which reading goes on */

/* Of a latest row that waits: its encoded cells are four fifths of what HBase stores, in buffers that double, so that
 * they are 1.4 times of that on average; and its places in the others (rows/row_buffer_private.h), likewise. */
#define WAITING_SHARE 1.2
#define WAITING_ROW_BYTES 220

#define PARTITIONS_PER_THREAD 4 /* so much may a group grow */
#define REGIONS_PER_SERVER 4    /* of each table at first: enough that one that is moved leaves a share for each */
#define MAX_THREADS 64          /* that a configuration may have: this, and the next one */
#define MAX_WRITERS 256
#define US_PER_S 1e6
#define DAY_S 86400.0

static double
cost(TidePlanCostName name)
{
  return tide_plan_costs[name].value;
}

/* Counts of what cannot be cut; what is a hair above a whole number is that number. */
static double
whole(double value)
{
  return fmax(ceil(value - 1e-9), 0); /* of nearly nothing it is -0 */
}

double
tide_plan_size(double bytes, const char **ret_unit)
{
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  guint unit = 0;
  for (; bytes >= 1024 && unit + 1 < G_N_ELEMENTS(units); unit++)
    bytes /= 1024;
  *ret_unit = units[unit];
  return bytes;
}

/* (transfer full) */
static char *
size_text(double bytes)
{
  const char *unit;
  double size = tide_plan_size(bytes, &unit);
  int digits = bytes < 1024 ? 0 : bytes < TIDE_PLAN_TIB ? 1 : 2;
  return g_strdup_printf("%.*f %s", digits, size, unit);
}

/* (transfer full) */
static char *
cores_text(double cores)
{
  return cores < 0.005 ? g_strdup("hardly a core busy") : g_strdup_printf("%.2f cores busy", cores);
}

static const char *
copies_text(guint n_copies)
{
  return n_copies == 1 ? "copy" : "copies";
}

/* (transfer full) */
static char *
days_text(double seconds)
{
  double days = seconds < DAY_S ? seconds / DAY_S : round(seconds / DAY_S);
  return g_strdup_printf("%.*f day%s", seconds < DAY_S ? 2 : 0, days, days == 1 ? "" : "s");
}

/* (transfer full) */
static char *
rounded_text(double value)
{
  return tide_count_text((guint64)llround(value));
}

double
tide_plan_cell_bytes(const TidePlanLoad *load)
{
  return MAX(load->history.cells > 0 ? load->history.stored_bytes / load->history.cells : 0,
             load->latest.cells > 0 ? load->latest.stored_bytes / load->latest.cells : 0);
}

/* A count that is told with its reason, which is said with the format and what follows. */
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
  return (load->history.rows + load->latest.rows) * cost(TIDE_COST_ROW) +
         (load->history.cells + load->latest.cells) * cost(TIDE_COST_CELL);
}

double
tide_plan_usable_cores(const TidePlanLoad *load)
{
  return load->cores * (1 - load->margin);
}

static void
plan_work(const TidePlanLoad *load, TidePlan *plan)
{
  /* Of the latest rows, the share that is written: others are replaced by newer ones while they wait. */
  double in_a_window = load->readings_per_s * load->latest_window_s / load->machines;
  double share = in_a_window > 1 ? 1 / in_a_window : 1;
  plan->rows_per_s = load->readings_per_s * (load->history.rows + share * load->latest.rows);
  plan->cells_per_s = load->readings_per_s * (load->history.cells + share * load->latest.cells);
  double kafka_us =
      load->messages_per_reading * (cost(TIDE_COST_MESSAGE) + load->message_bytes * cost(TIDE_COST_MESSAGE_BYTE));
  plan->client_cores = load->readings_per_s * (kafka_us + path_us(load) + cost(TIDE_COST_LIVE)) / US_PER_S;
  plan->gateway_cores =
      (plan->rows_per_s * cost(TIDE_COST_GATEWAY_ROW) + plan->cells_per_s * cost(TIDE_COST_GATEWAY_CELL)) / US_PER_S;
  plan->hbase_cores =
      (plan->rows_per_s * cost(TIDE_COST_HBASE_ROW) + plan->cells_per_s * cost(TIDE_COST_HBASE_CELL)) / US_PER_S;
}

/* How the others do when one of @hosts, at least two, is away. (transfer full) */
static char *
others_text(const TidePlanLoad *load, double busy_cores, double hosts)
{
  double percent = 100 * busy_cores / ((hosts - 1) * load->cores);
  if (percent > 100)
    return g_strdup("none may fail at this load");
  return percent < 0.5 ? g_strdup("with one away, the others are hardly busy")
                       : g_strdup_printf("with one away, the others are %.0f %% busy", percent);
}

/* Why there are so many @hosts, of which the load needs @needed. (transfer full) */
static char *
failure_text(const TidePlanLoad *load, double busy_cores, double needed, double hosts)
{
  return needed < MIN_DAEMONS ? g_strdup_printf("%d at least, so that one may fail", MIN_DAEMONS)
                              : others_text(load, busy_cores, hosts);
}

double
tide_plan_waiting_bytes(double n_rows, double stored_bytes)
{
  return WAITING_SHARE * stored_bytes + WAITING_ROW_BYTES * n_rows;
}

/* As much as lets all tables have their rows, and each table its own: one may take but a part, and what is read ahead
 * from Kafka another (util/budget.h). */
static void
plan_memory(const TidePlanLoad *load, TidePlan *plan)
{
  double readers = figure(plan, TIDE_PLAN_DAEMONS) - 1;
  double history_bytes = STALL_S * load->readings_per_s * load->history.stored_bytes / readers;
  /* Of the latest tables: what waits for newer values in the window, and what comes in STALL_S more, while that is on
   * its way. In each a machine has one row at the most. */
  double in_window = MIN(load->readings_per_s * load->latest_window_s, load->machines);
  double in_stall = MIN(load->readings_per_s * STALL_S, load->machines);
  double latest_bytes =
      (in_window + in_stall) * tide_plan_waiting_bytes(load->latest.rows, load->latest.stored_bytes) / readers;
  double rows_percent = 100 - TIDE_BUDGET_PREFETCH_PERCENT,
         table_percent = rows_percent * TIDE_BUDGET_TABLE_PERCENT / 100;
  double of_a_table = MAX(history_bytes / MAX(load->history.n_tables, 1), latest_bytes / MAX(load->latest.n_tables, 1));
  double by_table = of_a_table / table_percent * 100, by_all = (history_bytes + latest_bytes) / rows_percent * 100;
  double memory_mib = MEMORY_STEP_MIB * whole(MAX(by_table, by_all) / TIDE_PLAN_MIB / MEMORY_STEP_MIB);
  g_autofree char *history = size_text(history_bytes), *latest = size_text(latest_bytes);
  set(plan, TIDE_PLAN_MEMORY, MAX(MIN_MEMORY_MIB, memory_mib),
      "%.0f s of rows: %s of history, %s of latest values with those that wait, one daemon away; %.3g %% is for %s; "
      "%s; MemoryMax= 256 more",
      STALL_S, history, latest, by_table > by_all ? table_percent : rows_percent,
      by_table > by_all ? "each table" : "rows",
      memory_mib < MIN_MEMORY_MIB ? G_STRINGIFY(MIN_MEMORY_MIB) " at least"
                                  : "in steps of " G_STRINGIFY(MEMORY_STEP_MIB));
}

static void
plan_daemons(const TidePlanLoad *load, TidePlan *plan)
{
  double usable = 1 - load->margin;
  double threads = load->readings_per_s * (path_us(load) + cost(TIDE_COST_LIVE)) / US_PER_S / usable;
  double connections = cost(TIDE_COST_CONNECTIONS) * (plan->gateway_cores + plan->hbase_cores) / usable;
  double by_cores = whole(plan->client_cores / tide_plan_usable_cores(load)),
         by_writers = whole(connections / MAX_WRITERS);
  double needed = MAX(MAX(by_cores, by_writers), whole(threads / MAX_THREADS)), daemons = MAX(MIN_DAEMONS, needed);
  g_autofree char *busy = cores_text(plan->client_cores);
  g_autofree char *writers = g_strdup_printf("; by writers, %d at most in each: %.0f", MAX_WRITERS, by_writers);
  g_autofree char *failure = failure_text(load, plan->client_cores, needed, daemons);
  set(plan, TIDE_PLAN_DAEMONS, daemons, "%s, of %u in each%s; %s", busy, load->cores,
      by_writers > by_cores ? writers : "", failure);
  g_autofree char *working =
      threads * usable < 0.005 ? g_strdup("hardly any") : g_strdup_printf("%.2f", threads * usable);
  double each = whole(threads / figure(plan, TIDE_PLAN_DAEMONS));
  set(plan, TIDE_PLAN_THREADS, MAX(MIN_THREADS, each), "%s threads busy in all; %d at least, the default", working,
      MIN_THREADS);
  each = whole(connections / figure(plan, TIDE_PLAN_DAEMONS));
  set(plan, TIDE_PLAN_WRITERS, MAX(MIN_WRITERS, each), "%.0f connection%s in all; %d at least, the default",
      whole(connections), whole(connections) == 1 ? "" : "s", MIN_WRITERS);
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
  g_autofree char *flow = size_text(messages_per_s * load->message_bytes);
  set(plan, TIDE_PLAN_TOPIC_DISK, bytes / TIDE_PLAN_TIB / (1 - cost(TIDE_COST_DISK_FREE)),
      "%s/s for %.1f days, %u %s, %.0f %% free", flow, load->kafka_retention_s / DAY_S, load->replication,
      copies_text(load->replication), cost(TIDE_COST_DISK_FREE) * 100);
}

double
tide_plan_first_regions_of_server(const TidePlanLoad *load, double n_servers)
{
  return REGIONS_PER_SERVER * (load->history.n_tables + load->latest.n_tables) * n_servers / (n_servers - 1);
}

/* How many servers hold so many regions, and of what that is. */
typedef struct Servers {
  double count;
  char *why; /* owned: "(3,204 + 200) / (200 - 4)" */
} Servers;

/* The regions of one kind of table: in the end, and for each server at first; and the latter of the other kind. */
typedef struct KindRegions {
  double regions;
  double first;
  double others;
} KindRegions;

/* Takes @count, if it is more, with its reason. */
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

/* So many that the regions in the end have room while one is away, whose share the others take. Each table has
 * REGIONS_PER_SERVER for each server at the least: so where those of one kind are more in the end, the others leave
 * less room for these. What all have at first may be more than there is room for, and more servers would be of no use.
 */
static Servers
servers_by_regions(const TidePlanLoad *load, double history_regions, double latest_regions)
{
  double most = cost(TIDE_COST_REGIONS), all = history_regions + latest_regions;
  double history_first = REGIONS_PER_SERVER * load->history.n_tables;
  double latest_first = REGIONS_PER_SERVER * load->latest.n_tables;
  const KindRegions kinds[] = {{history_regions, history_first, latest_first},
                               {latest_regions, latest_first, history_first}};
  g_autofree char *count = rounded_text(all);
  Servers servers = {.count = (all + most) / most, .why = g_strdup_printf("(%s + %.0f) / %.0f", count, most, most)};
  for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++) {
    double while_away = (kinds[i].regions + most) / MAX(most - kinds[i].others, 1);
    double as_at_first = kinds[i].regions / MAX(kinds[i].first, 1); /* with so many it has no more in the end */
    g_autofree char *of_kind = rounded_text(kinds[i].regions);
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
  g_autofree char *size = size_text(bytes), *count = rounded_text(MAX(regions, first));
  g_string_append_printf(text, "; %s of %s: %s%s", size, what, count, regions < first ? ", as at first" : "");
}

/* One copy of the tables with history, and of those with latest values. */
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
  double region_bytes = cost(TIDE_COST_REGION) * GIB,
         by_cores = whole(plan->hbase_cores / tide_plan_usable_cores(load));
  double history_regions = whole(history_bytes(load) / region_bytes),
         latest_regions = whole(latest_bytes(load) / region_bytes);
  Servers by_regions = servers_by_regions(load, history_regions, latest_regions);
  g_autofree char *quotient = by_regions.why, *busy = cores_text(plan->hbase_cores);
  double servers = MAX(MAX(by_cores, by_regions.count), MAX(load->replication, MIN_DAEMONS)),
         first = REGIONS_PER_SERVER * servers;
  g_autofree char *others = others_text(load, plan->hbase_cores, servers);
  set(plan, TIDE_PLAN_REGION_SERVERS, servers, "%s: %.0f; by regions: %.0f, of %s; by copies: %u; %s", busy, by_cores,
      by_regions.count, quotient, load->replication, others);
  set(plan, TIDE_PLAN_FIRST_REGIONS, first, "%d on each server, so that all are at work", REGIONS_PER_SERVER);
  double history_first = first * load->history.n_tables, latest_first = first * load->latest.n_tables;
  g_autoptr(GString) parts = g_string_new(NULL);
  append_regions(parts, "history", history_bytes(load), history_regions, history_first);
  append_regions(parts, "latest values", latest_bytes(load), latest_regions, latest_first);
  set(plan, TIDE_PLAN_REGIONS, MAX(history_regions, history_first) + MAX(latest_regions, latest_first),
      "one copy, in regions of %.0f GiB%s", cost(TIDE_COST_REGION), parts->str);
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
  double needed = whole(plan->gateway_cores / tide_plan_usable_cores(load)), gateways = MAX(MIN_DAEMONS, needed);
  g_autofree char *failure = failure_text(load, plan->gateway_cores, needed, gateways);
  set(plan, TIDE_PLAN_GATEWAYS, gateways, "%s, of %u in each; %s", busy, load->cores, failure);
  plan_regions(load, plan);
  g_autofree char *retention = retention_text(load);
  /* Those with history make nearly all of the disk. */
  const TidePlanRows *rows = load->history.cells > 0 ? &load->history : &load->latest;
  set(plan, TIDE_PLAN_DISK,
      (history_bytes(load) + latest_bytes(load)) * load->replication / TIDE_PLAN_TIB / (1 - cost(TIDE_COST_DISK_FREE)),
      "%s, %u %s, %.0f %% free; %.0f bytes a cell", retention, load->replication, copies_text(load->replication),
      cost(TIDE_COST_DISK_FREE) * 100, load->stored_share * rows->stored_bytes / rows->cells);
}

gboolean
tide_plan_uses(const TidePlanLoad *load, TidePlanCostName name)
{
  return load->path_us == 0 || (name != TIDE_COST_ROW && name != TIDE_COST_CELL);
}

gboolean
tide_plan_is_small(const TidePlanLoad *load, const TidePlan *plan)
{
  double usable = tide_plan_usable_cores(load);
  return MAX(plan->client_cores, MAX(plan->gateway_cores, plan->hbase_cores)) <= usable &&
         history_bytes(load) + latest_bytes(load) <= cost(TIDE_COST_REGION) * GIB;
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
