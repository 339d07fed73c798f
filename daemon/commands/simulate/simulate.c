/* `tidemark simulate`: sends synthetic readings to a topic or to standard output. commands/simulate/simulation.h
 * defines the readings and their order. */
#include "commands/cli/commands.h"
#include "commands/cli/load_config.h"
#include "commands/cli/output.h"
#include "commands/cli/progress.h"
#include "commands/cli/stop_signal.h"
#include "commands/cli/time_argument.h"
#include "commands/simulate/message_sample.h"
#include "commands/simulate/simulation.h"
#include "config/config_source.h"
#include "kafka/kafka_client.h"
#include "kafka/kafka_producer.h"
#include "mapping/mapping.h"
#include "model/reading.h"
#include "util/pace.h"
#include "util/units.h"

#include <errno.h>

#define KAFKA_TIMEOUT_MS 5000

/* Waits for the rate and for the last delivery reports are split, so that a signal is noticed soon. */
#define WAIT_MS 100

typedef struct SimulateOptions {
  const char *brokers;
  const char *topic;
  const char *start_time;
  const char *log_path;
  GPtrArray *samples; /* (element-type utf8): files */
  gboolean print;
  gboolean yes;
  guint64 readings;
  guint64 machines;
  guint64 metrics;
  guint64 rate_per_s; /* 0: unlimited */
  gint64 step_ms;
  gint64 linger_ms;
  double late;
  double repeat;
  double poison;
  guint64 shuffle_window;
  guint64 seed;
} SimulateOptions;

typedef struct Simulate {
  TideSimulation *simulation; /* owned */
  TideMessageSample *sample;  /* owned; NULL without --sample */
  TideSimulationParameters parameters;
  TideKafkaProducer *producer; /* owned; NULL with --print */
  const char *topic;           /* borrowed: the destination */
  FILE *log;                   /* owned; NULL without --log */
  const char *log_path;
  const volatile int *stop; /* set by a signal */
  TidePace pace;            /* of messages */
  gint64 linger_ms;
  guint64 n_sent[TIDE_SIMULATED_POISON + 1]; /* by kind */
  gint64 start_us;
  TideProgress progress;
} Simulate;

static guint64
n_messages(const Simulate *simulate)
{
  guint64 n = 0;
  for (gsize i = 0; i < G_N_ELEMENTS(simulate->n_sent); i++)
    n += simulate->n_sent[i];
  return n;
}

static guint64
share(double of_one)
{
  return (guint64)(of_one * TIDE_SIMULATION_ALL + 0.5);
}

/* Without a given start, the last reading is current: later ones might be in the future and be rejected. */
static gboolean
read_parameters(const SimulateOptions *options, guint64 machines, TideSimulationParameters *parameters, GError **error)
{
  gint64 now_ms = tide_wall_clock_epoch_ms();
  guint64 rounds = (options->readings + machines - 1) / machines;
  gint64 start_ns = 0;
  *parameters = (TideSimulationParameters){
      .readings = options->readings,
      .machines = machines,
      .metrics = options->metrics,
      .seed = options->seed,
      .step_ms = options->step_ms,
      .late = share(options->late),
      .repeat = share(options->repeat),
      .poison = share(options->poison),
      .shuffle_window = options->shuffle_window,
  };
  gint64 span_ms = 0;
  if (rounds > G_MAXINT64 || __builtin_mul_overflow((gint64)rounds, options->step_ms, &span_ms))
    return tide_fail(error, TIDE_ERROR_USAGE,
                     "the readings end after the last possible date: lower '--readings' or '--step'");
  if (options->start_time == NULL) {
    parameters->start_epoch_ms = now_ms - span_ms;
    return TRUE;
  }
  if (!tide_time_option_parse("start-time", options->start_time, now_ms * TIDE_NS_PER_MS, &start_ns, error))
    return FALSE;
  parameters->start_epoch_ms = tide_ns_to_ms(start_ns);
  return TRUE;
}

/* ---- sending -------------------------------------------------------------------------------------------------------
 */

