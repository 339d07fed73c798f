#include "fault/gateway/raw_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

struct TideRawClient {
  int fd;
  gint64 timeout_ms;
  TideRawOutcome lost; /* why the last read failed */
  gint32 sequence_id;
  TideFakeReader reader;
  TideFakeWriter writer;
  GString *rows;
};

const TideRawMode raw_modes[RAW_N_MODES] = {
    {"unframed binary", FALSE, FALSE},
    {"unframed compact", FALSE, TRUE},
    {"framed binary", TRUE, FALSE},
    {"framed compact", TRUE, TRUE},
};

TideScriptedGateway *
raw_gateway_new(const TideRawMode *mode)
{
  TideScriptedGateway *gateway =
      scripted_gateway_new(&(TideGatewayOptions){.framed = mode->framed, .compact = mode->compact});
  scripted_gateway_create_table(gateway, "T", "M,N", (const char *const[]){"g", "p", NULL});
  return gateway;
}

void
raw_append_pattern(TideBuffer *bytes, const char *pattern)
{
  for (const char *c = pattern; *c != '\0'; c++) {
    if (*c == '\'') {
      const char *end = strchr(c + 1, '\'');
      tide_buffer_append(bytes, c + 1, (gsize)(end - c - 1));
      c = end;
    } else if (*c != ' ') {
      tide_buffer_append_byte(bytes, (guint8)(g_ascii_xdigit_value(c[0]) << 4 | g_ascii_xdigit_value(c[1])));
      c++;
    }
  }
}

static int
connect_to(guint16 port)
{
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
    return fd;
  close(fd);
  return -1;
}

/* TideFakeReadFunc */
static gssize
read_socket(gpointer data, guint8 *bytes, gsize len)
{
  TideRawClient *client = data;
  struct pollfd wait = {.fd = client->fd, .events = POLLIN};
  client->lost = RAW_TIMEOUT;
  if (poll(&wait, 1, (int)client->timeout_ms) <= 0)
    return -1;
  gssize n = recv(client->fd, bytes, len, 0);
  if (n > 0)
    client->lost = RAW_BROKEN;
  else
    client->lost = n == 0 ? RAW_CLOSED : RAW_RESET;
  return n;
}

TideRawClient *
raw_client_connect(guint16 port, gboolean framed, gboolean compact)
{
  TideRawClient *client = g_new0(TideRawClient, 1);
  client->fd = connect_to(port);
  if (client->fd < 0)
    g_error("cannot connect to port %u: %s", port, g_strerror(errno));
  client->timeout_ms = RAW_TIMEOUT_MS;
  client->rows = g_string_new(NULL);
  fake_reader_init(&client->reader, framed, compact, read_socket, client);
  client->reader.frame_limit_bytes = 64 * 1024 * 1024;
  fake_writer_init(&client->writer, framed, compact);
  return client;
}

void
raw_client_free(TideRawClient *client)
{
  if (client == NULL)
    return;
  close(client->fd);
  fake_reader_clear(&client->reader);
  fake_writer_clear(&client->writer);
  g_string_free(client->rows, TRUE);
  g_free(client);
}

gboolean
raw_client_is_accepted(guint16 port)
{
  int fd = connect_to(port);
  if (fd >= 0)
    close(fd);
  return fd >= 0;
}

void
raw_client_set_timeout_ms(TideRawClient *client, gint64 ms)
{
  client->timeout_ms = ms;
}

void
raw_client_send(TideRawClient *client, TideBytes bytes)
{
  gsize done = 0;
  while (done < bytes.len) {
    gssize n = send(client->fd, bytes.data + done, bytes.len - done, MSG_NOSIGNAL);
    if (n < 0)
      return;
    done += (gsize)n;
  }
}

