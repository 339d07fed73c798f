#include "commands/read/forget.h"

#include "commands/cli/time_argument.h"
#include "thrift/wire/mutation_encoder.h"
#include "util/clock.h"
#include "util/error.h"

void
tide_forget_clear(TideForget *forget)
{
  tide_buffer_clear_memory(&forget->key);
}

gboolean
tide_forget_prepare(const TideConfig *config, const TideTable *table, const char *const *texts, gsize n_texts,
                    gint64 up_to_ms, TideForget *ret_forget, GError **error)
{
  if (up_to_ms > tide_wall_clock_epoch_ms())
    return tide_fail(error, TIDE_ERROR_USAGE,
                     "'--up-to' lies in the future: readings that come until then would be written and never be seen; "
                     "without it all that was read up to now is deleted");
  if (table->latest == TIDE_LATEST_NONE || tide_row_key_has_time(table->key))
    return tide_fail(error, TIDE_ERROR_USAGE, "'--forget' takes a machine out of a latest table: '%s' %s", table->name,
                     table->latest == TIDE_LATEST_NONE ? "is declared as a table of readings"
                                                       : "has the time in its key");
  g_autoptr(TideKeyArguments) fields = tide_key_arguments_parse(config, table, texts, n_texts, error);
  g_auto(TideBuffer) key = {0};
  if (fields == NULL || !tide_key_arguments_append_key(fields, config, table, 0, &key, error))
    return FALSE;
  *ret_forget = (TideForget){.config = config, .table = table, .key = key, .up_to_ms = up_to_ms};
  key = (TideBuffer){0};
  return TRUE;
}

char *
tide_forget_describe(const TideForget *forget)
{
  const TideTable *table = forget->table;
  g_autofree char *row = tide_bytes_printable(tide_buffer_bytes(&forget->key));
  g_autofree char *up_to = tide_time_text(forget->up_to_ms);
  if (table->index_of == TIDE_TABLE_NONE)
    return g_strdup_printf("row '%s' of '%s' with all that was read up to %s", row, table->name, up_to);
  const TideTable *data = forget->config->tables->pdata[table->index_of];
  return g_strdup_printf("row '%s' of the index '%s' with all up to %s, but no row of '%s'", row, table->name, up_to,
                         data->name);
}

void
tide_forget_append_mutation(const TideForget *forget, TideWireProtocol protocol, TideBuffer *out)
{
  const GPtrArray *declared = forget->table->families;
  g_autofree TideBytes *families = g_new(TideBytes, declared->len);
  for (guint i = 0; i < declared->len; i++)
    families[i] = tide_bytes_of_string(((const TideFamilySettings *)declared->pdata[i])->name);
  tide_mutation_delete_append(protocol, out, tide_buffer_bytes(&forget->key), families, declared->len,
                              forget->up_to_ms);
}

gboolean
tide_forget_carry_out(const TideForget *forget, TideGatewaySession *session, GError **error)
{
  g_auto(TideBuffer) mutation = {0};
  tide_forget_append_mutation(forget, tide_gateway_session_mode(session).protocol, &mutation);
  if (tide_hbase_client_mutate_row(tide_gateway_session_client(session), tide_bytes_of_string(forget->table->name),
                                   tide_buffer_bytes(&forget->key), tide_buffer_bytes(&mutation), 1,
                                   tide_gateway_session_deadline_us(session), error))
    return TRUE;
  tide_gateway_session_explain(session, forget->table->name, error);
  g_prefix_error(error, "cannot delete from '%s': ", forget->table->name);
  return FALSE;
}
