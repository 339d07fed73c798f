/* The program's reading commands, run as a user runs them, against the scripted gateway. */
#include "fault/gateway/scripted_gateway.h"
#include "fault/program/run_program.h"
#include "unit/test_case.h"
#include "util/clock.h"

#include <glib/gstdio.h>
#include <sys/wait.h>

#define TIME_MS G_GINT64_CONSTANT(1426535612045) /* 2015-03-16T19:53:32.045Z */
#define N_DEVICES 10000u

static const char yaml[] = "kafka: { brokers: \"127.0.0.1:9092\", group: g, topics: [t] }\n"
                           "hbase: { gateways: [\"%s\"] }\n"
                           "readings: { time: { field: ts, format: epoch_ms } }\n"
                           "tables:\n"
                           "  METRIC:\n"
                           "    key: [ { field: host }, \"#\", { time: epoch_ms } ]\n"
                           "    columns: { family: M, from: \"*\" }\n"
                           "    families: { M: { versions: 3 } }\n"
                           "  DAY:\n"
                           "    key: [ { field: meter, width: 4, pad: \"0\" }, \"#\", { time: yyyyMMdd } ]\n"
                           "    columns: { family: M, from: [kwh], qualifier: [ { time: HHmm, cut: 15m } ] }\n"
                           "  LANE:\n"
                           "    key: [ { field: road }, \"#\", { time: epoch_ms, reversed: true } ]\n"
                           "    columns: { family: M, from: \"*\" }\n"
                           "  PLACE:\n"
                           "    latest: merge\n"
                           "    key: [ { field: site }, \"#\", { field: device } ]\n"
                           "    columns: { family: M, from: \"*\" }\n"
                           "  SALTED:\n"
                           "    key: [ { salt: 2, of: [seq] }, \"#\", { field: host }, \"#\", { time: epoch_ms } ]\n"
                           "    columns: { family: M, from: \"*\" }\n"
                           "  \"SENSOR_{yyyyMMdd}\":\n"
                           "    key: [ { field: meter }, \"#\", { time: epoch_ms } ]\n"
                           "    columns: { family: M, from: \"*\" }\n"
                           "  PACKED:\n"
                           "    key: [ { field: host } ]\n"
                           "    latest: packed\n"
                           "    columns: { family: M, from: \"*\", pack: json }\n"
                           "    families: { M: { compression: none } }\n"
                           "  CURRENT:\n"
                           "    latest: merge\n"
                           "    key: [ { field: host } ]\n"
                           "    columns: [ { family: M, from: \"*\" }, { family: N, from: [note] } ]\n"
                           "  DEVICE:\n"
                           "    latest: merge\n"
                           "    index_of: METRIC\n"
                           "    key: [ { field: host } ]\n"
                           "    columns: { family: cf, from: { value: { time: epoch_ms, binary: true }, as: ts } }\n";

typedef struct Fixture {
  TideScriptedGateway *gateway;
  char *config_path; /* owned */
} Fixture;

static void
create_table(Fixture *fixture, const char *name, const char *const *families)
{
  TideFakeTableSpec *spec = fake_table_spec_new(name);
  for (; *families != NULL; families++)
    fake_table_spec_add_family(spec, *families)->max_versions = 3;
  g_auto(TideFakeError) error = {0};
  g_assert_true(fake_hbase_create_table(scripted_gateway_hbase(fixture->gateway), spec, NULL, 0, &error));
}

static void
set_up(Fixture *fixture, gconstpointer unused)
{
  fixture->gateway = scripted_gateway_new(NULL);
  create_table(fixture, "METRIC", (const char *const[]){"M", NULL});
  create_table(fixture, "DAY", (const char *const[]){"M", NULL});
  create_table(fixture, "LANE", (const char *const[]){"M", NULL});
  create_table(fixture, "PLACE", (const char *const[]){"M", NULL});
  create_table(fixture, "SENSOR_20170726", (const char *const[]){"M", NULL});
  create_table(fixture, "PACKED", (const char *const[]){"M", NULL});
  create_table(fixture, "CURRENT", (const char *const[]){"M", "N", NULL});
  create_table(fixture, "DEVICE", (const char *const[]){"cf", NULL});
  fixture->config_path = write_config(yaml, scripted_gateway_endpoint(fixture->gateway));
}

