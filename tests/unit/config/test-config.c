#include "decode/formats.h"
#include "thrift/wire/wire.h"
#include "unit/config-texts.h"
#include "unit/test_case.h"

#include <sys/stat.h>
#include <unistd.h>

TEST("/config/values-reach-their-places")
{
  g_autoptr(TideConfig) config =
      load_good("kafka: { brokers: [\"a:9092\", \"[::1]:9093\"], group: g, topics: t, threads: 3,\n"
                "  start: \"2015-03-16T19:53:32.045Z\", session_timeout: 1m, commit_interval: 250ms,\n"
                "  librdkafka: { client.id: me, sasl.password: hush } }\n"
                "hbase: { gateways: [\"g:1\", \"unix:/run/x\"], transport: framed-compact, max_cell_size: 1KiB }\n"
                "readings: { separator: \".\", booleans: number, arrays: index, on_bad_message: skip,\n"
                "  time: { field: t, format: pattern, pattern: \"HH:mm\", zone: Europe/Berlin, max_future: 1h,\n"
                "    ambiguous: later,\n"
                "    earliest: 2010-01-01, date: { field: d, pattern: yyyyMMdd } } }\n"
                "limits: { memory: 1GiB }\n"
                "service: { http: off, log_level: debug, log_format: json, startup: fail }\n" TABLES);

  g_assert_cmpstr(config->kafka.brokers, ==, "a:9092,[::1]:9093");
  g_assert_cmpstr(config->kafka.topics[0], ==, "t");
  g_assert_null(config->kafka.topics[1]);
  g_assert_cmpuint(config->kafka.threads, ==, 3);
  g_assert_cmpint(config->kafka.start, ==, TIDE_START_TIME);
  g_assert_cmpint(config->kafka.start_epoch_ms, ==, 1426535612045);
  g_assert_cmpint(config->kafka.session_timeout_ms, ==, 60000);
  g_assert_cmpint(config->kafka.max_poll_interval_ms, ==, 300000);
  g_assert_cmpint(config->kafka.commit_interval_ms, ==, 250);
  g_assert_cmpuint(config->kafka.properties->len, ==, 2);
  g_assert_false(g_array_index(config->kafka.properties, TideKafkaProperty, 0).secret);
  g_assert_true(g_array_index(config->kafka.properties, TideKafkaProperty, 1).secret);
  g_assert_cmpuint(config->hbase.gateways->len, ==, 2);
  g_assert_cmpint(config->hbase.framing, ==, TIDE_FRAMING_FRAMED);
  g_assert_cmpint(config->hbase.protocol, ==, TIDE_WIRE_COMPACT);
  g_assert_cmpuint(config->hbase.max_cell_bytes, ==, 1024);
  g_assert_cmpstr(config->readings.decode.separator, ==, ".");
  g_assert_cmpint(config->readings.decode.booleans, ==, TIDE_BOOLEAN_NUMBER);
  g_assert_cmpint(config->readings.decode.arrays, ==, TIDE_ARRAY_INDEX);
  g_assert_cmpint(config->readings.on_bad_message, ==, TIDE_BAD_MESSAGE_SKIP);
  g_assert_cmpint(config->readings.time.format, ==, TIDE_TIME_PATTERN);
  g_assert_cmpstr(config->readings.time.pattern->text, ==, "HH:mm");
  g_assert_cmpstr(config->readings.time.date_pattern->text, ==, "yyyyMMdd");
  g_assert_cmpstr(g_time_zone_get_identifier(config->readings.time.zone), ==, "Europe/Berlin");
  g_assert_cmpint(config->readings.time.on_ambiguous, ==, TIDE_AMBIGUOUS_LATER);
  g_assert_cmpint(config->readings.time.max_future_ms, ==, 3600000);
  g_assert_cmpint(config->readings.time.earliest_epoch_ms, ==, 1262304000000);
  g_assert_cmpuint(config->readings.time.field, ==, tide_field_names_find(config->names, TIDE_BYTES_LITERAL("t")));
  g_assert_cmpuint(config->readings.time.date_field, ==, tide_field_names_find(config->names, TIDE_BYTES_LITERAL("d")));
  g_assert_cmpuint(config->limits.memory_bytes, ==, 1073741824);
  g_assert_cmpstr(config->service.http_listen, ==, "off");
  g_assert_cmpint(config->service.log_level, ==, TIDE_LOG_DEBUG);
  g_assert_cmpint(config->service.log_format, ==, TIDE_LOG_FORMAT_JSON);
  g_assert_cmpint(config->service.startup, ==, TIDE_STARTUP_FAIL);
}

