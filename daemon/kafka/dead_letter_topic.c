#include "kafka/dead_letter_topic.h"

/* A dead letter is the message and headers that say why; they have some kilobytes at the most. */
#define HEADER_BYTES (64 * 1024)

/* Somebody has to come and look: below this a weekend is too long. */
#define SHORT_RETENTION_MS (G_GINT64_CONSTANT(3) * 24 * 3600 * 1000)

static const TideTopicSettings *
find_largest(const TideTopicSettings *topics, guint n_topics)
{
  const TideTopicSettings *largest = NULL;
  for (guint i = 0; i < n_topics; i++)
    if (topics[i].is_known && (largest == NULL || topics[i].max_message_bytes > largest->max_message_bytes))
      largest = &topics[i];
  return largest;
}

static void
add_sentence(GString *text, const char *sentence)
{
  g_string_append_printf(text, "%s%s", text->len > 0 ? "; " : "", sentence);
}

char *
tide_dead_letter_topic_judge(const TideTopicSettings *dead_letters, const TideTopicSettings *topics, guint n_topics,
                             gboolean *ret_is_problem)
{
  *ret_is_problem = FALSE;
  if (!dead_letters->is_known)
    return NULL;
  GString *text = g_string_new(NULL);
  const TideTopicSettings *largest = find_largest(topics, n_topics);
  if (largest != NULL && dead_letters->max_message_bytes < largest->max_message_bytes + HEADER_BYTES) {
    *ret_is_problem = dead_letters->max_message_bytes < largest->max_message_bytes;
    g_autofree char *sentence = g_strdup_printf(
        "it takes messages of %" G_GINT64_FORMAT " bytes, '%s' has some of up to %" G_GINT64_FORMAT
        ", and a dead letter that is too large halts its partition: set max.message.bytes to %" G_GINT64_FORMAT,
        dead_letters->max_message_bytes, largest->name, largest->max_message_bytes,
        largest->max_message_bytes + HEADER_BYTES);
    add_sentence(text, sentence);
  }
  if (dead_letters->is_compacted) {
    *ret_is_problem = TRUE;
    add_sentence(text, "it is compacted, so that of dead letters with one key only the newest stays: set "
                       "cleanup.policy=delete");
  }
  if (dead_letters->retention_ms >= 0 && dead_letters->retention_ms < SHORT_RETENTION_MS) {
    g_autofree char *sentence = g_strdup_printf("dead letters are gone after %" G_GINT64_FORMAT
                                                " minutes: raise retention.ms, so that somebody can look before",
                                                dead_letters->retention_ms / 60000);
    add_sentence(text, sentence);
  }
  return g_string_free(text, text->len == 0);
}
