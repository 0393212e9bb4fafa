#include "server.h"

#include "absent.h"
#include "answer.h"
#include "clock.h"
#include "dialect.h"
#include "json/jout.h"
#include "reqlog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct job {
	struct conn *conn; /* NULL: the client has disconnected, and the engine goes on (--generate-on) */
	struct job *next;  /* … which those are linked by */
	struct generate_request ask;
	struct modes modes;
	struct sequence sequence;
	struct answer answer;
	struct timer delay;
	char *request_id;
	struct buffer model;
	int64_t last_token_ns; /* when the engine made it */
	struct reqlog_line line;
	bool finished; /* the response is complete */
	bool measured; /* it is in the metrics of requests */
};

/* ---- the beginning ---- */

static struct job *job_of(struct sequence *sequence)
{
	return (struct job *)(void *)((char *)sequence - offsetof(struct job, sequence));
}

const char *job_model(const struct sequence *sequence)
{
	const struct job *job = (const struct job *)(const void *)((const char *)sequence - offsetof(struct job, sequence));
	return job->model.data ? job->model.data : "";
}

static uint32_t token_of(const struct sequence *sequence, int64_t k)
{
	const struct job *job = (const struct job *)(const void *)((const char *)sequence - offsetof(struct job, sequence));
	return answer_id_at(&job->answer, k);
}

static void refuse(struct job *job, int status, const char *more, const char *text, const char *param)
{
	struct conn *c = job->conn;
	answer_error(&c->out, status, more, text, param, c->then == CONN_STAY);
	c->server->totals.refused++;
	job->line.status = status;
	job->finished = true;
	conn_answered(c);
}

/* The request's own modes go first; without any, the server's may strike. */
static int choose_modes(struct job *job, struct ipf_error *err)
{
	struct conn *c = job->conn;
	const struct server_options *options = c->server->options;
	job->modes = job->ask.modes;
	for (size_t i = 0; i < c->request.header_count; i++) {
		const struct http_header *h = &c->request.headers[i];
		if (h->name.len == 5 && strncasecmp(h->name.data, "x-sim", 5) == 0 &&
		    modes_parse_header(&job->modes, h->value, err) < 0)
			return -1;
	}
	for (size_t i = 0; job->modes.count == 0 && i < options->fail_count; i++) {
		struct rng rng;
		rng_init(&rng, options->seed, mode_name(options->fails[i].kind), (uint64_t)job->line.n * 64 + i);
		if (rng_uniform(&rng) < options->fails[i].share)
			job->modes.list[job->modes.count++] = options->fails[i];
	}
	return 0;
}

/* The known answer to a task, which the model goes beyond only if it may not end. -1: out of memory. */
static int write_solution(struct job *job, int64_t *tokens)
{
	struct answer *a = &job->answer;
	const struct mode *reasoning = modes_find(&job->modes, MODE_REASONING);
	if (!job->ask.solved.len || modes_find(&job->modes, MODE_JSON) || modes_find(&job->modes, MODE_TOOLS))
		return 0;
	if (answer_script_write(&a->script, buffer_all(&job->ask.solved)) < 0)
		return -1;
	if (!job->ask.ignore_eos)
		*tokens = a->script.count + (reasoning && job->ask.chat ? reasoning->tokens : 0);
	return 0;
}

