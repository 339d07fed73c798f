/* The mock Kafka cluster as a program, for tests in other languages and for manual experiments.
 *
 * mock-kafka [--brokers N]
 *
 * It says "brokers HOST:PORT,…" and then takes commands from standard input, one a line, in shell quoting, answering
 * each with "ok" or "error TEXT" after any lines of the answer itself. `help` lists them. It ends at the end of the
 * input.
 *
 * Keys, values and headers' values are hex, "-" stands for one that is not there. */
#include "fault/kafka/mock_kafka.h"
#include "fault/program/line_commands.h"
#include "util/clock.h"

#include <stdio.h>

#define ANSWER_TIMEOUT_US (10 * TIDE_US_PER_S)
#define FILLER_BYTES 900000

typedef struct TideRequestName {
  const char *name;
  TideKafkaRequest request;
} TideRequestName;

static const TideRequestName request_names[] = {
    {"produce", TIDE_KAFKA_PRODUCE},
    {"fetch", TIDE_KAFKA_FETCH},
    {"list-offsets", TIDE_KAFKA_LIST_OFFSETS},
    {"metadata", TIDE_KAFKA_METADATA},
    {"offset-commit", TIDE_KAFKA_OFFSET_COMMIT},
    {"offset-fetch", TIDE_KAFKA_OFFSET_FETCH},
    {"find-coordinator", TIDE_KAFKA_FIND_COORDINATOR},
    {"join-group", TIDE_KAFKA_JOIN_GROUP},
    {"heartbeat", TIDE_KAFKA_HEARTBEAT},
    {"leave-group", TIDE_KAFKA_LEAVE_GROUP},
    {"sync-group", TIDE_KAFKA_SYNC_GROUP},
};

static char *
parse_number(const char *word, gint64 min, gint64 max, gint64 *ret_number)
{
  return g_ascii_string_to_signed(word, 10, min, max, ret_number, NULL) ? NULL
                                                                        : g_strdup_printf("'%s' is no number", word);
}

static char *
parse_partition(const char *word, gint32 *ret_partition)
{
  gint64 number = 0;
  char *problem = parse_number(word, 0, G_MAXINT32, &number);
  *ret_partition = (gint32)number;
  return problem;
}

static char *
parse_request(const char *word, TideKafkaRequest *ret_request)
{
  for (guint i = 0; i < G_N_ELEMENTS(request_names); i++) {
    if (strcmp(request_names[i].name, word) == 0) {
      *ret_request = request_names[i].request;
      return NULL;
    }
  }
  return g_strdup_printf("no request '%s'", word);
}

/* Hex in place: the bytes take the place of their digits. "-": no data. Wrong digits count as 0. */
static TideBytes
bytes_of_hex(char *hex)
{
  if (strcmp(hex, "-") == 0)
    return TIDE_BYTES_EMPTY;
  gsize len = strlen(hex) / 2;
  for (gsize i = 0; i < len; i++)
    hex[i] = (char)(g_ascii_xdigit_value(hex[2 * i]) << 4 | g_ascii_xdigit_value(hex[2 * i + 1]));
  return tide_bytes(hex, len);
}

static void
print_hex(const void *data, gsize len)
{
  const guint8 *bytes = data;
  for (gsize i = 0; i < len; i++)
    printf("%02x", bytes[i]);
}

static void
print_bytes(GBytes *bytes)
{
  gsize len = 0;
  const void *data = bytes != NULL ? g_bytes_get_data(bytes, &len) : NULL;
  putchar(' ');
  if (bytes == NULL)
    putchar('-');
  else
    print_hex(data, len);
}

static char *
run_brokers(gpointer kafka, char **words)
{
  printf("brokers %s\n", mock_kafka_brokers(kafka));
  return NULL;
}

static char *
run_topic(gpointer kafka, char **words)
{
  gint64 n_partitions = 0;
  char *problem = parse_number(words[1], 1, 1000, &n_partitions);
  if (problem == NULL)
    mock_kafka_create_topic(kafka, words[0], (int)n_partitions);
  return problem;
}

/* NAME=HEX, a word each, as headers. */
static char *
parse_headers(char **words, TideMockHeader *headers)
{
  for (guint i = 0; words[i] != NULL; i++) {
    char *equals = strchr(words[i], '=');
    if (equals == NULL || i == MOCK_KAFKA_MAX_HEADERS)
      return g_strdup_printf("'%s' is not NAME=HEX, or one too many", words[i]);
    *equals = '\0';
    headers[i] = (TideMockHeader){.name = words[i], .value = bytes_of_hex(equals + 1)};
  }
  return NULL;
}

static char *
run_produce(gpointer kafka, char **words)
{
  TideMockMessage message = {.topic = words[0]};
  char *problem = parse_partition(words[1], &message.partition);
  if (problem == NULL)
    problem = parse_number(words[4], 0, G_MAXINT64, &message.timestamp_ms);
  if (problem == NULL)
    problem = parse_headers(words + 5, message.headers);
  if (problem != NULL)
    return problem;
  message.key = bytes_of_hex(words[2]);
  message.payload = bytes_of_hex(words[3]);
  mock_kafka_produce(kafka, &message);
  return NULL;
}

