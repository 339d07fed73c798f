#include "rows/open_lanes.h"

#include "model/table/dated_table.h"
#include "rows/latest_window.h"
#include "rows/open_doubt.h"
#include "rows/open_given_up.h"
#include "util/clock.h"

/* Batches of one lane on their way at the most: enough to keep every writer busy with it, few enough that looking for a
 * shared key in them stays cheap. Beyond it the open rows coalesce. */
#define MAX_ON_THE_WAY 32u

/* Rows of a quiet stream leave at once, but no more often than this: a call costs as much as some hundred rows. */
#define IDLE_PAUSE_US (5 * TIDE_US_PER_MS)

/* Writers are behind when so many full calls wait for one. */
#define WAITING_CALLS 4u

#define HOUSEKEEPING_US TIDE_US_PER_S

/* Batches kept for the next use: a share of the budget for each consumer. */
#define POOL_BUDGET_SHARE 32u

/* What may be remembered of cells in doubt, of all consumers together. */
#define DOUBT_BUDGET_SHARE 8u

/* The rows of a message that follow one of its rows, as a list: 1 + the place of each, 0 ends it. */
typedef struct Followers {
  guint32 first; /* that follows the row */
  guint32 next;  /* that follows the same row as this one */
} Followers;

/* Of a declared table; of a template for all its instances together. */
typedef struct TableCounters {
  TideCounter *rows_mapped;
  TideCounter *cells_coalesced;
  TideCounter *cells_conflicting;
} TableCounters;

struct TideOpenLanes {
  TideOpenLanesContext context; /* read-only */
  TideOpenTableContext table_context;
  TideOpenTable **places;  /* owned array, by table index; NULL: a template, or a dated table without rows */
  GPtrArray *tables;       /* owned (element-type TideOpenTable): those in places */
  TableCounters *counters; /* owned array, by the declared table's index */
  GPtrArray *active;       /* (element-type TideOpenLane) borrowed: those with open rows */
  TideLatestWindow latest_window;
  gint64 last_tick_seal_us; /* when a tick sealed lanes */
  guint64 generation;       /* of the region maps taken */
  gsize n_on_the_way;       /* batches, of all lanes */
  guint32 n_unmerged;       /* rows, open or on their way */
  TideBatch *sealed;        /* owned, within one call of ours: not submitted yet */
  TideBatch **sealed_end;   /* where the next one is linked */
  TideBatch *pool;          /* owned: empty batches for the next use */
  gint64 pool_bytes;
  gint64 housekeeping_us;
  TideBudget doubt;  /* share of the budget for cells in doubt and heals */
  GPtrArray *healed; /* (element-type TideOpenLane) borrowed, within one call of ours: with heals to seal */
  TideCounter *rows_healed;
  TideCounter *innocent;
  GArray *followers_of; /* (element-type Followers) for each row of the message that is appended */
  TideFollowerReader follower_reader;
};

static void
activate(TideOpenLanes *open_lanes, TideOpenLane *open)
{
  if (open->is_active)
    return;
  open->is_active = TRUE;
  g_ptr_array_add(open_lanes->active, open);
}

/* ---- batches kept for use ---- */

static TideBatch *
take_batch(gpointer data)
{
  TideOpenLanes *open_lanes = data;
  TideBatch *batch = open_lanes->pool;
  if (batch == NULL)
    return tide_batch_new();
  open_lanes->pool = batch->next;
  batch->next = NULL;
  gint64 held = (gint64)tide_batch_memory_bytes(batch);
  open_lanes->pool_bytes -= held;
  tide_budget_charge(open_lanes->context.budget, -held);
  return batch;
}

static void
keep_batch(TideOpenLanes *open_lanes, TideBudget *table_budget, TideBatch *batch)
{
  tide_budget_charge(table_budget, -batch->charged_bytes);
  gint64 held = (gint64)tide_batch_memory_bytes(batch);
  if (open_lanes->pool_bytes + held > (gint64)(open_lanes->context.budget->limit_bytes / POOL_BUDGET_SHARE)) {
    tide_batch_free(batch);
    return;
  }
  tide_batch_reset(batch);
  tide_budget_charge(open_lanes->context.budget, held);
  open_lanes->pool_bytes += held;
  batch->next = open_lanes->pool;
  open_lanes->pool = batch;
}

