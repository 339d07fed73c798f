/* What somebody at a terminal is asked, each with the answer that is proposed. */
#pragma once

#include "commands/init/draft.h"

G_BEGIN_DECLS

/* What an option said already, and nobody is asked. */
typedef struct TideInitGiven {
  gboolean time, key, table, brokers, topic, gateways, dead_letters;
} TideInitGiven;

/* Whether there is somebody: standard input and error are terminals. */
gboolean tide_init_can_ask(void);

/* An answer that will not do is told why, and the question asked again. Errors: CANCELLED where the input ends. */
gboolean tide_init_ask_all(TideInitDraft *draft, const TideInitGiven *given, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
