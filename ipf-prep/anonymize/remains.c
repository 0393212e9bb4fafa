#include "anonymize/remains.h"

#include "anonymize/length_groups.h"
#include "cli/units.h"
#include "safe_text.h"
#include "text_hash.h"

#include <stdlib.h>

#define FEW 10 /* a group of fewer is called small, if --k does not say otherwise */

static uint64_t hash_of(const int64_t *values, size_t count)
{
	return text_hash_mixed((struct slice){(const char *)values, count * sizeof *values});
}

void remains_note(struct remains *r, const struct anonymous_request *request)
{
	const int64_t model = (int64_t)request->model_key, session = (int64_t)request->session;
	const int64_t lengths[] = {model, length_groups_hour(request), request->input_tokens, request->output_tokens};
	r->requests++;
	r->empty += request->input_tokens == 0;
	r->latencies += request->recorded_ttft_ns != IPF_ABSENT || request->recorded_e2e_ns != IPF_ABSENT;
	group_counts_add(&r->lengths, hash_of(lengths, 4));
	if (request->turn != IPF_ABSENT)
		group_counts_add(&r->sessions, hash_of(&session, 1));
	if (model)
		group_counts_add(&r->models, hash_of(&model, 1));
	r->blocks += (int64_t)request->hash_count;
	for (size_t i = 0; i < request->hash_count; i++)
		distinct_count_add(&r->different_blocks, request->hashes[i] * UINT64_C(0x9e3779b97f4a7c15));
	if (request->at_ns == IPF_ABSENT)
		return;
	r->timed++;
	r->last_ns = request->at_ns > r->last_ns ? request->at_ns : r->last_ns;
	distinct_count_add(&r->arrivals, hash_of(&request->at_ns, 1));
}

bool remains_failed(const struct remains *r)
{
	return r->arrivals.failed || r->different_blocks.failed || r->lengths.failed || r->sessions.failed ||
	       r->models.failed;
}

/* ---- the report ---- */

static void print_salt(const struct remains_facts *f, FILE *to)
{
	if (f->salt_file)
		fprintf(
			to,
			"  salt      of %s: keep it secret; who has it can check guesses of prompts, names and sessions; traces "
			"with the same salt can be linked\n",
			shown(f->salt_file).text);
	else
		fputs("  salt      made for this run and forgotten: no guess can be checked, and no other trace be linked\n",
		      to);
}

static void print_times(const struct remains *r, const struct remains_facts *f, FILE *to)
{
	char a[32], b[32], span[32];
	const struct anonymizer *z = f->anonymizer;
	if (r->timed == 0) {
		fprintf(to, "  times     the input has no arrivals%s\n",
		        z->structure ? "" : ": each timestamp is 0, or a turn has its delay");
		return;
	}
	fprintf(to, "  times     %s arrivals over %s, %s%s of them different: ", format_whole(r->timed, a),
	        format_duration(r->last_ns, span), r->arrivals.depth ? "about " : "",
	        format_whole((int64_t)distinct_count_estimate(&r->arrivals), b));
	if (z->jitter_ns)
		fprintf(to, "moved by up to %s at random%s\n", format_duration(z->jitter_ns, a),
		        r->sessions.values ? "; turns of a session keep their distances" : "");
	else
		fprintf(to, "exact, %s; another log of the same service can be matched to them (--jitter)\n",
		        z->exact_times ? "from where the input counts" : "counted from the first");
}

static void print_latencies(const struct remains *r, FILE *to)
{
	char a[32];
	if (r->latencies)
		fprintf(to, "  latencies as recorded, of %s requests; another log of the same service can be matched to them\n",
		        format_whole(r->latencies, a));
}

static void print_models(const struct remains *r, const struct remains_facts *f, FILE *to)
{
	char a[32], b[32];
	if (r->models.values == 0) {
		fputs("  models    no names\n", to);
		return;
	}
	fprintf(to, "  models    %s, %s; the rarest has %s requests\n", format_whole(group_counts_groups(&r->models), a),
	        f->anonymizer->models == MODELS_KEPT ? "with their names, which may name a customer (--model-names keyed)"
	                                             : "with keyed names",
	        format_whole(group_counts_smallest(&r->models), b));
}

static void print_lengths(const struct remains *r, const struct remains_facts *f, FILE *to)
{
	char a[32], b[32], c[32];
	const int64_t few = f->k ? f->k : FEW;
	const char *about = group_counts_is_exact(&r->lengths) ? "" : "about ";
	fprintf(to,
	        "  lengths   %s%s of %s requests are alone with their model, hour and lengths, %s%s are fewer than %lld "
	        "together%s\n",
	        about, format_whole(group_counts_below(&r->lengths, 2).values, a), format_whole(r->requests, b), about,
	        format_whole(group_counts_below(&r->lengths, few).values, c), (long long)few, f->k ? "" : " (--k 10)");
	if (f->too_few)
		fprintf(to, "            %s requests are left out: their model has fewer than %lld in their hour\n",
		        format_whole(f->too_few, a), (long long)f->k);
}

