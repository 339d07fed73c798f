#include "fault/gateway/raw_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define TIMEOUT_MS 10000 /* far beyond what any step takes: only a failure waits so long */

struct TideRawClient {
  int fd;
  gint32 sequence_id;
  TideFakeWriter writer;
};

TideRawClient *
raw_client_connect(guint16 port, gboolean framed, gboolean compact)
{
  TideRawClient *client = g_new0(TideRawClient, 1);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(client->fd, (const struct sockaddr *)&address, sizeof address) != 0)
    g_error("cannot connect to port %u: %s", port, g_strerror(errno));
  fake_writer_init(&client->writer, framed, compact);
  return client;
}

void
raw_client_free(TideRawClient *client)
{
  if (client == NULL)
    return;
  close(client->fd);
  fake_writer_clear(&client->writer);
  g_free(client);
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
  struct pollfd wait = {.fd = client->fd, .events = POLLIN};
  gsize done = 0;
  for (gssize n = 1; done < len && n > 0; done += n > 0 ? (gsize)n : 0)
    n = poll(&wait, 1, TIMEOUT_MS) > 0 ? recv(client->fd, bytes + done, len - done, 0) : -1;
  return g_bytes_new_take(bytes, done);
}

void
raw_client_send_puts(TideRawClient *client, const char *table, const TideRawCell *cells, guint n_cells)
{
  TideFakeWriter *writer = &client->writer;
  fake_writer_message_begin(writer, "putMultiple", TIDE_FAKE_CALL, ++client->sequence_id);
  fake_writer_struct_begin(writer);
  fake_writer_string_field(writer, 1, table);
  fake_writer_list_field(writer, 2, TIDE_FAKE_STRUCT, n_cells);
  for (guint i = 0; i < n_cells; i++) {
    fake_writer_struct_begin(writer);
    fake_writer_string_field(writer, 1, cells[i].row);
    fake_writer_list_field(writer, 2, TIDE_FAKE_STRUCT, 1);
    fake_writer_struct_begin(writer);
    fake_writer_string_field(writer, 1, "M");
    fake_writer_string_field(writer, 2, cells[i].qualifier);
    fake_writer_string_field(writer, 3, cells[i].value);
    fake_writer_i64_field(writer, 4, cells[i].timestamp_ms);
    fake_writer_struct_end(writer);
    fake_writer_struct_end(writer);
  }
  fake_writer_struct_end(writer);
  fake_writer_message_end(writer);
  raw_client_send(client, tide_buffer_bytes(&writer->out));
}
