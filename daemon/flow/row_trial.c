#include "flow/row_trial.h"

#include "flow/failure_class.h"
#include "flow/mapping.h"
#include "flow/row_set.h"
#include "util/clock.h"

/* A gateway that is up takes a connection at once. */
#define CONNECT_US (2 * TIDE_US_PER_S)

struct TideRowTrial {
  TideRowTrialContext context;
  TideMapping *mapping; /* owned */
  TideWriterConnection connection;
  TideBudget uncounted; /* one row at a time: the budget need not know */
};

TideRowTrial *
tide_row_trial_new(const TideRowTrialContext *context)
{
  TideRowTrial *trial = g_new0(TideRowTrial, 1);
  trial->context = *context;
  /* Its time stays 0: what has expired meanwhile was good when it was read, and HBase knows its own time to live. */
  trial->mapping = tide_mapping_new(context->config, context->protocol);
  tide_writer_connection_init(&trial->connection, &context->config->hbase, context->gateways, context->metrics);
  trial->connection.is_extra = TRUE;
  tide_budget_init(&trial->uncounted, G_MAXUINT64);
  return trial;
}

void
tide_row_trial_free(TideRowTrial *trial)
{
  if (trial == NULL)
    return;
  tide_writer_connection_close(&trial->connection);
  tide_writer_connection_clear(&trial->connection);
  tide_mapping_free(trial->mapping);
  g_free(trial);
}

void
tide_row_trial_rest(TideRowTrial *trial)
{
  tide_writer_connection_close(&trial->connection);
}

void
tide_row_trial_cancel(TideRowTrial *trial)
{
  tide_writer_connection_cancel(&trial->connection);
}

/* ---- mapping ---- */

static gboolean
find_header(const TideMessage *message, const char *name, TideBytes *ret_value)
{
  const TideLetter *letter = message->headers;
  for (guint32 i = letter->n_headers; i-- > 0;) {
    const TideLetterHeader *header = &letter->headers[i];
    if (!tide_bytes_equal(header->name, tide_bytes_of_string(name)))
      continue;
    *ret_value = header->value;
    return header->has_value;
  }
  return FALSE;
}

static TideMessage
message_of(const TideLetter *letter)
{
  return (TideMessage){.topic = letter->topic,
                       .partition = letter->partition,
                       .offset = letter->offset,
                       .timestamp_ms = letter->timestamp_ms,
                       .key = letter->key,
                       .value = letter->value,
                       .has_value = letter->has_value,
                       .find_header = find_header,
                       .headers = letter};
}

static const TideTable *
declared_table(const TideRowTrial *trial, const TideRow *row)
{
  return g_ptr_array_index(trial->context.config->tables, row->table_index);
}

static TideBytes
table_name(const TideRowTrial *trial, const TideRow *row)
{
  return row->table_name.len > 0 ? row->table_name : tide_bytes_of_string(declared_table(trial, row)->name);
}

static gboolean
is_on_trial(const TideRowTrial *trial, const TideRow *row, const TideLetter *letter)
{
  return tide_bytes_equal(row->key, letter->row_key) && tide_bytes_equal(table_name(trial, row), letter->table);
}

/* ---- sending ---- */

static TideBatch *
take_batch(gpointer data)
{
  return tide_batch_new();
}

static gboolean
send_batch(TideRowTrial *trial, TideBytes table, const TideBatch *batch, GError **error)
{
  TideHBaseClient *client = tide_writer_connection_begin(&trial->connection);
  gint64 start_us = tide_now_us();
  gint64 deadline_us = start_us + trial->context.config->hbase.call_timeout_ms * TIDE_US_PER_MS;
  TideBytes wire = tide_buffer_bytes(&batch->wire);
  gboolean acknowledged = batch->is_mutations;
  if (!batch->is_mutations)
    acknowledged = tide_hbase_client_put_multiple(client, table, &wire, 1, batch->n_rows, deadline_us, error);
  for (guint32 i = 0; batch->is_mutations && acknowledged && i < batch->n_rows; i++)
    acknowledged =
        tide_hbase_client_mutate_row(client, table, tide_batch_row_key(batch, i), tide_batch_row_wire(batch, i),
                                     tide_batch_rows(batch)[i].n_mutations, deadline_us, error);
  tide_writer_connection_end(&trial->connection);
  tide_writer_connection_note_call(&trial->connection, batch->n_rows, start_us, *error);
  return acknowledged;
}

