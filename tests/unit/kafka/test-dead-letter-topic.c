#include "kafka/kafka_preflight.h"

#include <string.h>

#define DAY_MS (G_GINT64_CONSTANT(24) * 3600 * 1000)

typedef struct TopicCase {
  const char *name;
  TideTopicSettings dead_letters;
  gint64 read_bytes; /* max.message.bytes of the topic that is read; 0: not known */
  const char *says;  /* NULL: nothing */
  gboolean is_problem;
} TopicCase;

static const TopicCase cases[] = {
    {"fit", {"letters", TRUE, 2000000, 7 * DAY_MS, FALSE}, 1048588, NULL, FALSE},
    {"for-ever", {"letters", TRUE, 2000000, -1, FALSE}, 1048588, NULL, FALSE},
    {"not-known", {"letters", FALSE, 0, 0, TRUE}, 1048588, NULL, FALSE},
    {"topics-not-known", {"letters", TRUE, 1, -1, FALSE}, 0, NULL, FALSE},
    {"no-room-for-headers", {"letters", TRUE, 1048588, -1, FALSE}, 1048588, "set max.message.bytes to 1114124", FALSE},
    {"smaller", {"letters", TRUE, 1000, -1, FALSE}, 1048588, "'metrics' has some of up to 1048588", TRUE},
    {"compacted", {"letters", TRUE, 2000000, -1, TRUE}, 1048588, "cleanup.policy=delete", TRUE},
    {"gone-soon", {"letters", TRUE, 2000000, 3600000, FALSE}, 1048588, "gone after 60 minutes", FALSE},
};

static void
test_case(gconstpointer data)
{
  const TopicCase *it = data;
  TideTopicSettings read = {"metrics", it->read_bytes > 0, it->read_bytes, -1, FALSE};
  gboolean is_problem;
  g_autofree char *text = tide_dead_letter_topic_judge(&it->dead_letters, &read, 1, &is_problem);
  if (it->says == NULL)
    g_assert_cmpstr(text, ==, NULL);
  else
    g_assert_nonnull(strstr(text, it->says));
  g_assert_cmpint(is_problem, ==, it->is_problem);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *path = g_strdup_printf("/dead-letter-topic/U5-%s", cases[i].name);
    g_test_add_data_func(path, &cases[i], test_case);
  }
  return g_test_run();
}
