/* From messages to the cells that they make, by the mapping of the daemon: what must be in the tables, what may be, and
 * what explains a cell that was found.
 *
 * Nothing is taken for expired here: whether a cell need not be there any more is asked when it was looked for.
 *
 * Threads: one. */
#pragma once

#include "commands/verify/dead_letters.h"
#include "commands/verify/tables.h"
#include "mapping/mapping.h"

G_BEGIN_DECLS

/* What the cells of a message, or of one of its readings, are to the verification. */
typedef enum TideVerifyRole {
  TIDE_VERIFY_MUST,    /* of the window: they must be there */
  TIDE_VERIFY_MAY,     /* of the window, and dead-lettered: some rows may be there, what was refused is not */
  TIDE_VERIFY_EXPLAIN, /* of outside: where they are found, all is well */
} TideVerifyRole;

/* What the window's messages were. */
typedef struct TideVerifyMessageCounts {
  guint64 messages;
  guint64 dead_lettered;
  guint64 unmatched; /* readings that no table takes */
  guint64 cells;     /* made, in the tables that are verified */
  guint64 rejected[TIDE_REJECT_N_REASONS];
  guint64 rejected_readings; /* of messages whose other readings are good */
} TideVerifyMessageCounts;

typedef struct TideVerifyMessages TideVerifyMessages;

/* All borrowed for its life. */
TideVerifyMessages *tide_verify_messages_new(const TideConfig *config, TideVerifyTables *tables, TideVerifyCells *cells,
                                             const TideVerifyDeadLetters *dead_letters);
void tide_verify_messages_free(TideVerifyMessages *messages); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideVerifyMessages, tide_verify_messages_free)

/**
 * tide_verify_messages_add: @message, of the partition at place @part.
 * @role: MUST, which is MAY for what is a dead letter; or EXPLAIN
 * @counts: (nullable): where it is counted
 * Errors: of looking for a dated table that is new.
 */
gboolean tide_verify_messages_add(TideVerifyMessages *messages, const TideMessage *message, guint part,
                                  TideVerifyRole role, TideVerifyMessageCounts *counts,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Each cell of @message again, with its row's table and key. Return FALSE to stop. For samples. */
typedef gboolean (*TideVerifyCellFunc)(guint slot, const TideRow *row, const TideCell *cell,
                                       const TideVerifyEntry *entry, gpointer data);
gboolean tide_verify_messages_walk(TideVerifyMessages *messages, const TideMessage *message, TideVerifyCellFunc func,
                                   gpointer data, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
