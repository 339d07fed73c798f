/* The questions at a terminal, each with a proposed answer. */
#pragma once

#include "commands/init/draft.h"

G_BEGIN_DECLS

/* Settings from options, which are not asked for. */
typedef struct TideInitGiven {
  gboolean time, key, table, brokers, topic, gateways, dead_letters;
} TideInitGiven;

/* Whether an operator can answer: standard input and error are terminals. */
gboolean tide_init_can_ask(void);

/* Reports an invalid answer and repeats the question. Errors: CANCELLED when the input ends. */
gboolean tide_init_ask_all(TideInitDraft *draft, const TideInitGiven *given, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
