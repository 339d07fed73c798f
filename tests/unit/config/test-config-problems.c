#include "decode/formats.h"
#include "unit/config-texts.h"
#include "unit/test_case.h"

#define WITH_TLS(options) "hbase: { gateways: [\"thrift+tls://g\"], tls: { " options " } }\n" TABLES

#define WITH_SERVICE(options) KAFKA READINGS HBASE TABLES "service: { " options " }\n"

#define WITH_SASL(options) "hbase: { gateways: [g], " options " }\n" TABLES

#define KEY_AND_COLUMNS "key: [{ field: host }, \"#\", { time: epoch_ms }], " COLUMNS
#define TIMED "readings: { time: record }"
/* @table: options of the only table, with a comma behind. */
#define WITH_SOURCES(sources, table)                                                                                   \
  "kafka: { brokers: b, group: g }\nsources: { " sources " }\n" HBASE "tables: { T: { " table KEY_AND_COLUMNS " } }\n"

/* Behind the brokers. */
#define IN_CLEAR                                                                                                       \
  " group: g, topics: [t], librdkafka: { security.protocol: sasl_plaintext, sasl.mechanism: PLAIN } }\n" READINGS      \
      HBASE TABLES

/* Each text has exactly one problem, which begins like this. */
static const ConfigProblemCase one_problem[] = {
    {"F3-unknown-section", KAFKA READINGS HBASE TABLES "batches: { }\n",
     "5:1 error: 'batches' is not known; did you mean 'batch'?"},
    {"F3-unknown-option", "kafka: { brokers: b, group: g, topics: [t], thread: 3 }\n" READINGS HBASE TABLES,
     "1:45 error: 'kafka.thread' is not known; did you mean 'threads'?"},
    {"F3-option-of-another-section",
     "kafka: { brokers: b, group: g, topics: [t], memory: 1GiB }\n" READINGS HBASE TABLES,
     "1:45 error: 'kafka.memory' is not known; did you mean 'limits.memory'?"},
    {"F3-unknown-and-unlike", KAFKA READINGS HBASE TABLES "limits: { zzz: 1 }\n",
     "5:11 error: 'limits.zzz' is not known; known options here: memory, drain_timeout"},
    {"F5-section-of-wrong-kind", KAFKA READINGS HBASE TABLES "limits: 3\n",
     "5:9 error: 'limits' must be a mapping ('key: value'), got '3'; known options here: memory, drain_timeout"},
    {"file-of-wrong-kind", "- a\n- b\n",
     "1:1 error: a configuration consists of sections ('kafka:', 'hbase:', 'tables:'), got a list"},
    {"file-that-is-a-text", "secret\n",
     "1:1 error: a configuration consists of sections ('kafka:', 'hbase:', 'tables:'), got a text"},
    {"topics-that-are-a-mapping", "kafka: { brokers: b, group: g, topics: { a: b } }\n" READINGS HBASE TABLES,
     "1:40 error: 'kafka.topics' needs a list: [metrics], got a mapping"},
    {"topic-that-is-a-mapping", "kafka: { brokers: b, group: g, topics: [{ a: b }] }\n" READINGS HBASE TABLES,
     "1:41 error: 'kafka.topics' needs a value, got a mapping"},
    {"gateway-that-is-a-mapping",
     KAFKA READINGS "hbase: { gateways: [\"127.0.0.1:9090\", host: 9091], transport: framed-binary }\n" TABLES,
     "3:39 error: 'hbase.gateways' needs a value, got a mapping"},
    {"F15-no-topic", "kafka: { brokers: b, group: g, topics: [] }\n" READINGS HBASE TABLES,
     "1:40 error: 'kafka.topics' must not be empty"},
    {"F15-topic-that-is-none", "kafka: { brokers: b, group: g, topics: [a/b] }\n" READINGS HBASE TABLES,
     "1:41 error: 'kafka.topics' must be names of letters, digits, . _ and -"},
    {"pattern-that-is-none", "kafka: { brokers: b, group: g, topics: [\"^a[\"] }\n" READINGS HBASE TABLES,
     "1:40 error: 'kafka.topics' contains an invalid pattern, '^a[':"},
    {"source-unknown",
     WITH_SOURCES("a: { topics: [x], " TIMED " }, boards: { topics: [y], " TIMED " }", "sources: board, "),
     "4:25 error: 'tables.T.sources': there is no source 'board'; did you mean 'boards'?"},
    {"source-of-none", KAFKA READINGS HBASE "tables: { T: { sources: a, " KEY_AND_COLUMNS " } }\n",
     "4:25 error: 'tables.T.sources': there is no source 'a': name one that 'sources' contains"},
    {"sources-of-table-empty", WITH_SOURCES("a: { topics: [x], " TIMED " }", "sources: [], "),
     "4:25 error: 'tables.T.sources' is empty: remove it to use all sources"},
    {"topic-in-two-sources", WITH_SOURCES("a: { topics: [x], " TIMED " }, b: { topics: [y, x], " TIMED " }", ""),
     "2:73 error: the sources 'a' (with 'x') and 'b' (with 'x') read the same topic: remove it from one of them"},
    {"topic-in-a-pattern-of-another",
     WITH_SOURCES("a: { topics: [\"^x\"], " TIMED " }, b: { topics: xy, " TIMED " }", ""),
     "2:76 error: the sources 'a' (with '^x') and 'b' (with 'xy') read the same topic: remove it from one of them"},
    {"pattern-in-two-sources",
     WITH_SOURCES("a: { topics: [\"^x\"], " TIMED " }, b: { topics: [\"^x\"], " TIMED " }", ""),
     "2:76 error: the sources 'a' (with '^x') and 'b' (with '^x') read the same topic: remove it from one of them"},
    {"source-that-no-table-takes",
     WITH_SOURCES("a: { topics: [x], " TIMED " }, b: { topics: [y], " TIMED " }", "sources: a, "),
     "2:63 warning: no table uses the source 'b': its messages are read and written nowhere; name it in 'sources' of a "
     "table, or remove it"},
    {"time-that-one-source-has-not",
     WITH_SOURCES("a: { topics: [x], readings: { format: influx } }, b: { topics: [y], " TIMED " }",
                  "time: epoch_ms, "),
     "4:22 error: 'tables.T.time.field' is missing"},
    {"source-with-a-bad-pattern", WITH_SOURCES("a: { topics: [\"^x[\"], " TIMED " }", ""),
     "2:25 error: 'sources.a.topics' contains an invalid pattern, '^x[':"},
    {"source-without-topics", WITH_SOURCES("a: { " TIMED " }", ""), "2:12 error: 'sources.a.topics' is missing"},
    {"source-without-time", WITH_SOURCES("a: { topics: [x] }", ""), "2:15 error: 'sources.a.readings.time' is missing"},
    {"source-with-a-mistyped-option", WITH_SOURCES("a: { topics: [x], reading: {}, " TIMED " }", ""),
     "2:30 error: 'sources.a.reading' is not known; did you mean 'readings'?"},
    {"source-with-a-mistyped-reading", WITH_SOURCES("a: { topics: [x], readings: { tim: record, time: record } }", ""),
     "2:42 error: 'sources.a.readings.tim' is not known; did you mean 'time'?"},
    {"source-with-an-option-of-another-format",
     WITH_SOURCES("a: { topics: [x], readings: { format: influx, arrays: json } }", ""),
     "2:66 error: 'sources.a.readings.arrays' has no effect with 'format: influx': remove it"},
    {"source-with-a-bad-name", WITH_SOURCES("a.b: { topics: [x], " TIMED " }, c: { topics: [y], " TIMED " }", ""),
     "2:12 error: 'a.b' is not a valid source name: use 1 to 64 letters A to Z, digits, _ and -"},
    {"sources-empty", "kafka: { brokers: b, group: g }\nsources: {}\n" HBASE TABLES,
     "2:10 error: 'sources' must contain 1 to 64 sources ('boards: { topics: ..., readings: ... }'), got"},
    {"sources-beside-readings",
     "kafka: { brokers: b, group: g }\nsources: { a: { topics: [x], " TIMED " } }\n" READINGS HBASE TABLES,
     "3:11 error: 'readings' and 'sources' cannot be combined: move it to a source"},
    {"sources-beside-topics", KAFKA "sources: { a: { topics: [x], " TIMED " } }\n" HBASE TABLES,
     "1:40 error: 'kafka.topics' and 'sources' cannot be combined: move it to a source"},
    {"sources-and-dead-letters", WITH_SOURCES("a: { topics: [x], " TIMED " }", "") "dead_letters: { topic: x }\n",
     "5:24 error: 'dead_letters.topic' ('x') is among 'sources': tidemark would read its own dead letters again "
     "without end"},
    {"F9-variable", "kafka: { brokers: b, group: \"${GROUP}\", topics: [t] }\n" READINGS HBASE TABLES,
     "1:29 error: 'kafka.group' must be written out, or as { env: NAME } to use an environment variable, got "
     "'${GROUP}'"},
    {"F9-variable-in-topic", "kafka: { brokers: b, group: g, topics: [\"${TOPIC}\"] }\n" READINGS HBASE TABLES,
     "1:41 error: 'kafka.topics' must be written out"},
    {"F9-variable-in-property", WITH_PROPERTY("client.id: \"${HOSTNAME}\""),
     "1:85 error: 'kafka.librdkafka.client.id' must be written out"},
    {"env-that-is-not-set",
     "kafka: { brokers: { env: TIDE_TEST_NOT_SET }, group: g, topics: [t] }\n" READINGS HBASE TABLES,
     "1:26 error: the environment variable 'TIDE_TEST_NOT_SET' is not set"},
    {"F15-no-gateway", KAFKA READINGS "hbase: { gateways: [] }\n" TABLES,
     "3:20 error: 'hbase.gateways' must not be empty"},
    {"F15-topic-twice", "kafka: { brokers: b, group: g, topics: [t, u, t] }\n" READINGS HBASE TABLES,
     "1:47 error: 'kafka.topics' contains an item twice, got 't'"},
    {"required-option-missing", "kafka: { brokers: b, topics: [t] }\n" READINGS HBASE TABLES,
     "1:8 error: 'kafka.group' is missing: add, for example, 'group: tidemark'"},
    {"required-section-missing", KAFKA READINGS TABLES,
     "0:0 error: 'hbase.gateways' is missing: add, for example, 'gateways: [\"127.0.0.1:9090\"]'"},
    {"tables-missing", KAFKA READINGS HBASE,
     "0:0 error: 'tables' must contain at least one table ('METRIC: { key: ..., columns: ... }'), got"},
    {"tables-empty", KAFKA READINGS HBASE "tables: { }\n",
     "4:9 error: 'tables' must contain at least one table ('METRIC: { key: ..., columns: ... }'), got none"},
    {"F14-port-0", KAFKA READINGS "hbase: { gateways: [\"h:0\"] }\n" TABLES,
     "3:21 error: 'hbase.gateways' has an invalid address"},
    {"F14-port-70000", KAFKA READINGS "hbase: { gateways: [\"h:70000\"] }\n" TABLES,
     "3:21 error: 'hbase.gateways' has an invalid address"},
    {"F14-ipv6-without-brackets", KAFKA READINGS "hbase: { gateways: [\"::1:9090\"] }\n" TABLES,
     "3:21 error: 'hbase.gateways' has an invalid address"},
    {"tls-unknown-key", KAFKA READINGS WITH_TLS("certificat: /x"),
     "3:47 error: 'hbase.tls.certificat' is not known; did you mean 'certificate'?"},
    {"tls-key-of-two-places", KAFKA READINGS WITH_TLS("key: { file: /x, credential: y }, certificate: /x"),
     "3:76 error: 'hbase.tls.key' has both 'file' and 'credential':"},
    {"tls-certificate-without-key", KAFKA READINGS WITH_TLS("certificate: /x"),
     "3:60 error: 'hbase.tls.certificate' needs a private key: add 'key: { file: /path }' or 'key: { credential: NAME "
     "}'"},
    {"tls-key-without-certificate", KAFKA READINGS WITH_TLS("key: { file: /x }"),
     "3:52 error: 'hbase.tls.key' needs its certificate: add '"},
    {"tls-authority-that-is-absent", KAFKA READINGS WITH_TLS("ca: /nonexistent/ca.pem"),
     "3:51 error: the file of authorities '/nonexistent/ca.pem' cannot be used: No such file or directory"},
    {"tls-for-no-gateway", KAFKA READINGS "hbase: { gateways: [g], tls: { server_name: x } }\n" TABLES,
     "3:30 error: 'hbase.tls' is set, but no gateway uses TLS: write its address as \"thrift+tls://host:port\" or "
     "\"https://host:port/path\" in 'hbase.gateways'"},
    {"sasl-without-service", KAFKA READINGS WITH_SASL("sasl: { qop: auth }"),
     "3:31 error: 'hbase.sasl' needs 'service': the first component of the gateways' "
     "'hbase.thrift.kerberos.principal', such as hbase"},
    {"sasl-with-whole-principal", KAFKA READINGS WITH_SASL("sasl: { service: hbase/_HOST@REALM }"),
     "3:42 error: 'hbase.sasl.service' must be only the first component of the gateways' principal, 'hbase' of "
     "'hbase/_HOST@REALM'; the second one is the gateway's host, or 'hbase.sasl.host'"},
    {"sasl-with-unknown-layer", KAFKA READINGS WITH_SASL("sasl: { service: hbase, qop: privacy }"),
     "3:54 error: 'hbase.sasl.qop' must be one of auto, auth, auth-int, auth-conf"},
    {"sasl-and-frames", KAFKA READINGS WITH_SASL("transport: framed-compact, sasl: { service: hbase }"),
     "3:36 error: 'hbase.transport' is framed, but gateways with SASL are unframed: set it to auto, unframed-binary or "
     "unframed-compact"},
    {"sasl-without-host", KAFKA READINGS "hbase: { gateways: [\"unix:/x\"], sasl: { service: hbase } }\n" TABLES,
     "3:39 error: 'hbase.sasl' needs 'host' because a gateway is a Unix socket: set it to the second component of the "
     "gateway's 'hbase.thrift.kerberos.principal'"},
    {"kerberos-without-sasl", KAFKA READINGS WITH_SASL("kerberos: { principal: x }"),
     "3:35 error: 'hbase.kerberos' is set, but no gateway uses it: set 'hbase.sasl'"},
    {"kerberos-of-http-alone",
     KAFKA READINGS "hbase: { gateways: [\"http://g:1/\", h], kerberos: { principal: x } }\n" TABLES,
     "3:50 error: 'hbase.kerberos' applies to all gateways, but 'h' does not use HTTP and would be unauthenticated: "
     "set 'hbase.sasl' for it, or remove it from 'hbase.gateways'"},
    {"sasl-for-http", KAFKA READINGS "hbase: { gateways: [\"http://g:1/\"], sasl: { service: HTTP } }\n" TABLES,
     "3:43 error: 'hbase.sasl' is set, but all gateways use HTTP, which authenticates with 'hbase.kerberos' alone: "
     "remove it"},
    {"compact-over-http", KAFKA READINGS "hbase: { gateways: [\"http://g:1/\"], transport: unframed-compact }\n" TABLES,
     "3:48 error: 'hbase.transport' is compact, but gateways only support the binary protocol over HTTP: set it to "
     "auto or unframed-binary"},
    {"do-as-without-kerberos", KAFKA READINGS "hbase: { gateways: [\"http://g:1/\"], http: { do_as: x } }\n" TABLES,
     "3:52 error: 'hbase.http.do_as' needs 'hbase.kerberos': gateways answer a do_as request of an unauthenticated "
     "user with HTTP status 500; set it, or remove 'do_as'"},
    {"kerberos-that-is-empty", KAFKA READINGS "hbase: { gateways: [\"http://g:1/\"], kerberos: {} }\n" TABLES,
     "3:47 error: 'hbase.kerberos' is empty, so requests over HTTP would be anonymous: set 'keytab', or 'cache' for a "
     "ticket cache that you keep fresh, or remove it"},
    {"do-as-of-http-alone",
     KAFKA READINGS
     "hbase: { gateways: [h, \"http://g:1/\"], http: { do_as: x }, kerberos: { principal: x }, sasl: { service: s } "
     "}\n" TABLES,
     "3:55 error: 'hbase.http.do_as' only applies to HTTP: through 'h' tidemark would write as itself, and through "
     "others as '"},
    {"keytab-of-two-places",
     KAFKA READINGS WITH_SASL("sasl: { service: hbase }, kerberos: { keytab: { file: /x, credential: y } }"),
     "3:95 error: 'hbase.kerberos.keytab' has both 'file' and 'credential':"},
    {"keytab-that-is-absent",
     KAFKA READINGS WITH_SASL("sasl: { service: hbase }, kerberos: { keytab: { file: /nonexistent/t.keytab } }"),
     "3:71 error: cannot open the secret '/nonexistent/t.keytab': No such file or directory"},
    {"gateway-with-unknown-scheme", KAFKA READINGS "hbase: { gateways: [\"tls://h:1\"] }\n" TABLES,
     "3:21 error: 'hbase.gateways' has an invalid address (gateway 'tls://h:1': the scheme before '://' is "
     "unknown"},
    {"gateway-with-unknown-scheme-and-tls",
     KAFKA READINGS "hbase: { gateways: [\"tls://h:1\"], tls: { server_name: x } }\n" TABLES,
     "3:21 error: 'hbase.gateways' has an invalid address"},
    {"F14-unix-path-too-long",
     KAFKA READINGS "hbase: { gateways: [\"unix:/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"] }\n" TABLES,
     "3:21 error: 'hbase.gateways' has an invalid address"},
    {"F14-broker-port-70000", "kafka: { brokers: \"a:9092,b:70000\", group: g, topics: [t] }\n" READINGS HBASE TABLES,
     "1:19 error: 'kafka.brokers' must be 'host:port'"},
    {"F14-broker-unix", "kafka: { brokers: \"unix:/x\", group: g, topics: [t] }\n" READINGS HBASE TABLES,
     "1:19 error: 'kafka.brokers' must be 'host:port'"},

    {"F6-drain-above-session", KAFKA READINGS HBASE TABLES "limits: { drain_timeout: 1m }\n",
     "5:26 error: 'limits.drain_timeout' (1m) must be below 'kafka.session_timeout' (45s)"},
    {"F6-session-below-drain",
     "kafka: { brokers: b, group: g, topics: [t], session_timeout: 20s }\n" READINGS HBASE TABLES,
     "1:62 error: 'limits.drain_timeout' (30s) must be below 'kafka.session_timeout' (20s)"},
    {"F6-session-above-poll",
     "kafka: { brokers: b, group: g, topics: [t], max_poll_interval: 40s }\n" READINGS HBASE TABLES,
     "1:64 error: 'kafka.session_timeout' (45s) must not be above 'kafka.max_poll_interval' (40s)"},
    {"F6-linger-above-poll",
     "kafka: { brokers: b, group: g, topics: [t], session_timeout: 45s, max_poll_interval: 50s }\n" READINGS HBASE
         TABLES "batch: { max_age: 50s }\n",
     "5:19 error: 'batch.max_age' (50s) must be below 'kafka.max_poll_interval' (50s)"},
    {"F6-letters-read-again", KAFKA READINGS HBASE TABLES "dead_letters: { topic: t }\n",
     "5:24 error: 'dead_letters.topic' ('t') is among 'kafka.topics': tidemark would read its own dead letters again "
     "without end"},
    {"F6-letters-read-again-by-pattern",
     "kafka: { brokers: b, group: g, topics: [\"^met\"] }\n" READINGS HBASE TABLES
     "dead_letters: { topic: metrics-letters }\n",
     "5:24 error: 'dead_letters.topic' ('metrics-letters') is among 'kafka.topics': tidemark would read its own dead "
     "letters again without end"},
    {"F6-letters-in-two-places", KAFKA READINGS HBASE TABLES "dead_letters: { topic: l, file: /f }\n",
     "5:33 error: 'dead_letters.file' and 'dead_letters.topic' cannot be combined: remove one of them"},
    {"F6-letter-file-above-all", KAFKA READINGS HBASE TABLES "dead_letters: { max_size: 1MiB }\n",
     "5:27 error: 'dead_letters.max_file_size' (64MiB) must not be above 'dead_letters.max_size' (1MiB)"},
    {"F5-letters-ratio", KAFKA READINGS HBASE TABLES "dead_letters: { max_ratio: 10 }\n",
     "5:28 error: 'dead_letters.max_ratio' must be a number above 0 and up to 1"},
    {"F6-batch-above-frame", KAFKA READINGS HBASE TABLES "batch: { max_bytes: 2MiB }\n",
     "5:21 error: 'batch.max_bytes' must be 4KiB..1984KiB, got '2MiB'"},
    {"F6-retry-min-above-max", KAFKA READINGS "hbase: { gateways: [g], retry_min: 10s, retry_max: 1s }\n" TABLES,
     "3:36 error: 'hbase.retry_min' (10s) must not be above 'hbase.retry_max' (1s)"},
    {"F6-call-timeout-above-settle", KAFKA READINGS "hbase: { gateways: [g], uncertain_timeout: 10s }\n" TABLES,
     "3:44 error: 'hbase.call_timeout' (30s) must not be above 'hbase.uncertain_timeout' (10s)"},
    {"F6-message-above-memory",
     KAFKA "readings: { max_message_size: 8MiB, time: { field: ts, format: epoch_ms } }\n" HBASE TABLES
           "limits: { memory: 16MiB }\n",
     "2:31 error: 'readings.max_message_size' (8MiB) must not be above a quarter of 'limits.memory' (4MiB)"},
    {"writers-above-memory",
     KAFKA READINGS "hbase: { gateways: [g], writers: 64 }\n" TABLES "limits: { memory: 16MiB }\n",
     "3:34 warning: 'hbase.writers' times 'batch.max_bytes' is 64MiB, above 'limits.memory' (16MiB): not all writers "
     "can be busy at the same time"},

    {"format-unknown", KAFKA "readings: { format: xml, time: record }\n" HBASE TABLES,
     "2:21 error: 'readings.format' must be one of json, influx, csv, msgpack, avro, protobuf"},
    {"schema-of-another-format", KAFKA "readings: { schema: x.avsc, time: record }\n" HBASE TABLES,
     "2:21 error: 'readings.schema' has no effect with 'format: json': remove it"},
    {"option-of-another-format", KAFKA "readings: { format: influx, arrays: index }\n" HBASE TABLES,
     "2:37 error: 'readings.arrays' has no effect with 'format: influx': remove it"},
    {"protobuf-without-schema", KAFKA "readings: { format: protobuf, time: record }\n" HBASE TABLES,
     "2:21 error: 'readings.schema' is missing: 'format: protobuf' needs 'schema', a descriptor set from protoc "
     "--include_imports --descriptor_set_out, and 'message', the full name of a message in it"},
    {"protobuf-without-message", KAFKA "readings: { format: protobuf, schema: a.desc, time: record }\n" HBASE TABLES,
     "2:21 error: 'readings.message' is missing"},
    {"protobuf-without-file",
     KAFKA "readings: { format: protobuf, schema: /nowhere/a.desc, message: A, time: record }\n" HBASE TABLES,
     "2:39 error: 'readings.schema': the descriptor set '/nowhere/a.desc' cannot be used: No such file"},
    {"protobuf-of-a-device",
     KAFKA "readings: { format: protobuf, schema: /dev/zero, framing: confluent, time: record }\n" HBASE TABLES,
     "2:39 error: 'readings.schema': the descriptor set '/dev/zero' cannot be used: it is not a regular file"},
    {"protobuf-of-another-format",
     KAFKA "readings: { format: msgpack, framing: confluent, time: record }\n" HBASE TABLES,
     "2:39 error: 'readings.framing' has no effect with 'format: msgpack': remove it"},
    {"csv-of-another-format", KAFKA "readings: { csv: { header: true }, time: record }\n" HBASE TABLES,
     "2:18 error: 'readings.csv' has no effect with 'format: json': remove it"},
    {"csv-without-names", KAFKA "readings: { format: csv, time: record }\n" HBASE TABLES,
     "2:11 error: 'readings.csv' does not name the values: set 'csv: { columns: [host, ts, cpu] }', or 'csv: { header: "
     "true }' if the first line of each message names them"},
    {"csv-with-names-twice", WITH_CSV("columns: [a], header: true"),
     "2:55 error: 'readings.csv.header' and 'readings.csv.columns' both name the fields"},
    {"csv-without-columns", WITH_CSV("columns: []"), "2:42 error: 'readings.csv.columns' must not be empty"},
    {"csv-column-twice", WITH_CSV("columns: [a, b, a]"),
     "2:42 error: 'readings.csv.columns' contains the field 'a' twice"},
    {"csv-column-without-a-name", WITH_CSV("columns: [a, \"\"]"),
     "2:42 error: 'readings.csv.columns' contains an invalid field name: ''"},
    {"csv-column-of-the-record", WITH_CSV("columns: [a, $key]"),
     "2:42 error: 'readings.csv.columns' contains an invalid field name: '$key'"},
    {"csv-more-columns-than-fields",
     KAFKA "readings: { format: csv, csv: { columns: [a, b] }, max_fields: 1, time: record }\n" HBASE TABLES,
     "2:42 error: 'readings.csv.columns' has more names than 'readings.max_fields' (1) allows"},
    {"csv-long-delimiter", WITH_CSV("header: true, delimiter: \", \""),
     "2:58 error: 'readings.csv.delimiter' must be one ASCII character other than a letter, a digit, a quote, a line "
     "break, or one of + - ."},
    {"csv-comment-that-is-the-delimiter", WITH_CSV("header: true, comment: \",\""),
     "2:56 error: 'readings.csv.comment' must not start with the delimiter, a letter, a digit, a quote, or one of + - "
     "., because rows that start with it would be lost; got '"},
    {"csv-comment-that-is-a-declared-delimiter", WITH_CSV("header: true, delimiter: \";\", comment: \";;\""),
     "2:72 error: 'readings.csv.comment' must not start with the delimiter, a letter, a digit, a quote, or one of + - "
     "., because rows that start with it would be lost; got '"},
    {"csv-comment-that-is-a-quote", WITH_CSV("header: true, comment: '\"'"),
     "2:56 error: 'readings.csv.comment' must not start with the delimiter, a letter, a digit, a quote, or one of + - "
     "., because rows that start with it would be lost; got '"},
    {"csv-comment-that-is-a-number", WITH_CSV("header: true, comment: -1"),
     "2:56 error: 'readings.csv.comment' must not start with the delimiter, a letter, a digit, a quote, or one of + - "
     "., because rows that start with it would be lost; got '"},
    {"csv-delimiter-of-numbers", WITH_CSV("header: true, delimiter: \".\""),
     "2:58 error: 'readings.csv.delimiter' must be one ASCII character other than a letter, a digit, a quote, a line "
     "break, or one of + - ."},
    {"envelope-of-another-format", KAFKA "readings: { format: influx, each: metrics }\n" HBASE TABLES,
     "2:35 error: 'readings.each' has no effect with 'format: influx': remove it"},
    {"positions-of-another-format", KAFKA "readings: { format: influx, positions: [a] }\n" HBASE TABLES,
     "2:40 error: 'readings.positions' has no effect with 'format: influx': remove it"},
    {"each-with-half-a-brace", WITH_LAYOUT("each: 'servers/{server'"),
     "2:33 error: 'readings.each' must be names of members joined by '/', or {NAME}, which matches every member of an "
     "object and stores its name in the field NAME: devices"},
    {"each-without-a-name", WITH_LAYOUT("each: 'a//b'"),
     "2:33 error: 'readings.each' must be names of members joined by '"},
    {"each-of-the-record", WITH_LAYOUT("each: 'a/{$key}'"),
     "2:33 error: 'readings.each' contains an invalid field name: '$key'"},
    {"each-with-a-field-twice", WITH_LAYOUT("each: '{a}/{a}'"),
     "2:33 error: 'readings.each' contains the field 'a' twice"},
    {"positions-of-nothing", WITH_LAYOUT("positions: [_, _]"),
     "2:38 error: 'readings.positions' must name a value, for example [ts, temp]"},
    {"positions-twice", WITH_LAYOUT("positions: [a, _, b, _, a]"),
     "2:38 error: 'readings.positions' contains the field 'a' twice"},
    {"positions-of-the-record", WITH_LAYOUT("positions: [a, $key]"),
     "2:38 error: 'readings.positions' contains an invalid field name: '$key'"},
    {"positions-too-many", WITH_LAYOUT("positions: [a, b], max_fields: 1"),
     "2:38 error: 'readings.positions' has more names than 'readings.max_fields' (1) allows"},
    {"positions-and-zip", WITH_LAYOUT("positions: [a, b], zip: true"),
     "2:38 error: 'readings.positions' and 'readings.zip' cannot be combined: zipped lists have their own names"},
    {"outer-prefix-without-each", WITH_LAYOUT("root: a, outer_prefix: x"),
     "2:50 error: 'readings.outer_prefix' has no effect without 'readings.each': only 'each' adds fields from outside "
     "the readings"},
    {"outer-prefix-of-the-record", WITH_LAYOUT("each: a, outer_prefix: $"),
     "2:50 error: 'readings.outer_prefix' must not start with '$', which is reserved for fields of the record"},
    {"on-missing-without-a-name", WITH_LAYOUT("on_missing: skip"),
     "2:39 error: 'readings.on_missing' has no effect without 'readings.root' or 'readings.each', to whose members it "
     "applies"},
    {"own-time-with-zone", KAFKA "readings: { format: influx, time: { zone: UTC } }\n" HBASE TABLES,
     "2:43 error: 'readings.time.zone' has no effect with a number that counts in UTC"},
    {"own-time-but-another-field", KAFKA "readings: { format: influx, time: { field: at } }\n" HBASE TABLES,
     "2:35 error: 'readings.time.format' is missing"},
    {"time-missing", KAFKA "readings: { }\n" HBASE TABLES, "2:11 error: 'readings.time' is missing"},
    {"time-without-format", WITH_TIME("{ field: ts }"), "2:19 error: 'readings.time.format' is missing"},
    {"time-without-field", WITH_TIME("{ format: epoch_ms }"), "2:19 error: 'readings.time.field' is missing"},
    {"time-format-unknown", WITH_TIME("{ field: ts, format: millis }"),
     "2:40 error: 'readings.time.format' must be one of epoch_s"},
    {"time-of-record-with-field", WITH_TIME("{ format: record, field: ts }"),
     "2:44 error: 'readings.time.field' has no effect with the record's own time"},
    {"time-epoch-with-zone", WITH_TIME("{ field: ts, format: epoch_s, zone: UTC }"),
     "2:55 error: 'readings.time.zone' has no effect with a number that counts in UTC (set 'local: true'"},
    {"time-epoch-with-ambiguous", WITH_TIME("{ field: ts, format: epoch_s, ambiguous: later }"),
     "2:60 error: 'readings.time.ambiguous' has no effect with a number that counts in UTC"},
    {"time-of-a-local-clock-without-zone", WITH_TIME("{ field: ts, format: epoch_us, local: true }"),
     "2:19 error: 'readings.time.zone' is missing: set the zone of the local time"},
    {"time-of-excel-without-zone", WITH_TIME("{ field: ts, format: excel }"),
     "2:19 error: 'readings.time.zone' is missing: set the zone of the local time"},
    {"time-of-excel-repeats-an-hour", WITH_TIME("{ field: ts, format: excel, zone: Europe/Berlin }"),
     "2:53 warning: 'readings.time': when the clocks of Europe/Berlin are set back, an hour occurs twice: the record "
     "time decides which one a time means, and a reading that arrives too late for that is rejected; write UTC or an "
     "offset into the readings, or set 'ambiguous: record' (or earlier, later, reject) to confirm"},
    {"time-text-that-is-local", WITH_TIME("{ field: ts, format: rfc3339, local: true, zone: UTC }"),
     "2:56 error: 'readings.time.local' has no effect with a text"},
    {"time-dotnet-with-zone", WITH_TIME("{ field: ts, format: dotnet, zone: UTC }"),
     "2:54 error: 'readings.time.zone' has no effect with dotnet, which counts in UTC"},
    {"time-plus-without-unit", WITH_TIME("{ field: ts, format: epoch_s, plus: { field: ns } }"),
     "2:55 error: 'readings.time.plus.unit' is missing: a number that is added"},
    {"time-plus-without-field", WITH_TIME("{ field: ts, format: epoch_s, plus: { unit: ns } }"),
     "2:55 error: 'readings.time.plus.field' is missing: a number that is added"},
    {"time-of-record-with-plus", WITH_TIME("{ format: record, plus: { field: ns, unit: ns } }"),
     "2:43 error: 'readings.time.plus' has no effect with the record's own time"},
    {"time-pattern-with-two-offsets", WITH_TIME("{ field: ts, format: pattern, pattern: \"yyyyMMdd HHX\", zone: UTC }"),
     "2:80 error: 'readings.time.zone' has no effect if the pattern itself contains the offset (X)"},
    {"time-text-with-ambiguous-without-zone", WITH_TIME("{ field: ts, format: rfc3339, ambiguous: later }"),
     "2:60 error: 'readings.time.ambiguous' has no effect without a 'zone'"},
    {"time-of-a-zone-that-repeats-an-hour", WITH_TIME("{ field: ts, format: rfc3339, zone: Europe/Berlin }"),
     "2:55 warning: 'readings.time': when the clocks of Europe/Berlin are set back, an hour occurs twice: the record "
     "time decides which one a time means, and a reading that arrives too late for that is rejected; write UTC or an "
     "offset into the readings, or set 'ambiguous: record' (or earlier, later, reject) to confirm"},
    {"time-pattern-without-zone", WITH_TIME("{ field: ts, format: pattern, pattern: \"yyyy-MM-dd\" }"),
     "2:19 error: 'readings.time.zone' is missing: the pattern has no offset (X)"},
    {"time-pattern-without-pattern", WITH_TIME("{ field: ts, format: pattern, zone: UTC }"),
     "2:19 error: 'readings.time.pattern' is missing"},
    {"time-pattern-with-two-dates",
     WITH_TIME(
         "{ field: ts, format: pattern, pattern: \"yyyyMMdd\", zone: UTC, date: { field: d, pattern: \"yyyyMMdd\" } }"),
     "2:87 error: 'readings.time.date' has no effect if the pattern itself contains the date"},
    {"time-of-day-with-half-a-date",
     WITH_TIME("{ field: ts, format: pattern, pattern: \"HH:mm\", zone: UTC, date: { field: d } }"),
     "2:84 error: 'readings.time.date.pattern' is missing"},
    {"time-of-day-with-a-date-that-is-none",
     WITH_TIME("{ field: ts, format: pattern, pattern: \"HH:mm\", zone: UTC, date: { field: d, pattern: \"HH\" } }"),
     "2:105 error: 'readings.time.date.pattern' must contain a date, such as yyyy-MM-dd"},
    {"E11-date-with-an-hour",
     WITH_TIME(
         "{ field: ts, format: pattern, pattern: \"HH:mm\", zone: UTC, date: { field: d, pattern: \"yyyyMMdd HH\" } }"),
     "2:105 error: 'readings.time.date.pattern' must contain only a date: the time of day is in '"},
    {"time-bound-before-1971", WITH_TIME("{ field: ts, format: epoch_ms, earliest: 1970-12-31 }"),
     "2:60 warning: 'readings.time.earliest' is before 1971, so numbers in another unit (seconds instead of "
     "milliseconds) are accepted as times of 1970; set it to the earliest possible time of a reading"},
    {"time-of-unknown-record-field", WITH_TIME("{ field: $when, format: epoch_ms }"),
     "2:28 error: 'readings.time.field' must be a field of the record"},

    {"key-missing", KAFKA READINGS HBASE "tables: { T: { " COLUMNS " } }\n", "4:14 error: 'tables.T.key' is missing"},
    {"key-of-nothing", WITH_KEY("[]"), "4:21 error: 'tables.T.key': a key has no parts"},
    {"key-part-empty", WITH_KEY("[{ field: host }, ~, { time: epoch_ms }]"),
     "4:39 error: a key part is empty (an unquoted # starts a comment: write \"#\")"},
    {"key-bare-word", WITH_KEY("[site, \"#\", { field: host }, \"#\", { time: epoch_ms }]"),
     "4:22 error: 'site' without quotes may be a field or a text: write { field: site } for the field's value, or "
     "\"site\" for the text itself"},
    {"key-bare-word-alone", WITH_KEY("site"),
     "4:21 error: 'site' without quotes may be a field or a text: write { field:"},
    {"key-bare-word-of-the-record", WITH_KEY("[{ field: host }, \"#\", $key]"),
     "4:44 error: '$key' without quotes may be a field or a text: write { field:"},
    {"key-part-unknown", WITH_KEY("[{ fields: host }, { time: epoch_ms }]"),
     "4:22 error: a key part must be a text, or a mapping with one of field, time, hash, salt, hex"},
    {"key-part-twofold", WITH_KEY("[{ field: host, time: epoch_ms }]"),
     "4:22 error: 'field' and 'time' are two parts of a key: write each as a separate part"},
    {"key-option-of-another-part", WITH_KEY("[{ field: host, bytes: 4 }, \"#\", { time: epoch_ms }]"),
     "4:37 error: 'tables.T.key.bytes' is not known"},
    {"key-option-mistyped", WITH_KEY("[{ field: host, witdh: 3 }, \"#\", { time: epoch_ms }]"),
     "4:37 error: 'tables.T.key.witdh' is not known; did you mean 'width'?"},
    {"key-width-0", WITH_KEY("[{ field: host, width: 0 }, { time: epoch_ms }]"),
     "4:44 error: 'tables.T.key.width' must be 1..32767, got '0'"},
    {"key-pad-without-width", WITH_KEY("[{ field: host, pad: \"0\" }, \"#\", { time: epoch_ms }]"),
     "4:42 error: 'pad' needs 'width'"},
    {"key-pad-of-two", WITH_KEY("[{ field: host, width: 9, pad: \"ab\" }, { time: epoch_ms }]"),
     "4:52 error: 'tables.T.key.pad' must be one ASCII character, or one byte as { hex: \"00\" }, got 'ab'"},
    {"key-bad-hex", WITH_KEY("[{ field: host }, { hex: \"0x\" }, { time: epoch_ms }]"),
     "4:46 error: 'tables.T.key.hex' must be pairs of hexadecimal digits such as \"00ff\", got '0x'"},
    {"key-odd-hex", WITH_KEY("[{ field: host }, { hex: \"000\" }, { time: epoch_ms }]"),
     "4:46 error: 'tables.T.key.hex' must be pairs of hexadecimal digits such as \"00ff\""},
    {"key-hash-without-of", WITH_KEY("[{ hash: md5 }, { time: epoch_ms }]"),
     "4:22 error: 'tables.T.key.of' is missing"},
    {"key-salt-of-1", WITH_KEY("[{ salt: 1, of: host }, { field: host }, \"#\", { time: epoch_ms }]"),
     "4:30 error: 'tables.T.key.salt' must be 2..4096, got '1'"},
    {"key-salt-too-narrow", WITH_KEY("[{ salt: 16, of: host, width: 1 }, { field: host }, \"#\", { time: epoch_ms }]"),
     "4:22 error: 'tables.T.key': "},
    {"key-ambiguous", WITH_KEY("[{ field: host }, { field: metric }, { time: epoch_ms }]"),
     "4:22 error: 'tables.T.key': the end of this field in the key is ambiguous"},
    {"key-of-unknown-record-field", WITH_KEY("[{ field: $offsets }, \"#\", { time: epoch_ms }]"),
     "4:31 error: 'tables.T.key.field' must be a field of the record"},
    {"key-begins-with-time", WITH_KEY("[{ time: epoch_ms }, \"#\", { field: host }]"),
     "4:21 warning: 'tables.T' starts with the time: all new rows are written to one region, however many servers "
     "there are; start the key with a field, a hash or a salt"},
    {"key-begins-with-time-field", WITH_KEY("[{ field: ts }, \"#\", { field: host }]"),
     "4:21 warning: 'tables.T' starts with the time: all new rows are written to one region, however many servers "
     "there are; start the key with a field, a hash or a salt"},
    {"key-begins-with-literal-and-time",
     WITH_KEY("[\"x\", { time: epoch_ms, reversed: true }, \"#\", { field: host }]"),
     "4:21 warning: 'tables.T' starts with the time: all new rows are written to one region, however many servers "
     "there are; start the key with a field, a hash or a salt"},
    {"key-without-time", WITH_KEY("{ field: host }"),
     "4:21 warning: 'tables.T' has no time in its key: each reading overwrites the previous one"},
    {"latest-with-time-in-key", WITH_TABLE("latest: merge"),
     "4:21 warning: 'tables.T' is a latest table with the time in its key: each reading creates a row of its own, and "
     "rows accumulate"},

    {"columns-missing", KAFKA READINGS HBASE "tables: { T: { key: [{ field: h }, \"#\", { time: epoch_s }] } }\n",
     "4:14 error: 'tables.T.columns' is missing"},
    {"columns-empty", WITH_COLUMNS("[]"), "4:74 error: 'tables.T.columns' is empty"},
    {"columns-without-family", WITH_COLUMNS("{ from: \"*\" }"), "4:74 error: 'tables.T.columns.family' is missing"},
    {"columns-with-mistyped-family", WITH_COLUMNS("{ famly: M, from: \"*\" }"),
     "4:76 error: 'tables.T.columns.famly' is not known; did you mean 'family'?"},
    {"columns-without-from", WITH_COLUMNS("{ family: M }"), "4:74 error: 'tables.T.columns.from' is missing"},
    {"columns-of-nothing", WITH_COLUMNS("{ family: M, from: [] }"),
     "4:93 error: 'tables.T.columns.from' names no field: remove the entry"},
    {"columns-star-in-list", WITH_COLUMNS("{ family: M, from: [a, \"*\"] }"),
     "4:97 error: \"*\" must be alone in an entry ('from: \"*\"'):"},
    {"columns-star-twice", WITH_COLUMNS("[{ family: M, from: \"*\" }, { family: N, from: \"*\" }]"),
     "4:101 error: 'tables.T.columns' contains \"*\" twice: a field"},
    {"column-twice", WITH_COLUMNS("{ family: M, from: [a, { field: b, as: a }] }"),
     "4:97 error: two fields become the column 'M:a': rename one of them with { field: NAME, as: QUALIFIER }"},
    {"columns-key-fields-of-named", WITH_COLUMNS("{ family: M, from: [a], key_fields: true }"),
     "4:110 error: 'tables.T.columns.key_fields' only applies to 'from: \"*\"' and patterns: named fields are always "
     "included"},
    {"columns-bad-family", WITH_COLUMNS("{ family: \"a:b\", from: \"*\" }"),
     "4:84 error: 'tables.T.columns.family': 'a:b' is not a valid HBase family name"},
    {"columns-long-family", WITH_COLUMNS("{ family: measurements_of_server, from: \"*\" }"),
     "4:84 warning: the family name 'measurements_of_server' is stored with every cell: use one or two letters"},
    {"columns-unknown-nulls", WITH_COLUMNS("{ family: M, from: \"*\", nulls: keep }"),
     "4:105 error: 'tables.T.columns.nulls' must be one of skip, empty, reject, got 'keep'"},

    {"table-name-bad",
     KAFKA READINGS HBASE "tables: { \"a b\": { key: [{ field: h }, \"#\", { time: epoch_s }], " COLUMNS " } }\n",
     "4:11 error: 'a b' is not a valid HBase table name"},
    {"table-of-hbase",
     KAFKA READINGS HBASE "tables: { \"hbase:meta\": { key: [{ field: h }, \"#\", { time: epoch_s }], " COLUMNS
                          " } }\n",
     "4:11 error: 'hbase:meta' is in the namespace of HBase's own tables"},
    {"table-under-two-names",
     KAFKA READINGS HBASE "tables:\n"
                          "  T: { key: [{ field: h }, \"#\", { time: epoch_s }], " COLUMNS " }\n"
                          "  \"default:T\": { key: [{ field: h }, \"#\", { time: epoch_s }], " COLUMNS " }\n",
     "6:3 error: the table 'default:T' is declared twice, first in line 5"},
    {"table-of-wrong-kind", KAFKA READINGS HBASE "tables: { T: x }\n",
     "4:14 error: 'tables.T' must be a mapping with 'key' and 'columns',"},
    {"table-option-mistyped", WITH_TABLE("latets: merge"),
     "4:100 error: 'tables.T.latets' is not known; did you mean 'latest'?"},
    {"latest-with-ttl",
     KAFKA READINGS HBASE "tables: { T: { latest: merge, ttl: 30d, key: { field: host }, " COLUMNS " } }\n",
     "4:36 warning: 'tables.T' is a latest table with a time to live: a device that has not reported for 30d "
     "disappears from it"},
    {"splits-and-regions", WITH_TABLE("splits: [a], regions: 1"),
     "4:108 error: 'tables.T' has both 'regions' and 'splits': remove one of them"},
    {"splits-not-in-order", WITH_TABLE("splits: [a, c, b]"),
     "4:115 error: 'tables.T.splits': 'b' does not sort after the previous point, by unsigned bytes"},
    {"splits-empty", WITH_TABLE("splits: []"),
     "4:108 error: 'tables.T.splits' must be a list of keys, or { file: PATH }, got an empty list"},
    {"splits-empty-point", WITH_TABLE("splits: [\"\"]"),
     "4:109 error: 'tables.T.splits' contains a point of 0 bytes, must be 1.."},
    {"regions-of-a-plain-key", WITH_TABLE("regions: 4"),
     "4:109 warning: 'tables.T.regions': the split points cannot be calculated, because the key does not start with a "
     "salt, a hash or a number with a 'range': list the points, 'splits: [\"g\", \"n\"]', or take them from the topic "
     "with 'tidemark tables create --sample N'"},
    {"family-unused", WITH_TABLE("families: { N: { versions: 3 } }"),
     "4:112 warning: the family 'N' is declared, but no columns use it"},
    {"family-option-bad", WITH_TABLE("families: { M: { compression: gzip } }"),
     "4:130 error: 'tables.T.families.M.compression' must be one of none, gz"},
    {"family-ttl-of-a-part-of-a-second", WITH_TABLE("families: { M: { ttl: 1500ms } }"),
     "4:122 error: 'tables.T.families.M.ttl' must be whole seconds, got '1500ms'"},

    {"F7-offset-store", WITH_PROPERTY("enable.auto.offset.store: true"),
     "1:74 error: the property 'enable.auto.offset.store' cannot be set: tidemark stores an offset when HBase has "
     "acknowledged"},
    {"F7-auto-commit", WITH_PROPERTY("enable.auto.commit: false"),
     "1:74 error: the property 'enable.auto.commit' cannot"},
    {"F7-group", WITH_PROPERTY("group.id: x"), "1:74 error: the property 'group.id' cannot be set: use 'kafka.group'"},
    {"F7-offset-reset", WITH_PROPERTY("auto.offset.reset: latest"),
     "1:74 error: the property 'auto.offset.reset' cannot"},
    {"F7-queue", WITH_PROPERTY("queued.min.messages: 5"),
     "1:74 error: the property 'queued.min.messages' cannot be set: it is derived from 'limits.memory'"},
    {"F7-callback", WITH_PROPERTY("rebalance_cb: x"),
     "1:74 error: the property 'rebalance_cb' cannot be set: only programs can"},
    {"F7-no-value", WITH_PROPERTY("client.id: "), "1:86 error: 'kafka.librdkafka.client.id' needs a value"},
    {"F7-list-for-value", WITH_PROPERTY("client.id: [a]"),
     "1:85 error: 'kafka.librdkafka.client.id' must be a text, {"},
    {"F7-unverified-certificate", WITH_PROPERTY("enable.ssl.certificate.verification: \"false\""),
     "1:111 error: 'enable.ssl.certificate.verification' disables verification: a man in the middle could read and "
     "change all data; set"},
    {"F7-unverified-certificate-0", WITH_PROPERTY("enable.ssl.certificate.verification: 0"),
     "1:111 error: 'enable.ssl.certificate.verification' disables verification: a man in the middle could read and "
     "change all data; set"},
    {"F7-unverified-certificate-f", WITH_PROPERTY("enable.ssl.certificate.verification: F"),
     "1:111 error: 'enable.ssl.certificate.verification' disables verification: a man in the middle could read and "
     "change all data; set"},
    {"F7-unverified-name", WITH_PROPERTY("security.protocol: ssl, ssl.endpoint.identification.algorithm: none"),
     "1:137 error: 'ssl.endpoint.identification.algorithm' disables verification: a man in the middle could read and "
     "change all data; set"},
    {"F7-strategy", WITH_PROPERTY("partition.assignment.strategy: cooperative-sticky"),
     "1:74 error: the property 'partition.assignment.strategy' cannot be set: use 'kafka.assignment'"},
    {"F7-instance", WITH_PROPERTY("group.instance.id: me"),
     "1:74 error: the property 'group.instance.id' cannot be set: use 'kafka.instance', to which"},
    {"instance-with-blank", "kafka: { brokers: b, group: g, topics: [t], instance: \"a b\" }\n" READINGS HBASE TABLES,
     "1:55 error: 'kafka.instance' must be at most 128 letters, digits"},
    {"instance-with-unknown-sign",
     "kafka: { brokers: b, group: g, topics: [t], instance: \"%H-%p\" }\n" READINGS HBASE TABLES,
     "1:55 error: 'kafka.instance' must be at most 128 letters, digits"},
    {"password-in-clear",
     WITH_PROPERTY("security.protocol: SASL_PLAINTEXT, sasl.mechanism: PLAIN, sasl.username: u, sasl.password: p"),
     "1:93 warning: the password or token is sent in clear text: use sasl_ssl, or a SCRAM mechanism"},
    {"password-in-clear-by-the-other-name", WITH_PROPERTY("security.protocol: sasl_plaintext, sasl.mechanisms: plain"),
     "1:93 warning: the password or token is sent in clear text: use sasl_ssl, or a SCRAM mechanism"},
    {"token-in-clear", WITH_PROPERTY("security.protocol: SASL_PLAINTEXT, sasl.mechanism: OAUTHBEARER"),
     "1:93 warning: the password or token is sent in clear text: use sasl_ssl, or a SCRAM mechanism"},
    {"password-in-clear-to-another-localhost", "kafka: { brokers: \"localhost.example.org:9092\"," IN_CLEAR,
     "1:105 warning: the password or token is sent in clear text: use sasl_ssl, or a SCRAM mechanism"},
    {"password-in-clear-to-another-127", "kafka: { brokers: \"127.0.0.1:1, 127.0.0.1.org:9092\"," IN_CLEAR,
     "1:110 warning: the password or token is sent in clear text: use sasl_ssl, or a SCRAM mechanism"},
    {"mechanism-without-sasl", WITH_PROPERTY("sasl.mechanism: PLAIN"),
     "1:90 error: 'sasl.mechanism' has no effect without SASL: set 'security.protocol' to 'sasl_ssl', or to "
     "'sasl_plaintext' without TLS"},
    {"mechanism-in-mere-tls", WITH_PROPERTY("security.protocol: ssl, sasl.mechanisms: PLAIN"),
     "1:115 error: 'sasl.mechanisms' has no effect without SASL: set 'security.protocol' to 'sasl_ssl', or to "
     "'sasl_plaintext' without TLS"},
    {"sasl-without-mechanism", WITH_PROPERTY("security.protocol: sasl_ssl, sasl.username: u"),
     "1:93 error: 'security.protocol' is 'sasl_ssl', but 'sasl.mechanism' is missing: set it (PLAIN, SCRAM-SHA-512, "
     "OAUTHBEARER), or 'sasl.kerberos.keytab' for Kerberos"},
    {"authority-without-tls", WITH_PROPERTY("client.id: me, ssl.ca.location: /ca.pem, ssl.crl.location: /crl.pem"),
     "1:89 error: 'ssl.ca.location' has no effect without TLS, and all data is sent in clear text: set "
     "'security.protocol' to 'ssl', or to 'sasl_ssl' with a 'sasl.mechanism' (or to 'plaintext' if that is intended)"},
    {"certificate-without-key", WITH_PROPERTY("security.protocol: SSL, ssl.certificate.location: /c.pem"),
     "1:124 error: 'ssl.certificate.location' has no effect without its key: set 'ssl.key.location' or 'ssl.key.pem: { "
     "credential: NAME }'"},
    {"key-as-file", WITH_PROPERTY("security.protocol: ssl, ssl.key.location: { file: /k.pem }"),
     "1:116 error: 'kafka.librdkafka.ssl.key.location' is a path: write it without 'file:'; for a key in a credential "
     "write 'ssl.key.pem: { credential: NAME }'"},
    {"http-open", WITH_SERVICE("http: \"0.0.0.0:9464\""),
     "5:18 error: 'service.http' ('0.0.0.0:9464') is reachable from other machines without a password and without TLS: "
     "set 'service.http_users' or 'service.http_tls', listen on 127.0.0.1 or a Unix socket, or set "
     "'service.http_allow_open: true'"},
    {"http-open-by-ipv6", WITH_SERVICE("http: \"[::]:9464\""),
     "5:18 error: 'service.http' ('[::]:9464') is reachable from other machines without a password and without TLS: "
     "set 'service.http_users' or 'service.http_tls', listen on 127.0.0.1 or a Unix socket, or set "
     "'service.http_allow_open: true'"},
    {"http-open-and-not-allowed", WITH_SERVICE("http: \"10.0.0.1:1\", http_allow_open: false"),
     "5:18 error: 'service.http' ('10.0.0.1:1') is reachable from other machines without a password and without TLS: "
     "set 'service.http_users' or 'service.http_tls', listen on 127.0.0.1 or a Unix socket, or set "
     "'service.http_allow_open: true'"},
    {"http-relative-socket", WITH_SERVICE("http: \"unix:http.socket\""),
     "5:18 error: 'service.http' cannot listen on 'unix:http.socket'"},
    {"http-users-of-nowhere", WITH_SERVICE("http_users: { file: /nonexistent/users }"),
     "5:24 error: cannot open the secret '/nonexistent/users'"},
    {"http-users-of-two-places", WITH_SERVICE("http_users: { file: /x, credential: y }"),
     "5:48 error: 'service.http_users' has both 'file' and 'credential':"},
    {"http-tls-without-key", WITH_SERVICE("http_tls: { certificate: /x }"),
     "5:37 error: 'service.http_tls.certificate' needs a private key: add 'key: { file: /path }' or 'key: { "
     "credential: NAME }'"},
    {"http-tls-without-certificate", WITH_SERVICE("http_tls: { key: { file: /x } }"),
     "5:29 error: 'service.http_tls.key' needs its certificate: add '"},
    {"http-tls-key-of-two-places", WITH_SERVICE("http_tls: { certificate: /x, key: { file: /x, credential: y } }"),
     "5:70 error: 'service.http_tls.key' has both 'file' and 'credential':"},
    {"http-socket-mode-that-is-none", WITH_SERVICE("http: \"unix:/x\", http_socket_mode: rw"),
     "5:47 error: 'service.http_socket_mode' must be permission bits in octal"},
    {"F8-secret-missing", WITH_PROPERTY("sasl.password: { file: /nonexistent/password }"),
     "1:97 error: cannot open the secret '/nonexistent/password': No such file"},
    {"F8-secret-misspelt", WITH_PROPERTY("sasl.password: { path: /x }"),
     "1:89 error: 'kafka.librdkafka.sasl.password' must be a text, { file: /path } or { credential: NAME }"},
};