/* ---- sealing ---- */

static void
send_batches(TideOpenLanes *open_lanes, TideOpenLane *open, TideBatch *first, gint64 now_us)
{
  if (first == NULL)
    return;
  *open_lanes->sealed_end = first;
  for (TideBatch *batch = first; batch != NULL; batch = batch->next) {
    batch->home = open_lanes->context.inbox;
    batch->open_lane = open;
    batch->sealed_us = now_us;
    batch->lane = tide_lane_ref(open->lane);
    g_ptr_array_add(open->on_the_way, batch);
    open_lanes->n_on_the_way++;
    open_lanes->sealed_end = &batch->next;
  }
}

/* All that was sealed, at once: the writer that it wakes finds small batches of all lanes, for one call. */
static void
submit_sealed(TideOpenLanes *open_lanes)
{
  if (open_lanes->sealed == NULL)
    return;
  TideBatch *first = g_steal_pointer(&open_lanes->sealed);
  open_lanes->sealed_end = &open_lanes->sealed;
  tide_lanes_submit(open_lanes->context.lanes, first);
}

static TideSealRequest
seal_request(TideOpenLanes *open_lanes)
{
  const TideBatchConfig *limits = &open_lanes->context.config->batch;
  return (TideSealRequest){.max_rows = limits->max_rows,
                           .max_bytes = limits->max_bytes,
                           .take_batch = take_batch,
                           .take_batch_data = open_lanes};
}

static void
seal(TideOpenLanes *open_lanes, TideOpenLane *open, gint64 now_us)
{
  TideSealRequest request = seal_request(open_lanes);
  GHashTable *held = open_lanes->places[open->table->index]->held_keys;
  request.held = G_UNLIKELY(g_hash_table_size(held) > 0) ? held : NULL;
  open->last_seal_us = now_us;
  send_batches(open_lanes, open, tide_row_set_seal(&open->set, &request), now_us);
  open->left_rows = open->set.n_rows;
  open->left_bytes = open->set.encoded_bytes;
}

static void
seal_unmerged(TideOpenLanes *open_lanes, TideOpenLane *open, gint64 now_us)
{
  TideSealRequest request = seal_request(open_lanes);
  request.on_the_way = open->on_the_way;
  TideBatch *batches = tide_row_set_seal(&open->unmerged, &request);
  for (TideBatch *batch = batches; batch != NULL; batch = batch->next)
    batch->is_unmerged = TRUE;
  open->unmerged_wait = TRUE; /* those that are left */
  if (tide_row_set_is_empty(&open->unmerged))
    tide_row_set_clear(&open->unmerged);
  send_batches(open_lanes, open, batches, now_us);
}

/* Keys of unmerged rows on their way are held: what the set has of them is left out of the sealing. */
static gboolean
shares_key_on_the_way(const TideOpenLane *open)
{
  for (guint i = 0; i < open->on_the_way->len; i++) {
    const TideBatch *batch = g_ptr_array_index(open->on_the_way, i);
    if (!batch->is_unmerged && tide_row_set_shares_keys(&open->set, batch))
      return TRUE;
  }
  return FALSE;
}

static gboolean
is_full(const TideOpenLanes *open_lanes, const TideOpenLane *open)
{
  const TideBatchConfig *limits = &open_lanes->context.config->batch;
  return open->set.n_rows >= open->left_rows + limits->max_rows ||
         open->set.encoded_bytes >= open->left_bytes + limits->max_bytes;
}

