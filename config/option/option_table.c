#include "config/option/option_table.h"

#include "config/option/option_value.h"
#include "config/option/time_options.h"
#include "decode/formats.h"
#include "thrift/wire/wire.h"
#include "util/error.h"
#include "util/listen_address.h"

#define AT(member) .offset = offsetof(TideConfig, member), .size = sizeof(((TideConfig *)NULL)->member)
#define OF_READINGS(member)                                                                                            \
  .offset = offsetof(TideReadingsConfig, member), .size = sizeof(((TideReadingsConfig *)NULL)->member)
#define OF_SOURCE(member)                                                                                              \
  .offset = offsetof(TideConfigSource, member), .size = sizeof(((TideConfigSource *)NULL)->member)
#define KIB G_GINT64_CONSTANT(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define SECOND G_GINT64_CONSTANT(1000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

/* Values that are stored in two places, or that another module knows how to read. */

static const struct {
  const char *name;
  int framing;
  int protocol;
} transports[] = {
    {"auto", -1, -1},
    {"unframed-binary", TIDE_FRAMING_UNFRAMED, TIDE_WIRE_BINARY},
    {"framed-binary", TIDE_FRAMING_FRAMED, TIDE_WIRE_BINARY},
    {"unframed-compact", TIDE_FRAMING_UNFRAMED, TIDE_WIRE_COMPACT},
    {"framed-compact", TIDE_FRAMING_FRAMED, TIDE_WIRE_COMPACT},
};

#define TRANSPORT_FORM "one of `auto`, `unframed-binary`, `framed-binary`, `unframed-compact`, `framed-compact`"

static gboolean
parse_transport(const char *text, gpointer base, GError **error)
{
  TideConfig *config = base;

  for (gsize i = 0; i < G_N_ELEMENTS(transports); i++) {
    if (strcmp(text, transports[i].name) != 0)
      continue;
    config->hbase.framing = transports[i].framing;
    config->hbase.protocol = transports[i].protocol;
    return TRUE;
  }
  return tide_fail(error, TIDE_ERROR_CONFIG,
                   "must be one of auto, unframed-binary, framed-binary, unframed-compact, framed-compact");
}

static char *
print_transport(gconstpointer base)
{
  const TideConfig *config = base;

  for (gsize i = 0; i < G_N_ELEMENTS(transports); i++) {
    if (transports[i].framing == config->hbase.framing && transports[i].protocol == config->hbase.protocol)
      return g_strdup(transports[i].name);
  }
  return NULL;
}

static gboolean
parse_start(const char *text, gpointer base, GError **error)
{
  TideConfig *config = base;

  if (strcmp(text, "earliest") == 0) {
    config->kafka.start = TIDE_START_EARLIEST;
  } else if (strcmp(text, "latest") == 0) {
    config->kafka.start = TIDE_START_LATEST;
  } else if (tide_epoch_parse(text, &config->kafka.start_epoch_ms, NULL)) {
    config->kafka.start = TIDE_START_TIME;
  } else
    return tide_fail(error, TIDE_ERROR_CONFIG, "must be earliest, latest, or a time such as '2026-01-01T00:00:00Z'");
  return TRUE;
}

static char *
print_start(gconstpointer base)
{
  const TideConfig *config = base;

  switch (config->kafka.start) {
  case TIDE_START_EARLIEST:
    return g_strdup("earliest");
  case TIDE_START_LATEST:
    return g_strdup("latest");
  case TIDE_START_TIME:
    return tide_epoch_format(config->kafka.start_epoch_ms);
  }
  return NULL;
}

static gboolean
parse_http(const char *text, gpointer base, GError **error)
{
  TideConfig *config = base;
  TideListenAddress address;

  if (!tide_listen_address_parse(text, &address, error))
    return FALSE;
  g_free(config->service.http_listen);
  config->service.http_listen = g_strdup(text);
  return TRUE;
}

static char *
print_http(gconstpointer base)
{
  return g_strdup(((const TideConfig *)base)->service.http_listen);
}

static gboolean
parse_socket_mode(const char *text, gpointer base, GError **error)
{
  TideConfig *config = base;
  guint64 mode;

  if (!g_ascii_string_to_unsigned(text, 8, 0, 0777, &mode, NULL))
    return tide_fail(error, TIDE_ERROR_CONFIG, "must be permission bits in octal, such as \"0660\"");
  config->service.http_socket_mode = (guint32)mode;
  return TRUE;
}

static char *
print_socket_mode(gconstpointer base)
{
  return g_strdup_printf("%04o", ((const TideConfig *)base)->service.http_socket_mode);
}

static gboolean
parse_ratio(const char *text, gpointer base, GError **error)
{
  TideConfig *config = base;
  char *end = NULL;
  double ratio = g_ascii_strtod(text, &end);

  if (end == text || *end != '\0' || !(ratio > 0 && ratio <= 1))
    return tide_fail(error, TIDE_ERROR_CONFIG, "must be a number above 0 and up to 1, such as 0.1");
  config->dead_letters.max_ratio = ratio;
  return TRUE;
}

static char *
print_ratio(gconstpointer base)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  return g_strdup(g_ascii_formatd(text, sizeof text, "%g", ((const TideConfig *)base)->dead_letters.max_ratio));
}

static gboolean
parse_qop(const char *text, gpointer base, GError **error)
{
  TideConfig *config = base;

  if (tide_sasl_layer_parse(text, &config->hbase.link.sasl.qop))
    return TRUE;
  return tide_fail(error, TIDE_ERROR_CONFIG, "must be one of auto, auth, auth-int, auth-conf");
}

/* Of gateways that have SASL at all. */
static char *
print_qop(gconstpointer base)
{
  const TideSaslSettings *sasl = &((const TideConfig *)base)->hbase.link.sasl;

  return sasl->service != NULL ? g_strdup(tide_sasl_layer_name(sasl->qop)) : NULL;
}

/* Choices. */

#define FORMAT_CHOICE(word, value, name) {word, value},
static const TideConfigChoice formats[] = {TIDE_FORMATS(FORMAT_CHOICE){NULL, 0}};
static const TideConfigChoice framings[] = {
    {"none", TIDE_FRAMING_NONE}, {"confluent", TIDE_FRAMING_CONFLUENT}, {NULL, 0}};
