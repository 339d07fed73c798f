/* `tidemark rollup` against a scripted gateway that fails. */
#include "fault/gateway/scripted_gateway.h"
#include "fault/program/run_program.h"
#include "unit/test_case.h"
#include "util/clock.h"

#include <glib/gstdio.h>
#include <signal.h>

#define DAY_MS G_GINT64_CONSTANT(1501027200000) /* 2017-07-26T00:00Z */
#define SLOT_MS (15 * 60 * 1000)
#define N_METERS 2500u /* more than a page in one region */
#define N_SLOTS 4u

#define TTL_MS (G_GINT64_CONSTANT(36500) * 86400000)

static const char yaml[] = "kafka: { brokers: \"127.0.0.1:9092\", group: g, topics: [t] }\n"
                           "hbase: { gateways: [\"%s\"], call_timeout: 2s, uncertain_timeout: 2s }\n"
                           "readings: { time: { field: ts, format: epoch_ms } }\n"
                           "tables:\n"
                           "  SENSOR:\n"
                           "    key: [ { field: meter, width: 4, pad: \"0\" }, \"#\", { time: yyyyMMdd } ]\n"
                           "    columns: { family: M, from: [kwh], qualifier: [ { time: HHmm, cut: 15m } ] }\n"
                           "    ttl: 36500d\n"
                           "  METRIC:\n"
                           "    key: [ { field: meter }, \"#\", { time: epoch_ms } ]\n"
                           "    columns: { family: M, from: \"*\" }\n"
                           "  CURRENT:\n"
                           "    latest: merge\n"
                           "    key: [ { field: meter } ]\n"
                           "    columns: { family: M, from: \"*\" }\n";

typedef struct Fixture {
  TideScriptedGateway *gateway;
  char *directory;   /* owned */
  char *config_path; /* owned */
  char *expected;    /* owned: the day's cells as the fake HBase dumps them */
} Fixture;

static void
put_row(Fixture *fixture, GString *expected, guint meter, const char *day, gint64 start_ms)
{
  g_autofree char *row = g_strdup_printf("%04u#%s", meter, day);
  TideFakeCell cells[N_SLOTS];
  char qualifiers[N_SLOTS][5], values[N_SLOTS][24];
  for (guint slot = 0; slot < N_SLOTS; slot++) {
    gint64 time_ms = start_ms + slot * SLOT_MS + meter;
    g_snprintf(qualifiers[slot], sizeof qualifiers[slot], "00%02u", slot * 15);
    g_snprintf(values[slot], sizeof values[slot], "%u.%u", meter, slot);
    cells[slot] = (TideFakeCell){.family = TIDE_BYTES_LITERAL("M"),
                                 .qualifier = tide_bytes_of_string(qualifiers[slot]),
                                 .value = tide_bytes_of_string(values[slot]),
                                 .timestamp_ms = time_ms};
    if (expected != NULL)
      g_string_append_printf(expected, "%s\tM:%s\t%" G_GINT64_FORMAT "\t%s\n", row, qualifiers[slot], time_ms,
                             values[slot]);
  }
  TideFakeRow put = {.row = tide_bytes_of_string(row), .cells = cells, .n_cells = N_SLOTS};
  g_auto(TideFakeError) error = {0};
  g_assert_true(fake_hbase_put(scripted_gateway_hbase(fixture->gateway), "SENSOR", &put, 1, (TideFakeOrigin){0}, NULL,
                               NULL, &error));
}

static void
set_up(Fixture *fixture, gconstpointer unused)
{
  fixture->gateway = scripted_gateway_new(NULL);
  const TideBytes splits[] = {TIDE_BYTES_LITERAL("0100"), TIDE_BYTES_LITERAL("2400")};
  TideFakeTableSpec *spec = fake_table_spec_new("SENSOR");
  fake_table_spec_add_family(spec, "M");
  g_auto(TideFakeError) fault = {0};
  g_assert_true(
      fake_hbase_create_table(scripted_gateway_hbase(fixture->gateway), spec, splits, G_N_ELEMENTS(splits), &fault));
  GString *expected = g_string_new(NULL);
  for (guint meter = 0; meter < N_METERS; meter++) {
    put_row(fixture, NULL, meter, "20170725", DAY_MS - SLOT_MS * N_SLOTS - N_METERS);
    put_row(fixture, expected, meter, "20170726", DAY_MS);
  }
  fixture->expected = g_string_free(expected, FALSE);

  g_autoptr(GError) error = NULL;
  fixture->directory = g_dir_make_tmp("tidemark-rollup-XXXXXX", &error);
  g_assert_no_error(error);
  fixture->config_path = g_build_filename(fixture->directory, "tidemark.yaml", NULL);
  g_autofree char *text = g_strdup_printf(yaml, scripted_gateway_endpoint(fixture->gateway));
  g_assert_true(g_file_set_contents(fixture->config_path, text, -1, NULL));
}

