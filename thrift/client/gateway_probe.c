#include "thrift/client/gateway_probe.h"

#include "thrift/client/client_call.h"
#include "thrift/client/connection.h"
#include "thrift/client/socket_stream.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/lock.h"

#include <stdatomic.h>

/* The gateway's default comes first. Gateways in another mode close unframed connections at once, because the first
 * bytes are a negative frame length or no protocol id. */
static const TideWireMode modes[] = {
    {TIDE_FRAMING_UNFRAMED, TIDE_WIRE_BINARY},
    {TIDE_FRAMING_FRAMED, TIDE_WIRE_BINARY},
    {TIDE_FRAMING_UNFRAMED, TIDE_WIRE_COMPACT},
    {TIDE_FRAMING_FRAMED, TIDE_WIRE_COMPACT},
};

/* Once the mode is known, requests that need HBase get the probe timeout times this. A newly started gateway connects
 * to HBase for the first request. */
#define HBASE_PATIENCE 10

typedef struct Probe {
  const TideEndpoint *endpoint;
  gint64 timeout_ms;
  GCancellable *cancellable; /* the probe's own; follows the caller's */
  TideMutex lock;     /* held while the caller's cancellation is passed on: orders the threads for tools that do not see
                       * GLib's locks */
  gboolean timed_out; /* in at least one mode there was no answer */
  gboolean answered;  /* in at least one mode there were bytes, but no Thrift */
  TideGatewayFacts facts; /* of the detected mode */
} Probe;

static gboolean
refuse_thrift1(const Probe *probe, GError **error)
{
  return tide_fail(error, TIDE_ERROR_WRONG_SERVICE,
                   "gateway '%s' is a thrift1 gateway; start a thrift2 gateway beside it on its own ports ('hbase "
                   "thrift2 start -p 9091 --infoport 9096') and configure that port",
                   probe->endpoint->text);
}

/* The gateway answered with an error. */
static gboolean
is_refusal(const GError *failure)
{
  return g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_GATEWAY) ||
         g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_APPLICATION);
}

static gint64
hbase_deadline_us(const Probe *probe)
{
  return tide_now_us() + HBASE_PATIENCE * probe->timeout_ms * TIDE_US_PER_MS;
}

static gboolean
ask_exists(const Probe *probe, TideHBaseClient *client, GError **error)
{
  g_autoptr(GError) failure = NULL;
  if (tide_client_try_exists(client, hbase_deadline_us(probe), &failure) || is_refusal(failure))
    return TRUE;
  if (tide_client_is_unknown_call(client, failure)) /* thrift1 has no `exists` */
    return refuse_thrift1(probe, error);
  g_propagate_error(error, g_steal_pointer(&failure));
  return FALSE;
}

static gboolean
ask_type(const Probe *probe, TideHBaseClient *client, GError **error)
{
  gint64 deadline_us = tide_now_us() + probe->timeout_ms * TIDE_US_PER_MS;
  gint32 type = 0;
  g_autoptr(GError) failure = NULL;
  if (tide_client_server_type(client, deadline_us, &type, &failure))
    return type == HBASE_T_THRIFT_SERVER_TYPE_TWO || refuse_thrift1(probe, error);
  if (tide_client_is_unknown_call(client, failure) || is_refusal(failure)) /* an older gateway has no such call */
    return ask_exists(probe, client, error);
  g_propagate_error(error, g_steal_pointer(&failure));
  return FALSE;
}

static gboolean
probe_mode(Probe *probe, TideWireMode mode, GError **error)
{
  g_autoptr(TideHBaseClient) client = tide_client_new_cancelled_by(probe->endpoint, mode, probe->cancellable);
  if (!ask_type(probe, client, error) ||
      !tide_client_cluster(client, hbase_deadline_us(probe), &probe->facts.cluster, error))
    return FALSE;
  probe->facts.link = tide_hbase_client_describe_link(client);
  if (tide_hbase_client_is_open(client))
    probe->facts.ends = tide_hbase_client_certificate_ends(client);
  return TRUE;
}

