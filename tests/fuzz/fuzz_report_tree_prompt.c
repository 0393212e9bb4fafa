/* Lines of a trace as prompts in a tree of blocks: each is refused with a reason or taken in, the same prompt is always
 * the same node, and a tree whose blocks are joined is still correct. */
#include "absent.h"
#include "results/tree_prompt.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The prompt of a request and its answer; false: refused. */
static bool take_in(const struct trace_request *request, struct prompt_scratch *scratch, struct tree_prompt *prompt)
{
	struct ipf_error err = {0};
	tree_prompt_begin(prompt, request->model);
	int bad = prompt_chain_add(&prompt->chain, request, scratch, &err);
	if (bad == 0 && request->answer.data)
		bad = prompt_chain_answer(&prompt->chain, request->answer, scratch, &err);
	if (bad == 0 && request->output_tokens != IPF_ABSENT && request->output_tokens <= 1000)
		prompt_chain_generated(&prompt->chain, request->turn, request->output_tokens);
	if (bad < 0 ? err.kind == IPF_OK || !err.text[0] : err.kind != IPF_OK)
		abort();
	return bad == 0;
}

static void check_tree(const struct prefix_tree *tree)
{
	for (uint32_t i = 1; i < tree->count; i++)
		if (tree->nodes[i].parent >= i || tree->nodes[i].tokens <= tree->nodes[tree->nodes[i].parent].tokens)
			abort();
}

static void take_line(struct prefix_tree *tree, const struct trace_request *request, struct prompt_scratch *scratch)
{
	struct tree_prompt once = {.tree = tree}, again = {.tree = tree};
	if (!take_in(request, scratch, &once))
		return;
	const uint32_t count = tree->count;
	if (!take_in(request, scratch, &again) || again.node != once.node || again.chain.hash != once.chain.hash ||
	    again.chain.tokens != once.chain.tokens || tree->count != count)
		abort();
	if (once.node != PREFIX_ROOT && (once.node >= tree->count || tree->nodes[once.node].tokens > once.chain.tokens))
		abort();
}

static void halve(struct prefix_tree *tree)
{
	uint32_t *map = calloc(tree->count + 1, sizeof *map);
	const uint32_t before = tree->count;
	if (!map)
		return;
	prefix_tree_halve(tree, map);
	for (uint32_t i = 0; i < before; i++)
		if (map[i] >= tree->count && map[i] != PREFIX_ROOT)
			abort();
	free(map);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct prefix_tree tree = {0};
	struct prompt_scratch scratch = {0};
	struct jdoc doc = {0};
	const char *at = (const char *)data, *end = at + size;
	for (int line = 0; at < end; line++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		struct trace_request request;
		struct ipf_error err = {0};
		if (!stop)
			stop = end;
		if (trace_request_parse(&doc, (struct slice){at, (size_t)(stop - at)}, line % 5 == 4, &request, &err) == 0)
			take_line(&tree, &request, &scratch);
		check_tree(&tree);
		if (line % 3 == 2)
			halve(&tree);
		check_tree(&tree);
		at = stop + 1;
	}
	prompt_scratch_release(&scratch);
	jdoc_release(&doc);
	prefix_tree_release(&tree);
	return 0;
}