static char *
run_flush(gpointer kafka, char **words)
{
  return mock_kafka_flush(kafka, tide_now_us() + ANSWER_TIMEOUT_US) ? NULL : g_strdup("not all is acknowledged");
}

static char *
run_end(gpointer kafka, char **words)
{
  gint32 partition = 0;
  char *problem = parse_partition(words[1], &partition);
  if (problem == NULL)
    printf("offset %" G_GINT64_FORMAT "\n",
           mock_kafka_end_offset(kafka, words[0], partition, tide_now_us() + ANSWER_TIMEOUT_US));
  return problem;
}

static char *
run_begin(gpointer kafka, char **words)
{
  gint32 partition = 0;
  char *problem = parse_partition(words[1], &partition);
  if (problem == NULL)
    printf("offset %" G_GINT64_FORMAT "\n",
           mock_kafka_begin_offset(kafka, words[0], partition, tide_now_us() + ANSWER_TIMEOUT_US));
  return problem;
}

/* So many tombstones, each with a header so large that a few of them push older ones out of the log. */
static char *
run_fill(gpointer kafka, char **words)
{
  TideMockMessage message = {.topic = words[0], .timestamp_ms = 1};
  gint64 n = 0;
  char *problem = parse_partition(words[1], &message.partition);
  if (problem == NULL)
    problem = parse_number(words[2], 1, 100, &n);
  if (problem != NULL)
    return problem;
  g_autofree char *large = g_strnfill(FILLER_BYTES, 'x');
  message.headers[0] = (TideMockHeader){.name = "filler", .value = tide_bytes(large, FILLER_BYTES)};
  for (gint64 i = 0; i < n; i++)
    mock_kafka_produce(kafka, &message);
  return run_flush(kafka, words);
}

static char *
run_cluster(gpointer kafka, char **words)
{
  g_autofree char *id = mock_kafka_cluster_id(kafka);
  printf("cluster %s\n", id);
  return NULL;
}

static char *
run_commit(gpointer kafka, char **words)
{
  gint32 partition = 0;
  gint64 offset = 0;
  char *problem = parse_partition(words[2], &partition);
  if (problem == NULL)
    problem = parse_number(words[3], 0, G_MAXINT64, &offset);
  if (problem == NULL)
    mock_kafka_commit_note(kafka, words[0], words[1], partition, offset, words[4]);
  return problem;
}

static char *
run_note(gpointer kafka, char **words)
{
  gint32 partition = 0;
  char *problem = parse_partition(words[2], &partition);
  if (problem != NULL)
    return problem;
  g_autofree char *note =
      mock_kafka_committed_note(kafka, words[0], words[1], partition, tide_now_us() + ANSWER_TIMEOUT_US);
  printf("note %s\n", note);
  return NULL;
}

static char *
run_coordinator(gpointer kafka, char **words)
{
  gint64 broker = 0;
  char *problem = parse_number(words[1], 1, 1000, &broker);
  if (problem == NULL)
    mock_kafka_set_coordinator(kafka, words[0], (gint32)broker);
  return problem;
}

static char *
run_committed(gpointer kafka, char **words)
{
  gint32 partition = 0;
  char *problem = parse_partition(words[2], &partition);
  if (problem == NULL)
    printf("offset %" G_GINT64_FORMAT "\n",
           mock_kafka_committed(kafka, words[0], words[1], partition, tide_now_us() + ANSWER_TIMEOUT_US));
  return problem;
}

static void
print_headers(const rd_kafka_headers_t *headers)
{
  const char *name = NULL;
  const void *value = NULL;
  size_t len = 0;
  for (size_t i = 0; headers != NULL && rd_kafka_header_get_all(headers, i, &name, &value, &len) == 0; i++) {
    printf(" %s=", name);
    if (value == NULL)
      putchar('-');
    else
      print_hex(value, len);
  }
}

static char *
run_read(gpointer kafka, char **words)
{
  gint64 n_partitions = 0;
  char *problem = parse_number(words[1], 1, 1000, &n_partitions);
  if (problem != NULL)
    return problem;
  gint64 deadline_us = tide_now_us() + ANSWER_TIMEOUT_US, n_wanted = 0;
  for (gint32 i = 0; i < (gint32)n_partitions; i++)
    n_wanted += mock_kafka_end_offset(kafka, words[0], i, deadline_us) -
                mock_kafka_begin_offset(kafka, words[0], i, deadline_us);
  g_autoptr(GPtrArray) records = mock_kafka_read_topic(kafka, words[0], (int)n_partitions, deadline_us);
  if (records->len < n_wanted)
    return g_strdup_printf("%u of %" G_GINT64_FORMAT " records were read in time", records->len, n_wanted);
  for (guint i = 0; i < records->len; i++) {
    const TideMockRecord *record = g_ptr_array_index(records, i);
    printf("record %d %" G_GINT64_FORMAT " %" G_GINT64_FORMAT, record->partition, record->offset, record->timestamp_ms);
    print_bytes(record->key);
    print_bytes(record->payload);
    print_headers(record->headers);
    putchar('\n');
  }
  return NULL;
}