/* Sends one request in another service's protocol; TRUE, with the error set, if the answer is in that protocol, too. */
static gboolean
understands(const Probe *probe, TideBytes question, GError **error)
{
  gint64 now_us = tide_now_us();
  TideCallLimits limits = {
      .peer = probe->endpoint->text,
      .started_us = now_us,
      .deadline_us = now_us + probe->timeout_ms * TIDE_US_PER_MS,
      .cancellable = probe->cancellable,
  };
  g_autoptr(TideStream) stream = tide_stream_open(probe->endpoint, &limits, NULL);
  GOutputVector vector = {question.data, question.len};
  if (stream == NULL || !tide_stream_send(stream, &vector, 1, &limits, NULL))
    return FALSE;
  guint8 answer[16];
  gsize len = tide_stream_receive(stream, answer, sizeof answer, &limits, NULL);
  TideBytes begun = tide_bytes(answer, len);
  return tide_sasl_is_answer(probe->endpoint->text, begun, error) ||
         tide_service_is_foreign(probe->endpoint, begun, error);
}

/* Explains why no mode was understood. Always fails. */
static gboolean
explain_failure(const Probe *probe, GError **error)
{
  /* Some services do not answer Thrift's bytes, or close: a SASL gateway waits for a SASL message, a web server for the
   * end of a line, and OpenSSL sends alerts only after bytes that begin like TLS. */
  static const guint8 empty_client_hello[] = {0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0};
  if ((probe->timed_out && understands(probe, TIDE_SASL_QUESTION, error)) ||
      understands(probe, TIDE_BYTES_LITERAL("GET / HTTP/1.0\r\n\r\n"), error) ||
      understands(probe, tide_bytes(empty_client_hello, sizeof empty_client_hello), error))
    return FALSE;
  const char *peer = probe->endpoint->text;
  if (g_cancellable_is_cancelled(probe->cancellable))
    return tide_fail(error, TIDE_ERROR_CANCELLED, "the probe of gateway '%s' was cancelled", peer);
  if (probe->answered)
    return tide_fail(error, TIDE_ERROR_WRONG_SERVICE, "'%s' answers, but not in Thrift: it is another service's port",
                     peer);
  if (probe->timed_out)
    return tide_fail(error, TIDE_ERROR_TIMEOUT,
                     "gateway '%s' accepts connections but did not answer within %" G_GINT64_FORMAT " ms", peer,
                     probe->timeout_ms);
  return tide_fail(error, TIDE_ERROR_CONNECT,
                   "'%s' accepts connections but closes them in every mode of Thrift: it is not an HBase Thrift "
                   "gateway, or a proxy without a running gateway",
                   peer);
}

/* Tries the modes that match @request, or, if not @requested, the others. Returns: TRUE when one was understood, or the
 * answer is final. */
static gboolean
probe_modes(Probe *probe, TideProbeRequest request, gboolean requested, TideWireMode *ret_mode, GError **ret_final)
{
  for (gsize i = 0; i < G_N_ELEMENTS(modes); i++) {
    gboolean is_requested = (request.framing < 0 || request.framing == (int)modes[i].framing) &&
                            (request.protocol < 0 || request.protocol == (int)modes[i].protocol);
    /* SASL has only its own framing. */
    gboolean is_possible = modes[i].framing == TIDE_FRAMING_UNFRAMED || !tide_endpoint_has_sasl(probe->endpoint);
    if (is_requested != requested || !is_possible)
      continue;
    g_autoptr(GError) failure = NULL;
    if (probe_mode(probe, modes[i], &failure)) {
      *ret_mode = modes[i];
      return TRUE;
    }
    if (g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_TIMEOUT)) {
      probe->timed_out = TRUE;
    } else if (g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_PROTOCOL)) {
      probe->answered = TRUE;
    } else if (!g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST)) {
      *ret_final = g_steal_pointer(&failure); /* holds for all modes */
      return TRUE;
    }
  }
  return FALSE;
}

/* Over HTTP there is only one mode, which may use the time of all modes: a TLS handshake and a ticket come first. */
static gboolean
probe_http(Probe *probe, TideProbeRequest request, TideWireMode *ret_mode, GError **error)
{
  *ret_mode = (TideWireMode){TIDE_FRAMING_UNFRAMED, TIDE_WIRE_BINARY};
  if (request.protocol == TIDE_WIRE_COMPACT)
    return tide_fail(error, TIDE_ERROR_WRONG_SERVICE,
                     "gateway '%s' uses HTTP and therefore the binary protocol, but 'hbase.transport' demands compact",
                     probe->endpoint->text);
  probe->timeout_ms *= (gint64)G_N_ELEMENTS(modes);
  GError *failure = NULL;
  if (probe_mode(probe, *ret_mode, &failure))
    return TRUE;
  if (g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_PROTOCOL))
    failure->code = TIDE_ERROR_WRONG_SERVICE;
  else if (g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_SERVER_FAILED))
    failure->code = TIDE_ERROR_CONNECT; /* perhaps a proxy whose gateway is restarting: not a persistent error */
  else if (g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_CONNECTION_LOST)) {
    failure->code = TIDE_ERROR_CONNECT;
    g_prefix_error(&failure,
                   "it closes HTTP connections, like a gateway set to plain Thrift or one that expects TLS: ");
  } else if (g_error_matches(failure, TIDE_ERROR, TIDE_ERROR_TIMEOUT))
    g_prefix_error(&failure, "it does not answer HTTP, like a gateway that requires Kerberos by SASL ('hbase.sasl'): ");
  g_propagate_error(error, failure);
  return FALSE;
}

