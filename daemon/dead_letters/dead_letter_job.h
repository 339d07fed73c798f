/* Lists of jobs, and the copying of dead letters: for the dead letters' own files. Threads: the owner's, but for the
 * box. */
#pragma once

#include "dead_letters/dead_letter_queue.h"

G_BEGIN_DECLS

void tide_dead_letter_jobs_append(TideDeadLetterJobs *jobs, TideDeadLetterJob *job); /* transfers @job */
void tide_dead_letter_jobs_prepend(TideDeadLetterJobs *jobs, TideDeadLetterJob *job);
TideDeadLetterJob *tide_dead_letter_jobs_take(TideDeadLetterJobs *jobs); /* the first, (transfer full); NULL: none */
void tide_dead_letter_jobs_clear(TideDeadLetterJobs *jobs);              /* frees what is in it */

/* Of a row that HBase refused; else it was rejected when it was mapped. What else a job says of that changes on its
 * way.
 */
gboolean tide_dead_letter_job_is_refused(const TideDeadLetterJob *job);

/* For arrays of jobs: by topic, partition and offset. */
gint tide_dead_letter_job_compare(gconstpointer a, gconstpointer b);

/* All that @dead_letter points to, in @memory, which must be empty and then not grow any more. */
void tide_dead_letter_copy(const TideDeadLetter *dead_letter, TideDeadLetter *ret_copy, TideBuffer *memory);

/* Completes @job. Threads: any. */
void tide_dead_letter_completions_push(TideDeadLetterCompletions *box, TideDeadLetterJob *job);

G_END_DECLS
