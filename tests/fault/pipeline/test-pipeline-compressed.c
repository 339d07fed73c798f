/* Compressed batches that contradict their codec, or unpack to far more than their size. No producer makes such
 * batches, so they are made by hand. */
#include "fault/kafka/raw_batch.h"
#include "fault/pipeline/pipeline_fixture.h"
#include "unit/peak_memory.h"

#include <zlib.h>

#define GZIP_BOMB_BYTES (64u * 1024 * 1024)
#define ZSTD_BOMB_BYTES (1024u * 1024 * 1024)
#define MANY_MESSAGES 100000

/* The memory of a run with such a batch above that before, at the most. librdkafka unpacks a batch as a whole, whatever
 * our budget is, but nothing beyond receive.message.max.bytes (100 MB) where the codec can tell; each message of it
 * then costs some 400 bytes. */
#define MAX_GROWTH_BYTES (SANITIZER_FACTOR * 192u * 1024 * 1024)

/* Sanitizers keep notes of each byte, and freed memory for a while. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZER_FACTOR 4
#else
#define SANITIZER_FACTOR 1
#endif

#define BASE_MS G_GINT64_CONSTANT(1763700000000)
#define OPTIONS                                                                                                        \
  "limits: { memory: 16MiB, drain_timeout: 3s }\n"                                                                     \
  "readings: { on_bad_message: skip, time: { field: ts, format: epoch_ms } }\n"

#define HALF_PAYLOAD "{\"host\":\"half\",\"ts\":1763700000000,\"v\":\"1\"}"

/* ---- what is compressed ---- */

static GBytes *
gzip(const guint8 *data, gsize len)
{
  z_stream stream = {.next_in = (guint8 *)(gpointer)data, .avail_in = (uInt)len};
  g_assert_cmpint(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), ==, Z_OK);
  gsize room = deflateBound(&stream, len);
  guint8 *packed = g_malloc(room);
  stream.next_out = packed;
  stream.avail_out = (uInt)room;
  g_assert_cmpint(deflate(&stream, Z_FINISH), ==, Z_STREAM_END);
  gsize packed_len = stream.total_out;
  deflateEnd(&stream);
  return g_bytes_new_take(packed, packed_len);
}

/* A zstd frame of zero bytes, in blocks that say one byte and how often. @says_size: its header tells the size. */
static GBytes *
zstd_zeros(guint32 len, gboolean says_size)
{
  static const guint32 block = 128 * 1024; /* as large as one may be */
  GByteArray *frame = g_byte_array_new();
  static const guint8 without_size[] = {0x28, 0xB5, 0x2F, 0xFD, 0x00, 7 << 3}; /* a window of 128 KiB */
  const guint8 with_size[] = {
      0x28, 0xB5, 0x2F, 0xFD, 0x80, 7 << 3, (guint8)len, (guint8)(len >> 8), (guint8)(len >> 16), (guint8)(len >> 24)};
  if (says_size)
    g_byte_array_append(frame, with_size, sizeof with_size);
  else
    g_byte_array_append(frame, without_size, sizeof without_size);
  for (guint32 done = 0; done < len; done += block) {
    guint32 size = MIN(block, len - done);
    guint32 header = size << 3 | 1 << 1 | (done + size == len ? 1 : 0);
    const guint8 bytes[] = {(guint8)header, (guint8)(header >> 8), (guint8)(header >> 16), 0};
    g_byte_array_append(frame, bytes, sizeof bytes);
  }
  return g_byte_array_free_to_bytes(frame);
}

static GBytes *
make_garbage(void)
{
  return g_bytes_new_static("this was never compressed", 25);
}

/* Whole, but its record is not. */
static GBytes *
make_gzip_half_record(void)
{
  g_autoptr(GBytes) payload = g_bytes_new_static(HALF_PAYLOAD, strlen(HALF_PAYLOAD));
  g_autoptr(GByteArray) record = raw_batch_record(payload, 0);
  return gzip(record->data, record->len / 2);
}

/* Whole, but no records. */
static GBytes *
make_gzip_zeros(void)
{
  g_autofree guint8 *zeros = g_malloc0(GZIP_BOMB_BYTES);
  return gzip(zeros, GZIP_BOMB_BYTES);
}

/* One record whose value is the bomb. */
static GBytes *
make_gzip_message(void)
{
  g_autoptr(GBytes) zeros = g_bytes_new_take(g_malloc0(GZIP_BOMB_BYTES), GZIP_BOMB_BYTES);
  g_autoptr(GByteArray) record = raw_batch_record(zeros, 0);
  return gzip(record->data, record->len);
}

static GBytes *
make_gzip_messages(void)
{
  g_autoptr(GBytes) payload = g_bytes_new_static("x", 1);
  g_autoptr(GByteArray) records = g_byte_array_new();
  for (gint32 i = 0; i < MANY_MESSAGES; i++) {
    g_autoptr(GByteArray) record = raw_batch_record(payload, i);
    g_byte_array_append(records, record->data, record->len);
  }
  return gzip(records->data, records->len);
}

static GBytes *
make_zstd_zeros(void)
{
  return zstd_zeros(ZSTD_BOMB_BYTES, TRUE);
}

static GBytes *
make_zstd_zeros_without_size(void)
{
  return zstd_zeros(ZSTD_BOMB_BYTES, FALSE);
}