/* How many tokens the answer has, and why it ends there. -1: out of memory. */
static int choose_length(struct job *job)
{
	const struct server_options *options = job->conn->server->options;
	const struct mode *shorter = modes_find(&job->modes, MODE_SHORT), *one = modes_find(&job->modes, MODE_ONE_TOKEN);
	int64_t tokens = job->ask.max_tokens == IPF_ABSENT ? options->default_tokens : job->ask.max_tokens;
	int64_t least = job->ask.min_tokens > 1 ? job->ask.min_tokens : 1;
	if (tokens < least)
		tokens = least;
	const char *finish = "length";
	int64_t end = tokens;
	if (options->eos_mean > 0 && !job->ask.ignore_eos) {
		struct rng rng;
		rng_init(&rng, options->seed, "eos", job->ask.fingerprint);
		double drawn = rng_exponential(&rng) * options->eos_mean;
		end = drawn < 1e9 ? (int64_t)drawn + 1 : tokens;
	}
	if (write_solution(job, &end) < 0)
		return -1;
	end = end < least ? least : end;
	if (one || shorter)
		end = one ? 1 : shorter->tokens;
	if (end < tokens || (job->answer.script.tokens && end == tokens && !job->ask.ignore_eos)) {
		tokens = end;
		finish = "stop";
	}
	if (modes_find(&job->modes, MODE_EMPTY)) {
		tokens = 1; /* is computed, and never shown */
		finish = "stop";
	}
	job->answer.output_tokens = tokens;
	job->answer.finish = finish;
	job->answer.ask = &job->ask;
	job->answer.modes = &job->modes;
	int planned = answer_plan_calls(&job->answer);
	job->sequence.output_tokens = job->answer.output_tokens;
	return planned;
}

/* The answer has as many tokens as the KV cache has room for. */
static void go_on(struct job *job, int64_t room)
{
	int64_t tokens = room - job->sequence.prompt_tokens;
	job->sequence.output_tokens = job->answer.output_tokens = tokens > 1 ? tokens : 1;
	job->answer.finish = "length";
}

static int understand(struct job *job, bool chat, const struct dialect *dialect, struct slice model, bool streamed)
{
	struct conn *c = job->conn;
	const struct server_options *options = c->server->options;
	struct ipf_error err = {0};
	struct slice body = buffer_all(&c->request.body);
	job->ask.dialect = dialect;
	int parsed = dialect
	                 ? generate_request_parse_dialect(&job->ask, &job->sequence, streamed, body, &options->ask, &err)
	                 : generate_request_parse(&job->ask, &job->sequence, chat, body, &options->ask, &err);
	if (parsed < 0) {
		refuse(job, err.kind == IPF_SYSTEM ? 500 : 400, NULL, err.text, job->ask.param);
		return -1;
	}
	/* Thousands of long prompts shouldn't stay in memory while their answers are made. */
	if (c->request.body.cap > 16384)
		buffer_release(&c->request.body);
	if (choose_modes(job, &err) < 0) {
		refuse(job, 400, NULL, err.text, "X-Sim");
		return -1;
	}
	if (model.data)
		buffer_slice(&job->ask.model, model);
	const char *asked = job->ask.model.data ? job->ask.model.data : "";
	if ((*asked || (options->model_count && !dialect)) && !server_has_model(options, asked)) {
		buffer_format(&job->model, "The model `%s` does not exist.", asked);
		refuse(job, 404, NULL, job->model.data ? job->model.data : "", "model");
		return -1;
	}
	buffer_text(&job->model, *asked ? asked : server_model(options, 0));
	if (choose_length(job) < 0) {
		refuse(job, 500, NULL, "memory ran out", NULL);
		return -1;
	}
	int64_t room = batching_room(c->server->engine);
	if (modes_find(&job->modes, MODE_ENDLESS))
		go_on(job, room);
	int64_t length = job->sequence.prompt_tokens + job->sequence.output_tokens;
	if ((length > options->model_len && !modes_find(&job->modes, MODE_ENDLESS)) || length > room) {
		char text[160];
		snprintf(text, sizeof text,
		         "This model's maximum context length is %lld tokens. However, you requested %lld tokens",
		         (long long)(room < options->model_len ? room : options->model_len), (long long)length);
		refuse(job, 400, NULL, text, chat ? "messages" : "prompt");
		return -1;
	}
	return 0;
}