/* Of any scalar, also in lists and tables; nothing of it is read as YAML. */
TEST("/config/values-out-of-the-environment")
{
  g_setenv("TIDE_TEST_BROKERS", "a:9092,b:9093", TRUE);
  g_setenv("TIDE_TEST_TOPIC", "readings", TRUE);
  g_setenv("TIDE_TEST_THREADS", "3", TRUE);
  g_setenv("TIDE_TEST_SITE", "~", TRUE);
  g_autoptr(TideConfig) config = load_good(
      "kafka: { brokers: { env: TIDE_TEST_BROKERS }, group: g, topics: [{ env: TIDE_TEST_TOPIC }, u], "
      "threads: { env: TIDE_TEST_THREADS } }\n" READINGS HBASE
      "tables: { T: { key: [{ env: TIDE_TEST_SITE }, \"#\", { field: host }, \"#\", { time: epoch_ms }], " COLUMNS
      " } }\n");
  const TideTable *table = g_ptr_array_index(config->tables, 0);
  g_autofree char *key = tide_row_key_describe(table->key, config->names);
  g_assert_cmpstr(config->kafka.brokers, ==, "a:9092,b:9093");
  g_assert_cmpstr(config->kafka.topics[0], ==, "readings");
  g_assert_cmpstr(config->kafka.topics[1], ==, "u");
  g_assert_cmpuint(config->kafka.threads, ==, 3);
  g_assert_cmpstr(key, ==, "\"~\" \"#\" field(host) \"#\" time(ms)");
}

/* A password in the environment is refused: who may look at the process would see it. */
TEST("/config/secrets-are-not-taken-from-the-environment")
{
  g_autoptr(GPtrArray) problems = NULL;
  g_setenv("TIDE_TEST_PASSWORD", "hush", TRUE);
  g_autoptr(TideConfig) config = load_config(WITH_PROPERTY("sasl.password: { env: TIDE_TEST_PASSWORD }"), &problems);
  g_autofree char *all = describe_problems(problems);
  g_assert_null(config);
  g_assert_nonnull(strstr(all, "sasl.password"));
  g_assert_null(strstr(all, "hush"));
}

/* A byte order mark, which some editors put in front, is no part of the first key. */
TEST("/config/byte-order-mark-is-passed-over")
{
  g_autoptr(TideConfig) config G_GNUC_UNUSED = load_good("\xef\xbb\xbf" KAFKA READINGS HBASE TABLES);
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(TideConfig) bad = load_config("\xef\xbb\xbfkafkaa: 1\n", &problems);
  g_autofree char *all = describe_problems(problems);
  g_assert_null(bad);
  g_assert_nonnull(strstr(all, "1:1 error: 'kafkaa' is not known; did you mean 'kafka'"));
}

/* Texts of a key that look like no field, and quoted ones, stand in it as they are. */
TEST("/config/texts-of-a-key-need-quotes-only-where-they-may-be-fields")
{
  g_autoptr(TideConfig) config = load_good(WITH_KEY("[\"site\", _, { field: host }, 7, \"#\", { time: epoch_ms }]"));
  const TideTable *table = g_ptr_array_index(config->tables, 0);
  g_autofree char *key = tide_row_key_describe(table->key, config->names);
  g_assert_cmpstr(key, ==, "\"site\" \"_\" field(host) \"7\" \"#\" time(ms)");
}

