/* servegen: ServeGen, models of clients from which requests are drawn; not a log.
 *
 * Origin: github.com/alibaba/ServeGen, data/CATEGORY/MODEL. A client is two files of the same NAME:
 *
 *     NAME-trace.csv     a line for each window of time, without a header: start,rate,cv,family,shape,scale; start and
 *                        scale in seconds, rate in requests per second, family Gamma, Weibull or empty (no traffic)
 *     NAME-dataset.json  an object from the start of a window, in seconds, to distributions of lengths in tokens:
 *                        {"0": {"input_tokens": "{224: 0.0003, 225: 0.0008}", "output_tokens": "…", …}, …}
 *
 * Requests are drawn client by client, as ServeGen's own generator does. A window gets ceil(rate * length) requests,
 * whose gaps follow the family and are stretched to fill the window. One uniform number a request picks all lengths, so
 * long prompts go with long answers; each image, audio and video gets a length of its own, which counts as tokens of
 * the prompt. Prompts are synthetic. The numbers of media tokens and items become tags, or, for reasoning models, the
 * number of reasoning tokens. `cv` is ignored: shape implies it.
 */
#include "absent.h"
#include "array.h"
#include "clock.h"
#include "sources/sniff.h"
#include "sources/record_fields.h"
#include "stats/exact_math.h"
#include "stats/rng.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum servegen_kind { INPUT, OUTPUT, TEXT, IMAGE, AUDIO, VIDEO, IMAGES, AUDIOS, VIDEOS, REASON, KINDS };

static const char *const kind_names[KINDS] = {
	"input_tokens", "output_tokens", "text_tokens", "image_tokens", "audio_tokens",
	"video_tokens", "image_count",   "audio_count", "video_count",  "reason_ratio",
};

struct rate_window {
	double start, rate, cv, shape, scale; /* start and scale in seconds, rate a second */
	bool weibull;
};

/* A distribution: values in ascending order, and for each the sum of the weights up to it. */
struct values {
	double *value, *upto;
	size_t count, cap;
};

/* The distributions from a time on. */
struct lengths {
	double start; /* seconds */
	struct values kinds[KINDS];
};

struct client {
	char *name; /* path of its files, without their endings */
	struct rate_window *windows;
	size_t window_count, window_cap;
	struct lengths *lengths;
	size_t length_count;
};

struct state {
	struct client *clients;
	size_t count, cap;
	uint64_t seed;
	int64_t from_ns, to_ns;
};

static int open_state(void *opened, const struct source_settings *settings, struct ipf_error *err)
{
	struct state *s = opened;
	(void)err;
	s->seed = settings->seed;
	s->from_ns = settings->from_ns;
	s->to_ns = settings->to_ns;
	return 0;
}

static void free_lengths(struct client *c)
{
	for (size_t i = 0; i < c->length_count; i++)
		for (size_t k = 0; k < KINDS; k++) {
			free(c->lengths[i].kinds[k].value);
			free(c->lengths[i].kinds[k].upto);
		}
	free(c->lengths);
}

static void close_state(void *opened)
{
	struct state *s = opened;
	for (size_t i = 0; i < s->count; i++) {
		free(s->clients[i].name);
		free(s->clients[i].windows);
		free_lengths(&s->clients[i]);
	}
	free(s->clients);
}

/* The client a file belongs to; a new one if it is the client's first file. NULL when out of memory. */
static struct client *find_client(struct state *s, const char *path)
{
	static const char *const endings[] = {"-trace.csv", "-dataset.json"};
	size_t len = strlen(path);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		const char *at = strstr(path, endings[i]);
		if (at)
			len = (size_t)(at - path);
	}
	for (size_t i = 0; i < s->count; i++)
		if (strlen(s->clients[i].name) == len && memcmp(s->clients[i].name, path, len) == 0)
			return &s->clients[i];
	if (!array_room(s->clients, s->cap, s->count + 1))
		return NULL;
	char *name = strndup(path, len);
	if (!name)
		return NULL;
	s->clients[s->count] = (struct client){.name = name};
	return &s->clients[s->count++];
}

/* ---- windows ---- */

