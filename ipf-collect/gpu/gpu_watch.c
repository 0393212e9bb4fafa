#include "gpu/gpu_watch.h"

#include "clock.h"
#include "live/sampler.h"

#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/utsname.h>
#include <unistd.h>

/* A source without devices is asked again after this time: an exporter may start later. */
#define RETRY_NS (5 * NS_PER_S)
/* The last sample may take this long; so may the sample before it take to notice that it is cancelled, and a third is
 * for a busy machine. Then the thread is taken to hang. */
#define LAST_NS (1 * NS_PER_S)

struct gpu_watch {
	struct gpu_watch_plan plan;
	struct sampler *sampler;
	int cancel; /* an eventfd */
	_Atomic(const struct run_clock *) clock;
	atomic_bool stopping;
	char host[128];

	/* the sampler's thread only */
	void *state;
	int64_t tick_ns;  /* the sampler's period */
	int64_t asked_ns; /* when the source was asked last */
	int64_t retry_ns; /* not before this time, as it had no devices */
	bool last_failed;
	int64_t line_window; /* the last lines': floor(time / every) */
	struct gpu_readings readings;
	struct buffer line;

	/* written under the lock, which is never held while a source is asked */
	pthread_mutex_t lock;
	struct gpu_watched seen;
	bool abandoned; /* the thread was left behind: its further readings are not used */
};

/* ---- devices ---- */

static struct watched_device *find_device(struct gpu_watched *seen, const struct gpu_sample *s)
{
	for (size_t i = 0; i < seen->count; i++) {
		struct gpu_sample *own = &seen->devices[i].last;
		if (!strcmp(own->device, s->device) && !strcmp(own->host, s->host) && (*s->device || own->index == s->index))
			return &seen->devices[i];
	}
	if (seen->count == GPU_DEVICES_MOST)
		return NULL;
	if (!seen->devices && !(seen->devices = calloc(GPU_DEVICES_MOST, sizeof *seen->devices)))
		return NULL;
	struct watched_device *d = &seen->devices[seen->count];
	if (!(d->energy = energy_series_new()))
		return NULL;
	seen->count++;
	return d;
}

static void add_to_mean(struct gpu_mean *mean, double value)
{
	if (isfinite(value))
		mean->value += (value - mean->value) / (double)++mean->count;
}

static void add_reading(struct gpu_watch *w, const struct gpu_sample *s, int64_t now_ns)
{
	struct watched_device *d = find_device(&w->seen, s);
	if (!d || energy_series_add(d->energy, now_ns, s->power_w, s->energy_j) < 0)
		return;
	d->last = *s;
	d->readings++;
	add_to_mean(&d->utilization, s->utilization);
	add_to_mean(&d->memory_bandwidth, s->memory_bandwidth);
	add_to_mean(&d->power_w, s->power_w);
}

static double mean_of(const struct gpu_mean *mean)
{
	return mean->count ? mean->value : NAN;
}

static void put_line(struct gpu_watch *w, struct watched_device *d, int64_t t_ns)
{
	struct gpu_sample s = d->last;
	s.t_ns = t_ns;
	s.utilization = mean_of(&d->utilization);
	s.memory_bandwidth = mean_of(&d->memory_bandwidth);
	s.power_w = mean_of(&d->power_w);
	buffer_clear(&w->line);
	gpu_sample_write(&s, &w->line);
	if (w->line.failed || !line_queue_put(w->plan.queue, buffer_all(&w->line)))
		return; /* the next line has the means of both */
	d->utilization = d->memory_bandwidth = d->power_w = (struct gpu_mean){0};
}

/* ---- asking ---- */

static void note_failure(struct gpu_watch *w, const struct ipf_error *err)
{
	w->seen.failed++;
	if (err->kind != IPF_OK)
		gpu_text_set(w->seen.last_error, sizeof w->seen.last_error, slice_of(err->text));
}

/* Reads with the first candidate with devices. Only a source without any so far is opened again. */
static int ask(struct gpu_watch *w, const struct gpu_place *place, struct ipf_error *err)
{
	struct ipf_error all = {0};
	if (w->seen.source)
		return w->seen.source->read(w->state, place, &w->readings, err);
	for (size_t i = 0; i < GPU_CANDIDATES_MOST && w->plan.candidates[i]; i++) {
		const struct gpu_source *source = w->plan.candidates[i];
		struct ipf_error own = {0};
		void *state = NULL;
		if ((!source->open || source->open(&state, place, &own) == 0) &&
		    source->read(state, place, &w->readings, &own) == 0) {
			pthread_mutex_lock(&w->lock);
			w->state = state;
			w->seen.source = source;
			pthread_mutex_unlock(&w->lock);
			*err = own;
			return 0;
		}
		if (state && source->close)
			source->close(state);
		w->readings.count = 0;
		if (all.kind != IPF_OK)
			ipf_error_set(err, own.kind, "%s; %s", all.text, own.text);
		all = own;
	}
	ipf_error_set(err, all.kind, "%s", all.text);
	w->retry_ns = clock_now() + RETRY_NS;
	return -1;
}

/* Lines are due in each new window of `every`; of the last sample always. */
static bool lines_are_due(struct gpu_watch *w, const struct run_clock *clock, int64_t now_ns, bool last)
{
	int64_t t_ns = run_clock_at(clock, now_ns), every_ns = w->plan.every_ns;
	/* half a period of asking early, so a tick coming a little early counts for its window */
	int64_t shifted = t_ns + (w->seen.source->often_ns ? w->seen.source->often_ns : every_ns) / 2;
	int64_t window = shifted >= 0 ? shifted / every_ns : -((-shifted + every_ns - 1) / every_ns);
	bool due = last || window != w->line_window;
	w->line_window = window;
	return due;
}