/* Waits until the next message is due by the rate; FALSE: asked to stop. */
static gboolean
wait_for_rate(Simulate *simulate)
{
  for (gint64 wait_us; *simulate->stop == 0 && (wait_us = tide_pace_wait_us(&simulate->pace, tide_now_us())) > 0;) {
    gint64 wait_ms = MIN(wait_us / TIDE_US_PER_MS + 1, WAIT_MS);
    if (simulate->producer != NULL)
      tide_kafka_producer_poll(simulate->producer, (int)wait_ms);
    else
      g_usleep((gulong)(wait_ms * TIDE_US_PER_MS));
    tide_progress_update(&simulate->progress, simulate->n_sent[TIDE_SIMULATED_READING], tide_now_us());
  }
  return *simulate->stop == 0;
}

/* Prints a message on one line, in hex if its format is binary. */
static void
print_payload(const Simulate *simulate, TideBytes payload, FILE *stream)
{
  gboolean is_binary = simulate->sample != NULL && tide_message_sample_is_binary(simulate->sample);
  g_autofree char *hex = is_binary ? tide_bytes_hex(payload) : NULL;
  fwrite(hex != NULL ? (const void *)hex : payload.data, 1, hex != NULL ? strlen(hex) : payload.len, stream);
}

/* FALSE without an error: standard output cannot be written. */
static gboolean
send_message(Simulate *simulate, TideBytes key, TideBytes payload, GError **error)
{
  if (simulate->producer != NULL) {
    TideKafkaProducerRecord record = {
        .topic = simulate->topic, .partition = -1, .key = key, .has_key = TRUE, .value = payload, .has_value = TRUE};
    if (!tide_kafka_producer_send(simulate->producer, &record, NULL, 0, simulate->stop, error))
      return FALSE;
    tide_kafka_producer_poll(simulate->producer, 0);
    return TRUE;
  }
  print_payload(simulate, payload, stdout);
  return fputc('\n', stdout) != EOF; /* tide_output_close() reports the cause */
}

/* With a sample, each of its lines is a device. */
static void
append_message(const Simulate *simulate, const TideSimulatedMessage *message, TideBuffer *key, TideBuffer *payload)
{
  const TideSimulationParameters *parameters = &simulate->parameters;
  tide_simulation_append_key(simulate->simulation, message, key);
  if (simulate->sample == NULL || message->kind == TIDE_SIMULATED_POISON) {
    tide_simulation_append_payload(simulate->simulation, message, payload);
    return;
  }
  gint64 round = (gint64)(message->reading / parameters->machines);
  tide_message_sample_append(simulate->sample, (guint)(message->reading % parameters->machines),
                             parameters->start_epoch_ms + round * parameters->step_ms,
                             parameters->seed + message->reading, payload);
}

static gboolean
send_all(Simulate *simulate, GError **error)
{
  g_auto(TideBuffer) key = {0};
  g_auto(TideBuffer) payload = {0};
  TideSimulatedMessage message;
  while (wait_for_rate(simulate) && tide_simulation_next(simulate->simulation, &message)) {
    tide_buffer_reset(&key);
    tide_buffer_reset(&payload);
    append_message(simulate, &message, &key, &payload);
    if (!send_message(simulate, tide_buffer_bytes(&key), tide_buffer_bytes(&payload), error))
      return FALSE;
    if (simulate->log != NULL && message.kind != TIDE_SIMULATED_POISON) {
      print_payload(simulate, tide_buffer_bytes(&payload), simulate->log);
      if (fputc('\n', simulate->log) == EOF)
        return tide_fail(error, TIDE_ERROR_IO, "cannot write '%s': %s", simulate->log_path, g_strerror(errno));
    }
    gint64 now_us = tide_now_us();
    simulate->n_sent[message.kind]++;
    tide_pace_add(&simulate->pace, 1, now_us);
    tide_progress_update(&simulate->progress, simulate->n_sent[TIDE_SIMULATED_READING], now_us);
  }
  return TRUE;
}

/* ---- result --------------------------------------------------------------------------------------------------------
 */