/* When the open rows of @open want to leave, if nothing forbids it. */
static gint64
due_us(const TideOpenLanes *open_lanes, const TideOpenLane *open, TidePressure pressure)
{
  const TideBatchConfig *limits = &open_lanes->context.config->batch;
  if (pressure == TIDE_PRESSURE_FLUSH)
    return 0;
  if (open->table->latest != TIDE_LATEST_NONE)
    return open->last_seal_us + open_lanes->latest_window.us;
  if (is_full(open_lanes, open))
    return 0;
  gint64 aged_us = open->set.oldest_us + limits->max_age_ms * TIDE_US_PER_MS;
  gboolean is_idle = pressure == TIDE_PRESSURE_IDLE && open->on_the_way->len == 0;
  return is_idle ? MIN(aged_us, open_lanes->last_tick_seal_us + IDLE_PAUSE_US) : aged_us;
}

/* Whether the open rows may leave now, order considered. What forbids it ends with a batch that comes home. */
static gboolean
may_seal(TideOpenLane *open)
{
  if (tide_open_lane_waits_for_predecessor(open))
    return FALSE;
  if (open->table->latest != TIDE_LATEST_NONE)
    return !tide_open_lane_has_merged_on_the_way(open);
  if (open->shares_key || open->on_the_way->len >= MAX_ON_THE_WAY)
    return FALSE;
  open->shares_key = shares_key_on_the_way(open);
  return !open->shares_key;
}

static gboolean
may_seal_unmerged(const TideOpenLane *open)
{
  return !open->unmerged_wait && open->on_the_way->len < MAX_ON_THE_WAY &&
         !tide_open_lane_unmerged_wait_for_predecessor(open);
}

/* Seals @open when it is due. Returns when it will be; G_MAXINT64 when only a batch that comes home can change that. */
static gint64
seal_if_due(TideOpenLanes *open_lanes, TideOpenLane *open, TidePressure pressure, gint64 now_us)
{
  if (G_UNLIKELY(!tide_row_set_is_empty(&open->unmerged)) && may_seal_unmerged(open))
    seal_unmerged(open_lanes, open, now_us);
  if (tide_row_set_is_empty(&open->set))
    return G_MAXINT64;
  gint64 due = due_us(open_lanes, open, pressure);
  if (due > now_us)
    return due;
  if (may_seal(open))
    seal(open_lanes, open, now_us);
  return G_MAXINT64;
}

static void
take_new_maps(TideOpenLanes *open_lanes)
{
  guint64 generation = tide_regions_generation_racy(open_lanes->context.regions);
  if (generation == open_lanes->generation)
    return;
  open_lanes->generation = generation;
  for (guint i = 0; i < open_lanes->tables->len; i++)
    tide_open_table_refresh_map(g_ptr_array_index(open_lanes->tables, i));
}

/* ---- tables ---- */

static TideOpenTable *
add_table(TideOpenLanes *open_lanes, const TideTable *table, gint64 now_us)
{
  const TableCounters *counters =
      &open_lanes->counters[table->declared != NULL ? table->declared->index : table->index];
  TideOpenTable *open = tide_open_table_new(&open_lanes->table_context, table, now_us);
  open->rows_mapped = counters->rows_mapped;
  open->cells_coalesced = counters->cells_coalesced;
  open->cells_conflicting = counters->cells_conflicting;
  open_lanes->places[table->index] = open;
  g_ptr_array_add(open_lanes->tables, open);
  return open;
}

/* The table with that index; an instance of a dated table is opened with its first row. */
static TideOpenTable *
find_table(TideOpenLanes *open_lanes, guint32 index, gint64 now_us)
{
  TideOpenTable *open = open_lanes->places[index];
  if (G_LIKELY(open != NULL))
    return open;
  const TideTable *table = tide_dated_tables_at(open_lanes->context.dated, index);
  tide_regions_open(open_lanes->context.regions, table);
  return add_table(open_lanes, table, now_us);
}

static void
give_up_table(TideOpenLanes *open_lanes, TideOpenTable *open)
{
  const TideTable *table = open->table;
  open_lanes->places[table->index] = NULL;
  g_ptr_array_remove_fast(open_lanes->tables, open); /* frees it */
  tide_regions_close(open_lanes->context.regions, table);
  tide_dated_cache_forget(open_lanes->context.dated_names, open_lanes->context.dated, table);
}

