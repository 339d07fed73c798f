/* `tidemark verify` on correct tables, and on each kind of difference. The verdicts on cells are tested in
 * tests/unit/commands/verify, and on random stores by tests/scenarios/commands_model.py. */
#include "fault/program/program_scene.h"

#define T G_GINT64_CONSTANT(1426535612000) /* 2015-03-16T19:53:32.000Z */
#define TOPIC "metrics"
#define TIME_KEY "key: [ { field: host }, \"#\", { time: epoch_ms } ]"
#define HOST_KEY "key: [ { field: host } ]"
#define ALL_COLUMNS "columns: { family: M, from: \"*\" }"

static const char usual_tables[] = "  METRIC: { " TIME_KEY ", " ALL_COLUMNS " }\n"
                                   "  CURRENT: { latest: merge, " HOST_KEY ", " ALL_COLUMNS " }\n";

/* Settle is short, as the mock cluster takes no commit while the group rebalances: then a run does not know that all it
 * sent before is answered, and other values for the same cells wait for settle. */
static void
set_up_with(ProgramScene *fixture, const char *tables)
{
  program_scene_begin_kafka(fixture, TOPIC, 2);
  fixture->gateway = scripted_gateway_new(NULL);
  g_autofree char *yaml = g_strdup_printf("kafka: { brokers: \"%s\", group: g, topics: [" TOPIC
                                          "], session_timeout: 6s, commit_interval: 100ms }\n"
                                          "hbase: { gateways: [\"%%s\"], call_timeout: 2s, uncertain_timeout: 2s }\n"
                                          "readings: { time: { field: ts, format: epoch_ms }, on_bad_message: skip }\n"
                                          "service: { http: off }\n"
                                          "limits: { drain_timeout: 3s }\n"
                                          "tables:\n%s",
                                          mock_kafka_brokers(fixture->kafka), tables);
  fixture->config_path = write_config(yaml, scripted_gateway_endpoint(fixture->gateway));
}

static void
set_up(ProgramScene *fixture, gconstpointer unused)
{
  set_up_with(fixture, usual_tables);
  scripted_gateway_create_table(fixture->gateway, "METRIC", "M", NULL);
  scripted_gateway_create_table(fixture->gateway, "CURRENT", "M", NULL);
}

/* ---- messages and cells
 * ----------------------------------------------------------------------------------------------
 */

static void
send_reading(ProgramScene *fixture, gint32 partition, const char *host, gint64 time_ms, const char *value)
{
  g_autofree char *payload =
      g_strdup_printf("{\"host\":\"%s\",\"ts\":%" G_GINT64_FORMAT ",\"v\":\"%s\"}", host, time_ms, value);
  mock_kafka_produce_text(fixture->kafka, TOPIC, partition, payload);
}

static void
put_reading(ProgramScene *fixture, const char *table, const char *host, gint64 time_ms, const char *value)
{
  g_autofree char *row = g_strdup_printf("%s#%" G_GINT64_FORMAT, host, time_ms);
  program_scene_put(fixture, table, row, "v", time_ms, value);
}

/* What the daemon would make of a reading. */
static void
put_both(ProgramScene *fixture, const char *host, gint64 time_ms, const char *value)
{
  put_reading(fixture, "METRIC", host, time_ms, value);
  program_scene_put(fixture, "CURRENT", host, "v", time_ms, value);
}

static void
delete_row(ProgramScene *fixture, const char *table, const char *row, gint64 to_ms)
{
  TideFakeDelete gone = {.family = TIDE_BYTES_LITERAL("M"), .to_ms = to_ms};
  TideFakeRow mutation = {.row = tide_bytes_of_string(row), .deletes = &gone, .n_deletes = 1};
  g_auto(TideFakeError) error = {0};
  g_assert_true(fake_hbase_mutate_row(scripted_gateway_hbase(fixture->gateway), table, &mutation, (TideFakeOrigin){0},
                                      NULL, NULL, &error));
}