static const TideConfigChoice boolean_forms[] = {
    {"text", TIDE_BOOLEAN_TEXT}, {"number", TIDE_BOOLEAN_NUMBER}, {NULL, 0}};
static const TideConfigChoice array_forms[] = {
    {"json", TIDE_ARRAY_JSON}, {"index", TIDE_ARRAY_INDEX}, {"reject", TIDE_ARRAY_REJECT}, {NULL, 0}};
static const TideConfigChoice bad_message_policies[] = {{"stop", TIDE_BAD_MESSAGE_STOP},
                                                        {"skip", TIDE_BAD_MESSAGE_SKIP},
                                                        {"dead_letter", TIDE_BAD_MESSAGE_DEAD_LETTER},
                                                        {NULL, 0}};
static const TideConfigChoice missing_policies[] = {
    {"reject", TIDE_MISSING_REJECT}, {"skip", TIDE_MISSING_SKIP}, {"reading", TIDE_MISSING_READING}, {NULL, 0}};
static const TideConfigChoice bad_reading_policies[] = {
    {"message", TIDE_BAD_READING_MESSAGE}, {"reading", TIDE_BAD_READING_ALONE}, {NULL, 0}};
static const TideConfigChoice log_levels[] = {{"crit", TIDE_LOG_CRIT},
                                              {"error", TIDE_LOG_ERROR},
                                              {"warning", TIDE_LOG_WARNING},
                                              {"notice", TIDE_LOG_NOTICE},
                                              {"info", TIDE_LOG_INFO},
                                              {"debug", TIDE_LOG_DEBUG},
                                              {NULL, 0}};
static const TideConfigChoice log_formats[] = {{"auto", TIDE_LOG_FORMAT_AUTO},
                                               {"text", TIDE_LOG_FORMAT_TEXT},
                                               {"json", TIDE_LOG_FORMAT_JSON},
                                               {"journal", TIDE_LOG_FORMAT_JOURNAL},
                                               {NULL, 0}};
static const TideConfigChoice lost_offsets_policies[] = {
    {"hold", TIDE_LOST_OFFSETS_HOLD}, {"continue", TIDE_LOST_OFFSETS_CONTINUE}, {NULL, 0}};
static const TideConfigChoice assignments[] = {
    {"eager", TIDE_ASSIGNMENT_EAGER}, {"cooperative", TIDE_ASSIGNMENT_COOPERATIVE}, {NULL, 0}};
static const TideConfigChoice startups[] = {{"wait", TIDE_STARTUP_WAIT}, {"fail", TIDE_STARTUP_FAIL}, {NULL, 0}};

/* The table. */

static const TideConfigOption kafka_options[] = {
    {"brokers", TIDE_CONFIG_BROKERS, AT(kafka.brokers), .example = "\"127.0.0.1:9092\"", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "The brokers to ask first; two or three are enough, the rest is learned from them."},
    {"group", TIDE_CONFIG_STRING, AT(kafka.group), .example = "tidemark", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "The consumer group. Daemons of one group share the partitions; its committed offsets say how far "
                 "HBase has the data."},
    {"topics", TIDE_CONFIG_TOPICS, AT(kafka.topics), .example = "[metrics]", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "The topics to read. A name that begins with ^ is a pattern, \"^metrics[.]\"."},
    {"threads", TIDE_CONFIG_INTEGER, AT(kafka.threads), 1, 64, "2",
     .sentence = "Consumers in this process, one thread each; more than there are partitions do nothing. "
                 "The gateways, not decoding, are the usual limit, so two leave room. Unless it is set, at most as "
                 "many as the CPUs that the process's cgroup leaves it."},
    {"start", TIDE_CONFIG_CUSTOM, .default_text = "earliest",
     .form = "`earliest`, `latest`, or a time such as `2026-01-01T00:00:00Z`", .parse = parse_start,
     .print = print_start,
     .sentence = "Where a group without committed offsets begins. Kafka's own default, latest, would leave out what "
                 "was sent before the first start."},
    {"on_lost_offsets", TIDE_CONFIG_CHOICE, AT(kafka.on_lost_offsets), .choices = lost_offsets_policies,
     .default_text = "hold",
     .sentence = "When messages were deleted before they were read (retention): the partition holds until somebody has "
                 "looked, or goes on with the oldest that is left. Either way what is lost is counted and logged."},
    {"assignment", TIDE_CONFIG_CHOICE, AT(kafka.assignment), .choices = assignments, .default_text = "eager",
     .sentence = "When daemons come and go, the whole group stops and shares the partitions anew (eager), or only the "
                 "partitions that move stop (cooperative; refused with librdkafka before 2.6.1). To change it, "
                 "stop all daemons of the group."},
    {"instance", TIDE_CONFIG_STRING, AT(kafka.instance), .example = "\"%H\"",
     .sentence =
         "A lasting name in the group: after a restart or a kill within the session timeout the consumers go on "
         "at once, and no partition moves. Unless it is set, a daemon with a state directory, as under systemd, "
         "has one of its own; `none` means no name. %H stands for the host name; each thread's number is added. A "
         "second daemon with the same name forces the first one out (exit code 75)."},
    {"session_timeout", TIDE_CONFIG_DURATION, AT(kafka.session_timeout_ms), 6 * SECOND, 30 * MINUTE, "45s",
     .sentence = "Without a heartbeat for this long the broker gives the partitions to others. The broker limits it: "
                 "group.min.session.timeout.ms and group.max.session.timeout.ms."},
    {"max_poll_interval", TIDE_CONFIG_DURATION, AT(kafka.max_poll_interval_ms), 10 * SECOND, DAY, "5m",
     .sentence = "A consumer that does not ask for messages for this long is considered stuck and loses its "
                 "partitions."},
    {"commit_interval", TIDE_CONFIG_DURATION, AT(kafka.commit_interval_ms), 100, MINUTE, "1s",
     .sentence = "How often offsets are committed. After a kill, what was written since the last commit is written "
                 "again, to the same cells."},
    {"max_span_messages", TIDE_CONFIG_INTEGER, AT(kafka.max_span_messages), 1000, 100000000, "1000000",
     .sentence = "Messages of one partition from the last committed one to the newest fetched one; at this bound the "
                 "partition pauses. It limits what a kill repeats, and the memory for bookkeeping; it must be more "
                 "than comes in a commit_interval."},
    {"allow_unverified_tls", TIDE_CONFIG_BOOLEAN, AT(kafka.allow_unverified_tls), .default_text = "false",
     .sentence = "Without this, properties below that switch off the check of the brokers' certificates or names are "
                 "refused."},
    {"librdkafka", TIDE_CONFIG_STRUCTURE,
     .example = "security.protocol: sasl_ssl\n"
                "sasl.mechanism: PLAIN\n"
                "sasl.username: tidemark\n"
                "sasl.password: { credential: kafka.password }  # or { file: /etc/tidemark/kafka.password }",
     .sentence = "Properties handed to librdkafka as they are, but for those that delivery rests on. A "
                 "secret is best "
                 "kept in a file (mode 0600 or 0640) or a systemd credential."},
};