TEST("/config/defaults-are-in-force")
{
  g_autoptr(TideConfig) config = load_good(KAFKA READINGS HBASE TABLES "batch:\nlimits:\n");

  g_assert_cmpuint(config->kafka.threads, ==, 2);
  g_assert_cmpint(config->kafka.start, ==, TIDE_START_EARLIEST);
  g_assert_cmpint(config->hbase.framing, ==, -1);
  g_assert_cmpint(config->hbase.protocol, ==, -1);
  g_assert_cmpint(config->hbase.settle_ms, ==, 20 * 60 * 1000);
  g_assert_cmpuint(config->hbase.max_cell_bytes, ==, 10485760);
  g_assert_cmpuint(config->batch.max_bytes, ==, 1048576);
  g_assert_cmpint(config->readings.time.earliest_epoch_ms, ==, 946684800000);
  g_assert_cmpuint(config->readings.time.date_field, ==, TIDE_NAME_NONE);
  g_assert_cmpint(config->readings.on_bad_message, ==, TIDE_BAD_MESSAGE_DEAD_LETTER);
  g_assert_cmpstr(config->service.http_listen, ==, "127.0.0.1:9464");
}

TEST("/config/time-of-the-record")
{
  static const char *const texts[] = {WITH_TIME("record"), WITH_TIME("{ format: record, earliest: 2020-01-01 }")};

  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_autoptr(TideConfig) config = load_good(texts[i]);
    g_assert_cmpint(config->readings.time.format, ==, TIDE_TIME_RECORD);
    g_assert_cmpuint(config->readings.time.field, ==, TIDE_NAME_NONE);
  }
}

TEST("/config/keys-are-compiled-as-written")
{
  static const struct {
    const char *key;
    const char *described;
  } cases[] = {
      {WITH_KEY("[{ field: host }, \"#\", { time: epoch_ms }]"), "field(host) \"#\" time(ms)"},
      {WITH_KEY("[{ field: meter, width: 10, pad: 0 }, { time: epoch_s }]"),
       "field(meter, width 10, padded left with \"0\") time(s)"},
      {WITH_KEY("[{ field: meter, width: 10 }, { time: epoch_us }]"),
       "field(meter, width 10, padded right with \" \") time(us)"},
      {WITH_KEY("[{ field: meter, width: 10, pad: \"_\", align: right }, { time: epoch_ns, binary: true }]"),
       "field(meter, width 10, padded left with \"_\") time(ns, binary)"},
      {WITH_KEY("[{ field: host, default: none }, { hex: \"00FF\" }, { time: epoch_ms, reversed: true }]"),
       "field(host, default \"none\") \"\\x00\\xFF\" time(ms, reversed)"},
      {WITH_KEY("[{ hash: md5, of: host, bytes: 4, as: raw }, { field: host }, { time: epoch_ms }]"),
       "hash(md5, 4 bytes, raw of field(host)) field(host) time(ms)"},
      {WITH_KEY("[{ hash: sha256, of: [host, { field: metric }] }, { time: epoch_ms }]"),
       "hash(sha256, 32 bytes, hex of field(host) field(metric)) time(ms)"},
      {WITH_KEY("[{ salt: 16, of: [host] }, \"#\", { field: host }, \"#\", { time: epoch_ms }]"),
       "salt(16, width 2, xxh3 of field(host)) \"#\" field(host) \"#\" time(ms)"},
      {WITH_KEY("[{ salt: 8, hash: crc32, width: 3, of: [$key] }, { field: $key }, \"\\x00\", { time: epoch_ms }]"),
       "salt(8, width 3, crc32 of field($key)) field($key) \"\\x00\" time(ms)"},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(TideConfig) config = load_good(cases[i].key);
    const TideTable *table = tide_config_find_table(config, "T");
    g_autofree char *described = tide_row_key_describe(table->key, config->names);
    g_assert_cmpstr(described, ==, cases[i].described);
  }
}

TEST("/config/columns-are-compiled-as-written")
{
  g_autoptr(TideConfig) config =
      load_good(WITH_COLUMNS("[{ family: A, from: [x, { field: y, as: Y }], nulls: reject }, { family: B, from: "
                             "z, nulls: empty }, { family: C, from: \"*\", key_fields: true }]"));
  const TideTable *table = tide_config_find_table(config, "T");
  const TideColumnRule *rules = &g_array_index(table->rules, TideColumnRule, 0);

  g_assert_cmpuint(table->rules->len, ==, 3);
  g_assert_cmpstr(rules[0].family, ==, "A");
  g_assert_cmpuint(rules[0].n_items, ==, 2);
  g_assert_false(rules[0].all_remaining);
  g_assert_cmpint(rules[0].nulls, ==, TIDE_NULL_REJECT);
  g_assert_cmpuint(rules[0].items[1].field, ==, tide_field_names_find(config->names, TIDE_BYTES_LITERAL("y")));
  g_assert_null(rules[0].items[0].qualifier);
  g_assert_cmpstr(rules[0].items[1].qualifier, ==, "Y");
  g_assert_cmpuint(rules[1].n_items, ==, 1);
  g_assert_cmpint(rules[1].nulls, ==, TIDE_NULL_EMPTY);
  g_assert_true(rules[2].all_remaining);
  g_assert_true(rules[2].with_key_fields);
  g_assert_cmpint(rules[2].nulls, ==, TIDE_NULL_SKIP);
  /* Families that are not declared are made as HBase makes them. */
  g_assert_cmpuint(table->families->len, ==, 3);
}

