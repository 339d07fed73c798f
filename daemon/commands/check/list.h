/* The findings of `tidemark check`, line by line. */
#pragma once

#include "commands/cli/listing.h"
#include "config/config.h"

G_BEGIN_DECLS

typedef enum TideCheckState {
  TIDE_CHECK_UNSEEN, /* not checked, because an earlier check failed, which counts */
  TIDE_CHECK_OK,
  TIDE_CHECK_NOTE, /* may be intended */
  TIDE_CHECK_PROBLEM,
  TIDE_CHECK_UNAVAILABLE, /* the daemon could not start, or would wait for it */
  TIDE_CHECK_N_STATES,
} TideCheckState;

typedef struct TideCheckList {
  TideListing *listing; /* owned */
  TideCheckState worst;
} TideCheckList;

void tide_check_list_init(TideCheckList *list);

/* @what: "brokers", "topic", ...: lines of one kind are adjacent. @detail: a sentence without full stop */
void tide_check_list_add(TideCheckList *list, const char *what, const char *name, TideCheckState state,
                         const char *detail);

/* Adds what could not be checked because of @why. */
void tide_check_list_add_unseen(TideCheckList *list, const char *what, const char *name, const char *why);

/* Prints and frees. Returns: the exit code, by the worst state. */
int tide_check_list_finish(TideCheckList *list) G_GNUC_WARN_UNUSED_RESULT;

/* Checks brokers, topics, the group, and the topic of dead letters. Writes nothing, creates nothing, joins no group. */
void tide_check_kafka(const TideConfig *config, TideCheckList *list);

/* Checks the newest messages of each topic: whether, in a history table, one reading would overwrite another. */
void tide_check_messages(const TideConfig *config, TideCheckList *list);

/* Asks each schema registry that a source names for a schema. */
void tide_check_registries(const TideConfig *config, TideCheckList *list);

/* Checks this host: the state directory, the file of dead letters, the address of /metrics. Leaves nothing behind. */
void tide_check_host(const TideConfig *config, TideCheckList *list);

G_END_DECLS