static void
keep_house(TideOpenLanes *open_lanes, gint64 now_us)
{
  gboolean is_short = tide_dated_tables_are_short_racy(open_lanes->context.dated);
  for (guint i = open_lanes->tables->len; i-- > 0;) {
    TideOpenTable *table = g_ptr_array_index(open_lanes->tables, i);
    tide_open_table_keep_house(table, now_us);
    if (tide_open_table_is_idle(table, is_short, now_us))
      give_up_table(open_lanes, table);
  }
  open_lanes->housekeeping_us = now_us + HOUSEKEEPING_US;
}

/* ---- for the consumer ---- */

static void
register_metrics(TideOpenLanes *open_lanes)
{
  const GPtrArray *tables = open_lanes->context.config->tables;
  TideMetrics *metrics = open_lanes->context.metrics;
  open_lanes->counters = g_new0(TableCounters, tables->len);
  for (guint i = 0; i < tables->len; i++) {
    const TideTable *table = g_ptr_array_index(tables, i);
    g_autofree char *label = tide_metrics_label("table", table->name);
    open_lanes->counters[i] = (TableCounters){
        .rows_mapped = tide_metrics_counter(metrics, "tidemark_rows_mapped_total", "Rows that readings made", label),
        .cells_coalesced =
            tide_metrics_counter(metrics, "tidemark_cells_coalesced_total",
                                 "Cells that met another of their row and column before they were sent", label),
        .cells_conflicting =
            tide_metrics_counter(metrics, "tidemark_cells_conflicting_total",
                                 "Cells seen to have another value than one of the same row, column and time", label)};
  }
  open_lanes->table_context.doubt_overflow = tide_metrics_counter(
      metrics, "tidemark_unsettled_overflow_total",
      "Times there was no room to remember what an unanswered call may overwrite: partitions are read again", NULL);
  open_lanes->table_context.rows_given_up =
      tide_metrics_counter(metrics, "tidemark_rows_given_up_total",
                           "Rows not sent any more because a partition that they came from was taken away", NULL);
  open_lanes->rows_healed =
      tide_metrics_counter(metrics, "tidemark_rows_healed_total",
                           "Rows written once more because an abandoned call could have overwritten them", NULL);
  open_lanes->innocent =
      tide_metrics_counter(metrics, "tidemark_dead_letters_innocent_total",
                           "Messages of a refused row that HBase took when they were sent without the others", NULL);
}

static void
free_table(gpointer table)
{
  tide_open_table_free(table);
}

TideOpenLanes *
tide_open_lanes_new(const TideOpenLanesContext *context)
{
  const GPtrArray *declared = context->config->tables;
  guint32 n_dated;
  TideOpenLanes *open_lanes = g_new0(TideOpenLanes, 1);
  open_lanes->context = *context;
  open_lanes->sealed_end = &open_lanes->sealed;
  open_lanes->active = g_ptr_array_new();
  open_lanes->followers_of = g_array_new(FALSE, FALSE, sizeof(Followers));
  open_lanes->generation = tide_regions_generation_racy(context->regions);
  open_lanes->table_context = (TideOpenTableContext){.regions = context->regions,
                                                     .budgets = context->table_budgets,
                                                     .protocol = context->protocol,
                                                     .active = open_lanes->active,
                                                     .doubt = &open_lanes->doubt,
                                                     .settle_us = context->config->hbase.settle_ms * TIDE_US_PER_MS,
                                                     .heal_handler = &open_lanes->context.heal_handler};
  tide_budget_init(&open_lanes->doubt,
                   context->budget->limit_bytes / DOUBT_BUDGET_SHARE / context->config->kafka.threads);
  open_lanes->doubt.whole = context->budget;
  open_lanes->healed = g_ptr_array_new();
  tide_latest_window_init(&open_lanes->latest_window, context->config->batch.latest_window_ms * TIDE_US_PER_MS,
                          context->config->batch.latest_window_max_ms * TIDE_US_PER_MS);
  register_metrics(open_lanes);
  open_lanes->places = g_new0(TideOpenTable *, tide_dated_tables_places(context->config, &n_dated));
  open_lanes->tables = g_ptr_array_new_with_free_func(free_table);
  for (guint i = 0; i < declared->len; i++)
    if (!tide_table_is_template(g_ptr_array_index(declared, i)))
      add_table(open_lanes, g_ptr_array_index(declared, i), 0);
  return open_lanes;
}

