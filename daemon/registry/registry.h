/* A schema registry with Confluent's API: returns schemas by the number in messages. A separate thread requests each
 * schema once and keeps it for the life of the process, so no polling thread waits. While the registry is unavailable,
 * the answer is AWAITED and the request is repeated. A missing number is requested again after a minute.
 *
 * The first lookup starts the thread. It logs when the registry becomes unavailable and available. */
#pragma once

#include "decode/avro_schema.h"
#include "util/secret_file.h"

G_BEGIN_DECLS

typedef struct TideRegistrySettings {
  char *url;                 /* owned: http:// or https://, without a trailing slash */
  char *user;                /* owned; NULL: none */
  TideSecretSource password; /* of the user; read again for each request */
  char *ca;                  /* owned: file of trusted certificate authorities; NULL: the system's */
} TideRegistrySettings;

/* @settings: borrowed. Returns: (transfer full), tide_registry_free(). */
TideSchemaSource *tide_registry_new(const TideRegistrySettings *settings);
void tide_registry_free(TideSchemaSource *registry); /* ends its thread; NULL ok */

/* Requests the schema with number 1, whatever it is, to check that a registry answers and accepts the user.
 * @ret_is_forbidden: it does, but denies this schema; others may be permitted. Blocks for at most ten seconds. Errors:
 * CONNECT: no answer, or a TLS failure; GATEWAY, WRONG_SERVICE, PROTOCOL: the server is not a registry, or rejects the
 * user; those of the password. */
gboolean tide_registry_try(const TideRegistrySettings *settings, gboolean *ret_is_forbidden,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether find() waits for an answer, for at most ten seconds, and then returns NONE: the initial mode, for commands,
 * which have nothing else to do. Threads: any. */
void tide_registry_set_waiting(TideSchemaSource *registry, gboolean waits);

/* Why it is unavailable; NULL: it is available, or was not asked. (transfer full) (nullable). Threads: any. */
char *tide_registry_trouble(TideSchemaSource *registry);

G_END_DECLS