static void
tear_down(Fixture *fixture, gconstpointer unused)
{
  scripted_gateway_free(fixture->gateway);
  g_unlink(fixture->config_path);
  g_free(fixture->config_path);
}

#define FIXTURE_TEST(path) TEST_WITH(Fixture, set_up, tear_down, path)

static void
put_bytes(Fixture *fixture, const char *table, const char *row, const char *family, const char *qualifier,
          TideBytes value, gint64 timestamp_ms)
{
  TideFakeCell cell = {.family = tide_bytes_of_string(family),
                       .qualifier = tide_bytes_of_string(qualifier),
                       .value = value,
                       .timestamp_ms = timestamp_ms};
  TideFakeRow put = {.row = tide_bytes_of_string(row), .cells = &cell, .n_cells = 1};
  g_auto(TideFakeError) error = {0};
  g_assert_true(fake_hbase_put(scripted_gateway_hbase(fixture->gateway), table, &put, 1, (TideFakeOrigin){0}, NULL,
                               NULL, &error));
}

static void
put(Fixture *fixture, const char *table, const char *row, const char *family, const char *qualifier, const char *value,
    gint64 timestamp_ms)
{
  put_bytes(fixture, table, row, family, qualifier, tide_bytes_of_string(value), timestamp_ms);
}

static void
assert_output(Fixture *fixture, const char *words, int exit_code, const char *output)
{
  g_auto(ProgramDone) done = run_program(fixture->config_path, words);
  if (done.exit_code != exit_code)
    g_test_message("%s", done.errors);
  g_assert_cmpint(done.exit_code, ==, exit_code);
  g_assert_cmpstr(done.output, ==, output);
}

static void
assert_error(Fixture *fixture, const char *words, int exit_code, const char *part)
{
  g_auto(ProgramDone) done = run_program(fixture->config_path, words);
  g_assert_cmpint(done.exit_code, ==, exit_code);
  assert_prints(done.errors, part);
}

FIXTURE_TEST("/read-commands/scan-shows-fields-and-takes-keys")
{
  put(fixture, "METRIC", "s1#1426535612045", "M", "cpu", "0.5", TIME_MS);
  put(fixture, "METRIC", "s1#1426535613045", "M", "cpu", "0.7", TIME_MS + 1000);
  put(fixture, "METRIC", "s1#1426535613045", "M", "mem", "12", TIME_MS + 1000);
  put(fixture, "METRIC", "s2#x", "M", "cpu", "9", TIME_MS);
  assert_output(fixture, "scan METRIC host=s1", 0,
                "host  TIME                      COLUMN  VALUE\n"
                "s1    2015-03-16T19:53:32.045Z  M:cpu   0.5\n"
                "s1    2015-03-16T19:53:33.045Z  M:cpu   0.7\n"
                "s1    2015-03-16T19:53:33.045Z  M:mem   12\n");
  assert_output(fixture, "scan METRIC host=s1 --reverse --limit 1 --column cpu -f csv", 0,
                "row,host,time,cpu\ns1#1426535613045,s1,2015-03-16T19:53:33.045Z,0.7\n");
  assert_output(fixture, "scan METRIC --start s1#14265356131 --stop hex:7333 --raw --column M:cpu", 0,
                "ROW   TIME                      M:cpu\ns2#x  2015-03-16T19:53:32.045Z  9\n");
  g_auto(ProgramDone) done = run_program(fixture->config_path, "scan METRIC --start s2 -f csv");
  g_assert_cmpstr(done.output, ==,
                  "row,host,timestamp_ms,time,column,value\ns2#x,,1426535612045,2015-03-16T19:53:32.045Z,M:cpu,9\n");
  g_assert_cmpstr(
      done.errors, ==,
      "tidemark scan: row 's2#x' of 'METRIC' is shown as stored: its key does not match the declared scheme\n");
}