/* The whole topic, and that nothing but @samples and what one verdict counts is wrong. */
static void
assert_found(ProgramScene *fixture, const char *counts, const char *samples)
{
  int exit_code = program_scene_try(fixture, "verify --to-end", NULL);
  if (!g_str_has_prefix(fixture->done.output, samples))
    g_error("not '%s' but:\n%s%s", samples, fixture->done.output, fixture->done.errors);
  const char *tables = fixture->done.output + strlen(samples);
  if (!g_str_has_prefix(tables, "TABLE"))
    g_error("more than '%s':\n%s%s", samples, fixture->done.output, fixture->done.errors);
  assert_prints(tables, counts);
  g_assert_cmpint(exit_code, ==, strstr(tables, " difference") == NULL ? 0 : 1);
}

/* Three readings of two hosts, written as the daemon does: in any order, and again. */
static void
send_usual(ProgramScene *fixture)
{
  send_reading(fixture, 0, "a", T + 2, "2");
  send_reading(fixture, 0, "a", T + 1, "1");
  send_reading(fixture, 1, "b", T, "0");
  put_both(fixture, "a", T + 1, "1");
  put_both(fixture, "a", T + 2, "2");
  put_both(fixture, "b", T, "0");
}

/* ---- all is right ---------------------------------------------------------------------------------------------------
 */

PROGRAM_TEST("/verify/all-is-right-in-any-order-and-after-replays")
{
  for (guint replay = 0; replay < 2; replay++)
    for (guint i = 0; i < 200; i++) {
      g_autofree char *host = g_strdup_printf("host%u", i % 7);
      g_autofree char *value = g_strdup_printf("%u", i);
      gint64 time_ms = T + i * 7919 % 200; /* in no order */
      send_reading(fixture, (gint32)(i % 7 % 2), host, time_ms, value);
      put_both(fixture, host, time_ms, value);
    }
  assert_found(fixture, "METRIC     200        0      0      0           0         0\n", "");
  assert_prints(fixture->done.output, "CURRENT      7        0      0      0           0         0\n");
  assert_prints(fixture->done.output, "400 messages of 2 partitions: 800 cells, in ");
  assert_prints(fixture->done.output, "all is right\n");
  g_assert_cmpstr(fixture->done.errors, ==, "");
  g_assert_cmpint(mock_kafka_committed(fixture->kafka, "g", TOPIC, 0, tide_now_us() + TIMEOUT_US), ==, -1);
}

PROGRAM_TEST("/verify/rejected-messages-are-not-expected")
{
  send_usual(fixture);
  mock_kafka_produce_text(fixture->kafka, TOPIC, 0, "{broken");
  mock_kafka_produce_text(fixture->kafka, TOPIC, 0, "{\"ts\":1}");
  assert_found(fixture, "all is right\n", "");
  assert_prints(fixture->done.output, "1 message cannot be used (parse): nothing is expected of it\n");
}

/* ---- differences ----------------------------------------------------------------------------------------------------
 */

PROGRAM_TEST("/verify/a-row-that-is-gone-is-missing")
{
  send_usual(fixture);
  delete_row(fixture, "METRIC", "a#1426535612001", T + 1);
  delete_row(fixture, "CURRENT", "b", T);
  assert_found(fixture, "2 differences\n",
               "missing: METRIC row 'a#1426535612001' M:v of 2015-03-16T19:53:32.001Z: expected '1', found nothing "
               "(topic 'metrics' partition 0 offset 1)\n"
               "missing: CURRENT row 'b' M:v of 2015-03-16T19:53:32.000Z: expected '0', found nothing "
               "(topic 'metrics' partition 1 offset 0)\n");
}

PROGRAM_TEST("/verify/all-of-a-table-that-is-gone-is-missing")
{
  send_usual(fixture);
  g_auto(TideFakeError) error = {0};
  g_assert_true(fake_hbase_set_enabled(scripted_gateway_hbase(fixture->gateway), "METRIC", FALSE, &error));
  g_assert_true(fake_hbase_delete_table(scripted_gateway_hbase(fixture->gateway), "METRIC", &error));
  program_scene_prints(fixture, "verify --to-end --sample 0", 1, "table 'METRIC' does not exist\n");
  assert_prints(fixture->done.output, "3 differences\n");
}

