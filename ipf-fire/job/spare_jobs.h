/* Recorded jobs, kept for later requests: their small buffers are used again instead of being passed from one thread to
 * another through the allocator. The last one returned is taken first, while it is still in the processor's cache. One
 * thread gives, one takes; neither waits for the other.
 *
 *     spare_jobs_give(spare, job);  // the recorder; frees it if there are enough
 *     job = spare_jobs_take(spare); // the feeder; as new
 */
#ifndef IPF_SPARE_JOBS_H
#define IPF_SPARE_JOBS_H

#include "job/job.h"

#define SPARE_JOBS_MOST 4096 /* a run's: with more in flight, some of them are not used again */

struct spare_jobs;

/* At most `most` are kept. NULL: out of memory. */
struct spare_jobs *spare_jobs_new(size_t most);
void spare_jobs_free(struct spare_jobs *s); /* with the jobs; NULL is fine */

void spare_jobs_give(struct spare_jobs *s, struct job *job);
struct job *spare_jobs_take(struct spare_jobs *s);   /* as job_new */
size_t spare_jobs_count(const struct spare_jobs *s); /* approximate while the threads are active */

#endif
