/* A consumer without its thread, between an input that only records requests and lanes without writers. The test plays
 * Kafka, the writers and the dead-letter queue. */
#pragma once

#include "consumer/consumer_private.h"
#include "dead_letters/dead_letter_queue_private.h"
#include "unit/bare_consumer.h"
#include "unit/fake_input.h"
#include "unit/test_case.h"

#define GOOD_TIME "\"ts\":1763700000000"
#define GOOD "{\"host\":\"a\"," GOOD_TIME ",\"v\":1}"
#define OTHER "{\"host\":\"b\"," GOOD_TIME ",\"v\":2}"
#define BAD "nonsense"
#define PARTLY_BAD "[" GOOD ",{\"host\":\"c\",\"v\":3}]"

static const char base_text[] =
    "hbase: { gateways: [\"127.0.0.1:1\"] }\n"
    "dead_letters: { topic: letters }\n"
    "tables:\n"
    "  DATA: { key: [ { field: host }, \"#\", { time: epoch_ms } ], columns: { family: M, from: \"*\" } }\n";

#define KAFKA "kafka: { brokers: [\"127.0.0.1:1\"], group: g, topics: [t]"
#define READINGS "readings: { format: json, time: { field: ts, format: epoch_ms }"

static const char plain[] = KAFKA " }\n" READINGS " }\n";
static const char stopping_at_bad[] = KAFKA " }\n" READINGS ", on_bad_message: stop, on_bad_reading: reading }\n";
static const char by_reading[] = KAFKA " }\n" READINGS ", on_bad_reading: reading }\n";
static const char going_on_behind_lost[] = KAFKA ", on_lost_offsets: continue }\n" READINGS " }\n";

typedef struct ConsumerFixture {
  UnstartedFlow flow;
  TideDeadLetterQueue *dead_letters; /* not started: jobs wait in it */
  TideConsumer *consumer;
} ConsumerFixture;

static inline TideConsumerContext
context_of(ConsumerFixture *fixture)
{
  UnstartedFlow *flow = &fixture->flow;
  return (TideConsumerContext){.config = flow->config,
                               .protocol = TIDE_WIRE_BINARY,
                               .budget = &flow->budget,
                               .table_budgets = flow->table_budgets,
                               .doubt_budget = &flow->doubt_budget,
                               .lanes = flow->lanes,
                               .regions = flow->regions,
                               .dated = flow->dated,
                               .dead_letters = fixture->dead_letters,
                               .metrics = flow->metrics,
                               .open_input = fake_input_open};
}

static inline void
set_up(ConsumerFixture *fixture, gconstpointer options)
{
  UnstartedFlow *flow = &fixture->flow;
  g_autofree char *text = g_strconcat(options, base_text, NULL);
  unstarted_flow_set_up(flow, text);
  fixture->dead_letters = bare_dead_letters_new(flow);
  TideConsumerContext context = context_of(fixture);
  g_autoptr(GError) error = NULL;
  fixture->consumer = tide_consumer_new(&context, 0, &error);
  g_assert_no_error(error);
}

static inline void
tear_down(ConsumerFixture *fixture, gconstpointer options)
{
  tide_lanes_stop(fixture->flow.lanes);
  tide_consumer_free(fixture->consumer);
  tide_dead_letter_queue_free(fixture->dead_letters);
  unstarted_flow_tear_down(&fixture->flow);
}

/* ---- Kafka ---- */

static inline const TideInputHandlers *
handlers_of(const ConsumerFixture *fixture)
{
  return &fake_input_of(fixture->consumer->input)->handlers;
}

/* Locates partition @slot. Returns: the offset to read next. */
static inline gint64
locate(ConsumerFixture *fixture, guint32 slot, const TideInputLog *log)
{
  const TideInputHandlers *handlers = handlers_of(fixture);
  gint64 offset = handlers->located(slot, log, handlers->data);
  handlers->unlocated(0, NULL, handlers->data);
  if (offset >= 0) {
    handlers->taking(&slot, 1, handlers->data);
    handlers->taken(&slot, 1, handlers->data);
  }
  return offset;
}

static inline gint64
assign_log(ConsumerFixture *fixture, gint32 number, const TideInputLog *log)
{
  const TideInputHandlers *handlers = handlers_of(fixture);
  gint64 offset = locate(fixture, handlers->assigned("t", number, handlers->data), log);
  handlers->assignment_done(handlers->data);
  return offset;
}