/* With --print, standard output has only the messages. The kinds of unacknowledged messages are unknown. */
static void
print_summary(const Simulate *simulate)
{
  FILE *stream = simulate->producer != NULL ? stdout : stderr;
  gint64 elapsed_us = MAX(tide_now_us() - simulate->start_us, 1);
  guint64 n = n_messages(simulate);
  guint64 n_delivered = simulate->producer != NULL ? tide_kafka_producer_n_delivered(simulate->producer) : n;
  g_autofree char *readings = tide_count_of(simulate->n_sent[TIDE_SIMULATED_READING], "reading", NULL);
  g_autofree char *repeats = tide_count_of(simulate->n_sent[TIDE_SIMULATED_REPEAT], "repeat", NULL);
  g_autofree char *poison = tide_count_of(simulate->n_sent[TIDE_SIMULATED_POISON], "poison message", NULL);
  g_autofree char *elapsed = tide_age_text(elapsed_us / TIDE_US_PER_MS);
  g_autofree char *rate = tide_count_text((guint64)((double)n * (double)TIDE_US_PER_S / (double)elapsed_us));
  g_autofree char *all = tide_count_of(n, "message", NULL), *delivered = tide_count_text(n_delivered);
  if (n_delivered < n)
    fprintf(stream, "%s of %s in %s\n", delivered, all, elapsed);
  else
    fprintf(stream, "%s, %s, %s in %s: %s messages/s\n", readings, repeats, poison, elapsed, rate);
}

static gboolean
run_simulation(Simulate *simulate, GError **error)
{
  simulate->stop = tide_stop_signal_install();
  simulate->start_us = tide_now_us();
  gboolean ok = send_all(simulate, error);
  /* Waits for queued messages even after a fault, so that the counts are correct. librdkafka gives up a message after
   * message.timeout.ms (5 min), so this ends. */
  while (simulate->producer != NULL && tide_kafka_producer_poll(simulate->producer, WAIT_MS) > 0)
    tide_progress_update(&simulate->progress, simulate->n_sent[TIDE_SIMULATED_READING], tide_now_us());
  tide_progress_end(&simulate->progress);
  print_summary(simulate);
  if (!ok ||
      (simulate->producer != NULL && !tide_kafka_producer_check(simulate->producer, n_messages(simulate), "", error)))
    return FALSE;
  FILE *log = g_steal_pointer(&simulate->log);
  if (log != NULL && fclose(log) != 0)
    return tide_fail(error, TIDE_ERROR_IO, "cannot write '%s': %s", simulate->log_path, g_strerror(errno));
  if (*simulate->stop == 0)
    return TRUE;
  return tide_fail(error, TIDE_ERROR_CANCELLED, "stopped by a signal before all readings were sent");
}

/* ---- command -------------------------------------------------------------------------------------------------------
 */

/* Fails early, with the cause, if no broker answers or has the topic: a message would wait for minutes. */
static gboolean
open_producer(const TideKafkaConfig *kafka, const char *topic, Simulate *simulate, GError **error)
{
  tide_progress_step("asking the brokers '%s'", kafka->brokers);
  gboolean is_there = tide_kafka_client_find_topic(kafka, topic, KAFKA_TIMEOUT_MS, error);
  tide_progress_step_end();
  if (!is_there)
    return FALSE;
  simulate->topic = topic;
  simulate->producer = tide_kafka_producer_new(kafka, simulate->linger_ms, error);
  return simulate->producer != NULL;
}

static gboolean
check_options(const TideCommandCall *call, GError **error)
{
  const SimulateOptions *options = call->options;
  if (options->brokers == NULL)
    return TRUE;
  if (options->topic == NULL)
    return tide_fail(error, TIDE_ERROR_USAGE, "'--brokers' needs '--topic'");
  if (call->config_path != NULL)
    return tide_fail(error, TIDE_ERROR_USAGE, "'--brokers' and '--config' exclude each other");
  return options->samples->len == 0 ||
         tide_fail(error, TIDE_ERROR_USAGE,
                   "'--sample' needs the configuration, which names the time: omit '--brokers'");
}

