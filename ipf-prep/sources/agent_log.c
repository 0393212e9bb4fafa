#include "sources/agent_log.h"

#include "absent.h"
#include "array.h"
#include "json/jout.h"
#include "sources/record_fields.h"

#include <stdlib.h>
#include <string.h>

#define SHARED_TOKENS 512 /* in a piece of the common text of one model's prompts */

struct agent_request *agent_log_request(struct agent_log *log, struct slice key, bool *is_new)
{
	size_t number = log->failed ? NO_NUMBER : name_number(&log->keys, key);
	*is_new = number == log->count;
	if (*is_new && !array_room(log->requests, log->cap, log->count + 1))
		number = NO_NUMBER;
	log->failed |= number == NO_NUMBER;
	if (log->failed)
		return NULL;
	if (*is_new)
		log->requests[log->count++] = (struct agent_request){.chain = NO_CHAIN,
		                                                     .start_ns = IPF_ABSENT,
		                                                     .end_ns = IPF_ABSENT,
		                                                     .model = NO_NUMBER,
		                                                     .continues = NO_AGENT_REQUEST};
	return &log->requests[number];
}

size_t agent_log_number(const struct agent_log *log, const struct agent_request *r)
{
	return (size_t)(r - log->requests);
}

void agent_log_begin(const struct agent_log *log, struct agent_request *r, int64_t input_ns)
{
	const struct agent_request *before = r->continues == NO_AGENT_REQUEST ? NULL : &log->requests[r->continues];
	if (before && before->chain == r->chain && before->end_ns > input_ns)
		input_ns = before->end_ns;
	r->start_ns = input_ns < r->end_ns ? input_ns : r->end_ns;
}

size_t agent_log_model(struct agent_log *log, struct slice name)
{
	if (name.len == 0)
		return NO_NUMBER;
	size_t number = name_number(&log->models, name);
	log->failed |= number == NO_NUMBER;
	return number;
}

int agent_log_set_lengths(struct agent_request *r, int64_t input, int64_t cached, int64_t output, struct ipf_error *err)
{
	struct draft_request lengths = {.input_tokens = input, .output_tokens = output};
	if (draft_check_lengths(&(struct draft){.requests = &lengths, .count = 1}, err) < 0)
		return -1;
	r->input_tokens = input;
	r->cached_tokens = cached;
	r->output_tokens = output;
	return 0;
}

int agent_log_check_names(struct slice session, struct slice model, struct ipf_error *err)
{
	struct draft_request names = {.model = model};
	return draft_check_names(&(struct draft){.session = session, .requests = &names, .count = 1}, err);
}

/* ---- prompts ---- */

/* The request of a known length it continues; NULL: none. */
static const struct agent_request *find_before(struct agent_log *log, struct agent_request *r)
{
	while (r->continues != NO_AGENT_REQUEST) {
		const struct agent_request *before = &log->requests[r->continues];
		if (before->input_tokens > 0)
			return before;
		r->replaced |= before->replaced;
		r->continues = before->continues;
	}
	return NULL;
}

/* How much of its prompt is from earlier ones, and the last one it has some of. */
static void find_kept(struct agent_log *log, struct agent_request *r)
{
	const struct agent_request *before = find_before(log, r);
	int64_t cached = r->cached_tokens < r->input_tokens ? r->cached_tokens : r->input_tokens;
	r->root = before ? before->root : agent_log_number(log, r);
	r->kept_tokens = cached;
	if (before && !r->replaced && r->input_tokens >= before->input_tokens)
		r->kept_tokens = before->input_tokens;
	else if (before && cached > before->input_tokens)
		r->kept_tokens = before->input_tokens;
	while (r->continues != NO_AGENT_REQUEST && r->kept_tokens <= log->requests[r->continues].kept_tokens)
		r->continues = log->requests[r->continues].continues;
}

static struct slice model_of(const struct agent_log *log, const struct agent_request *r)
{
	return r->model == NO_NUMBER ? (struct slice){0} : log->models.list[r->model];
}

/* The piece a request adds to the kept ones. */
static void add_piece(struct agent_log *log, const struct agent_request *r)
{
	struct slice key = log->keys.list[agent_log_number(log, r)];
	prompt_pieces_truncate(&log->pieces, r->kept_tokens);
	prompt_pieces_add(&log->pieces, prompt_piece_id(key, 0), r->input_tokens - r->kept_tokens);
}

