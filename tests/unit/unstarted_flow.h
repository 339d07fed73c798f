/* What open rows need around them: lanes, regions and budgets of a configuration, with no thread and no gateway. A test
 * takes calls out of the lanes as a writer does, and says how they end. */
#pragma once

#include "load_text.h"
#include "rows/accumulator.h"
#include "tables/dated_tables.h"
#include "write/regions.h"

typedef struct UnstartedFlow {
  TideConfig *config;
  TideMetrics *metrics;
  TideBudget budget;
  TideBudget *table_budgets; /* owned */
  TideBudget doubt_budget;
  TideFingerprintStore fingerprints;
  TideLanes *lanes;
  TideGateways *gateways;
  TideDatedTables *dated;
  TideRegions *regions; /* each table has one lane */
} UnstartedFlow;

static inline void
unstarted_flow_set_up(UnstartedFlow *flow, const char *yaml)
{
  flow->config = load_text(yaml);
  guint n_tables = flow->config->tables->len;
  flow->metrics = tide_metrics_new();
  tide_budget_init(&flow->budget, 64u * 1024 * 1024);
  tide_budget_init_doubt_share(&flow->doubt_budget, &flow->budget);
  guint32 n_slots = tide_dated_tables_slots(flow->config);
  flow->table_budgets = g_new0(TideBudget, n_slots);
  for (guint i = 0; i < n_tables; i++)
    tide_budget_init_table_share(&flow->table_budgets[i], &flow->budget);
  tide_fingerprint_store_init(&flow->fingerprints, flow->config);
  TideLanesOptions lanes = {
      .n_tables = n_slots, .max_rows = 100, .max_bytes = 100000, .max_in_flight_per_region = 2, .max_probes = 1};
  flow->lanes = tide_lanes_new(&lanes);
  flow->gateways = tide_gateways_new(&flow->config->hbase, flow->metrics);
  TideDatedTablesContext dated = {
      .config = flow->config, .budget = &flow->budget, .table_budgets = flow->table_budgets, .metrics = flow->metrics};
  flow->dated = tide_dated_tables_new(&dated);
  TideRegionsOptions regions = {.config = flow->config,
                                .lanes = flow->lanes,
                                .gateways = flow->gateways,
                                .metrics = flow->metrics,
                                .fingerprints = &flow->fingerprints,
                                .n_slots = n_slots};
  flow->regions = tide_regions_new(&regions);
}

/* For an accumulator of it. */
static inline TideAccumulatorContext
unstarted_flow_accumulator_context(UnstartedFlow *flow, TideCompletionQueue *completions)
{
  return (TideAccumulatorContext){.config = flow->config,
                                  .protocol = TIDE_WIRE_BINARY,
                                  .budget = &flow->budget,
                                  .table_budgets = flow->table_budgets,
                                  .doubt_budget = &flow->doubt_budget,
                                  .lanes = flow->lanes,
                                  .regions = flow->regions,
                                  .dated = flow->dated,
                                  .completions = completions,
                                  .metrics = flow->metrics};
}

/* After those that hold open rows. */
static inline void
unstarted_flow_tear_down(UnstartedFlow *flow)
{
  /* Neither more nor less was given back than taken. */
  g_assert_cmpint(atomic_load(&flow->budget.used_bytes), ==, 0);
  tide_regions_free(flow->regions);
  tide_lanes_free(flow->lanes);
  tide_gateways_free(flow->gateways);
  tide_dated_tables_free(flow->dated);
  tide_fingerprint_store_clear(&flow->fingerprints);
  g_free(flow->table_budgets);
  tide_metrics_free(flow->metrics);
  tide_config_free(flow->config);
}