/* Maps the first message as the daemon would: messages that would become dead letters are not sent. */
static gboolean
check_first_message(const TideConfig *config, const char *topic, const Simulate *simulate, GError **error)
{
  g_auto(TideBuffer) key = {0}, payload = {0};
  TideSimulatedMessage first = {.kind = TIDE_SIMULATED_READING};
  append_message(simulate, &first, &key, &payload);
  gint64 now_ms = tide_wall_clock_epoch_ms();
  if (!tide_config_check_topic(config, topic, error))
    return FALSE;
  TideMessage message = {.topic = tide_bytes_of_string(topic),
                         .timestamp_ms = now_ms,
                         .key = tide_buffer_bytes(&key),
                         .value = tide_buffer_bytes(&payload),
                         .has_value = TRUE};
  g_autoptr(TideMapping) mapping = tide_mapping_new(config, TIDE_WIRE_BINARY);
  TideMapped mapped;
  TideReject reject = {0};
  tide_mapping_set_now(mapping, now_ms);
  gboolean is_mapped = tide_mapping_apply(mapping, &message, &mapped, &reject);
  if (is_mapped && mapped.n_rejects == 0 && (mapped.n_rows > 0 || mapped.n_unmatched_readings == 0))
    return TRUE;
  g_autofree char *why = g_strdup("no table accepts it");
  if (!is_mapped || mapped.n_rejects > 0) {
    TideReject resolved = is_mapped ? mapped.rejects[0] : reject;
    tide_reject_resolve_field(&resolved, tide_mapping_names(mapping));
    g_autofree char *text = tide_reject_describe(&resolved);
    g_free(why);
    why = g_strdup_printf("%s: %s", tide_reject_reason_name(resolved.reason), text);
  }
  return tide_fail(error, TIDE_ERROR_DATA,
                   "'%s' cannot use the first message (%s): '--sample FILE' sends messages like those in FILE, and "
                   "'--brokers' sends without a configuration",
                   config->path, why);
}

/* @config: NULL: not needed. */
static gboolean
prepare(const TideConfig *config, const SimulateOptions *options, Simulate *simulate, GError **error)
{
  guint64 machines = options->machines;
  const char *topic = options->topic != NULL || config == NULL ? options->topic : config->kafka.topics[0];
  if (options->samples->len > 0) {
    simulate->sample = tide_message_sample_load(options->samples, config, topic, error);
    if (simulate->sample == NULL)
      return FALSE;
    machines = tide_message_sample_n_lines(simulate->sample);
  }
  if (!read_parameters(options, machines, &simulate->parameters, error))
    return FALSE;
  simulate->simulation = tide_simulation_new(&simulate->parameters);
  if (config != NULL && !check_first_message(config, topic, simulate, error))
    return FALSE;
  if (options->print)
    return TRUE;
  /* Synthetic readings are hard to remove from a topic that others read. */
  if (config != NULL && options->topic == NULL && !options->yes)
    return tide_fail(
        error, TIDE_ERROR_USAGE,
        "synthetic readings would be sent to '%s', an input topic of '%s': name the topic with '--topic', or confirm "
        "with '--yes'; '--print' shows them",
        topic, config->path);
  if (config != NULL && topic[0] == '^')
    return tide_fail(error, TIDE_ERROR_USAGE, "'%s' is a pattern: name one topic with --topic", topic);
  if (config != NULL)
    return open_producer(&config->kafka, topic, simulate, error);
  g_autoptr(GArray) properties = g_array_new(FALSE, FALSE, sizeof(TideKafkaProperty));
  TideKafkaConfig kafka = {.brokers = (char *)(gsize)options->brokers, .properties = properties};
  return open_producer(&kafka, topic, simulate, error);
}

static gboolean
simulate_readings(TideCommandCall *call, GError **error)
{
  const SimulateOptions *options = call->options;
  gboolean needs_config =
      options->samples->len > 0 || call->config_path != NULL || (!options->print && options->brokers == NULL);
  if (!check_options(call, error) || (needs_config && !tide_command_load_config(call)))
    return FALSE;
  Simulate simulate = {
      .pace = {.per_s = options->rate_per_s}, .linger_ms = options->linger_ms, .log_path = options->log_path};
  const TideSimulationParameters *parameters = &simulate.parameters;
  gboolean ok = prepare(call->config, options, &simulate, error);
  if (ok && simulate.log_path != NULL) {
    simulate.log = fopen(simulate.log_path, "we");
    ok = simulate.log != NULL ||
         tide_fail(error, TIDE_ERROR_IO, "cannot write '%s': %s", simulate.log_path, g_strerror(errno));
  }
  if (ok) {
    g_autofree char *start = tide_time_text(parameters->start_epoch_ms);
    tide_say("to repeat: --seed %" G_GUINT64_FORMAT " --start-time %s", parameters->seed, start);
    tide_progress_begin(&simulate.progress, "readings", parameters->readings, tide_now_us());
    ok = run_simulation(&simulate, error);
  }
  tide_simulation_free(simulate.simulation);
  tide_message_sample_free(simulate.sample);
  tide_kafka_producer_free(simulate.producer);
  if (simulate.log != NULL)
    fclose(simulate.log);
  return ok;
}