/* What librdkafka makes of a batch. */
typedef enum Verdict {
  REFUSED, /* cannot be unpacked, and says so */
  IGNORED, /* taken for one that the fetch cut short: fetched again and again without a word */
  READ,    /* its messages are handed on */
} Verdict;

typedef struct BatchCase {
  const char *name;
  TideRawCodec codec;
  GBytes *(*make)(void);
  Verdict verdict;
  gint32 n_messages;  /* READ: that are passed over */
  const char *reason; /* READ: why */
} BatchCase;

static const BatchCase cases[] = {
    {"garbage/A25-no-gzip-holds-its-partition", TIDE_RAW_GZIP, make_garbage, REFUSED},
    {"garbage/A25-no-snappy-holds-its-partition", TIDE_RAW_SNAPPY, make_garbage, REFUSED},
    {"garbage/A25-no-lz4-holds-its-partition", TIDE_RAW_LZ4, make_garbage, REFUSED},
    {"garbage/A25-no-zstd-holds-its-partition", TIDE_RAW_ZSTD, make_garbage, REFUSED},
    {"garbage-2/A25-gzip-of-half-a-record-is-not-passed", TIDE_RAW_GZIP, make_gzip_half_record, IGNORED},
    {"garbage-2/A25-gzip-of-no-records-is-not-passed", TIDE_RAW_GZIP, make_gzip_zeros, IGNORED},
    {"bomb/A25-zstd-bomb-is-refused", TIDE_RAW_ZSTD, make_zstd_zeros, REFUSED},
    {"bomb/A25-zstd-bomb-that-says-no-size-is-refused", TIDE_RAW_ZSTD, make_zstd_zeros_without_size, REFUSED},
    {"bomb/A25-gzip-of-a-huge-message-is-passed-over", TIDE_RAW_GZIP, make_gzip_message, READ, 1, "too_large"},
    {"bomb/A25-gzip-of-many-messages-is-read", TIDE_RAW_GZIP, make_gzip_messages, READ, MANY_MESSAGES, "parse"},
};

/* ---- the run ---- */

/* A good message, the batch, and a good one behind it; the other partition has nothing to do with it. */
static void
produce(PipelineFixture *fixture, const BatchCase *at)
{
  g_autoptr(GBytes) records = at->make();
  TideRawBatch batch = {.n_offsets = MAX(at->n_messages, 1), .codec = at->codec, .records = records};
  pipeline_fixture_produce(fixture, 0, "host0", BASE_MS, "before");
  pipeline_fixture_flush(fixture);
  raw_batch_produce(mock_kafka_brokers(fixture->kafka), FIXTURE_TOPIC, 0, &batch);
  pipeline_fixture_produce(fixture, 0, "host0", BASE_MS + 1000, "behind");
  pipeline_fixture_produce(fixture, 1, "host2", BASE_MS, "other");
  pipeline_fixture_flush(fixture);
}

/* What stands before the batch is committed; then the other partition goes on, by fetches that ask for the batch, too.
 */
static void
wait_passed(PipelineFixture *fixture, RunningPipeline *running, const BatchCase *at)
{
  pipeline_fixture_wait_committed(fixture, 0, at->verdict == READ ? 2 + at->n_messages : 1);
  if (at->verdict == REFUSED)
    running_pipeline_wait_halted(running);
  pipeline_fixture_produce(fixture, 1, "host2", BASE_MS + 1000, "later");
  pipeline_fixture_flush(fixture);
  pipeline_fixture_wait_committed(fixture, 1, 2);
}

static void
assert_counted(RunningPipeline *running, const BatchCase *at)
{
  TideMetrics *metrics = running->metrics;
  g_assert_cmpuint(tide_metrics_sum(metrics, "tidemark_kafka_corrupt_fetches_total", NULL), ==,
                   at->verdict == REFUSED ? 1 : 0);
  g_assert_cmpuint(tide_metrics_sum(metrics, "tidemark_messages_skipped_total", NULL), ==, (guint64)at->n_messages);
  if (at->verdict != READ)
    return;
  g_autofree char *label = g_strdup_printf("reason=\"%s\"", at->reason);
  g_assert_cmpuint(tide_metrics_sum(metrics, "tidemark_messages_skipped_total", label), ==, (guint64)at->n_messages);
}

PIPELINE_TEST_EACH("/pipeline-compressed/", cases)
{
  const BatchCase *at = data;
  produce(fixture, at);
  guint64 before_bytes = peak_memory_begin();
  RunningPipeline *running = running_pipeline_start(fixture, 1, OPTIONS);
  wait_passed(fixture, running, at);
  guint64 growth_bytes = peak_memory_growth(before_bytes);
  g_test_message("grows by %" G_GUINT64_FORMAT " MiB at the most", growth_bytes >> 20);
  g_assert_cmpuint(growth_bytes, <, MAX_GROWTH_BYTES);
  assert_counted(running, at);
  running_pipeline_end(running);
  g_assert_cmpuint(fake_hbase_row_count(fixture->hbase, "METRIC"), ==, at->verdict == READ ? 4 : 3);
  gint64 committed = pipeline_fixture_committed(fixture, 0);
  g_assert_cmpint(committed, ==, at->verdict == READ ? 2 + at->n_messages : 1);
}