/* All that is in @set, which may take several calls. */
static gboolean
send_set(TideRowTrial *trial, TideBytes table, TideRowSet *set, GError **error)
{
  TideSealRequest request = {.max_rows = trial->context.config->batch.max_rows,
                             .max_bytes = trial->context.config->batch.max_bytes,
                             .take_batch = take_batch,
                             .now_us = tide_now_us()};
  gboolean acknowledged = TRUE;
  while (acknowledged && !tide_row_set_is_empty(set)) {
    TideBatch *batch = tide_row_set_seal(set, &request);
    for (TideBatch *next; batch != NULL; batch = next) {
      next = batch->next;
      acknowledged = acknowledged && send_batch(trial, table, batch, error);
      tide_batch_free(batch);
    }
  }
  return acknowledged;
}

/* The rows of @mapped that @wants says, which are of one table. */
static gboolean
send_rows(TideRowTrial *trial, const TideMapped *mapped, const gboolean *wanted, GError **error)
{
  const TideRow *first = NULL;
  TideRowSet set;
  for (guint32 i = 0; i < mapped->n_rows; i++) {
    if (!wanted[i])
      continue;
    const TideTable *table = declared_table(trial, &mapped->rows[i]);
    if (first == NULL)
      tide_row_set_init(&set, &trial->uncounted, trial->context.protocol,
                        table->latest == TIDE_LATEST_NONE ? TIDE_MERGE_ALL : TIDE_MERGE_NEWEST, table->families);
    first = &mapped->rows[i];
    (void)tide_row_set_append(&set, first, (TideSourceRef){0}, tide_now_us(), NULL);
  }
  if (first == NULL)
    return TRUE;
  gboolean acknowledged = send_set(trial, table_name(trial, first), &set, error);
  tide_row_set_clear(&set);
  return acknowledged;
}

/* The index rows behind those that were @written, one after the other. */
static gboolean
send_followers(TideRowTrial *trial, const TideMapped *mapped, const gboolean *written, GError **error)
{
  g_autofree gboolean *wanted = g_new0(gboolean, mapped->n_rows);
  gboolean acknowledged = TRUE;
  for (guint32 i = 0; i < mapped->n_rows && acknowledged; i++) {
    guint32 leader = mapped->rows[i].follows;
    if (leader == 0 || !written[leader - 1])
      continue;
    wanted[i] = TRUE;
    acknowledged = send_rows(trial, mapped, wanted, error);
    wanted[i] = FALSE;
  }
  return acknowledged;
}

/* ---- the verdict ---- */

static TideTrialVerdict
verdict_of(const GError *error)
{
  return tide_failure_class(error) == TIDE_OUTCOME_POISON ? TIDE_TRIAL_GUILTY : TIDE_TRIAL_LATER;
}

static TideTrialVerdict
try_rows(TideRowTrial *trial, const TideMapped *mapped, const TideLetter *letter, char **ret_text)
{
  g_autofree gboolean *on_trial = g_new0(gboolean, mapped->n_rows);
  gboolean any = FALSE;
  for (guint32 i = 0; i < mapped->n_rows; i++) {
    on_trial[i] = is_on_trial(trial, &mapped->rows[i], letter);
    any |= on_trial[i];
  }
  if (!any) {
    *ret_text = g_strdup("the message does not make the refused row any more: the configuration was changed");
    return TIDE_TRIAL_GUILTY;
  }
  if (!tide_writer_connection_open(&trial->connection, tide_now_us() + CONNECT_US)) {
    *ret_text = g_strdup("no gateway is usable");
    return TIDE_TRIAL_LATER;
  }
  g_autoptr(GError) error = NULL;
  gboolean acknowledged = send_rows(trial, mapped, on_trial, &error) && send_followers(trial, mapped, on_trial, &error);
  tide_writer_connection_settle(&trial->connection);
  if (acknowledged)
    return TIDE_TRIAL_INNOCENT;
  *ret_text = g_strdup(error->message);
  return verdict_of(error);
}

TideTrialVerdict
tide_row_trial_run(TideRowTrial *trial, const TideLetter *letter, char **ret_text)
{
  TideMessage message = message_of(letter);
  TideMapped mapped;
  TideReject reject = {0};
  *ret_text = NULL;
  if (tide_mapping_apply(trial->mapping, &message, &mapped, &reject))
    return try_rows(trial, &mapped, letter, ret_text);
  *ret_text = tide_reject_describe(&reject);
  return TIDE_TRIAL_GUILTY;
}
