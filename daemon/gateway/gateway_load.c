#include "gateway/gateway_load.h"

#include "util/clock.h"

/* Cost of a call, in rows: 0.55 ms for one row, 40 us for each of a thousand (measured with HBase 2.6.1 on one host).
 * It makes large and small calls comparable. */
#define CALL_COST_ROWS 14

/* Each call has a weight of one eighth in the average: a change shows after a few calls, and an outlier is forgotten
 * after twenty. */
#define AVERAGE_CALLS 8

#define SLOW_FROM 4 /* times the fastest */
#define SLOW_UNTIL 2
#define SLOW_CALLS 3
#define SLOW_US (1 * TIDE_US_PER_S)
#define FORGET_US (60 * TIDE_US_PER_S)

#define MIN_STAY_US (2 * TIDE_US_PER_S)
#define MOVE_INTERVAL_US (250 * TIDE_US_PER_MS)

#define GROWTH_PAUSE_MIN_US (1 * TIDE_US_PER_S)
#define GROWTH_PAUSE_MAX_US (60 * TIDE_US_PER_S)

#define FAILURES_TO_OPEN 5u
#define REST_MIN_US (1 * TIDE_US_PER_S)
#define REST_MAX_US (300 * TIDE_US_PER_S)

void
tide_gateway_load_came_back(TideGatewayLoad *load, gboolean was_away)
{
  load->usable = TRUE;
  load->circuit_open = FALSE;
  load->n_allowed = load->n_connections + 1;
  load->slow_start_limit = TIDE_GATEWAY_MAX_ALLOWED;
  load->growth_pause_us = GROWTH_PAUSE_MIN_US;
  if (!was_away)
    return;
  load->failures = FAILURES_TO_OPEN - 1;
  load->failing_since_us = load->acknowledged_us;
}

guint32
tide_gateway_load_allowed(TideGatewayLoad *load, gint64 now_us)
{
  gboolean pauses = load->n_allowed >= load->slow_start_limit && load->n_allowed < TIDE_GATEWAY_MAX_ALLOWED;
  /* An unused limit shows nothing, so it does not grow. */
  if (pauses && load->n_connections >= load->n_allowed && now_us >= load->grows_us) {
    load->n_allowed++;
    load->grows_us = now_us + load->growth_pause_us;
  }
  return load->n_allowed;
}

void
tide_gateway_load_closed_at_once(TideGatewayLoad *load, gint64 now_us)
{
  load->n_allowed = load->slow_start_limit = MAX(load->n_connections, 1);
  load->grows_us = now_us + load->growth_pause_us;
  load->growth_pause_us = MIN(load->growth_pause_us * 2, GROWTH_PAUSE_MAX_US);
}

gint64
tide_gateway_load_open_circuit(TideGatewayLoad *load, gint64 now_us)
{
  load->usable = FALSE;
  load->circuit_open = TRUE;
  load->circuit_open_us = load->circuit_open_us == 0 ? REST_MIN_US : MIN(load->circuit_open_us * 2, REST_MAX_US);
  return now_us + load->circuit_open_us;
}

static double
row_us(const TideGatewayLoad *load)
{
  return load->call_us / (load->call_rows + CALL_COST_ROWS);
}

/* The shortest time per row of all measured gateways; 0: none. */
static double
fastest_row_us(const TideGatewayLoads *loads)
{
  double fastest_us = 0;
  for (guint32 i = 0; i < loads->n; i++) {
    const TideGatewayLoad *load = &loads->loads[i];
    if (load->usable && load->call_us > 0 && (fastest_us <= 0 || row_us(load) < fastest_us))
      fastest_us = row_us(load);
  }
  return fastest_us;
}

static void
average_in(double *average, double value)
{
  *average = *average <= 0 ? value : *average + (value - *average) / AVERAGE_CALLS;
}