void
tide_open_lanes_free(TideOpenLanes *open_lanes)
{
  if (open_lanes == NULL)
    return;
  g_ptr_array_unref(open_lanes->tables);
  g_free(open_lanes->places);
  g_free(open_lanes->counters);
  while (open_lanes->pool != NULL)
    tide_batch_free(take_batch(open_lanes));
  g_ptr_array_unref(open_lanes->active);
  g_array_unref(open_lanes->followers_of);
  g_ptr_array_unref(open_lanes->healed);
  tide_follower_reader_clear(&open_lanes->follower_reader);
  g_free(open_lanes);
}

/* Adds @row to the lane of its region in @table; @ret_place: its place in the lane's set. */
static TideOpenLane *
add_row(TideOpenLanes *open_lanes, TideOpenTable *table, const TideRow *row, TideSourceRef source, gint64 mapped_us,
        guint32 *ret_place)
{
  TideOpenLane *open = tide_open_table_find_lane(table, row->key);
  TideCellsMet met;
  *ret_place = tide_row_set_append(&open->set, row, source, mapped_us, &met);
  tide_counter_inc(table->rows_mapped);
  if (met.n_met > 0)
    tide_counter_add(table->cells_coalesced, met.n_met);
  if (met.n_conflicting > 0)
    tide_counter_add(table->cells_conflicting, met.n_conflicting);
  open->last_row_us = mapped_us;
  activate(open_lanes, open);
  return open;
}

static void
seal_if_full(TideOpenLanes *open_lanes, TideOpenLane *open, gint64 now_us)
{
  if (open->table->latest == TIDE_LATEST_NONE && is_full(open_lanes, open) && !open->shares_key && may_seal(open))
    seal(open_lanes, open, now_us);
}

/* The row that @row waits for: never one that waits itself, so that each follower goes with a row that is sent. */
static guint32
leader_of(const TideRow *rows, const TideRow *row)
{
  guint32 leader = row->follows - 1;
  while (rows[leader].follows != 0)
    leader = rows[leader].follows - 1;
  return leader;
}

/* Fills followers_of from the rows' own links. FALSE when none of them follows another. */
static gboolean
link_followers(TideOpenLanes *open_lanes, const TideRow *rows, guint32 n_rows)
{
  gboolean any = FALSE;
  for (guint32 i = 0; i < n_rows; i++)
    any |= rows[i].follows != 0;
  if (!any)
    return FALSE;
  g_array_set_size(open_lanes->followers_of, n_rows);
  Followers *followers = (Followers *)(void *)open_lanes->followers_of->data;
  memset(followers, 0, n_rows * sizeof *followers);
  for (guint32 i = n_rows; i-- > 0;) {
    if (rows[i].follows == 0)
      continue;
    Followers *leader = &followers[leader_of(rows, &rows[i])];
    followers[i].next = leader->first;
    leader->first = i + 1;
  }
  return TRUE;
}

