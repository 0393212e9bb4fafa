#include "body/recorded_answer.h"

#include "absent.h"

int recorded_answer_check(const struct trace_request *q, struct ipf_error *err)
{
	if (!q->answer_token_ids.data)
		return ipf_error_set(err, IPF_INPUT,
		                     "answer_token_ids: missing, required by --answers recorded (ipf-prep --answer-ids)");
	if (!q->answer_tokens)
		return ipf_error_set(err, IPF_INPUT,
		                     "answer_token_ids: expected at least one for --answers recorded, got none");
	if (q->output_tokens != IPF_ABSENT && q->output_tokens != q->answer_tokens)
		return ipf_error_set(err, IPF_INPUT, "output_tokens: expected %lld, the length of answer_token_ids, got %lld",
		                     (long long)q->answer_tokens, (long long)q->output_tokens);
	return 0;
}