static void prepare_answer(struct job *job)
{
	struct conn *c = job->conn;
	struct answer *a = &job->answer;
	struct slice id = http_header(&c->request, "x-request-id");
	/* The list has room for this one beyond MODES_MOST. */
	if (c->request.minor == 0 && !modes_find(&job->modes, MODE_HTTP10))
		job->modes.list[job->modes.count++] = (struct mode){.kind = MODE_HTTP10};
	if (modes_find(&job->modes, MODE_CLOSE) || modes_find(&job->modes, MODE_LENGTH_SHORT) ||
	    modes_find(&job->modes, MODE_HTTP10))
		c->then = CONN_CLOSE;
	const struct mode *idle = modes_find(&job->modes, MODE_IDLE_CLOSE);
	c->idle_code = idle ? idle->code : 0;
	if (idle)
		c->idle_ns = idle->delay_ns;
	a->out = &c->out;
	a->model = job->model.data;
	a->request_id = (struct slice){job->request_id, id.len};
	a->keep_alive = c->then == CONN_STAY;
	a->role_early = c->server->options->role_early;
	a->number = (uint64_t)job->line.n;
	a->prompt_tokens = job->sequence.prompt_tokens;
	a->arrival_ns = c->arrival_ns;
	answer_init(a);
	a->work = &job->sequence;
	a->spec = &c->server->options->engine.spec;
	a->tiers = batching_has_tiers(&c->server->options->engine);
	a->storage = c->server->options->engine.tiers[TIER_STORAGE].blocks > 0;
	a->metrics = c->server->options->request_metrics;
	job->sequence.token = token_of;
	job->sequence.priority = c->server->options->priority ? job->ask.priority : 0;
	job->sequence.draws = job->ask.fingerprint ^ c->server->options->seed;
}

/* ---- faults ---- */

/* Picks one of the other requests in the engine. */
struct other {
	const struct sequence *self;
	int64_t wanted, seen;
	const struct job *found;
};

static void see_sequence(const struct sequence *sequence, void *data)
{
	struct other *o = data;
	if (sequence == o->self)
		return;
	if (o->seen++ == o->wanted)
		o->found = (const struct job *)(const void *)((const char *)sequence - offsetof(struct job, sequence));
}

/* Another request's answer, drawn among those in flight. */
static void swap_answers(struct server *s, struct job *job)
{
	struct other o = {.self = &job->sequence, .wanted = -1};
	struct answer *a = &job->answer;
	struct rng rng;
	batching_visit(s->engine, see_sequence, &o);
	if (!o.seen)
		return;
	rng_init(&rng, a->seed, "crosstalk with", a->number);
	o = (struct other){.self = &job->sequence, .wanted = (int64_t)rng_below(&rng, (uint64_t)o.seen)};
	batching_visit(s->engine, see_sequence, &o);
	if (!o.found)
		return;
	int64_t room = batching_room(s->engine) - job->sequence.prompt_tokens;
	if (job->ask.max_tokens != IPF_ABSENT && job->ask.max_tokens < room)
		room = job->ask.max_tokens;
	answer_faults_swap(a, &o.found->answer, room);
}

static void set_length(struct job *job)
{
	job->sequence.output_tokens = job->answer.output_tokens > 0 ? job->answer.output_tokens : 1;
}

/* Before the request enters the engine, which has to know its length. */
static void plan_faults(struct server *s, struct job *job)
{
	const struct answer_faults *f = &s->options->faults;
	answer_faults_plan(&job->answer, f);
	if (answer_faults_swaps(&job->answer, f))
		swap_answers(s, job);
	set_length(job);
}

/* Before token k is written. */
static void apply_faults(struct server *s, struct job *job, int64_t k)
{
	const struct answer_faults *f = &s->options->faults;
	if (!answer_faults_any(f))
		return;
	struct batching_counts counts = batching_counts(s->engine);
	struct server_load load = {counts.kv_usage, counts.running + counts.waiting};
	answer_faults_token(&job->answer, k, f, &load);
	set_length(job);
}

/* ---- into the engine ---- */