static void
tear_down(Fixture *fixture, gconstpointer unused)
{
  static const char *const names[] = {"tidemark.yaml", "rollup-SENSOR_20170726", "rollup-OTHER"};
  scripted_gateway_free(fixture->gateway);
  for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autofree char *path = g_build_filename(fixture->directory, names[i], NULL);
    g_unlink(path);
  }
  g_assert_cmpint(g_rmdir(fixture->directory), ==, 0);
  g_free(fixture->directory);
  g_free(fixture->config_path);
  g_free(fixture->expected);
}

#define FIXTURE_TEST(path) TEST_WITH(Fixture, set_up, tear_down, path)

static ProgramDone
roll_up(Fixture *fixture, const char *words)
{
  g_autofree char *line = g_strdup_printf("rollup --day 2017-07-26 --state %s%s", fixture->directory, words);
  return run_program(fixture->config_path, line);
}

static void
assert_rolled_up(Fixture *fixture, const char *table)
{
  g_autofree char *found = scripted_gateway_dump(fixture->gateway, table);
  g_assert_cmpuint(strlen(found), ==, strlen(fixture->expected));
  g_assert_true(strcmp(found, fixture->expected) == 0);
}

FIXTURE_TEST("/rollup/a-day-and-nothing-else")
{
  g_auto(ProgramDone) done = roll_up(fixture, "");
  g_assert_cmpstr(done.errors, ==, "");
  g_assert_cmpint(done.exit_code, ==, 0);
  assert_prints(done.output, "verified: HBase holds 2,500 rows, 10,000 cells");
  assert_rolled_up(fixture, "SENSOR_20170726");
  g_autoptr(GPtrArray) regions = fake_hbase_regions(scripted_gateway_hbase(fixture->gateway), "SENSOR_20170726");
  g_assert_cmpuint(regions->len, ==, 3);
}

/* Pages wait for those before them, whichever thread reads them. */
FIXTURE_TEST("/rollup/rate")
{
  gint64 start_us = tide_now_us();
  g_auto(ProgramDone) done = roll_up(fixture, " --rate 2500");
  g_assert_cmpint(done.exit_code, ==, 0);
  g_assert_cmpint(tide_now_us() - start_us, >=, 700 * TIDE_US_PER_MS); /* 2,200 rows were before the last page */
  assert_rolled_up(fixture, "SENSOR_20170726");
}

/* Answers that never come, connections that end in the middle, errors: each of them again and again. */
FIXTURE_TEST("/rollup/D1-D5-gateway-fails")
{
  const TideScriptedFault faults[] = {
      {.kind = TIDE_FAULT_CLOSE_BEFORE_REPLY, .call = TIDE_CALL_PUT_MULTIPLE, .every = 2, .max_hits = 3},
      {.kind = TIDE_FAULT_CLOSE_MID_REPLY,
       .call = TIDE_CALL_GET_SCANNER_ROWS,
       .every = 3,
       .max_hits = 3,
       .cut_bytes = 100},
      {.kind = TIDE_FAULT_IO_ERROR, .call = TIDE_CALL_PUT_MULTIPLE, .skip_calls = 1, .max_hits = 2},
      {.kind = TIDE_FAULT_CLOSE_MID_REQUEST, .call = TIDE_CALL_OPEN_SCANNER, .skip_calls = 1, .max_hits = 2},
      {.kind = TIDE_FAULT_SILENCE, .call = TIDE_CALL_GET_SCANNER_ROWS, .skip_calls = 4, .max_hits = 1},
  };
  guint ids[G_N_ELEMENTS(faults)];
  for (gsize i = 0; i < G_N_ELEMENTS(faults); i++)
    ids[i] = scripted_gateway_add_fault(fixture->gateway, &faults[i]);
  g_auto(ProgramDone) done = roll_up(fixture, "");
  g_assert_cmpint(done.exit_code, ==, 0);
  for (gsize i = 0; i < G_N_ELEMENTS(faults); i++)
    g_assert_cmpuint(scripted_gateway_fault_hits(fixture->gateway, ids[i]), >, 0);
  assert_rolled_up(fixture, "SENSOR_20170726");
}

