/* Lists of jobs, and the copying of letters: for the letters' own files. Threads: the owner's, but for the box. */
#pragma once

#include "dead_letters/dead_letters.h"

G_BEGIN_DECLS

void tide_letter_jobs_append(TideLetterJobs *jobs, TideLetterJob *job); /* transfers @job */
void tide_letter_jobs_prepend(TideLetterJobs *jobs, TideLetterJob *job);
TideLetterJob *tide_letter_jobs_take(TideLetterJobs *jobs); /* the first, (transfer full); NULL: none */
void tide_letter_jobs_clear(TideLetterJobs *jobs);          /* frees what is in it */

/* Of a row that HBase refused; else it was rejected when it was mapped. What else a job says of that changes on its
 * way.
 */
gboolean tide_letter_job_is_refused(const TideLetterJob *job);

/* For arrays of jobs: by topic, partition and offset. */
gint tide_letter_job_compare(gconstpointer a, gconstpointer b);

/* All that @letter points to, in @memory, which must be empty and then not grow any more. */
void tide_letter_copy(const TideLetter *letter, TideLetter *ret_copy, TideBuffer *memory);

/* Sends @job home. Threads: any. */
void tide_letter_box_push(TideLetterBox *box, TideLetterJob *job);

G_END_DECLS
