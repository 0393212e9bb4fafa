#include "sources/mooncake_row.h"

#include "clock.h"
#include "json/jout.h"

#include <string.h>

#define BLOCK_TOKENS 512

const char *mooncake_name(const struct jdoc *j, const char *names, char name[32])
{
	const char *from = names;
	do {
		size_t len = strcspn(from, " ");
		memcpy(name, from, len);
		name[len] = '\0';
		from += len + (from[len] == ' ');
	} while (*from && jdoc_is_null(j, jdoc_get(j, JDOC_ROOT, name)));
	if (jdoc_is_null(j, jdoc_get(j, JDOC_ROOT, name))) {
		size_t len = strcspn(names, " ");
		memcpy(name, names, len);
		name[len] = '\0';
	}
	return name;
}

int mooncake_times(const struct jdoc *j, struct draft_request *r, struct ipf_error *err)
{
	char name[32];
	return field_duration(j, JDOC_ROOT, mooncake_name(j, "timestamp created_time timestamp_ms", name), NS_PER_MS,
	                      &r->at_ns, err) < 0 ||
	               field_duration(j, JDOC_ROOT, mooncake_name(j, "delay delay_ms", name), NS_PER_MS, &r->wait_ns, err) <
	                   0
	           ? -1
	           : 0;
}

int mooncake_names(const struct source_record *record, struct draft *d, struct name_set *ids, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	struct draft_request *r = &d->requests[0];
	static const char *const links[] = {"wait_for", "branches", "dependencies"};
	for (size_t i = 0; i < sizeof links / sizeof *links; i++)
		if (jdoc_count(j, jdoc_get(j, JDOC_ROOT, links[i])) > 0)
			return ipf_error_set(err, IPF_INPUT, "%s: requests with parents need the source agentic-mooncake",
			                     links[i]);
	if (field_name(d, j, JDOC_ROOT, "session_id", &d->session, err) < 0 ||
	    field_name(d, j, JDOC_ROOT, "request_id", &r->id, err) < 0 ||
	    field_name(d, j, JDOC_ROOT, "model", &r->model, err) < 0)
		return -1;
	r->id = name_in_file(d, record->file_index, r->id);
	if (r->id.data && name_set_add(ids, r->id) == 0)
		return ipf_error_set(err, IPF_INPUT, "request_id: expected a unique id, got \"%.*s\" again",
		                     (int)(r->id.len > 40 ? 40 : r->id.len), r->id.data);
	return name_set_check(ids, err);
}

int mooncake_lengths(struct draft *d, const struct jdoc *j, struct draft_request *r, struct mooncake_blocks *blocks,
                     struct ipf_error *err)
{
	char name[32];
	jdoc_id ids = jdoc_get(j, JDOC_ROOT, "hash_ids");
	if (need_tokens(j, JDOC_ROOT, mooncake_name(j, "input_length input_tokens", name), &r->input_tokens, err) < 0 ||
	    mooncake_output(j, true, r, err) < 0)
		return -1;
	if (jdoc_is_null(j, ids))
		return 0;
	int got = field_block_tokens(j, JDOC_ROOT, "block_size", &r->blocks.tokens, err);
	if (got < 0)
		return -1;
	if (!blocks->tokens && jdoc_count(j, ids) > 1)
		blocks->tokens = block_tokens_that_fit(r->input_tokens, jdoc_count(j, ids), &(int64_t){BLOCK_TOKENS}, 1);
	if (got == 0)
		r->blocks.tokens = blocks->tokens ? blocks->tokens : BLOCK_TOKENS;
	return need_covering_blocks(d, j, JDOC_ROOT, "hash_ids", r, err);
}

int mooncake_output(const struct jdoc *j, bool needed, struct draft_request *r, struct ipf_error *err)
{
	char name[32];
	jdoc_id ids = jdoc_get(j, JDOC_ROOT, "output_token_ids");
	mooncake_name(j, "output_length output_tokens", name);
	int got = field_tokens(j, JDOC_ROOT, name, &r->output_tokens, err);
	if (got == 0 && jdoc_type_of(j, ids) == JDOC_LIST)
		r->output_tokens = jdoc_count(j, ids);
	else if (got == 0 && needed)
		return need_tokens(j, JDOC_ROOT, name, &r->output_tokens, err);
	return got < 0 ? -1 : 0;
}

struct slice mooncake_tags(struct draft *d, const struct jdoc *j, struct slice agent, struct slice model)
{
	static const char *const members[][2] = {{"priority", "priority"},
	                                         {"strict_priority", "strict_priority"},
	                                         {"tool_wait_ms", "tool_wait_ms"},
	                                         {"recorded_api_time_ms", "api_time_ms"}};
	struct buffer out = {0};
	struct jout w = {.out = &out};
	jdoc_id policy = jdoc_get(j, JDOC_ROOT, "policy_class"), tools = jdoc_get(j, JDOC_ROOT, "tool_events");
	jout_begin_map(&w);
	jout_member_string(&w, "model", model);
	jout_member_string(&w, "agent", agent);
	if (jdoc_type_of(j, policy) == JDOC_TEXT)
		jout_member_string(&w, "policy_class", draft_text(d, j, policy));
	for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
		jdoc_id value = jdoc_get(j, JDOC_ROOT, members[i][0]);
		if (jdoc_type_of(j, value) == JDOC_NUMBER)
			jout_member_value(&w, members[i][1], jdoc_raw(j, value));
	}
	if (jdoc_type_of(j, tools) == JDOC_LIST && jdoc_count(j, tools) > 0)
		jout_member_int(&w, "tool_calls", jdoc_count(j, tools));
	jout_end_map(&w);
	return tags_written(d, &out);
}