PROGRAM_TEST("/verify/an-older-latest-value-is-stale")
{
  send_usual(fixture);
  delete_row(fixture, "CURRENT", "b", T);
  send_reading(fixture, 1, "b", T + 5, "5");
  put_reading(fixture, "METRIC", "b", T + 5, "5");
  program_scene_put(fixture, "CURRENT", "b", "v", T + 3,
                    "3"); /* newer than what was deleted, older than what was sent last */
  assert_found(fixture, "1 difference\n",
               "stale: CURRENT row 'b' M:v of 2015-03-16T19:53:32.005Z: expected '5', found '3' of "
               "2015-03-16T19:53:32.003Z (topic 'metrics' partition 1 offset 1)\n");
}

PROGRAM_TEST("/verify/rows-of-no-message-are-unexpected")
{
  send_usual(fixture);
  put_reading(fixture, "METRIC", "stray", T + 1, "7");
  put_reading(fixture, "METRIC", "long ago", T - 1, "7");   /* of this the topic says nothing ... */
  put_reading(fixture, "METRIC", "to come", T + 3000, "7"); /* ... nor of this */
  program_scene_put(fixture, "CURRENT", "long ago", "v", T - 1, "7");
  program_scene_put(fixture, "CURRENT", "a", "v", T + 3000, "7"); /* but here it stands for the newest */
  assert_found(fixture, "2 differences\n",
               "unexpected: METRIC row 'stray#1426535612001' M:v of 2015-03-16T19:53:32.001Z: expected nothing, found "
               "'7'\n"
               "unexpected: CURRENT row 'a' M:v of 2015-03-16T19:53:35.000Z: expected nothing, found '7'\n");
  program_scene_prints(fixture, "verify --to-end --allow-unexpected", 0,
                       "2 unexplained: made by none of the messages read\n");
  program_scene_prints(fixture, "verify --to-end --topic metrics --table METRIC", 0, "1 unexplained");
  assert_prints(fixture->done.output,
                "unexpected cells cannot be identified: with '--topic', other topics may have written");
}

/* ---- what is no difference ------------------------------------------------------------------------------------------
 */

PROGRAM_TEST("/verify/A29-values-of-several-partitions-are-a-conflict")
{
  send_reading(fixture, 0, "a", T, "zero");
  send_reading(fixture, 1, "a", T, "one, first");
  send_reading(fixture, 1, "a", T, "one");
  put_reading(fixture, "METRIC", "a", T, "one");
  program_scene_put(fixture, "CURRENT", "a", "v", T, "zero");
  assert_found(fixture, "METRIC       1        0      0      0           0         1\n",
               "conflict: METRIC row 'a#1426535612000' M:v of 2015-03-16T19:53:32.000Z: expected 'zero', found 'one' "
               "(topic 'metrics' partition 0 offset 0)\n"
               "conflict: CURRENT row 'a' M:v of 2015-03-16T19:53:32.000Z: expected 'zero', found 'zero' "
               "(topic 'metrics' partition 0 offset 0)\n");
  assert_prints(fixture->done.output, "\n2 conflicts, everything else is right\n");
  put_reading(fixture, "METRIC", "a", T, "one, first"); /* what no partition wrote last */
  program_scene_prints(fixture, "verify --to-end", 1, "1 difference\n");
}

/* The measurements of two cores, sent one after the other: neither the key nor a column tells the cores apart. A replay
 * changes nothing, and another value of the same core is a correction. */