FIXTURE_TEST("/read-commands/U1/a-field-behind-one-that-is-not-given-restricts")
{
  put(fixture, "PLACE", "north#d1", "M", "cpu", "1", TIME_MS);
  put(fixture, "PLACE", "north#d2", "M", "cpu", "2", TIME_MS);
  put(fixture, "PLACE", "south#d1", "M", "cpu", "3", TIME_MS);
  put(fixture, "PLACE", "d1", "M", "cpu", "4", TIME_MS);
  const char *expected = "row,site,device,time,cpu\nnorth#d1,north,d1,2015-03-16T19:53:32.045Z,1\n"
                         "south#d1,south,d1,2015-03-16T19:53:32.045Z,3\n";
  assert_output(fixture, "scan PLACE device=d1 --column cpu -f csv", 0, expected);
  assert_output(fixture, "scan PLACE device=d1 --plan -f csv", 0,
                "direction,limit,columns,cells_from,cells_before,filter,range,start,stop,start_hex,stop_hex\n"
                "forward,,,,,\"RowFilter (=, 'substring:d1')\",1,,,,\n");
  assert_error(fixture, "scan PLACE device=d1 --plan", 0, "the whole table 'PLACE' for these rows: its key is ");
  assert_error(fixture, "scan PLACE device=d1", 0,
               "omitted from 'PLACE': 1 row with keys that do not match the declared scheme");
  assert_error(fixture, "latest PLACE device=d1", 0, "the whole table 'PLACE' for these rows: its key is ");
  g_auto(ProgramDone) latest = run_program(fixture->config_path, "latest PLACE device=d2 --raw -f csv");
  g_auto(GStrv) lines = g_strsplit(latest.output, "\n", -1);
  g_assert_cmpuint(g_strv_length(lines), ==, 3); /* heading, row, and the end of the last line */
  g_assert_true(g_str_has_prefix(lines[1], "north#d2,"));
  g_auto(ProgramDone) by_site = run_program(fixture->config_path, "scan PLACE site=north");
  assert_silent(by_site.errors, "whole table");
  assert_error(fixture, "scan SALTED seq=1", 64, "rows cannot be selected by 'seq'");
  assert_error(fixture, "get SALTED", 64, "seq, host and '--time' is missing: the key of 'SALTED' is ");
}

FIXTURE_TEST("/read-commands/H9/json-tells-bytes-from-text")
{
  put(fixture, "PLACE", "\xc3#d", "M", "cpu", "1", TIME_MS);
  put(fixture, "PLACE", "\\xC3#d", "M", "cpu", "2", TIME_MS);
  g_auto(ProgramDone) done = run_program(fixture->config_path, "scan PLACE -f json");
  assert_prints(done.output, "\"fields\":{\"site\":\"\\\\xC3\",\"site_hex\":\"c3\",\"device\":\"d\"}");
  assert_prints(done.output, "\"fields\":{\"site\":\"\\\\xC3\",\"device\":\"d\"}");
}

/* As with `head`: enough is enough, and no failure. */
FIXTURE_TEST("/read-commands/a-reader-that-goes-away-is-no-failure")
{
  for (guint i = 0; i < 2000; i++) {
    g_autofree char *row = g_strdup_printf("s#%u", 1000000 + i);
    put(fixture, "PLACE", row, "M", "cpu", "a value that fills the pipe of whoever reads", TIME_MS);
  }
  g_autofree char *line =
      g_strdup_printf("bash -c \"%s scan PLACE -f csv --config %s | head -1; exit ${PIPESTATUS[0]}\"",
                      g_getenv("TIDEMARK"), fixture->config_path);
  g_autofree char *output = NULL, *errors = NULL;
  int status = -1;
  g_assert_true(g_spawn_command_line_sync(line, &output, &errors, &status, NULL));
  g_assert_cmpstr(output, ==, "row,site,device,timestamp_ms,time,column,value\n");
  g_assert_cmpstr(errors, ==, "");
  g_assert_cmpint(status, ==, 0);
}

