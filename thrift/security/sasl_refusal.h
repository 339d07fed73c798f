/* What the peer's answer to the negotiation, or its silence, means, and what the operator can do about it. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

/* The status that a message of the negotiation begins with. */
typedef enum TideSaslCode {
  TIDE_SASL_CODE_START = 1,
  TIDE_SASL_CODE_OK = 2,
  TIDE_SASL_CODE_BAD = 3,
  TIDE_SASL_CODE_ERROR = 4,
  TIDE_SASL_CODE_COMPLETE = 5,
} TideSaslCode;

/* The gateway said BAD or ERROR, with @text. @target: the principal that it was asked to be. Sets CONNECT. */
void tide_sasl_set_refused(const char *peer, const char *target, TideBytes text, GError **error);

/* @begun: what came in the place of an answer. Sets WRONG_SERVICE. */
void tide_sasl_set_foreign(const char *peer, TideBytes begun, GError **error);

/* Nothing came in answer, for @waited_ms or until the peer closed (-1). Sets CONNECT: a gateway that hangs or restarts
 * does the same. */
void tide_sasl_set_silent(const char *peer, gint64 waited_ms, GError **error);

/* What a gateway with SASL answers at once, where it is silent to all else of a plain client: the wish for a mechanism
 * that there is not. */
#define TIDE_SASL_QUESTION TIDE_BYTES_LITERAL("\1\0\0\0\1?")

/* TRUE, and WRONG_SERVICE, when @begun is its answer. */
gboolean tide_sasl_is_answer(const char *peer, TideBytes begun, GError **error);

G_END_DECLS