static const TideConfigOption tls_key_options[] = {
    {"file", TIDE_CONFIG_STRING, AT(hbase.link.tls.key.file), .example = "/etc/tidemark/gateway.key",
     .sentence = "A file in PEM form, without a passphrase, with the permissions of a secret (0600 or 0640)."},
    {"credential", TIDE_CONFIG_STRING, AT(hbase.link.tls.key.credential), .example = "gateway.key",
     .sentence = "The same as a systemd credential, by the name that LoadCredential= gives it."},
};
static const TideConfigGroup tls_key_group = {"hbase.tls.key", NULL, NULL, tls_key_options,
                                              G_N_ELEMENTS(tls_key_options)};

static const TideConfigOption tls_options[] = {
    {"ca", TIDE_CONFIG_STRING, AT(hbase.link.tls.ca), .example = "/etc/tidemark/gateway-ca.pem",
     .sentence = "A file with the certificates of those who may sign a gateway's, in PEM form. Unless it is set, the "
                 "system's."},
    {"certificate", TIDE_CONFIG_STRING, AT(hbase.link.tls.certificate), .example = "/etc/tidemark/gateway.pem",
     .sentence = "Our own certificate, for gateways that ask for one, and behind it those that lead from it to its "
                 "authority. It, and its key, are read again for each connection."},
    {"key", TIDE_CONFIG_SECTION, .section = &tls_key_group, .sentence = "The certificate's private key."},
    {"server_name", TIDE_CONFIG_STRING, AT(hbase.link.tls.server_name), .example = "hbase.example.com",
     .sentence = "What a gateway's certificate must be for, where that is not the host in its address: behind a "
                 "balancer, say. It is always checked."},
};
static const TideConfigGroup tls_group = {"hbase.tls", NULL, NULL, tls_options, G_N_ELEMENTS(tls_options)};

static const TideConfigOption sasl_options[] = {
    {"service", TIDE_CONFIG_STRING, AT(hbase.link.sasl.service), .example = "hbase",
     .sentence = "The first part of the gateways' principal (their hbase.thrift.kerberos.principal), often hbase or "
                 "thrift. With it set, all gateways are spoken to by SASL."},
    {"host", TIDE_CONFIG_STRING, AT(hbase.link.sasl.host), .example = "hbase.example.com",
     .sentence = "The second part of that principal, where it is not the host in the gateway's address: behind a "
                 "balancer, say, or where that is a number."},
    {"qop", TIDE_CONFIG_CUSTOM, .default_text = "auto", .form = "one of `auto`, `auth`, `auth-int`, `auth-conf`",
     .parse = parse_qop, .print = print_qop,
     .sentence =
         "What protects each message: nothing (auth), a signature (auth-int) or encryption (auth-conf). A "
         "gateway has one (its hbase.thrift.security.qop), and auto takes it; anything else is a demand, without "
         "which no connection is made."},
};
static const TideConfigGroup sasl_group = {"hbase.sasl", NULL, NULL, sasl_options, G_N_ELEMENTS(sasl_options)};

static const TideConfigOption keytab_options[] = {
    {"file", TIDE_CONFIG_STRING, AT(hbase.link.kerberos.keytab.file), .example = "/etc/tidemark/tidemark.keytab",
     .sentence = "A file that kadmin's ktadd has made, with the permissions of a secret (0600 or 0640)."},
    {"credential", TIDE_CONFIG_STRING, AT(hbase.link.kerberos.keytab.credential), .example = "tidemark.keytab",
     .sentence = "The same as a systemd credential, by the name that LoadCredential= gives it."},
};
static const TideConfigGroup keytab_group = {"hbase.kerberos.keytab", NULL, NULL, keytab_options,
                                             G_N_ELEMENTS(keytab_options)};

static const TideConfigOption kerberos_options[] = {
    {"keytab", TIDE_CONFIG_SECTION, .section = &keytab_group,
     .sentence = "Our key. Tickets are got, and got anew, with it alone: no kinit is needed."},
    {"principal", TIDE_CONFIG_STRING, AT(hbase.link.kerberos.principal), .example = "tidemark@EXAMPLE.COM",
     .sentence = "Who we are. Unless it is set, the keytab's first principal, or the ticket cache's."},
    {"cache", TIDE_CONFIG_STRING, AT(hbase.link.kerberos.cache), .example = "FILE:/run/tidemark/krb5cc",
     .sentence = "A ticket cache, as Kerberos names it. Unless it is set, tickets are kept in memory, or, without a "
                 "keytab, taken from Kerberos's default cache, where somebody has to keep them fresh."},
};
static const TideConfigGroup kerberos_group = {"hbase.kerberos", NULL, NULL, kerberos_options,
                                               G_N_ELEMENTS(kerberos_options)};

static const TideConfigOption http_headers_options[] = {
    {"file", TIDE_CONFIG_STRING, AT(hbase.link.http.headers.file), .example = "/etc/tidemark/gateway.headers",
     .sentence = "A file with the permissions of a secret (0600 or 0640). It is read again for each connection."},
    {"credential", TIDE_CONFIG_STRING, AT(hbase.link.http.headers.credential), .example = "gateway.headers",
     .sentence = "The same as a systemd credential, by the name that LoadCredential= gives it."},
};
static const TideConfigGroup http_headers_group = {"hbase.http.headers", NULL, NULL, http_headers_options,
                                                   G_N_ELEMENTS(http_headers_options)};