GBytes *
raw_client_receive(TideRawClient *client, gsize len)
{
  guint8 *bytes = g_malloc0(len + 1);
  gsize done = 0;
  gssize n = 1;
  while (done < len && n > 0) {
    n = read_socket(client, bytes + done, len - done);
    done += n > 0 ? (gsize)n : 0;
  }
  return g_bytes_new_take(bytes, done);
}

TideFakeWriter *
raw_client_call_begin(TideRawClient *client, const char *name)
{
  fake_writer_message_begin(&client->writer, name, TIDE_FAKE_CALL, ++client->sequence_id);
  fake_writer_struct_begin(&client->writer);
  return &client->writer;
}

void
raw_client_call_end(TideRawClient *client)
{
  fake_writer_struct_end(&client->writer);
  fake_writer_message_end(&client->writer);
  raw_client_send(client, tide_buffer_bytes(&client->writer.out));
}

/* TIOError, TIllegalArgument or TApplicationException: all have the message first. */
static void
read_error(TideFakeReader *reader, TideRawReply *reply)
{
  TideFakeField field = {0};
  while (fake_reader_field(reader, &field)) {
    if (field.id == 1 && field.type == TIDE_FAKE_BINARY)
      g_strlcpy(reply->message, fake_reader_string(reader), sizeof reply->message);
    else if (field.id == 2 && field.type == TIDE_FAKE_BOOL)
      reply->can_retry = fake_reader_bool(reader);
    else if (field.id == 2 && field.type == TIDE_FAKE_I32)
      reply->type = fake_reader_i32(reader);
    else
      fake_reader_skip(reader, field.type);
  }
}

static void
read_cell(TideFakeReader *reader, TideBytes row, GString *text)
{
  TideBytes parts[4] = {0};
  gint64 timestamp_ms = 0;
  TideFakeField field = {0};
  while (fake_reader_field(reader, &field)) {
    if (field.id >= 1 && field.id <= 3 && field.type == TIDE_FAKE_BINARY)
      parts[field.id] = fake_reader_binary(reader);
    else if (field.id == 4 && field.type == TIDE_FAKE_I64)
      timestamp_ms = fake_reader_i64(reader);
    else
      fake_reader_skip(reader, field.type);
  }
  g_string_append_printf(text, "%.*s %.*s:%.*s@%" G_GINT64_FORMAT "=%.*s\n", (int)row.len, row.data, (int)parts[1].len,
                         parts[1].data, (int)parts[2].len, parts[2].data, timestamp_ms, (int)parts[3].len,
                         parts[3].data);
}

/* TResult */
static void
read_row(TideFakeReader *reader, TideRawReply *reply)
{
  TideBytes row = TIDE_BYTES_LITERAL("-");
  TideFakeType element;
  TideFakeField field = {0};
  while (fake_reader_field(reader, &field)) {
    if (field.id == 1 && field.type == TIDE_FAKE_BINARY) {
      row = fake_reader_binary(reader);
      reply->n_rows++;
    } else if (field.id == 2 && field.type == TIDE_FAKE_LIST) {
      guint32 n = fake_reader_list(reader, &element);
      for (guint32 i = 0; i < n && !reader->failed; i++)
        read_cell(reader, row, reply->rows);
    } else {
      fake_reader_skip(reader, field.type);
    }
  }
}

static void
read_result(TideFakeReader *reader, TideFakeType type, TideRawReply *reply)
{
  TideFakeType element = TIDE_FAKE_STOP;
  reply->has_result = TRUE;
  if (type == TIDE_FAKE_BOOL) {
    reply->number = fake_reader_bool(reader);
  } else if (type == TIDE_FAKE_I32) {
    reply->number = fake_reader_i32(reader);
  } else if (type == TIDE_FAKE_STRUCT) {
    read_row(reader, reply);
  } else if (type == TIDE_FAKE_LIST) {
    guint32 n = fake_reader_list(reader, &element);
    for (guint32 i = 0; i < n && !reader->failed; i++)
      read_row(reader, reply);
  } else {
    fake_reader_skip(reader, type);
  }
}