TEST("/config/tables-are-created-as-written")
{
  g_autoptr(TideConfig) config = load_good(
      KAFKA READINGS HBASE
      "tables:\n"
      "  A:\n"
      "    key: [{ field: host }, \"#\", { time: epoch_ms }]\n"
      "    columns: [{ family: M, from: \"*\" }, { family: N, from: [n] }]\n"
      "    ttl: 30d\n"
      "    batch_prefix: 3\n"
      "    splits: [\"a\", \"m\", { hex: \"ff00\" }]\n"
      "    families:\n"
      "      M: { compression: gz, bloom: rowcol, encoding: row_index_v1, versions: 3, ttl: 90d, block_size: 64KiB,\n"
      "           in_memory: true }\n"
      "  ns:B:\n"
      "    latest: merge\n"
      "    key: { field: host }\n"
      "    columns: { family: M, from: \"*\" }\n"
      "  C:\n"
      "    key: [{ salt: 4, of: host }, { field: host }, \"#\", { time: epoch_ms }]\n"
      "    columns: { family: M, from: \"*\" }\n"
      "  D:\n"
      "    key: [{ hash: md5, of: host, bytes: 4, as: raw }, { field: host }, \"#\", { time: epoch_ms }]\n"
      "    columns: { family: M, from: \"*\" }\n"
      "    regions: 8\n");
  const TideTable *a = tide_config_find_table(config, "default:A");
  const TideTable *b = tide_config_find_table(config, "ns:B");
  const TideFamilySettings *m = g_ptr_array_index(a->families, 0);
  const TideFamilySettings *n = g_ptr_array_index(a->families, 1);

  g_assert_cmpint(a->ttl_ms, ==, G_GINT64_CONSTANT(2592000000));
  g_assert_cmpuint(a->lane_prefix_bytes, ==, 3);
  g_assert_cmpuint(a->line, ==, 5);
  g_assert_cmpint(a->latest, ==, TIDE_LATEST_NONE);
  g_assert_cmpuint(a->splits->len, ==, 3);
  g_assert_true(tide_bytes_equal(g_array_index(a->splits, TideBytes, 2), TIDE_BYTES_LITERAL("\xff\x00")));
  g_assert_cmpint(m->compression, ==, TIDE_COMPRESSION_GZ);
  g_assert_cmpint(m->bloom_filter, ==, 2);
  g_assert_cmpint(m->data_block_encoding, ==, 7);
  g_assert_cmpint(m->max_versions, ==, 3);
  g_assert_cmpint(m->time_to_live_s, ==, 90 * 86400);
  g_assert_cmpint(m->block_size_bytes, ==, 65536);
  g_assert_cmpint(m->in_memory, ==, 1);
  g_assert_cmpstr(n->name, ==, "N");
  g_assert_cmpint(n->compression, ==, -1);
  g_assert_cmpint(n->in_memory, ==, -1);
  g_assert_cmpuint(b->index, ==, 1);
  g_assert_cmpint(b->latest, ==, TIDE_LATEST_MERGE);
  g_assert_cmpuint(tide_config_find_table(config, "C")->splits->len, ==, 3);
  g_assert_cmpuint(tide_config_find_table(config, "D")->splits->len, ==, 7);
  g_assert_null(tide_config_find_table(config, "B"));
}