/* The gateway is silent about the second page, and the program waits longer for it than this test may take. */
FIXTURE_TEST("/read-commands/rows-of-a-page-do-not-wait-for-the-next")
{
  for (guint i = 0; i < 40; i++) {
    g_autofree char *row = g_strdup_printf("s#%u", 1000000 + i);
    put(fixture, "PLACE", row, "M", "cpu", "1", TIME_MS);
  }
  TideScriptedFault silent = {.kind = TIDE_FAULT_SILENCE, .call = TIDE_CALL_GET_SCANNER_ROWS, .skip_calls = 1};
  scripted_gateway_add_fault(fixture->gateway, &silent);
  g_autoptr(GString) patient = g_string_new(yaml);
  g_assert_cmpuint(g_string_replace(patient, "hbase: {", "hbase: { call_timeout: 10m,", 1), ==, 1);
  g_autofree char *config_path = write_config(patient->str, scripted_gateway_endpoint(fixture->gateway));
  g_autoptr(GError) error = NULL;
  g_autoptr(GSubprocess) process =
      g_subprocess_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE, &error, g_getenv("TIDEMARK"),
                       "scan", "PLACE", "-f", "csv", "--config", config_path, NULL);
  g_assert_no_error(error);
  g_autoptr(GDataInputStream) lines = g_data_input_stream_new(g_subprocess_get_stdout_pipe(process));
  g_autofree char *heading = g_data_input_stream_read_line(lines, NULL, NULL, &error);
  g_autofree char *first = g_data_input_stream_read_line(lines, NULL, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpstr(first, ==, "s#1000000,s,1000000,1426535612045,2015-03-16T19:53:32.045Z,M:cpu,1");
  g_subprocess_force_exit(process);
  g_assert_true(g_subprocess_wait(process, NULL, &error));
  g_assert_true(g_subprocess_get_if_signaled(process));
  g_unlink(config_path);
}

FIXTURE_TEST("/read-commands/an-output-that-is-full-is-one")
{
  put(fixture, "PLACE", "s#d", "M", "cpu", "1", TIME_MS);
  g_autofree char *line = g_strdup_printf("bash -c \"%s scan PLACE -f csv --config %s >/dev/full\"",
                                          g_getenv("TIDEMARK"), fixture->config_path);
  g_autofree char *errors = NULL;
  int status = -1;
  g_assert_true(g_spawn_command_line_sync(line, NULL, &errors, &status, NULL));
  g_assert_cmpstr(errors, ==, "tidemark: cannot write the output: No space left on device\n");
  g_assert_cmpint(WEXITSTATUS(status), ==, 74);
}

FIXTURE_TEST("/read-commands/what-is-not-there-is-said-plainly")
{
  g_auto(TideFakeError) error = {0};
  g_assert_true(fake_hbase_set_enabled(scripted_gateway_hbase(fixture->gateway), "CURRENT", FALSE, &error));
  g_assert_true(fake_hbase_delete_table(scripted_gateway_hbase(fixture->gateway), "CURRENT", &error));
  const char *no_table = "the table does not exist in HBase: create it with 'tidemark tables create'";
  assert_error(fixture, "latest CURRENT host=s1", 69, no_table);
  assert_error(fixture, "scan CURRENT", 69, no_table);
  assert_error(fixture, "get CURRENT host=s1", 69, no_table);
  assert_error(fixture, "latest CURRENT host=s1 --forget --yes", 69, no_table);
  put(fixture, "METRIC", "s1#1426535612045", "M", "job:rate", "0.5", TIME_MS);
  assert_error(fixture, "scan METRIC --column X:cpu", 0,
               "'METRIC' declares no family 'X', and no row has a column with the full name 'X:cpu'");
  g_auto(ProgramDone) whole = run_program(fixture->config_path, "scan METRIC --column job:rate -f csv");
  assert_prints(whole.output, ",0.5\n");
  g_assert_cmpstr(whole.errors, ==, "");
}

