/* Checks whether `tidemark run` can work with the brokers. */
#include "commands/check/list.h"
#include "kafka/kafka_library.h"
#include "kafka/kafka_preflight.h"
#include "thrift/client/resolver.h"
#include "util/clock.h"
#include "util/units.h"

/* Long enough for a broker across an ocean, short enough to wait for. */
#define KAFKA_TIMEOUT_MS 5000

/* Clocks synchronised by NTP differ by less. */
#define CLOCKS_DIFFER_MS 60000

/* Limits for a single connection, and for those to all brokers, of which there may be many. */
#define CONNECT_SECONDS 2
#define CONNECT_ALL_US (10 * TIDE_US_PER_S)

static void
add_topic(TideCheckList *list, const TideSeenTopic *topic)
{
  gboolean is_pattern = topic->name[0] == '^';
  g_autofree char *topics = tide_count_of(topic->n_topics, "topic", NULL);
  g_autofree char *partitions = tide_count_of(topic->n_partitions, "partition", NULL);
  g_autofree char *detail = NULL;
  if (topic->fault != NULL)
    detail = g_strdup(topic->fault);
  else if (topic->n_topics == 0)
    detail = g_strdup("no topic matches this pattern yet");
  else if (is_pattern)
    detail = g_strdup_printf("%s with %s", topics, partitions);
  else
    detail = g_steal_pointer(&partitions);
  gboolean good = topic->n_topics > 0 && topic->fault == NULL;
  if (!good || topic->ahead_ms < CLOCKS_DIFFER_MS) {
    tide_check_list_add(list, "topic", topic->name, good ? TIDE_CHECK_OK : TIDE_CHECK_PROBLEM, detail);
    return;
  }
  g_autofree char *ahead = g_strdup_printf(
      "%s; its newest record is %" G_GINT64_FORMAT
      " s ahead of this host's clock: correct this clock (timedatectl), or that of the sender or broker",
      detail, topic->ahead_ms / 1000);
  tide_check_list_add(list, "topic", topic->name, TIDE_CHECK_NOTE, ahead);
}

static void
add_group(TideCheckList *list, const char *name, const TideKafkaPreflight *look)
{
  g_autofree char *strangers =
      look->strangers == NULL
          ? NULL
          : g_strdup_printf("has members that are not tidemark: %s: messages of their partitions are not written; stop "
                            "them, or give them a group of their own",
                            look->strangers);
  const char *problem = look->group_fault != NULL ? look->group_fault : strangers;
  if (problem != NULL) {
    tide_check_list_add(list, "group", name, TIDE_CHECK_PROBLEM, problem);
    return;
  }
  g_autofree char *partitions = tide_count_of((guint64)MAX(look->other_tables, 0), "partition", NULL);
  g_autofree char *others =
      look->other_tables <= 0
          ? g_strdup("")
          : g_strdup_printf("; the last commit of %s is from a tidemark with other tables, keys or columns: run all "
                            "instances with the same tables",
                            partitions);
  g_autofree char *detail =
      g_strdup_printf("its offsets can be read; the mark of the tables is %08x%s", look->tables_mark, others);
  tide_check_list_add(list, "group", name, look->other_tables > 0 ? TIDE_CHECK_NOTE : TIDE_CHECK_OK, detail);
}

static void
add_dead_letters(TideCheckList *list, const char *name, const TideKafkaPreflight *look)
{
  gboolean is_problem = FALSE;
  const TideTopicSettings *settings = (const TideTopicSettings *)(gconstpointer)look->settings->data;
  g_autofree char *judgement =
      look->settings->len > 0
          ? tide_dead_letter_topic_judge(&settings[0], settings + 1, look->settings->len - 1, &is_problem)
          : NULL;
  if (look->dead_letters_fault != NULL) {
    g_autofree char *detail =
        g_strdup_printf("%s; until then the first bad message halts its partition", look->dead_letters_fault);
    tide_check_list_add(list, "dead_letters", name, TIDE_CHECK_PROBLEM, detail);
  } else if (judgement != NULL)
    tide_check_list_add(list, "dead_letters", name, is_problem ? TIDE_CHECK_PROBLEM : TIDE_CHECK_NOTE, judgement);
  else if (look->settings->len == 0 || !settings[0].is_known)
    tide_check_list_add(list, "dead_letters", name, TIDE_CHECK_OK, "exists; the brokers do not report its settings");
  else
    tide_check_list_add(list, "dead_letters", name, TIDE_CHECK_OK,
                        "exists; only the first dead letter shows whether it is writable");
}