static void enter_engine(struct job *job, int64_t now_ns)
{
	plan_faults(job->conn->server, job);
	batching_add(job->conn->server->engine, &job->sequence, now_ns);
	job->conn->server->metrics.arrived++;
}

static void delay_is_over(struct timer *timer, void *data)
{
	struct job *job = data;
	(void)timer;
	if (modes_find(&job->modes, MODE_SLOW_HEADERS)) {
		answer_head(&job->answer);
		conn_dirty(job->conn);
	}
	enter_engine(job, clock_now());
}

/* Are there more requests than --rate-limit allows? */
static bool is_limited(struct job *job)
{
	struct server *s = job->conn->server;
	struct buffer headers = {0};
	int64_t wait_ns = s->limit.rate > 0 ? rate_limit_wait(&s->limit, job->conn->arrival_ns) : 0;
	if (!wait_ns)
		return false;
	job->line.retry_after_ns = rate_limit_say(&s->limit, wait_ns, s->options->date_offset_ns, &headers);
	refuse(job, 429, headers.data, "Rate limit reached for requests", NULL);
	buffer_release(&headers);
	return true;
}

/* The modes answering without the model. True: one did. */
static bool answer_at_once(struct job *job)
{
	struct conn *c = job->conn;
	const struct mode *status = modes_find(&job->modes, MODE_STATUS), *reset = modes_find(&job->modes, MODE_RESET);
	if (status) {
		char more[64] = "";
		if (status->retry_ns)
			snprintf(more, sizeof more, "Retry-After: %lld\r\n",
			         (long long)((status->retry_ns + NS_PER_S - 1) / NS_PER_S));
		refuse(job, (int)status->code, more, "as the mode asks", NULL);
		return true;
	}
	if (modes_find(&job->modes, MODE_NEVER))
		return true;
	if (modes_find(&job->modes, MODE_HTML200)) {
		answer_plain(&c->out, 200, "text/html", NULL, slice_of("<html><body><h1>It works!</h1></body></html>\n"),
		             c->then == CONN_STAY);
	} else if (modes_find(&job->modes, MODE_NOTHING)) {
		answer_plain(&c->out, 200, "text/event-stream; charset=utf-8", NULL, slice_of(""), c->then == CONN_STAY);
	} else if (modes_find(&job->modes, MODE_GARBAGE)) {
		buffer_text(&c->out.bytes, "Lorem ipsum dolor sit amet,\r\nconsectetur adipiscing elit.\r\n\r\n");
		c->then = CONN_CLOSE;
	} else if (reset && !reset->after_given) {
		outbox_hold(&c->out, reset->pause_ns);
		c->then = CONN_RESET;
	} else {
		return false;
	}
	job->finished = true;
	conn_answered(c);
	return true;
}

/* How long to wait before the model begins. */
static int64_t delay_of(const struct job *job)
{
	const struct mode *slow = modes_find(&job->modes, MODE_SLOW_HEADERS),
					  *late = modes_find(&job->modes, MODE_ROLE_LATE);
	const struct mode *stall = modes_find(&job->modes, MODE_STALL);
	int64_t delay_ns = slow ? slow->delay_ns : 0;
	if (late && !late->after)
		delay_ns += late->delay_ns;
	if (stall && !stall->after)
		delay_ns += stall->pause_ns;
	return delay_ns;
}

