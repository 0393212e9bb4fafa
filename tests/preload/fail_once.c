/* Makes one call of a program fail, for each in turn: preloaded, it becomes a fork server before main() begins.
 *
 *     FAIL_KIND=write FAIL_FROM=1 FAIL_STEP=7 LD_PRELOAD=fail_once.so ipf-sched burst:n=3 >report 2>&1
 *
 * The first child runs undisturbed: its output is the expected one, and the number of its calls is how far the others
 * go. In each further child the call FAIL_FROM, FAIL_FROM + FAIL_STEP, … fails (and all later ones with FAIL_REST=1).
 * FAIL_PLACES=2: only the first two allocations of one place, by the same functions in the same order, fail.
 *
 * FAIL_KIND=allocation (the default) is about malloc() and its relatives, which are defined here. Every other kind is a
 * list of system calls (`kinds` below): a filter of the kernel hands each of them to this process, which counts it and
 * lets it go on or fail. Nothing escapes, whichever library made the call and however: stdio calls the kernel without
 * passing anything that can be preloaded. The programs a child runs are none of ours.
 *
 * A child runs in a fresh folder, which is also its TMPDIR and HOME: name inputs by absolute paths and outputs by
 * relative ones. It must end as if nothing had happened (the same status, output and files, perhaps a warning), or with
 * status 1 and one line more on standard error, which names the failure, and with no file the undisturbed run did not
 * have. FAIL_LOOSE=1: standard output changes from run to run, only its trailer and the number of its lines must be the
 * same. The report has a line for each child that did neither, and `N calls, M tried, K harmless, L wrong; status S` at
 * the end.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALLS_MAX = 16, DEADLINE_S = 30, FRAMES = 64, PLACES_MAX = 1 << 20 };

struct kind {
	const char *name;
	int error;     /* 0: the call does one byte only */
	bool harmless; /* nothing at all may change */
	int calls[CALLS_MAX];
};

#ifndef SYS_open /* machines without the older calls */
#define SYS_open       SYS_openat
#define SYS_rename     SYS_renameat2
#define SYS_unlink     SYS_unlinkat
#define SYS_mkdir      SYS_mkdirat
#define SYS_poll       SYS_ppoll
#define SYS_fork       SYS_clone
#define SYS_vfork      SYS_clone
#define SYS_epoll_wait SYS_epoll_pwait
#define SYS_dup2       SYS_dup3
#define SYS_readlink   SYS_readlinkat
#define SYS_access     SYS_faccessat
#endif

static const struct kind kinds[] = {
	{.name = "allocation", .error = ENOMEM},
	{"memory", ENOMEM, false, {SYS_mmap, SYS_mremap, SYS_brk, SYS_mprotect}},
	{"read", EIO, false, {SYS_read, SYS_pread64, SYS_readv, SYS_preadv, SYS_recvfrom, SYS_recvmsg, SYS_getdents64}},
	{"write", ENOSPC, false, {SYS_write, SYS_pwrite64, SYS_writev, SYS_pwritev, SYS_sendto, SYS_sendmsg}},
	{"open",
     EMFILE,
     false,
     {SYS_open, SYS_openat, SYS_socket, SYS_pipe2, SYS_dup, SYS_dup2, SYS_dup3, SYS_eventfd2, SYS_epoll_create1,
      SYS_timerfd_create, SYS_accept4, SYS_socketpair, SYS_memfd_create}},
	{"access",
     EACCES,
     false,
     {SYS_open, SYS_openat, SYS_mkdir, SYS_mkdirat, SYS_access, SYS_faccessat, SYS_faccessat2, SYS_connect, SYS_bind}},
	{"sync", EIO, false, {SYS_fsync, SYS_fdatasync}},
	{"name",
     EIO,
     false,
     {SYS_rename, SYS_renameat, SYS_renameat2, SYS_unlink, SYS_unlinkat, SYS_linkat, SYS_ftruncate, SYS_fallocate,
      SYS_fchmod, SYS_flock}},
	{"close", EIO, false, {SYS_close}},
	{"stat", EIO, false, {SYS_newfstatat, SYS_fstat, SYS_statx, SYS_lseek, SYS_fcntl, SYS_readlink, SYS_readlinkat}},
	{"thread", EAGAIN, false, {SYS_clone3, SYS_clone, SYS_fork, SYS_vfork}},
	{"wait",
     ENOMEM,
     false,
     {SYS_epoll_ctl, SYS_poll, SYS_ppoll, SYS_timerfd_settime, SYS_listen, SYS_setsockopt, SYS_getsockopt,
      SYS_getsockname, SYS_wait4}},
	{"random", ENOSYS, false, {SYS_getrandom}},
	{"interrupt",
     EINTR,
     true,
     {SYS_read, SYS_pread64, SYS_readv, SYS_recvfrom, SYS_recvmsg, SYS_write, SYS_pwrite64, SYS_writev, SYS_sendto,
      SYS_sendmsg, SYS_epoll_wait, SYS_epoll_pwait, SYS_poll, SYS_ppoll, SYS_clock_nanosleep, SYS_wait4}},
	{"short", 0, true, {SYS_read, SYS_pread64, SYS_recvfrom, SYS_write, SYS_pwrite64, SYS_sendto}},
};

