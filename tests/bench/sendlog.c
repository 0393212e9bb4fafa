#include "sendlog.h"

#include "stats/histogram.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define ENTRIES 512 /* written at once: some 10 us */

struct sendlog {
	int fd;
	size_t count;
	int failed; /* errno of the first write that did; 0 */
	struct send_entry entries[ENTRIES];
};

int sendlog_open(struct sendlog **log, const char *path, struct ipf_error *err)
{
	*log = calloc(1, sizeof **log);
	if (!*log)
		return ipf_error_errno(err, ENOMEM, path, "send log");
	(*log)->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if ((*log)->fd >= 0)
		return 0;
	free(*log);
	*log = NULL;
	return ipf_error_errno(err, errno, path, "cannot open");
}

static void flush(struct sendlog *log)
{
	const char *at = (const char *)log->entries;
	size_t left = log->count * sizeof *log->entries;
	while (left && !log->failed) {
		ssize_t n = write(log->fd, at, left);
		if (n < 0 && errno != EINTR)
			log->failed = errno;
		at += n < 0 ? 0 : n;
		left -= n < 0 ? 0 : (size_t)n;
	}
	log->count = 0;
}

void sendlog_add(struct sendlog *log, const struct send_entry *entry)
{
	if (!log)
		return;
	log->entries[log->count++] = *entry;
	if (log->count == ENTRIES)
		flush(log);
}

int sendlog_close(struct sendlog *log, struct ipf_error *err)
{
	int result = 0;
	if (!log)
		return 0;
	flush(log);
	if (close(log->fd) < 0 && !log->failed)
		log->failed = errno;
	if (log->failed)
		result = ipf_error_errno(err, log->failed, NULL, "cannot write the send log");
	free(log);
	return result;
}

int sendlog_show(const char *path, FILE *to, struct ipf_error *err)
{
	struct send_entry e;
	FILE *file = fopen(path, "re");
	if (!file)
		return ipf_error_errno(err, errno, path, "cannot open");
	while (fread(&e, sizeof e, 1, file) == 1) {
		fprintf(to, "{\"request\":%u,\"port\":%u,\"mono_ns\":%lld,\"real_ns\":%lld", e.request, e.port,
		        (long long)e.mono_ns, (long long)e.real_ns);
		if (e.event == SENDLOG_ARRIVAL)
			fputs(",\"arrived\":true}\n", to);
		else
			fprintf(to, ",\"event\":%d,\"count\":%u,\"bytes\":%u}\n", e.event, e.count, e.bytes);
	}
	int failed = ferror(file) ? errno : 0;
	fclose(file);
	return failed ? ipf_error_errno(err, failed, path, "cannot read") : 0;
}

/* ---- sums ---- */

struct sum {
	int64_t *last; /* each request's: its arrival, then its last send; 0: not seen */
	size_t cap;
	int64_t requests, sends, events, first_ns, last_ns;
	struct histogram *ttft, *itl;
};

static int add(struct sum *s, const struct send_entry *e)
{
	if (e->request >= s->cap) {
		size_t cap = s->cap ? s->cap : 1024;
		while (cap <= e->request)
			cap *= 2;
		int64_t *last = realloc(s->last, cap * sizeof *last);
		if (!last)
			return -1;
		for (size_t i = s->cap; i < cap; i++)
			last[i] = 0;
		s->last = last;
		s->cap = cap;
	}
	int64_t *last = &s->last[e->request];
	if (!s->first_ns)
		s->first_ns = e->mono_ns;
	s->last_ns = e->mono_ns;
	if (e->event == SENDLOG_ARRIVAL) {
		s->requests++;
	} else {
		s->sends++;
		s->events += e->count;
		if (*last)
			histogram_add(e->event == 0 ? s->ttft : s->itl, e->mono_ns - *last, 1);
	}
	*last = e->mono_ns;
	return 0;
}

static void print_times(FILE *to, const char *name, const struct histogram *h)
{
	if (!histogram_count(h))
		return;
	fprintf(to, ",\"%s\":{\"mean\":%.4f,\"std\":%.4f,\"p50\":%.4f,\"p99\":%.4f,\"max\":%.4f}", name,
	        histogram_mean(h) / 1e6, histogram_std(h) / 1e6, histogram_percentile(h, 50) / 1e6,
	        histogram_percentile(h, 99) / 1e6, (double)histogram_max(h) / 1e6);
}

int sendlog_sum(const char *path, FILE *to, struct ipf_error *err)
{
	struct sum s = {.ttft = histogram_new(), .itl = histogram_new()};
	struct send_entry e;
	FILE *file = fopen(path, "re");
	int result = 0;
	if (!file)
		result = ipf_error_errno(err, errno, path, "cannot open");
	else if (!s.ttft || !s.itl)
		result = ipf_error_errno(err, ENOMEM, path, "send log");
	while (result == 0 && fread(&e, sizeof e, 1, file) == 1)
		if (add(&s, &e) < 0)
			result = ipf_error_errno(err, ENOMEM, path, "send log");
	if (result == 0 && ferror(file))
		result = ipf_error_errno(err, errno, path, "cannot read");
	if (result == 0) {
		fprintf(to, "{\"requests\":%lld,\"sends\":%lld,\"events\":%lld,\"seconds\":%.3f", (long long)s.requests,
		        (long long)s.sends, (long long)s.events, (double)(s.last_ns - s.first_ns) / 1e9);
		print_times(to, "ttft_ms", s.ttft);
		print_times(to, "itl_ms", s.itl);
		fputs("}\n", to);
	}
	if (file)
		fclose(file);
	histogram_free(s.ttft);
	histogram_free(s.itl);
	free(s.last);
	return result;
}