static const TideOption simulate_options[] = {
    {"config", "FILE", TIDE_OPTION_CONFIG, 0,
     "configuration with brokers, topic and properties (" TIDE_DEFAULT_CONFIG_PATH ")", .letter = 'c'},
    {"brokers", "LIST", TIDE_TEXT(SimulateOptions, brokers), "brokers, HOST:PORT, instead of a configuration",
     .letter = 'b'},
    {"topic", "NAME", TIDE_TEXT(SimulateOptions, topic), "topic (with --yes: the first configured one)", .letter = 't'},
    {"yes", NULL, TIDE_FLAG(SimulateOptions, yes), "send to the configured topic without '--topic'", .letter = 'y'},
    {"sample", "FILE", TIDE_LIST(SimulateOptions, samples),
     "send messages like those in FILE, with other times and numbers; each line is a device, or each file for binary "
     "formats; repeatable"},
    {"readings", "N", TIDE_COUNT(SimulateOptions, readings), "number of readings, not counting repeated ones (100000)"},
    {"devices", "N", TIDE_COUNT(SimulateOptions, machines), "number of devices, whose readings alternate (1000)",
     .min = 1, .max = 1000000000},
    {"metrics", "N", TIDE_COUNT(SimulateOptions, metrics), "values per reading (10)", .max = 10000},
    {"rate", "N", TIDE_COUNT(SimulateOptions, rate_per_s), "messages per second; 0: no limit (0)"},
    {"linger", "DURATION", TIDE_DURATION(SimulateOptions, linger_ms),
     "maximum time a message waits for others to share its batch (20ms)"},
    {"start-time", "TIME", TIDE_TEXT(SimulateOptions, start_time),
     "event time of the first readings (so that the last ones are current)"},
    {"step", "DURATION", TIDE_DURATION(SimulateOptions, step_ms), "time between two readings of a device (1s)"},
    {"late", "SHARE", TIDE_PERCENT(SimulateOptions, late),
     "share of readings sent after newer ones of their device, for example 2% (0%)"},
    {"repeat", "SHARE", TIDE_PERCENT(SimulateOptions, repeat), "share of readings sent twice (0%)"},
    {"poison", "SHARE", TIDE_PERCENT(SimulateOptions, poison),
     "share of additional messages that are not readings (0%)"},
    {"shuffle", "WINDOW", TIDE_COUNT(SimulateOptions, shuffle_window),
     "shuffle the messages within windows of this size (off)", .max = 10000000},
    {"seed", "N", TIDE_COUNT(SimulateOptions, seed), "random seed; another seed produces other values (1)"},
    {"print", NULL, TIDE_FLAG(SimulateOptions, print), "print the messages instead of sending them"},
    {"log", "FILE", TIDE_TEXT(SimulateOptions, log_path),
     "also write each sent reading to FILE, one per line, in order"},
};

const TideCommand tide_command_simulate = {
    .name = "simulate",
    .summary = "Sends synthetic readings of many devices to a topic; the same seed produces the same readings.",
    .exits = {{TIDE_EXIT_DATA, "the configuration rejects the first message"},
              {TIDE_EXIT_UNAVAILABLE, "no broker answers, or not every message was acknowledged"},
              {TIDE_EXIT_TEMPFAIL},
              {TIDE_EXIT_CONFIG}},
    .details = "Each message is keyed by its device and acknowledged by all replicas.\n"
               "\n"
               "Examples:\n"
               "  tidemark simulate --readings 10 --devices 2 --print\n"
               "  tidemark simulate -b 127.0.0.1:9092 -t metrics --late 2% --repeat 1% --shuffle 500 --log sent.jsonl\n"
               "  tidemark simulate -c tidemark.yaml --topic metrics --rate 5000\n"
               "  tidemark simulate -c tidemark.yaml --topic test --sample messages.jsonl --readings 1000",
    TIDE_COMMAND_OPTIONS(simulate_options, SimulateOptions),
    .defaults = &(const SimulateOptions){.readings = 100000,
                                         .machines = 1000,
                                         .metrics = 10,
                                         .step_ms = 1000,
                                         .linger_ms = TIDE_KAFKA_PRODUCER_LINGER_MS,
                                         .seed = 1},
    .run = simulate_readings,
};
