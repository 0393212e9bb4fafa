#include "measure/token_reads.h"

#include "absent.h"

/* The reads after the first, which brought the prompt's own token. */
struct token_reads {
	int64_t count;
	int64_t by_tokens[RESULT_READ_SIZES]; /* those of 2, 3, … tokens; the last one: of so many or more */
	int64_t gap_one_ns, gap_several_ns;   /* summed */
};

static void add(struct token_reads *t, int64_t tokens, int64_t gap_ns)
{
	t->count++;
	if (tokens < 2) {
		t->gap_one_ns += gap_ns;
		return;
	}
	t->gap_several_ns += gap_ns;
	t->by_tokens[tokens - 2 < RESULT_READ_SIZES ? tokens - 2 : RESULT_READ_SIZES - 1]++;
}

static struct token_reads count(const struct response *r, const int64_t *tokens)
{
	const struct response_event *e = r->events;
	struct token_reads t = {0};
	for (size_t i = 0, next; i < r->events_count; i = next) {
		int64_t brought = 0;
		for (next = i; next < r->events_count && e[next].t_ns == e[i].t_ns; next++)
			brought += tokens ? tokens[next] : 1;
		if (i)
			add(&t, brought, e[i].t_ns - e[i - 1].t_ns);
	}
	return t;
}

void token_reads_measure(const struct response *r, const int64_t *tokens, struct result *row)
{
	struct token_reads t = count(r, tokens);
	bool several = false;
	for (int i = 0; i < RESULT_READ_SIZES; i++)
		several |= t.by_tokens[i] != 0;
	bool uncounted = !tokens && row->output_tokens != IPF_ABSENT &&
	                 row->output_tokens - (row->hidden_tokens == IPF_ABSENT ? 0 : row->hidden_tokens) >
	                     (int64_t)r->events_count;
	if (!several && !uncounted)
		return;
	row->reads = t.count;
	if (uncounted)
		return;
	int64_t *const members[RESULT_READ_SIZES] = {&row->reads_2, &row->reads_3, &row->reads_4, &row->reads_5,
	                                             &row->reads_6, &row->reads_7, &row->reads_8};
	for (int i = 0; i < RESULT_READ_SIZES; i++)
		if (t.by_tokens[i])
			*members[i] = t.by_tokens[i];
	row->gap_one_ns = t.gap_one_ns;
	row->gap_several_ns = t.gap_several_ns;
}