/* What cannot be written ends the command in time, says where, and the next run goes on behind what was written. */
FIXTURE_TEST("/rollup/gives-up-and-goes-on")
{
  TideScriptedFault fault = {
      .kind = TIDE_FAULT_IO_ERROR, .call = TIDE_CALL_PUT_MULTIPLE, .row_prefix = TIDE_BYTES_LITERAL("24")};
  guint id = scripted_gateway_add_fault(fixture->gateway, &fault);
  g_auto(ProgramDone) failed = roll_up(fixture, " --threads 1 --patience 300ms");
  g_assert_cmpint(failed.exit_code, !=, 0);
  g_assert_cmpstr(failed.errors, !=, "");
  g_assert_cmpuint(scripted_gateway_row_count(fixture->gateway, "SENSOR_20170726"), ==, 2400);

  scripted_gateway_clear_fault(fixture->gateway, id);
  TideGatewayStats before, after;
  scripted_gateway_stats(fixture->gateway, &before);
  g_auto(ProgramDone) done = roll_up(fixture, " --threads 1");
  scripted_gateway_stats(fixture->gateway, &after);
  g_assert_cmpint(done.exit_code, ==, 0);
  assert_prints(done.output, "continuing an interrupted run");
  g_assert_cmpuint(after.calls_by_method[TIDE_CALL_PUT_MULTIPLE] - before.calls_by_method[TIDE_CALL_PUT_MULTIPLE], ==,
                   1);
  assert_rolled_up(fixture, "SENSOR_20170726");

  g_auto(ProgramDone) again = roll_up(fixture, "");
  g_assert_cmpint(again.exit_code, ==, 0);
  assert_prints(again.output, "is already copied");
}

/* Without an argument: SENSOR, and not METRIC, of which hardly anybody wants a day. */
FIXTURE_TEST("/rollup/F17/rows-keep-their-time-to-live")
{
  fake_hbase_log_writes(scripted_gateway_hbase(fixture->gateway), G_MAXUINT);
  g_autofree char *line = g_strdup_printf("rollup --day 2017-07-26 --state %s", fixture->directory);
  g_auto(ProgramDone) done = run_program(fixture->config_path, line);
  g_assert_cmpint(done.exit_code, ==, 0);
  assert_prints(done.output, "SENSOR_20170726: ");
  g_autoptr(GPtrArray) writes = fake_hbase_writes(scripted_gateway_hbase(fixture->gateway));
  g_assert_cmpuint(writes->len, ==, N_METERS * N_SLOTS);
  for (guint i = 0; i < writes->len; i++)
    g_assert_cmpint(((const TideFakeWrite *)writes->pdata[i])->ttl_ms, ==, TTL_MS);
}

/* The day that is not over: what still comes of it would be missing in the copy. */
FIXTURE_TEST("/rollup/E-the-open-day-is-refused")
{
  g_autofree char *before = NULL, *after = NULL;
  do { /* a day may end meanwhile */
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    g_free(before);
    before = g_date_time_format(now, "%Y-%m-%d");
    g_autofree char *line = g_strdup_printf("rollup SENSOR --day %s --state %s", before, fixture->directory);
    g_auto(ProgramDone) done = run_program(fixture->config_path, line);
    g_autoptr(GDateTime) then = g_date_time_new_now_utc();
    g_free(after);
    after = g_date_time_format(then, "%Y-%m-%d");
    if (strcmp(before, after) == 0) {
      g_assert_cmpint(done.exit_code, ==, 64);
      assert_prints(done.errors, "is not over");
    }
  } while (strcmp(before, after) != 0);
}