static void
read_reply_struct(TideFakeReader *reader, TideRawReply *reply)
{
  TideFakeField field = {0};
  while (fake_reader_field(reader, &field)) {
    if (field.id == 0) {
      read_result(reader, field.type, reply);
    } else if (field.type == TIDE_FAKE_STRUCT) {
      reply->outcome = field.id == 1 ? RAW_IO_ERROR : RAW_ARGUMENT;
      read_error(reader, reply);
    } else {
      fake_reader_skip(reader, field.type);
    }
  }
}

void
raw_client_reply(TideRawClient *client, TideRawReply *ret_reply)
{
  TideFakeReader *reader = &client->reader;
  TideFakeMessage message;
  *ret_reply = (TideRawReply){.outcome = RAW_OK, .can_retry = -1, .rows = client->rows};
  g_string_truncate(client->rows, 0);
  client->lost = RAW_BROKEN;
  if (fake_reader_message_begin(reader, &message)) {
    g_strlcpy(ret_reply->name, message.name, sizeof ret_reply->name);
    ret_reply->sequence_id = message.sequence_id;
    if (message.type == TIDE_FAKE_EXCEPTION) {
      ret_reply->outcome = RAW_APPLICATION;
      read_error(reader, ret_reply);
    } else {
      read_reply_struct(reader, ret_reply);
    }
  }
  gboolean whole = !reader->failed && !reader->at_end && fake_reader_message_end(reader);
  if (!whole)
    ret_reply->outcome = client->lost;
}

static void
write_cell(TideFakeWriter *writer, const TideRawCell *cell)
{
  fake_writer_struct_begin(writer);
  fake_writer_string_field(writer, 1, "M");
  fake_writer_string_field(writer, 2, cell->qualifier);
  fake_writer_string_field(writer, 3, cell->value);
  fake_writer_i64_field(writer, 4, cell->timestamp_ms);
  fake_writer_struct_end(writer);
}

void
raw_client_send_puts(TideRawClient *client, const char *table, const TideRawCell *cells, guint n_cells)
{
  TideFakeWriter *writer = raw_client_call_begin(client, "putMultiple");
  fake_writer_string_field(writer, 1, table);
  fake_writer_list_field(writer, 2, TIDE_FAKE_STRUCT, n_cells);
  for (guint i = 0; i < n_cells; i++) {
    fake_writer_struct_begin(writer);
    fake_writer_string_field(writer, 1, cells[i].row);
    fake_writer_list_field(writer, 2, TIDE_FAKE_STRUCT, 1);
    write_cell(writer, &cells[i]);
    fake_writer_struct_end(writer);
  }
  raw_client_call_end(client);
}

TideRawOutcome
raw_client_put(TideRawClient *client, const char *table, const char *row, const char *value, gint64 timestamp_ms)
{
  TideRawReply reply;
  raw_client_send_puts(client, table, &(TideRawCell){row, "q", value, timestamp_ms}, 1);
  raw_client_reply(client, &reply);
  return reply.outcome;
}

void
raw_client_get(TideRawClient *client, const char *table, const char *row, TideRawReply *ret_reply)
{
  TideFakeWriter *writer = raw_client_call_begin(client, "get");
  fake_writer_string_field(writer, 1, table);
  fake_writer_struct_field(writer, 2);
  fake_writer_struct_begin(writer);
  fake_writer_string_field(writer, 1, row);
  fake_writer_struct_end(writer);
  raw_client_call_end(client);
  raw_client_reply(client, ret_reply);
}