static void
add_library(TideCheckList *list)
{
  const TideKafkaLibrary library = tide_kafka_library();
  g_autofree char *lacks = tide_kafka_library_lacks(&library);
  g_autofree char *detail = lacks != NULL ? g_strdup_printf("lacks: %s", lacks) : g_strdup("no known fault");
  TideCheckState state = tide_kafka_library_can(&library, TIDE_KAFKA_SOUND_METADATA) ? TIDE_CHECK_OK : TIDE_CHECK_NOTE;
  tide_check_list_add(list, "librdkafka", library.name, state, detail);
}

/* Tries each of its addresses. */
static gboolean
can_connect(const TideSeenBroker *broker, GError **error)
{
  gint64 deadline_us = tide_now_us() + CONNECT_SECONDS * TIDE_US_PER_S;
  g_autoptr(GPtrArray) addresses = tide_resolver_lookup(broker->host, broker->port, deadline_us, NULL, error);
  g_autoptr(GSocketClient) client = g_socket_client_new();
  g_socket_client_set_timeout(client, CONNECT_SECONDS);
  g_socket_client_set_enable_proxy(client, FALSE);
  for (guint i = 0; addresses != NULL && i < addresses->len; i++) {
    g_clear_error(error);
    g_autoptr(GSocketConnection) connection =
        g_socket_client_connect(client, G_SOCKET_CONNECTABLE(addresses->pdata[i]), NULL, error);
    if (connection != NULL)
      return TRUE;
  }
  return FALSE;
}

/* Clients connect to the addresses that the cluster advertises, which may differ from kafka.brokers. Adds a line for
 * each that this host cannot reach. */
static void
add_unreachable_brokers(TideCheckList *list, const GPtrArray *brokers)
{
  gint64 end_us = tide_now_us() + CONNECT_ALL_US;
  for (guint i = 0; i < brokers->len; i++) {
    const TideSeenBroker *broker = brokers->pdata[i];
    g_autoptr(GError) error = NULL;
    g_autofree char *name = g_strdup_printf("%s:%u", broker->host, broker->port);
    if (tide_now_us() >= end_us)
      tide_check_list_add_unseen(list, "broker", name, "the brokers before it used up the time");
    else if (!can_connect(broker, &error)) {
      g_autofree char *detail = g_strdup_printf(
          "the cluster advertises this address, and this host cannot connect to it: %s; correct the broker's "
          "'advertised.listeners', the name service or the network",
          error->message);
      tide_check_list_add(list, "broker", name, TIDE_CHECK_PROBLEM, detail);
    }
  }
}

void
tide_check_kafka(const TideConfig *config, TideCheckList *list)
{
  static const char unseen[] = "the brokers could not be asked";
  add_library(list);
  g_autoptr(GError) error = NULL;
  g_autoptr(TideKafkaPreflight) look = tide_kafka_preflight(config, KAFKA_TIMEOUT_MS, &error);
  if (look == NULL) {
    tide_check_list_add(list, "brokers", config->kafka.brokers, TIDE_CHECK_UNAVAILABLE, error->message);
    for (char *const *topic = config->kafka.topics; *topic != NULL; topic++)
      tide_check_list_add_unseen(list, "topic", *topic, unseen);
    tide_check_list_add_unseen(list, "group", config->kafka.group, unseen);
    if (config->dead_letters.topic != NULL)
      tide_check_list_add_unseen(list, "dead_letters", config->dead_letters.topic, unseen);
    return;
  }
  g_autofree char *brokers = tide_count_of(look->brokers->len, "broker", NULL);
  tide_check_list_add(list, "brokers", config->kafka.brokers, TIDE_CHECK_OK, brokers);
  add_unreachable_brokers(list, look->brokers);
  for (guint i = 0; i < look->topics->len; i++)
    add_topic(list, look->topics->pdata[i]);
  add_group(list, config->kafka.group, look);
  if (config->dead_letters.topic != NULL)
    add_dead_letters(list, config->dead_letters.topic, look);
}
