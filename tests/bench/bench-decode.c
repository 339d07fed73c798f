/* Nanoseconds that decoding one message takes, for the shapes of the demos. Run it on an idle machine; ratios
 * count. */
#include "decode/decoder.h"
#include "util/clock.h"

#define ROUNDS 9
#define MESSAGES_PER_ROUND 200000

static const char one_metric[] = "{\"host\":\"server1.bbb.com\",\"ts\":1426535612045,\"v\":0.02}";

static const char nested_metrics[] =
    "{\"host\":\"server1.bbb.com\",\"ts\":1426535612045,\"metrics\":{\"CPU/CPU1_USR\":0.02,\"CPU/"
    "CPU1_SYS\":0.01,"
    "\"CPU/CPU2_USR\":0.04,\"MEM/USED_BYTES\":8123456789,\"MEM/FREE_BYTES\":123456789,\"DISK/"
    "SDA_READ\":1234.5,"
    "\"DISK/SDA_WRITE\":987.25,\"NET/ETH0_RX\":12345678,\"NET/ETH0_TX\":87654321,\"LOAD/AVG1\":0.75},"
    "\"rack\":\"r12\",\"datacenter\":\"frankfurt-1\",\"os\":\"debian-12\"}";

static char *
flat_metrics(void)
{
  GString *text = g_string_new("{\"host\":\"server1.bbb.com\",\"ts\":1426535612045");
  for (guint i = 0; i < 20; i++)
    g_string_append_printf(text, ",\"METRIC_%02u\":%u.%03u", i, i * 7, i * 37 % 1000);
  g_string_append_c(text, '}');
  return g_string_free(text, FALSE);
}

/* The fastest of some rounds: what disturbs a round only makes it slower. */
static double
measure_ns(TideDecoder *decoder, const TideMessage *message)
{
  gint64 best_us = G_MAXINT64;
  for (guint round = 0; round < ROUNDS; round++) {
    gint64 start_us = tide_now_us();
    for (guint i = 0; i < MESSAGES_PER_ROUND; i++) {
      TideReading *readings;
      guint32 n_readings;
      TideReject reject;
      if (!tide_decoder_decode(decoder, message, &readings, &n_readings, &reject) || n_readings != 1)
        g_error("a message of the benchmark was rejected");
    }
    best_us = MIN(best_us, tide_now_us() - start_us);
  }
  return (double)best_us * 1000 / MESSAGES_PER_ROUND;
}

static void
show(const char *shape, const char *text)
{
  g_autofree char *separator = g_strdup("/");
  TideDecodeOptions options = {
      .format = TIDE_FORMAT_JSON,
      .separator = separator,
      .max_message_bytes = 1024 * 1024,
      .max_depth = 32,
      .max_fields = 1024,
      .max_readings = 1024,
  };
  g_autoptr(TideFieldNames) names = tide_field_names_new();
  tide_field_names_intern(names, TIDE_BYTES_LITERAL("host"));
  tide_field_names_intern(names, TIDE_BYTES_LITERAL("ts"));
  g_autoptr(TideDecoder) decoder = tide_decoder_new(&options, names, tide_field_names_count(names));
  TideMessage message = {.value = tide_bytes_of_string(text), .has_value = TRUE, .timestamp_ms = -1};
  double ns = measure_ns(decoder, &message);
  g_print("%-28s %5" G_GSIZE_FORMAT " bytes  %6.0f ns a message  %6.2f ns a byte\n", shape, message.value.len, ns,
          ns / (double)message.value.len);
}

int
main(void)
{
  g_autofree char *flat = flat_metrics();
  show("one metric", one_metric);
  show("10 nested metrics", nested_metrics);
  show("22 fields", flat);
  return 0;
}