/* Readings that carry their own time: no word of it, or of its unit alone. */
TEST("/config/own-time")
{
  static const struct {
    const char *readings;
    TideTimeFormat format;
    gboolean has_field;
  } cases[] = {
      {"", TIDE_TIME_EPOCH_NS, TRUE},
      {", time: { max_future: 1h }", TIDE_TIME_EPOCH_NS, TRUE},
      {", time: epoch_s", TIDE_TIME_EPOCH_S, TRUE},
      {", time: { format: epoch_ms }", TIDE_TIME_EPOCH_MS, TRUE},
      {", time: record", TIDE_TIME_RECORD, FALSE},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = g_strdup_printf(KAFKA "readings: { format: influx%s }\n" HBASE TABLES, cases[i].readings);
    g_autoptr(TideConfig) config = load_good(text);
    const TideTimeSpec *time = &config->readings.time;
    g_assert_cmpint(config->readings.decode.format, ==, TIDE_FORMAT_INFLUX);
    g_assert_cmpint(time->format, ==, cases[i].format);
    g_assert_cmpuint(time->field, ==,
                     cases[i].has_field ? tide_field_names_find(config->names, TIDE_BYTES_LITERAL("time"))
                                        : TIDE_NAME_NONE);
  }
}

/* A table's own time has the same short forms. */
TEST("/config/own-time-of-a-table")
{
  g_autoptr(TideConfig) config = load_good(KAFKA "readings: { format: influx }\n" HBASE
                                                 "tables: { T: { time: epoch_s, key: [{ field: host }, \"#\", "
                                                 "{ time: epoch_ms }], " COLUMNS " } }\n");
  const TideTable *table = tide_config_find_table(config, "T");
  g_assert_cmpint(table->time->format, ==, TIDE_TIME_EPOCH_S);
  g_assert_cmpuint(table->time->field, ==, tide_field_names_find(config->names, TIDE_BYTES_LITERAL("time")));
}

TEST("/config/printed-configuration-loads-to-the-same")
{
  static const char *const texts[] = {
      KAFKA READINGS HBASE TABLES,
      WITH_TIME("record"),
      KAFKA "readings: { format: influx }\n" HBASE TABLES,
      KAFKA "readings: { format: msgpack, arrays: index, time: { field: at, format: epoch_s } }\n" HBASE TABLES,
      KAFKA "readings: { root: payload/after, each: metrics, time: record }\n" HBASE TABLES,
      KAFKA "readings: { format: msgpack, root: payload/after, each: metrics, time: record }\n" HBASE TABLES,
      KAFKA "readings: { format: influx, time: record, booleans: number }\n" HBASE TABLES,
      KAFKA "readings: { format: influx, time: { format: epoch_s, max_past: 1h } }\n" HBASE TABLES,
      KAFKA "readings: { format: protobuf, schema: \"" TIDE_PROTOBUF_TEST_SET
            "\", message: plant.Reading, time: record, each: parts, on_bad_reading: reading, max_readings: 7 }\n" HBASE
                TABLES,
      WITH_CSV("header: true"),
      WITH_CSV("columns: [\"a b\", \" c\"], delimiter: \"\\t\", quotes: false, null_values: [\"\", NA, \" \"]"),
      WITH_CSV("columns: a, null_values: []"),
      WITH_TIME("{ field: \"a b\", format: pattern, pattern: \"HH:mm\", zone: \"+02:00\", date: { field: d, pattern: "
                "\"dd.MM.yyyy\" } }"),
      WITH_PROPERTY("client.id: \"a: b\", security.protocol: ssl"),
      WITH_KEY("[{ hash: sha1, of: [a, { field: b, default: { hex: \"0102\" } }] }, \"\\x01\", { time: epoch_ms }]"),
  };

  for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
    if (tide_format_is_built_in(TIDE_FORMAT_PROTOBUF) || strstr(texts[i], "format: protobuf") == NULL)
      assert_prints_to_the_same(texts[i]);
  }
}

static void
write_file(const char *path, const char *text, guint mode)
{
  g_assert_true(g_file_set_contents(path, text, -1, NULL));
  g_assert_cmpint(g_chmod(path, mode), ==, 0);
}