static void
judge_speed(const TideGatewayLoads *loads, TideGatewayLoad *load, gint64 now_us)
{
  double fastest_us = fastest_row_us(loads);
  if (row_us(load) < fastest_us * SLOW_UNTIL)
    load->slow = FALSE;
  if (row_us(load) < fastest_us * SLOW_FROM) {
    load->slow_calls = 0;
    return;
  }
  if (load->slow_calls++ == 0)
    load->slow_since_us = now_us;
  if (load->slow_calls >= SLOW_CALLS && now_us - load->slow_since_us >= SLOW_US)
    load->slow = TRUE;
}

/* Whether another gateway may work: it has succeeded since, or was not tried since. */
static gboolean
another_may_work(const TideGatewayLoads *loads, const TideGatewayLoad *failing)
{
  for (guint32 i = 0; i < loads->n; i++) {
    const TideGatewayLoad *other = &loads->loads[i];
    gboolean is_untried = other->n_connections == 0 && other->called_us <= failing->failing_since_us;
    if (other != failing && other->usable && (is_untried || other->acknowledged_us > failing->failing_since_us))
      return TRUE;
  }
  return FALSE;
}

gboolean
tide_gateway_loads_note_call(TideGatewayLoads *loads, guint32 index, const TideCallMeasure *measure, gint64 now_us)
{
  TideGatewayLoad *load = &loads->loads[index];
  load->called_us = now_us;
  if (measure->end == TIDE_CALL_END_BAD_ROW) {
    load->failures = 0;
    return FALSE;
  }
  if (measure->end != TIDE_CALL_END_WRITTEN) {
    if (load->failures++ == 0)
      load->failing_since_us = now_us;
    return load->usable && load->failures >= FAILURES_TO_OPEN && another_may_work(loads, load);
  }
  load->acknowledged_us = now_us;
  load->failures = 0;
  load->circuit_open_us = 0;
  if (load->n_allowed < load->slow_start_limit)
    load->n_allowed++;
  average_in(&load->call_us, (double)MAX(measure->duration_us, 1));
  average_in(&load->call_rows, measure->n_rows);
  judge_speed(loads, load, now_us);
  return FALSE;
}

/* The load of @n_connections at @load, expressed in connections to a gateway that is not slow. */
static double
weight(const TideGatewayLoads *loads, const TideGatewayLoad *load, guint32 n_connections)
{
  double fastest_us = fastest_row_us(loads);
  return load->slow && fastest_us > 0 ? n_connections * row_us(load) / fastest_us : n_connections;
}

int
tide_gateway_loads_best(TideGatewayLoads *loads, gboolean must_have_room, gint64 now_us)
{
  int best = -1;
  double best_weight = 0;
  for (guint32 i = 0; i < loads->n; i++) {
    guint32 index = (loads->first + i) % loads->n;
    TideGatewayLoad *load = &loads->loads[index];
    /* A gateway that has been idle for long may have changed, so its measurements are dropped; the count of slow calls
     * stays, so that one more marks it as slow again. */
    if (load->n_connections == 0 && now_us - load->called_us >= FORGET_US) {
      load->call_us = load->call_rows = 0;
      load->slow = FALSE;
    }
    if (!load->usable || (must_have_room && tide_gateway_load_allowed(load, now_us) <= load->n_connections))
      continue;
    double its_weight = weight(loads, load, load->n_connections + 1);
    gboolean is_news = best >= 0 && load->call_us <= 0 && loads->loads[best].call_us > 0;
    if (best < 0 || its_weight < best_weight || (its_weight <= best_weight && is_news)) {
      best = (int)index;
      best_weight = its_weight;
    }
  }
  return best;
}

int
tide_gateway_loads_move_to(TideGatewayLoads *loads, guint32 index, gint64 opened_us, gint64 now_us)
{
  const TideGatewayLoad *load = &loads->loads[index];
  int best = tide_gateway_loads_best(loads, TRUE, now_us);
  if (best < 0 || (guint32)best == index)
    return -1;
  if (load->circuit_open)
    return best;
  if (now_us - opened_us < MIN_STAY_US || now_us < loads->moves_us)
    return -1;
  const TideGatewayLoad *other = &loads->loads[best];
  if (weight(loads, other, other->n_connections + 1) >= weight(loads, load, load->n_connections))
    return -1;
  loads->moves_us = now_us + MOVE_INTERVAL_US;
  return best;
}
