/* How fast texts are encoded and counted: tokenize TOKENIZER TEXTS [SECONDS [THREADS]], texts with a NUL behind each.
 * Prints megabytes a second of encoding, counting and (with threads) both in batches, the best of the rounds fitting in
 * the time (three or more; one where it is 0); milliseconds to open; peak memory in KiB. */
#include "tokenizer/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One thread is measured by its own CPU time, which other load on the machine disturbs less. */
static double now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* This program's alone: getrusage would include its parent's. */
static long peak_kib(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kib = 0;
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "VmHWM: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

static struct buffer load(const char *path)
{
	struct buffer b = {0};
	FILE *f = fopen(path, "rb");
	size_t n;
	if (!f)
		exit(1);
	while ((n = fread(buffer_reserve(&b, 1 << 20), 1, 1 << 20, f)) > 0)
		b.len += n;
	fclose(f);
	return b;
}

int main(int argc, char **argv)
{
	struct ipf_error err = {0};
	struct tokenizer *t;
	double seconds = argc > 3 ? strtod(argv[3], NULL) : 1, best[4] = {0};
	int least = seconds > 0 ? 3 : 1, threads = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 0;
	struct buffer all = load(argv[2]);
	size_t count = 0;
	double opened = now(CLOCK_MONOTONIC);
	if (tokenizer_open(&t, argv[1], &err) < 0)
		return ipf_error_report(&err, stderr, "tokenize");
	opened = now(CLOCK_MONOTONIC) - opened;

	for (size_t i = 0; i < all.len; i++)
		count += all.data[i] == '\0';
	struct slice *texts = calloc(count, sizeof *texts);
	struct token_ids *many = calloc(count, sizeof *many), ids = {0};
	int64_t *counts = calloc(count, sizeof *counts);
	const char *at = all.data;
	for (size_t i = 0; i < count; i++, at += strlen(at) + 1)
		texts[i] = slice_of(at);
	const struct tokenizer_batch batch = {.texts = texts, .count = count, .threads = threads};
	/* Turn by turn, so other work of the machine falls on all of them. */
	double begun = now(CLOCK_MONOTONIC);
	int rounds = 0;
	do {
		for (int kind = 0; kind < (threads ? 4 : 2); kind++) {
			clockid_t clock = kind < 2 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
			double start = now(clock);
			/* A new scratch each round: nothing is remembered from the one before. */
			struct tokenizer_scratch *s = tokenizer_scratch_new(t);
			for (size_t i = 0; i < count && kind < 2; i++) {
				ids.count = 0;
				if (kind == 0 ? tokenizer_encode(t, s, texts[i], 0, &ids, &err) < 0
				              : tokenizer_count(t, s, texts[i], 0, &err) < 0)
					return ipf_error_report(&err, stderr, "tokenize");
			}
			for (size_t i = 0; i < count; i++)
				many[i].count = 0;
			if (kind == 2 ? tokenizer_encode_many(t, &batch, many, &err) < 0
			              : kind == 3 && tokenizer_count_many(t, &batch, counts, &err) < 0)
				return ipf_error_report(&err, stderr, "tokenize");
			tokenizer_scratch_free(s);
			double rate = (double)(all.len - count) / (now(clock) - start) / 1e6;
			if (rate > best[kind])
				best[kind] = rate;
		}
		rounds++;
	} while (now(CLOCK_MONOTONIC) - begun < seconds || rounds < least);
	printf("%.2f %.2f %.2f %.2f %.2f %ld\n", best[0], best[1], best[2], best[3], opened * 1e3, peak_kib());
	return 0;
}
