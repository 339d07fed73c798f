/* Runs the samples through the daemon's own mapping with a configuration; `init` judges the configuration by the
 * result. */
#include "commands/init/draft.h"

#include "commands/cli/load_config.h"
#include "commands/cli/overwritten_cells.h"
#include "mapping/mapping.h"

void
tide_init_trial_clear(TideInitTrial *trial)
{
  g_free(trial->why);
  g_free(trial->lost_row);
  g_free(trial->lost_column);
}

static void
note_rejected(TideInitTrial *trial, const TideMapping *mapping, const TideReject *reject)
{
  TideReject shown = *reject;
  if (trial->n_rejected++ > 0)
    return;
  tide_reject_resolve_field(&shown, tide_mapping_names(mapping));
  g_autofree char *why = tide_reject_describe(&shown);
  trial->why = reject->reason != TIDE_REJECT_NO_CELLS
                   ? g_steal_pointer(&why)
                   : g_strconcat(why,
                                 ": use samples in which each reading has a value, and exclude the others "
                                 "with 'when', such as 'when: { field: value, present: true }' in each table",
                                 NULL);
}

/* Corrections of earlier readings also count as lost, because samples are not known to contain any. */
static void
note_lost(TideInitTrial *trial, const TideConfig *config, const TideOverwrittenCells *cells)
{
  for (guint i = 0; i < config->tables->len; i++) {
    const TideTable *table = config->tables->pdata[i];
    const TideOverwritten *overwritten = tide_overwritten_cells_of(cells, i);
    if (table->latest != TIDE_LATEST_NONE)
      continue;
    trial->n_lost += overwritten->n_lost + overwritten->n_corrected;
    if (trial->lost_row == NULL) {
      trial->lost_row = g_strdup(overwritten->row);
      trial->lost_column = g_strdup(overwritten->column);
    }
  }
}

void
tide_init_try(const TideConfig *config, const TideInitSamples *samples, const char *topic, gint64 now_ms,
              TideInitTrial *ret_trial)
{
  g_autoptr(TideMapping) mapping = tide_mapping_new(config, TIDE_WIRE_BINARY); /* nothing is sent */
  g_autoptr(TideOverwrittenCells) cells = tide_overwritten_cells_new(config->tables->len);
  *ret_trial = (TideInitTrial){0};
  tide_mapping_set_now(mapping, now_ms);
  for (guint i = 0; i < samples->messages->len; i++) {
    const TideInitSample *sample = samples->messages->pdata[i];
    TideMessage message = tide_init_sample_message(sample, topic);
    TideMapped mapped;
    TideReject reject;
    if (sample->line > 0) /* each has its own time, like consecutive records */
      message.timestamp_ms = now_ms + i;
    if (!tide_mapping_apply(mapping, &message, &mapped, &reject)) {
      note_rejected(ret_trial, mapping, &reject);
      continue;
    }
    for (guint32 k = 0; k < mapped.n_rejects; k++)
      note_rejected(ret_trial, mapping, &mapped.rejects[k]);
    tide_overwritten_cells_add(cells, mapped.rows, mapped.n_rows);
    if (ret_trial->taken == NULL && mapped.n_rows > 0)
      ret_trial->taken = sample;
  }
  note_lost(ret_trial, config, cells);
}

gboolean
tide_init_try_proposal(const TideInitProposal *proposal, const TideInitSamples *samples, gint64 now_ms,
                       TideInitTrial *ret_trial)
{
  TideInitProposal whole = *proposal; /* a shallow copy: everything is borrowed */
  char any[] = "any", utc[] = "UTC", address[] = "any:1";
  whole.brokers = whole.brokers != NULL ? whole.brokers : address;
  whole.gateways = whole.gateways != NULL ? whole.gateways : address;
  whole.topic = whole.topic != NULL ? whole.topic : any;
  whole.group = whole.group != NULL ? whole.group : any;
  whole.table = whole.table != NULL ? whole.table : any;
  if (whole.zone == NULL && whole.time_field != NULL && !tide_time_format_is_count(whole.time_format))
    whole.zone = utc;
  g_autoptr(GPtrArray) problems = NULL;
  g_autofree char *text = tide_init_proposal_print(&whole, 0);
  g_autoptr(TideConfig) config = tide_config_load_text("init.yaml", tide_bytes_of_string(text), &problems);
  if (config == NULL || (samples->is_container && tide_command_choose_source(config, NULL, NULL) == NULL))
    return FALSE;
  tide_init_try(config, samples, whole.topic, now_ms, ret_trial);
  return TRUE;
}
