#include <ipf/runs.h>

#include "http/libcurl.h"
#include "job/run_observer.h"
#include "array.h"
#include "library.h"
#include "lines.h"
#include "run/run.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

struct ipf_run {
	struct ipf_run_callbacks callbacks;
	char **argv; /* as of main() */
	int argc, cap;
	bool has_output;
	int stop_fds[2]; /* the run reads from the first, and this library writes to the second */
	struct ipf_line record;
};

int ipf_run_open(struct ipf_run **run, struct ipf_error *err)
{
	library_begin();
	struct ipf_run *r = *run = calloc(1, sizeof *r);
	if (!r)
		return ipf_error_memory(err);
	if (pipe2(r->stop_fds, O_NONBLOCK | O_CLOEXEC) < 0) {
		free(r);
		*run = NULL;
		return ipf_error_errno(err, errno, NULL, "cannot make a pipe");
	}
	return 0;
}

void ipf_run_close(struct ipf_run *r)
{
	if (!r)
		return;
	for (int i = 0; i < r->argc; i++)
		free(r->argv[i]);
	free(r->argv);
	close(r->stop_fds[0]);
	close(r->stop_fds[1]);
	line_release(&r->record);
	free(r);
}

/* ---- options ---- */

static bool is_for_programs(const char *option)
{
	static const char *const names[] = {"calibrate",  "completion",  "help",   "list-apis", "max-line",
	                                    "max-window", "no-progress", "probe",  "progress",  "quiet",
	                                    "shape",      "verbose",     "version"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i], option) == 0)
			return true;
	return false;
}

/* Takes the text over, also if it fails. */
static int add(struct ipf_run *r, char *text, struct ipf_error *err)
{
	if (!text || !array_room(r->argv, r->cap, r->argc + 2)) {
		free(text);
		return ipf_error_memory(err);
	}
	r->argv[r->argc++] = text;
	r->argv[r->argc] = NULL;
	return 0;
}

int ipf_run_set(struct ipf_run *r, const char *option, const char *value, struct ipf_error *err)
{
	struct buffer text = {0};
	library_begin();
	if (!*option || *option == '-' || option[strspn(option, "abcdefghijklmnopqrstuvwxyz0123456789-")] ||
	    is_for_programs(option))
		return ipf_error_set(err, IPF_USAGE, "option: expected a long option of ipf-fire for runs, got \"%s\"", option);
	if (strcmp(option, "output") == 0 && (!value || strcmp(value, "-") == 0))
		return ipf_error_set(err, IPF_USAGE, "output: expected a file");
	r->has_output |= strcmp(option, "output") == 0;
	if (!r->argc && add(r, strdup("libipf"), err) < 0)
		return -1;
	buffer_format(&text, "--%s", option);
	if (value) {
		buffer_byte(&text, '=');
		buffer_text(&text, value);
	}
	if (text.failed) {
		buffer_release(&text);
		return ipf_error_memory(err);
	}
	return add(r, text.data, err);
}

int ipf_run_observe(struct ipf_run *r, const struct ipf_run_callbacks *callbacks, struct ipf_error *err)
{
	library_begin();
	if (callbacks->size > sizeof r->callbacks || callbacks->size < sizeof r->callbacks)
		return ipf_error_set(err, IPF_USAGE, "size: expected that of IPF_RUN_CALLBACKS_INIT, got %zu", callbacks->size);
	r->callbacks = *callbacks;
	return 0;
}

/* ---- events ---- */

static void started(void *data, const struct job *job)
{
	struct ipf_run *r = data;
	r->callbacks.start(r->callbacks.data, job->arrival.n, job->start_ns);
}

static void first_byte(void *data, const struct job *job)
{
	struct ipf_run *r = data;
	r->callbacks.first_byte(r->callbacks.data, job->arrival.n, job->first_byte_ns);
}

static void received(void *data, const struct job *job, int64_t t_ns, struct slice bytes)
{
	struct ipf_run *r = data;
	r->callbacks.part(r->callbacks.data, job->arrival.n, t_ns, bytes.data, bytes.len);
}

static void ended(void *data, struct slice line)
{
	struct ipf_run *r = data;
	line_set(&r->record, IPF_LINE_RECORD, line, (struct line_place){NULL, 0});
	r->callbacks.end(r->callbacks.data, &r->record);
}

void ipf_run_stop(struct ipf_run *r)
{
	struct signalfd_siginfo info = {.ssi_signo = SIGTERM};
	(void)!write(r->stop_fds[1], &info, sizeof info); /* a pipe that is full was told often enough */
}

/* ---- the run ---- */

static int fire(struct ipf_run *r, struct arguments *a, const char *schedule, struct ipf_error *err)
{
	const struct run_observer observer = {.data = r,
	                                      .started = r->callbacks.start ? started : NULL,
	                                      .first_byte = r->callbacks.first_byte ? first_byte : NULL,
	                                      .received = r->callbacks.part ? received : NULL,
	                                      .ended = r->callbacks.end ? ended : NULL,
	                                      .stop_fd = r->stop_fds[0]};
	struct fire_options options;
	const char *none;
	json_t *argv = NULL;
	if (fire_options_read(&options, a, &none, &argv, err) < 0) {
		json_decref(argv);
		return -1;
	}
	return fire_run_observed(&options, schedule, argv, &observer, err);
}

/* A closed output is an error, and must not end the process: blocks SIGPIPE in this thread and those it starts, and
 * removes a pending one. */
static int fire_without_sigpipe(struct ipf_run *r, struct arguments *a, const char *schedule, struct ipf_error *err)
{
	sigset_t sigpipe, before, pending;
	const struct timespec now = {0};
	sigemptyset(&sigpipe);
	sigaddset(&sigpipe, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &sigpipe, &before);
	int status = fire(r, a, schedule, err);
	if (!sigismember(&pending, SIGPIPE))
		while (sigtimedwait(&sigpipe, NULL, &now) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return status;
}

int ipf_run_fire(struct ipf_run *r, const char *schedule, struct ipf_error *err)
{
	struct signalfd_siginfo old;
	library_begin();
	if (!r->has_output)
		return ipf_error_set(err, IPF_USAGE, "output: missing: expected a file");
	if (!schedule || strcmp(schedule, "-") == 0)
		return ipf_error_set(err, IPF_USAGE, "schedule: expected a file");
	if (libcurl_start(err) < 0)
		return -1;
	struct arguments a = {.argc = r->argc, .argv = r->argv};
	int status = fire_without_sigpipe(r, &a, schedule, err);
	options_memory_free(a.memory);
	curl_global_cleanup();
	while (read(r->stop_fds[0], &old, sizeof old) > 0) /* the next run is not stopped */
		;
	return status;
}
