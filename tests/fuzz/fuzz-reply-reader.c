/* Replies of a hostile gateway. The first byte chooses the protocol (bit 0) and the reader (the rest); what follows is
 * the message. Beside reading it, the scanner that finds its end must say the same however the bytes arrive. */
#include "thrift/wire/reply_reader.h"
#include "thrift/wire/wire_reader.h"

#include <stdint.h>

#define SEQUENCE_ID 1

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static gboolean
touch_row(const TideResultRow *row, gpointer data)
{
  guint *sum = data;
  for (gsize i = 0; i < row->n_cells; i++) {
    const TideResultCell *cell = &row->cells[i];
    const TideBytes parts[] = {row->row, cell->family, cell->qualifier, cell->value};
    for (gsize p = 0; p < G_N_ELEMENTS(parts); p++)
      *sum += parts[p].len > 0 ? (guint)parts[p].data[0] + parts[p].data[parts[p].len - 1] : 0;
  }
  return *sum % 7 != 3; /* some stop early */
}

static gboolean
read_rows(TideReply *reply, gboolean many)
{
  g_autoptr(GArray) cells = g_array_new(FALSE, FALSE, sizeof(TideResultCell));
  guint sum = 0;
  guint32 results;
  TideRowSink sink = {.cells = cells, .func = touch_row, .data = &sum};
  reply->method = many ? "getScannerRows" : "get";
  g_autoptr(GError) error = NULL;
  gboolean read =
      many ? tide_reply_read_rows(reply, &sink, &results, &error) : tide_reply_read_row(reply, &sink, &error);
  g_assert(read == (error == NULL));
  return read;
}

static gboolean
read_regions(TideReply *reply)
{
  reply->method = "getAllRegionLocations";
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) regions = tide_reply_read_regions(reply, &error);
  g_assert((regions == NULL) == (error != NULL));
  return regions != NULL;
}

static gboolean
read_description(TideReply *reply)
{
  reply->method = "getTableDescriptor";
  g_autoptr(GError) error = NULL;
  g_autoptr(TideTableDescription) description = tide_reply_read_description(reply, &error);
  g_assert((description == NULL) == (error != NULL));
  return description != NULL;
}

static gboolean
read_with(TideReply *reply, guint reader)
{
  gboolean flag;
  gint32 number;
  switch (reader % 8) {
  case 0:
    reply->method = "putMultiple";
    return tide_reply_read_void(reply, NULL);
  case 1:
    reply->method = "tableExists";
    return tide_reply_read_bool(reply, &flag, NULL);
  case 2:
    reply->method = "openScanner";
    return tide_reply_read_i32(reply, &number, NULL);
  case 3:
    reply->method = "listNamespaces";
    return tide_reply_read_names(reply, "default", &flag, NULL);
  case 4:
  case 5:
    return read_rows(reply, reader % 2 == 0);
  case 6:
    return read_regions(reply);
  default:
    return read_description(reply);
  }
}

static TideWireStatus
scan(TideWireProtocol protocol, TideBytes message, gsize step, gsize *ret_offset)
{
  TideMessageScanner scanner;
  tide_message_scanner_init(&scanner, protocol, message.len);
  TideWireStatus status = TIDE_WIRE_SHORT;
  for (gsize have = MIN(step, message.len); status == TIDE_WIRE_SHORT; have = MIN(have + step, message.len)) {
    status = tide_message_scanner_feed(&scanner, tide_bytes(message.data, have));
    if (have == message.len)
      break;
  }
  *ret_offset = scanner.offset;
  return status;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size < 1)
    return 0;
  TideWireProtocol protocol = (data[0] & 1) != 0 ? TIDE_WIRE_COMPACT : TIDE_WIRE_BINARY;
  TideBytes message = tide_bytes(data + 1, size - 1);
  TideReply reply = {.protocol = protocol, .sequence_id = SEQUENCE_ID, .message = message};
  gboolean understood = read_with(&reply, data[0] >> 1);

  gsize whole_offset, pieces_offset;
  TideWireStatus whole = scan(protocol, message, MAX(message.len, 1), &whole_offset);
  TideWireStatus pieces = scan(protocol, message, 1 + data[0] % 5, &pieces_offset);
  g_assert(whole == pieces);
  if (whole == TIDE_WIRE_OK)
    g_assert(whole_offset == pieces_offset);
  /* What a reader takes is a whole message; only the depth is counted from further out by the scanner. */
  if (understood && whole == TIDE_WIRE_OK)
    g_assert(whole_offset == message.len);
  else if (understood)
    g_assert(whole == TIDE_WIRE_BAD);
  return 0;
}
