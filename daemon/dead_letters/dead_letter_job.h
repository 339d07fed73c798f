/* Lists of jobs and copies of dead letters, for the files of this room. Threads: the owner's, except for
 * completions. */
#pragma once

#include "dead_letters/dead_letter_queue.h"

G_BEGIN_DECLS

void tide_dead_letter_jobs_append(TideDeadLetterJobs *jobs, TideDeadLetterJob *job); /* transfers @job */
void tide_dead_letter_jobs_prepend(TideDeadLetterJobs *jobs, TideDeadLetterJob *job);
/* The first job, (transfer full); NULL: empty. */
TideDeadLetterJob *tide_dead_letter_jobs_take(TideDeadLetterJobs *jobs);
void tide_dead_letter_jobs_clear(TideDeadLetterJobs *jobs); /* frees the jobs */

/* Whether the job is for a row that HBase refused; otherwise its message was rejected during mapping. Other fields that
 * indicate this change while the job is processed. */
gboolean tide_dead_letter_job_is_refused(const TideDeadLetterJob *job);

/* Compares jobs in arrays by topic, partition and offset. */
gint tide_dead_letter_job_compare(gconstpointer a, gconstpointer b);

/* Copies everything that @dead_letter points to into @memory, which must be empty and must not grow afterwards. */
void tide_dead_letter_copy(const TideDeadLetter *dead_letter, TideDeadLetter *ret_copy, TideBuffer *memory);

/* Completes @job. Threads: any. */
void tide_dead_letter_completions_push(TideDeadLetterCompletions *box, TideDeadLetterJob *job);

G_END_DECLS
