#include "stream/trace_blocks.h"

#include "absent.h"
#include "text_hash.h"
#include "token_count.h"

int trace_blocks_add(struct prefix_reuse *reuse, const struct trace_request *r, struct jdoc *j, struct ipf_error *err)
{
	int64_t each = 0, left = r->input_tokens;
	if (!r->blocks.data) {
		if (left != IPF_ABSENT && !r->context_session) {
			prefix_reuse_begin(reuse, r->at_ns, 0);
			prefix_reuse_add_rest(reuse, left);
		}
		return 0;
	}
	if (jdoc_parse(j, r->blocks.data, r->blocks.len, err) < 0)
		return -1;
	jdoc_id ids = jdoc_get(j, JDOC_ROOT, "ids"), tokens = jdoc_get(j, JDOC_ROOT, "tokens");
	struct slice scope = jdoc_raw(j, jdoc_get(j, JDOC_ROOT, "scope"));
	uint64_t salt = scope.data ? text_hash_mixed(scope) * UINT64_C(0x9e3779b97f4a7c15) : 0;
	struct jdoc_each sizes = jdoc_each(j, tokens);
	bool listed = jdoc_type_of(j, tokens) == JDOC_LIST;
	if (!listed && (!jdoc_to_int(j, tokens, &each) || each <= 0 || !token_count_is_possible(each)))
		return jdoc_expected(j, tokens, "blocks.tokens", "a count or a list", err);
	prefix_reuse_begin(reuse, r->at_ns, 0);
	for (struct jdoc_each e = jdoc_each(j, ids); jdoc_step(&e);) {
		if (listed && (!jdoc_step(&sizes) || !jdoc_to_int(j, sizes.value, &each) || !token_count_is_possible(each)))
			return jdoc_expected(j, tokens, "blocks.tokens", "a length for each id", err);
		prefix_reuse_add_block(reuse, text_hash_mixed(jdoc_raw(j, e.value)) ^ salt,
		                       left != IPF_ABSENT && each > left ? left : each);
		left = left > each ? left - each : left == IPF_ABSENT ? IPF_ABSENT : 0;
	}
	if (left > 0 && left != IPF_ABSENT) /* text in no block */
		prefix_reuse_add_rest(reuse, left);
	return 0;
}
