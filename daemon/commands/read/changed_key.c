#include "commands/read/changed_key.h"

#include "commands/cli/output.h"
#include "tables/fingerprint_store.h"

#include <stdio.h>

void
tide_report_changed_key(const TideConfig *config, TideGatewaySession *session, const TideTable *table,
                        const char *command)
{
  TideHBaseClient *client = tide_gateway_session_client(session);
  g_autoptr(TideTableDescription) description =
      tide_hbase_client_describe(client, table->name, tide_gateway_session_deadline_us(session), NULL);
  g_auto(TideFingerprintStore) store = {0};
  g_auto(TideFingerprintFinding) finding = {0};
  tide_fingerprint_store_init(&store, config);
  if (description == NULL || !tide_fingerprint_store_compare(&store, client, table, description, &finding, NULL) ||
      finding.verdict != TIDE_FINGERPRINT_CHANGED)
    return;
  tide_say("tidemark %s: '%s' has rows, but they were written with another key: [%s] (stored %s), the configuration "
           "says [%s]",
           command, table->name, finding.stored.text, tide_fingerprint_locations[finding.stored.location].text,
           finding.declared);
}
