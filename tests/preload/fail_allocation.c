/* Makes one allocation of a program fail, for each in turn: preloaded, it becomes a fork server before main() begins.
 *
 *     FAIL_FROM=1 FAIL_STEP=7 LD_PRELOAD=fail_allocation.so ipf-sched burst:n=3 >report 2>&1
 *
 * The first child runs undisturbed: its output is what must come out, and the number of its allocations is how far the
 * others go. Each further child gets NULL from the allocation FAIL_FROM, FAIL_FROM + FAIL_STEP, …, of any library (and
 * from all later ones with FAIL_REST=1). A child must end with status 1, one line about memory on standard error and no
 * trailer on standard output; or as if nothing had happened, if the failure is harmless. FAIL_LOOSE=1: standard output
 * changes from run to run, only its trailer has to be there. The report has a line for each child that did neither, and
 * `N allocations, M tried, K harmless, L wrong` at the end.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

struct shared {
	atomic_long allocations;
	void *caller; /* of the one that failed */
};
static struct shared *shared; /* NULL in the parent: nothing is counted */
static long fail_at;          /* 0: none */
static bool fail_rest;

static bool fails(void *caller)
{
	if (!shared)
		return false;
	long n = atomic_fetch_add(&shared->allocations, 1) + 1;
	if (!fail_at || (fail_rest ? n < fail_at : n != fail_at))
		return false;
	if (n == fail_at)
		shared->caller = caller;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
	if (fails(__builtin_return_address(0)))
		return ENOMEM;
	*memory = __libc_memalign(alignment, size);
	return *memory ? 0 : ENOMEM;
}

/* ---- the children ---- */

struct outcome {
	int status; /* of waitpid */
	char *out, *err;
	size_t out_len, err_len;
};

static char *contents(int fd, size_t *len)
{
	struct stat st;
	fstat(fd, &st);
	char *text = __libc_malloc((size_t)st.st_size + 1);
	ssize_t got = text ? pread(fd, text, (size_t)st.st_size, 0) : -1;
	if (got < 0)
		abort();
	text[got] = '\0';
	*len = (size_t)got;
	close(fd);
	return text;
}

/* Returns true in the child, which goes on to main(). */
static bool run(struct shared *counter, long at, struct outcome *o)
{
	int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
	*counter = (struct shared){0};
	fflush(stdout);
	pid_t pid = fork();
	if (pid < 0 || out < 0 || err < 0)
		abort();
	if (pid == 0) {
		dup2(out, STDOUT_FILENO);
		dup2(err, STDERR_FILENO);
		close(out);
		close(err);
		alarm(30);
		fail_at = at;
		shared = counter;
		return true;
	}
	waitpid(pid, &o->status, 0);
	o->out = contents(out, &o->out_len);
	o->err = contents(err, &o->err_len);
	return false;
}

static void release(struct outcome *o)
{
	free(o->out);
	free(o->err);
}

static bool has_trailer(const struct outcome *o)
{
	static const char mark[] = "\n{\"end\":";
	return memmem(o->out, o->out_len, mark, sizeof mark - 1) != NULL;
}

static bool is_harmless(const struct outcome *o, const struct outcome *whole, bool loose)
{
	if (!WIFEXITED(o->status) || o->status != whole->status)
		return false;
	if (loose)
		return has_trailer(o) == has_trailer(whole) && !strstr(o->err, "memory") && !strstr(o->out, "memory");
	return o->out_len == whole->out_len && memcmp(o->out, whole->out, o->out_len) == 0 &&
	       o->err_len == whole->err_len && memcmp(o->err, whole->err, o->err_len) == 0;
}

static bool is_reported(const struct outcome *o)
{
	const char *newline = strchr(o->err, '\n');
	return WIFEXITED(o->status) && WEXITSTATUS(o->status) == 1 && newline && !newline[1] && strstr(o->err, "memory") &&
	       !has_trailer(o);
}

static void complain(long n, const struct outcome *o, const struct shared *counter)
{
	Dl_info where = {0};
	dladdr(counter->caller, &where);
	printf("%ld: ", n);
	if (WIFSIGNALED(o->status))
		printf("signal %d", WTERMSIG(o->status));
	else
		printf("status %d", WEXITSTATUS(o->status));
	printf(", %s trailer, at %s+0x%lx, said: %.*s\n", has_trailer(o) ? "a" : "no",
	       where.dli_fname ? where.dli_fname : "?", (unsigned long)((char *)counter->caller - (char *)where.dli_fbase),
	       (int)strcspn(o->err, "\n"), o->err);
}

static long number(const char *name, long otherwise)
{
	const char *text = getenv(name);
	return text ? atol(text) : otherwise;
}

__attribute__((constructor)) static void serve(void)
{
	long step = number("FAIL_STEP", 1), tried = 0, harmless = 0, wrong = 0;
	bool loose = number("FAIL_LOOSE", 0);
	struct outcome whole, o;
	struct shared *counter = mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fail_rest = number("FAIL_REST", 0);
	if (counter == MAP_FAILED)
		abort();
	unsetenv("LD_PRELOAD"); /* its own children are none of ours */
	if (run(counter, 0, &whole))
		return;
	long count = counter->allocations;
	for (long n = number("FAIL_FROM", 1); n <= count; n += step) {
		if (run(counter, n, &o))
			return;
		bool good = is_harmless(&o, &whole, loose);
		tried++;
		harmless += good;
		if (!good && !is_reported(&o)) {
			wrong++;
			complain(n, &o, counter);
		}
		release(&o);
	}
	printf("%ld allocations, %ld tried, %ld harmless, %ld wrong; status %d\n", count, tried, harmless, wrong,
	       WIFEXITED(whole.status) ? WEXITSTATUS(whole.status) : -1);
	fflush(stdout);
	_exit(wrong > 0);
}