FIXTURE_TEST("/read-commands/day-rows-are-cut-by-their-cells")
{
  put(fixture, "DAY", "0007#20150316", "M", "1945", "1.5", TIME_MS);
  put(fixture, "DAY", "0007#20150316", "M", "2000", "2.5", TIME_MS + 900000);
  put(fixture, "DAY", "0007#20150317", "M", "0000", "3.5", TIME_MS + 86400000);
  /* The day's row is in the range; of its cells those that are. */
  assert_output(fixture, "scan DAY meter=7 --from 2015-03-16T20:00:00Z --to 2015-03-17 -f csv", 0,
                "row,meter,timestamp_ms,time,column,value,field\n"
                "0007#20150316,7,1426536512045,2015-03-16T20:08:32.045Z,M:2000,2.5,kwh\n");
  assert_output(fixture, "get DAY meter=7 --time 2015-03-16T12:00:00Z --column 1945 -f csv", 0,
                "row,meter,timestamp_ms,time,column,value,field\n"
                "0007#20150316,7,1426535612045,2015-03-16T19:53:32.045Z,M:1945,1.5,kwh\n");
}

FIXTURE_TEST("/read-commands/a-plan-connects-to-nothing")
{
  scripted_gateway_refuse(fixture->gateway);
  assert_output(fixture, "scan LANE road=15 --newest-first --limit 5 --plan -f csv", 0,
                "direction,limit,columns,cells_from,cells_before,filter,range,start,stop,start_hex,stop_hex\n"
                "forward,5,,,,,1,15#9223362813482738953,15#9223372036854775808,"
                "31352339323233333632383133343832373338393533,31352339323233333732303336383534373735383038\n");
}

FIXTURE_TEST("/read-commands/get-shows-versions-and-says-what-is-not-there")
{
  for (int i = 0; i < 3; i++) {
    g_autofree char *value = g_strdup_printf("%d", i);
    put(fixture, "METRIC", "s1#1426535612045", "M", "cpu", value, TIME_MS + i);
  }
  assert_output(fixture, "get METRIC host=s1 --time 1426535612045 --versions 2 -f csv", 0,
                "row,host,timestamp_ms,time,column,value\n"
                "s1#1426535612045,s1,1426535612047,2015-03-16T19:53:32.047Z,M:cpu,2\n"
                "s1#1426535612045,s1,1426535612046,2015-03-16T19:53:32.046Z,M:cpu,1\n");
  assert_output(fixture, "get METRIC --hex 7331233134323635333536313230343 -f csv", 64, "");
  assert_output(fixture, "get METRIC --key s1#1426535612045 --column cpu -f csv", 0,
                "row,host,timestamp_ms,time,column,value\n"
                "s1#1426535612045,s1,1426535612047,2015-03-16T19:53:32.047Z,M:cpu,2\n");
  assert_error(fixture, "get METRIC host=s2 --time 1426535612045", 1, "'METRIC' has no row 's2#1426535612045'");
  assert_error(fixture, "get METRIC host=s1", 64, "'--time' is missing: the key of 'METRIC' is ");
  assert_error(fixture, "get METRIC hots=s1 --time 0", 64, "did you mean 'host'?");
  assert_error(fixture, "get METRIX host=s1", 64, "did you mean 'METRIC'?");
  assert_error(fixture, "get CURRENT host=s1 --time now", 64, "remove '--time'");
}

