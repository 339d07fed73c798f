/* The SASL negotiation of HBase's gateway, the client's side of it: bytes in, bytes out, no socket and no clock.
 *
 * Each message is a status of one byte, a length of four, and a payload. We begin with START "GSSAPI" and, at once, OK
 * with the first token; the gateway answers OK with its own, which proves who it is; then it offers protection layers,
 * we choose one, and it says COMPLETE. Nothing that the peer says is believed before the mechanism has verified it: no
 * COMPLETE before the layer was chosen, no layer that the mechanism cannot keep. Messages are bounded in size and
 * number. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* A token with all that a directory server puts into a ticket; the gateway's are a hundred bytes. */
#define TIDE_SASL_MESSAGE_MAX_BYTES (64u << 10)

/* What is done to each message after the negotiation. The values are the bits of the offer. */
typedef enum TideSaslLayer {
  TIDE_SASL_AUTO = 0, /* as a wish: the strongest that is offered */
  TIDE_SASL_AUTH = 1,
  TIDE_SASL_AUTH_INT = 2,
  TIDE_SASL_AUTH_CONF = 4,
} TideSaslLayer;

const char *tide_sasl_layer_name(TideSaslLayer layer); /* "auto", "auth", "auth-int", "auth-conf" */
/* FALSE when @text is none of these names. */
gboolean tide_sasl_layer_parse(const char *text, TideSaslLayer *ret_layer) G_GNUC_WARN_UNUSED_RESULT;

/* What the mechanism does: Kerberos's in gss_context.h. Each fails with a GError whose text is a whole sentence. */
typedef struct TideSaslMechanism {
  /* Takes the peer's token; appends ours, if there is one, to @out. @ret_complete: both sides are proven. */
  gboolean (*step)(gpointer context, TideBytes token, TideBuffer *out, gboolean *ret_complete, GError **error);
  /* The layers that the mechanism has keys for: bits of TideSaslLayer. */
  guint (*layers)(gpointer context);
  /* Appends @parts, joined and wrapped, to @out. */
  gboolean (*wrap)(gpointer context, gboolean encrypt, const TideBytes *parts, gsize n_parts, TideBuffer *out,
                   GError **error);
  /* Unwraps in place. @encrypted: fails unless it was. @ret_plain: within @token. */
  gboolean (*unwrap)(gpointer context, gboolean encrypted, guint8 *token, gsize len, TideBytes *ret_plain,
                     GError **error);
} TideSaslMechanism;

typedef struct TideSaslNegotiation {
  /* set before use */
  const TideSaslMechanism *mechanism;
  gpointer context;     /* borrowed; the mechanism's */
  TideSaslLayer wanted; /* AUTO: the strongest that is offered */
  const char *peer;     /* borrowed; for error texts */
  const char *target;   /* borrowed; the principal that the gateway should have, for error texts */
  /* as it goes on */
  gboolean is_proven;  /* the mechanism is complete */
  gboolean has_chosen; /* the layer was told to the gateway */
  gboolean is_refused; /* the gateway has refused what came before it was proven: our ticket */
  guint n_tokens;      /* of the gateway */
  TideSaslLayer layer; /* what was chosen; valid once the negotiation has ended */
} TideSaslNegotiation;

typedef enum TideSaslStatus {
  TIDE_SASL_MORE,   /* the message is not whole yet; nothing was used */
  TIDE_SASL_GO_ON,  /* a message was used; send what was appended, and read on */
  TIDE_SASL_DONE,   /* the layer is in force from the next byte on */
  TIDE_SASL_FAILED, /* close the connection */
} TideSaslStatus;

/* Appends the opening to @out. @token: the mechanism's first. */
void tide_sasl_negotiation_start(TideSaslNegotiation *negotiation, TideBytes token, TideBuffer *out);

/**
 * tide_sasl_negotiation_feed: take the gateway's next message.
 * @received: all that was received and not used; changed in place
 * @ret_used: how many bytes of it are done with
 * @out: what is to be sent is appended
 * Errors: WRONG_SERVICE when it is no SASL gateway; CONNECT for all else. Whole sentences, with what to do.
 */
TideSaslStatus tide_sasl_negotiation_feed(TideSaslNegotiation *negotiation, guint8 *received, gsize len,
                                          gsize *ret_used, TideBuffer *out, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* ---- what the peer's answer, or its silence, means, and what the operator can do about it ---- */

/* Nothing came in answer, for @waited_ms or until the peer closed (-1). Sets CONNECT: a gateway that hangs or restarts
 * does the same. */
void tide_sasl_set_silent(const char *peer, gint64 waited_ms, GError **error);

/* What a gateway with SASL answers at once, where it is silent to all else of a plain client: the wish for a mechanism
 * that there is not. */
#define TIDE_SASL_QUESTION TIDE_BYTES_LITERAL("\1\0\0\0\1?")

/* TRUE, and WRONG_SERVICE, when @begun is its answer. */
gboolean tide_sasl_is_answer(const char *peer, TideBytes begun, GError **error);

G_END_DECLS