PROGRAM_TEST("/verify/A1-readings-that-nothing-tells-apart-are-overwritten")
{
  static const char *const messages[] = {
      "{\"host\":\"a\",\"ts\":1426535612000,\"core\":\"c0\",\"v\":1}",
      "{\"host\":\"a\",\"ts\":1426535612000,\"core\":\"c1\",\"v\":2}",
      "{\"host\":\"a\",\"ts\":1426535612000,\"core\":\"c1\",\"v\":2}",
      "{\"host\":\"b\",\"ts\":1426535612000,\"core\":\"c0\",\"v\":3}",
      "{\"host\":\"b\",\"ts\":1426535612000,\"core\":\"c0\",\"v\":4}",
  };
  for (guint i = 0; i < G_N_ELEMENTS(messages); i++)
    mock_kafka_produce_text(fixture->kafka, TOPIC, 0, messages[i]);
  program_scene_run(fixture, "run --until-end", 0);
  assert_found(fixture, "METRIC       4        0      0      0           0         0\n",
               "overwritten: METRIC row 'a#1426535612000' M:core of 2015-03-16T19:53:32.000Z: expected 'c1', found "
               "'c1' (topic 'metrics' partition 0 offset 2), lost 'c0' (topic 'metrics' partition 0 offset 0)\n"
               "overwritten: METRIC row 'a#1426535612000' M:v of 2015-03-16T19:53:32.000Z: expected '2', found '2' "
               "(topic 'metrics' partition 0 offset 2), lost '1' (topic 'metrics' partition 0 offset 0)\n"
               "corrected: METRIC row 'b#1426535612000' M:v of 2015-03-16T19:53:32.000Z: expected '4', found '4' "
               "(topic 'metrics' partition 0 offset 4)\n");
  assert_prints(fixture->done.output, "2 overwritten: another reading had the same row, column and time");
  assert_prints(fixture->done.output, "\n2 differences\n");
  program_scene_prints(fixture, "verify --to-end --allow-overwritten", 0,
                       "\n2 overwritten, 1 correction, everything else is right\n");
  program_scene_prints(fixture, "verify --to-end --format json", 1,
                       "\"lost\":\"1\",\"lost_topic\":\"metrics\",\"lost_partition\":0,\"lost_offset\":0}");
  assert_prints(fixture->done.output, "\"overwritten\":2,");
  assert_prints(fixture->done.output, "\"corrected\":1,");
  assert_prints(fixture->done.output, "\"differences\":2,");
}

/* Readings of one message meet before they are sent: the daemon says so at once, of the history table alone. */
PROGRAM_TEST("/verify/A1-the-daemon-tells-of-overwritten-readings")
{
  mock_kafka_produce_text(fixture->kafka, TOPIC, 1,
                          "[{\"host\":\"a\",\"ts\":1426535612000,\"core\":\"c0\",\"v\":1},"
                          "{\"host\":\"a\",\"ts\":1426535612000,\"core\":\"c1\",\"v\":2}]");
  program_scene_run(fixture, "run --until-end", 0);
  assert_prints(
      fixture->done.errors,
      "table 'METRIC' row 'a#1426535612000': message 0 of 'metrics' partition 1 overwrites another reading, of "
      "message 0 of 'metrics' partition 1; neither the row key nor a column name distinguishes them");
  g_assert_null(strstr(fixture->done.errors, "table 'CURRENT' row"));
  program_scene_prints(fixture, "check --from-topic", 1,
                       "2 of 4 cells of these messages are overwritten by another reading, first in row "
                       "'a#1426535612000' M:core");
  assert_prints(fixture->done.output, "the newest 1 message was tried, 0 would be rejected");
}

PROGRAM_TEST("/verify/committed-offsets-bound-it-while-the-daemon-runs")
{
  send_usual(fixture);
  program_scene_tells(fixture, "verify", 65, "nothing to verify: group 'g' has committed no offset");
  program_scene_run(fixture, "run --until-end", 0);
  program_scene_prints(fixture, "verify", 0,
                       "3 messages of 2 partitions, up to the committed offsets of group 'g': 6 cells");

  send_reading(fixture, 0, "a", T + 1, "again"); /* another value of a time that is committed */
  send_reading(fixture, 0, "a", T + 9, "9");
  send_reading(fixture, 0, "c", T + 1, "c");
  send_reading(fixture, 1, "d", T + 1, "not written yet");
  put_reading(fixture, "METRIC", "a", T + 1, "again");
  put_both(fixture, "a", T + 9, "9");
  put_both(fixture, "c", T + 1, "c");
  program_scene_prints(fixture, "verify", 0,
                       "1 corrected: a later message gave the same reading another value, which is found");
  assert_prints(fixture->done.output, "1 superseded: newer cells of the same column exist");
  assert_prints(fixture->done.output, "3 beyond: made by messages outside the window");
  assert_prints(fixture->done.output, "3 messages of 2 partitions, up to");
  program_scene_prints(fixture, "verify --to-end", 1, "2 differences\n");
  program_scene_run(fixture, "verify --group other", 65);
}