/* All that can be shown of a configuration. */
static char *
show_everything(const char *path, const char *text, TideConfig **ret_config)
{
  g_autoptr(GPtrArray) problems = NULL;
  TideConfig *config = tide_config_load(path, &problems);
  GString *all = g_string_new(NULL);

  for (guint i = 0; i < problems->len; i++) {
    g_autofree char *line = tide_config_problem_format(g_ptr_array_index(problems, i), path, text);
    g_string_append_printf(all, "%s\n", line);
  }
  if (config != NULL) {
    g_autofree char *printed = tide_config_print(config);
    g_string_append(all, printed);
  }
  *ret_config = config;
  return g_string_free(all, FALSE);
}

FILE_TEST("/config/secrets-are-never-shown")
{
  g_autofree char *from_file = g_strdup_printf("sasl.password: { file: %s }", fixture->other_path);
  const char *inlined[] = {from_file, "sasl.password: canary", "ssl.key.password: canary", "ssl.key.pem: \"canary\"",
                           "sasl.oauthbearer.client.secret: 'canary'"};

  write_file(fixture->other_path, "canary\n", 0600);
  for (gsize i = 0; i < G_N_ELEMENTS(inlined); i++) {
    g_autofree char *text = g_strdup_printf(
        "kafka: { brokers: b, group: g, topics: [t], librdkafka: { security.protocol: plaintext, %s } }\n" READINGS
            HBASE TABLES,
        inlined[i]);
    g_autofree char *broken = g_strdup_printf("kafka: { brokers: b, group: g, topics: [t], librdkafka: { %s }, "
                                              "thread: 1 }\n" READINGS HBASE TABLES,
                                              inlined[i]);
    g_autoptr(TideConfig) config = NULL;
    g_autoptr(TideConfig) no_config = NULL;
    write_file(fixture->config_path, text, 0640);
    g_autofree char *shown = show_everything(fixture->config_path, text, &config);
    g_assert_nonnull(config);
    g_assert_nonnull(strstr(shown, "\"***\""));
    g_assert_null(strstr(shown, "canary"));
    const GArray *properties = config->kafka.properties;
    g_assert_cmpstr(g_array_index(properties, TideKafkaProperty, properties->len - 1).value, ==, "canary");
    write_file(fixture->config_path, broken, 0640);
    g_autofree char *complaint = show_everything(fixture->config_path, broken, &no_config);
    g_assert_null(no_config);
    g_assert_nonnull(strstr(complaint, "did you mean 'threads'"));
    g_assert_null(strstr(complaint, "canary"));
  }
}

/* Relative to the file, wherever the process is; of memory, to where the process is. */
FILE_TEST("/config/U5-relative-paths-begin-at-the-file")
{
  static const char text[] =
      "kafka: { brokers: b, group: g, topics: [t], librdkafka: { ssl.ca.location: ca.pem,"
      " ssl.key.location: /abs/key.pem, sasl.password: { file: beside }, security.protocol: ssl } }\n" READINGS HBASE
          TABLES "dead_letters: { file: kept/letters.jsonl }\n";
  g_autofree char *dead_letters = g_build_filename(fixture->directory, "kept", "letters.jsonl", NULL);
  g_autofree char *ca = g_build_filename(fixture->directory, "ca.pem", NULL);
  g_autofree char *here = g_get_current_dir();
  write_file(fixture->other_path, "canary\n", 0600);
  write_file(fixture->config_path, text, 0640);
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(TideConfig) config = tide_config_load(fixture->config_path, &problems);
  g_assert_nonnull(config);
  g_assert_cmpstr(config->directory, ==, fixture->directory);
  g_assert_cmpstr(config->dead_letters.file, ==, dead_letters);
  const TideKafkaProperty *properties = (const TideKafkaProperty *)(gconstpointer)config->kafka.properties->data;
  g_assert_cmpstr(properties[0].value, ==, ca);
  g_assert_cmpstr(properties[1].value, ==, "/abs/key.pem");
  g_assert_cmpstr(properties[2].value, ==, "canary");

  g_autofree char *below_here = g_build_filename(here, "letters.jsonl", NULL);
  g_autoptr(TideConfig) of_memory = load_good(KAFKA READINGS HBASE TABLES "dead_letters: { file: letters.jsonl }\n");
  g_assert_null(of_memory->directory);
  g_assert_cmpstr(of_memory->dead_letters.file, ==, below_here);
}

