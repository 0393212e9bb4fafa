#include "figures/steady_windows.h"

#include "absent.h"
#include "safe_text.h"

/* Moves the window of a stage to its steady part. */
static void narrow_window(struct stage_window *w, const struct steady_finding *f)
{
	if (w->begin_ns == IPF_ABSENT || f->to_ns <= w->begin_ns || f->from_ns >= w->end_ns)
		return;
	w->begin_ns = f->from_ns > w->begin_ns ? f->from_ns : w->begin_ns;
	w->end_ns = f->to_ns < w->end_ns ? f->to_ns : w->end_ns;
	w->length_ns = w->end_ns - w->begin_ns;
	w->counted = false;
	w->steady = true;
}

static void narrow_windows(struct run_data *run, const struct steady *s, int first, int end)
{
	for (size_t i = 0; i < steady_stages(s); i++) {
		struct steady_finding f = steady_find(s, i);
		if (!f.found || f.stage < 0 || (size_t)f.stage >= run->schedule.count)
			continue;
		for (int part = first; part < end; part++)
			narrow_window(&run->parts[part].windows[f.stage], &f);
	}
}

/* Tells the verdict. `of`: which of several repeats; NULL. */
static int note(struct run_data *run, const struct steady *s, const char *of, bool narrow)
{
	struct buffer text = {0};
	bool all = steady_summary(s, &run->schedule, &text);
	bool known = text.len > 0, failed = text.failed;
	enum verdict_status status = narrow && (!all || !known) ? VERDICT_DOUBTFUL : VERDICT_OK;
	if (!failed && (known || narrow))
		verdict_note(run->verdict, VERDICT_SAMPLES, status, "%s%s%s%s", of ? shown(of).text : "", of ? ": " : "",
		             known ? text.data : "no steady state: the results have no windows",
		             narrow && !all ? " (the rates are those of the stage)" : "");
	buffer_release(&text);
	return failed ? -1 : 0;
}

static int add_findings(struct run_data *run, const struct steady *s, const char *of)
{
	json_t *list = steady_list_json(s, &run->schedule), *one;
	size_t i;
	int bad = !list;
	json_array_foreach(list, i, one)
	{
		if (of)
			bad |= json_object_set_new(one, "results", json_string(of));
		bad |= json_array_append(run->steady, one);
	}
	json_decref(list);
	return bad;
}

int steady_windows_find(struct run_data *run, bool narrow, struct ipf_error *err)
{
	run->steady = json_array();
	int bad = !run->steady;
	for (int i = 0; !bad && i < run->part_count; i++) {
		const bool together = run->shards || run->part_count == 1;
		struct steady *s = run->parts[i].steady;
		const char *of = together ? NULL : run->parts[i].name;
		if (together && i > 0)
			break;
		for (int k = 1; together && k < run->part_count; k++)
			steady_merge(s, run->parts[k].steady);
		bad = note(run, s, of, narrow) < 0 || add_findings(run, s, of) != 0;
		if (narrow)
			narrow_windows(run, s, i, together ? run->part_count : i + 1);
	}
	return bad ? ipf_error_memory(err) : 0;
}
