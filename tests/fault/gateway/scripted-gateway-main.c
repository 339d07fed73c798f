/* A scripted gateway as a program, for tests in other languages.
 *
 *     scripted-gateway [--framed] [--compact]
 *
 * It says "port N" and then takes commands from standard input, one a line, in shell quoting, answering each with "ok"
 * or "error TEXT" after any lines of the answer itself. `help` lists them. It ends at the end of the input. */
#include "fault/gateway/scripted_gateway.h"
#include "fault/program/line_commands.h"
#include "util/clock.h"

#include <stdio.h>

static char *
parse_number(const char *word, guint64 *ret_number)
{
  return g_ascii_string_to_unsigned(word, 10, 0, G_MAXINT32, ret_number, NULL)
             ? NULL
             : g_strdup_printf("'%s' is not a number", word);
}

static char *
run_table(gpointer gateway, char **words)
{
  if (fake_hbase_table_exists(scripted_gateway_hbase(gateway), words[0]))
    return g_strdup_printf("table '%s' exists", words[0]);
  scripted_gateway_create_table(gateway, words[0], words[1], (const char *const *)words + 2);
  return NULL;
}

static char *
run_split(gpointer gateway, char **words)
{
  TideFakeHBase *hbase = scripted_gateway_hbase(gateway);
  if (!fake_hbase_table_exists(hbase, words[0]))
    return g_strdup_printf("no table '%s'", words[0]);
  fake_hbase_split_region(hbase, words[0], tide_bytes_of_string(words[1]), g_strcmp0(words[2], "list-parent") == 0);
  return NULL;
}

static char *
run_drop(gpointer gateway, char **words)
{
  TideFakeHBase *hbase = scripted_gateway_hbase(gateway);
  g_auto(TideFakeError) error = {0};
  return fake_hbase_set_enabled(hbase, words[0], FALSE, &error) && fake_hbase_delete_table(hbase, words[0], &error)
             ? NULL
             : g_strdup(error.message);
}

/* A cell past the gateway, as somebody else would write it. */
static char *
run_put(gpointer gateway, char **words)
{
  g_auto(TideBuffer) row = {0}, qualifier = {0}, value = {0};
  if (!tide_bytes_from_hex(words[1], strlen(words[1]), &row) ||
      !tide_bytes_from_hex(words[3], strlen(words[3]), &qualifier) ||
      !tide_bytes_from_hex(words[5], strlen(words[5]), &value))
    return g_strdup("row, qualifier and value are to be hex");
  TideFakeCell cell = {.family = tide_bytes_of_string(words[2]),
                       .qualifier = tide_buffer_bytes(&qualifier),
                       .value = tide_buffer_bytes(&value),
                       .timestamp_ms = g_ascii_strtoll(words[4], NULL, 10)};
  TideFakeRow put = {.row = tide_buffer_bytes(&row), .cells = &cell, .n_cells = 1};
  g_auto(TideFakeError) error = {0};
  return fake_hbase_put(scripted_gateway_hbase(gateway), words[0], &put, 1, (TideFakeOrigin){0}, NULL, NULL, &error)
             ? NULL
             : g_strdup(error.message);
}

/* TRUE when the table has a region behind the one that holds @key. */
static gboolean
has_region_behind(TideFakeHBase *hbase, const char *table, TideBytes key)
{
  g_autoptr(GPtrArray) regions = fake_hbase_regions(hbase, table);
  for (guint i = 0; i < regions->len; i++) {
    const TideFakeRegion *region = g_ptr_array_index(regions, i);
    if (!region->offline && tide_bytes_compare(key, region->start_key) < 0)
      return TRUE;
  }
  return FALSE;
}

/* A table of one region stays as it is. */
static char *
run_merge(gpointer gateway, char **words)
{
  TideFakeHBase *hbase = scripted_gateway_hbase(gateway);
  TideBytes key = tide_bytes_of_string(words[1]);
  if (!fake_hbase_table_exists(hbase, words[0]))
    return g_strdup_printf("no table '%s'", words[0]);
  if (has_region_behind(hbase, words[0], key))
    fake_hbase_merge_regions(hbase, words[0], key);
  return NULL;
}

static char *
run_max_cell(gpointer gateway, char **words)
{
  guint64 n_bytes = 0;
  char *problem = parse_number(words[0], &n_bytes);
  if (problem == NULL)
    fake_hbase_set_max_cell_bytes(scripted_gateway_hbase(gateway), n_bytes);
  return problem;
}

static char *
run_cluster(gpointer gateway, char **words)
{
  fake_hbase_set_cluster(scripted_gateway_hbase(gateway), words[0]);
  return NULL;
}

static char *
run_tables(gpointer gateway, char **words)
{
  g_auto(GStrv) names = fake_hbase_tables(scripted_gateway_hbase(gateway));
  for (guint i = 0; names[i] != NULL; i++)
    printf("table %s\n", names[i]);
  return NULL;
}

static char *
run_dump(gpointer gateway, char **words)
{
  g_autofree char *text =
      fake_hbase_dump(scripted_gateway_hbase(gateway), words[0], g_strcmp0(words[1], "all-versions") == 0);
  fputs(text, stdout);
  return NULL;
}

