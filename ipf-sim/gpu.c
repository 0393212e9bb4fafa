#include "gpu.h"

#include "clock.h"
#include "cli/units.h"

#include <stdlib.h>
#include <string.h>

#define MOST_WATTS 100000

/* Time within steps, and within their first parts. */
struct load {
	int64_t busy_ns, prefill_ns;
};

struct meter {
	struct batching_step step; /* the last one */
	int64_t at_ns;             /* accounted for until here */
	struct load total;
	int64_t window_ns;        /* when the window that is not over yet began */
	struct load window_begin; /* the total then */
	struct load last;         /* the last whole window's */
};

struct gpus {
	struct gpu_options options;
	int64_t replicas, begin_ns;
	struct meter meters[];
};

int gpu_parse_power(const char *text, void *gpu, struct ipf_error *err)
{
	struct gpu_options *options = gpu;
	char idle[32];
	const char *colon = strchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;
	struct ipf_error why = {0};
	if (colon && len < sizeof idle) {
		memcpy(idle, text, len);
		idle[len] = '\0';
		if (parse_number(idle, &options->idle_w, &why) == 0 && parse_number(colon + 1, &options->busy_w, &why) == 0 &&
		    options->idle_w >= 0 && options->busy_w >= options->idle_w && options->busy_w <= MOST_WATTS)
			return 0;
	}
	return ipf_error_set(err, IPF_USAGE, "expected IDLE:BUSY in watts such as 80:600, got \"%s\"", text);
}

struct gpus *gpus_new(const struct gpu_options *options, int64_t replicas, int64_t begin_ns)
{
	struct gpus *g = calloc(1, sizeof *g + (size_t)replicas * sizeof(struct meter));
	if (!g)
		return NULL;
	g->options = *options;
	g->replicas = replicas;
	g->begin_ns = begin_ns;
	for (int64_t i = 0; i < replicas; i++)
		g->meters[i].at_ns = g->meters[i].window_ns = begin_ns;
	return g;
}

void gpus_free(struct gpus *g)
{
	free(g);
}

int64_t gpus_replicas(const struct gpus *g)
{
	return g->replicas;
}

const struct gpu_options *gpus_options(const struct gpus *g)
{
	return &g->options;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* How much of from..to is within begin..end. */
static int64_t overlap(int64_t from, int64_t to, int64_t begin, int64_t end)
{
	int64_t first = from > begin ? from : begin, last = earlier(to, end);
	return last > first ? last - first : 0;
}

static void advance(struct meter *m, int64_t to_ns)
{
	while (m->at_ns < to_ns) {
		int64_t next_ns = earlier(to_ns, m->window_ns + GPU_WINDOW_NS);
		m->total.busy_ns += overlap(m->at_ns, next_ns, m->step.start_ns, m->step.end_ns);
		m->total.prefill_ns += overlap(m->at_ns, next_ns, m->step.start_ns, m->step.start_ns + m->step.prefill_ns);
		m->at_ns = next_ns;
		if (next_ns < m->window_ns + GPU_WINDOW_NS)
			return;
		m->last = (struct load){m->total.busy_ns - m->window_begin.busy_ns,
		                        m->total.prefill_ns - m->window_begin.prefill_ns};
		m->window_begin = m->total;
		m->window_ns = next_ns;
	}
}

void gpus_step(struct gpus *g, const struct batching_step *step, int64_t replicas)
{
	for (int64_t i = 0; i < g->replicas && i < replicas; i++) {
		advance(&g->meters[i], step->start_ns);
		g->meters[i].step = *step;
	}
}

static double joules(double watts, int64_t ns)
{
	return watts * ((double)ns / (double)NS_PER_S);
}

struct gpu_reading gpus_read(struct gpus *g, int64_t replica, int64_t now_ns)
{
	struct meter *m = &g->meters[replica];
	double more_w = g->options.busy_w - g->options.idle_w;
	advance(m, now_ns);
	struct gpu_reading r = {.busy = (double)m->last.busy_ns / (double)GPU_WINDOW_NS,
	                        .prefill = (double)m->last.prefill_ns / (double)GPU_WINDOW_NS,
	                        .computing = now_ns >= m->step.start_ns && now_ns < m->step.end_ns};
	r.energy_j = joules(g->options.idle_w, now_ns - g->begin_ns) + joules(more_w, m->total.busy_ns);
	r.power_w = g->options.idle_w + more_w * r.busy;
	return r;
}
