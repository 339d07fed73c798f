/* The librdkafka that this process runs with, which is known only at run time. Lists each of its faults that tidemark
 * works around, warns about or rejects, with the version that fixes it. */
#pragma once

#include "config/config.h"

G_BEGIN_DECLS

typedef enum TideKafkaAbility {
  TIDE_KAFKA_QUEUE_BACKOFF,     /* has a property for how soon a full queue is checked again: fetch.queue.backoff.ms */
  TIDE_KAFKA_SCRAM_NONCE,       /* SCRAM that brokers with the fix of CVE-2024-56128 accept */
  TIDE_KAFKA_SOUND_COOPERATIVE, /* cooperative assignment without old offsets and without hangs at close */
  TIDE_KAFKA_SOUND_METADATA,    /* a topic described with an error, or in part, does not crash the process */
} TideKafkaAbility;

typedef struct TideKafkaLibrary {
  guint32 version; /* as rd_kafka_version(): 0x020601ff is 2.6.1 */
  char name[32];   /* "2.6.1" */
  char features[512];
} TideKafkaLibrary;

/* The library at run time. */
TideKafkaLibrary tide_kafka_library(void);

gboolean tide_kafka_library_can(const TideKafkaLibrary *library, TideKafkaAbility ability);

/* Missing abilities that an operator may want, "GSSAPI; OIDC; SCRAM with …"; NULL: none. (transfer full) */
char *tide_kafka_library_lacks(const TideKafkaLibrary *library);

/* Adds a problem for each missing ability that @config needs. @problems: (element-type TideConfigProblem) */
void tide_kafka_library_check(const TideKafkaLibrary *library, const TideKafkaConfig *config, GPtrArray *problems);

G_END_DECLS