static int read_window(struct client *c, const char *line, int64_t number, struct ipf_error *err)
{
	struct rate_window w = {0};
	char family[16] = "";
	double *const numbers[] = {&w.start, &w.rate, &w.cv, NULL, &w.shape, &w.scale};
	const char *at = line;
	for (size_t i = 0; i < 6; i++) {
		size_t len = strcspn(at, ",\r\n");
		char *end = NULL;
		if (!numbers[i])
			snprintf(family, sizeof family, "%.*s", (int)(len < 15 ? len : 15), at);
		else
			*numbers[i] = strtod(at, &end);
		if ((numbers[i] && (end != at + len || len == 0 || !isfinite(*numbers[i]) || *numbers[i] < 0)) ||
		    (i < 5 && at[len] != ','))
			return ipf_error_set(err, IPF_INPUT, "line %lld: expected start,rate,cv,family,shape,scale, got \"%.*s\"",
			                     (long long)number, (int)strcspn(line, "\r\n"), line);
		at += len + (i < 5);
	}
	w.weibull = strcmp(family, "Weibull") == 0;
	if (w.rate > 0 && !w.weibull && strcmp(family, "Gamma") != 0)
		return ipf_error_set(err, IPF_INPUT, "line %lld: family: expected Gamma or Weibull, got \"%s\"",
		                     (long long)number, family);
	if (w.rate > 1e6 || (w.rate > 0 && (w.shape <= 0 || w.scale <= 0)))
		return ipf_error_set(err, IPF_INPUT, "line %lld: expected a rate up to 1000000 and a shape and scale above 0",
		                     (long long)number);
	if (c->window_count && w.start <= c->windows[c->window_count - 1].start)
		return ipf_error_set(err, IPF_INPUT, "line %lld: expected a start after the previous line's",
		                     (long long)number);
	if (!array_room(c->windows, c->window_cap, c->window_count + 1))
		return ipf_error_memory(err);
	c->windows[c->window_count++] = w;
	return 0;
}

static int read_windows(struct client *c, struct slice text, struct ipf_error *err)
{
	char *copy = slice_dup(text);
	int status = copy ? 0 : ipf_error_memory(err);
	int64_t number = 1;
	for (char *line = copy; line && *line && status == 0; number++) {
		char *end = strchr(line, '\n');
		if (*line != '\r' && *line != '\n')
			status = read_window(c, line, number, err);
		line = end ? end + 1 : NULL;
	}
	free(copy);
	return status;
}

/* ---- lengths ---- */

static bool add_value(struct values *v, double value, double weight)
{
	if (v->count == v->cap) {
		size_t cap = v->cap ? v->cap * 2 : 64;
		double *values = reallocarray(v->value, cap, sizeof *values);
		if (values)
			v->value = values;
		double *upto = reallocarray(v->upto, cap, sizeof *upto);
		if (upto)
			v->upto = upto;
		if (!values || !upto)
			return false;
		v->cap = cap;
	}
	v->value[v->count] = value;
	v->upto[v->count] = weight + (v->count ? v->upto[v->count - 1] : 0);
	v->count++;
	return true;
}

/* Parses a distribution such as "{224: 0.0003, 225: 0.0008}": bare keys in ascending order. */
static int read_values(struct values *v, const char *text, const char *name, struct ipf_error *err)
{
	const char *at = strchr(text, '{');
	bool good = at != NULL;
	for (at += good; good && *at && *at != '}';) {
		char *end, *colon;
		double value = strtod(at, &colon), weight = *colon == ':' ? strtod(colon + 1, &end) : NAN;
		good = colon != at && isfinite(value) && value >= 0 && value < 1e9 && isfinite(weight) && weight >= 0 &&
		       weight <= 1e9 && (v->count == 0 || value > v->value[v->count - 1]);
		if (!good)
			break;
		if (!add_value(v, value, weight))
			return ipf_error_memory(err);
		for (at = end; *at == ',' || isspace((unsigned char)*at); at++)
			;
	}
	return good ? 0
	            : ipf_error_set(err, IPF_INPUT, "%s: expected {NUMBER: WEIGHT, …} in ascending order, got \"%.40s\"",
	                            name, at ? at : text);
}