FILE_TEST("/config/F8-secret-in-a-file-for-all-is-refused")
{
  const char *text = WITH_PROPERTY("sasl.password: canary");
  g_autofree char *remedy = g_strdup_printf("run 'chmod 0640 %s'", fixture->config_path);
  g_autoptr(TideConfig) config = NULL;

  write_file(fixture->config_path, text, 0644);
  g_autofree char *shown = show_everything(fixture->config_path, text, &config);
  g_assert_null(config);
  g_assert_nonnull(strstr(shown, "every user can read (mode 0644)"));
  g_assert_nonnull(strstr(shown, remedy));
  g_assert_null(strstr(shown, "canary"));
}

static void
assert_file_refused(const char *path, const char *words)
{
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(TideConfig) config = tide_config_load(path, &problems);

  g_assert_null(config);
  g_assert_cmpuint(problems->len, ==, 1);
  g_autofree char *shown = tide_config_problem_format(g_ptr_array_index(problems, 0), path, NULL);
  g_autofree char *expected = g_strdup_printf("%s: error: %s", path, words);
  if (!g_str_has_prefix(shown, expected))
    g_error("got \"%s\", expected \"%s\"", shown, expected);
}

FILE_TEST("/config/F1-F4-F16-useless-fixture-are-refused")
{
  g_autofree char *missing = g_build_filename(fixture->directory, "missing.yaml", NULL);
  g_autofree char *fifo = g_build_filename(fixture->directory, "fifo", NULL);
  g_autofree char *large = g_strnfill(10 * 1024 * 1024, '#');

  g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
  assert_file_refused(missing, "cannot be opened: No such file or directory: name the configuration with '-c FILE', or "
                               "create one from sample messages with 'tidemark init'");
  assert_file_refused(fixture->directory, "is a directory");
  assert_file_refused(fifo, "is not a regular file");
  assert_file_refused("/dev/zero", "is not a regular file");
  write_file(fixture->config_path, "", 0600);
  assert_file_refused(fixture->config_path,
                      "the file is empty: 'tidemark check --print-defaults' prints a sample with all options");
  write_file(fixture->config_path, large, 0600);
  assert_file_refused(fixture->config_path, "the file is larger than 1048576 bytes");
  g_assert_cmpint(g_remove(fifo), ==, 0);
}

FILE_TEST("/config/F16-symbolic-link-is-followed")
{
  g_autoptr(GPtrArray) problems = NULL;

  write_file(fixture->other_path, KAFKA READINGS HBASE TABLES, 0600);
  g_assert_cmpint(symlink(fixture->other_path, fixture->config_path), ==, 0);
  g_autoptr(TideConfig) config = tide_config_load(fixture->config_path, &problems);
  g_assert_nonnull(config);
  g_assert_cmpstr(config->path, ==, fixture->config_path);
}

/* In a process of its own, whose input is a pipe with the configuration. */
TEST("/config/F16-standard-input-is-read")
{
  if (g_test_subprocess()) {
    static const char text[] = KAFKA READINGS HBASE TABLES;
    g_autoptr(GPtrArray) problems = NULL;
    int ends[2];
    g_assert_cmpint(pipe(ends), ==, 0);
    g_assert_cmpint(dup2(ends[0], STDIN_FILENO), ==, STDIN_FILENO);
    g_assert_cmpint(write(ends[1], text, sizeof text - 1), ==, sizeof text - 1);
    close(ends[1]);
    g_autoptr(TideConfig) config = tide_config_load("/dev/stdin", &problems);
    g_assert_nonnull(config);
    return;
  }
  g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_passed();
}

static char *
read_source(const char *name)
{
  g_autofree char *path = g_build_filename(TIDE_TEST_SOURCE_DIR, name, NULL);
  char *text = NULL;

  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  return text;
}

