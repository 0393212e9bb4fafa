#include "exports/request_lists.h"

#include "absent.h"
#include "array.h"

#include <math.h>
#include <stdlib.h>

#define SECONDS_MOST 10000000 /* 115 days */

bool request_chunks_read(struct request_chunks *c, const struct row *row, const struct result *result)
{
	c->count = 0;
	if (!event_times_parse(&c->content, result->event_ns))
		return false;
	seen_request_read(&c->seen, row, result);
	bool all = row->columns->rules && c->seen.complete;
	if (all)
		seen_request_chunks(&c->chunks, &c->seen, row->columns->rules);
	size_t count = all ? c->chunks.count : c->content.count;
	if (!array_room(c->ns, c->cap, count))
		return false;
	for (; c->count < count; c->count++)
		c->ns[c->count] = all ? (double)row->start_ns + c->chunks.list[c->count].ns : c->content.ns[c->count];
	return true;
}

void request_chunks_release(struct request_chunks *c)
{
	event_times_release(&c->content);
	seen_request_release(&c->seen);
	seen_chunks_release(&c->chunks);
	free(c->ns);
	*c = (struct request_chunks){0};
}

struct slice request_error_kind(const struct row *row, const struct result *result)
{
	return !row->ok && result->ok ? slice_of("\"cut\"") : result->error_kind;
}

struct slice request_error_text(const struct row *row, const struct result *result)
{
	return !row->ok && result->ok    ? slice_of("\"no chunk that counts as a token\"")
	       : result->error_text.data ? result->error_text
	                                 : result->error_kind;
}

/* Counts the events of a request in seconds from the first start of a success on. */
static void count_events(double *seconds, int64_t count, const struct load *load, const struct row *row,
                         const struct request_chunks *times)
{
	double begin_ns = (double)(load->ok_begin_ns - load->run->parts[row->part].shift_ns);
	for (size_t i = 0; i < times->count; i++) {
		double at = floor((times->ns[i] - begin_ns) / 1e9);
		if (at >= 0 && at < (double)count)
			seconds[(int64_t)at]++;
	}
}

struct request_lists request_lists_of(const struct load *load)
{
	struct request_lists lists = {.events = true, .tokens_per_s_peak = NAN};
	struct request_chunks times = {0};
	struct result result;
	int64_t count = load->ok_begin_ns == IPF_ABSENT ? 0 : (load->end_ns - load->ok_begin_ns) / 1000000000 + 2;
	double *seconds = count < SECONDS_MOST ? calloc((size_t)count + 1, sizeof *seconds) : NULL;
	for_load(load, row)
	{
		if (!run_data_line(load->run, row, &result))
			break;
		lists.texts |= result.text.data != NULL;
		if (!row->ok)
			continue;
		if (request_chunks_read(&times, row, &result)) {
			if (seconds)
				count_events(seconds, count, load, row, &times);
		} else if (row_get(row, METRIC_ITL_MEAN) != IPF_ABSENT) {
			lists.events = false;
		}
	}
	for (int64_t i = 0; seconds && lists.events && load->ok && i < count; i++)
		lists.tokens_per_s_peak = fmax(lists.tokens_per_s_peak, seconds[i]);
	request_chunks_release(&times);
	free(seconds);
	return lists;
}

void request_list_times(struct jout *w, const struct load *load, row_value ns)
{
	jout_begin_list(w);
	for_load(load, row)
	{
		double value = row->ok ? ns(row) / 1e9 : 0;
		jout_double(w, isnan(value) ? 0 : value);
	}
	jout_end_list(w);
}

void request_list_counts(struct jout *w, const struct load *load, row_value tokens)
{
	jout_begin_list(w);
	for_load(load, row)
	{
		double value = row->ok ? tokens(row) : 0;
		jout_int(w, isnan(value) ? 0 : (int64_t)value);
	}
	jout_end_list(w);
}

void request_list_inputs(struct jout *w, const struct load *load)
{
	jout_begin_list(w);
	for_load(load, row)
	{
		int64_t tokens = row_get(row, ROW_INPUT_TOKENS) != IPF_ABSENT ? row_get(row, ROW_INPUT_TOKENS)
		                                                              : row_get(row, ROW_ASKED_INPUT);
		jout_int(w, tokens == IPF_ABSENT ? 0 : tokens);
	}
	jout_end_list(w);
}

void request_list_gaps(struct jout *w, const struct load *load)
{
	struct request_chunks times = {0};
	struct result result;
	jout_begin_list(w);
	for_load(load, row)
	{
		jout_begin_list(w);
		if (row->ok && run_data_line(load->run, row, &result) && request_chunks_read(&times, row, &result))
			for (size_t i = 1; i < times.count; i++)
				jout_double(w, (times.ns[i] - times.ns[i - 1]) / 1e9);
		jout_end_list(w);
	}
	jout_end_list(w);
	request_chunks_release(&times);
}

void request_list_texts(struct jout *w, const struct load *load)
{
	struct result result;
	jout_begin_list(w);
	for_load(load, row)
	{
		if (row->ok && run_data_line(load->run, row, &result) && result.text.data)
			jout_value(w, result.text);
		else
			jout_string0(w, "");
	}
	jout_end_list(w);
}

void request_list_errors(struct jout *w, const struct load *load)
{
	struct result result;
	jout_begin_list(w);
	for_load(load, row)
	{
		if (row->ok || !run_data_line(load->run, row, &result))
			jout_string0(w, "");
		else
			jout_value(w, request_error_text(row, &result));
	}
	jout_end_list(w);
}
