/* What `tidemark check` has found, line by line. */
#pragma once

#include "commands/cli/listing.h"
#include "config/config.h"

G_BEGIN_DECLS

typedef enum TideCheckState {
  TIDE_CHECK_UNSEEN, /* not looked at, as what comes before it failed: that counts */
  TIDE_CHECK_OK,
  TIDE_CHECK_NOTE, /* may be as it is meant */
  TIDE_CHECK_PROBLEM,
  TIDE_CHECK_UNAVAILABLE, /* the daemon could not start, or would wait for it */
  TIDE_CHECK_N_STATES,
} TideCheckState;

typedef struct TideCheckList {
  TideListing *listing; /* owned */
  TideCheckState worst;
} TideCheckList;

void tide_check_list_init(TideCheckList *list);

/* @what: "brokers", "topic", ...: lines of one kind stand together. @detail: a sentence without full stop */
void tide_check_list_add(TideCheckList *list, const char *what, const char *name, TideCheckState state,
                         const char *detail);

/* What could not be looked at for @why. */
void tide_check_list_add_unseen(TideCheckList *list, const char *what, const char *name, const char *why);

/* Prints and frees. Returns: the exit code, by the worst state. */
int tide_check_list_finish(TideCheckList *list) G_GNUC_WARN_UNUSED_RESULT;

/* Brokers, topics, the group, and the topic of dead letters. Writes nothing, creates nothing, joins no group. */
void tide_check_kafka(const TideConfig *config, TideCheckList *list);

/* The newest messages of each topic: whether, in a history table, one reading would overwrite another. */
void tide_check_messages(const TideConfig *config, TideCheckList *list);

/* The schema registries that sources name: each is asked for a schema. */
void tide_check_registries(const TideConfig *config, TideCheckList *list);

/* This host: the state directory, the file of dead letters, the address of /metrics. Leaves nothing behind. */
void tide_check_host(const TideConfig *config, TideCheckList *list);

G_END_DECLS
