#include "flow/row_trial.h"

#include "flow/failure_class.h"
#include "flow/mapping.h"
#include "flow/row_isolation.h"
#include "flow/row_set.h"
#include "util/clock.h"

/* A gateway that is up takes a connection at once. */
#define CONNECT_US (2 * TIDE_US_PER_S)

struct TideRowTrial {
  TideRowTrialContext context;
  TideMapping *mapping; /* owned */
  TideWriterConnection connection;
  guint32 n_calls;                   /* of this run */
  guint32 max_calls;                 /* likewise */
  gboolean is_certain;               /* likewise: what the last refusal said of the row, as TideFailure has it */
  const TideTrialSubject *witnesses; /* likewise, borrowed: those who were innocent last; NULL: nobody yet */
  guint n_witnesses;
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
  trial->n_calls += batch->is_mutations ? batch->n_rows : 1;
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

/* Rows of one table that go together. */
typedef struct Part {
  char *table; /* owned */
  TideRowSet set;
} Part;

static void
clear_part(gpointer data)
{
  Part *part = data;
  tide_row_set_clear(&part->set);
  g_free(part->table);
}

static GArray *
new_parts(void)
{
  GArray *parts = g_array_new(FALSE, FALSE, sizeof(Part));
  g_array_set_clear_func(parts, clear_part);
  return parts;
}

/* Rows of one key become one, as they do in the lanes. */
static void
add_row(TideRowTrial *trial, GArray *parts, const TideRow *row)
{
  TideBytes name = table_name(trial, row);
  Part *part = NULL;
  for (guint i = 0; i < parts->len && part == NULL; i++)
    if (tide_bytes_equal(tide_bytes_of_string(g_array_index(parts, Part, i).table), name))
      part = &g_array_index(parts, Part, i);
  if (part == NULL) {
    const TideTable *table = declared_table(trial, row);
    Part added = {.table = g_strndup((const char *)name.data, name.len)};
    tide_row_set_init(&added.set, trial->context.budget, trial->context.protocol,
                      table->latest == TIDE_LATEST_NONE ? TIDE_MERGE_ALL : TIDE_MERGE_NEWEST, table->families);
    g_array_append_val(parts, added);
    part = &g_array_index(parts, Part, parts->len - 1);
  }
  (void)tide_row_set_append(&part->set, row, (TideSourceRef){0}, tide_now_us(), NULL);
}

/* All that is in @part, which may take several calls. */
static gboolean
send_part(TideRowTrial *trial, Part *part, GError **error)
{
  const TideBatchConfig *config = &trial->context.config->batch;
  TideSealRequest request = {.max_rows = config->max_rows,
                             .max_bytes = (guint32)MIN(config->max_bytes, TIDE_FRAME_LIMIT_LEAST_BYTES),
                             .take_batch = take_batch};
  gboolean acknowledged = TRUE;
  while (acknowledged && !tide_row_set_is_empty(&part->set)) {
    TideBatch *batch = tide_row_set_seal(&part->set, &request);
    for (TideBatch *next; batch != NULL; batch = next) {
      next = batch->next;
      acknowledged = acknowledged && send_batch(trial, tide_bytes_of_string(part->table), batch, error);
      tide_budget_charge(trial->context.budget, -batch->charged_bytes);
      tide_batch_free(batch);
    }
  }
  return acknowledged;
}

static gboolean
send_parts(TideRowTrial *trial, GArray *parts, GError **error)
{
  for (guint i = 0; i < parts->len; i++)
    if (!send_part(trial, &g_array_index(parts, Part, i), error))
      return FALSE;
  return TRUE;
}

/* ---- the verdicts ---- */

/* Adds the rows of @letter's message that are on trial to @rows, and what follows them to @followers. FALSE: it makes
 * no such row. */
static gboolean
collect(TideRowTrial *trial, const TideLetter *letter, GArray *rows, GArray *followers)
{
  TideMessage message = message_of(letter);
  TideMapped mapped;
  TideReject reject = {0};
  gboolean any = FALSE;
  tide_mapping_set_now(trial->mapping, tide_wall_clock_epoch_ms());
  if (!tide_mapping_apply(trial->mapping, &message, &mapped, &reject))
    return FALSE;
  for (guint32 i = 0; i < mapped.n_rows; i++) {
    const TideRow *row = &mapped.rows[i];
    if (is_on_trial(trial, row, letter)) {
      add_row(trial, rows, row);
      any = TRUE;
    } else if (row->follows > 0 && is_on_trial(trial, &mapped.rows[row->follows - 1], letter)) {
      add_row(trial, followers, row);
    }
  }
  return any;
}

/* Sends the row that @subjects make together. Those that make no part of it are guilty, and of the others nothing is
 * known then; with what is sent otherwise the verdict is on all of them. */
static TideTrialVerdict
try_together(TideRowTrial *trial, const TideTrialSubject *subjects, guint n, char **ret_text)
{
  g_autoptr(GArray) rows = new_parts();
  g_autoptr(GArray) followers = new_parts();
  for (guint i = 0; i < n; i++)
    if (!collect(trial, subjects[i].letter, rows, followers)) {
      trial->is_certain = TRUE;
      return TIDE_TRIAL_GUILTY;
    }
  if (!tide_writer_connection_open(&trial->connection, tide_now_us() + CONNECT_US)) {
    *ret_text = g_strdup("no gateway is usable");
    return TIDE_TRIAL_LATER;
  }
  g_autoptr(GError) error = NULL;
  gboolean acknowledged = send_parts(trial, rows, &error) && send_parts(trial, followers, &error);
  tide_writer_connection_settle(&trial->connection);
  if (acknowledged)
    return TIDE_TRIAL_INNOCENT;
  TideFailure failure = tide_failure_of(error);
  trial->is_certain = failure.is_certain;
  if (failure.outcome == TIDE_OUTCOME_POISON)
    return TIDE_TRIAL_GUILTY;
  *ret_text = g_strdup(error->message);
  return TIDE_TRIAL_LATER;
}

/* @subject was refused alone, in words that may as well mean a broken gateway: it is sent again, by turns with those
 * who were innocent before, and unevenly, so that a gateway that fails every so many calls makes nobody guilty. */
static TideTrialVerdict
confirm(TideRowTrial *trial, const TideTrialSubject *subject, char **ret_text)
{
  for (const char *turn = trial->witnesses != NULL ? "WSWWS" : "SS"; *turn != '\0'; turn++) {
    gboolean is_subjects = *turn == 'S';
    TideTrialVerdict verdict = is_subjects ? try_together(trial, subject, 1, ret_text)
                                           : try_together(trial, trial->witnesses, trial->n_witnesses, ret_text);
    if (is_subjects && verdict != TIDE_TRIAL_GUILTY)
      return verdict;
    if (!is_subjects && verdict != TIDE_TRIAL_INNOCENT) {
      if (*ret_text == NULL)
        *ret_text = g_strdup("the gateway refuses now what it took before");
      return TIDE_TRIAL_LATER;
    }
  }
  return TIDE_TRIAL_GUILTY;
}

/* Judges @subjects in their order. @is_refused: that they are refused together is known. FALSE: from some one on they
 * are to be tried again later, for @ret_text or because this run has made its calls. */
static gboolean
judge(TideRowTrial *trial, TideTrialSubject *subjects, guint n, gboolean is_refused, char **ret_text)
{
  if (trial->n_calls >= trial->max_calls)
    return FALSE;
  TideTrialVerdict verdict = is_refused && n > 1 ? TIDE_TRIAL_GUILTY : try_together(trial, subjects, n, ret_text);
  if (verdict == TIDE_TRIAL_GUILTY && n == 1 && !trial->is_certain)
    verdict = confirm(trial, subjects, ret_text);
  if (verdict == TIDE_TRIAL_LATER)
    return FALSE;
  if (verdict == TIDE_TRIAL_INNOCENT) {
    trial->witnesses = subjects;
    trial->n_witnesses = n;
  }
  if (verdict == TIDE_TRIAL_INNOCENT || n == 1) {
    for (guint i = 0; i < n; i++)
      subjects[i].verdict = verdict;
    return TRUE;
  }
  guint half = n / 2;
  if (!judge(trial, subjects, half, FALSE, ret_text))
    return FALSE;
  gboolean all_innocent = TRUE;
  for (guint i = 0; i < half; i++)
    all_innocent &= subjects[i].verdict == TIDE_TRIAL_INNOCENT;
  return judge(trial, subjects + half, n - half, all_innocent, ret_text);
}

guint32
tide_row_trial_run(TideRowTrial *trial, TideTrialSubject *subjects, guint n, guint32 max_calls, char **ret_text)
{
  *ret_text = NULL;
  trial->n_calls = 0;
  trial->witnesses = NULL;
  trial->max_calls = max_calls;
  for (guint i = 0; i < n; i++)
    subjects[i].verdict = TIDE_TRIAL_LATER;
  (void)judge(trial, subjects, n, FALSE, ret_text);
  return trial->n_calls;
}