/* Assigns partition @number, which has no committed offset and begins at @start_offset. */
static inline void
assign(ConsumerFixture *fixture, gint32 number, gint64 start_offset)
{
  TideInputLog log = {.wanted_offset = -1,
                      .committed_offset = -1,
                      .begin_offset = start_offset,
                      .end_offset = start_offset,
                      .start_offset = start_offset};
  g_assert_cmpint(assign_log(fixture, number, &log), ==, start_offset);
}

static inline void
take_away(ConsumerFixture *fixture, guint32 slot, gboolean lost)
{
  const TideInputHandlers *handlers = handlers_of(fixture);
  handlers->revoking(&slot, 1, lost, handlers->data);
  handlers->revoked(&slot, 1, handlers->data);
}

/* Delivers a message of partition @slot, which has the same number. */
static inline void
receive_of(ConsumerFixture *fixture, guint32 slot, gint64 offset, const char *payload)
{
  TideInputRecord record = {.slot = slot,
                            .message = {.topic = TIDE_BYTES_LITERAL("t"),
                                        .partition = (gint32)slot,
                                        .offset = offset,
                                        .timestamp_ms = -1,
                                        .value = tide_bytes_of_string(payload),
                                        .has_value = TRUE}};
  tide_consumer_handle_message(fixture->consumer, &record, tide_now_us());
}

static inline void
receive(ConsumerFixture *fixture, gint64 offset, const char *payload)
{
  receive_of(fixture, 0, offset, payload);
}

/* Checks the requests to the input since the last check. */
#define ASSERT_ASKED(fixture, wanted)                                                                                  \
  do {                                                                                                                 \
    GString *asked_ = fake_input_of((fixture)->consumer->input)->asked;                                                \
    g_assert_cmpstr(asked_->str, ==, wanted);                                                                          \
    g_string_truncate(asked_, 0);                                                                                      \
  } while (0)

/* ---- writers and dead letters ---- */

static inline void
take_call(ConsumerFixture *fixture, TideCall *ret_call)
{
  bare_flow_take_call(&fixture->flow, fixture->consumer->accumulator, 1, ret_call);
}

static inline void
acknowledge(ConsumerFixture *fixture, TideCall *call)
{
  tide_lanes_finish(fixture->flow.lanes, call, TIDE_OUTCOME_OK, NULL, tide_now_us());
  tide_consumer_take_completed(fixture->consumer, 0);
}

static inline void
write_one(ConsumerFixture *fixture, gint64 offset, const char *payload)
{
  TideCall call;
  receive(fixture, offset, payload);
  take_call(fixture, &call);
  acknowledge(fixture, &call);
}

static inline void
keep_dead_letter(ConsumerFixture *fixture, TideDeadLetterJob *job)
{
  bare_dead_letters_keep(&fixture->flow, job);
  tide_consumer_take_completed(fixture->consumer, 0);
}

/* Like the queue for a dead letter whose partition is rewound. */
static inline void
give_up_dead_letter(ConsumerFixture *fixture, TideDeadLetterJob *job)
{
  tide_budget_charge(&fixture->flow.budget, -job->charged_bytes);
  tide_dead_letter_completions_push(job->completions, job);
  tide_consumer_take_completed(fixture->consumer, 0);
}

static inline void
assert_unfinished(const ConsumerFixture *fixture, guint32 n, gint64 position)
{
  const TidePartition *partition = tide_consumer_partition(fixture->consumer, 0);
  g_assert_cmpuint(partition->offsets.unfinished, ==, n);
  g_assert_cmpint(tide_partition_position(partition), ==, position);
}

static inline void
assert_stands_still(ConsumerFixture *fixture, const char *why)
{
  g_autofree char *text = tide_consumer_halt_text(fixture->consumer);
  g_assert_nonnull(text);
  g_assert_nonnull(strstr(text, why));
  ASSERT_ASKED(fixture, "commit 0 5, pause 0, ");
}

void
test_program_begin(void)
{
  tide_log_init(TIDE_LOG_FORMAT_TEXT, TIDE_LOG_CRIT);
  g_unsetenv("STATE_DIRECTORY");
}

/* A test of a consumer with @options_ added to its configuration. */
#define CONSUMER_TEST(options_, path_) TEST_OF(ConsumerFixture, options_, set_up, tear_down, path_)