FIXTURE_TEST("/rollup/refused")
{
  const struct {
    const char *words;
    const char *text;
  } lines[] = {
      {"rollup CURRENT --day 2017-07-26", "'CURRENT' cannot be rolled up: it is a latest table"},
      {"rollup SENSORS --day 2017-07-26", "SENSOR"},
      {"rollup SENSOR --day 2150-01-01", "is not over"},
      {"rollup SENSOR --day 26.07.2017", "'--day' must be a day such as 2017-07-26"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(lines); i++) {
    g_auto(ProgramDone) done = run_program(fixture->config_path, lines[i].words);
    g_assert_cmpint(done.exit_code, ==, 64);
    assert_prints(done.errors, lines[i].text);
  }
  /* Another table was copied into that one. */
  g_auto(ProgramDone) first = roll_up(fixture, " --to OTHER");
  g_assert_cmpint(first.exit_code, ==, 0);
  g_autofree char *line = g_strdup_printf("rollup --day 2017-07-25 --state %s --to OTHER", fixture->directory);
  g_auto(ProgramDone) other_day = run_program(fixture->config_path, line);
  g_assert_cmpint(other_day.exit_code, ==, 64);
  assert_prints(other_day.errors, "was rolled up from 'SENSOR' for another day");
}

/* Ranges are made of regions: of a list that lacks one, its rows would not be copied, nor missed by the count. */
FIXTURE_TEST("/rollup/C8-list-of-regions-with-a-gap-is-refused")
{
  TideFakeHBase *hbase = scripted_gateway_hbase(fixture->gateway);
  fake_hbase_set_offline(hbase, "SENSOR", TIDE_BYTES_LITERAL("0100"), TRUE);
  g_auto(ProgramDone) done = roll_up(fixture, "");
  g_assert_cmpint(done.exit_code, ==, 69);
  assert_prints(done.errors,
                "lists the regions of table 'SENSOR' with a gap or an overlap: '0100' is followed by '2400'");
  g_assert_false(fake_hbase_table_exists(hbase, "SENSOR_20170726"));
  fake_hbase_set_offline(hbase, "SENSOR", TIDE_BYTES_LITERAL("0100"), FALSE);
  g_auto(ProgramDone) again = roll_up(fixture, "");
  g_assert_cmpint(again.exit_code, ==, 0);
  assert_rolled_up(fixture, "SENSOR_20170726");
}

static void
drop_copy(Fixture *fixture)
{
  g_auto(TideFakeError) fault = {0};
  TideFakeHBase *hbase = scripted_gateway_hbase(fixture->gateway);
  g_assert_true(fake_hbase_set_enabled(hbase, "SENSOR_20170726", FALSE, &fault));
  g_assert_true(fake_hbase_delete_table(hbase, "SENSOR_20170726", &fault));
}

/* Marks belong to the copy that they were kept of: where that is gone, or holds less, all is copied once more. */
FIXTURE_TEST("/rollup/E3-marks-are-not-believed-without-the-copy")
{
  g_auto(ProgramDone) first = roll_up(fixture, "");
  g_assert_cmpint(first.exit_code, ==, 0);
  drop_copy(fixture);
  g_auto(ProgramDone) dropped = roll_up(fixture, "");
  g_assert_cmpint(dropped.exit_code, ==, 0);
  assert_prints(dropped.output, "but it does not exist here: copying from the beginning");
  assert_rolled_up(fixture, "SENSOR_20170726");

  drop_copy(fixture);
  scripted_gateway_create_table(fixture->gateway, "SENSOR_20170726", "M", NULL); /* by somebody, and it is empty */
  g_auto(ProgramDone) emptied = roll_up(fixture, "");
  g_assert_cmpint(emptied.exit_code, ==, 0);
  assert_prints(emptied.output, "it holds 0 rows of the day, not the 2,500 copied by an earlier run");
  assert_rolled_up(fixture, "SENSOR_20170726");
}

/* A run that ended half way in one cluster says nothing of the copy in another: neither how far that is, nor that the
 * rows of a table that is there are a copy. */
FIXTURE_TEST("/rollup/E3-marks-are-not-believed-in-another-cluster")
{
  TideScriptedFault fault = {
      .kind = TIDE_FAULT_IO_ERROR, .call = TIDE_CALL_PUT_MULTIPLE, .row_prefix = TIDE_BYTES_LITERAL("24")};
  guint id = scripted_gateway_add_fault(fixture->gateway, &fault);
  g_auto(ProgramDone) failed = roll_up(fixture, " --threads 1 --patience 300ms");
  g_assert_cmpint(failed.exit_code, !=, 0);
  scripted_gateway_clear_fault(fixture->gateway, id);
  TideFakeHBase *hbase = scripted_gateway_hbase(fixture->gateway);
  fake_hbase_set_cluster(hbase, "another");
  drop_copy(fixture);
  scripted_gateway_create_table(fixture->gateway, "SENSOR_20170726", "M", NULL);
  g_auto(ProgramDone) elsewhere = roll_up(fixture, "");
  assert_prints(elsewhere.output, "are for a copy in another cluster: copying from the beginning");
  g_assert_cmpint(elsewhere.exit_code, ==, 0);
  assert_rolled_up(fixture, "SENSOR_20170726");

  fake_hbase_set_cluster(hbase, "a third");
  g_auto(ProgramDone) foreign = roll_up(fixture, "");
  g_assert_cmpint(foreign.exit_code, ==, 64);
  assert_prints(foreign.errors, "exists with rows that are not known to be a copy");
}

/* Readings that came after the copy, or rows of others: the counts differ. */
FIXTURE_TEST("/rollup/counts-that-differ-are-found")
{
  g_auto(ProgramDone) first = roll_up(fixture, "");
  g_assert_cmpint(first.exit_code, ==, 0);
  TideFakeCell cell = {.family = TIDE_BYTES_LITERAL("M"),
                       .qualifier = TIDE_BYTES_LITERAL("0000"),
                       .value = TIDE_BYTES_LITERAL("1"),
                       .timestamp_ms = DAY_MS};
  TideFakeRow put = {.row = TIDE_BYTES_LITERAL("9999#20170726"), .cells = &cell, .n_cells = 1};
  g_auto(TideFakeError) error = {0};
  g_assert_true(fake_hbase_put(scripted_gateway_hbase(fixture->gateway), "SENSOR_20170726", &put, 1,
                               (TideFakeOrigin){0}, NULL, NULL, &error));
  g_auto(ProgramDone) again = roll_up(fixture, " --refresh");
  g_assert_cmpint(again.exit_code, ==, 1);
  assert_prints(again.output, "DIFFERENT: HBase holds 2,501 rows, 10,001 cells");
}

FIXTURE_TEST("/rollup/marks-that-cannot-be-read-end-it")
{
  g_autofree char *path = g_build_filename(fixture->directory, "rollup-SENSOR_20170726", NULL);
  g_assert_true(g_file_set_contents(path, "[rollup]\nversion=9\n", -1, NULL));
  g_auto(ProgramDone) done = roll_up(fixture, "");
  g_assert_cmpint(done.exit_code, ==, 65);
  assert_prints(done.errors, "remove it to start again");
}

/* Starts one whose rows that begin with @refused HBase refuses for ever, and ends it by @signal_number once it has sent
 * such rows. */
static int
end_in_the_middle(Fixture *fixture, const char *refused, int signal_number)
{
  TideScriptedFault fault = {
      .kind = TIDE_FAULT_IO_ERROR, .call = TIDE_CALL_PUT_MULTIPLE, .row_prefix = tide_bytes_of_string(refused)};
  guint id = scripted_gateway_add_fault(fixture->gateway, &fault);
  g_autoptr(GError) error = NULL;
  g_autoptr(GSubprocess) process = g_subprocess_new(
      G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE, &error, g_getenv("TIDEMARK"), "rollup",
      "--day", "2017-07-26", "--threads", "1", "--state", fixture->directory, "--config", fixture->config_path, NULL);
  g_assert_no_error(error);
  g_assert_true(scripted_gateway_wait_fault_hits(fixture->gateway, id, 1, tide_now_us() + 30 * TIDE_US_PER_S));
  g_subprocess_send_signal(process, signal_number);
  g_assert_true(g_subprocess_wait(process, NULL, NULL));
  scripted_gateway_clear_fault(fixture->gateway, id);
  return g_subprocess_get_if_exited(process) ? g_subprocess_get_exit_status(process) : 128 + signal_number;
}

/* What was acknowledged is kept. */
FIXTURE_TEST("/rollup/a-stop-ends-it-and-it-goes-on")
{
  g_assert_cmpint(end_in_the_middle(fixture, "24", SIGTERM), ==, 75);
  g_auto(ProgramDone) done = roll_up(fixture, "");
  g_assert_cmpint(done.exit_code, ==, 0);
  assert_prints(done.output, "continuing an interrupted run");
  assert_rolled_up(fixture, "SENSOR_20170726");
}

/* The mark is a row within a region: it is neither copied nor counted a second time, and nothing behind it is left out.
 */
FIXTURE_TEST("/rollup/a-stop-within-a-region-and-it-goes-on")
{
  g_assert_cmpint(end_in_the_middle(fixture, "23", SIGTERM), ==, 75);
  guint n_rows = (guint)scripted_gateway_row_count(fixture->gateway, "SENSOR_20170726");
  g_assert_cmpuint(n_rows, >, 100); /* more than the first region */
  g_assert_cmpuint(n_rows, <, 2400);
  g_auto(ProgramDone) done = roll_up(fixture, "");
  g_assert_cmpint(done.exit_code, ==, 0);
  assert_prints(done.output, "continuing an interrupted run");
  assert_prints(done.output, "verified: HBase holds 2,500 rows, 10,000 cells");
  assert_rolled_up(fixture, "SENSOR_20170726");
}

/* In its first second: that the rows of a table that somebody has made are a copy is known all the same. */
FIXTURE_TEST("/rollup/a-kill-at-the-start-leaves-marks")
{
  scripted_gateway_create_table(fixture->gateway, "SENSOR_20170726", "M", NULL);
  g_assert_cmpint(end_in_the_middle(fixture, "24", SIGKILL), ==, 128 + SIGKILL);
  g_assert_cmpuint(scripted_gateway_row_count(fixture->gateway, "SENSOR_20170726"), >, 0);
  g_auto(ProgramDone) done = roll_up(fixture, "");
  g_assert_cmpint(done.exit_code, ==, 0);
  assert_rolled_up(fixture, "SENSOR_20170726");
}

FIXTURE_TEST("/rollup/E7-only-a-copy-is-copied-into")
{
  static const struct {
    const char *target;
    const char *family; /* of a table that is there; NULL: none is */
    const char *text;
  } targets[] = {
      {"hbase:meta", NULL, "'hbase:meta' is in the namespace of HBase's own tables"},
      {"''", NULL, "'' is not a valid HBase table name"},
      {"../OTHER", NULL, "'../OTHER' is not a valid HBase table name"},
      {"A\x1b", NULL, "'A\\x1B' is not a valid HBase table name"},
      {"CURRENT", "M", "'CURRENT' is written by the daemon"},
      {"SENSOR", NULL, "'SENSOR' is written by the daemon"},
      {"OTHER", "x", "'OTHER' exists without the family 'M', so it is not a copy of 'SENSOR'"},
      {"FOREIGN", "M", "'FOREIGN' exists with rows that are not known to be a copy of 'SENSOR'"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(targets); i++) {
    if (targets[i].family != NULL) {
      scripted_gateway_create_table(fixture->gateway, targets[i].target, targets[i].family, NULL);
      TideFakeCell cell = {.family = tide_bytes_of_string(targets[i].family),
                           .qualifier = TIDE_BYTES_LITERAL("q"),
                           .value = TIDE_BYTES_LITERAL("v"),
                           .timestamp_ms = 1};
      TideFakeRow put = {.row = TIDE_BYTES_LITERAL("r"), .cells = &cell, .n_cells = 1};
      g_auto(TideFakeError) error = {0};
      g_assert_true(fake_hbase_put(scripted_gateway_hbase(fixture->gateway), targets[i].target, &put, 1,
                                   (TideFakeOrigin){0}, NULL, NULL, &error));
    }
    g_autofree char *words = g_strdup_printf(" SENSOR --to %s", targets[i].target);
    g_auto(ProgramDone) done = roll_up(fixture, words);
    if (done.exit_code != 64)
      g_error("%s: %d\n%s%s", targets[i].target, done.exit_code, done.output, done.errors);
    assert_prints(done.errors, targets[i].text);
    if (targets[i].family != NULL)
      g_assert_cmpuint(scripted_gateway_row_count(fixture->gateway, targets[i].target), ==, 1);
  }
}
