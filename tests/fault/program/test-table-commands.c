/* `tables`, `check` and `explain`, run as a user runs them, against the scripted gateway. */
#include "fault/program/program_scene.h"

static const char yaml[] = "kafka: { brokers: \"127.0.0.1:1\", group: g, topics: [t] }\n"
                           "hbase: { gateways: [\"%s\"] }\n"
                           "readings: { time: { field: ts, format: epoch_ms } }\n"
                           "tables:\n"
                           "  METRIC:\n"
                           "    key: [ { field: host }, \"#\", { time: epoch_ms } ]\n"
                           "    columns: { family: M, from: \"*\" }\n"
                           "    families: { M: { compression: gz } }\n"
                           "    splits: [\"g\", \"n\"]\n"
                           "  CURRENT:\n"
                           "    latest: replace\n"
                           "    tombstone: delete\n"
                           "    when: { field: type, equals: current }\n"
                           "    key: [ { field: host } ]\n"
                           "    columns: { family: M, from: \"*\", pack: json }\n"
                           "  PLAIN:\n"
                           "    key: [ { field: host, width: 8 }, { time: yyyyMMdd } ]\n"
                           "    columns: { family: M, from: cpu, encode: float64, qualifier: [ { time: HHmm } ] }\n"
                           "  \"DAILY_{yyyyMMdd}\":\n"
                           "    key: [ { field: host }, \"#\", { time: epoch_ms } ]\n"
                           "    columns: { family: M, from: \"*\" }\n";

static void
set_up(ProgramScene *fixture, gconstpointer framed)
{
  TideGatewayOptions options = {.framed = framed != NULL};
  fixture->gateway = scripted_gateway_new(&options);
  fixture->config_path = write_config(yaml, scripted_gateway_endpoint(fixture->gateway));
}

static guint
n_regions(ProgramScene *fixture, const char *table)
{
  g_autoptr(GPtrArray) regions = fake_hbase_regions(scripted_gateway_hbase(fixture->gateway), table);
  return regions->len;
}

PROGRAM_TEST("/table-commands/what-is-created-is-as-declared")
{
  program_scene_prints(fixture, "tables show", 1, "missing: run 'tidemark tables create'");
  program_scene_prints(fixture, "tables create", 0, "METRIC: created with 1 family and 3 regions\n");
  assert_prints(fixture->done.errors, "DAILY_{yyyyMMdd}: its tables are created with their first row");
  g_assert_cmpuint(n_regions(fixture, "METRIC"), ==, 3);
  program_scene_run(fixture, "tables show", 0);
  program_scene_prints(fixture, "tables create", 0, "METRIC: exists\n");
  program_scene_prints(fixture, "tables show CURRENT --format json", 0,
                       "{\"name\":\"hbase.hstore.time.to.purge.deletes\",\"value\":\"604800000\"}");
  assert_prints(fixture->done.output, "\"scheme\":{\"verdict\":\"same\"");
}

PROGRAM_TEST("/table-commands/differences-have-remedies")
{
  static const TideBytes splits[] = {{(const guint8 *)"g", 1}};
  TideFakeTableSpec *spec = fake_table_spec_new("METRIC");
  fake_table_spec_add_family(spec, "M");
  g_auto(TideFakeError) error = {0};
  g_assert_true(fake_hbase_create_table(scripted_gateway_hbase(fixture->gateway), spec, splits, 1, &error));
  program_scene_prints(fixture, "tables show METRIC", 1, "family 'M' has compression NONE, declared is GZ");
  assert_prints(fixture->done.output, "1 of 2 declared split points are not region boundaries: 'n'");
  assert_prints(fixture->done.output, "  alter \"METRIC\", {NAME => \"M\", COMPRESSION => 'GZ'}\n");
  assert_prints(fixture->done.output, "  split \"METRIC\", \"n\"\n");
}

PROGRAM_TEST("/table-commands/dated-tables-are-found")
{
  program_scene_run(fixture, "tables create DAILY_20170726 DAILY_20170725", 0);
  program_scene_run(fixture, "tables show DAILY_{yyyyMMdd} --format csv", 0);
  const char *first = strstr(fixture->done.output, "DAILY_20170725,yes");
  g_assert_nonnull(first);
  assert_prints(first, "DAILY_20170726,yes");
  program_scene_run(fixture, "check", 69); /* no broker */
  assert_prints(fixture->done.output, "DAILY_20170726");
  assert_prints(fixture->done.output, "its key is the one stored in the table's attribute 'TIDEMARK_SCHEME'");
  assert_prints(fixture->done.output, "METRIC            field(host) \"#\" time(ms)");
  assert_prints(fixture->done.output, "unknown  not checked: the brokers could not be asked\ngroup  ");
}

