/* `latest --forget`: takes one machine out of a latest table by hand, as a message without value does where tombstones
 * delete: everything in its row up to a moment is deleted, so that a later reading brings it back. */
#pragma once

#include "commands/read/gateway_session.h"
#include "commands/read/key_arguments.h"

G_BEGIN_DECLS

typedef struct TideForget {
  const TideConfig *config; /* borrowed */
  const TideTable *table;   /* borrowed */
  TideBuffer key;           /* owned: of the row */
  gint64 up_to_ms;          /* inclusive, of the cells' times */
} TideForget;
void tide_forget_clear(TideForget *forget);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TideForget, tide_forget_clear)

/**
 * tide_forget_prepare: find out which row it is.
 * @texts: FIELD=VALUE, all that the key has
 * Errors: TIDE_ERROR_USAGE: no latest table, or fields that are missing.
 */
gboolean tide_forget_prepare(const TideConfig *config, const TideTable *table, const char *const *texts, gsize n_texts,
                             gint64 up_to_ms, TideForget *ret_forget, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What is removed and what is not, for the question and the answer: "row 'server1' of 'CURRENT_METRIC', with all that
 * …". (transfer full) */
char *tide_forget_describe(const TideForget *forget);

/* The mutation that deletes, as mutateRow takes it. */
void tide_forget_append_mutation(const TideForget *forget, TideWireProtocol protocol, TideBuffer *out);

/* Errors: of the call; whether it was carried out may not be known then, and it may be repeated. */
gboolean tide_forget_carry_out(const TideForget *forget, TideGatewaySession *session,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
