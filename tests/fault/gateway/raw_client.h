/* A client that sends bytes as given, or puts without waiting for their reply. Nothing of thrift/ is in it. */
#pragma once

#include "fault/gateway/fake_wire.h"
#include "fault/gateway/scripted_gateway.h"

G_BEGIN_DECLS

typedef struct TideRawClient TideRawClient;

TideRawClient *raw_client_connect(guint16 port, gboolean framed, gboolean compact); /* aborts when refused */
void raw_client_free(TideRawClient *client);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideRawClient, raw_client_free)

void raw_client_send(TideRawClient *client, TideBytes bytes); /* a peer that is gone is no error here */
/* Exactly @len bytes, or fewer at the end of the stream or after ten seconds. Ownership: (transfer full). */
GBytes *raw_client_receive(TideRawClient *client, gsize len);

/* A cell of family "M". */
typedef struct TideRawCell {
  const char *row;
  const char *qualifier;
  const char *value;
  gint64 timestamp_ms;
} TideRawCell;

void raw_client_send_puts(TideRawClient *client, const char *table, const TideRawCell *cells, guint n_cells);

G_END_DECLS