/* HBase 1.4 to 2.1: its gateway knows of no tables, and the HBase shell makes them. */
PROGRAM_TEST("/table-commands/D27-gateway-that-knows-of-no-tables")
{
  program_scene_run(fixture, "tables create METRIC", 0);
  scripted_gateway_set_personality(fixture->gateway, TIDE_PERSONALITY_OLDEST_THRIFT2);
  program_scene_run(fixture, "tables create METRIC PLAIN", 69);
  assert_prints(fixture->done.output, "METRIC: exists\n");
  assert_prints(fixture->done.errors, "cannot create tables: this needs a gateway of HBase 2.2 or later; use the HBase "
                                      "shell: create \"PLAIN\", {NAME => \"M\"}");
  program_scene_run(fixture, "check", 69); /* no broker */
  assert_prints(fixture->done.output, "table settings cannot be read: gateway '");
  assert_prints(fixture->done.output, "cannot describe tables: this needs a gateway of HBase 2.2 or later");
  program_scene_run(fixture, "tables show METRIC", 0);
  program_scene_run(fixture, "tables show DAILY_{yyyyMMdd}", 78);
  assert_prints(fixture->done.errors, "cannot list tables: this needs a gateway of HBase 2.2 or later");
}

/* HBase 2.2: whether a namespace is there is seen when it is created. */
PROGRAM_TEST("/table-commands/D27-gateway-that-lists-no-namespaces")
{
  g_autofree char *path =
      write_config("kafka: { brokers: \"127.0.0.1:1\", group: g, topics: [t] }\n"
                   "hbase: { gateways: [\"%s\"] }\n"
                   "readings: { time: { field: ts, format: epoch_ms } }\n"
                   "tables:\n"
                   "  \"plant:A\": { key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n"
                   "  \"plant:B\": { key: [ { field: host } ], columns: { family: M, from: \"*\" } }\n",
                   scripted_gateway_endpoint(fixture->gateway));
  scripted_gateway_set_personality(fixture->gateway, TIDE_PERSONALITY_OLD_THRIFT2);
  g_auto(ProgramDone) done = run_program(path, "tables create");
  g_assert_cmpint(done.exit_code, ==, 0);
  assert_prints(done.output, "plant:A: created");
  assert_prints(done.output, "plant:B: created");
  g_unlink(path);
}

/* What fails hides nothing: all that is declared has its line. */
PROGRAM_TEST("/table-commands/check-names-what-it-has-not-looked-at")
{
  static const char *const tables[] = {"METRIC", "CURRENT", "PLAIN", "DAILY_{yyyyMMdd}"};
  g_autofree char *path = write_config(yaml, "127.0.0.1:1");
  g_auto(ProgramDone) done = run_program(path, "check");
  g_assert_cmpint(done.exit_code, ==, 69);
  const char *found = strstr(done.output, "\ntable ");
  g_assert_nonnull(found);
  for (gsize i = 0; i < G_N_ELEMENTS(tables); i++) {
    found = strstr(found, tables[i]);
    g_assert_nonnull(found);
    g_autofree char *rest = g_strstrip(g_strdup(found + strlen(tables[i])));
    g_assert_true(g_str_has_prefix(rest, "unknown  not checked: no gateway is usable"));
  }
  g_unlink(path);
}

/* One table takes no rows, another cannot be looked at: each is named, and the rest is looked at all the same. */
PROGRAM_TEST("/table-commands/K16-table-that-is-refused-hides-no-other")
{
  program_scene_run(fixture, "tables create", 0);
  TideScriptedFault read_only = {.kind = TIDE_FAULT_IO_ERROR,
                                 .call = TIDE_CALL_CHECK_AND_PUT,
                                 .table = "CURRENT",
                                 .message = "region is read only"};
  TideScriptedFault unseen = {.kind = TIDE_FAULT_IO_ERROR, .call = TIDE_CALL_GET_TABLE_DESCRIPTOR, .table = "METRIC"};
  scripted_gateway_add_fault(fixture->gateway, &read_only);
  scripted_gateway_add_fault(fixture->gateway, &unseen);
  program_scene_run(fixture, "check", 69); /* no broker */
  const char *output = fixture->done.output;
  assert_prints(output, "it accepts no rows: ");
  assert_prints(output, "region is read only");
  assert_prints(output, "cannot be checked: ");
  g_assert_true(g_regex_match_simple("table +PLAIN +(ok|note)", output, 0, 0));
  g_assert_null(strstr(output, "see 'tables'"));
}

/* HBase drops what tidemark has counted as written: where the configuration does not say so, that is told. */
PROGRAM_TEST("/table-commands/K16-time-to-live-of-hbase-alone-is-told")
{
  TideFakeTableSpec *spec = fake_table_spec_new("PLAIN");
  fake_table_spec_add_family(spec, "M")->time_to_live_s = 86400;
  g_auto(TideFakeError) error = {0};
  g_assert_true(fake_hbase_create_table(scripted_gateway_hbase(fixture->gateway), spec, NULL, 0, &error));
  program_scene_run(fixture, "check", 69); /* no broker */
  g_assert_true(g_regex_match_simple("table +PLAIN +note", fixture->done.output, 0, 0));
  assert_prints(fixture->done.output, "HBase keeps the cells of family 'M' only for 86400 s");
}

