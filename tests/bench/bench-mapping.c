/* Nanoseconds that it takes to make the rows of one reading, for the shapes of tables that differ in what they cost:
 * what applying a mapping takes beyond decoding. Run it on an idle machine; ratios count. */
#include "config/config.h"
#include "decode/decoder.h"
#include "flow/mapping.h"

#include <time.h>

#define ROUNDS 15
#define MESSAGES_PER_ROUND 100000

#define RECORD_TIME_MS G_GINT64_CONSTANT(1426535612100)

#define HEAD                                                                                                           \
  "kafka: { brokers: b, group: g, topics: [t] }\n"                                                                     \
  "readings: { time: { field: ts, format: epoch_ms } }\n"                                                              \
  "hbase: { gateways: [g] }\n"                                                                                         \
  "tables:\n"
#define METRIC "  METRIC: { key: [{ field: host }, \"#\", { time: epoch_ms }], columns: { family: M, from: \"*\" } }\n"
#define CURRENT_METRIC                                                                                                 \
  "  CURRENT_METRIC: { latest: merge, key: [{ field: host }], columns: { family: M, from: \"*\" } }\n"

#define KEY "key: [{ field: host }, \"#\", { time: epoch_ms }], "
#define PACKED(pack) "  PACKED: { " KEY "columns: { family: M, from: \"*\", pack: " pack " } }\n"
#define NUMBERS "  NUMBERS: { " KEY "columns: { family: M, from: [\"*/*\"], encode: float64 } }\n"
#define DAY                                                                                                            \
  "  DAY: { key: [{ field: meter, width: 10, pad: \"0\" }, \"#\", { time: yyyyMMdd }],"                                \
  " columns: { family: METER, from: kwh, qualifier: [{ time: HHmm, cut: 15m }] } }\n"
#define QUOTE "  QUOTE: { when: { field: BID, present: true }, " KEY "columns: { family: M, from: \"*\" } }\n"

static const char ten_metrics[] =
    "{\"host\":\"server1.bbb.com\",\"ts\":1426535612045,\"CPU/CPU1_USR\":0.02,\"CPU/CPU1_SYS\":0.01,"
    "\"CPU/CPU2_USR\":0.04,\"MEM/USED_BYTES\":8123456789,\"MEM/FREE_BYTES\":123456789,\"DISK/SDA_READ\":1234.5,"
    "\"DISK/SDA_WRITE\":987.25,\"NET/ETH0_RX\":12345678,\"NET/ETH0_TX\":87654321,\"LOAD/AVG1\":0.75}";

static const char one_slot[] = "{\"meter\":\"987654\",\"ts\":1426535612045,\"kwh\":1.5}";

static gint64
thread_cpu_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (gint64)now.tv_sec * G_GINT64_CONSTANT(1000000000) + now.tv_nsec;
}

static void
decode_once(TideDecoder *decoder, const TideMessage *message)
{
  TideReading *readings;
  guint32 n_readings;
  TideReject reject;
  if (!tide_decoder_decode(decoder, message, &readings, &n_readings, &reject) || n_readings != 1)
    g_error("a message of the benchmark was rejected");
}

static void
map_once(TideMapping *mapping, const TideMessage *message)
{
  TideMapped mapped;
  TideReject reject;
  if (!tide_mapping_apply(mapping, message, &mapped, &reject) || mapped.n_rows == 0)
    g_error("a message of the benchmark made no rows");
}

/* The fastest of some rounds: what disturbs a round only makes it slower. */
static void
show(const char *shape, const char *yaml, const char *value)
{
  GPtrArray *problems = NULL;
  TideConfig *config = tide_config_load_text("bench.yaml", tide_bytes_of_string(yaml), &problems);
  if (config == NULL)
    g_error("the configuration of '%s' is not good", shape);
  g_autoptr(TideFieldNames) names = tide_field_names_copy(config->names);
  g_autoptr(TideDecoder) decoder = tide_decoder_new(&config->readings.decode, names, tide_field_names_count(names));
  g_autoptr(TideMapping) mapping = tide_mapping_new(config, TIDE_WIRE_BINARY);
  TideMessage message = {.value = tide_bytes_of_string(value), .has_value = TRUE, .timestamp_ms = RECORD_TIME_MS};
  gint64 decode_ns = G_MAXINT64, apply_ns = G_MAXINT64;
  for (guint round = 0; round < ROUNDS; round++) {
    gint64 start_ns = thread_cpu_ns();
    for (guint i = 0; i < MESSAGES_PER_ROUND; i++)
      decode_once(decoder, &message);
    gint64 middle_ns = thread_cpu_ns();
    for (guint i = 0; i < MESSAGES_PER_ROUND; i++)
      map_once(mapping, &message);
    decode_ns = MIN(decode_ns, middle_ns - start_ns);
    apply_ns = MIN(apply_ns, thread_cpu_ns() - middle_ns);
  }
  g_print("%-44s %6.0f ns a reading, and %.0f ns to decode it\n", shape,
          (double)(apply_ns - decode_ns) / MESSAGES_PER_ROUND, (double)decode_ns / MESSAGES_PER_ROUND);
  g_ptr_array_unref(problems);
  tide_config_free(config);
}

int
main(void)
{
  show("10 metrics, a data and a latest table", HEAD METRIC CURRENT_METRIC, ten_metrics);
  show("the same and a table that does not take it", HEAD METRIC CURRENT_METRIC QUOTE, ten_metrics);
  show("10 metrics as doubles", HEAD NUMBERS, ten_metrics);
  show("10 metrics in one cell of JSON", HEAD PACKED("json"), ten_metrics);
  show("10 metrics in one cell of MessagePack", HEAD PACKED("msgpack"), ten_metrics);
  show("a meter's slot in the row of its day", HEAD DAY, one_slot);
  return 0;
}
