/* A schema registry that speaks Confluent's API: schemas by the numbers that messages name. Each is asked for once, by
 * a thread of its own, and kept for the life of the process; nobody waits for it who polls. While the registry cannot
 * be asked, the answer is AWAITED, and it is asked again and again. That a number does not exist is believed for a
 * minute.
 *
 * The thread is started by the first question. It logs when the registry cannot be asked, and when it can again. */
#pragma once

#include "decode/avro_schema.h"
#include "util/secret_file.h"

G_BEGIN_DECLS

typedef struct TideRegistrySettings {
  char *url;                 /* owned: http:// or https://, without a slash at its end */
  char *user;                /* owned; NULL: nobody in particular */
  TideSecretSource password; /* of the user; read again for each question */
  char *ca;                  /* owned: what a certificate must be signed by; NULL: what the system trusts */
} TideRegistrySettings;

/* @settings: borrowed. Returns: (transfer full), tide_registry_free(). */
TideSchemaSource *tide_registry_new(const TideRegistrySettings *settings);
void tide_registry_free(TideSchemaSource *registry); /* ends its thread; NULL ok */

/* Asks for some schema, whichever has the number 1, to see whether a registry answers there, and answers us.
 * @ret_is_forbidden: it does, but this one is not for us, as others may be. Blocks for ten seconds at the most. Errors:
 * CONNECT: nothing answers, or TLS finds something wrong; GATEWAY, WRONG_SERVICE, PROTOCOL: what does is no registry,
 * or not for us; those of the password. */
gboolean tide_registry_try(const TideRegistrySettings *settings, gboolean *ret_is_forbidden,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Whether find() waits for an answer, for ten seconds at the most, and then says NONE: for commands, which have nothing
 * else to do; so it is at first. Threads: any. */
void tide_registry_set_waiting(TideSchemaSource *registry, gboolean waits);

/* Why it cannot be asked now; NULL: it can, or was not asked. (transfer full) (nullable). Threads: any. */
char *tide_registry_trouble(TideSchemaSource *registry);

G_END_DECLS