/* A dead letter of partition 0's @offset. (transfer full) */
static char *
dead_letter_text(gint64 offset, const char *reason, const char *value)
{
  g_autofree char *encoded = g_base64_encode((const guchar *)value, strlen(value));
  return g_strdup_printf("{\"topic\":\"metrics\",\"partition\":0,\"offset\":%" G_GINT64_FORMAT
                         ",\"reason\":\"%s\",\"key\":null,\"value\":\"%s\"}\n",
                         offset, reason, encoded);
}

/* K15: The log's beginning is behind what is committed: what was between is in no table, and cannot be looked for. */
PROGRAM_TEST("/verify/K15-messages-deleted-before-they-were-written")
{
  g_autofree char *large = g_strnfill(500 * 1000, 'x');
  for (guint i = 0; i < 16; i++)
    mock_kafka_produce_text(fixture->kafka, TOPIC, 0, large);
  send_reading(fixture, 1, "b", T, "0");
  put_both(fixture, "b", T, "0");
  mock_kafka_commit(fixture->kafka, "g", TOPIC, 0, 2);
  mock_kafka_commit(fixture->kafka, "g", TOPIC, 1, 1);
  program_scene_prints(fixture, "verify", 1, "topic 'metrics' partition 0: offsets 2 to ");
  assert_prints(fixture->done.output,
                "were deleted from the log before they were written: 2 is committed, but the log begins at ");
  assert_prints(fixture->done.output, "\nwhat was written is right, but some messages were not written\n");
  assert_silent(fixture->done.output, "all is right");
  program_scene_prints(fixture, "verify --format json", 1,
                       "{\"type\":\"gap\",\"kind\":\"lost\",\"topic\":\"metrics\",\"partition\":0,"
                       "\"offset\":2,\"next_offset\":");
  assert_prints(fixture->done.output, "\"gaps\":1");
}

/* K15's siblings: a partition of which nothing is committed, and one that is halted. */
PROGRAM_TEST("/verify/K15-partitions-that-nobody-writes")
{
  send_usual(fixture);
  mock_kafka_commit(fixture->kafka, "g", TOPIC, 1, 1);
  program_scene_prints(fixture, "verify", 1,
                       "topic 'metrics' partition 0: offsets 0 to 1 are not written: group 'g' has committed no offset "
                       "of this partition\n");
  mock_kafka_commit_note(fixture->kafka, "g", TOPIC, 0, 2, "tidemark 1 closed span=1000 start=-25");
  program_scene_prints(fixture, "verify", 1,
                       "topic 'metrics' partition 0 is halted at offset 2: a message can be neither");
  assert_silent(fixture->done.output, "committed nothing");
  mock_kafka_commit_note(fixture->kafka, "g", TOPIC, 0, 2, "tidemark 1 closed span=1000");
  program_scene_prints(fixture, "verify", 0, "all is right");
}

/* What is lost is not hidden by a dead letter of another message that once had the same offset, nor by the reason of a
 * configuration that is no longer in force. */
