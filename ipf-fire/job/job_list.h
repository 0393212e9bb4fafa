/* A list of jobs, first in, first out, linked through job->next: a job is in one list at most, and adding one never
 * fails.
 *
 *     struct job_list waiting = {0};
 *     job_list_put(&waiting, job);
 *     while ((job = job_list_take(&waiting))) …
 */
#ifndef IPF_JOB_LIST_H
#define IPF_JOB_LIST_H

#include "job/job.h"

struct job_list {
	struct job *first, *last; /* `first` is NULL if the list is empty; `last` is valid only if it is not */
};

static inline void job_list_put(struct job_list *list, struct job *job)
{
	job->next = NULL;
	*(list->first ? &list->last->next : &list->first) = job;
	list->last = job;
}

/* NULL: the list is empty. */
static inline struct job *job_list_take(struct job_list *list)
{
	struct job *job = list->first;
	if (job)
		list->first = job->next;
	return job;
}

#endif