void job_begin(struct conn *c, bool chat, const struct dialect *dialect, struct slice model, bool streamed)
{
	struct server *s = c->server;
	struct job *job = calloc(1, sizeof *job);
	if (!job) {
		answer_error(&c->out, 500, NULL, "memory ran out", NULL, c->request.keep_alive);
		conn_answered(c);
		return;
	}
	c->job = job;
	job->conn = c;
	job->delay = (struct timer){.fire = delay_is_over, .data = job};
	job->answer.seed = s->options->seed;
	job->line.n = s->totals.streams++;
	job->line.arrival_ns = c->arrival_ns;
	job->request_id = slice_dup(http_header(&c->request, "x-request-id"));
	if (understand(job, chat, dialect, model, streamed) < 0)
		return;
	prepare_answer(job);
	job->line.status = 200;
	if (is_limited(job) || answer_at_once(job))
		return;
	int64_t delay_ns = delay_of(job);
	if (!modes_find(&job->modes, MODE_SLOW_HEADERS)) {
		answer_head(&job->answer);
		conn_dirty(c);
	}
	if (delay_ns == 0 || timers_set(&s->timers, &job->delay, c->arrival_ns + delay_ns) < 0)
		enter_engine(job, c->arrival_ns);
}

/* ---- tokens ---- */

