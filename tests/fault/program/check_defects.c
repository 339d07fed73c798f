/* What can be wrong with a configuration and what is around it: each a change of a scene that is good, with what is to
 * be said of it. */
/* F_OFD_SETLK */
#define _GNU_SOURCE
#include "fault/program/check_scene.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

/* Requests that are to be denied for as long as anybody asks. */
#define ALWAYS 500u

/* ---- defects of the file ---- */

static void
unknown_option(CheckScene *scene)
{
  check_scene_add(&scene->kafka_more, ", thread: 3");
}

static void
unknown_property(CheckScene *scene)
{
  check_scene_add(&scene->properties, ", fetch.wait.max.mss: 10");
}

static void
property_of_wrong_kind(CheckScene *scene)
{
  check_scene_add(&scene->properties, ", socket.timeout.ms: soon");
}

static void
property_that_breaks_a_promise(CheckScene *scene)
{
  check_scene_add(&scene->properties, ", delivery.report.only.error: true");
}

static void
properties_that_need_others(CheckScene *scene)
{
  check_scene_add(&scene->properties, ", security.protocol: sasl_plaintext, sasl.mechanism: PLAIN");
}

static void
certificates_that_are_not_there(CheckScene *scene)
{
  check_scene_add(&scene->properties, ", security.protocol: ssl, ssl.ca.location: no-such.pem");
}

static void
secret_that_is_not_there(CheckScene *scene)
{
  check_scene_add(&scene->properties, ", sasl.password: { file: no-such-password }");
}

static void
secret_for_all(CheckScene *scene)
{
  check_scene_write_file(scene, "password", "hush\n", 0644);
  check_scene_add(&scene->properties, ", sasl.password: { file: password }");
}

static void
secret_that_nobody_can_read(CheckScene *scene)
{
  check_scene_write_file(scene, "password", "hush\n", 0000);
  check_scene_add(&scene->properties, ", sasl.password: { file: password }");
  scene->as_nobody = TRUE;
}

static void
credential_without_systemd(CheckScene *scene)
{
  check_scene_add(&scene->properties, ", sasl.password: { credential: kafka.password }");
}

static void
secret_beside_the_file(CheckScene *scene)
{
  check_scene_write_file(scene, "password", "hush\n", 0600);
  check_scene_add(&scene->properties, ", sasl.username: u, sasl.password: { file: password }");
}

static void
file_that_nobody_can_read(CheckScene *scene)
{
  scene->mode = 0600;
  scene->as_nobody = TRUE;
}

static void
too_little_memory(CheckScene *scene)
{
  check_scene_set(&scene->limits, g_strdup(", memory: 1MiB"));
}

static void
pattern_that_is_none(CheckScene *scene)
{
  check_scene_set(&scene->topics, g_strdup("\"^a[\""));
}

static void
splits_that_are_not_there(CheckScene *scene)
{
  check_scene_set(&scene->tables,
                  g_strdup("  METRIC: { key: [ { field: host }, \"#\", { time: epoch_ms } ], splits: { file: s.txt },"
                           " columns: { family: M, from: \"*\" } }\n"));
}

static void
dead_letters_that_are_read_again(CheckScene *scene)
{
  check_scene_set(&scene->dead_letters, g_strdup("topic: metrics"));
}

/* ---- of brokers and topics ---- */

static void
broker_that_is_away(CheckScene *scene)
{
  check_scene_set(&scene->brokers, g_strdup("127.0.0.1:1"));
}

static void
broker_without_address(CheckScene *scene)
{
  check_scene_set(&scene->brokers, g_strdup("no-such-host.invalid:9092"));
}

static void
one_broker_of_two_away(CheckScene *scene)
{
  check_scene_set(&scene->brokers, g_strconcat("127.0.0.1:1,", scene->brokers, NULL));
}

static void
broker_that_is_no_broker(CheckScene *scene)
{
  check_scene_set(&scene->brokers, g_strdup(scripted_gateway_endpoint(scene->gateways[0])));
}