/* A build without protobuf says that instead. */
TEST_EACH("/config/problem/", one_problem)
{
  const ConfigProblemCase *bad = data;
  if (tide_format_is_built_in(TIDE_FORMAT_PROTOBUF) || strstr(bad->text, "format: protobuf") == NULL) {
    assert_one_problem(bad);
    return;
  }
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(TideConfig) config = load_config(bad->text, &problems);
  g_autofree char *all = describe_problems(problems);
  g_assert_null(config);
  if (strstr(all, "'readings.format: protobuf' is not supported by this build, which lacks protobuf") == NULL)
    g_error("got \"%s\", expected the format to be refused", all);
}

TEST("/config/all-problems-in-order-of-the-file")
{
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(TideConfig) config = load_config("tables:\n"
                                             "  T:\n"
                                             "    key: [{ field: host, widht: 3 }]\n"
                                             "    columns: { family: M, from: \"*\", nulls: keep }\n"
                                             "batch: { max_rows: 0 }\n"
                                             "batch: { }\n"
                                             "kafka:\n"
                                             "  brokers: [\"b:0\"]\n"
                                             "  group: g\n"
                                             "  topic: [t]\n"
                                             "  librdkafka: { group.id: x }\n"
                                             "readings: { time: { field: ts, format: epoch } }\n"
                                             "hbase: { gateways: g, writers: many }\n",
                                             &problems);
  static const guint lines[] = {3, 4, 5, 6, 8, 10, 11, 12, 13};

  g_assert_null(config);
  g_autofree char *all = describe_problems(problems);
  g_test_message("%s", all);
  g_assert_cmpuint(problems->len, ==, G_N_ELEMENTS(lines));
  for (guint i = 0; i < problems->len; i++)
    g_assert_cmpuint(((TideConfigProblem *)g_ptr_array_index(problems, i))->line, ==, lines[i]);
}

/* Nobody stands between. */
TEST("/config/a-password-may-go-to-this-machine-in-clear")
{
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(TideConfig) config = load_config(
      "kafka: { brokers: \"localhost:1, 127.0.0.2:2,[::1]:3,SASL_PLAINTEXT://LOCALHOST:4\"," IN_CLEAR, &problems);
  g_autofree char *all = describe_problems(problems);
  g_assert_cmpstr(all, ==, "");
  g_assert_nonnull(config);
}

TEST("/config/every-bad-tls-file")
{
  g_autoptr(GPtrArray) problems = NULL;
  g_autoptr(TideConfig) config = load_config(
      KAFKA READINGS WITH_TLS("ca: /nowhere/ca, certificate: /nowhere/us, key: { file: /nowhere/key }"), &problems);
  g_assert_null(config);
  g_autofree char *all = describe_problems(problems);
  g_test_message("%s", all);
  g_assert_cmpuint(problems->len, ==, 3);
  g_assert_nonnull(strstr(all, "'/nowhere/ca'"));
  g_assert_nonnull(strstr(all, "'/nowhere/us'"));
  g_assert_nonnull(strstr(all, "'/nowhere/key'"));
}