PROGRAM_TEST("/verify/E5-dead-letters-of-others-excuse-nothing")
{
  static const struct {
    const char *reason;
    const char *value;
    int exit_code;
  } letters[] = {
      {"refused_by_hbase", "{\"host\":\"a\",\"ts\":1426535612001,\"v\":\"1\"}", 0},
      {"refused_by_hbase", "{\"host\":\"a\",\"ts\":1426535612001,\"v\":\"other\"}", 1},
      {"missing_field", "{\"host\":\"a\",\"ts\":1426535612001,\"v\":\"1\"}", 1},
      {"time_future", "{\"host\":\"a\",\"ts\":1426535612001,\"v\":\"1\"}", 0},
  };
  g_autofree char *path = NULL;
  g_autoptr(GError) error = NULL;
  close(g_file_open_tmp("tidemark-XXXXXX.jsonl", &path, &error));
  g_assert_no_error(error);
  send_reading(fixture, 0, "a", T + 1, "1"); /* and it is in no table */
  g_autofree char *words = g_strdup_printf("verify --to-end --letters %s", path);
  for (gsize i = 0; i < G_N_ELEMENTS(letters); i++) {
    g_autofree char *text = dead_letter_text(0, letters[i].reason, letters[i].value);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    program_scene_run(fixture, words, letters[i].exit_code);
    assert_prints(fixture->done.output, letters[i].exit_code == 0
                                            ? "1 message is a dead letter: the cells may be there or not\n"
                                            : "missing: METRIC row 'a#1426535612001'");
  }
  g_unlink(path);
  program_scene_tells(fixture, words, 69, "cannot read the dead letters: the file");
}

/* ---- other kinds of tables ------------------------------------------------------------------------------------------
 */

static void
send_pair(ProgramScene *fixture, gint64 time_ms, const char *first, const char *second)
{
  g_autofree char *payload =
      g_strdup_printf("{\"host\":\"a\",\"ts\":%" G_GINT64_FORMAT ",\"%s\":\"1\",\"%s\":\"2\"}", time_ms, first, second);
  mock_kafka_produce_text(fixture->kafka, TOPIC, 0, payload);
}

TEST_WITH(ProgramScene, NULL, program_scene_end, "/verify/replaced-rows")
{
  set_up_with(fixture, "  ROW: { latest: replace, " HOST_KEY ", " ALL_COLUMNS ", purge_deletes_after: 1d }\n");
  scripted_gateway_create_table(fixture->gateway, "ROW", "M", NULL);
  send_pair(fixture, T, "old", "kept");
  send_pair(fixture, T + 5, "new", "kept");
  send_pair(fixture, T + 2, "late", "kept");
  program_scene_put(fixture, "ROW", "a", "new", T + 5, "1");
  program_scene_put(fixture, "ROW", "a", "kept", T + 5, "2");
  assert_found(fixture, "ROW        2        0      0      0           0         0\n", "");
  assert_prints(fixture->done.output, "2 deleted: by a later reading or tombstone of the row\n");
  program_scene_put(fixture, "ROW", "a", "late", T + 2, "1");
  assert_found(fixture, "1 difference\n",
               "unexpected: ROW row 'a' M:late of 2015-03-16T19:53:32.002Z: expected nothing, found '1' "
               "(topic 'metrics' partition 0 offset 2, deleted since)\n");
}

TEST_WITH(ProgramScene, NULL, program_scene_end, "/verify/expired-cells")
{
  set_up_with(fixture, "  METRIC: { " TIME_KEY ", " ALL_COLUMNS ", ttl: 1d }\n");
  scripted_gateway_create_table(fixture->gateway, "METRIC", "M", NULL);
  gint64 now_ms = tide_wall_clock_epoch_ms();
  send_reading(fixture, 0, "a", T, "long gone");
  send_reading(fixture, 0, "a", now_ms - 60000, "there");
  put_reading(fixture, "METRIC", "a", now_ms - 60000, "there");
  assert_found(fixture, "METRIC      1        0      0      0           0         0\n", "");
  assert_prints(fixture->done.output, "1 expired: older than their table's retention\n");
}