/* "framed-binary", as in hbase.transport; a part that is not fixed is "any". (transfer full) */
static char *
transport_name(int framing, int protocol)
{
  return g_strdup_printf("%s-%s", framing >= 0 ? tide_framing_name((TideFraming)framing) : "any",
                         protocol >= 0 ? tide_wire_protocol_name((TideWireProtocol)protocol) : "any");
}

static gboolean
find_mode(Probe *probe, TideProbeRequest request, TideWireMode *ret_mode, GError **error)
{
  if (probe->endpoint->messages == &tide_http_messages)
    return probe_http(probe, request, ret_mode, error);
  TideWireMode mode;
  g_autoptr(GError) final = NULL;
  gboolean as_requested = probe_modes(probe, request, TRUE, &mode, &final);
  if (!as_requested && !probe_modes(probe, request, FALSE, &mode, &final))
    return explain_failure(probe, error);
  if (final != NULL) {
    g_propagate_error(error, g_steal_pointer(&final));
    return FALSE;
  }
  if (!as_requested) {
    g_autofree char *spoken = transport_name((int)mode.framing, (int)mode.protocol);
    g_autofree char *wanted = transport_name(request.framing, request.protocol);
    return tide_fail(error, TIDE_ERROR_WRONG_SERVICE,
                     "gateway '%s' speaks %s %s Thrift, but 'hbase.transport' demands %s: set it to auto or %s",
                     probe->endpoint->text, tide_framing_name(mode.framing), tide_wire_protocol_name(mode.protocol),
                     wanted, spoken);
  }
  *ret_mode = mode;
  return TRUE;
}

/* @data: (_Atomic(Probe *) *): an atomic, because the lock cannot order writes made before it was initialised. */
static void
pass_on_cancel(GCancellable *cancellable, gpointer data)
{
  Probe *probe = atomic_load_explicit((_Atomic(Probe *) *)data, memory_order_acquire);
  tide_mutex_lock(&probe->lock);
  g_cancellable_cancel(probe->cancellable);
  tide_mutex_unlock(&probe->lock);
}

void
tide_gateway_facts_clear(TideGatewayFacts *facts)
{
  g_clear_pointer(&facts->link, g_free);
  g_clear_pointer(&facts->cluster, g_free);
}

gboolean
tide_gateway_probe(const TideEndpoint *endpoint, TideProbeRequest request, gint64 probe_timeout_ms,
                   GCancellable *cancellable, TideWireMode *ret_mode, TideGatewayFacts *ret_facts, GError **error)
{
  if (!tide_socket_check_descriptors(error))
    return FALSE;
  g_autoptr(GCancellable) own = g_cancellable_new();
  Probe probe = {.endpoint = endpoint, .timeout_ms = probe_timeout_ms, .cancellable = own};
  GPollFD cancel_fd;
  gboolean holds_fd = g_cancellable_make_pollfd(own, &cancel_fd); /* kept open until no thread can cancel any more */
  tide_mutex_init(&probe.lock);
  _Atomic(Probe *) published;
  atomic_store_explicit(&published, &probe, memory_order_release);
  gulong handler = 0;
  if (cancellable != NULL)
    handler = g_cancellable_connect(cancellable, G_CALLBACK(pass_on_cancel), (gpointer)&published, NULL);

  gboolean found = find_mode(&probe, request, ret_mode, error);

  if (cancellable != NULL)
    g_cancellable_disconnect(cancellable, handler); /* waits for a running pass_on_cancel() */
  tide_mutex_lock(&probe.lock);
  if (holds_fd)
    g_cancellable_release_fd(own);
  tide_mutex_unlock(&probe.lock);
  tide_mutex_clear(&probe.lock);
  if (ret_facts != NULL)
    *ret_facts = probe.facts;
  else
    tide_gateway_facts_clear(&probe.facts);
  return found;
}
