#include "reqlog.h"

#include "answer_faults.h"
#include "clock.h"
#include "json/jout.h"

static void member_time(struct jout *w, const char *key, int64_t ns)
{
	if (ns)
		jout_member_int(w, key, ns);
}

static void member_text(struct jout *w, const char *key, const char *text)
{
	if (text && *text)
		jout_member_string(w, key, slice_of(text));
}

static void member_faults(struct jout *w, unsigned faults)
{
	if (!faults)
		return;
	jout_key(w, "faults");
	jout_begin_list(w);
	for (int i = 0; answer_fault_names[i]; i++)
		if (faults >> i & 1)
			jout_string0(w, answer_fault_names[i]);
	jout_end_list(w);
}

int reqlog_write(FILE *to, const struct reqlog_line *line)
{
	struct buffer out = {0}, mode = {0};
	struct jout w = {.out = &out};
	modes_names(line->modes, &mode);
	jout_begin_map(&w);
	jout_member_int(&w, "n", line->n);
	member_text(&w, "id", line->id);
	member_text(&w, "path", line->path);
	member_text(&w, "model", line->ask->model.data);
	jout_key(&w, "stream");
	jout_bool(&w, line->stream);
	if (line->status)
		jout_member_int(&w, "status", line->status);
	member_text(&w, "mode", mode.data);
	member_faults(&w, line->faults);
	if (line->cancelled) {
		jout_key(&w, "cancelled");
		jout_bool(&w, true);
	}
	member_time(&w, "arrival_ns", line->arrival_ns);
	jout_member_int(&w, "arrival_wall_ns", clock_wall() - (clock_now() - line->arrival_ns));
	member_time(&w, "head_ns", line->head_ns);
	member_time(&w, "first_token_ns", line->first_ns);
	member_time(&w, "last_token_ns", line->last_ns);
	member_time(&w, "end_ns", line->end_ns);
	member_time(&w, "retry_after_ns", line->retry_after_ns);
	jout_member_int(&w, "prompt_tokens", line->sequence->prompt_tokens);
	jout_member_int(&w, "output_tokens", line->output_tokens);
	if (line->generated_tokens)
		jout_member_int(&w, "generated_tokens", line->generated_tokens);
	jout_member_int(&w, "cached_tokens", line->sequence->cached_tokens);
	jout_member_int(&w, "preemptions", line->sequence->preemptions);
	jout_member_int(&w, "max_tokens", line->ask->max_tokens);
	if (line->ask->priority)
		jout_member_int(&w, "priority", line->ask->priority);
	member_text(&w, "finish", line->finish);
	member_text(&w, "prompt_sha256", line->ask->prompt_sha256);
	member_text(&w, "body_sha256", line->ask->body_sha256);
	jout_member_string(&w, "text", line->text);
	jout_end_map(&w);
	buffer_byte(&out, '\n');
	/* A whole line a write: a test reading along never sees half of one. */
	bool good = !out.failed && fwrite(out.data, 1, out.len, to) == out.len && fflush(to) == 0;
	buffer_release(&out);
	buffer_release(&mode);
	return good ? 0 : -1;
}