TEST_WITH(ProgramScene, NULL, program_scene_end, "/verify/dated-tables")
{
  set_up_with(fixture, "  \"DAY_{yyyyMMdd}\": { " TIME_KEY ", " ALL_COLUMNS " }\n");
  scripted_gateway_create_table(fixture->gateway, "DAY_20150316", "M", NULL);
  scripted_gateway_create_table(fixture->gateway, "DAY_20150318", "M", NULL);
  send_reading(fixture, 0, "a", T, "0");
  send_reading(fixture, 0, "a", T + 86400000, "1"); /* whose table is not there */
  send_reading(fixture, 0, "a", T + 2 * 86400000, "2");
  put_reading(fixture, "DAY_20150316", "a", T, "0");
  put_reading(fixture, "DAY_20150318", "a", T + 2 * 86400000, "2");
  put_reading(fixture, "DAY_20150318", "b", T + 1, "stray");
  program_scene_prints(fixture, "verify --to-end", 1,
                       "missing: DAY_20150317 row 'a#1426622012000' M:v of 2015-03-17T19:53:32.000Z");
  assert_prints(fixture->done.output, "unexpected: DAY_20150318 row 'b#1426535612001' M:v");
  assert_prints(fixture->done.output, "table 'DAY_20150317' does not exist\n");
  assert_prints(fixture->done.output, "2 differences\n");
  program_scene_run(fixture, "verify --to-end --table DAY_20150316", 0);
  program_scene_run(fixture, "verify --to-end --table DAY_2015031", 64);
}

/* ---- bounds and forms -----------------------------------------------------------------------------------------------
 */

PROGRAM_TEST("/verify/json")
{
  send_usual(fixture);
  program_scene_put(fixture, "CURRENT", "b", "v", T, "9");
  program_scene_run(fixture, "verify --to-end --table CURRENT --format json", 1);
  g_assert_cmpstr(
      fixture->done.output, ==,
      "{\"type\":\"sample\",\"kind\":\"wrong\",\"table\":\"CURRENT\",\"family\":\"M\",\"time_ms\":1426535612000,"
      "\"row\":\"b\",\"row_hex\":\"62\",\"qualifier\":\"v\",\"expected\":\"0\",\"found\":\"9\","
      "\"found_time_ms\":1426535612000,\"topic\":\"metrics\",\"partition\":1,\"offset\":0}\n"
      "{\"type\":\"table\",\"table\":\"CURRENT\",\"exists\":true,\"right\":1,\"conflict\":0,\"missing\":0,\"wrong\":1,"
      "\"stale\":0,\"unexpected\":0,\"overwritten\":0,\"deleted\":0,\"expired\":0,\"corrected\":0,\"superseded\":0,"
      "\"beyond\":0,"
      "\"unexplained\":0}\n"
      "{\"type\":\"summary\",\"partitions\":2,\"messages\":3,\"cells\":3,\"rejected\":0,\"rejected_readings\":0,\"dead_"
      "lettered\":0,"
      "\"unmatched\":0,\"passes\":1,\"differences\":1,\"gaps\":0,\"whole\":true}\n");
}

PROGRAM_TEST("/verify/what-cannot-be-done-is-said")
{
  send_usual(fixture);
  program_scene_tells(fixture, "verify --from now --to -1h", 64, "'--from' must be before '--to'");
  program_scene_tells(fixture, "verify --to-end --table METRICS", 64, "did you mean 'METRIC'?");
  program_scene_tells(fixture, "verify --to-end --table METRIC_20150316", 64,
                      "is a copy made by 'tidemark rollup': verify 'METRIC'");
  program_scene_tells(fixture, "verify --to-end --topic other", 69, "topic 'other' does not exist");
  scripted_gateway_refuse(fixture->gateway);
  program_scene_tells(fixture, "verify --to-end", 69, "no gateway is usable");
}

/* A gateway that loses connections and answers late costs time, and nothing of what is found. */
PROGRAM_TEST("/verify/lost-connections-change-nothing")
{
  send_usual(fixture);
  TideScriptedFault cut = {.kind = TIDE_FAULT_CLOSE_BEFORE_REPLY, .call = TIDE_CALL_GET_SCANNER_ROWS, .max_hits = 3};
  scripted_gateway_add_fault(fixture->gateway, &cut);
  put_reading(fixture, "METRIC", "a", T + 1, "9\x01");
  assert_found(fixture, "1 difference\n",
               "wrong: METRIC row 'a#1426535612001' M:v of 2015-03-16T19:53:32.001Z: expected '1', found '9\\x01' "
               "(topic 'metrics' partition 0 offset 1)\n");
}