static int read_lengths(struct client *c, struct draft *d, const struct jdoc *j, struct ipf_error *err)
{
	if (need_object(j, JDOC_ROOT, "dataset", err) < 0)
		return -1;
	free_lengths(c);
	c->length_count = 0;
	c->lengths = calloc(jdoc_count(j, JDOC_ROOT) + 1, sizeof *c->lengths);
	if (!c->lengths)
		return ipf_error_memory(err);
	for (struct jdoc_each e = jdoc_each(j, JDOC_ROOT); jdoc_step(&e);) {
		struct lengths *l = &c->lengths[c->length_count++];
		struct slice start = draft_text(d, j, e.key);
		char number[41];
		snprintf(number, sizeof number, "%.*s", (int)start.len, start.data ? start.data : "");
		l->start = strtod(number, NULL);
		for (size_t k = 0; k < KINDS; k++) {
			struct slice text;
			int got = field_text(d, j, e.value, kind_names[k], &text, err);
			if (got < 0)
				return -1;
			char *copy = got ? slice_dup(text) : NULL;
			if (got && !copy)
				return ipf_error_memory(err);
			int status = got ? read_values(&l->kinds[k], copy, kind_names[k], err) : 0;
			free(copy);
			if (status < 0)
				return -1;
		}
	}
	return 0;
}

static int read_file(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct client *c = find_client(opened, record->file);
	struct slice text = record->text;
	size_t blank = 0;
	if (!c) {
		sink->draft.failed = true;
		return 0;
	}
	while (blank < text.len && isspace((unsigned char)text.data[blank]))
		blank++;
	if (blank == text.len || text.data[blank] != '{')
		return read_windows(c, text, err);
	struct jdoc j = {0};
	int status = jdoc_parse(&j, text.data, text.len, err);
	if (status == 0)
		status = read_lengths(c, &sink->draft, &j, err);
	jdoc_release(&j);
	return status;
}

/* ---- drawing ---- */

/* The value at the fraction u of the weights; 0 if there are none. */
static double pick(const struct values *v, double u)
{
	size_t low = 0, high = v->count;
	if (high == 0)
		return 0;
	for (u *= v->upto[high - 1]; low < high;) {
		size_t middle = (low + high) / 2;
		if (v->upto[middle] <= u)
			low = middle + 1;
		else
			high = middle;
	}
	return v->value[low < v->count ? low : v->count - 1];
}

/* The distributions holding at a time, in seconds; NULL. */
static const struct lengths *lengths_at(const struct client *c, double start)
{
	const struct lengths *found = NULL;
	for (size_t i = 0; i < c->length_count; i++)
		if (c->lengths[i].start <= start && (!found || c->lengths[i].start >= found->start))
			found = &c->lengths[i];
	return found;
}

/* Draws how many images (audios, videos) a prompt has; adds their lengths to *sum. */
static int64_t draw_items(const struct lengths *l, enum servegen_kind count, enum servegen_kind tokens, double u,
                          struct rng *rng, int64_t *sum)
{
	int64_t items = (int64_t)pick(&l->kinds[count], u);
	if (items > 10000)
		items = 10000;
	for (int64_t i = 0; i < items; i++)
		*sum += (int64_t)pick(&l->kinds[tokens], rng_uniform(rng));
	return items;
}

static int draw_request(const struct lengths *l, struct rng *rng, int64_t at_ns, struct sink *sink,
                        struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	struct draft_request *r = draft_request(d);
	double u = rng_uniform(rng);
	if (!r)
		return 0;
	int64_t media = 0, text = (int64_t)pick(&l->kinds[l->kinds[INPUT].count ? INPUT : TEXT], u);
	int64_t images = draw_items(l, IMAGES, IMAGE, u, rng, &media),
			audios = draw_items(l, AUDIOS, AUDIO, u, rng, &media);
	int64_t videos = draw_items(l, VIDEOS, VIDEO, u, rng, &media), output = (int64_t)pick(&l->kinds[OUTPUT], u);
	r->at_ns = at_ns;
	r->input_tokens = text + media > 0 ? text + media : 1;
	r->output_tokens = output > 0 ? output : 1;
	if (media > 0)
		r->tags = draft_format(d, "{\"media_tokens\":%lld,\"images\":%lld,\"audios\":%lld,\"videos\":%lld}",
		                       (long long)media, (long long)images, (long long)audios, (long long)videos);
	else if (l->kinds[REASON].count)
		r->tags = draft_format(d, "{\"reasoning_tokens\":%lld}",
		                       (long long)((double)output * pick(&l->kinds[REASON], u) + 0.5));
	return sink->take(sink, d, err);
}