static const TideConfigOption http_options[] = {
    {"host", TIDE_CONFIG_STRING, AT(hbase.link.http.host), .example = "hbase.example.com",
     .sentence = "The second part of the gateways' principal for SPNEGO (their hbase.thrift.spnego.principal, "
                 "HTTP/host), where it is not the host in the gateway's address. Requests are authenticated when "
                 "`hbase.kerberos` is set."},
    {"do_as", TIDE_CONFIG_STRING, AT(hbase.link.http.do_as), .example = "ingest",
     .sentence = "The user on whose behalf all is read and written, so that HBase checks that user's rights. The "
                 "gateways must allow it: hbase.thrift.support.proxyuser, and hadoop.proxyuser for us."},
    {"headers", TIDE_CONFIG_SECTION, .section = &http_headers_group,
     .sentence = "Lines `NAME: value`, at most 16, which each request bears: for proxies and hosted HBase that know "
                 "their clients by a key in a header."},
};
static const TideConfigGroup http_group = {"hbase.http", NULL, NULL, http_options, G_N_ELEMENTS(http_options)};

static const TideConfigOption hbase_options[] = {
    {"gateways", TIDE_CONFIG_GATEWAYS, AT(hbase.gateways), .example = "[\"127.0.0.1:9090\"]",
     .flags = TIDE_CONFIG_REQUIRED | TIDE_CONFIG_RELOADS,
     .sentence = "HBase Thrift gateways (thrift2): \"host:port\", \"[v6]:port\" or \"unix:/path\"; behind TLS "
                 "\"thrift+tls://host:port\"; set to HTTP \"http://host:port/path\" or \"https://host:port/path\". "
                 "Writers are spread over them, and go to the others when one is down. A reload leaves the list "
                 "to a restart when it also changes how gateways are spoken to, or goes to or from HTTP. Where they "
                 "speak another protocol (binary, compact) than those before, restart, too."},
    {"transport", TIDE_CONFIG_CUSTOM, .default_text = "auto", .form = TRANSPORT_FORM, .parse = parse_transport,
     .print = print_transport,
     .sentence = "How the gateways are spoken to; auto finds out with a few harmless calls. All must use one "
                 "protocol (binary or compact; over HTTP it is binary), framing may differ."},
    {"tls", TIDE_CONFIG_SECTION, .section = &tls_group,
     .sentence = "For gateways behind TLS (1.2 or later), \"https://\" too."},
    {"sasl", TIDE_CONFIG_SECTION, .section = &sasl_group,
     .sentence = "For gateways of a kerberised cluster, those with hbase.thrift.security.qop; also behind TLS."},
    {"kerberos", TIDE_CONFIG_SECTION, .section = &kerberos_group,
     .sentence = "Who we are towards such gateways, and by SPNEGO towards those of HTTP. Kerberos's own "
                 "krb5.conf says where the KDC is."},
    {"http", TIDE_CONFIG_SECTION, .section = &http_group, .sentence = "For gateways that are spoken to by HTTP."},
    {"writers", TIDE_CONFIG_INTEGER, AT(hbase.writers), 1, 256, "4",
     .sentence = "Connections to the gateways, one thread each. Every connection holds a thread of its "
                 "gateway, which "
                 "has at most 1000."},
    {"connect_timeout", TIDE_CONFIG_DURATION, AT(hbase.connect_timeout_ms), 100, MINUTE, "3s",
     .sentence = "Name look-up and connect together. Long enough for a lost packet, which is sent again after 1 s."},
    {"call_timeout", TIDE_CONFIG_DURATION, AT(hbase.call_timeout_ms), SECOND, 20 * MINUTE, "30s",
     .sentence = "A call whose reply is not complete by then is given up, and sent again. Longer than a region needs "
                 "to move: an abandoned call goes on in the gateway and costs HBase as much as one that is awaited."},
    {"settle", TIDE_CONFIG_DURATION, AT(hbase.settle_ms), SECOND, DAY, "20m",
     .sentence = "How long the gateway may still be working on an abandoned call: its "
                 "hbase.client.operation.timeout, 20 minutes unless changed. Only for this long can such a call "
                 "overwrite a latest value of the same event time, and so long offsets may wait: see docs/metrics.md."},
    {"max_in_flight_per_region", TIDE_CONFIG_INTEGER, AT(hbase.max_in_flight_per_region), 1, 64, "2",
     .sentence = "Calls under way for one region: one at work, one on its way. More only queue up in the region "
                 "server, and let a slow region take all writers."},
    {"max_cell_size", TIDE_CONFIG_SIZE, AT(hbase.max_cell_bytes), KIB, 64 * MIB, "10MiB",
     .sentence = "A larger cell rejects the reading. HBase's own limit, hbase.client.keyvalue.maxsize; a row "
                 "must also "
                 "fit into batch.max_bytes."},
    {"region_refresh", TIDE_CONFIG_DURATION, AT(hbase.region_refresh_ms), 5 * SECOND, HOUR, "60s",
     .sentence = "How often the regions' borders are read. They only decide which rows share a call; a row "
                 "in the wrong "
                 "one is written all the same."},
    {"retry_min", TIDE_CONFIG_DURATION, AT(hbase.retry_min_ms), 1, MINUTE, "100ms",
     .sentence = "The first pause after a failed call; it doubles with each failure."},
    {"retry_max", TIDE_CONFIG_DURATION, AT(hbase.retry_max_ms), 100, 10 * MINUTE, "30s",
     .sentence = "The longest pause. Each is drawn at random from its upper half, so that writers do not "
                 "come back together."},
    {"idle_ping", TIDE_CONFIG_DURATION, AT(hbase.idle_ping_ms), SECOND, 55 * SECOND, "30s",
     .sentence = "A connection that was idle for this long is tried with a cheap call. The gateway cuts connections "
                 "after 60 s (hbase.thrift.server.socket.read.timeout)."},
    {"max_connection_age", TIDE_CONFIG_DURATION, AT(hbase.max_connection_age_ms), SECOND, DAY, "10m",
     .sentence =
         "An older connection is replaced by a fresh one, between two calls; each at an age of its own, drawn "
         "from the upper half. So load spreads again behind a name or balancer with several gateways, after one "
         "came back. Where no fresh one can be made, the old one goes on."},
};

