/* Ids of tool calls: every call of a conversation gets one of its own, and its result the same.
 *
 *     struct call_ids ids = {0};
 *     struct slice list = call_ids_repair(&ids, messages, CALL_IDS_ANY);      // often `messages` itself
 *     call_ids_release(&ids);
 *
 * Recorded conversations may have calls without an id, or use an id twice, which servers refuse. Such a call gets the
 * id "call00001" by its place among the calls of the conversation, or the next number that is free: letters and digits,
 * nine of them, as all known servers accept. Earlier messages of a conversation decide, so the ids of a turn are the
 * same in each later turn containing it, and prompts stay prefixes of each other.
 *
 * A result belongs to the first call of the latest message with calls with its id, and no result yet; a result without
 * an id to the first of them without a result, by its name if it has one. Other results are left as they are.
 */
#ifndef IPF_CALL_IDS_H
#define IPF_CALL_IDS_H

#include "buffer.h"
#include "json/jdoc.h"

enum call_ids_rule {
	CALL_IDS_ANY,
	CALL_IDS_WORD, /* only letters, digits, _ and -: others become _, if that id is free */
};

/* A call or, after the calls, a result's reference. */
struct call_id {
	size_t recorded, recorded_len; /* in `texts`; length 0: none */
	size_t sent, sent_len;
	jdoc_id call;
	bool answered;
};

/* Working memory, reused for each list. Zero-initialise. */
struct call_ids {
	struct jdoc doc;
	struct buffer texts, list, scratch;
	struct call_id *calls;
	size_t count, cap, group; /* `group`: the first call of the latest message with any */
	size_t *results;          /* for each result its call; SIZE_MAX: none */
	size_t results_count, results_cap;
	bool changed, failed;
};

/* The list of messages with ids repaired, which is valid until the next call, or `messages` if nothing is wrong with it
 * or if it is not JSON. `data` is NULL: out of memory. */
struct slice call_ids_repair(struct call_ids *ids, struct slice messages, enum call_ids_rule rule);
void call_ids_release(struct call_ids *ids);

#endif