/* A wrong property is the configuration's fault, not the brokers': found without them, and before anything is asked. */
PROGRAM_TEST("/table-commands/wrong-property-is-found-offline")
{
  g_autofree char *path = NULL;
  g_autoptr(GString) text = g_string_new(yaml);
  g_string_replace(text, "topics: [t]", "topics: [t], librdkafka: { socket.timeout: 5000 }", 1);
  path = write_config(text->str, scripted_gateway_endpoint(fixture->gateway));
  static const char *const words[] = {"check --offline", "check", "run"};
  for (gsize i = 0; i < G_N_ELEMENTS(words); i++) {
    g_auto(ProgramDone) done = run_program(path, words[i]);
    g_assert_cmpint(done.exit_code, ==, 78);
    const char *said = strcmp(words[i], "run") == 0 ? done.errors : done.output;
    assert_prints(said, ":1:71: error: 'socket.timeout' is not a property of librdkafka");
    assert_prints(said, "did you mean 'socket.timeout.ms'?");
  }
  g_unlink(path);
}

/* What a framed gateway would spoil is left to the shell; the rest is made, and its key fingerprint is kept elsewhere.
 */
PROGRAM_TEST_OF("framed", "/table-commands/framed-gateway-makes-what-it-can")
{
  program_scene_prints(fixture, "tables create", 69, "METRIC: not created: gateway ");
  assert_prints(fixture->done.output, "CURRENT: not created: gateway ");
  assert_prints(fixture->done.output, "PLAIN: created with 1 family and 1 region\n");
  assert_prints(fixture->done.output, "PLAIN: its key fingerprint is stored in table 'tidemark_schemes'");
  assert_prints(fixture->done.output, "create \"METRIC\", {NAME => \"M\", COMPRESSION => 'GZ'}, METADATA => {");
  assert_prints(fixture->done.output, "\"hbase.hstore.time.to.purge.deletes\" => \"604800000\"");
  assert_silent(fixture->done.output, "create \"PLAIN\"");
  g_assert_cmpuint(n_regions(fixture, "METRIC"), ==, 0);
  program_scene_run(fixture, "tables show PLAIN", 0);
  program_scene_run(fixture, "tables create PLAIN", 0);
}

#define READING "{\"host\":\"h1\",\"ts\":1501028163000,\"type\":\"%s\",\"cpu\":600.5}\n"

PROGRAM_TEST("/table-commands/explain-tells-rows-and-why-there-is-none")
{
  g_autofree char *input = g_strdup_printf(READING READING "{\"host\":\"h1\"}\n", "current", "other");
  program_scene_run_with_input(fixture, "explain --offline", input, 65);
  const char *second = strstr(fixture->done.output, "line 2, reading 1 of 1");
  g_assert_nonnull(second);
  assert_prints(fixture->done.output,
                "    deletes all cells of the row up to 1501028162999 = 2017-07-26T00:16:02.999Z, in the");
  assert_prints(fixture->done.output, "      reads as cpu  600.5\n");
  assert_prints(fixture->done.output, "    M:0016  @\\x82\\xC4\\x00\\x00\\x00\\x00\\x00  ");
  assert_prints(fixture->done.output, "      reads as 0016  600.5\n");
  assert_prints(fixture->done.output, "    row     gets such cells up to 1,440 times: 70,560 bytes\n");
  assert_prints(fixture->done.output, "    note: 'tables.PLAIN' cannot be read back completely");
  assert_prints(fixture->done.output, "  DAILY_20170726  h1#1501028163000\n");
  assert_prints(second, "  CURRENT  not written: it accepts only readings whose field 'type' is 'current'\n");
  assert_silent(second, "note:"); /* once for each table */
  const char *third = strstr(second, "line 3: rejected as missing_field");
  g_assert_nonnull(third);
  assert_prints(third, "\n  remedy: the time is read from it");
}

PROGRAM_TEST("/table-commands/commands-by-other-names-are-known")
{
  static const struct {
    const char *word, *hint;
  } cases[] = {{"start", "did you mean 'run'?"},     {"validate", "did you mean 'check'?"},
               {"lint", "did you mean 'check'?"},    {"test", "did you mean 'check'?"},
               {"statsu", "did you mean 'status'?"}, {"frobnicate", "see 'tidemark --help'"}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *said = g_strdup_printf("tidemark: unknown command '%s': %s\n", cases[i].word, cases[i].hint);
    program_scene_run(fixture, cases[i].word, 64);
    g_assert_cmpstr(fixture->done.errors, ==, said);
  }
  program_scene_tells(fixture, "bench plan", 64, "did you mean '--plan'?\n");
  program_scene_tells(fixture, "explain readings.yaml", 64,
                      "use -c for a configuration: tidemark explain -c readings.yaml\n");
  program_scene_tells(fixture, "explain /dev/null", 64,
                      "messages are read from standard input: tidemark explain … < /dev/null\n");
}

/* Silence would look like a message of which nothing comes. */
PROGRAM_TEST("/table-commands/explain-without-a-message")
{
  program_scene_run_with_input(fixture, "explain --offline", "", 0);
  assert_prints(fixture->done.errors, "tidemark explain: standard input has no message\n");
  program_scene_run_with_input(fixture, "explain --offline", "{\"host\":\"h1\",\"ts\":1501028163000,\"cpu\":1.5}\n", 0);
  assert_silent(fixture->done.errors, "has no message");
}