static void take_readings(struct gpu_watch *w, int64_t now_ns, bool last)
{
	const struct run_clock *clock = atomic_load(&w->clock);
	bool due = clock && lines_are_due(w, clock, now_ns, last);
	for (size_t i = 0; i < w->readings.count; i++) {
		struct gpu_sample *s = &w->readings.items[i];
		gpu_text_set(s->source, sizeof s->source, slice_of(w->seen.source->name));
		if (!*s->host && !w->seen.source->takes_url)
			gpu_text_set(s->host, sizeof s->host, slice_of(w->host));
		add_reading(w, s, now_ns);
		struct watched_device *d = due ? find_device(&w->seen, s) : NULL;
		if (d && d->readings)
			put_line(w, d, run_clock_at(clock, now_ns));
	}
}

/* Is it too early to ask? "auto" ticks as fast as its fastest candidate; a source without devices gets some time. */
static bool too_early(const struct gpu_watch *w, int64_t now_ns)
{
	if (!w->seen.source)
		return now_ns < w->retry_ns;
	return !w->seen.source->often_ns && now_ns < w->asked_ns + w->plan.every_ns - w->tick_ns / 2;
}

/* A reading belongs to the middle of the question. */
static void take_sample(struct gpu_watch *w, bool last)
{
	struct gpu_place place = {.url = w->plan.url, .cancel = w->cancel, .patience_ns = last ? LAST_NS : GPU_PATIENCE_NS};
	struct ipf_error err = {0};
	w->readings.count = 0;
	w->asked_ns = clock_now();
	int status = ask(w, &place, &err);
	int64_t middle_ns = w->asked_ns + (clock_now() - w->asked_ns) / 2;
	bool cut_short = !last && status < 0 && atomic_load(&w->stopping);
	pthread_mutex_lock(&w->lock);
	if (!w->abandoned && !cut_short) {
		w->seen.asked++;
		w->last_failed = status < 0;
		if (status < 0 || err.kind != IPF_OK)
			note_failure(w, &err);
		if (status == 0)
			take_readings(w, middle_ns, last);
	}
	pthread_mutex_unlock(&w->lock);
}

static void sample(void *data, enum sampler_tick tick)
{
	struct gpu_watch *w = data;
	uint64_t set;
	if (tick != SAMPLER_LAST) {
		if (!too_early(w, clock_now()))
			take_sample(w, false);
		return;
	}
	/* the wait for the sample before was cancelled; the last one may take its time */
	if (!w->last_failed && read(w->cancel, &set, sizeof set) == sizeof set)
		take_sample(w, true);
	if (w->seen.source && w->seen.source->close)
		w->seen.source->close(w->state);
}

/* ---- the watch ---- */

struct gpu_watch *gpu_watch_new(const struct gpu_watch_plan *plan)
{
	struct utsname own;
	struct gpu_watch *w = calloc(1, sizeof *w);
	if (!w)
		return NULL;
	w->plan = *plan;
	w->line_window = INT64_MIN;
	w->cancel = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->cancel < 0 || pthread_mutex_init(&w->lock, NULL) != 0) {
		if (w->cancel >= 0)
			close(w->cancel);
		free(w);
		return NULL;
	}
	if (uname(&own) == 0)
		gpu_text_set(w->host, sizeof w->host, slice_of(own.nodename));
	return w;
}

int gpu_watch_start(struct gpu_watch *w, struct ipf_error *err)
{
	struct sampler_source source = {.data = w, .sample = sample};
	w->tick_ns = w->plan.every_ns;
	for (size_t i = 0; i < GPU_CANDIDATES_MOST && w->plan.candidates[i]; i++)
		if (w->plan.candidates[i]->often_ns && w->plan.candidates[i]->often_ns < w->tick_ns)
			w->tick_ns = w->plan.candidates[i]->often_ns;
	return sampler_start(&w->sampler, &source, w->tick_ns, err);
}

void gpu_watch_align(struct gpu_watch *w, const struct run_clock *clock)
{
	atomic_store(&w->clock, clock);
	sampler_align(w->sampler, run_clock_zero(clock));
}

void gpu_watch_ask_to_stop(struct gpu_watch *w)
{
	const uint64_t one = 1;
	if (!w->sampler || atomic_exchange(&w->stopping, true))
		return;
	if (write(w->cancel, &one, sizeof one) < 0) /* cannot fail: it was 0 */
		return;
	sampler_ask_to_stop(w->sampler);
}

void gpu_watch_stop(struct gpu_watch *w)
{
	if (!w->sampler)
		return;
	gpu_watch_ask_to_stop(w);
	if (!sampler_stop_within(w->sampler, 3 * LAST_NS)) {
		pthread_mutex_lock(&w->lock);
		w->abandoned = w->seen.hung = true;
		pthread_mutex_unlock(&w->lock);
	}
	w->sampler = NULL;
}

const struct gpu_watch_plan *gpu_watch_plan(const struct gpu_watch *w)
{
	return &w->plan;
}

const struct gpu_watched *gpu_watch_seen(const struct gpu_watch *w)
{
	return &w->seen;
}

void gpu_watch_free(struct gpu_watch *w)
{
	if (!w)
		return;
	gpu_watch_stop(w);
	for (size_t i = 0; i < w->seen.count; i++)
		energy_series_free(w->seen.devices[i].energy);
	free(w->seen.devices);
	w->seen.devices = NULL;
	w->seen.count = 0;
	if (w->seen.hung) /* its thread uses the rest, whenever it comes back */
		return;
	buffer_release(&w->line);
	close(w->cancel);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