guint32
tide_open_lanes_append_message(TideOpenLanes *open_lanes, const TideRow *rows, guint32 n_rows, TideSourceRef source,
                               gint64 now_us)
{
  gboolean any_follows = link_followers(open_lanes, rows, n_rows);
  const Followers *followers = (const Followers *)(const void *)open_lanes->followers_of->data;
  guint32 crowded = 0;
  for (guint32 i = 0; i < n_rows; i++) {
    if (rows[i].follows != 0)
      continue;
    guint32 place;
    TideOpenTable *table = find_table(open_lanes, rows[i].table_index, now_us);
    TideOpenLane *open = add_row(open_lanes, table, &rows[i], source, now_us, &place);
    for (guint32 f = any_follows ? followers[i].first : 0; f != 0; f = followers[f - 1].next)
      tide_row_set_add_follower(&open->set, place, &rows[f - 1], source);
    seal_if_full(open_lanes, open, now_us);
    if (G_UNLIKELY(tide_budget_is_spent_racy(table->budget)))
      crowded = table->table->index + 1;
  }
  submit_sealed(open_lanes);
  return crowded;
}

void
tide_open_lanes_hold_key(TideOpenLanes *open_lanes, guint32 table_index, TideBytes key, gint32 n_parts)
{
  tide_open_table_hold_key(open_lanes->places[table_index], tide_key_hash(key), n_parts);
}

guint32
tide_open_lanes_append_unmerged(TideOpenLanes *open_lanes, const TideRow *rows, guint32 n_rows, guint32 at,
                                TideSourceRef source, gint64 now_us)
{
  TideOpenTable *table = open_lanes->places[rows[at].table_index];
  TideOpenLane *open = tide_open_table_find_lane(table, rows[at].key);
  guint32 n_added = 1;
  guint32 place = tide_row_set_append(&open->unmerged, &rows[at], source, now_us, NULL);
  open->unmerged_wait = FALSE;
  for (guint32 i = at + 1; i < n_rows && rows[i].reading_index == rows[at].reading_index; i++) {
    if (rows[i].follows == 0 || leader_of(rows, &rows[i]) != at)
      continue;
    tide_row_set_add_follower(&open->unmerged, place, &rows[i], source);
    n_added++;
  }
  open->last_row_us = now_us;
  activate(open_lanes, open);
  open_lanes->n_unmerged++;
  return n_added;
}

guint32
tide_open_lanes_count_unmerged(const TideOpenLanes *open_lanes)
{
  return open_lanes->n_unmerged;
}

/* Its rows hold their keys no more. */
static void
let_go_unmerged(TideOpenLanes *open_lanes, TideOpenTable *table, const TideBatch *batch)
{
  gsize n_poison;
  (void)tide_batch_poison(batch, &n_poison);
  tide_counter_add(open_lanes->innocent, batch->n_rows - n_poison - tide_batch_count_given_up(batch));
  open_lanes->n_unmerged -= batch->n_rows;
  for (guint32 i = 0; i < batch->n_rows; i++)
    tide_open_table_hold_key(table, tide_key_hash(tide_batch_row_key(batch, i)), -1);
}

/* What followed a row of @batch is a row like any other now; but for rows that were refused, of which an index must not
 * tell. */
static void
release_followers(TideOpenLanes *open_lanes, const TideBatch *batch, gint64 now_us)
{
  gsize offset = 0;
  TideBytes record;
  while ((record = tide_followers_next_record(&batch->followers, &offset)).len > 0) {
    if (tide_batch_find_poison(batch, tide_follower_leader(record)) != NULL)
      continue;
    TideFollower follower = tide_follower_read(&open_lanes->follower_reader, record);
    guint32 place;
    TideOpenTable *table = find_table(open_lanes, follower.row.table_index, now_us);
    TideOpenLane *open = add_row(open_lanes, table, &follower.row, follower.source, batch->oldest_us, &place);
    seal_if_full(open_lanes, open, now_us);
  }
  submit_sealed(open_lanes);
}

static void
heed_load(TideOpenLanes *open_lanes, TidePressure pressure, gint64 late_us, gint64 now_us)
{
  guint64 waiting_rows = tide_lanes_waiting_rows_racy(open_lanes->context.lanes);
  TideLoadSigns signs = {.more = pressure == TIDE_PRESSURE_NONE,
                         .late_us = late_us,
                         .writers_are_behind =
                             waiting_rows >= WAITING_CALLS * open_lanes->context.config->batch.max_rows};
  tide_latest_window_heed(&open_lanes->latest_window, &signs, now_us);
}