PROGRAM_TEST("/table-commands/H9/explain-tells-of-a-message-without-readings")
{
  program_scene_run_with_input(fixture, "explain --offline -f json", "[]\n", 0);
  g_assert_cmpstr(fixture->done.output, ==,
                  "{\"line\":1,\"readings\":0,\"text\":\"no readings in it: nothing is written\"}\n");
}

PROGRAM_TEST("/table-commands/explain-tells-regions-and-json")
{
  g_autofree char *input = g_strdup_printf(READING, "other");
  program_scene_run(fixture, "tables create METRIC", 0);
  program_scene_run_with_input(fixture, "explain", input, 0);
  assert_prints(fixture->done.output, "    region  ['g', 'n') on ");
  assert_prints(fixture->done.errors, "'DAILY_20170726' does not exist yet");
  program_scene_run_with_input(fixture, "explain --offline --format json", input, 0);
  assert_prints(fixture->done.output,
                "\"stored_bytes\":49,\"reads_as\":[{\"qualifier\":\"0016\",\"value\":\"600.5\"}]");
  assert_prints(fixture->done.output, "\"growth\":\"slots\",\"slots\":1440");
  assert_prints(fixture->done.output, "\"not_written\":\"CURRENT\"");
}

PROGRAM_TEST("/table-commands/explain-tells-what-a-tombstone-deletes")
{
  program_scene_prints(fixture, "explain --offline --tombstone --key h1 --timestamp 1501028163000", 0,
                       "line 1: no value: the rows that its key names are deleted\n  CURRENT  h1\n");
  assert_prints(fixture->done.output,
                "    deletes all cells of the row up to 1501028163000 = 2017-07-26T00:16:03.000Z\n");
  assert_prints(fixture->done.output,
                "'tables.CURRENT.when' needs 'type', which a message without a value does not have");
  program_scene_prints(fixture, "explain --offline --tombstone --key {\"host\":\"h1\",\"type\":\"other\"}", 65,
                       "line 1: rejected as tombstone: ");
  assert_prints(fixture->done.output,
                "  CURRENT  nothing deleted: it accepts only messages whose field 'type' is 'current'\n");
  program_scene_run(fixture, "explain --offline --tombstone", 64);
  program_scene_run(fixture, "explain --offline --from-topic --key h1", 64);
}

/* Whoever reads a table cannot correct the configuration, and may want standard error for what concerns the reading. */
PROGRAM_TEST("/table-commands/warnings-are-for-check-and-run")
{
  static const char warned[] = "kafka: { brokers: \"127.0.0.1:1\", group: g, topics: [t] }\n"
                               "hbase: { gateways: [\"%s\"] }\n"
                               "service: { http: \"192.0.2.1:1\", http_allow_open: true }\n"
                               "readings: { time: { field: ts, format: epoch_ms } }\n"
                               "tables:\n"
                               "  T: { key: [ { time: epoch_ms } ], columns: { family: M, from: \"*\" } }\n";
  program_scene_configure(fixture, warned, scripted_gateway_endpoint(fixture->gateway));
  program_scene_prints(fixture, "check --offline", 0, "warning: 'tables.T' starts with the time");
  g_assert_cmpint(program_scene_try(fixture, "run", NULL), !=, 0); /* that address is nobody's */
  assert_prints(fixture->done.errors, "warning: 'tables.T' starts with the time");
  assert_prints(fixture->done.errors, "cannot start: ");
  program_scene_run(fixture, "tables create", 0);
  assert_silent(fixture->done.errors, "warning");
  program_scene_run(fixture, "scan T", 0);
  g_assert_cmpstr(fixture->done.errors, ==, "0 rows\n");
}

PROGRAM_TEST("/table-commands/explain-warns-of-a-text-named-as-a-field")
{
  static const char quoted[] = "kafka: { brokers: \"127.0.0.1:1\", group: g, topics: [t] }\n"
                               "hbase: { gateways: [\"%s\"] }\n"
                               "readings: { time: { field: ts, format: epoch_ms } }\n"
                               "tables:\n"
                               "  T:\n"
                               "    key: [ \"site\", \"#\", { field: host }, \"#\", { time: epoch_ms } ]\n"
                               "    columns: { family: M, from: cpu }\n";
  program_scene_configure(fixture, quoted, scripted_gateway_endpoint(fixture->gateway));
  program_scene_run_with_input(fixture, "explain --offline",
                               "{\"host\":\"h1\",\"site\":\"s1\",\"ts\":1501028163000,\"cpu\":1}\n", 0);
  assert_prints(fixture->done.output,
                "warning: the text \"site\" of the key is also a field of the reading: to use its "
                "value, write { field: site }\n");
  assert_prints(fixture->done.output, "fields that no table uses: site\n");
  program_scene_run_with_input(fixture, "explain --offline", "{\"host\":\"h1\",\"ts\":1501028163000,\"cpu\":1}\n", 0);
  assert_silent(fixture->done.output, "is also a field");
  assert_prints(fixture->done.output, "fields taken: ts, host, cpu\n");
}