static const TideConfigOption csv_options[] = {
    {"columns", TIDE_CONFIG_TEXTS, OF_READINGS(decode.csv.columns), .example = "[host, ts, cpu]",
     .flags = TIDE_CONFIG_REPEATS,
     .sentence = "The fields' names, in the order of the values in each line; _ leaves a value out."},
    {"header", TIDE_CONFIG_BOOLEAN, OF_READINGS(decode.csv.header), .default_text = "false",
     .sentence = "In place of `columns`: the first line of each message names the fields."},
    {"delimiter", TIDE_CONFIG_STRING, OF_READINGS(decode.csv.delimiter), .example = "\"\\t\"",
     .sentence = "What stands between values: one byte, such as a semicolon, or \"\\t\" for a tab. Unless it is set, a "
                 "comma."},
    {"quotes", TIDE_CONFIG_BOOLEAN, OF_READINGS(decode.csv.quotes), .default_text = "true",
     .sentence = "A value may stand in quotes (RFC 4180), with any quote in it doubled. false: a quote is a byte like "
                 "others, as in many files with tabs."},
    {"null_values", TIDE_CONFIG_TEXTS, OF_READINGS(decode.csv.null_values), .example = "[\"\", NA]",
     .sentence = "What stands for null, where it has no quotes. Unless it is set, the empty value alone does; []: "
                 "none does."},
    {"comment", TIDE_CONFIG_STRING, OF_READINGS(decode.csv.comment), .example = "\"#\"",
     .sentence = "What a line begins with that is a comment, and no reading; so is a `header` that begins with it. It "
                 "must not begin with what a value may begin with."},
    {"skip_lines", TIDE_CONFIG_INTEGER, OF_READINGS(decode.csv.skip_lines), 0, 1000, "0",
     .sentence =
         "Lines of each message before its header, or before its first values, that are passed over, such as the "
         "name of a logger. Empty lines and comments do not count. `load` expects them once, at the beginning of a "
         "file."},
    {"skip_after_header", TIDE_CONFIG_INTEGER, OF_READINGS(decode.csv.skip_after_header), 0, 1000, "0",
     .sentence = "With `header`: lines after it that are passed over, such as one of units."},
    {"trim", TIDE_CONFIG_BOOLEAN, OF_READINGS(decode.csv.trim), .default_text = "false",
     .sentence = "Spaces and tabs around names and values are left out, outside of quotes."},
    {"decimal_comma", TIDE_CONFIG_BOOLEAN, OF_READINGS(decode.csv.decimal_comma), .default_text = "false",
     .sentence =
         "A number has a comma where others have a point: 1,5 is the number 1.5, and 1.234, which may mean 1234, "
         "is a text. The delimiter must be another byte."},
};
static const TideConfigGroup csv_group = {"readings.csv", NULL, NULL, csv_options, G_N_ELEMENTS(csv_options)};

static const TideConfigOption influx_options[] = {
    {"tag_prefix", TIDE_CONFIG_STRING, OF_READINGS(decode.influx.tag_prefix), .example = "tag_",
     .sentence =
         "What the names of all tags begin with, so that a tag may be called `time` or `measurement`, or as a field "
         "of its line. `$tags` has their names without it."},
    {"field_prefix", TIDE_CONFIG_STRING, OF_READINGS(decode.influx.field_prefix), .example = "value_",
     .sentence = "The same of all fields of a line."},
};
static const TideConfigGroup influx_group = {"readings.influx", NULL, NULL, influx_options,
                                             G_N_ELEMENTS(influx_options)};

static const TideConfigOption registry_password_options[] = {
    {"file", TIDE_CONFIG_STRING, OF_READINGS(registry.password.file), .example = "/etc/tidemark/registry.password",
     .sentence = "A file with the permissions of a secret (0600 or 0640). It is read again for each question."},
    {"credential", TIDE_CONFIG_STRING, OF_READINGS(registry.password.credential), .example = "registry.password",
     .sentence = "The same as a systemd credential, by the name that LoadCredential= gives it."},
};
static const TideConfigGroup registry_password_group = {
    "readings.registry.password", NULL, NULL, registry_password_options, G_N_ELEMENTS(registry_password_options)};

static const TideConfigOption registry_options[] = {
    {"url", TIDE_CONFIG_STRING, OF_READINGS(registry.url), .example = "https://registry.example.com:8081",
     .sentence = "Where the registry is, with any path in front of /schemas."},
    {"user", TIDE_CONFIG_STRING, OF_READINGS(registry.user), .example = "tidemark",
     .sentence = "Who asks, by basic authentication."},
    {"password", TIDE_CONFIG_SECTION, .section = &registry_password_group, .sentence = "The user's password."},
    {"ca", TIDE_CONFIG_STRING, OF_READINGS(registry.ca), .example = "/etc/tidemark/registry-ca.pem",
     .sentence = "What must have signed the registry's certificate, in PEM form. Unless it is set, what the system "
                 "trusts."},
};
static const TideConfigGroup registry_group = {"readings.registry", NULL, NULL, registry_options,
                                               G_N_ELEMENTS(registry_options)};