static char *
run_fail(gpointer kafka, char **words)
{
  TideKafkaRequest request = TIDE_KAFKA_PRODUCE;
  gint64 code = 0, n = 0;
  char *problem = parse_request(words[0], &request);
  if (problem == NULL)
    problem = parse_number(words[1], G_MININT16, G_MAXINT16, &code);
  if (problem == NULL)
    problem = parse_number(words[2], 1, 1000, &n);
  if (problem == NULL)
    mock_kafka_push_errors(kafka, request, (rd_kafka_resp_err_t)code, (guint)n);
  return problem;
}

static char *
run_clear(gpointer kafka, char **words)
{
  TideKafkaRequest request = TIDE_KAFKA_PRODUCE;
  char *problem = parse_request(words[0], &request);
  if (problem == NULL)
    mock_kafka_clear_errors(kafka, request);
  return problem;
}

static char *
run_topic_error(gpointer kafka, char **words)
{
  gint64 code = 0;
  char *problem = parse_number(words[1], G_MININT16, G_MAXINT16, &code);
  if (problem == NULL)
    mock_kafka_set_topic_error(kafka, words[0], (rd_kafka_resp_err_t)code);
  return problem;
}

static char *
set_brokers_up(gpointer kafka, char **words, gboolean up)
{
  gint64 broker = 0;
  char *problem = parse_number(words[0], -1, 1000, &broker);
  if (problem == NULL)
    mock_kafka_set_broker_up(kafka, (gint32)broker, up);
  return problem;
}

static char *
run_up(gpointer kafka, char **words)
{
  return set_brokers_up(kafka, words, TRUE);
}

static char *
run_down(gpointer kafka, char **words)
{
  return set_brokers_up(kafka, words, FALSE);
}

static const LineCommand commands[] = {
    {"brokers", 0, "brokers", run_brokers},
    {"topic", 2, "topic NAME PARTITIONS", run_topic},
    {"produce", 5, "produce TOPIC PARTITION KEY VALUE TIMESTAMP_MS [NAME=VALUE…]", run_produce},
    {"flush", 0, "flush", run_flush},
    {"end", 2, "end TOPIC PARTITION (the next offset)", run_end},
    {"begin", 2, "begin TOPIC PARTITION (the first offset that is still there)", run_begin},
    {"fill", 3, "fill TOPIC PARTITION N (tombstones of 900 kB: a partition keeps 5 MiB)", run_fill},
    {"cluster", 0, "cluster (its id)", run_cluster},
    {"committed", 3, "committed GROUP TOPIC PARTITION", run_committed},
    {"commit", 5, "commit GROUP TOPIC PARTITION OFFSET NOTE (as an operator's tool, before the group has members)",
     run_commit},
    {"note", 3, "note GROUP TOPIC PARTITION (what is committed beside the offset)", run_note},
    {"coordinator", 2, "coordinator GROUP BROKER", run_coordinator},
    {"read", 2, "read TOPIC PARTITIONS (a line each: record PARTITION OFFSET TIMESTAMP_MS KEY VALUE NAME=VALUE…)",
     run_read},
    {"fail", 3, "fail REQUEST CODE N (the next N; the request as fetch, offset-commit, …; 0 lets one pass, -195 cuts)",
     run_fail},
    {"clear", 1, "clear REQUEST", run_clear},
    {"topic-error", 2, "topic-error TOPIC CODE (0: none)", run_topic_error},
    {"up", 1, "up BROKER (-1: all)", run_up},
    {"down", 1, "down BROKER (-1: all)", run_down},
    {0},
};

int
main(int argc, char **argv)
{
  int n_brokers = 1;
  const GOptionEntry entries[] = {{"brokers", 'b', 0, G_OPTION_ARG_INT, &n_brokers, "brokers of the cluster (1)", "N"},
                                  G_OPTION_ENTRY_NULL};
  g_autoptr(GError) error = NULL;
  g_autoptr(GOptionContext) context = g_option_context_new("- a Kafka cluster for tests");
  g_option_context_add_main_entries(context, entries, NULL);
  if (!g_option_context_parse(context, &argc, &argv, &error) || n_brokers < 1) {
    fprintf(stderr, "mock-kafka: %s\n", error != NULL ? error->message : "a cluster has at least one broker");
    return 64;
  }
  g_autoptr(TideMockKafka) kafka = mock_kafka_new(n_brokers);
  run_brokers(kafka, NULL);
  fflush(stdout);

  line_commands_run(commands, kafka);
  return 0;
}
