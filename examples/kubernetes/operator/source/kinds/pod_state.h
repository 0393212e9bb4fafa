/* The state of a Job's pods, from a list of them: why they do not start, and their messages when they ended.
 *
 *     struct pod_wait wait;
 *     if (pods_wait(pods, job, now_s, &wait)) …   // "CreateContainerConfigError", "secret \"keys\" not found"
 *     json_t *result = pods_result(pods, message, sizeof message);
 *
 * `pods` is the list "items" of the API server's answer. Texts are cut to fit, in printable ASCII: the end of a log can
 * contain anything, and a cut may be in the middle of a character.
 */
#ifndef IPF_OPERATOR_POD_STATE_H
#define IPF_OPERATOR_POD_STATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pod_wait {
	char reason[80];   /* as the kubelet or the scheduler names it: ErrImagePull, Unschedulable, …; or ours */
	char message[400]; /* a sentence, or "" */
};

/* Why the first pod waiting for more than its usual start does; false: none does. The status of a pod gives most
 * reasons. For a pod without one, or a Job without pods, 30 s after it was made: where it is, and how to see the cause.
 * `now_s` is in seconds since the epoch. */
bool pods_wait(const json_t *pods, const json_t *job, int64_t now_s, struct pod_wait *wait);

/* The result a pod left as its termination message (result_read), which the caller frees; NULL: none did. `message`
 * gets the problem the result names, or the end of another pod's log, after an unusual reason (OOMKilled, Evicted); ""
 * if there is neither. */
json_t *pods_result(const json_t *pods, char *message, size_t size);

#endif