/* What the daemon would not send because nobody could ever read it. */
PROGRAM_TEST("/table-commands/explain-tells-what-has-expired")
{
  static const char expiring[] = "kafka: { brokers: \"127.0.0.1:1\", group: g, topics: [t] }\n"
                                 "hbase: { gateways: [\"%s\"] }\n"
                                 "readings: { time: { field: ts, format: epoch_ms } }\n"
                                 "tables:\n"
                                 "  SHORT:\n"
                                 "    ttl: 90d\n"
                                 "    key: [ { field: host }, \"#\", { time: epoch_ms } ]\n"
                                 "    columns: { family: M, from: \"*\" }\n"
                                 "  SHORT_INDEX:\n"
                                 "    latest: merge\n"
                                 "    index_of: SHORT\n"
                                 "    key: [ { field: host } ]\n"
                                 "    columns: { family: M, from: { value: { time: epoch_ms }, as: ts } }\n"
                                 "  MIXED:\n"
                                 "    key: [ { field: host }, \"#\", { time: epoch_ms } ]\n"
                                 "    columns: [ { family: M, from: cpu }, { family: N, from: note } ]\n"
                                 "    families: { M: { ttl: 7d } }\n";
  static const char reading[] = "{\"host\":\"h1\",\"ts\":1501028163000,\"cpu\":600.5,\"note\":\"x\"}\n";
  program_scene_configure(fixture, expiring, scripted_gateway_endpoint(fixture->gateway));
  program_scene_run_with_input(fixture, "explain --offline", reading, 0);
  assert_prints(fixture->done.output, "  SHORT  not written: expired: older than its time to live of 90d,");
  assert_prints(fixture->done.output, "  SHORT_INDEX  not written: it is the index of 'SHORT', which has no row\n");
  assert_prints(fixture->done.output, "  MIXED  h1#1501028163000\n");
  assert_prints(fixture->done.output, "    expired 1 cell omitted: older than its time to live of 7d\n");
  assert_silent(fixture->done.output, "M:cpu");
  program_scene_run_with_input(fixture, "explain --offline -f json", reading, 0);
  assert_prints(fixture->done.output,
                "\"not_written\":\"SHORT\",\"text\":\"expired: older than its time to live of 90d");
  assert_prints(fixture->done.output, "],\"expired_cells\":1,\"expired_ttl_ms\":604800000,");
}

/* Many readings show what none shows alone. */
/* What explain says of @reading, with @readings in that section of the configuration and the options @words. */
static const char *
explain_one(ProgramScene *fixture, const char *readings, const char *words, const char *reading)
{
  g_autofree char *config = g_strdup_printf("kafka: { brokers: \"127.0.0.1:1\", group: g, topics: [t] }\n"
                                            "hbase: { gateways: [\"%%s\"] }\n"
                                            "readings: { %s }\n"
                                            "tables:\n"
                                            "  A:\n"
                                            "    key: [ { field: host }, \"#\", { time: epoch_ms } ]\n"
                                            "    columns: { family: M, from: \"*\", strip_prefix: \"m/\" }\n",
                                            readings);
  g_autofree char *command = g_strchomp(g_strdup_printf("explain --offline %s", words));
  program_scene_configure(fixture, config, scripted_gateway_endpoint(fixture->gateway));
  program_scene_try(fixture, command, reading);
  return fixture->done.output;
}

#define EPOCH "time: { field: ts, format: epoch_ms }"
#define BERLIN "time: { field: ts, format: pattern, pattern: \"yyyy-MM-dd HH:mm\", zone: Europe/Berlin }"
#define NOW_NOTE "(the record's time is taken as now; give it with --timestamp)"