FIXTURE_TEST("/read-commands/packed-cells-are-shown-as-their-columns")
{
  put(fixture, "PACKED", "s1", "M", "r", "{\"cpu\":0.50,\"name\":\"a b\"}", TIME_MS);
  put(fixture, "PACKED", "s2", "M", "r", "{broken", TIME_MS);
  assert_output(fixture, "scan PACKED --column cpu -f csv", 0,
                "row,host,time,cpu\ns1,s1,2015-03-16T19:53:32.045Z,0.50\n");
  assert_output(fixture, "get PACKED host=s1", 0,
                "host  TIME                      COLUMN  VALUE\n"
                "s1    2015-03-16T19:53:32.045Z  M:cpu   0.50\n"
                "s1    2015-03-16T19:53:32.045Z  M:name  a b\n");
  assert_output(fixture, "get PACKED host=s1 --raw", 0,
                "ROW  TIME                      COLUMN  VALUE\n"
                "s1   2015-03-16T19:53:32.045Z  M:r     {\"cpu\":0.50,\"name\":\"a b\"}\n");
  assert_error(fixture, "latest PACKED host=s2", 0, "1 cell is not as declared for 'PACKED': shown as stored");
}

FIXTURE_TEST("/read-commands/a-dated-table-is-read-by-its-own-name")
{
  put(fixture, "SENSOR_20170726", "m1#1426535612045", "M", "kwh", "1", TIME_MS);
  assert_output(fixture, "scan SENSOR_20170726 meter=m1 -f json", 0,
                "{\"table\":\"SENSOR_20170726\",\"row\":\"m1#1426535612045\",\"row_hex\":"
                "\"6d312331343236353335363132303435\",\"fields\":{\"meter\":\"m1\"},"
                "\"time\":\"2015-03-16T19:53:32.045Z\",\"cells\":[{\"family\":\"M\",\"qualifier\":\"kwh\","
                "\"value\":\"1\",\"timestamp_ms\":1426535612045,\"time\":\"2015-03-16T19:53:32.045Z\"}]}\n");
  assert_error(fixture, "scan SENSOR_{yyyyMMdd}", 64, "is a template for many tables");
}

FIXTURE_TEST("/read-commands/forget-deletes-one-row-until-a-later-reading")
{
  put(fixture, "CURRENT", "s1", "M", "cpu", "1", TIME_MS);
  put(fixture, "CURRENT", "s1", "N", "note", "old", TIME_MS - 5);
  put(fixture, "CURRENT", "s2", "M", "cpu", "2", TIME_MS);
  assert_error(fixture, "latest CURRENT host=s1 --forget", 64,
               "cannot ask without a terminal: use '--yes' to delete row 's1'");
  assert_error(fixture, "latest CURRENT --forget --yes", 64, "host is missing");
  assert_error(fixture, "latest CURRENT hots=s1 --forget --yes", 64, "did you mean 'host'?");
  assert_error(fixture, "latest PLACE site=a#b device=d --forget --yes", 64, "no row of 'PLACE' can have these fields");
  assert_error(fixture, "latest METRIC host=s1 --forget --yes", 64, "'METRIC' is declared as a table of readings");
  assert_error(fixture, "latest CURRENT host=s1 --forget --yes --up-to 2015-03-16T19:53:32.045Z", 0,
               "deleted row 's1' of 'CURRENT' with everything read up to 2015-03-16T19:53:32.045Z; a later reading "
               "restores it");
  assert_output(fixture, "get CURRENT host=s1", 1, "");
  put(fixture, "CURRENT", "s1", "M", "cpu", "3", TIME_MS + 1);
  assert_output(fixture, "get CURRENT host=s1 -f csv", 0,
                "row,host,timestamp_ms,time,column,value\ns1,s1,1426535612046,2015-03-16T19:53:32.046Z,M:cpu,3\n");
  assert_output(fixture, "get CURRENT host=s2 -f csv", 0,
                "row,host,timestamp_ms,time,column,value\ns2,s2,1426535612045,2015-03-16T19:53:32.045Z,M:cpu,2\n");
  assert_error(fixture, "latest DEVICE host=s1 --forget --yes", 0, "row 's1' of the index 'DEVICE'");
}