struct shared {
	atomic_long calls;
	atomic_int listener; /* listens to the child's filter; 0: not yet, -1: the kernel refuses */
	void *caller;        /* the failed allocation's */
	char what[PATH_MAX]; /* the system call that failed */
	bool said;           /* it was about standard error: its text does not count */
	bool loses;          /* it reported lost output: that cannot be harmless */
};
static struct shared *shared; /* NULL in the parent: nothing is counted */
static const struct kind *kind = kinds;
static long fail_at; /* 0: none */
static bool fail_rest;

/* Counts a call. */
static long count(struct shared *counter)
{
	return atomic_fetch_add(&counter->calls, 1) + 1;
}

/* Whether the call n fails. */
static bool fails(long n, long at)
{
	return at && (fail_rest ? n >= at : n == at);
}

static uint64_t digest(uint64_t sum, const void *data, size_t len)
{
	for (const unsigned char *at = data, *end = at + len; at < end; at++)
		sum = (sum ^ *at) * 0x100000001b3;
	return sum;
}

/* ---- allocations ---- */

static uint64_t *places; /* where the undisturbed run's allocations are made, in order; NULL: it does not matter */

static __attribute__((tls_model("initial-exec"))) _Thread_local bool inside; /* backtrace(); other models allocate */

/* A place is the digest of the functions that have been entered. */
static void note_place(long n)
{
	void *stack[FRAMES];
	if (n > PLACES_MAX)
		return;
	inside = true;
	size_t depth = (size_t)backtrace(stack, FRAMES);
	places[n - 1] = digest(0xcbf29ce484222325, stack, depth * sizeof *stack);
	inside = false;
}

/* Whether as many allocations of the place of the call n have been asked about before. */
static bool is_known_place(long n, long most)
{
	static struct place {
		uint64_t digest;
		long asked;
	} known[2 * PLACES_MAX];
	if (!places || n > PLACES_MAX)
		return false;
	size_t at = places[n - 1] % (2 * PLACES_MAX);
	while (known[at].asked && known[at].digest != places[n - 1])
		at = (at + 1) % (2 * PLACES_MAX);
	known[at].digest = places[n - 1];
	return known[at].asked++ >= most;
}