/* ---- cells in doubt ---- */

/* Hands @heal's row to the lane of its region. */
static void
append_heal(TideOpenLanes *open_lanes, const TideOpenTable *table, TideOpenLane *open, TideHeal *heal, gint64 now_us)
{
  guint n_sources;
  const TideSourceRef *sources = tide_heal_sources(heal, &n_sources);
  TideRow row = tide_heal_row(heal);
  row.ttl_ms = table->table->ttl_ms;
  for (guint i = 0; i < n_sources; i++) {
    tide_row_set_append(&open->healing, &row, sources[i], now_us, NULL);
    row.n_cells = 0; /* the others only hang on to the row */
  }
  tide_counter_inc(open_lanes->rows_healed);
  if (!g_ptr_array_find(open_lanes->healed, open, NULL))
    g_ptr_array_add(open_lanes->healed, open);
}

/* Sends the heals of @table whose time has come, before any open row of their keys. */
static void
send_heals(TideOpenLanes *open_lanes, TideOpenTable *table, gint64 now_us)
{
  TideHeal *heal;
  while ((heal = tide_heals_due(table->heals, now_us)) != NULL) {
    TideOpenLane *open = tide_open_table_find_lane(table, tide_heal_key(heal));
    if (tide_open_table_key_is_under_way(table, open, tide_heal_key_hash(heal))) {
      tide_heals_block(table->heals, heal);
      continue;
    }
    append_heal(open_lanes, table, open, heal, now_us);
    tide_heals_sent(table->heals, heal);
  }
  TideSealRequest request = seal_request(open_lanes);
  for (guint i = 0; i < open_lanes->healed->len; i++) {
    TideOpenLane *open = g_ptr_array_index(open_lanes->healed, i);
    send_batches(open_lanes, open, tide_row_set_seal(&open->healing, &request), now_us);
    tide_row_set_clear(&open->healing);
    open->shares_key = FALSE; /* looked at again: a key of an open row may be on its way now */
  }
  g_ptr_array_set_size(open_lanes->healed, 0);
}

/* Returns when the next is due. */
static gint64
send_all_heals(TideOpenLanes *open_lanes, gint64 now_us)
{
  gint64 next_us = G_MAXINT64;
  if (tide_budget_used_racy(&open_lanes->doubt) == 0)
    return next_us;
  for (guint i = 0; i < open_lanes->tables->len; i++) {
    TideOpenTable *table = g_ptr_array_index(open_lanes->tables, i);
    if (tide_heals_is_empty(table->heals))
      continue;
    send_heals(open_lanes, table, now_us);
    next_us = MIN(next_us, tide_heals_next_us(table->heals));
  }
  return next_us;
}

gint64
tide_open_lanes_tick(TideOpenLanes *open_lanes, TidePressure pressure, gint64 late_us, gint64 now_us)
{
  take_new_maps(open_lanes);
  if (now_us >= open_lanes->housekeeping_us)
    keep_house(open_lanes, now_us);
  heed_load(open_lanes, pressure, late_us, now_us);
  gsize on_the_way_before = open_lanes->n_on_the_way;
  gint64 next_us = MIN(open_lanes->housekeeping_us, send_all_heals(open_lanes, now_us));
  if (open_lanes->active->len > 0)
    next_us = MIN(next_us, tide_latest_window_next_us(&open_lanes->latest_window));
  for (guint i = open_lanes->active->len; i-- > 0;) {
    TideOpenLane *open = g_ptr_array_index(open_lanes->active, i);
    next_us = MIN(next_us, seal_if_due(open_lanes, open, pressure, now_us));
    if (tide_open_lane_has_rows(open))
      continue;
    open->is_active = FALSE;
    g_ptr_array_remove_index_fast(open_lanes->active, i);
  }
  if (open_lanes->n_on_the_way > on_the_way_before)
    open_lanes->last_tick_seal_us = now_us;
  submit_sealed(open_lanes);
  return next_us;
}