static const TideConfigOption readings_options[] = {
    {"format", TIDE_CONFIG_CHOICE, OF_READINGS(decode.format), .default_text = "json", .choices = formats,
     .sentence = "json: one object, a list of objects, or objects one after the other (a line each, say). influx: "
                 "InfluxDB's line protocol, a reading a line. csv: values with commas, tabs or the like between them, "
                 "a reading a line. msgpack: MessagePack, maps where JSON has objects. avro: Avro's binary encoding, a "
                 "record or an array of them. protobuf: one message of a descriptor set."},
    {"schema", TIDE_CONFIG_STRING, OF_READINGS(decode.schema_file), .example = "reading.avsc",
     .sentence =
         "Of Avro, the file with the schema by which all messages were written, each nothing but its record, or an "
         "object container file that has it in its head; of "
         "protobuf, the descriptor set, by protoc --include_imports --descriptor_set_out. A relative path begins "
         "where this file is. It is read at the start."},
    {"message", TIDE_CONFIG_STRING, OF_READINGS(decode.message), .example = "plant.Reading",
     .sentence =
         "Of protobuf, the full name of the message. With `framing: confluent`, any message of its file may come, "
         "and without it those of the set's last file."},
    {"framing", TIDE_CONFIG_CHOICE, OF_READINGS(decode.framing), .default_text = "none", .choices = framings,
     .sentence =
         "Of JSON and protobuf, what stands in front of a message: nothing, or what Confluent's serializers write "
         "there. The schema's number in it is not looked up. With a registry, Avro always has it."},
    {"registry", TIDE_CONFIG_SECTION, .section = &registry_group,
     .sentence =
         "In place of `schema`: a schema registry with Confluent's API, where each message begins with the number "
         "of its schema."},
    {"root", TIDE_CONFIG_STRING, OF_READINGS(decode.layout.root), .example = "payload",
     .sentence =
         "Of an envelope, the member that holds the reading, or a list of readings; what stands beside it is left "
         "out. Inside of others, the names joined by the separator: payload/after."},
    {"each", TIDE_CONFIG_STRING, OF_READINGS(decode.layout.each), .example = "devices/readings",
     .sentence =
         "The way to the readings, from `root` on: names of members joined by the separator, each of an object, "
         "or of a list whose items are taken one by one. {NAME} takes every member of an object, whose name "
         "becomes the field NAME. What stands around the readings on each level is a field of theirs, behind "
         "the names before it."},
    {"positions", TIDE_CONFIG_TEXTS, OF_READINGS(decode.layout.positions), .example = "[ts, temp, _]",
     .flags = TIDE_CONFIG_REPEATS,
     .sentence = "A reading may be a list of values, whose names these are, in their order; _ leaves one out. A value "
                 "that is no list is a list of one."},
    {"zip", TIDE_CONFIG_BOOLEAN, OF_READINGS(decode.layout.zip), .default_text = "false",
     .sentence = "What `each` leads to is an object with lists of one length, whose first values make the first "
                 "reading, and so on. What is no list in it is a field of each."},
    {"outer_prefix", TIDE_CONFIG_STRING, OF_READINGS(decode.layout.outer_prefix), .example = "event/",
     .sentence =
         "In front of the names of what stands around the readings of `each`, where readings have the same names."},
    {"on_missing", TIDE_CONFIG_CHOICE, OF_READINGS(decode.layout.on_missing), .default_text = "reject",
     .choices = missing_policies,
     .sentence = "What it means that a name of `root` or `each` is absent or null: the message is rejected; or nothing "
                 "is to be read there (skip), and it counts as a reading that no table takes; or the object that lacks "
                 "it is itself a reading (reading)."},
    {"csv", TIDE_CONFIG_SECTION, .section = &csv_group, .sentence = "With `format: csv`: how a line is written."},
    {"influx", TIDE_CONFIG_SECTION, .section = &influx_group,
     .sentence = "With `format: influx`: what tags and fields are called."},
    {"separator", TIDE_CONFIG_STRING, OF_READINGS(decode.separator), .default_text = "/",
     .sentence = "Joins the names of nested objects: {\"cpu\": {\"user\": 1}} is the field cpu/user."},
    {"booleans", TIDE_CONFIG_CHOICE, OF_READINGS(decode.booleans), .default_text = "text", .choices = boolean_forms,
     .sentence = "true and false are stored as these words, or as 1 and 0."},
    {"arrays", TIDE_CONFIG_CHOICE, OF_READINGS(decode.arrays), .default_text = "json", .choices = array_forms,
     .sentence = "A list inside of a reading is stored as its JSON text, as one field for each item (name/0, "
                 "name/1), "
                 "or rejects the message."},
    {"null_values", TIDE_CONFIG_TEXTS, OF_READINGS(decode.fields.null_values), .example = "[NaN, \"\", N/A]",
     .sentence = "Texts and numbers that mean null: their fields are left out. With NaN among them, so is a floating "
                 "point number that is not finite, which otherwise is a bad value."},
    {"fields", TIDE_CONFIG_STRUCTURE, OF_READINGS(decode.fields.steps_yaml), .form = "list of steps",
     .example = "- { open: objectJSON }",
     .sentence = "Steps that make other fields of the fields of a reading, one after the other, before times, "
                 "conditions, keys and columns use them."},
    {"max_message_size", TIDE_CONFIG_SIZE, OF_READINGS(decode.max_message_bytes), KIB, 64 * MIB, "1MiB",
     .sentence = "A larger message is rejected before it is parsed. Kafka's own default limit, message.max.bytes."},
    {"max_depth", TIDE_CONFIG_INTEGER, OF_READINGS(decode.max_depth), 1, 256, "32",
     .sentence = "Objects and lists in one another."},
    {"max_fields", TIDE_CONFIG_INTEGER, OF_READINGS(decode.max_fields), 1, 65536, "1024",
     .sentence = "Fields of one reading, nested ones counted."},
    {"max_readings", TIDE_CONFIG_INTEGER, OF_READINGS(decode.max_readings), 1, 1000000, "10000",
     .sentence = "Readings in one message."},
    {"on_bad_message", TIDE_CONFIG_CHOICE, OF_READINGS(on_bad_message), .default_text = "dead_letter",
     .choices = bad_message_policies,
     .sentence = "A message that cannot be used is kept as a dead letter (dead_letter), or halts its partition (stop) "
                 "until somebody has looked, or is counted, logged and left out (skip)."},
    {"on_bad_reading", TIDE_CONFIG_CHOICE, OF_READINGS(decode.on_bad_reading), .default_text = "message",
     .choices = bad_reading_policies,
     .sentence =
         "What one bad reading of several in a message takes with it: the whole message, or only itself "
         "(reading). What on_bad_message says is then done to the reading, and the others are written. A message "
         "that cannot be read to its end is bad as a whole."},
    {"time", TIDE_CONFIG_SECTION, OF_READINGS(time), .section = &tide_time_options,
     .sentence = "The event time of a reading."},
};

const TideConfigGroup tide_readings_options = {"readings", "What is in a message?", NULL, readings_options,
                                               G_N_ELEMENTS(readings_options)};

static const TideConfigOption source_options[] = {
    {"topics", TIDE_CONFIG_TOPICS, OF_SOURCE(topics), .example = "[metrics]", .flags = TIDE_CONFIG_REQUIRED,
     .sentence = "The topics to read, or patterns, as in `kafka.topics`. A topic is read by one source."},
    {"readings", TIDE_CONFIG_STRUCTURE, .form = "as `readings`", .example = "{ time: { field: ts, format: epoch_ms } }",
     .sentence = "What is in a message of these topics: format, time, limits, and what becomes of a bad one."},
    {"when", TIDE_CONFIG_STRUCTURE, .form = "condition, or list of them", .example = "{ field: type, equals: quote }",
     .sentence = "Only readings for which all of these hold are taken, by whatever table."},
};
const TideConfigGroup tide_source_options = {"sources.SOURCE", NULL, NULL, source_options,
                                             G_N_ELEMENTS(source_options)};