static char *
run_count(gpointer gateway, char **words)
{
  TideFakeHBase *hbase = scripted_gateway_hbase(gateway);
  printf("rows %" G_GUINT64_FORMAT "\ncells %" G_GUINT64_FORMAT "\n", fake_hbase_row_count(hbase, words[0]),
         fake_hbase_cell_count(hbase, words[0]));
  return NULL;
}

static char *
run_wait(gpointer gateway, char **words)
{
  guint64 n_rows = 0, timeout_ms = 0;
  char *problem = parse_number(words[1], &n_rows);
  if (problem == NULL)
    problem = parse_number(words[2], &timeout_ms);
  if (problem != NULL)
    return problem;
  gint64 deadline_us = tide_now_us() + (gint64)timeout_ms * TIDE_US_PER_MS;
  return scripted_gateway_wait_rows(gateway, words[0], n_rows, deadline_us) ? NULL : g_strdup("timed out");
}

static char *
run_fault(gpointer gateway, char **words)
{
  TideScriptedFault fault;
  char *problem = tide_scripted_fault_parse(words, &fault);
  if (problem == NULL)
    printf("fault %u\n", scripted_gateway_add_fault(gateway, &fault));
  return problem;
}

static char *
run_clear(gpointer gateway, char **words)
{
  if (words[0] == NULL) {
    scripted_gateway_clear_faults(gateway);
    return NULL;
  }
  guint64 id = 0;
  char *problem = parse_number(words[0], &id);
  if (problem == NULL)
    scripted_gateway_clear_fault(gateway, (guint)id);
  return problem;
}

static char *
run_hits(gpointer gateway, char **words)
{
  guint64 id = 0;
  char *problem = parse_number(words[0], &id);
  if (problem == NULL)
    printf("hits %" G_GUINT64_FORMAT "\n", scripted_gateway_fault_hits(gateway, (guint)id));
  return problem;
}

static char *
run_kill(gpointer gateway, char **words)
{
  scripted_gateway_kill(gateway);
  return NULL;
}

static char *
run_start(gpointer gateway, char **words)
{
  scripted_gateway_start(gateway);
  return NULL;
}

static char *
run_reset(gpointer gateway, char **words)
{
  scripted_gateway_reset_connections(gateway);
  return NULL;
}

static char *
run_stats(gpointer gateway, char **words)
{
  TideGatewayStats stats;
  scripted_gateway_stats(gateway, &stats);
  printf("rows_written %" G_GUINT64_FORMAT "\ncalls_in_flight %u\n", stats.rows_written, stats.calls_in_flight);
  return NULL;
}

static const LineCommand commands[] = {
    {"table", 2, "table NAME FAMILY[,FAMILY…] [SPLIT…]", run_table},
    {"drop", 1, "drop TABLE", run_drop},
    {"put", 6, "put TABLE ROW_HEX FAMILY QUALIFIER_HEX TIME_MS VALUE_HEX", run_put},
    {"cluster", 1, "cluster ID (that it says it is)", run_cluster},
    {"split", 2, "split TABLE KEY [list-parent]", run_split},
    {"merge", 2, "merge TABLE KEY (its region and the one behind it)", run_merge},
    {"max-cell", 1, "max-cell BYTES (a longer value is refused; 0: no bound)", run_max_cell},
    {"tables", 0, "tables", run_tables},
    {"dump", 1, "dump TABLE [all-versions]", run_dump},
    {"count", 1, "count TABLE", run_count},
    {"wait", 3, "wait TABLE ROWS TIMEOUT_MS", run_wait},
    {"fault", 1, "fault KIND [NAME=VALUE…] (scripted_fault.h names them, with - for _)", run_fault},
    {"clear", 0, "clear [ID]", run_clear},
    {"hits", 1, "hits ID", run_hits},
    {"kill", 0, "kill (reset all, and refuse)", run_kill},
    {"start", 0, "start (listen again)", run_start},
    {"reset", 0, "reset (all open connections)", run_reset},
    {"stats", 0, "stats", run_stats},
    {0},
};

int
main(int argc, char **argv)
{
  TideGatewayOptions options = {0};
  const GOptionEntry entries[] = {{"framed", 'f', 0, G_OPTION_ARG_NONE, &options.framed, "framed transport", NULL},
                                  {"compact", 'c', 0, G_OPTION_ARG_NONE, &options.compact, "compact protocol", NULL},
                                  G_OPTION_ENTRY_NULL};
  g_autoptr(GError) error = NULL;
  g_autoptr(GOptionContext) context = g_option_context_new("- an HBase Thrift gateway for tests");
  g_option_context_add_main_entries(context, entries, NULL);
  if (!g_option_context_parse(context, &argc, &argv, &error)) {
    fprintf(stderr, "scripted-gateway: %s\n", error->message);
    return 64;
  }
  g_autoptr(TideScriptedGateway) gateway = scripted_gateway_new(&options);
  printf("port %u\n", scripted_gateway_port(gateway));
  fflush(stdout);

  line_commands_run(commands, gateway);
  return 0;
}