/* Readings that come up to then would be written, and hidden by the delete. */
FIXTURE_TEST("/read-commands/forgetting-the-future-is-refused")
{
  put(fixture, "CURRENT", "s1", "M", "cpu", "1", TIME_MS);
  assert_error(fixture, "latest CURRENT host=s1 --forget --yes --up-to +1m", 64, "'--up-to' is in the future");
  assert_output(fixture, "get CURRENT host=s1 -f csv", 0,
                "row,host,timestamp_ms,time,column,value\ns1,s1,1426535612045,2015-03-16T19:53:32.045Z,M:cpu,1\n");
}

static void
put_device(Fixture *fixture, guint i, gboolean with_data)
{
  g_autofree char *host = g_strdup_printf("h%05u", i);
  g_autofree char *row = g_strdup_printf("%s#%" G_GINT64_FORMAT, host, TIME_MS + i);
  guint64 time_be = GUINT64_TO_BE((guint64)(TIME_MS + i));
  put_bytes(fixture, "DEVICE", host, "cf", "ts", tide_bytes(&time_be, sizeof time_be), TIME_MS + i);
  if (with_data)
    put(fixture, "METRIC", row, "M", "cpu", "0.5", TIME_MS + i);
}

FIXTURE_TEST("/read-commands/an-index-leads-to-ten-thousand-rows")
{
  for (guint i = 0; i < N_DEVICES; i++)
    put_device(fixture, i, TRUE);
  gint64 started_us = tide_now_us();
  g_auto(ProgramDone) done = run_program(fixture->config_path, "latest DEVICE -f csv");
  g_test_message("%u rows behind an index in %.3f s", N_DEVICES, (double)(tide_now_us() - started_us) / 1e6);
  g_assert_cmpint(done.exit_code, ==, 0);
  g_auto(GStrv) lines = g_strsplit(done.output, "\n", -1);
  g_assert_cmpuint(g_strv_length(lines), ==, N_DEVICES + 2); /* heading, and the end of the last line */
  g_assert_true(
      g_str_has_prefix(lines[1], "h00000#1426535612045,h00000,1426535612045,2015-03-16T19:53:32.045Z,M:cpu,0.5,"));
  TideGatewayStats stats;
  scripted_gateway_stats(fixture->gateway, &stats);
  g_assert_cmpuint(stats.calls_by_method[TIDE_CALL_GET_MULTIPLE], <=, N_DEVICES / 500 + 2);
  g_assert_cmpuint(stats.calls_by_method[TIDE_CALL_GET], ==, 0);

  /* The index's rows count for a limit. */
  g_auto(ProgramDone) some = run_program(fixture->config_path, "latest DEVICE --limit 3 -f csv");
  g_auto(GStrv) some_lines = g_strsplit(some.output, "\n", -1);
  g_assert_cmpuint(g_strv_length(some_lines), ==, 3 + 2);

  put_device(fixture, N_DEVICES, FALSE);
  assert_error(fixture, "latest DEVICE host=h10000", 1,
               "index 'DEVICE' points to row 'h10000#1426535622045', which is missing in 'METRIC'");
  assert_output(fixture, "get DEVICE host=h00000 -f csv", 0,
                "row,host,timestamp_ms,time,column,value,field\n"
                "h00000,h00000,1426535612045,2015-03-16T19:53:32.045Z,cf:ts,2015-03-16T19:53:32.045Z,\n");
}