static void remember_places(void)
{
	void *stack[1];
	backtrace(stack, 1); /* the first call loads a library */
	places = mmap(NULL, PLACES_MAX * sizeof *places, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (places == MAP_FAILED)
		abort();
}

static bool allocation_fails(void *caller)
{
	if (!shared || kind != kinds || inside)
		return false;
	long n = count(shared);
	if (places && !fail_at)
		note_place(n);
	if (!fails(n, fail_at))
		return false;
	if (!shared->caller)
		shared->caller = caller;
	errno = ENOMEM;
	return true;
}

/* A caller in the C library, or in a sanitizer. */
#define NEXT(function)                                                                                                 \
	static __typeof__(function) *next;                                                                                 \
	if (!next)                                                                                                         \
	next = (__typeof__(function) *)(uintptr_t)dlsym(RTLD_NEXT, #function)

void *malloc(size_t size)
{
	NEXT(malloc);
	return allocation_fails(__builtin_return_address(0)) ? NULL : next(size);
}

void *calloc(size_t count, size_t size)
{
	NEXT(calloc);
	return allocation_fails(__builtin_return_address(0)) ? NULL : next(count, size);
}

void *realloc(void *old, size_t size)
{
	NEXT(realloc);
	return allocation_fails(__builtin_return_address(0)) ? NULL : next(old, size);
}

void *memalign(size_t alignment, size_t size)
{
	NEXT(memalign);
	return allocation_fails(__builtin_return_address(0)) ? NULL : next(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	NEXT(aligned_alloc);
	return allocation_fails(__builtin_return_address(0)) ? NULL : next(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
	NEXT(posix_memalign);
	return allocation_fails(__builtin_return_address(0)) ? ENOMEM : next(memory, alignment, size);
}

/* ---- system calls ---- */

/* In the child: all further calls of the kind are handed to the parent. */
static void install_filter(struct shared *counter)
{
	struct sock_filter code[CALLS_MAX + 3];
	unsigned short len = 0, calls = 0;
	while (calls < CALLS_MAX && (calls == 0 || kind->calls[calls])) /* read() may have the number 0: it is the first */
		calls++;
	code[len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (unsigned short i = 0; i < calls; i++)
		code[len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)kind->calls[i],
		                                           (unsigned char)(calls - i), 0);
	code[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	struct sock_fprog program = {len, code};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	atomic_store(&counter->listener, fd < 0 ? -1 : (int)fd);
}

static bool is_of(pid_t pid, pid_t thread)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/task/%d", pid, thread);
	return access(path, F_OK) == 0;
}

/* A program that handles no signal sees EINTR only where being stopped is one. */
static bool can_interrupt(pid_t pid, int nr)
{
	static const int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGUSR1, SIGUSR2, SIGCHLD, SIGALRM};
	char path[64], line[256];
	unsigned long long caught = 0, mask = 0;
	snprintf(path, sizeof path, "/proc/%d/status", pid);
	FILE *status = fopen(path, "r");
	while (status && fgets(line, sizeof line, status) && sscanf(line, "SigCgt: %llx", &caught) != 1)
		continue;
	if (status)
		fclose(status);
	for (size_t i = 0; i < sizeof handled / sizeof *handled; i++)
		mask |= 1ULL << (handled[i] - 1);
	return (caught & mask) || nr == SYS_poll || nr == SYS_ppoll || nr == SYS_epoll_wait || nr == SYS_epoll_pwait;
}

/* Names the object of the call, a file or a path, and the meaning. */
static void describe(struct shared *counter, pid_t pid, const struct seccomp_data *call)
{
	char link[64], target[PATH_MAX / 2] = "";
	int nr = call->nr, fd = (int)call->args[0];
	size_t path_at = nr == SYS_openat || nr == SYS_newfstatat || nr == SYS_unlinkat || nr == SYS_mkdirat;
	struct iovec here = {target, sizeof target - 1}, there = {(void *)(uintptr_t)call->args[path_at], here.iov_len};
	bool path = path_at || nr == SYS_open || nr == SYS_access || nr == SYS_unlink || nr == SYS_mkdir ||
	            nr == SYS_rename;
	if (path && process_vm_readv(pid, &here, 1, &there, 1, 0) < 0) { /* the text ends before the page does */
		here.iov_len = there.iov_len = 256 - (call->args[path_at] & 255);
		process_vm_readv(pid, &here, 1, &there, 1, 0);
	} else if (!path) {
		snprintf(link, sizeof link, "/proc/%d/fd/%d", pid, fd);
		if (readlink(link, target, sizeof target - 1) < 0)
			target[0] = '\0';
		snprintf(link, sizeof link, "/proc/%d/fdinfo/%d", pid, fd);
		unsigned flags = 0;
		FILE *info = fopen(link, "r");
		if (info && fscanf(info, "pos: %*s flags: %o", &flags) == 1 && (flags & O_ACCMODE) != O_RDONLY)
			counter->loses = nr == SYS_close && target[0] == '/' && !strstr(target, "/cache/") &&
			                 strncmp(target, "/dev/", 5) != 0 && !strstr(target, "(deleted)");
		if (info)
			fclose(info);
		counter->said = fd == STDERR_FILENO && (nr == SYS_write || nr == SYS_writev);
	}
	snprintf(counter->what, sizeof counter->what, "system call %d of %s", nr, target);
}

/* Does one byte of the call here. */
static void do_one_byte(int pidfd, pid_t pid, const struct seccomp_data *call, struct seccomp_notif_resp *answer)
{
	int fd = (int)syscall(SYS_pidfd_getfd, pidfd, (int)call->args[0], 0), nr = call->nr;
	char byte;
	struct iovec here = {&byte, 1}, there = {(void *)(uintptr_t)call->args[1], 1};
	bool reads = nr == SYS_read || nr == SYS_pread64 || nr == SYS_recvfrom;
	ssize_t done = reads ? 1 : process_vm_readv(pid, &here, 1, &there, 1, 0);
	if (nr == SYS_recvfrom)
		done = recv(fd, &byte, 1, (int)call->args[3]);
	else if (nr == SYS_sendto)
		done = send(fd, &byte, 1, (int)call->args[3]);
	else if (nr == SYS_pread64)
		done = pread(fd, &byte, 1, (off_t)call->args[3]);
	else if (nr == SYS_pwrite64)
		done = pwrite(fd, &byte, 1, (off_t)call->args[3]);
	else
		done = reads ? read(fd, &byte, 1) : write(fd, &byte, 1);
	answer->error = done < 0 ? -errno : 0;
	answer->val = done < 0 ? 0 : done;
	if (reads && done == 1)
		process_vm_writev(pid, &here, 1, &there, 1, 0);
	close(fd);
}

static void make_fail(struct shared *counter, int listener, int pidfd, pid_t pid, const struct seccomp_notif *asked,
                      struct seccomp_notif_resp *answer)
{
	const struct seccomp_data *call = &asked->data;
	if (kind->error ? kind->error == EINTR && !can_interrupt(pid, call->nr) : call->args[2] < 2)
		return;
	if (!counter->what[0])
		describe(counter, pid, call);
	else if (call->args[0] == STDERR_FILENO && (call->nr == SYS_write || call->nr == SYS_writev))
		return; /* fails further ones too: the message does not go where the output goes */
	answer->flags = 0;
	if (!kind->error) {
		do_one_byte(pidfd, pid, call, answer);
		return;
	}
	answer->error = call->nr == SYS_brk ? 0 : -kind->error; /* brk() fails by a lower end than asked for */
	if (call->nr != SYS_close)
		return;
	/* It closes the file all the same: another takes its place. */
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct seccomp_notif_addfd place = {
		.id = asked->id, .flags = SECCOMP_ADDFD_FLAG_SETFD, .srcfd = (unsigned)null, .newfd = (unsigned)call->args[0]};
	ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &place);
	close(null);
}

/* Counters, timers and signals of the kernel can be read and written whenever they are ready. */
static bool cannot_fail(pid_t pid, const struct seccomp_data *call)
{
	char link[64], target[32] = "";
	if (call->nr != SYS_read && call->nr != SYS_write)
		return false;
	snprintf(link, sizeof link, "/proc/%d/fd/%d", pid, (int)call->args[0]);
	return readlink(link, target, sizeof target - 1) > 0 && strncmp(target, "anon_inode:", 11) == 0;
}

/* Decides every call of the kind until the child has ended. */
static void supervise(struct shared *counter, pid_t pid, long at)
{
	while (!atomic_load(&counter->listener))
		sched_yield();
	if (counter->listener < 0) {
		puts("the kernel refuses to hand over system calls");
		exit(77);
	}
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int listener = (int)syscall(SYS_pidfd_getfd, pidfd, counter->listener, 0);
	struct pollfd wait[] = {{.fd = listener, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};
	while (listener >= 0 /* it has not ended */ && poll(wait, 2, -1) > 0 && !(wait[1].revents & POLLIN)) {
		struct seccomp_notif asked = {0};
		if (!(wait[0].revents & POLLIN) || ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) < 0)
			continue;
		struct seccomp_notif_resp answer = {.id = asked.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
		if (is_of(pid, (pid_t)asked.pid) && !cannot_fail(pid, &asked.data) && fails(count(counter), at))
			make_fail(counter, listener, pidfd, pid, &asked, &answer);
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
	close(listener);
	close(pidfd);
}

/* ---- a child's files ---- */

struct outcome {
	int status; /* by waitpid */
	char *out, *err;
	size_t out_len, err_len;
	char names[PATH_MAX]; /* the files it left, each after a newline */
	uint64_t files;       /* a sum over their names and contents */
};
static struct outcome *outcome; /* that leave_file adds to */
static char folder[PATH_MAX];

static char *contents(int fd, size_t *len)
{
	struct stat st;
	fstat(fd, &st);
	char *text = malloc((size_t)st.st_size + 1);
	ssize_t got = text ? pread(fd, text, (size_t)st.st_size, 0) : -1;
	if (got < 0)
		abort();
	text[got] = '\0';
	*len = (size_t)got;
	close(fd);
	return text;
}

/* Caches may be there or not. */
static int leave_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
	const char *name = path + strlen(folder);
	(void)st;
	(void)at;
	if (type == FTW_F && strncmp(name, "/cache/", 7) != 0) {
		size_t len, used = strlen(outcome->names);
		char *text = contents(open(path, O_RDONLY | O_CLOEXEC), &len);
		outcome->files += digest(digest(0xcbf29ce484222325, name, strlen(name)), text, len);
		free(text);
		snprintf(outcome->names + used, sizeof outcome->names - used, "\n%s\n", name + 1);
	}
	return remove(path);
}

/* Returns true in the child, which goes on to main(). */
static bool run(struct shared *counter, long at, struct outcome *o)
{
	int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
	*counter = (struct shared){0};
	*o = (struct outcome){0};
	fflush(stdout);
	lseek(STDIN_FILENO, 0, SEEK_SET);
	mkdir(folder, 0777);
	pid_t pid = fork();
	if (pid < 0 || out < 0 || err < 0)
		abort();
	if (pid == 0) {
		dup2(out, STDOUT_FILENO);
		dup2(err, STDERR_FILENO);
		close(out);
		close(err);
		if (chdir(folder) < 0)
			abort();
		alarm(DEADLINE_S);
		fail_at = at;
		shared = counter;
		if (kind != kinds)
			install_filter(counter);
		return true;
	}
	if (kind != kinds)
		supervise(counter, pid, at);
	waitpid(pid, &o->status, 0);
	o->out = contents(out, &o->out_len);
	o->err = contents(err, &o->err_len);
	outcome = o;
	nftw(folder, leave_file, 16, FTW_DEPTH | FTW_PHYS);
	return false;
}

static void release(struct outcome *o)
{
	free(o->out);
	free(o->err);
}

/* ---- correct results ---- */

static bool has_trailer(const struct outcome *o)
{
	static const char mark[] = "\n{\"end\":";
	return memmem(o->out, o->out_len, mark, sizeof mark - 1) != NULL;
}

static size_t lines(const struct outcome *o)
{
	size_t count = 0;
	for (size_t i = 0; i < o->out_len; i++)
		count += o->out[i] == '\n';
	return count;
}

/* Both runs skipped bad records: how many of how many depends on how far they came. */
static bool counts_skipped(const char *line, const struct outcome *whole)
{
	static const char words[] = ": skipped ";
	return strstr(line, words) && strstr(whole->err, words);
}

/* The line the undisturbed run did not say, if there is one, and it is the program saying it. */
static const char *only_new_line(const struct outcome *o, const struct outcome *whole)
{
	static char line[4096], found[4096];
	size_t new = 0;
	for (const char *at = o->err; *at; at += strcspn(at, "\n") + (strchr(at, '\n') != NULL)) {
		snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
		if (strstr(whole->err, line) || counts_skipped(line, whole))
			continue;
		new ++;
		memcpy(found, line, sizeof line);
	}
	size_t len = strlen(program_invocation_short_name);
	return new == 1 && strncmp(found, program_invocation_short_name, len) == 0 && found[len] == ':' ? found : NULL;
}

static bool is_harmless(const struct outcome *o, const struct outcome *whole, bool loose, const struct shared *counter)
{
	if (!WIFEXITED(o->status) || o->status != whole->status || counter->loses)
		return false;
	if (loose)
		return has_trailer(o) == has_trailer(whole) && lines(o) == lines(whole) && !strstr(o->err, "memory") &&
		       !strstr(o->out, "memory");
	return o->out_len == whole->out_len && memcmp(o->out, whole->out, o->out_len) == 0 && o->files == whole->files &&
	       (counter->said || strcmp(o->err, whole->err) == 0 ||
	        (!kind->harmless && only_new_line(o, whole) /* a warning */));
}

static bool left_more(const struct outcome *o, const struct outcome *whole)
{
	char line[PATH_MAX];
	for (const char *at = o->names; *at; at += 1 + strcspn(at + 1, "\n") + 1) {
		snprintf(line, sizeof line, "\n%.*s\n", (int)strcspn(at + 1, "\n"), at + 1);
		if (!strstr(whole->names, line))
			return true;
	}
	return false;
}

static bool is_reported(const struct outcome *o, const struct outcome *whole, const struct shared *counter)
{
	const char *line = only_new_line(o, whole);
	if (!WIFEXITED(o->status) || WEXITSTATUS(o->status) != 1 || left_more(o, whole))
		return false;
	if (counter->said)
		return true;
	if (!line || (kind->harmless && kind->error))
		return false;
	if (kind->error == ENOMEM && strstr(line, "thread: Resource temporarily unavailable"))
		return true; /* pthread_create() says no more */
	if (kind->error == ENOMEM)
		return strstr(line, "memory") && (kind != kinds || !has_trailer(o));
	return strstr(line, strerror(kind->error)) || strstr(line, "memory");
}

static void complain(long n, const struct outcome *o, const struct outcome *whole, const struct shared *counter)
{
	Dl_info where = {0};
	printf("%ld: ", n);
	if (WIFSIGNALED(o->status))
		printf("signal %d", WTERMSIG(o->status));
	else
		printf("status %d", WEXITSTATUS(o->status));
	printf(", %s trailer, ", has_trailer(o) ? "a" : "no");
	if (o->out_len != whole->out_len || memcmp(o->out, whole->out, o->out_len) != 0)
		printf("other output, ");
	if (o->files != whole->files)
		printf("%s files, ", left_more(o, whole) ? "more" : "other");
	if (kind == kinds) {
		dladdr(counter->caller, &where);
		printf("at %s+0x%lx", where.dli_fname ? where.dli_fname : "?",
		       (unsigned long)((char *)counter->caller - (char *)where.dli_fbase));
	} else {
		printf("%s", counter->what);
	}
	const char *said = only_new_line(o, whole);
	printf(", said: %s\n", said ? said : o->err);
}

static long number(const char *name, long otherwise)
{
	const char *text = getenv(name);
	return text ? atol(text) : otherwise;
}

static void choose_kind(void)
{
	const char *name = getenv("FAIL_KIND");
	for (size_t i = 0; name && i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(name, kinds[i].name) == 0)
			kind = &kinds[i];
	if (name && strcmp(name, kind->name) != 0) {
		printf("no kind of calls: %s\n", name);
		exit(2);
	}
}

/* A child's environment. */
static void prepare_folder(void)
{
	char path[PATH_MAX + 8], *here = getcwd(NULL, 0);
	snprintf(folder, sizeof folder, "%s/fail.%d", here, getpid());
	snprintf(path, sizeof path, "%s/cache", folder);
	setenv("TMPDIR", folder, 1);
	setenv("HOME", folder, 1);
	setenv("XDG_CACHE_HOME", path, 1);
	unsetenv("LD_PRELOAD"); /* its own children are none of ours */
	free(here);
}

__attribute__((constructor)) static void serve(void)
{
	long step = number("FAIL_STEP", 1), most = number("FAIL_PLACES", 0), tried = 0, harmless = 0, wrong = 0;
	bool loose = number("FAIL_LOOSE", 0);
	struct outcome whole, o;
	struct shared *counter = mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fail_rest = number("FAIL_REST", 0);
	if (counter == MAP_FAILED)
		abort();
	choose_kind();
	prepare_folder();
	if (most && kind == kinds)
		remember_places();
	if (run(counter, 0, &whole))
		return;
	long calls = counter->calls;
	for (long n = number("FAIL_FROM", 1); n <= calls; n += step) {
		if (is_known_place(n, most))
			continue;
		if (run(counter, n, &o))
			return;
		bool good = is_harmless(&o, &whole, loose, counter);
		tried++;
		harmless += good;
		if (!good && !is_reported(&o, &whole, counter)) {
			wrong++;
			complain(n, &o, &whole, counter);
		}
		release(&o);
	}
	printf("%ld calls, %ld tried, %ld harmless, %ld wrong; status %d\n", calls, tried, harmless, wrong,
	       WIFEXITED(whole.status) ? WEXITSTATUS(whole.status) : -1);
	fflush(stdout);
	_exit(wrong > 0);
}
