#include "bench/format_messages.h"

#include <msgpack.h>

#define TIME "time: { field: ts, format: epoch_ms }"

static const char *const metric_names[FORMAT_METRICS] = {"CPU1_USR", "CPU1_SYS", "CPU2_USR", "CPU2_SYS", "CPU3_USR",
                                                         "CPU3_SYS", "CPU4_USR", "CPU4_SYS", "CPU5_USR", "CPU5_SYS"};

/* ---- texts ---- */

static void G_GNUC_PRINTF(2, 3) print(GByteArray *out, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_byte_array_append(out, (const guint8 *)text, (guint)strlen(text));
}

static void
append_json(const FormatReading *reading, GByteArray *out)
{
  print(out, "{\"host\":\"%s\",\"ts\":%" G_GINT64_FORMAT, reading->host, reading->time_ms);
  for (guint i = 0; i < FORMAT_METRICS; i++)
    print(out, ",\"%s\":%.2f", metric_names[i], reading->values[i]);
  print(out, "}");
}

static void
append_influx(const FormatReading *reading, GByteArray *out)
{
  print(out, "cpu,host=%s", reading->host);
  for (guint i = 0; i < FORMAT_METRICS; i++)
    print(out, "%c%s=%.2f", i == 0 ? ' ' : ',', metric_names[i], reading->values[i]);
  print(out, " %" G_GINT64_FORMAT "000000", reading->time_ms);
}

static void
append_csv(const FormatReading *reading, GByteArray *out)
{
  print(out, "%s,%" G_GINT64_FORMAT, reading->host, reading->time_ms);
  for (guint i = 0; i < FORMAT_METRICS; i++)
    print(out, ",%.2f", reading->values[i]);
}

/* ---- MessagePack ---- */

static void
pack_text(msgpack_packer *packer, const char *text)
{
  msgpack_pack_str(packer, strlen(text));
  msgpack_pack_str_body(packer, text, strlen(text));
}

static void
append_msgpack(const FormatReading *reading, GByteArray *out)
{
  msgpack_sbuffer bytes;
  msgpack_sbuffer_init(&bytes);
  msgpack_packer packer;
  msgpack_packer_init(&packer, &bytes, msgpack_sbuffer_write);
  msgpack_pack_map(&packer, FORMAT_METRICS + 2);
  pack_text(&packer, "host");
  pack_text(&packer, reading->host);
  pack_text(&packer, "ts");
  msgpack_pack_int64(&packer, reading->time_ms);
  for (guint i = 0; i < FORMAT_METRICS; i++) {
    pack_text(&packer, metric_names[i]);
    msgpack_pack_double(&packer, reading->values[i]);
  }
  g_byte_array_append(out, (const guint8 *)bytes.data, (guint)bytes.size);
  msgpack_sbuffer_destroy(&bytes);
}

/* ---- what Avro and protobuf are made of ---- */

static void
append_varint(GByteArray *out, guint64 value)
{
  do {
    guint8 byte = (guint8)((value & 0x7F) | (value > 0x7F ? 0x80 : 0));
    g_byte_array_append(out, &byte, 1);
    value >>= 7;
  } while (value > 0);
}

static void
append_double(GByteArray *out, double value)
{
  guint64 bits;
  memcpy(&bits, &value, sizeof bits);
  bits = GUINT64_TO_LE(bits);
  g_byte_array_append(out, (const guint8 *)&bits, sizeof bits);
}

static void
append_bytes(GByteArray *out, const void *bytes, guint len)
{
  g_byte_array_append(out, bytes, len);
}

/* ---- Avro ---- */

static void
append_avro_schema(GByteArray *out)
{
  print(out, "{\"type\":\"record\",\"name\":\"Reading\",\"fields\":[{\"name\":\"host\",\"type\":\"string\"},"
             "{\"name\":\"ts\",\"type\":\"long\"}");
  for (guint i = 0; i < FORMAT_METRICS; i++)
    print(out, ",{\"name\":\"%s\",\"type\":\"double\"}", metric_names[i]);
  print(out, "]}");
}

static void
append_avro(const FormatReading *reading, GByteArray *out)
{
  append_varint(out, strlen(reading->host) * 2); /* zigzag, of what is not negative */
  append_bytes(out, reading->host, (guint)strlen(reading->host));
  append_varint(out, (guint64)reading->time_ms * 2);
  for (guint i = 0; i < FORMAT_METRICS; i++)
    append_double(out, reading->values[i]);
}

