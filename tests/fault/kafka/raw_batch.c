#include "fault/kafka/raw_batch.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Produce, version 3: the first with this format of batches. */
#define API_PRODUCE 0
#define PRODUCE_VERSION 3
#define MAGIC 2

static void
append_int(GByteArray *bytes, guint64 value, guint n_bytes)
{
  for (guint i = n_bytes; i-- > 0;) {
    guint8 byte = (guint8)(value >> (8 * i));
    g_byte_array_append(bytes, &byte, 1);
  }
}

static void
append_string(GByteArray *bytes, const char *text)
{
  append_int(bytes, strlen(text), 2);
  g_byte_array_append(bytes, (const guint8 *)text, (guint)strlen(text));
}

/* Zigzag, seven bits a byte. */
static void
append_varint(GByteArray *bytes, gint64 value)
{
  guint64 rest = ((guint64)value << 1) ^ (guint64)(value >> 63);
  do {
    guint8 byte = (guint8)((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    g_byte_array_append(bytes, &byte, 1);
    rest >>= 7;
  } while (rest > 0);
}

static guint32
crc32c(const GByteArray *bytes)
{
  guint32 crc = G_MAXUINT32;
  for (guint i = 0; i < bytes->len; i++) {
    crc ^= bytes->data[i];
    for (guint bit = 0; bit < 8; bit++)
      crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
  }
  return ~crc;
}

GByteArray *
raw_batch_record(GBytes *payload, gint32 delta)
{
  gsize len;
  const guint8 *data = g_bytes_get_data(payload, &len);
  g_autoptr(GByteArray) record = g_byte_array_new();
  append_int(record, 0, 1); /* attributes */
  append_varint(record, 0); /* time */
  append_varint(record, delta);
  append_varint(record, -1); /* no key */
  append_varint(record, (gint64)len);
  g_byte_array_append(record, data, (guint)len);
  append_varint(record, 0); /* headers */
  GByteArray *bytes = g_byte_array_new();
  append_varint(bytes, record->len);
  g_byte_array_append(bytes, record->data, record->len);
  return bytes;
}

static void
append_records(GByteArray *bytes, const TideRawBatch *batch)
{
  if (batch->records != NULL) {
    gsize len;
    const guint8 *data = g_bytes_get_data(batch->records, &len);
    g_byte_array_append(bytes, data, (guint)len);
    return;
  }
  for (guint i = 0; i < RAW_BATCH_MAX && batch->payloads[i] != NULL; i++) {
    g_autoptr(GBytes) payload = g_bytes_new_static(batch->payloads[i], strlen(batch->payloads[i]));
    g_autoptr(GByteArray) record = raw_batch_record(payload, batch->deltas[i]);
    g_byte_array_append(bytes, record->data, record->len);
  }
}

/* What the checksum is made of. */
static GByteArray *
checked_part(const TideRawBatch *batch)
{
  GByteArray *bytes = g_byte_array_new();
  guint64 now_epoch_ms = (guint64)(g_get_real_time() / 1000);
  append_int(bytes, batch->codec, 2); /* attributes: the rest of them 0 */
  append_int(bytes, (guint64)batch->n_offsets - 1, 4);
  append_int(bytes, now_epoch_ms, 8);
  append_int(bytes, now_epoch_ms, 8);
  append_int(bytes, G_MAXUINT64, 8); /* no producer, no epoch, no sequence */
  append_int(bytes, G_MAXUINT64, 2);
  append_int(bytes, G_MAXUINT64, 4);
  append_int(bytes, (guint64)batch->n_offsets, 4); /* the mock counts offsets by it, and librdkafka reads to the end */
  append_records(bytes, batch);
  return bytes;
}

static void
append_batch(GByteArray *bytes, const TideRawBatch *batch)
{
  g_autoptr(GByteArray) checked = checked_part(batch);
  guint32 crc = crc32c(checked);
  append_int(bytes, 0, 8); /* the broker's to fill in */
  append_int(bytes, 4 + 1 + 4 + checked->len, 4);
  append_int(bytes, 0, 4);
  append_int(bytes, MAGIC, 1);
  append_int(bytes, batch->damaged ? ~crc : crc, 4);
  g_byte_array_append(bytes, checked->data, checked->len);
}

static GByteArray *
make_request(const char *topic, gint32 partition, const TideRawBatch *batch)
{
  g_autoptr(GByteArray) records = g_byte_array_new();
  append_batch(records, batch);
  g_autoptr(GByteArray) body = g_byte_array_new();
  append_int(body, API_PRODUCE, 2);
  append_int(body, PRODUCE_VERSION, 2);
  append_int(body, 1, 4); /* correlation */
  append_string(body, "raw");
  append_int(body, G_MAXUINT64, 2); /* no transaction */
  append_int(body, 1, 2);           /* acks */
  append_int(body, 5000, 4);        /* timeout */
  append_int(body, 1, 4);
  append_string(body, topic);
  append_int(body, 1, 4);
  append_int(body, (guint32)partition, 4);
  append_int(body, records->len, 4);
  g_byte_array_append(body, records->data, records->len);
  GByteArray *request = g_byte_array_new();
  append_int(request, body->len, 4);
  g_byte_array_append(request, body->data, body->len);
  return request;
}

static int
connect_to(const char *brokers)
{
  const char *colon = strchr(brokers, ':');
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                .sin_port = htons((guint16)g_ascii_strtoull(colon + 1, NULL, 10))};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) != 0)
    g_error("cannot connect to %s", brokers);
  return fd;
}

static void
read_exactly(int fd, guint8 *bytes, gsize len)
{
  for (gsize done = 0; done < len;) {
    gssize n = recv(fd, bytes + done, len - done, 0);
    if (n <= 0)
      g_error("the broker's reply ends after %zu bytes", done);
    done += (gsize)n;
  }
}

void
raw_batch_produce(const char *brokers, const char *topic, gint32 partition, const TideRawBatch *batch)
{
  g_autoptr(GByteArray) request = make_request(topic, partition, batch);
  int fd = connect_to(brokers);
  if (send(fd, request->data, request->len, MSG_NOSIGNAL) != (gssize)request->len)
    g_error("cannot send to %s", brokers);
  /* length, correlation, number of topics, topic, number of partitions, partition: then the error code */
  gsize to_error = 4 + 4 + 4 + 2 + strlen(topic) + 4 + 4;
  g_autofree guint8 *reply = g_malloc(to_error + 2);
  read_exactly(fd, reply, to_error + 2);
  if (reply[to_error] != 0 || reply[to_error + 1] != 0)
    g_error("the broker refuses the batch with error %d", reply[to_error] << 8 | reply[to_error + 1]);
  close(fd);
}