static void
tls_to_a_plain_port(CheckScene *scene)
{
  check_scene_add(&scene->properties, ", security.protocol: ssl");
}

static void
password_to_a_plain_port(CheckScene *scene)
{
  check_scene_add(&scene->properties, ", security.protocol: sasl_plaintext, sasl.mechanism: PLAIN, sasl.username: u,"
                                      " sasl.password: p");
}

static void
topic_that_is_not_there(CheckScene *scene)
{
  check_scene_set(&scene->topics, g_strdup("no-such-topic"));
}

static void
one_topic_of_two_missing(CheckScene *scene)
{
  check_scene_set(&scene->topics, g_strdup("metrics, no-such-topic"));
}

static void
pattern_without_topics(CheckScene *scene)
{
  check_scene_set(&scene->topics, g_strdup("\"^no-such.*\""));
}

static void
topic_that_is_denied(CheckScene *scene)
{
  check_scene_set(&scene->topics, g_strdup("metrics"));
  mock_kafka_set_topic_error(scene->kafka, "metrics", RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
}

static void
fetches_that_are_denied(CheckScene *scene)
{
  mock_kafka_push_errors(scene->kafka, TIDE_KAFKA_FETCH, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, ALWAYS);
}

static void
group_that_is_denied(CheckScene *scene)
{
  static const TideKafkaRequest requests[] = {TIDE_KAFKA_OFFSET_FETCH, TIDE_KAFKA_JOIN_GROUP};
  for (gsize i = 0; i < G_N_ELEMENTS(requests); i++)
    mock_kafka_push_errors(scene->kafka, requests[i], RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, ALWAYS);
}

/* As real brokers do it: they do not tell, either, who has the group. */
static void
coordinator_that_is_denied(CheckScene *scene)
{
  mock_kafka_push_errors(scene->kafka, TIDE_KAFKA_FIND_COORDINATOR, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
                         ALWAYS);
}

static void
partition_without_a_leader(CheckScene *scene)
{
  mock_kafka_set_leader(scene->kafka, "metrics", 0, -1);
}

/* ---- of dead letters ---- */

/* The bad message is read, and becomes a dead letter. */
static void
let_the_bad_message_come(CheckScene *scene)
{
  check_scene_set(&scene->topics, g_strdup("metrics"));
  check_scene_set(&scene->kafka_more, g_strdup(""));
  check_scene_set(&scene->readings, g_strdup("format: json, time: { field: ts, format: epoch_ms }"));
}

static void
dead_letter_topic_that_is_not_there(CheckScene *scene)
{
  check_scene_set(&scene->dead_letters, g_strdup("topic: no-such-letters"));
  let_the_bad_message_come(scene);
  mock_kafka_set_topic_error(scene->kafka, "no-such-letters", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
}

static void
dead_letter_topic_that_is_denied(CheckScene *scene)
{
  dead_letter_topic_that_is_not_there(scene);
  mock_kafka_set_topic_error(scene->kafka, "no-such-letters", RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
}

static void
dead_letter_directory_that_is_not_there(CheckScene *scene)
{
  check_scene_set(&scene->dead_letters, g_strdup("file: no-such-directory/letters.jsonl"));
}

static void
dead_letter_directory_that_is_a_file(CheckScene *scene)
{
  check_scene_write_file(scene, "plain", "x", 0644);
  check_scene_set(&scene->dead_letters, g_strdup("file: plain/letters.jsonl"));
}

static void
dead_letter_directory_that_is_read_only(CheckScene *scene)
{
  g_autofree char *path = check_scene_make_directory(scene, "read-only", 0555);
  check_scene_set(&scene->dead_letters, g_strdup("file: read-only/letters.jsonl"));
  scene->as_nobody = TRUE;
}

static void
dead_letter_file_that_is_a_directory(CheckScene *scene)
{
  g_autofree char *path = check_scene_make_directory(scene, "folder", 0755);
  check_scene_set(&scene->dead_letters, g_strdup("file: folder"));
}

static void
dead_letter_file_that_is_a_device(CheckScene *scene)
{
  g_autofree char *path = check_scene_path(scene, "device.jsonl");
  check_scene_set(&scene->dead_letters, g_strdup("file: device.jsonl"));
  g_assert_true(symlink("/dev/full", path) == 0 || errno == EEXIST); /* it may be asked for twice */
}

static void
dead_letter_file_that_is_read_only(CheckScene *scene)
{
  check_scene_write_file(scene, "letters.jsonl", "", 0444);
  check_scene_set(&scene->dead_letters, g_strdup("file: letters.jsonl"));
  scene->as_nobody = TRUE;
}

static void
dead_letter_lock_that_is_read_only(CheckScene *scene)
{
  check_scene_write_file(scene, "letters.jsonl.lock", "", 0444);
  check_scene_set(&scene->dead_letters, g_strdup("file: letters.jsonl"));
  scene->as_nobody = TRUE;
}

static void
dead_letters_that_are_full(CheckScene *scene)
{
  g_autofree char *filler = g_strnfill(70000, 'x');
  let_the_bad_message_come(scene);
  check_scene_write_file(scene, "letters.jsonl.1", filler, 0644);
  check_scene_set(&scene->dead_letters, g_strdup("file: letters.jsonl, max_file_size: 64KiB, max_size: 64KiB"));
}

/* One thing in the way of a scene is enough; and it may be asked for twice. */
static void
lock_file(CheckScene *scene, const char *name)
{
  if (scene->held_fd >= 0)
    return;
  g_autofree char *path = check_scene_path(scene, name);
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  scene->held_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  g_assert_cmpint(scene->held_fd, >=, 0);
  g_assert_cmpint(fcntl(scene->held_fd, F_OFD_SETLK, &lock), ==, 0);
}

static void
dead_letters_of_another_process(CheckScene *scene)
{
  check_scene_set(&scene->dead_letters, g_strdup("file: letters.jsonl"));
  lock_file(scene, "letters.jsonl.lock");
}

static void
no_place_by_default(CheckScene *scene)
{
  check_scene_set(&scene->dead_letters, g_strdup(""));
  g_clear_pointer(&scene->state_directory, g_free);
  let_the_bad_message_come(scene);
  scene->from_stdin = TRUE;
}

static void
default_place_that_is_read_only(CheckScene *scene)
{
  check_scene_set(&scene->dead_letters, g_strdup(""));
  g_clear_pointer(&scene->state_directory, g_free);
  g_assert_cmpint(g_chmod(scene->directory, 0555), ==, 0);
  scene->as_nobody = TRUE;
}

/* ---- of gateways ---- */

#define OTHER_CLUSTER "7be3f4c1-0d2e-4b6a-8f15-93a0c2d4e6b8"

static void
gateway_that_is_away(CheckScene *scene)
{
  check_scene_set(&scene->gateway_list, g_strdup("\"127.0.0.1:1\""));
}

static void
one_gateway_of_two_away(CheckScene *scene)
{
  check_scene_set(&scene->gateway_list,
                  g_strdup_printf("\"127.0.0.1:1\", \"%s\"", scripted_gateway_endpoint(scene->gateways[0])));
}

static void
gateway_without_address(CheckScene *scene)
{
  check_scene_set(&scene->gateway_list, g_strdup("\"no-such-host.invalid:9090\""));
}

static void
gateway_on_a_socket_that_is_not_there(CheckScene *scene)
{
  check_scene_set(&scene->gateway_list, g_strdup("\"unix:/no/such/socket\""));
}

static void
replace_gateways(CheckScene *scene, const TideGatewayOptions *first, const TideGatewayOptions *second)
{
  TideGatewayOptions options[] = {*first, *second};
  TideFakeHBase *hbase = fake_hbase_ref(scripted_gateway_hbase(scene->gateways[0]));
  for (guint i = 0; i < CHECK_SCENE_GATEWAYS; i++) {
    options[i].hbase = hbase;
    scripted_gateway_free(scene->gateways[i]);
    scene->gateways[i] = scripted_gateway_new(&options[i]);
  }
  fake_hbase_unref(hbase);
  check_scene_set(&scene->gateway_list, g_strdup_printf("\"%s\", \"%s\"", scripted_gateway_endpoint(scene->gateways[0]),
                                                        scripted_gateway_endpoint(scene->gateways[1])));
}

/* The same tables are in both. */
static void
gateways_of_two_clusters(CheckScene *scene)
{
  scripted_gateway_free(scene->gateways[1]);
  scene->gateways[1] = scripted_gateway_new(NULL);
  fake_hbase_set_cluster(scripted_gateway_hbase(scene->gateways[1]), OTHER_CLUSTER);
  scripted_gateway_create_table(scene->gateways[1], "METRIC", "M", NULL);
  scripted_gateway_create_table(scene->gateways[1], "CURRENT_METRIC", "M", NULL);
  scripted_gateway_create_table(scene->gateways[1], "tidemark_schemes", "s", NULL);
  check_scene_set(&scene->gateway_list, g_strdup_printf("\"%s\", \"%s\"", scripted_gateway_endpoint(scene->gateways[0]),
                                                        scripted_gateway_endpoint(scene->gateways[1])));
}

static void
gateways_of_another_cluster_than_before(CheckScene *scene)
{
  check_scene_set(&scene->state_directory, check_scene_make_directory(scene, "old-state", 0755));
  check_scene_write_file(scene, "old-state/cluster", OTHER_CLUSTER "\n", 0644);
}

static void
framing_that_is_wrong(CheckScene *scene)
{
  TideGatewayOptions plain = {0};
  replace_gateways(scene, &plain, &plain);
  check_scene_add(&scene->hbase_more, ", transport: framed-binary");
}

static void
encoding_that_is_wrong(CheckScene *scene)
{
  TideGatewayOptions plain = {0};
  replace_gateways(scene, &plain, &plain);
  check_scene_add(&scene->hbase_more, ", transport: unframed-compact");
}

static void
framings_that_differ(CheckScene *scene)
{
  replace_gateways(scene, &(TideGatewayOptions){.framed = TRUE}, &(TideGatewayOptions){.framed = FALSE});
}

static void
encodings_that_differ(CheckScene *scene)
{
  replace_gateways(scene, &(TideGatewayOptions){.compact = TRUE}, &(TideGatewayOptions){.compact = FALSE});
}

static void
set_personality(CheckScene *scene, TidePersonality personality)
{
  for (guint i = 0; i < CHECK_SCENE_GATEWAYS; i++)
    scripted_gateway_set_personality(scene->gateways[i], personality);
}

static void
gateway_of_thrift1(CheckScene *scene)
{
  set_personality(scene, TIDE_PERSONALITY_THRIFT1);
}

static void
gateway_that_is_a_web_server(CheckScene *scene)
{
  set_personality(scene, TIDE_PERSONALITY_HTTP);
}

static void
gateway_behind_tls(CheckScene *scene)
{
  set_personality(scene, TIDE_PERSONALITY_TLS);
}

/* ---- of tables ---- */

static TideFakeHBase *
hbase_of(const CheckScene *scene)
{
  return scripted_gateway_hbase(scene->gateways[0]);
}

static void
delete_table(const CheckScene *scene, const char *table)
{
  g_auto(TideFakeError) error = {0};
  (void)fake_hbase_set_enabled(hbase_of(scene), table, FALSE, &error);
  fake_error_clear(&error);
  (void)fake_hbase_delete_table(hbase_of(scene), table, &error); /* unless another defect of the scene has */
}

static void
table_that_is_not_there(CheckScene *scene)
{
  delete_table(scene, "METRIC");
}

static void
family_that_is_not_there(CheckScene *scene)
{
  delete_table(scene, "CURRENT_METRIC");
  scripted_gateway_create_table(scene->gateways[0], "CURRENT_METRIC", "X", NULL);
}

static void
table_that_is_disabled(CheckScene *scene)
{
  g_auto(TideFakeError) error = {0};
  (void)fake_hbase_set_enabled(hbase_of(scene), "METRIC", FALSE, &error); /* unless another defect deleted it */
}

static void
table_of_another_key(CheckScene *scene, gboolean has_rows)
{
  delete_table(scene, "METRIC");
  TideFakeTableSpec *spec = fake_table_spec_new("METRIC");
  fake_table_spec_add_family(spec, "M");
  fake_table_spec_add_attribute(spec, TIDE_BYTES_LITERAL("TIDEMARK_SCHEME"), TIDE_BYTES_LITERAL("1 field(other)"));
  g_auto(TideFakeError) error = {0};
  g_assert_true(fake_hbase_create_table(hbase_of(scene), spec, NULL, 0, &error));
  TideFakeCell cell = {TIDE_BYTES_LITERAL("M"), TIDE_BYTES_LITERAL("v"), TIDE_BYTES_LITERAL("1"), 1};
  TideFakeRow row = {.row = TIDE_BYTES_LITERAL("a"), .cells = &cell, .n_cells = 1};
  if (has_rows)
    g_assert_true(fake_hbase_put(hbase_of(scene), "METRIC", &row, 1, (TideFakeOrigin){0}, NULL, NULL, &error));
}

static void
refuse(CheckScene *scene, TideGatewayCall call, const char *message)
{
  TideScriptedFault refusing = {.kind = TIDE_FAULT_IO_ERROR, .call = call, .table = "METRIC", .message = message};
  for (guint i = 0; i < CHECK_SCENE_GATEWAYS; i++)
    scripted_gateway_add_fault(scene->gateways[i], &refusing);
}

#define DENIED "org.apache.hadoop.hbase.security.AccessDeniedException: Insufficient permissions (user=tide/h@R, scope="

/* Whoever may read and write a table need not be shown how it was made. */
static void
table_that_is_hidden(CheckScene *scene)
{
  refuse(scene, TIDE_CALL_GET_TABLE_DESCRIPTOR, DENIED "default:METRIC, params=[table=default:METRIC,],action=CREATE)");
}

static void
table_that_is_denied(CheckScene *scene)
{
  table_that_is_hidden(scene);
  refuse(scene, TIDE_CALL_CHECK_AND_PUT,
         DENIED "default:METRIC, family=M:v, params=[table=default:METRIC,family=M:v],action=WRITE)");
  refuse(scene, TIDE_CALL_PUT_MULTIPLE,
         "Failed 1 action: " DENIED "default:METRIC, family=M:v, params=[table=default:METRIC,family=M:v],action=WRITE)"
         ": 1 time, servers with issues: rs1,16020,1");
}

static void
keys_that_cannot_be_remembered(CheckScene *scene)
{
  delete_table(scene, "tidemark_schemes");
}

static void
key_that_was_changed(CheckScene *scene)
{
  table_of_another_key(scene, TRUE);
}

static void
key_that_was_changed_while_empty(CheckScene *scene)
{
  table_of_another_key(scene, FALSE);
}

static void
table_without_a_log(CheckScene *scene)
{
  fake_hbase_set_durability(hbase_of(scene), "METRIC", 1);
}

static void
setting_that_differs(CheckScene *scene)
{
  check_scene_set(&scene->tables,
                  g_strdup("  METRIC: { key: [ { field: host }, \"#\", { time: epoch_ms } ], families: { M: { versions:"
                           " 7 } }, columns: { family: M, from: \"*\" } }\n"));
}

static void
tables_by_date(CheckScene *scene)
{
  check_scene_set(&scene->tables,
                  g_strdup("  \"DAY_{yyyyMMdd}\": { key: [ { field: host }, \"#\", { time: epoch_ms } ],"
                           " columns: { family: M, from: \"*\" } }\n"));
}

static void
tables_by_date_in_a_namespace_that_is_not_there(CheckScene *scene)
{
  check_scene_set(&scene->tables,
                  g_strdup("  \"ns:DAY_{yyyyMMdd}\": { key: [ { field: host }, \"#\", { time: epoch_ms } ],"
                           " columns: { family: M, from: \"*\" } }\n"));
}

static void
tables_by_date_that_a_framed_gateway_cannot_make(CheckScene *scene)
{
  TideGatewayOptions framed = {.framed = TRUE};
  replace_gateways(scene, &framed, &framed);
  check_scene_set(&scene->tables,
                  g_strdup("  \"DAY_{yyyyMMdd}\": { key: [ { field: host }, \"#\", { time: epoch_ms } ],"
                           " splits: [\"g\"], columns: { family: M, from: \"*\" } }\n"));
}

static void
tables_by_date_whose_deletes_a_framed_gateway_cannot_keep(CheckScene *scene)
{
  TideGatewayOptions framed = {.framed = TRUE};
  replace_gateways(scene, &framed, &framed);
  check_scene_set(&scene->tables,
                  g_strdup("  \"DAY_{yyyyMMdd}\": { key: [ { field: host }, \"#\", { time: epoch_ms } ],"
                           " purge_deletes_after: 1d, columns: { family: M, from: \"*\" } }\n"));
}

/* ---- of this host ---- */

static void
port_of_another_process(CheckScene *scene)
{
  check_scene_set(&scene->service,
                  g_strdup_printf("http: \"%s\", log_format: text", scripted_gateway_endpoint(scene->gateways[0])));
}

static void
port_of_another_host(CheckScene *scene)
{
  check_scene_set(&scene->service, g_strdup("http: \"192.0.2.1:9464\", log_format: text"));
}

static void
port_that_needs_a_privilege(CheckScene *scene)
{
  check_scene_set(&scene->service, g_strdup("http: \"127.0.0.1:81\", log_format: text"));
  scene->as_nobody = TRUE;
}

static void
state_directory_that_is_not_there(CheckScene *scene)
{
  check_scene_set(&scene->state_directory, check_scene_path(scene, "no-such-state"));
}

static void
state_directory_that_is_a_file(CheckScene *scene)
{
  check_scene_write_file(scene, "state-file", "x", 0644);
  check_scene_set(&scene->state_directory, check_scene_path(scene, "state-file"));
}

static void
state_directory_that_is_read_only(CheckScene *scene)
{
  check_scene_set(&scene->state_directory, check_scene_make_directory(scene, "read-only-state", 0555));
  scene->as_nobody = TRUE;
}

static void
state_directory_of_another_process(CheckScene *scene)
{
  check_scene_set(&scene->state_directory, check_scene_make_directory(scene, "taken-state", 0755));
  lock_file(scene, "taken-state/tidemark.lock");
}

static void
nothing(CheckScene *scene)
{
}

#define AWAY "tried again"
#define NO_GATEWAY "gateway not usable"
#define REFUSED "gateway refused"
#define WAITS "waiting for it"
#define HOLDS "is halted"
#define AS_IT_SHOULD_BE "if it is the daemon of this configuration, which runs, that is as it should be"
#define NOT_KEPT "dead letters cannot be kept"

static const CheckDefect defects[] = {
    {"none", nothing, NULL, NULL},
    {"unknown-option", unknown_option, "'kafka.thread' is not known", NULL},
    {"unknown-property", unknown_property, "did you mean 'fetch.wait.max.ms'", NULL},
    {"property-of-wrong-kind", property_of_wrong_kind, "socket.timeout.ms", NULL},
    {"property-that-breaks-a-promise", property_that_breaks_a_promise, "delivery.report.only.error", NULL},
    {"properties-that-need-others", properties_that_need_others, "sasl.username", AWAY},
    {"certificates-that-are-not-there", certificates_that_are_not_there, "ssl.ca.location", NULL},
    {"secret-that-is-not-there", secret_that_is_not_there, "no-such-password", NULL},
    {"secret-for-all", secret_for_all, "chmod 0640", NULL},
    {"secret-that-nobody-can-read", secret_that_nobody_can_read, "cannot open the secret", NULL},
    {"credential-without-systemd", credential_without_systemd, "LoadCredential", NULL},
    {"secret-beside-the-file", secret_beside_the_file, NULL, NULL},
    {"file-that-nobody-can-read", file_that_nobody_can_read, "cannot be opened", NULL},
    {"too-little-memory", too_little_memory, "limits.memory", NULL},
    {"pattern-that-is-none", pattern_that_is_none, "^a[", NULL},
    {"splits-that-are-not-there", splits_that_are_not_there, "s.txt", NULL},
    {"dead-letters-that-are-read-again", dead_letters_that_are_read_again, "read again", NULL},
    {"broker-that-is-away", broker_that_is_away, "no answer from '127.0.0.1:1'", AWAY},
    {"broker-without-address", broker_without_address, "no-such-host.invalid", AWAY},
    {"one-broker-of-two-away", one_broker_of_two_away, NULL, NULL},
    {"broker-that-is-no-broker", broker_that_is_no_broker, "no answer from", AWAY},
    {"tls-to-a-plain-port", tls_to_a_plain_port, "no answer from", AWAY},
    {"password-to-a-plain-port", password_to_a_plain_port, "no answer from", AWAY},
    {"topic-that-is-not-there", topic_that_is_not_there, "no-such-topic", "no-such-topic"},
    {"one-topic-of-two-missing", one_topic_of_two_missing, "no-such-topic", "no-such-topic"},
    {"pattern-without-topics", pattern_without_topics, "no topic matches", "no topic matches"},
    {"topic-that-is-denied", topic_that_is_denied, "may not read topic 'metrics'", "may not read"},
    {"fetches-that-are-denied", fetches_that_are_denied, "may not read topic 'metrics'", "may not read"},
    {"group-that-is-denied", group_that_is_denied, "--operation Read --group", "may not be in group"},
    {"coordinator-that-is-denied", coordinator_that_is_denied, "--operation Read --group", "may not be in group"},
    {"partition-without-a-leader", partition_without_a_leader, "leader", "tidemark: ready: "},
    {"dead-letter-topic-that-is-not-there", dead_letter_topic_that_is_not_there, "no-such-letters", "does not exist"},
    /* The mock cluster names partitions of what it denies, where brokers name none: the producer waits for them. */
    {"dead-letter-topic-that-is-denied", dead_letter_topic_that_is_denied, "may not write to topic 'no-such-letters'",
     NOT_KEPT},
    {"dead-letter-directory-that-is-not-there", dead_letter_directory_that_is_not_there, "no-such-directory", NOT_KEPT},
    {"dead-letter-directory-that-is-a-file", dead_letter_directory_that_is_a_file, "plain", NOT_KEPT},
    {"dead-letter-directory-that-is-read-only", dead_letter_directory_that_is_read_only, "read-only", NOT_KEPT},
    {"dead-letter-file-that-is-a-directory", dead_letter_file_that_is_a_directory, "folder", NOT_KEPT},
    {"dead-letter-file-that-is-a-device", dead_letter_file_that_is_a_device, "device.jsonl", NOT_KEPT},
    {"dead-letter-file-that-is-read-only", dead_letter_file_that_is_read_only, "letters.jsonl", NOT_KEPT},
    {"dead-letter-lock-that-is-read-only", dead_letter_lock_that_is_read_only, "letters.jsonl.lock", NOT_KEPT},
    {"dead-letters-that-are-full", dead_letters_that_are_full, "dead_letters.max_size", "are full"},
    {"dead-letters-of-another-process", dead_letters_of_another_process, AS_IT_SHOULD_BE, NOT_KEPT},
    {"no-place-by-default", no_place_by_default, "no place for dead letters", HOLDS},
    {"default-place-that-is-read-only", default_place_that_is_read_only, "cannot write in the directory", NOT_KEPT},
    {"gateway-that-is-away", gateway_that_is_away, "127.0.0.1:1", NO_GATEWAY},
    {"one-gateway-of-two-away", one_gateway_of_two_away, "127.0.0.1:1", NULL},
    {"gateway-without-address", gateway_without_address, "no-such-host.invalid", NO_GATEWAY},
    {"gateway-on-a-socket-that-is-not-there", gateway_on_a_socket_that_is_not_there, "/no/such/socket", NO_GATEWAY},
    {"framing-that-is-wrong", framing_that_is_wrong, "PROBLEM", NO_GATEWAY},
    {"encoding-that-is-wrong", encoding_that_is_wrong, "PROBLEM", NO_GATEWAY},
    {"framings-that-differ", framings_that_differ, NULL, NULL},
    {"encodings-that-differ", encodings_that_differ, "PROBLEM", NULL},
    {"gateways-of-two-clusters", gateways_of_two_clusters, "is of HBase cluster", REFUSED},
    {"gateways-of-another-cluster-than-before", gateways_of_another_cluster_than_before, "is of HBase cluster",
     REFUSED},
    {"gateway-of-thrift1", gateway_of_thrift1, "PROBLEM", NO_GATEWAY},
    {"gateway-that-is-a-web-server", gateway_that_is_a_web_server, "PROBLEM", NO_GATEWAY},
    {"gateway-behind-tls", gateway_behind_tls, "PROBLEM", NO_GATEWAY},
    {"table-that-is-not-there", table_that_is_not_there, "tables create", WAITS},
    {"family-that-is-not-there", family_that_is_not_there, "family 'M' is missing", WAITS},
    {"table-that-is-disabled", table_that_is_disabled, "it is disabled", "enable"},
    {"table-that-is-hidden", table_that_is_hidden, "grant \"tide\", \"C\", \"METRIC\"", NULL},
    {"table-that-is-denied", table_that_is_denied, "user 'tide' has no right WRITE on table 'METRIC'",
     "grant \"tide\", \"RW\", \"METRIC\""},
    {"keys-that-cannot-be-remembered", keys_that_cannot_be_remembered, "with 'tidemark tables create'", NULL},
    {"key-that-was-changed", key_that_was_changed, "THE KEY CHANGED", NULL},
    {"key-that-was-changed-while-empty", key_that_was_changed_while_empty, NULL, NULL},
    {"table-without-a-log", table_without_a_log, "DATA CAN BE LOST", NULL},
    {"setting-that-differs", setting_that_differs, "declared is 7", NULL},
    {"tables-by-date", tables_by_date, NULL, NULL},
    {"tables-by-date-in-a-namespace-that-is-not-there", tables_by_date_in_a_namespace_that_is_not_there, NULL, NULL},
    {"tables-by-date-that-a-framed-gateway-cannot-make", tables_by_date_that_a_framed_gateway_cannot_make, "framed",
     "framed"},
    {"tables-by-date-whose-deletes-a-framed-gateway-cannot-keep",
     tables_by_date_whose_deletes_a_framed_gateway_cannot_keep, "spoils attributes", "has no attributes"},
    {"port-of-another-process", port_of_another_process,
     "another process has it; stop that one, or choose another port in 'service.http'; " AS_IT_SHOULD_BE, NULL},
    {"port-of-another-host", port_of_another_host, "192.0.2.1", NULL},
    {"port-that-needs-a-privilege", port_that_needs_a_privilege, "127.0.0.1:81", NULL},
    {"state-directory-that-is-not-there", state_directory_that_is_not_there, "no-such-state", NOT_KEPT},
    {"state-directory-that-is-a-file", state_directory_that_is_a_file, "state-file", "cannot compare"},
    {"state-directory-that-is-read-only", state_directory_that_is_read_only, "read-only-state", NOT_KEPT},
    {"state-directory-of-another-process", state_directory_of_another_process, "taken-state", NULL},
};

const CheckDefect *
check_scene_defects(guint *ret_n)
{
  *ret_n = G_N_ELEMENTS(defects);
  return defects;
}
