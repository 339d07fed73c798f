/* What a consumer makes dead letters of: messages and readings that cannot be mapped. flow/dead_letters.h keeps them,
 * and those of consumer_refused.c; each is acknowledged here when it is kept. */
#include "flow/consumer_private.h"
#include "flow/letter_job.h"
#include "util/clock.h"

/* The letter of a rejected reading holds its whole message. Where those of one message would take more than this, one
 * letter stands for all of them. */
#define READING_LETTERS_BYTES (4u * 1024 * 1024)

void
tide_consumer_submit(TideConsumer *consumer, TideLetterJob *job)
{
  job->owned = &tide_consumer_partition(consumer, job->source.slot)->owned;
  tide_dead_letters_submit(consumer->context.letters, job);
}

/* ---- rejected when they were mapped ---- */

static GArray *
collect_headers(const TideMessage *message)
{
  GArray *headers = g_array_new(FALSE, FALSE, sizeof(TideLetterHeader));
  TideLetterHeader header;
  while (message->header_at != NULL && message->header_at(message, headers->len, &header))
    g_array_append_val(headers, header);
  return headers;
}

static void
submit_rejected(TideConsumer *consumer, TideSourceRef ref, const TideMessage *message, const TideReject *reject,
                const char *text, gint32 reading_index, guint32 n_acks, gboolean is_further)
{
  g_autoptr(GArray) headers = collect_headers(message);
  TideLetter letter = {.topic = message->topic,
                       .partition = message->partition,
                       .offset = message->offset,
                       .timestamp_ms = message->timestamp_ms,
                       .key = message->key,
                       .has_key = message->has_key,
                       .value = message->value,
                       .has_value = message->has_value,
                       .headers = (const TideLetterHeader *)(gconstpointer)headers->data,
                       .n_headers = headers->len,
                       .reason = tide_bytes_of_string(tide_reject_reason_name(reject->reason)),
                       .text = tide_bytes_of_string(text),
                       .reading_index = reading_index};
  TideLetterJob *job = tide_letter_job_new(&letter, ref, n_acks, &consumer->letter_box);
  job->is_further = is_further;
  tide_consumer_submit(consumer, job);
}

void
tide_consumer_dead_letter_message(TideConsumer *consumer, TidePartition *partition, const TideMessage *message,
                                  const TideReject *reject)
{
  TideSourceRef ref =
      tide_partition_begin_rejected(partition, consumer->context.budget, message->offset, reject->reason);
  g_autofree char *text = tide_reject_describe(reject);
  submit_rejected(consumer, ref, message, reject, text, -1, 1, FALSE);
}

void
tide_consumer_dead_letter_readings(TideConsumer *consumer, TideSourceRef ref, const TideMessage *message,
                                   const TideMapped *mapped)
{
  const TideReject *rejects = mapped->rejects;
  if (mapped->n_rejects * (message->value.len + sizeof(TideLetterJob)) > READING_LETTERS_BYTES) {
    g_autofree char *first = tide_reject_describe(&rejects[0]);
    g_autofree char *text = g_strdup_printf("%u of %u readings cannot be used, the first of them: %s",
                                            mapped->n_rejects, mapped->n_readings, first);
    submit_rejected(consumer, ref, message, &rejects[0], text, -1, mapped->n_rejects, FALSE);
    return;
  }
  for (guint32 i = 0; i < mapped->n_rejects; i++) {
    g_autofree char *text = tide_reject_describe(&rejects[i]);
    submit_rejected(consumer, ref, message, &rejects[i], text, (gint32)rejects[i].reading_index, 1, i > 0);
  }
}

/* ---- home ---- */

static void
take_home(TideConsumer *consumer, TideLetterJob *job)
{
  consumer->jobs_of_refused -= tide_letter_job_is_refused(job) ? 1 : 0;
  if (job->wants_original) {
    tide_consumer_take_original(consumer, job);
    return;
  }
  TidePartition *partition = tide_consumer_partition(consumer, job->source.slot);
  if (tide_partition_owns(partition, job->source))
    tide_partition_letter_kept(partition, consumer->context.budget, job);
  tide_letter_job_free(job);
}

gboolean
tide_consumer_take_letters_home(TideConsumer *consumer)
{
  TideLetterJob *job = tide_letter_box_take(&consumer->letter_box);
  if (job == NULL)
    return FALSE;
  for (TideLetterJob *next; job != NULL; job = next) {
    next = job->next;
    take_home(consumer, job);
  }
  return TRUE;
}