/* A gap in an arbitrary unit, since windows are stretched. */
static double draw_gap(const struct rate_window *w, struct rng *rng)
{
	if (!w->weibull)
		return rng_gamma(rng, w->shape);
	double x = rng_exponential(rng);
	return x > 0 ? exact_exp(exact_log(x) / w->shape) : 0;
}

static int draw_window(const struct state *s, const struct client *c, size_t index, int64_t *number, struct sink *sink,
                       struct ipf_error *err)
{
	const struct rate_window *w = &c->windows[index];
	double length = index + 1 < c->window_count ? c->windows[index + 1].start - w->start
	                : index > 0                 ? w->start - c->windows[index - 1].start
	                                            : 600;
	const struct lengths *l = lengths_at(c, w->start);
	size_t count = (size_t)ceil(w->rate * length);
	const char *base = strrchr(c->name, '/');
	char name[300];
	struct rng rng;
	int status = 0;
	if (count == 0 || (s->to_ns != IPF_ABSENT && w->start * 1e9 >= (double)s->to_ns) ||
	    (s->from_ns != IPF_ABSENT && (w->start + length) * 1e9 < (double)s->from_ns))
		return 0;
	if (!l || l->kinds[OUTPUT].count == 0) {
		sink->unusable(sink, "a window without lengths");
		return 0;
	}
	double *at = calloc(count, sizeof *at), sum = 0;
	if (!at)
		return ipf_error_memory(err);
	snprintf(name, sizeof name, "servegen %.250s", base ? base + 1 : c->name);
	rng_init(&rng, s->seed, name, index);
	for (size_t i = 0; i < count; i++)
		at[i] = sum += draw_gap(w, &rng);
	for (size_t i = 0; i < count && status == 0 && !sink->draft.failed; i++) {
		draft_reset(&sink->draft);
		sink->draft.number = ++*number;
		status = draw_request(l, &rng, (int64_t)((w->start + (sum > 0 ? at[i] / sum : 0) * length) * 1e9), sink, err);
	}
	free(at);
	return status;
}

static int finish(void *opened, struct sink *sink, struct ipf_error *err)
{
	const struct state *s = opened;
	int64_t number = 0;
	for (size_t i = 0; i < s->count; i++) {
		const struct client *c = &s->clients[i];
		if (c->window_count == 0 || c->length_count == 0) {
			sink->unusable(sink,
			               c->window_count ? "a client without its -dataset.json" : "a client without its -trace.csv");
			continue;
		}
		for (size_t k = 0; k < c->window_count; k++)
			if (draw_window(s, c, k, &number, sink, err) < 0)
				return -1;
	}
	return 0;
}

static bool recognises(const struct sniff *sniff)
{
	if (!sniff->csv || sniff->csv->column_count != 6)
		return sniff_text(sniff, "\"input_tokens\": \"{") || sniff_text(sniff, "\"text_tokens\": \"{");
	const char *family = sniff->csv->columns[3];
	return isdigit((unsigned char)sniff->csv->columns[0][0]) &&
	       (!*family || strcmp(family, "Gamma") == 0 || strcmp(family, "Weibull") == 0);
}

const struct source_format source_servegen = {
	.name = "servegen",
	.about = "ServeGen clients: requests drawn from windows of arrivals and distributions of lengths",
	.kind = SOURCE_TRACE,
	.unit = UNIT_FILE,
	.traits = HAS_TIMES | KEEPS_START | GATHERS | MAKES_TEXT,
	.filled = "prose of the drawn length, another for each request; images and the like stand as text of their length",
	.state_size = sizeof(struct state),
	.open = open_state,
	.read_record = read_file,
	.finish = finish,
	.recognises = recognises,
	.close = close_state,
};