/* ---- protobuf ---- */

/* Wire types, and the numbers of fields in descriptor.proto. */
enum { WIRE_VARINT, WIRE_64_BITS, WIRE_DELIMITED };
enum { SET_FILE = 1, FILE_NAME = 1, FILE_PACKAGE = 2, FILE_MESSAGE = 4, FILE_SYNTAX = 12 };
enum { MESSAGE_NAME = 1, MESSAGE_FIELD = 2 };
enum { FIELD_NAME = 1, FIELD_NUMBER = 3, FIELD_LABEL = 4, FIELD_TYPE = 5 };
enum { LABEL_OPTIONAL = 1, TYPE_DOUBLE = 1, TYPE_INT64 = 3, TYPE_STRING = 9 };

static void
append_number_field(GByteArray *out, guint number, guint value)
{
  append_varint(out, number << 3 | WIRE_VARINT);
  append_varint(out, value);
}

static void
append_delimited(GByteArray *out, guint number, const void *bytes, gsize len)
{
  append_varint(out, number << 3 | WIRE_DELIMITED);
  append_varint(out, len);
  append_bytes(out, bytes, (guint)len);
}

static void
append_field(GByteArray *message, guint number, const char *name, guint type)
{
  g_autoptr(GByteArray) field = g_byte_array_new();
  append_delimited(field, FIELD_NAME, name, strlen(name));
  append_number_field(field, FIELD_NUMBER, number);
  append_number_field(field, FIELD_LABEL, LABEL_OPTIONAL);
  append_number_field(field, FIELD_TYPE, type);
  append_delimited(message, MESSAGE_FIELD, field->data, field->len);
}

static void
append_descriptor_set(GByteArray *out)
{
  g_autoptr(GByteArray) message = g_byte_array_new();
  g_autoptr(GByteArray) file = g_byte_array_new();
  append_delimited(message, MESSAGE_NAME, "Reading", strlen("Reading"));
  append_field(message, 1, "host", TYPE_STRING);
  append_field(message, 2, "ts", TYPE_INT64);
  for (guint i = 0; i < FORMAT_METRICS; i++)
    append_field(message, i + 3, metric_names[i], TYPE_DOUBLE);
  append_delimited(file, FILE_NAME, "bench.proto", strlen("bench.proto"));
  append_delimited(file, FILE_PACKAGE, "bench", strlen("bench"));
  append_delimited(file, FILE_MESSAGE, message->data, message->len);
  append_delimited(file, FILE_SYNTAX, "proto3", strlen("proto3"));
  append_delimited(out, SET_FILE, file->data, file->len);
}

static void
append_protobuf(const FormatReading *reading, GByteArray *out)
{
  append_delimited(out, 1, reading->host, strlen(reading->host));
  append_varint(out, 2 << 3 | WIRE_VARINT);
  append_varint(out, (guint64)reading->time_ms);
  for (guint i = 0; i < FORMAT_METRICS; i++) {
    append_varint(out, (i + 3) << 3 | WIRE_64_BITS);
    append_double(out, reading->values[i]);
  }
}

const FormatMessages format_messages[N_FORMATS] = {
    [FORMAT_JSON] = {"json", "{ format: json, " TIME " }", NULL, append_json},
    [FORMAT_INFLUX] = {"influx", "{ format: influx }", NULL, append_influx},
    [FORMAT_CSV] = {"csv",
                    "{ format: csv, " TIME ", csv: { columns: [host, ts, CPU1_USR, CPU1_SYS, CPU2_USR, CPU2_SYS, "
                    "CPU3_USR, CPU3_SYS, CPU4_USR, CPU4_SYS, CPU5_USR, CPU5_SYS] } }",
                    NULL, append_csv},
    [FORMAT_MSGPACK] = {"msgpack", "{ format: msgpack, " TIME " }", NULL, append_msgpack},
    [FORMAT_AVRO] = {"avro", "{ format: avro, schema: SCHEMA, " TIME " }", append_avro_schema, append_avro},
    [FORMAT_PROTOBUF] = {"protobuf", "{ format: protobuf, schema: SCHEMA, message: bench.Reading, " TIME " }",
                         append_descriptor_set, append_protobuf},
};