/* Its first rows would be the oldest ones. */
FIXTURE_TEST("/read-commands/latest-refuses-a-table-that-keeps-history")
{
  put(fixture, "METRIC", "s1#1426535612045", "M", "cpu", "0.5", TIME_MS);
  assert_error(fixture, "latest METRIC host=s1 --limit 1", 64,
               "'METRIC' keeps history, not latest values: PLACE, PACKED, CURRENT, DEVICE do; 'tidemark scan METRIC' "
               "reads history\n");
  assert_error(fixture, "latest SENSOR_20170726", 64, "'tidemark scan SENSOR_20170726' reads history\n");
  g_autofree char *alone = write_config("kafka: { brokers: \"127.0.0.1:9092\", group: g, topics: [t] }\n"
                                        "hbase: { gateways: [\"%s\"] }\n"
                                        "readings: { time: { field: ts, format: epoch_ms } }\n"
                                        "tables:\n"
                                        "  METRIC: { key: [ { field: host }, { time: epoch_ms } ], "
                                        "columns: { family: M, from: \"*\" } }\n",
                                        scripted_gateway_endpoint(fixture->gateway));
  for (int named = 0; named < 2; named++) {
    g_auto(ProgramDone) done = run_program(alone, named ? "latest METRIC" : "latest");
    g_assert_cmpint(done.exit_code, ==, 64);
    g_assert_cmpstr(done.output, ==, "");
    assert_prints(done.errors, "with 'latest: merge' and a key without the time");
  }
  g_unlink(alone);
}

/* A script that finds nothing is told so, and why where the key was changed: the rows are there, under other keys. */
FIXTURE_TEST("/read-commands/nothing-found-is-said")
{
  for (int is_scan = 0; is_scan < 2; is_scan++) {
    const char *words = is_scan ? "scan CURRENT host=s9 -f csv" : "latest CURRENT host=s9 -f csv";
    g_auto(ProgramDone) done = run_program(fixture->config_path, words);
    g_assert_cmpint(done.exit_code, ==, 0);
    assert_silent(done.output, "s9");
    g_assert_cmpstr(done.errors, ==, "0 rows\n");
  }

  TideFakeTableSpec *spec = fake_table_spec_new("PLACE2");
  fake_table_spec_add_family(spec, "M");
  fake_table_spec_add_attribute(spec, TIDE_BYTES_LITERAL("TIDEMARK_SCHEME"), TIDE_BYTES_LITERAL("1 field(other)"));
  g_auto(TideFakeError) error = {0};
  g_assert_true(fake_hbase_create_table(scripted_gateway_hbase(fixture->gateway), spec, NULL, 0, &error));
  g_autofree char *changed = write_config("kafka: { brokers: \"127.0.0.1:9092\", group: g, topics: [t] }\n"
                                          "hbase: { gateways: [\"%s\"] }\n"
                                          "readings: { time: { field: ts, format: epoch_ms } }\n"
                                          "tables:\n"
                                          "  PLACE2: { latest: merge, key: [ { field: host } ], "
                                          "columns: { family: M, from: \"*\" } }\n",
                                          scripted_gateway_endpoint(fixture->gateway));
  for (int has_rows = 0; has_rows < 2; has_rows++) {
    if (has_rows)
      put(fixture, "PLACE2", "a", "M", "cpu", "1", TIME_MS);
    for (int is_scan = 0; is_scan < 2; is_scan++) {
      g_auto(ProgramDone) done = run_program(changed, is_scan ? "scan PLACE2 host=s9" : "latest PLACE2 host=s9");
      g_assert_cmpint(done.exit_code, ==, 0);
      assert_prints(done.errors, "0 rows\n");
      if (has_rows)
        assert_prints(done.errors,
                      "'PLACE2' has rows, but they were written with another key: [1 field(other)] (stored "
                      "in the table's attribute 'TIDEMARK_SCHEME')");
      else
        assert_silent(done.errors, "another key");
    }
  }
  g_unlink(changed);
}
