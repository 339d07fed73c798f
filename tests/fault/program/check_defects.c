/* Possible defects of a configuration and its surroundings: each changes a good scene, and names the expected report.
 */
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

/* ---- of brokers and topics ---- */

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
dead_letter_directory_that_is_a_file(CheckScene *scene)
{
  check_scene_write_file(scene, "plain", "x", 0644);
  check_scene_set(&scene->dead_letters, g_strdup("file: plain/letters.jsonl"));
}

static void
dead_letter_directory_that_is_read_only(CheckScene *scene)
{
  g_autofree char *path G_GNUC_UNUSED = check_scene_make_directory(scene, "read-only", 0555);
  check_scene_set(&scene->dead_letters, g_strdup("file: read-only/letters.jsonl"));
  scene->as_nobody = TRUE;
}

static void
dead_letter_file_that_is_a_directory(CheckScene *scene)
{
  g_autofree char *path G_GNUC_UNUSED = check_scene_make_directory(scene, "folder", 0755);
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
one_gateway_of_two_away(CheckScene *scene)
{
  check_scene_set(&scene->gateway_list,
                  g_strdup_printf("\"127.0.0.1:1\", \"%s\"", scripted_gateway_endpoint(scene->gateways[0])));
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

#define AWAY "retrying"
#define NO_GATEWAY "gateway unavailable"
#define REFUSED "gateway refused"
#define WAITS "waiting for it"
#define HOLDS "is halted"
#define AS_IT_SHOULD_BE "ignore this if it is the running daemon of this configuration"
#define NOT_KEPT "cannot write dead letters"

#define AT(section) G_STRUCT_OFFSET(CheckScene, section)

static const CheckDefect defects[] = {
    {"none", NULL, NULL},
    {"unknown-option", "'kafka.thread' is not known", NULL, .adds = AT(kafka_more), .text = ", thread: 3"},
    {"unknown-property", "did you mean 'fetch.wait.max.ms'", NULL, .adds = AT(properties),
     .text = ", fetch.wait.max.mss: 10"},
    {"property-of-wrong-kind", "socket.timeout.ms", NULL, .adds = AT(properties), .text = ", socket.timeout.ms: soon"},
    {"property-that-breaks-a-promise", "delivery.report.only.error", NULL, .adds = AT(properties),
     .text = ", delivery.report.only.error: true"},
    {"properties-that-need-others", "sasl.username", AWAY, .adds = AT(properties),
     .text = ", security.protocol: sasl_plaintext, sasl.mechanism: PLAIN"},
    {"certificates-that-are-not-there", "ssl.ca.location", NULL, .adds = AT(properties),
     .text = ", security.protocol: ssl, ssl.ca.location: no-such.pem"},
    {"secret-that-is-not-there", "no-such-password", NULL, .adds = AT(properties),
     .text = ", sasl.password: { file: no-such-password }"},
    {"secret-for-all", "chmod 0640", NULL, .apply = secret_for_all},
    {"secret-that-nobody-can-read", "cannot open the secret", NULL, .apply = secret_that_nobody_can_read},
    {"credential-without-systemd", "LoadCredential", NULL, .adds = AT(properties),
     .text = ", sasl.password: { credential: kafka.password }"},
    {"secret-beside-the-file", NULL, NULL, .apply = secret_beside_the_file},
    {"file-that-nobody-can-read", "cannot be opened", NULL, .apply = file_that_nobody_can_read},
    {"too-little-memory", "limits.memory", NULL, .sets = AT(limits), .text = ", memory: 1MiB"},
    {"pattern-that-is-none", "^a[", NULL, .sets = AT(topics), .text = "\"^a[\""},
    {"splits-that-are-not-there", "s.txt", NULL, .sets = AT(tables),
     .text = "  METRIC: { key: [ { field: host }, \"#\", { time: epoch_ms } ], splits: { file: s.txt },"
             " columns: { family: M, from: \"*\" } }\n"},
    {"dead-letters-that-are-read-again", "dead letters again", NULL, .sets = AT(dead_letters),
     .text = "topic: metrics"},
    {"broker-that-is-away", "no answer from '127.0.0.1:1'", AWAY, .sets = AT(brokers), .text = "127.0.0.1:1"},
    {"broker-without-address", "no-such-host.invalid", AWAY, .sets = AT(brokers), .text = "no-such-host.invalid:9092"},
    {"one-broker-of-two-away", NULL, NULL, .apply = one_broker_of_two_away},
    {"broker-that-is-no-broker", "no answer from", AWAY, .apply = broker_that_is_no_broker},
    {"tls-to-a-plain-port", "no answer from", AWAY, .adds = AT(properties), .text = ", security.protocol: ssl"},
    {"password-to-a-plain-port", "no answer from", AWAY, .adds = AT(properties),
     .text = ", security.protocol: sasl_plaintext, sasl.mechanism: PLAIN, sasl.username: u,"
             " sasl.password: p"},
    {"topic-that-is-not-there", "no-such-topic", "no-such-topic", .sets = AT(topics), .text = "no-such-topic"},
    {"one-topic-of-two-missing", "no-such-topic", "no-such-topic", .sets = AT(topics),
     .text = "metrics, no-such-topic"},
    {"pattern-without-topics", "no topic matches", "no topic matches", .sets = AT(topics), .text = "\"^no-such.*\""},
    {"topic-that-is-denied", "may not read topic 'metrics'", "may not read", .apply = topic_that_is_denied},
    {"fetches-that-are-denied", "may not read topic 'metrics'", "may not read", .apply = fetches_that_are_denied},
    {"group-that-is-denied", "--operation Read --group", "may not be in group", .apply = group_that_is_denied},
    {"coordinator-that-is-denied", "--operation Read --group", "may not be in group",
     .apply = coordinator_that_is_denied},
    {"partition-without-a-leader", "leader", "tidemark: ready: ", .apply = partition_without_a_leader},
    {"dead-letter-topic-that-is-not-there", "no-such-letters", "does not exist",
     .apply = dead_letter_topic_that_is_not_there},
    /* The mock cluster names partitions of what it denies, where brokers name none: the producer waits for them. */
    {"dead-letter-topic-that-is-denied", "may not write to topic 'no-such-letters'", NOT_KEPT,
     .apply = dead_letter_topic_that_is_denied},
    {"dead-letter-directory-that-is-not-there", "no-such-directory", NOT_KEPT, .sets = AT(dead_letters),
     .text = "file: no-such-directory/letters.jsonl"},
    {"dead-letter-directory-that-is-a-file", "plain", NOT_KEPT, .apply = dead_letter_directory_that_is_a_file},
    {"dead-letter-directory-that-is-read-only", "read-only", NOT_KEPT,
     .apply = dead_letter_directory_that_is_read_only},
    {"dead-letter-file-that-is-a-directory", "folder", NOT_KEPT, .apply = dead_letter_file_that_is_a_directory},
    {"dead-letter-file-that-is-a-device", "device.jsonl", NOT_KEPT, .apply = dead_letter_file_that_is_a_device},
    {"dead-letter-file-that-is-read-only", "letters.jsonl", NOT_KEPT, .apply = dead_letter_file_that_is_read_only},
    {"dead-letter-lock-that-is-read-only", "letters.jsonl.lock", NOT_KEPT, .apply = dead_letter_lock_that_is_read_only},
    {"dead-letters-that-are-full", "dead_letters.max_size", "are full", .apply = dead_letters_that_are_full},
    {"dead-letters-of-another-process", AS_IT_SHOULD_BE, NOT_KEPT, .apply = dead_letters_of_another_process},
    {"no-place-by-default", "no place for dead letters", HOLDS, .apply = no_place_by_default},
    {"default-place-that-is-read-only", "cannot write to the directory", NOT_KEPT,
     .apply = default_place_that_is_read_only},
    {"gateway-that-is-away", "127.0.0.1:1", NO_GATEWAY, .sets = AT(gateway_list), .text = "\"127.0.0.1:1\""},
    {"one-gateway-of-two-away", "127.0.0.1:1", NULL, .apply = one_gateway_of_two_away},
    {"gateway-without-address", "no-such-host.invalid", NO_GATEWAY, .sets = AT(gateway_list),
     .text = "\"no-such-host.invalid:9090\""},
    {"gateway-on-a-socket-that-is-not-there", "/no/such/socket", NO_GATEWAY, .sets = AT(gateway_list),
     .text = "\"unix:/no/such/socket\""},
    {"framing-that-is-wrong", "PROBLEM", NO_GATEWAY, .apply = framing_that_is_wrong},
    {"encoding-that-is-wrong", "PROBLEM", NO_GATEWAY, .apply = encoding_that_is_wrong},
    {"framings-that-differ", NULL, NULL, .apply = framings_that_differ},
    {"encodings-that-differ", "PROBLEM", NULL, .apply = encodings_that_differ},
    {"gateways-of-two-clusters", "belongs to HBase cluster", REFUSED, .apply = gateways_of_two_clusters},
    {"gateways-of-another-cluster-than-before", "belongs to HBase cluster", REFUSED,
     .apply = gateways_of_another_cluster_than_before},
    {"gateway-of-thrift1", "PROBLEM", NO_GATEWAY, .apply = gateway_of_thrift1},
    {"gateway-that-is-a-web-server", "PROBLEM", NO_GATEWAY, .apply = gateway_that_is_a_web_server},
    {"gateway-behind-tls", "PROBLEM", NO_GATEWAY, .apply = gateway_behind_tls},
    {"table-that-is-not-there", "tables create", WAITS, .apply = table_that_is_not_there},
    {"family-that-is-not-there", "family 'M' is missing", WAITS, .apply = family_that_is_not_there},
    {"table-that-is-disabled", "it is disabled", "enable", .apply = table_that_is_disabled},
    {"table-that-is-hidden", "grant \"tide\", \"C\", \"METRIC\"", NULL, .apply = table_that_is_hidden},
    {"table-that-is-denied", "user 'tide' lacks the right WRITE on table 'METRIC'",
     "grant \"tide\", \"RW\", \"METRIC\"", .apply = table_that_is_denied},
    {"keys-that-cannot-be-remembered", "with 'tidemark tables create'", NULL, .apply = keys_that_cannot_be_remembered},
    {"key-that-was-changed", "THE KEY CHANGED", NULL, .apply = key_that_was_changed},
    {"key-that-was-changed-while-empty", NULL, NULL, .apply = key_that_was_changed_while_empty},
    {"table-without-a-log", "DATA CAN BE LOST", NULL, .apply = table_without_a_log},
    {"setting-that-differs", "declared is 7", NULL, .sets = AT(tables),
     .text = "  METRIC: { key: [ { field: host }, \"#\", { time: epoch_ms } ], families: { M: { versions:"
             " 7 } }, columns: { family: M, from: \"*\" } }\n"},
    {"tables-by-date", NULL, NULL, .sets = AT(tables),
     .text = "  \"DAY_{yyyyMMdd}\": { key: [ { field: host }, \"#\", { time: epoch_ms } ],"
             " columns: { family: M, from: \"*\" } }\n"},
    {"tables-by-date-in-a-namespace-that-is-not-there", NULL, NULL, .sets = AT(tables),
     .text = "  \"ns:DAY_{yyyyMMdd}\": { key: [ { field: host }, \"#\", { time: epoch_ms } ],"
             " columns: { family: M, from: \"*\" } }\n"},
    {"tables-by-date-that-a-framed-gateway-cannot-make", "framed", "framed",
     .apply = tables_by_date_that_a_framed_gateway_cannot_make},
    {"tables-by-date-whose-deletes-a-framed-gateway-cannot-keep", "corrupts attributes", "has no attributes",
     .apply = tables_by_date_whose_deletes_a_framed_gateway_cannot_keep},
    {"port-of-another-process",
     "another process uses it; stop that one, or choose another port in 'service.http'; " AS_IT_SHOULD_BE, NULL,
     .apply = port_of_another_process},
    {"port-of-another-host", "192.0.2.1", NULL, .sets = AT(service),
     .text = "http: \"192.0.2.1:9464\", log_format: text"},
    {"port-that-needs-a-privilege", "127.0.0.1:81", NULL, .sets = AT(service),
     .text = "http: \"127.0.0.1:81\", log_format: text", .as_nobody = TRUE},
    {"state-directory-that-is-not-there", "no-such-state", NOT_KEPT, .apply = state_directory_that_is_not_there},
    {"state-directory-that-is-a-file", "state-file", "cannot compare", .apply = state_directory_that_is_a_file},
    {"state-directory-that-is-read-only", "read-only-state", NOT_KEPT, .apply = state_directory_that_is_read_only},
    {"state-directory-of-another-process", "taken-state", NULL, .apply = state_directory_of_another_process},
};

const CheckDefect *
check_scene_defects(guint *ret_n)
{
  *ret_n = G_N_ELEMENTS(defects);
  return defects;
}

void
check_scene_apply(CheckScene *scene, const CheckDefect *defect)
{
  if (defect->sets != 0)
    check_scene_set(G_STRUCT_MEMBER_P(scene, defect->sets), g_strdup(defect->text));
  if (defect->adds != 0)
    check_scene_add(G_STRUCT_MEMBER_P(scene, defect->adds), defect->text);
  scene->as_nobody |= defect->as_nobody;
  if (defect->apply != NULL)
    defect->apply(scene);
}