/* Each remedy is of what is wrong, not only of the reason's name. */
PROGRAM_TEST("/table-commands/explain-tells-a-remedy-of-what-is-wrong")
{
  static const struct {
    const char *readings, *words, *reading, *remedy;
  } cases[] = {
      {EPOCH, "", "{\"host\":\"h\",\"cpu\":1}\n", "the time is read from it: check the time's 'field'"},
      {EPOCH, "", "{\"host\":\"h\",\"ts\":null,\"cpu\":1}\n", "the time is read from it: check the time's 'field'"},
      {EPOCH, "", "{\"ts\":1501028163000,\"cpu\":1}\n", "give the key's part a 'default'"},
      {EPOCH, "", "{\"host\":\"\",\"ts\":1501028163000,\"cpu\":1}\n", "an empty field is rejected"},
      {EPOCH, "", "host=h cpu=1\n", "check that 'readings.format' is what senders write"},
      {EPOCH, "", "{\n\"host\":\"h\",\n\"ts\":1501028163000}\n",
       "check that 'readings.format' is what senders write, and that this message is complete: '--whole' reads a "
       "message of several lines, and 'jq -c .' turns it into one line\n"},
      {EPOCH, "--whole", "{\n\"host\":\"h\",\n\n",
       "check that 'readings.format' is what senders write, and that this message is complete\n"},
      {EPOCH ", format: influx", "", "cpu,host=h\n",
       "check that 'readings.format' is what senders write, and that this message is complete\n"},
      {EPOCH, "", "{\"host\":\"\\ud800\",\"ts\":1501028163000,\"cpu\":1}\n", "make senders write UTF-8"},
      {EPOCH ", max_depth: 1", "", "{\"host\":\"h\",\"ts\":1501028163000,\"m\":{\"n\":{\"x\":1}}}\n",
       "raise 'readings.max_depth'"},
      {EPOCH ", max_fields: 2", "", "{\"host\":\"h\",\"ts\":1501028163000,\"cpu\":1}\n", "raise 'readings.max_fields'"},
      {EPOCH ", max_readings: 1", "", "[{\"host\":\"h\",\"ts\":1},{\"host\":\"h\",\"ts\":2}]\n",
       "make senders send less at once, or raise the limit: 'readings.max_message_size', 'max_readings' for readings"},
      {EPOCH, "", "{\"host\":\"h\",\"ts\":1501028163000,\"\":1}\n", "make senders name it"},
      {EPOCH, "", "{\"host\":\"a#b\",\"ts\":1501028163000,\"cpu\":1}\n",
       "escape values that contain the following literal"},
      {EPOCH, "", "{\"host\":\"h\",\"ts\":1501028163000,\"m/x\":1,\"x\":2}\n", "give one of the two another name"},
      {EPOCH, "", "{\"host\":\"h\",\"ts\":1501028163000,\"x\":1,\"x\":2}\n", "make senders name each field once"},
      {EPOCH ", arrays: reject", "", "{\"host\":\"h\",\"ts\":1501028163000,\"x\":[1]}\n",
       "set 'readings.arrays' to json"},
      {BERLIN, "", "{\"host\":\"h\",\"ts\":\"2026-03-29 02:30\",\"x\":1}\n", "the zone's clocks skip this hour"},
      {BERLIN, "", "{\"host\":\"h\",\"ts\":\"next week\",\"x\":1}\n",
       "check that the time's 'field' and 'format' are those of the readings and"},
      {EPOCH, "--timestamp 2190-01-04", "{\"host\":\"h\",\"ts\":6942671999000,\"x\":1}\n",
       "set the clock of the sender or of this host"},
      {EPOCH, "", "{\"host\":\"h\",\"ts\":-1370000000000,\"x\":1}\n",
       "no option allows it: check that the time's 'format'"},
      {EPOCH, "--timestamp 2017-01-01", "{\"host\":\"h\",\"ts\":1501028163000,\"x\":1}\n", "set the sender's clock"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *remedy = g_strconcat("\n  remedy: ", cases[i].remedy, NULL);
    const char *output = explain_one(fixture, cases[i].readings, cases[i].words, cases[i].reading);
    assert_prints(output, remedy);
    assert_silent(output, NOW_NOTE);
  }
}

/* Of a message with many lines, bytes alone lead nobody to the one at fault. */
PROGRAM_TEST("/table-commands/explain-tells-the-line-of-a-message")
{
  static const char csv[] = EPOCH ", format: csv, csv: { header: true }, on_bad_reading: reading";
  assert_prints(explain_one(fixture, csv, "", "host,ts,cpu\nh,1501028163000,1\nh,1501028163000,2,3\n"),
                "line 1, reading 2 of 2: rejected as parse: not in the declared format: more values than there are "
                "columns, at byte 47 (line 3 of the message)\n");
  assert_silent(explain_one(fixture, csv, "", "host,ts,cpu,cpu\nh,1501028163000,1,2\n"), "of the message)");
}

/* A name that is misspelt is told with the one that the reading has, also where all of the message is rejected for it.
 */
PROGRAM_TEST("/table-commands/explain-tells-what-is-meant")
{
  static const char one[] = "time: { field: measured_ta, format: epoch_ms }";
  static const char each[] = "time: { field: measured_ta, format: epoch_ms }, on_bad_reading: reading";
  static const char two[] = "[{\"host\":\"h\",\"measured_at\":1501028163000,\"x\":1},"
                            "{\"host\":\"h\",\"measured_at\":1501028164000,\"x\":1}]\n";
  assert_prints(explain_one(fixture, one, "", two), ": 'measured_ta' is absent; did you mean 'measured_at'?\n");
  assert_prints(explain_one(fixture, each, "", two), "reading 2 of 2: rejected as missing_field: ");
  assert_prints(fixture->done.output, "that no reading had: measured_ta (did you mean 'measured_at'?)\n");
  assert_silent(fixture->done.output, "(from 0)");
}

/* A time that does not fit shows itself and the options that read it; with these options it is read. */
PROGRAM_TEST("/table-commands/explain-names-what-reads-a-time")
{
  static const struct {
    const char *declared, *field; /* the value as JSON */
    const char *remedy;           /* NULL: it is read as it is declared */
    const char *then;             /* the options that the remedy names, and a zone where it asks for one */
    const char *event_time;       /* in ms */
  } cases[] = {
      {"format: rfc3339", "\"2026-11-28T13:09:43+0200\"", NULL, NULL, "1795864183000"},
      {"format: rfc3339", "\"2026-11-28 13:09:43 +0100\"", NULL, NULL, "1795867783000"},
      {"format: epoch_ms", "1795871383000.123", NULL, NULL, "1795871383000"},
      {"format: rfc3339", "\"Sat, 28 Nov 2026 13:09:43 +0000\"",
       "'format: pattern' with 'pattern: \"EEE, d MMM yyyy HH:mm:ss X\"' in the time's options reads it",
       "format: pattern, pattern: \"EEE, d MMM yyyy HH:mm:ss X\"", "1795871383000"},
      {"format: rfc3339", "\"28/Nov/2026:13:09:43 +0000\"",
       "'format: pattern' with 'pattern: \"d/MMM/yyyy:HH:mm:ss X\"' in the time's options reads it",
       "format: pattern, pattern: \"d/MMM/yyyy:HH:mm:ss X\"", "1795871383000"},
      {"format: rfc3339", "\"11/28/2026 1:05:00 PM\"",
       "'format: pattern' with 'pattern: \"M/d/yyyy h:mm[:ss] a\"' and a 'zone' in the time's options reads it",
       "format: pattern, pattern: \"M/d/yyyy h:mm[:ss] a\", zone: UTC", "1795871100000"},
      {"format: rfc3339", "\"11/12/2026 13:05\"",
       "'pattern: \"d/M/yyyy H:mm[:ss[.f]]\"' and a 'zone', or 'format: pattern' with 'pattern: \"M/d/yyyy "
       "H:mm[:ss[.f]]\"' and a 'zone' in the time's options read it",
       "format: pattern, pattern: \"d/M/yyyy H:mm[:ss[.f]]\", zone: UTC", "1796994300000"},
      {"format: rfc3339", "\"28.11.2026 9:05\"", "'pattern: \"d.M.yyyy H:mm[:ss[.f][,f]]\"' and a 'zone'",
       "format: pattern, pattern: \"d.M.yyyy H:mm[:ss[.f][,f]]\", zone: UTC", "1795856700000"},
      {"format: epoch_ms", "\"2026-11-28 13:09:43,123\"", "'format: rfc3339' and a 'zone'",
       "format: rfc3339, zone: UTC", "1795871383123"},
      {"format: epoch_ms", "\"/Date(1795871383000)/\"", "'format: dotnet' in the time's options reads it",
       "format: dotnet", "1795871383000"},
      {"format: epoch_ms", "639314681830000000", "'format: ticks' in", "format: ticks", "1795871383000"},
      {"format: epoch_ms", "134403449830000000", "'format: filetime' in", "format: filetime", "1795871383000"},
      {"format: epoch_ms", "46354.548", "'format: excel' and a 'zone' in", "format: excel, zone: UTC", "1795871347200"},
      {"format: epoch_ms", "1795871383", "'format: epoch_s' in", "format: epoch_s", "1795871383000"},
      {"format: epoch_s", "1795871383000", "'format: epoch_ms' in", "format: epoch_ms", "1795871383000"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *reading = g_strdup_printf("{\"host\":\"h\",\"ts\":%s,\"x\":1}\n", cases[i].field);
    g_autofree char *time = g_strdup_printf("event time %s = ", cases[i].event_time);
    g_autofree char *value = g_strndup(cases[i].field + 1, 8);
    for (int round = cases[i].remedy != NULL ? 0 : 1; round < 2; round++) {
      g_autofree char *readings =
          g_strdup_printf("time: { field: ts, max_future: 3650d, %s }",
                          round > 0 && cases[i].then != NULL ? cases[i].then : cases[i].declared);
      const char *output = explain_one(fixture, readings, "", reading);
      assert_prints(output, round == 0 ? cases[i].remedy : time);
      if (round == 0)
        assert_prints(output, value);
    }
  }
}

/* Other remedies follow the cause, too. */
PROGRAM_TEST("/table-commands/explain-names-what-helps-by-the-cause")
{
  static const char each[] = "each: list, " EPOCH;
  assert_prints(explain_one(fixture, each, "", "{\"host\":\"o\",\"list\":[{\"host\":\"i\",\"ts\":1501028163000}]}\n"),
                "\n  remedy: it is both around the list of readings and in them: 'readings.outer_prefix' adds");
  assert_prints(explain_one(fixture, EPOCH, "", "{\"host\":\"o\",\"ts\":1501028163000,\"host\":\"i\"}\n"),
                "\n  remedy: make senders name each field once");
  static const char text[] = "\"{\\\"host\\\":\\\"h\\\",\\\"ts\\\":1501028163000,\\\"x\\\":1}\"\n";
  assert_prints(explain_one(fixture, EPOCH, "", text),
                "\n  remedy: the message is a JSON string: if it contains JSON, 'positions: [message]' and 'fields: [{ "
                "open: message, into: \"\" }]' of 'readings' open it");
  static const char opened[] = "positions: [message], fields: [{ open: message, into: \"\" }], " EPOCH;
  assert_silent(explain_one(fixture, opened, "", text), "remedy");
  assert_prints(explain_one(fixture, EPOCH, "", "{\"host\":\"\",\"ts\":1501028163000,\"x\":1}\n"),
                "\n  remedy: an empty field is rejected regardless of the key's 'default'");
  assert_silent(explain_one(fixture, "each: data/obs, " EPOCH, "", "{\"host\":\"h\",\"data\":{\"x\":1}}\n"),
                "did you mean 'data/obs'?");
}

/* Without --timestamp, what depends on the record's time says so; with it, it does not. */
PROGRAM_TEST("/table-commands/explain-tells-what-depends-on-the-records-time")
{
  static const char max_past[] = "time: { field: ts, format: epoch_ms, max_past: 1d }";
  static const char old[] = "{\"host\":\"h\",\"ts\":1501028163000,\"x\":1}\n";
  static const char twice[] = "{\"host\":\"h\",\"ts\":\"2025-10-26 02:30\",\"x\":1}\n";
  const char *output = explain_one(fixture, max_past, "", old);
  assert_prints(output, NOW_NOTE "\n  remedy: raise the time's 'max_past'; for old messages");
  assert_silent(explain_one(fixture, max_past, "--timestamp 2017-08-01", old), NOW_NOTE);
  assert_prints(explain_one(fixture, EPOCH, "", "{\"host\":\"h\",\"ts\":6942671999000,\"x\":1}\n"), NOW_NOTE);
  assert_prints(explain_one(fixture, BERLIN, "", twice), NOW_NOTE "\n  remedy: make senders write UTC or an offset");
  output = explain_one(fixture, BERLIN, "--timestamp 2025-10-26T00:31:00Z", twice);
  assert_prints(output, "line 1: a local time that occurs twice; 'ambiguous' decided which is meant\n");
  assert_prints(output, "event time 1761438600000 = ");
}

PROGRAM_TEST("/table-commands/explain-sees-keys-that-move-with-the-time")
{
  g_autoptr(GString) input = g_string_new(NULL);
  for (guint i = 0; i < 40; i++)
    g_string_append_printf(input, "{\"host\":\"%04u\",\"ts\":%" G_GINT64_FORMAT ",\"cpu\":1}\n", i,
                           G_GINT64_CONSTANT(1501028163000) + i);
  program_scene_run_with_input(fixture, "explain --offline", input->str, 0);
  assert_prints(fixture->done.output,
                "METRIC: warning: its keys increase or decrease with time: each new row sorts after all others");
}

#define LISTS "each: obs, " EPOCH
#define LIST                                                                                                           \
  "{\"host\":\"h\",\"ts\":1501028163000,\"obs\":[{\"k\":\"a\",\"v\":1},{\"k\":\"b\",\"v\":2},{\"k\":\"b\",\"v\":3}]}"  \
  "\n"

/* Long numbers are easy to read. */
PROGRAM_TEST("/table-commands/explain-groups-the-digits-of-long-numbers")
{
  g_autoptr(GString) input = g_string_new(NULL);
  for (guint i = 0; i < 500; i++)
    g_string_append(input, LIST);
  assert_prints(explain_one(fixture, LISTS, "", input->str), " of 3,000 cells are overwritten by another value");
  g_autofree char *text = g_strnfill(2000, 'x');
  g_string_printf(input, "{\"host\":\"h\",\"ts\":1501028163000,\"x\":\"%s\"}\n", text);
  assert_prints(explain_one(fixture, EPOCH, "", input->str), " bytes in HBase, 2,000 of them values\n");
}

/* Two values of one row, column and time: of one message, and of several. */
PROGRAM_TEST("/table-commands/explain-sees-values-that-are-overwritten")
{
  const char *output = explain_one(fixture, LISTS, "", LIST);
  g_assert_cmpint(fixture->done.exit_code, ==, 0);
  assert_prints(output,
                "\nA: warning: 3 of 6 cells are overwritten by another value of the same row, column and time (3 "
                "of them within one message), first in row 'h#1501028163000' M:k: one value stays, the others "
                "are lost; put a field that distinguishes the readings into the key, or name the column by it "
                "('qualifier')\n");
  assert_prints(explain_one(fixture, LISTS, "-f json", LIST),
                "{\"overwritten\":\"A\",\"cells\":3,\"weight\":\"warning\",\"text\":\"3 of 6 ");
  static const char corrected[] = "{\"host\":\"h\",\"ts\":1501028163000,\"x\":1}\n"
                                  "{\"host\":\"h\",\"ts\":1501028163000,\"x\":2}\n";
  assert_prints(explain_one(fixture, EPOCH, "-f json", corrected),
                "{\"corrected\":\"A\",\"cells\":1,\"weight\":\"note\",\"text\":\"1 cell gets another value");
  assert_prints(explain_one(fixture, EPOCH, "", corrected),
                "\nA: note: 1 cell gets another value of the same reading by a later message, and the later value "
                "stays\n");
  assert_prints(explain_one(fixture, EPOCH, "",
                            "{\"host\":\"h\",\"ts\":1501028163000,\"cpu\":\"0\",\"x\":1}\n"
                            "{\"host\":\"h\",\"ts\":1501028163000,\"cpu\":\"1\",\"x\":2}\n"),
                "\nA: warning: 2 of 4 cells are overwritten by another value of the same row, column and time (0 of ");
  assert_silent(explain_one(fixture, EPOCH, "",
                            "{\"host\":\"h\",\"ts\":1501028163000,\"x\":1,\"y\":2}\n"
                            "{\"host\":\"h\",\"ts\":1501028163000,\"x\":1}\n"
                            "{\"host\":\"h\",\"ts\":1501028163001,\"x\":3}\n"
                            "{\"host\":\"i\",\"ts\":1501028163000,\"x\":4}\n"),
                "overwritten");
}