static double seconds(int64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

static void measure_tokens(struct server *s, struct job *job, int64_t now_ns)
{
	struct metrics *m = &s->metrics;
	int64_t fresh = job->sequence.fresh;
	if (job->sequence.produced == fresh) {
		metrics_add(m, &m->ttft, seconds(now_ns - job->line.arrival_ns));
		job->line.first_made_ns = now_ns;
	} else {
		double gap = seconds(now_ns - job->last_token_ns);
		metrics_add(m, &m->itl, gap);
		for (int64_t i = 0; i < fresh; i++)
			metrics_add(m, &m->itl_each, gap / (double)fresh);
	}
	job->last_token_ns = now_ns;
}

static void measure_request(struct server *s, struct job *job)
{
	const struct sequence *q = &job->sequence;
	struct metrics *m = &s->metrics;
	bool whole = q->produced >= q->output_tokens;
	job->measured = true;
	m->finished[!whole ? FINISH_ABORT : strcmp(job->answer.finish, "length") == 0 ? FINISH_LENGTH : FINISH_STOP]++;
	if (!whole)
		return;
	metrics_add(m, &m->e2e, seconds(job->last_token_ns - job->line.arrival_ns));
	metrics_add(m, &m->queue, seconds(q->admitted_ns - q->added_ns));
	metrics_add(m, &m->prefill, seconds(job->line.first_made_ns - q->admitted_ns));
	metrics_add(m, &m->decode, seconds(job->last_token_ns - job->line.first_made_ns));
	metrics_add(m, &m->inference, seconds(job->last_token_ns - q->admitted_ns));
	if (q->produced > 1)
		metrics_add(m, &m->tpot, seconds(job->last_token_ns - job->line.first_made_ns) / (double)(q->produced - 1));
	metrics_add(m, &m->prompt, (double)q->prompt_tokens);
	metrics_add(m, &m->generation, (double)q->produced);
	metrics_add(m, &m->max_tokens,
	            (double)(job->ask.max_tokens == IPF_ABSENT ? q->output_tokens : job->ask.max_tokens));
	metrics_add(m, &m->n, 1);
	m->cached_tokens += q->cached_tokens;
	for (int i = 0; i < TIER_COUNT; i++)
		m->cached_from[i] += q->cached_from[i];
}

static void finish(struct server *s, struct job *job, enum answer_next next)
{
	batching_remove(s->engine, &job->sequence);
	measure_request(s, job);
	job->finished = true;
	if (next == ANSWER_CUT)
		job->conn->then = CONN_CLOSE;
	else if (next == ANSWER_RESET)
		job->conn->then = CONN_RESET;
	conn_answered(job->conn);
}

void job_token(struct sequence *sequence, void *data)
{
	struct server *s = data;
	struct job *job = job_of(sequence);
	const struct mode *stall = modes_find(&job->modes, MODE_STALL);
	int64_t now_ns = clock_now(), before = sequence->produced - sequence->fresh;
	measure_tokens(s, job, now_ns);
	if (!job->conn)
		return;
	job->answer.cached_tokens = sequence->cached_tokens;
	job->answer.begun_ns = sequence->admitted_ns;
	job->answer.first_ns = job->line.first_made_ns;
	job->answer.now_ns = now_ns;
	enum answer_next next = ANSWER_ON;
	for (int64_t k = before; k < sequence->produced && next == ANSWER_ON; k++) {
		apply_faults(s, job, k);
		job->answer.more = k + 1 < sequence->produced;
		next = answer_token(&job->answer, k);
	}
	if (next != ANSWER_ON)
		finish(s, job, next);
	else if (stall && stall->after > before && stall->after <= sequence->produced)
		batching_hold(sequence, now_ns + stall->pause_ns);
	else if (before == 0 && s->options->kv_transfer_ns)
		batching_hold(sequence, now_ns + s->options->kv_transfer_ns);
	conn_dirty(job->conn);
}

void job_sent(struct conn *c, int64_t at_ns)
{
	struct job *job = c->job;
	uint64_t here = outbox_here(&c->out);
	if (!job->line.head_ns)
		job->line.head_ns = at_ns;
	if (c->out.first_content && !job->line.first_ns && here >= c->out.first_content)
		job->line.first_ns = at_ns;
	if (c->out.last_content && here >= c->out.last_content && job->line.last_at < c->out.last_content) {
		job->line.last_ns = at_ns;
		job->line.last_at = c->out.last_content;
	}
}

/* ---- the end ---- */

/* The bytes written for the client, as text. */
static void gather_text(const struct job *job, struct buffer *text)
{
	for (int64_t k = 0; k < job->line.output_tokens; k++)
		buffer_slice(text, answer_text_at(&job->answer, k).bytes);
}

static void write_log(struct server *s, struct job *job)
{
	struct reqlog_line *line = &job->line;
	line->id = job->request_id;
	const struct dialect *d = job->ask.dialect;
	const char *path = d && job->ask.stream ? d->stream_path : d ? d->whole_path : NULL;
	line->path = path ? path : job->ask.chat ? "/v1/chat/completions" : "/v1/completions";
	line->stream = job->ask.stream;
	line->ask = &job->ask;
	line->modes = &job->modes;
	line->sequence = &job->sequence;
	line->output_tokens = job->answer.whole ? (job->finished ? job->answer.output_tokens : 0) : job->answer.sent;
	line->finish = job->finished ? job->answer.finish : NULL;
	line->faults = job->answer.faults;
	line->cancelled = !job->finished;
	line->generated_tokens = job->finished ? 0 : job->sequence.produced;
	struct buffer text = {0};
	if (!modes_find(&job->modes, MODE_TOOLS))
		gather_text(job, &text);
	if (text.len)
		line->text = buffer_all(&text);
	if (reqlog_write(s->options->log, line) < 0 && !s->log_errno)
		s->log_errno = errno ? errno : EIO;
	buffer_release(&text);
}

static void free_job(struct server *s, struct job *job)
{
	batching_remove(s->engine, &job->sequence);
	if (job->sequence.added_ns && !job->measured)
		measure_request(s, job);
	if (s->options->log)
		write_log(s, job);
	sequence_release(&job->sequence);
	answer_release(&job->answer);
	generate_request_release(&job->ask);
	buffer_release(&job->model);
	free(job->request_id);
	free(job);
}

void jobs_left(struct server *s, bool all)
{
	for (struct job **at = &s->left, *job; (job = *at);) {
		if (!all && job->sequence.state != SEQUENCE_IDLE) {
			at = &job->next;
			continue;
		}
		*at = job->next;
		free_job(s, job);
	}
}

void job_close(struct conn *c)
{
	struct job *job = c->job;
	struct server *s = c->server;
	c->job = NULL;
	job->line.end_ns = clock_now();
	timers_stop(&s->timers, &job->delay);
	s->totals.cut += !job->finished;
	if (!s->options->generate_on || job->finished || job->sequence.state == SEQUENCE_IDLE) {
		free_job(s, job);
		return;
	}
	job->conn = NULL;
	job->next = s->left;
	s->left = job;
}
