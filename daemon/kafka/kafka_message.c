#include "kafka/kafka_message.h"

static gboolean
find_header(const TideMessage *message, const char *name, TideBytes *ret_value)
{
  rd_kafka_headers_t *headers;
  const void *value;
  size_t size;
  if (rd_kafka_message_headers(message->headers, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR ||
      rd_kafka_header_get_last(headers, name, &value, &size) != RD_KAFKA_RESP_ERR_NO_ERROR || value == NULL)
    return FALSE;
  *ret_value = tide_bytes(value, size);
  return TRUE;
}

static gboolean
header_at(const TideMessage *message, gsize index, TideDeadLetterHeader *ret_header)
{
  rd_kafka_headers_t *headers;
  const char *name;
  const void *value;
  size_t size;
  if (rd_kafka_message_headers(message->headers, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR ||
      rd_kafka_header_get_all(headers, index, &name, &value, &size) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return FALSE;
  *ret_header = (TideDeadLetterHeader){tide_bytes_of_string(name), tide_bytes(value, size), value != NULL};
  return TRUE;
}

TideMessage
tide_kafka_message(const rd_kafka_message_t *raw)
{
  rd_kafka_timestamp_type_t kind;
  gint64 timestamp_ms = rd_kafka_message_timestamp(raw, &kind);
  return (TideMessage){
      .topic = tide_bytes_of_string(rd_kafka_topic_name(raw->rkt)),
      .partition = raw->partition,
      .offset = raw->offset,
      .timestamp_ms = kind == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? -1 : timestamp_ms,
      .is_append_time = kind == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME,
      .key = tide_bytes(raw->key, raw->key_len),
      .has_key = raw->key != NULL,
      .value = tide_bytes(raw->payload, raw->len),
      .has_value = raw->payload != NULL,
      .find_header = find_header,
      .header_at = header_at,
      .headers = raw,
  };
}
