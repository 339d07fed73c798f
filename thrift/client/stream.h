/* The bytes of a connection under one deadline; messages are sent and received over it. A kind is a table of functions,
 * chosen once per gateway by its endpoint's scheme; users of a stream do not know its kind.
 *
 * Every wait gets the time left until the call's deadline, which also ends a peer that sends a byte a second. Threads:
 * one at a time. */
#pragma once

#include "thrift/client/endpoint.h"
#include "util/clock.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* The limits of one call; every error text names the peer and the milliseconds since started_us. */
typedef struct TideCallLimits {
  const char *peer; /* borrowed: the endpoint's text */
  gint64 started_us;
  gint64 deadline_us;
  GCancellable *cancellable; /* borrowed; may be NULL */
} TideCallLimits;

static inline gint64
tide_call_elapsed_ms(const TideCallLimits *limits)
{
  return (tide_now_us() - limits->started_us) / TIDE_US_PER_MS;
}

typedef struct TideStream TideStream;

struct TideStreamKind {
  const char *name; /* "TCP", for messages */

  /* Connects to the endpoint and prepares the stream for the first byte of a message. (transfer full) Errors: CONNECT,
   * also when the deadline passed: no message was sent; WRONG_SERVICE: the peer or its configuration must be changed;
   * CANCELLED. */
  TideStream *(*open)(const TideEndpoint *endpoint, const TideCallLimits *limits, GError **error);

  /* Sends all of @vectors; changes @vectors. Errors: TIMEOUT, CONNECTION_LOST, CANCELLED: an unknown part was sent;
   * WRONG_SERVICE: the peer has not accepted it. */
  gboolean (*send)(TideStream *stream, GOutputVector *vectors, gsize n_vectors, const TideCallLimits *limits,
                   GError **error);

  /* Waits for bytes and reads those available, up to @size. 0 on error: TIMEOUT, CONNECTION_LOST (also when the peer
   * closed), CANCELLED; WRONG_SERVICE: the peer has not accepted what was sent. */
  gsize (*receive)(TideStream *stream, guint8 *buffer, gsize size, const TideCallLimits *limits, GError **error);

  /* TRUE when the connection is up and no bytes wait to be read. Anything else is an error between two calls. */
  gboolean (*is_quiet)(TideStream *stream);

  void (*free)(TideStream *stream); /* closes */
};

/* Expiry of certificates, in seconds since the epoch; 0: no certificate. */
typedef struct TideCertificateEnds {
  gint64 peer_s;
  gint64 own_s;
} TideCertificateEnds;

/* Every kind's stream begins with this. */
struct TideStream {
  const TideStreamKind *kind;
  TideCertificateEnds ends;
};

static inline TideStream *G_GNUC_WARN_UNUSED_RESULT
tide_stream_open(const TideEndpoint *endpoint, const TideCallLimits *limits, GError **error)
{
  return endpoint->stream->open(endpoint, limits, error);
}

static inline gboolean G_GNUC_WARN_UNUSED_RESULT
tide_stream_send(TideStream *stream, GOutputVector *vectors, gsize n_vectors, const TideCallLimits *limits,
                 GError **error)
{
  return stream->kind->send(stream, vectors, n_vectors, limits, error);
}

static inline gsize G_GNUC_WARN_UNUSED_RESULT
tide_stream_receive(TideStream *stream, guint8 *buffer, gsize size, const TideCallLimits *limits, GError **error)
{
  return stream->kind->receive(stream, buffer, size, limits, error);
}

static inline gboolean
tide_stream_is_quiet(TideStream *stream)
{
  return stream->kind->is_quiet(stream);
}

static inline void
tide_stream_free(TideStream *stream) /* NULL ok */
{
  if (stream != NULL)
    stream->kind->free(stream);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideStream, tide_stream_free)

G_END_DECLS
