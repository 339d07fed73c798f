/* The gateways and their probers, against a gateway that answers when it is let. */
#include "gateway/gateways.h"
#include "thrift/client/hbase_client.h"
#include "unit/loopback_server.h"
#include "unit/probe_replies.h"

/* Answers a probe when it is let, by eventfds. */
typedef struct SlowGateway {
  int asked_fd, let_fd;
} SlowGateway;

static void
serve(LoopbackServer *server, int fd, guint connection)
{
  const SlowGateway *gateway = server->data;
  g_auto(TideBuffer) call = {0};
  if (!loopback_read_more(server, fd, &call))
    return;
  g_assert_cmpint(eventfd_write(gateway->asked_fd, 1), ==, 0);
  if (loopback_wait_readable(server, gateway->let_fd, -1))
    loopback_send(fd, TYPE_REPLY, sizeof TYPE_REPLY - 1);
  if (loopback_read_more(server, fd, &call))
    loopback_send(fd, CLUSTER_REPLY, sizeof CLUSTER_REPLY - 1);
  loopback_wait_closed(server, fd);
}

/* Nothing becomes of it, though it answers. */
static void
test_removed_while_it_is_probed(void)
{
  SlowGateway slow = {eventfd(0, EFD_CLOEXEC), eventfd(0, EFD_CLOEXEC)};
  LoopbackServer *server = loopback_start(serve, &slow);
  g_autoptr(TideEndpoint) other = tide_endpoint_parse("127.0.0.1:1", NULL);
  g_autoptr(GPtrArray) all = g_ptr_array_new(), left = g_ptr_array_new();
  g_ptr_array_add(all, server->endpoint);
  g_ptr_array_add(all, other);
  g_ptr_array_add(left, other);
  TideHBaseConfig config = {.gateways = all, .framing = TIDE_FRAMING_UNFRAMED, .protocol = TIDE_WIRE_BINARY};
  TideMetrics *metrics = tide_metrics_new();
  TideGateways *gateways = tide_gateways_new(&config, metrics);
  tide_gateways_start(gateways);
  eventfd_t one;
  g_assert_cmpint(eventfd_read(slow.asked_fd, &one), ==, 0);
  config.gateways = left;
  tide_gateways_take_list(gateways);
  g_assert_cmpint(eventfd_write(slow.let_fd, 1), ==, 0);
  loopback_await_hang_up(server); /* the probe has its answer, and closes */
  tide_gateways_stop(gateways);   /* when it is done with it */
  g_assert_cmpuint(tide_gateways_n_up(gateways), ==, 0);
  g_assert_cmpuint(tide_gateways_n(gateways), ==, 1);
  tide_gateways_free(gateways);
  tide_metrics_free(metrics);
  loopback_stop(server);
  close(slow.asked_fd);
  close(slow.let_fd);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  tide_hbase_client_init_types();
  g_test_add_func("/gateways/removed-while-it-is-probed", test_removed_while_it_is_probed);
  return g_test_run();
}