static void
write_source(const char *name, const char *text)
{
  g_autofree char *path = g_build_filename(TIDE_TEST_SOURCE_DIR, name, NULL);
  g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static void
assert_as_printed(const char *name, const char *text, const char *printed)
{
  if (strcmp(text, printed) == 0)
    return;
  g_test_message("%s is not what the option tables print: `./check --write` puts it anew", name);
  g_test_fail();
}

#define SAMPLE "config/tidemark.yaml"
#define REFERENCE "docs/options.md"
#define REFERENCE_BEGIN "<!-- reference begins -->\n"
#define REFERENCE_END "\n<!-- reference ends -->"

TEST("/config/sample-file-is-the-printed-one")
{
  g_autofree char *sample = read_source(SAMPLE);
  g_autofree char *printed = tide_config_print_defaults();
  g_autoptr(TideConfig) config = load_good(printed);

  g_assert_cmpuint(config->tables->len, ==, 2);
  assert_as_printed(SAMPLE, sample, printed);
}

/* The page of the reference, with the tables as they are printed between its markers. */
static char *
reference_as_printed(const char *page)
{
  g_autofree char *printed = tide_config_print_reference();
  const char *begin = strstr(page, REFERENCE_BEGIN);
  g_assert_nonnull(begin);
  begin += strlen(REFERENCE_BEGIN);
  const char *end = strstr(begin - 1, REFERENCE_END);
  g_assert_nonnull(end);
  g_autofree char *front = g_strndup(page, (gsize)(begin - page));
  return g_strconcat(front, printed, end, NULL);
}

TEST("/config/reference-is-the-printed-one")
{
  g_autofree char *page = read_source(REFERENCE);
  g_autofree char *expected = reference_as_printed(page);

  assert_as_printed(REFERENCE, page, expected);
}

/* --write: both as they are printed. */
static int
write_both(void)
{
  g_autofree char *sample = tide_config_print_defaults();
  g_autofree char *page = read_source(REFERENCE);
  g_autofree char *expected = reference_as_printed(page);
  write_source(SAMPLE, sample);
  write_source(REFERENCE, expected);
  return 0;
}

/* A fragment of a guide as a whole file: its tables, or what stands in one, or whole sections. */
static char *
complete_snippet(const char *snippet)
{
  gboolean has_sources = g_str_has_prefix(snippet, "sources:");
  GString *text = g_string_new(has_sources ? "kafka: { brokers: b, group: g }\n" HBASE : KAFKA HBASE READINGS);
  gboolean is_of_table = !has_sources && !g_str_has_prefix(snippet, "tables:");

  if (!is_of_table) {
    g_string_append(text, snippet);
    return g_string_free(text, FALSE);
  }
  g_string_append(text, "tables:\n  T:\n    key: [{ field: host }, \"#\", { time: epoch_ms }]\n");
  if (!g_str_has_prefix(snippet, "columns:"))
    g_string_append(text, "    " COLUMNS "\n");
  g_auto(GStrv) lines = g_strsplit(snippet, "\n", -1);
  for (char **line = lines; *line != NULL; line++)
    g_string_append_printf(text, "    %s\n", *line);
  return g_string_free(text, FALSE);
}

/* Returns the number of snippets of @name. Those on connections name files that are not here, and are left out. */
static guint
load_snippets(const char *name)
{
  g_autofree char *guide = read_source(name);
  guint n_loaded = 0;

  for (const char *at = strstr(guide, "\n```yaml\n"); at != NULL; at = strstr(at, "\n```yaml\n")) {
    const char *begin = at + strlen("\n```yaml\n");
    const char *end = strstr(begin, "```\n");
    g_assert_nonnull(end);
    at = end;
    g_autofree char *snippet = g_strndup(begin, (gsize)(end - begin));
    if (g_str_has_prefix(snippet, "kafka:") || g_str_has_prefix(snippet, "hbase:"))
      continue;
    g_autofree char *text = complete_snippet(snippet);
    g_test_message("%s", text);
    g_autoptr(TideConfig) config G_GNUC_UNUSED = load_good(text);
    n_loaded++;
  }
  return n_loaded;
}

TEST("/config/snippets-in-the-guides-load")
{
  g_assert_cmpuint(load_snippets("docs/configuration.md"), >=, 1);
  g_assert_cmpuint(load_snippets("docs/input.md"), >=, 1);
  g_assert_cmpuint(load_snippets("docs/event-time.md"), >=, 4);
  g_assert_cmpuint(load_snippets("docs/tables.md"), >=, 9);
}

int
main(int argc, char **argv)
{
  if (argc == 2 && strcmp(argv[1], "--write") == 0)
    return write_both();
  g_test_init(&argc, &argv, NULL);
  test_cases_add();
  return g_test_run();
}