static const TideConfigOption dead_letters_options[] = {
    {"topic", TIDE_CONFIG_STRING, AT(dead_letters.topic), .example = "metrics-dead-letters",
     .sentence = "A Kafka topic for what can never be written, on the brokers that are read from. Without it, "
                 "dead letters go to a local file."},
    {"file", TIDE_CONFIG_STRING, AT(dead_letters.file), .example = "/var/lib/tidemark/dead-letters.jsonl",
     .sentence = "A file for them, where there is no topic. Unless it is set, dead-letters.jsonl in the state "
                 "directory that systemd gives; without one, beside this file, named after it "
                 "(tidemark.dead-letters.jsonl)."},
    {"max_file_size", TIDE_CONFIG_SIZE, AT(dead_letters.max_file_bytes), 64 * KIB, 64 * GIB, "64MiB",
     .flags = TIDE_CONFIG_RELOADS,
     .sentence = "A file of this size gets a number behind its name (.1, .2 and so on, the greatest is the newest), "
                 "and a new one is begun."},
    {"max_size", TIDE_CONFIG_SIZE, AT(dead_letters.max_bytes), 64 * KIB, 1024 * GIB, "1GiB",
     .flags = TIDE_CONFIG_RELOADS,
     .sentence =
         "All files together. When they are full, the next dead letter pauses all partitions until some are removed."},
    {"max_ratio", TIDE_CONFIG_CUSTOM, .default_text = "0.1", .form = "a number above 0 and up to 1",
     .parse = parse_ratio, .print = print_ratio, .flags = TIDE_CONFIG_RELOADS,
     .sentence =
         "When more than this share of the messages become dead letters, and they are at least 100 in the window, "
         "something is wrong with the configuration rather than with them: nothing more is kept until a "
         "restart, or until a reload with a ratio that is high enough. 1: no bound."},
    {"window", TIDE_CONFIG_DURATION, AT(dead_letters.window_ms), SECOND, DAY, "60s", .flags = TIDE_CONFIG_RELOADS,
     .sentence = "The time over which max_ratio is looked at."},
};

static const TideConfigOption batch_options[] = {
    {"max_rows", TIDE_CONFIG_INTEGER, AT(batch.max_rows), 1, 10000, "2000", .flags = TIDE_CONFIG_RELOADS,
     .sentence = "Rows in one call."},
    {"max_bytes", TIDE_CONFIG_SIZE, AT(batch.max_bytes), 4 * KIB, TIDE_BATCH_MAX_BYTES, "1MiB",
     .flags = TIDE_CONFIG_RELOADS,
     .sentence = "Encoded size of one call, and so of the largest row. A framed gateway cuts the connection "
                 "at 2 MiB, "
                 "its max_frame_size_in_mb."},
    {"max_age", TIDE_CONFIG_DURATION, AT(batch.max_age_ms), 1, MINUTE, "50ms", .flags = TIDE_CONFIG_RELOADS,
     .sentence = "A row waits for others this long at the most. A longer wait makes calls of slow streams larger, and "
                 "everything later."},
    {"latest_window", TIDE_CONFIG_DURATION, AT(batch.latest_window_ms), 0, MINUTE, "5ms", .flags = TIDE_CONFIG_RELOADS,
     .sentence = "A row of a latest table waits this long for newer values, which replace it in memory. Longer saves "
                 "writes where a key has several readings in that time; under load the daemon makes it longer by "
                 "itself."},
    {"latest_window_max", TIDE_CONFIG_DURATION, AT(batch.latest_window_max_ms), 0, MINUTE, "1s",
     .flags = TIDE_CONFIG_RELOADS,
     .sentence = "The longest that such a row waits while a backlog is read, at most half of what its reading is late "
                 "by, or while writes take long, at most four times as long as one takes."},
};

static const TideConfigOption limits_options[] = {
    {"memory", TIDE_CONFIG_SIZE, AT(limits.memory_bytes), 16 * MIB, 1024 * GIB, "256MiB", .flags = TIDE_CONFIG_RELOADS,
     .sentence =
         "For all that is between Kafka and HBase: fetched, waiting, sent and not acknowledged. At "
         "this bound no more is read. What the process needs besides: see docs/operate.md. Unless it is set, at "
         "most a quarter of what the process's cgroup may take. The quarter of it that Kafka's client fetches "
         "ahead is set at the start; a reload changes the rest."},
    {"drain_timeout", TIDE_CONFIG_DURATION, AT(limits.drain_timeout_ms), SECOND, 10 * MINUTE, "30s",
     .flags = TIDE_CONFIG_RELOADS,
     .sentence = "How long a stop waits for HBase to acknowledge what was sent. What is not is read again at "
                 "the next "
                 "start. Keep the unit's TimeoutStopSec above it."},
    {"rows_per_second", TIDE_CONFIG_INTEGER, AT(limits.rows_per_second), 0, 100000000, "0",
     .flags = TIDE_CONFIG_RELOADS,
     .sentence = "Maximum number of rows that the daemon sends to HBase per second, retries included; 0: no limit. "
                 "Lower it while HBase needs its capacity for something else, and apply it with a reload. Bursts are "
                 "as large as one call (`batch.max_rows`). Each daemon of the group has this limit for itself."},
};

static const TideConfigOption http_key_options[] = {
    {"file", TIDE_CONFIG_STRING, AT(service.http_tls.key.file), .example = "/etc/tidemark/metrics.key",
     .sentence = "A file in PEM form, without a passphrase, with the permissions of a secret (0600 or 0640)."},
    {"credential", TIDE_CONFIG_STRING, AT(service.http_tls.key.credential), .example = "metrics.key",
     .sentence = "The same as a systemd credential, by the name that LoadCredential= gives it."},
};
static const TideConfigGroup http_key_group = {"service.http_tls.key", NULL, NULL, http_key_options,
                                               G_N_ELEMENTS(http_key_options)};