/* Makes the pieces of a request's prompt: those of the earliest prompts first. */
static void make_pieces(struct agent_log *log, size_t number)
{
	const struct agent_request *r = &log->requests[number], *root = &log->requests[r->root];
	size_t length = 0;
	int64_t shared = r->kept_tokens;
	for (size_t at = number; at != NO_AGENT_REQUEST; at = log->requests[at].continues) {
		if (!array_room(log->path, log->path_cap, length + 1)) {
			log->failed = true;
			return;
		}
		log->path[length++] = at;
		shared = log->requests[at].kept_tokens;
	}
	prompt_pieces_truncate(&log->pieces, 0);
	for (uint64_t i = 0; log->pieces.tokens < shared && !log->pieces.failed; i++)
		prompt_pieces_add(&log->pieces, prompt_piece_id(model_of(log, root), 2 * i + root->sub_agent), SHARED_TOKENS);
	while (length > 0)
		add_piece(log, &log->requests[log->path[--length]]);
}

/* ---- requests ---- */

/* The name of a sub-agent within its session: without the session's name, if it begins with it. */
static struct slice agent_name(const struct agent_log *log, size_t chain, size_t root)
{
	struct slice name = agent_chains_name(&log->chains, chain), session = agent_chains_name(&log->chains, root);
	size_t skip = session.len + 1;
	bool within = name.len > skip && name.data[session.len] == '/' && memcmp(name.data, session.data, session.len) == 0;
	return within ? (struct slice){name.data + skip, name.len - skip} : name;
}

/* Recorded values outside the request. */
static struct slice make_tags(const struct agent_log *log, const struct agent_request *r, size_t root, struct draft *d)
{
	struct buffer out = {0};
	struct jout w = {.out = &out};
	jout_begin_map(&w);
	jout_member_string(&w, "model", model_of(log, r));
	jout_member_int(&w, "cached_tokens", r->cached_tokens);
	if (r->sub_agent)
		jout_member_string(&w, "agent", agent_name(log, r->chain, root));
	if (r->tool_calls > 0)
		jout_member_int(&w, "tool_calls", r->tool_calls);
	jout_end_map(&w);
	return tags_written(d, &out);
}

static int take_request(struct agent_log *log, const struct agent_step *step, size_t number, int64_t origin_ns,
                        struct sink *sink, struct ipf_error *err)
{
	const struct agent_request *r = &log->requests[number];
	struct draft *d = &sink->draft;
	draft_begin(d, (int64_t)number + 1, 0);
	struct draft_request *request = draft_request(d);
	if (!request)
		return ipf_error_memory(err);
	make_pieces(log, number);
	request->at_ns = r->start_ns - origin_ns;
	request->input_tokens = r->input_tokens;
	request->output_tokens = r->output_tokens;
	request->tags = make_tags(log, r, step->root, d);
	prompt_pieces_to_blocks(&log->pieces, d, &request->blocks);
	return log->failed || d->failed ? ipf_error_memory(err) : agent_chains_take(&log->chains, step, d, sink, err);
}

/* Adds the requests to their chains. `numbers` gets the number of each. Returns the earliest start. */
static int64_t add_calls(struct agent_log *log, bool drop_agents, size_t *numbers, struct sink *sink)
{
	int64_t origin_ns = IPF_ABSENT;
	size_t count = 0;
	for (size_t i = 0; i < log->count; i++) {
		struct agent_request *r = &log->requests[i];
		find_kept(log, r);
		if (r->chain == NO_CHAIN || (drop_agents && r->sub_agent))
			continue;
		if (r->input_tokens == 0) {
			sink->unusable(sink, "no length of the prompt");
			continue;
		}
		agent_chains_add(&log->chains, r->chain, r->start_ns, r->end_ns);
		numbers[count++] = i;
		origin_ns = origin_ns == IPF_ABSENT || r->start_ns < origin_ns ? r->start_ns : origin_ns;
	}
	return origin_ns;
}

int agent_log_finish(struct agent_log *log, bool drop_agents, struct sink *sink, struct ipf_error *err)
{
	struct agent_step step;
	int status = 0;
	size_t *numbers = reallocarray(NULL, log->count + 1, sizeof *numbers);
	log->failed |= !numbers;
	if (log->failed) {
		free(numbers);
		return ipf_error_memory(err);
	}
	int64_t origin_ns = add_calls(log, drop_agents, numbers, sink);
	agent_chains_sort(&log->chains);
	while (status == 0 && !sink->full && agent_chains_next(&log->chains, &step))
		status = take_request(log, &step, numbers[step.call], origin_ns, sink, err);
	free(numbers);
	return status == 0 && log->chains.failed ? ipf_error_memory(err) : status;
}

void agent_log_release(struct agent_log *log)
{
	agent_chains_release(&log->chains);
	name_numbers_release(&log->keys);
	name_numbers_release(&log->models);
	free(log->requests);
	free(log->path);
	prompt_pieces_release(&log->pieces);
	*log = (struct agent_log){0};
}