/* Groups sessions by the number of their turns. */
static void print_sessions(const struct remains *r, FILE *to)
{
	char a[32], b[32], c[32];
	struct group_counts turns = {0};
	if (r->sessions.values == 0)
		return;
	for (size_t i = 0; r->sessions.slots && i < GROUPS_SLOTS; i++)
		if (r->sessions.slots[i].hash)
			group_counts_add(&turns, hash_of(&r->sessions.slots[i].count, 1));
	const char *most = group_counts_is_exact(&r->sessions) ? "" : "of a sample, ";
	fprintf(to,
	        "  sessions  %s with keyed names; %s%s are the only ones with their number of turns; the longest has %s\n",
	        format_whole(group_counts_groups(&r->sessions), a), most,
	        format_whole(group_counts_below(&turns, 2).values, b), format_whole(group_counts_largest(&r->sessions), c));
	if (turns.failed)
		fputs("            (memory ran out while they were counted)\n", to);
	group_counts_release(&turns);
}

static void print_prefixes(const struct remains *r, const struct remains_facts *f, FILE *to)
{
	char a[32], b[32];
	const int64_t different = (int64_t)distinct_count_estimate(&r->different_blocks);
	fprintf(
		to,
		"  prefixes  %s hashes of blocks of %lld tokens, %s%s of them different: which prompts begin alike can be seen, "
		"not how\n",
		format_whole(r->blocks, a), (long long)f->anonymizer->block_tokens, r->different_blocks.depth ? "about " : "",
		format_whole(different, b));
}

/* Kept tags have their writer's words. */
static void print_tags(const struct remains_facts *f, FILE *to)
{
	const struct string_list *kept = f->anonymizer->kept_tags;
	if (!kept || kept->count == 0)
		return;
	fputs("  tags      as they are, read them: ", to);
	for (size_t i = 0; i < kept->count; i++)
		fprintf(to, "%s%s", i ? ", " : "", shown(kept->items[i]).text);
	fputc('\n', to);
}

/* "; tools of 3" */
static void print_left_out(const struct left_out *l, bool structure, FILE *to)
{
	const struct {
		const char *what;
		int64_t count;
	} parts[] = {{"tools", l->tools},
	             {"response formats", l->response_formats},
	             {"tags", l->tags},
	             {"objectives", l->objectives},
	             {"lists of requests to wait for", l->parents},
	             {"times of hanging up", l->hang_ups},
	             {"recorded latencies", l->latencies}};
	char a[32];
	fputs(structure ? "  left out  texts; ids of requests are keyed" : "  left out  texts and ids of requests", to);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (parts[i].count)
			fprintf(to, "; the %s of %s requests", parts[i].what, format_whole(parts[i].count, a));
	fputc('\n', to);
}

/* Reasons for inexact lengths or sharing. */
static void print_limits(const struct remains *r, const struct remains_facts *f, FILE *to)
{
	char a[32], b[32];
	const struct anonymizer *z = f->anonymizer;
	if (z->with_text && !token_counter_is_exact(z->tokens))
		fputs("  tokens    estimated, one for 4 bytes: blocks end where the estimate says (-t counts as the model)\n",
		      to);
	if (z->differing)
		fprintf(
			to,
			"            the recorded lengths of %s prompts are not those of the text: %.1f %% %s in all; blocks are "
			"counted in the text\n",
			format_whole(z->differing, a),
			100.0 * (double)llabs(z->recorded_tokens - z->counted_tokens) /
				(double)(z->counted_tokens ? z->counted_tokens : 1),
			z->recorded_tokens < z->counted_tokens ? "less" : "more");
	if (f->assumed)
		fprintf(to, "            the data has no answer to %s requests, and their lengths are assumed\n",
		        format_whole(f->assumed, a));
	if (r->empty)
		fprintf(to, "            %s prompts have no token: a filled trace lacks them\n", format_whole(r->empty, a));
	if (z->left_out.unchained)
		fprintf(to, "            %s turns do not follow the turn before them: their common part with it is lost\n",
		        format_whole(z->left_out.unchained, b));
}

void remains_print(const struct remains *r, const struct remains_facts *f, FILE *to)
{
	char a[32];
	fprintf(to, "ipf-prep anonymize: %s requests; still in them:\n", format_whole(r->requests, a));
	print_salt(f, to);
	print_times(r, f, to);
	print_latencies(r, to);
	print_lengths(r, f, to);
	print_models(r, f, to);
	print_sessions(r, to);
	print_prefixes(r, f, to);
	print_tags(f, to);
	print_left_out(&f->anonymizer->left_out, f->anonymizer->structure, to);
	print_limits(r, f, to);
}

void remains_release(struct remains *r)
{
	distinct_count_release(&r->arrivals);
	distinct_count_release(&r->different_blocks);
	group_counts_release(&r->lengths);
	group_counts_release(&r->sessions);
	group_counts_release(&r->models);
}