static const TideConfigOption http_tls_options[] = {
    {"certificate", TIDE_CONFIG_STRING, AT(service.http_tls.certificate), .example = "/etc/tidemark/metrics.pem",
     .sentence = "Our certificate, in PEM form, and behind it those that lead from it to its authority. It, and its "
                 "key, are read again when they change, for the connections that come then."},
    {"key", TIDE_CONFIG_SECTION, .section = &http_key_group, .sentence = "The certificate's private key."},
};
static const TideConfigGroup http_tls_group = {"service.http_tls", NULL, NULL, http_tls_options,
                                               G_N_ELEMENTS(http_tls_options)};

static const TideConfigOption http_users_options[] = {
    {"file", TIDE_CONFIG_STRING, AT(service.http_users.file), .example = "/etc/tidemark/metrics.users",
     .sentence = "A file with the permissions of a secret (0600 or 0640). It is read again when it changes."},
    {"credential", TIDE_CONFIG_STRING, AT(service.http_users.credential), .example = "metrics.users",
     .sentence = "The same as a systemd credential, by the name that LoadCredential= gives it."},
};
static const TideConfigGroup http_users_group = {"service.http_users", NULL, NULL, http_users_options,
                                                 G_N_ELEMENTS(http_users_options)};

static const TideConfigOption service_options[] = {
    {"http", TIDE_CONFIG_CUSTOM, .default_text = "127.0.0.1:9464",
     .form = "an address and port, `unix:` and a path, or `off`", .parse = parse_http, .print = print_http,
     .sentence = "Where the page (/), /status, /metrics, /healthz and /readyz are served: \"127.0.0.1:9464\", "
                 "\"[::1]:9464\", \"unix:/run/tidemark/http.socket\", or off. If other machines can reach it, it needs "
                 "`http_users` or `http_tls`."},
    {"http_tls", TIDE_CONFIG_SECTION, .section = &http_tls_group, .sentence = "Serves by HTTPS (TLS 1.2 or later)."},
    {"http_users", TIDE_CONFIG_SECTION, .section = &http_users_group,
     .sentence = "Who may ask, for each of the pages: a file with a line NAME:HASH for each, where HASH is of a "
                 "password, as `htpasswd -nB NAME` or `mkpasswd` write it, or the SHA-256 of a bearer token in hex."},
    {"http_allow_open", TIDE_CONFIG_BOOLEAN, AT(service.http_allow_open), .default_text = "false",
     .sentence = "Lets other machines reach `http` without a password and without TLS."},
    {"http_socket_mode", TIDE_CONFIG_CUSTOM, .default_text = "0660", .form = "permission bits in octal",
     .parse = parse_socket_mode, .print = print_socket_mode,
     .sentence = "Who may connect where `http` is a Unix socket: its owner and its group, unless changed."},
    {"log_level", TIDE_CONFIG_CHOICE, AT(service.log_level), .default_text = "info", .choices = log_levels,
     .flags = TIDE_CONFIG_RELOADS, .sentence = "The least severe events that are logged."},
    {"log_format", TIDE_CONFIG_CHOICE, AT(service.log_format), .default_text = "auto", .choices = log_formats,
     .sentence = "auto: the journal under systemd, else text on standard error."},
    {"startup", TIDE_CONFIG_CHOICE, AT(service.startup), .default_text = "wait", .choices = startups,
     .sentence =
         "When a topic, table or family is missing at the start, or Kafka denies access: wait for it and say "
         "so, or end with an error. A server that cannot be reached is waited for; with `fail`, HBase for a minute, "
         "and Kafka's group for `kafka.max_poll_interval` and 15 s. `run --until-end` is always as with `fail`."},
};

static const TideConfigGroup kafka_group = {"kafka", "Where do readings come from?", NULL, kafka_options,
                                            G_N_ELEMENTS(kafka_options)};
static const TideConfigGroup hbase_group = {"hbase", "Where do rows go?", NULL, hbase_options,
                                            G_N_ELEMENTS(hbase_options)};
static const TideConfigGroup dead_letters_group = {"dead_letters", "What becomes of messages that cannot be written?",
                                                   NULL, dead_letters_options, G_N_ELEMENTS(dead_letters_options)};
static const TideConfigGroup batch_group = {"batch", "How are rows gathered into calls?", NULL, batch_options,
                                            G_N_ELEMENTS(batch_options)};
static const TideConfigGroup limits_group = {"limits", "How much may be under way?", NULL, limits_options,
                                             G_N_ELEMENTS(limits_options)};
static const TideConfigGroup service_group = {"service", "How is the daemon watched?", NULL, service_options,
                                              G_N_ELEMENTS(service_options)};

static const TideConfigOption top_options[] = {
    {"kafka", TIDE_CONFIG_SECTION, .section = &kafka_group},
    {"readings", TIDE_CONFIG_SECTION, AT(readings), .section = &tide_readings_options},
    {"sources", TIDE_CONFIG_STRUCTURE, AT(sources_yaml),
     .example = "boards:\n"
                "  topics: [metrics]\n"
                "  readings: { time: { field: ts, format: epoch_ms } }\n"
                "telegraf:\n"
                "  topics: [\"^telegraf[.]\"]\n"
                "  readings: { format: influx }",
     .sentence = "Several topics with readings of their own, each under a name, in place of `kafka.topics` and "
                 "`readings`. A table takes from all, or from those that its `sources` names."},
    {"tables", TIDE_CONFIG_STRUCTURE, AT(tables_yaml),
     .example = "METRIC:\n"
                "  key: [{ field: host }, \"#\", { time: epoch_ms }]\n"
                "  columns: { family: M, from: \"*\" }\n"
                "CURRENT_METRIC:\n"
                "  latest: merge\n"
                "  key: [{ field: host }]\n"
                "  columns: { family: M, from: \"*\" }",
     .flags = TIDE_CONFIG_IN_SAMPLE,
     .sentence = "The tables that a reading is written to: how its row key is made, and which fields become "
                 "columns."},
    {"hbase", TIDE_CONFIG_SECTION, .section = &hbase_group},
    {"dead_letters", TIDE_CONFIG_SECTION, .section = &dead_letters_group},
    {"batch", TIDE_CONFIG_SECTION, .section = &batch_group},
    {"limits", TIDE_CONFIG_SECTION, .section = &limits_group},
    {"service", TIDE_CONFIG_SECTION, .section = &service_group},
};

const char *
tide_config_format_name(TideReadingFormat format)
{
  return tide_config_choice_name(formats, (int)format);
}

const TideConfigGroup tide_config_top = {"", NULL, NULL, top_options, G_N_ELEMENTS(top_options)};
