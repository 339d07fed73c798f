/* A source in place of kafka_source.c, for tests that drive a consumer: it notes what it is asked for, and a test calls
 * its handlers. */
#pragma once

#include "kafka/kafka_source.h"

struct TideKafkaSource {
  TideKafkaHandlers handlers;
  GString *asked; /* owned: "pause 0, store 0 6, " */
  gboolean refuses_marks;
};

TideKafkaSource *
tide_kafka_source_new(const TideKafkaSourceOptions *options, const TideKafkaHandlers *handlers, GError **error)
{
  TideKafkaSource *source = g_new0(TideKafkaSource, 1);
  source->handlers = *handlers;
  source->asked = g_string_new(NULL);
  return source;
}

void
tide_kafka_source_free(TideKafkaSource *source)
{
  if (source == NULL)
    return;
  g_string_free(source->asked, TRUE);
  g_free(source);
}

void
tide_kafka_source_close(TideKafkaSource *source)
{
}

gboolean
tide_kafka_source_poll(TideKafkaSource *source, int timeout_ms, TideKafkaRecord *ret_record)
{
  return FALSE;
}

void
tide_kafka_source_release(TideKafkaRecord *record)
{
}

void
tide_kafka_source_wake(TideKafkaSource *source)
{
}

void
tide_kafka_source_pause(TideKafkaSource *source, guint16 slot)
{
  g_string_append_printf(source->asked, "pause %u, ", slot);
}

void
tide_kafka_source_resume(TideKafkaSource *source, guint16 slot)
{
  g_string_append_printf(source->asked, "resume %u, ", slot);
}

gboolean
tide_kafka_source_store(TideKafkaSource *source, guint16 slot, gint64 offset)
{
  g_string_append_printf(source->asked, "store %u %" G_GINT64_FORMAT ", ", slot, offset);
  return !source->refuses_marks;
}

void
tide_kafka_source_move(TideKafkaSource *source, guint16 slot, gint64 offset)
{
  g_string_append_printf(source->asked, "move %u %" G_GINT64_FORMAT ", ", slot, offset);
}

void
tide_kafka_source_commit_later(TideKafkaSource *source, const TideKafkaCommit *commits, gsize n_commits)
{
  for (gsize i = 0; i < n_commits; i++)
    g_string_append_printf(source->asked, "commit %u %" G_GINT64_FORMAT ", ", commits[i].slot, commits[i].offset);
}

gboolean
tide_kafka_source_commit(TideKafkaSource *source, const TideKafkaCommit *commits, gsize n_commits, gint64 deadline_us,
                         char **ret_problem)
{
  tide_kafka_source_commit_later(source, commits, n_commits);
  for (gsize i = 0; i < n_commits; i++)
    source->handlers.committed(commits[i].slot, commits[i].offset, TRUE, source->handlers.data);
  return TRUE;
}
