/* The client's side of the SASL negotiation with HBase's gateway: bytes in, bytes out, no socket and no clock.
 *
 * Each message has a status of one byte, a length of four, and a payload. The client sends START "GSSAPI" and, at once,
 * OK with the first token. The gateway answers OK with its own token, which proves its identity, then offers layers of
 * protection; the client chooses one, and the gateway sends COMPLETE. Nothing is trusted before the mechanism has
 * verified it: no COMPLETE before a layer was chosen, and no layer without keys. Messages are bounded in size and
 * number. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* Room for a token with everything that a directory server puts into a ticket; the gateway's tokens are a hundred
 * bytes. */
#define TIDE_SASL_MESSAGE_MAX_BYTES (64u << 10)

/* The protection of each message after the negotiation. The values are the bits of the offer. */
typedef enum TideSaslLayer {
  TIDE_SASL_AUTO = 0, /* as a request: the strongest that is offered */
  TIDE_SASL_AUTH = 1,
  TIDE_SASL_AUTH_INT = 2,
  TIDE_SASL_AUTH_CONF = 4,
} TideSaslLayer;

const char *tide_sasl_layer_name(TideSaslLayer layer); /* "auto", "auth", "auth-int", "auth-conf" */
/* FALSE when @text is none of these names. */
gboolean tide_sasl_layer_parse(const char *text, TideSaslLayer *ret_layer) G_GNUC_WARN_UNUSED_RESULT;

/* The functions of the mechanism; Kerberos's are in gss_context.h. Each fails with a GError whose text is a whole
 * sentence. */
typedef struct TideSaslMechanism {
  /* Processes the peer's token; appends the next own one, if any, to @out. @ret_complete: both are authenticated. */
  gboolean (*step)(gpointer context, TideBytes token, TideBuffer *out, gboolean *ret_complete, GError **error);
  /* The layers for which the mechanism has keys: bits of TideSaslLayer. */
  guint (*layers)(gpointer context);
  /* Appends @parts, joined and wrapped, to @out. */
  gboolean (*wrap)(gpointer context, gboolean encrypt, const TideBytes *parts, gsize n_parts, TideBuffer *out,
                   GError **error);
  /* Unwraps in place. @encrypted: fails unless the token is encrypted. @ret_plain: within @token. */
  gboolean (*unwrap)(gpointer context, gboolean encrypted, guint8 *token, gsize len, TideBytes *ret_plain,
                     GError **error);
} TideSaslMechanism;

typedef struct TideSaslNegotiation {
  /* set before use */
  const TideSaslMechanism *mechanism;
  gpointer context;     /* borrowed; the mechanism's */
  TideSaslLayer wanted; /* AUTO: the strongest that is offered */
  const char *peer;     /* borrowed; for error texts */
  const char *target;   /* borrowed; the gateway's expected principal, for error texts */
  /* progress */
  gboolean is_proven;  /* the mechanism is complete */
  gboolean has_chosen; /* the layer was sent to the gateway */
  gboolean is_refused; /* the gateway refused our ticket, before its identity was proven */
  guint n_tokens;      /* from the gateway */
  TideSaslLayer layer; /* the chosen layer; valid once the negotiation has ended */
} TideSaslNegotiation;

typedef enum TideSaslStatus {
  TIDE_SASL_MORE,   /* the message is incomplete; nothing was consumed */
  TIDE_SASL_GO_ON,  /* a message was consumed; send the appended bytes, and read on */
  TIDE_SASL_DONE,   /* the layer is in force from the next byte on */
  TIDE_SASL_FAILED, /* close the connection */
} TideSaslStatus;

/* Appends the opening messages to @out. @token: the mechanism's first. */
void tide_sasl_negotiation_start(TideSaslNegotiation *negotiation, TideBytes token, TideBuffer *out);

/**
 * tide_sasl_negotiation_feed: process the gateway's next message.
 * @received: all bytes received and not yet consumed; changed in place
 * @ret_used: the number of bytes consumed
 * @out: bytes to send are appended
 * Errors: WRONG_SERVICE when it is no SASL gateway; CONNECT for all else. Whole sentences, with the next action.
 */
TideSaslStatus tide_sasl_negotiation_feed(TideSaslNegotiation *negotiation, guint8 *received, gsize len,
                                          gsize *ret_used, TideBuffer *out, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* ---- explanations of the peer's answer, or of its silence, with the next action ---- */

/* There was no answer, for @waited_ms or until the peer closed (-1). Sets CONNECT: a gateway that hangs or restarts
 * does the same. */
void tide_sasl_set_silent(const char *peer, gint64 waited_ms, GError **error);

/* A request for an unknown mechanism: a SASL gateway answers it at once, but ignores all other bytes of a plain
 * client. */
#define TIDE_SASL_QUESTION TIDE_BYTES_LITERAL("\1\0\0\0\1?")

/* Returns TRUE and sets WRONG_SERVICE when @begun is the answer to TIDE_SASL_QUESTION. */
gboolean tide_sasl_is_answer(const char *peer, TideBytes begun, GError **error);

G_END_DECLS