void
tide_open_lanes_judge(TideOpenLanes *open_lanes, TideBatch *batch, gint64 now_us)
{
  const TideOpenLane *open = batch->open_lane;
  tide_open_doubt_judge(open_lanes->places[open->table->index], batch, now_us);
}

void
tide_open_lanes_came_home(TideOpenLanes *open_lanes, TideBatch *batch, gint64 now_us)
{
  TideOpenLane *open = batch->open_lane;
  TideOpenTable *table = open_lanes->places[open->table->index];
  g_ptr_array_remove_fast(open->on_the_way, batch);
  open_lanes->n_on_the_way--;
  open->shares_key = open->unmerged_wait = FALSE;
  if (G_UNLIKELY(batch->is_unmerged))
    let_go_unmerged(open_lanes, table, batch);
  if (G_UNLIKELY(!tide_heals_is_empty(table->heals))) {
    for (guint32 i = 0; i < batch->n_rows; i++)
      tide_heals_unblock_key(table->heals, tide_key_hash(tide_batch_row_key(batch, i)));
    send_heals(open_lanes, table, now_us);
  }
  release_followers(open_lanes, batch, now_us);
  keep_batch(open_lanes, table->budget, batch);
}

gboolean
tide_open_lanes_repeat(TideOpenLanes *open_lanes, const TideRow *rows, guint32 n_rows, gint64 until_us, gint64 now_us)
{
  for (guint32 i = 0; i < n_rows; i++)
    if (!tide_open_doubt_remember_row(find_table(open_lanes, rows[i].table_index, now_us), &rows[i], until_us)) {
      tide_counter_inc(open_lanes->table_context.doubt_overflow);
      return FALSE;
    }
  return TRUE;
}

void
tide_open_lanes_inherit(TideOpenLanes *open_lanes, gint64 until_us)
{
  gint64 *latest_us = &open_lanes->table_context.inherited_until_us;
  *latest_us = MAX(*latest_us, until_us);
}

void
tide_open_lanes_disown(TideOpenLanes *open_lanes)
{
  for (guint i = 0; i < open_lanes->tables->len; i++)
    tide_heals_drop_disowned(((TideOpenTable *)g_ptr_array_index(open_lanes->tables, i))->heals);
}

void
tide_open_lanes_give_up(TideOpenLanes *open_lanes, gint64 now_us)
{
  for (guint i = 0; i < open_lanes->tables->len; i++)
    open_lanes->n_unmerged -= tide_open_given_up_take(g_ptr_array_index(open_lanes->tables, i), now_us);
}

void
tide_open_lanes_give_places_back(TideOpenLanes *open_lanes)
{
  const TideOpenLanesContext *context = &open_lanes->context;
  guint32 first = context->config->tables->len;
  for (guint32 i = 0; i < TIDE_DATED_TABLES_MAX; i++)
    if (context->dated_names->taken[i] && open_lanes->places[first + i] == NULL)
      tide_dated_cache_forget(context->dated_names, context->dated, tide_dated_tables_at(context->dated, first + i));
}

gboolean
tide_open_lanes_is_empty(const TideOpenLanes *open_lanes)
{
  return open_lanes->n_on_the_way == 0 && open_lanes->active->len == 0;
}

gint64
tide_open_lanes_oldest_us(const TideOpenLanes *open_lanes)
{
  gint64 oldest_us = 0;
  for (guint i = 0; i < open_lanes->active->len; i++) {
    const TideOpenLane *open = g_ptr_array_index(open_lanes->active, i);
    const TideRowSet *sets[] = {&open->set, &open->unmerged};
    for (guint s = 0; s < G_N_ELEMENTS(sets); s++)
      if (sets[s]->oldest_us > 0 && (oldest_us == 0 || sets[s]->oldest_us < oldest_us))
        oldest_us = sets[s]->oldest_us;
  }
  return oldest_us;
}
