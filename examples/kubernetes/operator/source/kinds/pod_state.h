/* What the pods of a Job say, from a list of them: why they do not start, and what they left when they ended.
 *
 *     struct pod_wait wait;
 *     if (pods_wait(pods, job, now_s, &wait)) …   // "CreateContainerConfigError", "secret \"keys\" not found"
 *     json_t *result = pods_result(pods, message, sizeof message);
 *
 * `pods` is the list "items" of the API server's answer. Texts are cut to what fits, in printable ASCII: the end of a
 * log can contain anything, and a cut may be in the middle of a character.
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

/* Why the first pod that waits for more than its usual start does; false: none does. The status of a pod gives most
 * reasons; of one that gives none, or a Job without pods, 30 s after it was made: where it is, and what shows the
 * cause. `now_s` is in seconds since the epoch. */
bool pods_wait(const json_t *pods, const json_t *job, int64_t now_s, struct pod_wait *wait);

/* The result that a pod left as its termination message (result_read), which the caller frees; NULL: none did.
 * `message` gets the problem that the result names, or the end of what another pod left, after what ended it where that
 * is unusual (OOMKilled, Evicted); "" if there is neither. */
json_t *pods_result(const json_t *pods, char *message, size_t size);

#endif