TideRawOutcome
raw_client_ask_table(TideRawClient *client, const char *call, const char *table, gboolean as_struct,
                     TideRawReply *ret_reply)
{
  TideFakeWriter *writer = raw_client_call_begin(client, call);
  if (as_struct) {
    fake_writer_struct_field(writer, 1);
    fake_writer_struct_begin(writer);
    fake_writer_string_field(writer, 2, table);
    fake_writer_struct_end(writer);
  } else {
    fake_writer_string_field(writer, 1, table);
  }
  raw_client_call_end(client);
  raw_client_reply(client, ret_reply);
  return ret_reply->outcome;
}

TideRawScene
raw_scene_of(TideScriptedGateway *gateway, const TideRawMode *mode)
{
  return (TideRawScene){.gateway = gateway,
                        .client = raw_client_connect(scripted_gateway_port(gateway), mode->framed, mode->compact)};
}

TideRawScene
raw_scene(const TideRawMode *mode)
{
  return raw_scene_of(raw_gateway_new(mode), mode);
}

void
raw_scene_clear(TideRawScene *scene)
{
  raw_client_free(scene->client);
  scripted_gateway_free(scene->gateway);
}

void
raw_assert_dump(TideScriptedGateway *gateway, const char *wanted)
{
  g_autofree char *dump = scripted_gateway_dump(gateway, "T");
  g_assert_cmpstr(dump, ==, wanted);
}

static void
write_columns(TideFakeWriter *writer, const char *qualifier)
{
  fake_writer_list_field(writer, 3, TIDE_FAKE_STRUCT, 1);
  fake_writer_struct_begin(writer);
  fake_writer_string_field(writer, 1, "M");
  fake_writer_string_field(writer, 2, qualifier);
  fake_writer_struct_end(writer);
}

static void
write_scan(TideFakeWriter *writer, const TideRawScan *scan)
{
  fake_writer_struct_begin(writer);
  if (scan->start_row != NULL)
    fake_writer_string_field(writer, 1, scan->start_row);
  if (scan->stop_row != NULL)
    fake_writer_string_field(writer, 2, scan->stop_row);
  if (scan->qualifier != NULL)
    write_columns(writer, scan->qualifier);
  if (scan->max_versions != 0)
    fake_writer_i32_field(writer, 5, scan->max_versions);
  if (scan->max_time_ms != 0) {
    fake_writer_struct_field(writer, 6);
    fake_writer_struct_begin(writer);
    fake_writer_i64_field(writer, 1, scan->min_time_ms);
    fake_writer_i64_field(writer, 2, scan->max_time_ms);
    fake_writer_struct_end(writer);
  }
  if (scan->reversed)
    fake_writer_bool_field(writer, 11, TRUE);
  if (scan->limit_rows != 0)
    fake_writer_i32_field(writer, 15, scan->limit_rows);
  fake_writer_struct_end(writer);
}

gint32
raw_client_open_scanner(TideRawClient *client, const char *table, const TideRawScan *scan)
{
  TideRawReply reply;
  TideFakeWriter *writer = raw_client_call_begin(client, "openScanner");
  fake_writer_string_field(writer, 1, table);
  fake_writer_struct_field(writer, 2);
  write_scan(writer, scan);
  raw_client_call_end(client);
  raw_client_reply(client, &reply);
  g_assert_cmpint(reply.outcome, ==, RAW_OK);
  return (gint32)reply.number;
}

void
raw_client_scanner_rows(TideRawClient *client, gint32 scanner, gint32 n_rows, TideRawReply *ret_reply)
{
  TideFakeWriter *writer = raw_client_call_begin(client, "getScannerRows");
  fake_writer_i32_field(writer, 1, scanner);
  fake_writer_i32_field(writer, 2, n_rows);
  raw_client_call_end(client);
  raw_client_reply(client, ret_reply);
}

void
raw_client_close_scanner(TideRawClient *client, gint32 scanner, TideRawReply *ret_reply)
{
  TideFakeWriter *writer = raw_client_call_begin(client, "closeScanner");
  fake_writer_i32_field(writer, 1, scanner);
  raw_client_call_end(client);
  raw_client_reply(client, ret_reply);
}
