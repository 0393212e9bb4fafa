#include "sandbox/call_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define X32_CALLS    0x40000000u /* on x86: the same calls by another convention */
#define NEWEST_CALL  450u        /* the kernel this list was made for; Linux 6.0 */
#define CHECKS_MOST  3
#define LINES_OF_ROW (5 + 3 * CHECKS_MOST)
#define OWN_PROCESS  UINT32_MAX /* as a value: our process id */

/* An argument, of which only the lower half is looked at: (argument & mask) == value. */
struct check {
	uint8_t argument; /* from 0 */
	uint32_t mask;    /* 0: no check */
	uint32_t value;
};

/* Several rows of a call are alternatives. */
struct row {
	long call;
	unsigned needs; /* enum call_needs, any of which it takes; 0: always */
	struct check checks[CHECKS_MOST];
};

#define ALLOW(call_)               {.call = SYS_##call_}
#define FOR(needs_, call_)         {.call = SYS_##call_, .needs = (needs_)}
#define IF(call_, ...)             {.call = SYS_##call_, .checks = {__VA_ARGS__}}
#define FOR_IF(needs_, call_, ...) {.call = SYS_##call_, .needs = (needs_), .checks = {__VA_ARGS__}}
#define WRITES                     (O_ACCMODE | O_CREAT | O_TRUNC)
#define KIND_OF_SOCKET             0xfu
#define SOCKETS                    (CALLS_CONNECT | CALLS_ACCEPT)
#define OURSELVES                  0 /* as a process: the calling thread */
#define INTERNET_SOCKET(family_, kind_, protocol_)                                        \
	FOR_IF(CALLS_CONNECT, socket, {0, UINT32_MAX, (family_)}, {1, KIND_OF_SOCKET, (kind_)}, \
	       {2, UINT32_MAX, (protocol_)})

/* clang-format off */
static const struct row allowed[] = {
	/* often, with arguments to look at */
	FOR_IF(SOCKETS, sendto, {3, MSG_FASTOPEN, 0}), /* which would connect past landlock */
	FOR_IF(SOCKETS, sendmsg, {2, MSG_FASTOPEN, 0}),
	FOR_IF(SOCKETS, sendmmsg, {3, MSG_FASTOPEN, 0}),
	/* reading, writing, waiting */
	ALLOW(read), ALLOW(write), ALLOW(readv), ALLOW(writev), ALLOW(pread64), ALLOW(pwrite64), ALLOW(lseek), ALLOW(close),
	ALLOW(dup), ALLOW(dup3), ALLOW(pipe2), ALLOW(ppoll), ALLOW(pselect6), ALLOW(fsync), ALLOW(fdatasync),
	ALLOW(fadvise64), ALLOW(epoll_create1), ALLOW(epoll_ctl), ALLOW(epoll_pwait), ALLOW(epoll_pwait2), ALLOW(eventfd2),
	ALLOW(timerfd_create), ALLOW(timerfd_settime), ALLOW(timerfd_gettime), ALLOW(getrandom),
	IF(ioctl, {1, UINT32_MAX, TCGETS}), IF(ioctl, {1, UINT32_MAX, TIOCGWINSZ}), IF(ioctl, {1, UINT32_MAX, TIOCGPGRP}),
	IF(ioctl, {1, UINT32_MAX, FIONBIO}), IF(ioctl, {1, UINT32_MAX, FIONREAD}),
	/* not to choose who gets a file's signals: any process would do */
	IF(fcntl, {1, UINT32_MAX, F_GETFL}), IF(fcntl, {1, UINT32_MAX, F_SETFL}), IF(fcntl, {1, UINT32_MAX, F_GETFD}),
	IF(fcntl, {1, UINT32_MAX, F_SETFD}), IF(fcntl, {1, UINT32_MAX, F_DUPFD}), IF(fcntl, {1, UINT32_MAX, F_DUPFD_CLOEXEC}),
	IF(fcntl, {1, UINT32_MAX, F_GETLK}), IF(fcntl, {1, UINT32_MAX, F_SETLK}),
	/* files, for reading; landlock says which */
	IF(openat, {2, WRITES, O_RDONLY}), ALLOW(fstat), ALLOW(newfstatat), ALLOW(statx), ALLOW(getdents64), ALLOW(readlinkat),
	ALLOW(faccessat), ALLOW(faccessat2), ALLOW(getcwd), ALLOW(fstatfs), ALLOW(statfs),
	/* memory and threads */
	ALLOW(brk), ALLOW(munmap), ALLOW(mremap), ALLOW(madvise), ALLOW(futex), ALLOW(set_robust_list), ALLOW(rseq),
	ALLOW(membarrier), ALLOW(exit), ALLOW(exit_group), ALLOW(gettid), ALLOW(sched_yield), ALLOW(sched_getaffinity),
	IF(mmap, {2, PROT_EXEC, 0}), IF(mmap, {2, PROT_WRITE, 0}),
	IF(mprotect, {2, PROT_EXEC, 0}), IF(mprotect, {2, PROT_WRITE, 0}),
	IF(clone, {0, CLONE_THREAD, CLONE_THREAD}),
	IF(prctl, {0, UINT32_MAX, PR_SET_NAME}), IF(prctl, {0, UINT32_MAX, PR_SET_TIMERSLACK}),
	/* signals, to ourselves only */
	ALLOW(rt_sigaction), ALLOW(rt_sigprocmask), ALLOW(rt_sigreturn), ALLOW(rt_sigtimedwait), ALLOW(sigaltstack),
	ALLOW(signalfd4), ALLOW(restart_syscall), IF(tgkill, {0, UINT32_MAX, OWN_PROCESS}),
	/* clocks, and facts about the process and the machine */
	ALLOW(clock_gettime), ALLOW(clock_getres), ALLOW(clock_nanosleep), ALLOW(nanosleep), ALLOW(gettimeofday), ALLOW(times),
	ALLOW(getpid), ALLOW(getppid), ALLOW(getpgid), ALLOW(getuid), ALLOW(geteuid), ALLOW(getgid), ALLOW(getegid),
	ALLOW(getrusage), IF(prlimit64, {0, UINT32_MAX, 0}), ALLOW(sysinfo), ALLOW(uname),
	ALLOW(sched_getscheduler), ALLOW(getpriority),
	FOR_IF(CALLS_PRIORITY, setpriority, {0, UINT32_MAX, PRIO_PROCESS}, {1, UINT32_MAX, OURSELVES}),
	FOR_IF(CALLS_PRIORITY, sched_setscheduler, {0, UINT32_MAX, OURSELVES}),
	FOR_IF(CALLS_PRIORITY, sched_setattr, {0, UINT32_MAX, OURSELVES}),
	FOR(CALLS_CLOCK, clock_adjtime), FOR(CALLS_CLOCK, adjtimex), /* to set it takes a capability, which is gone */
	/* sockets */
	FOR(SOCKETS, recvfrom), FOR(SOCKETS, recvmsg), FOR(SOCKETS, recvmmsg), FOR(SOCKETS, getsockopt), FOR(SOCKETS, setsockopt),
	FOR(SOCKETS, getsockname), FOR(SOCKETS, getpeername), FOR(SOCKETS, shutdown),
	FOR(CALLS_ACCEPT, accept4), FOR(CALLS_ACCEPT, accept),
	FOR(CALLS_CONNECT, connect), FOR(CALLS_CONNECT, bind), FOR(CALLS_CONNECT, socketpair),
	INTERNET_SOCKET(AF_INET, SOCK_STREAM, 0), INTERNET_SOCKET(AF_INET, SOCK_STREAM, IPPROTO_TCP),
	INTERNET_SOCKET(AF_INET6, SOCK_STREAM, 0), INTERNET_SOCKET(AF_INET6, SOCK_STREAM, IPPROTO_TCP),
	INTERNET_SOCKET(AF_INET, SOCK_DGRAM, 0), INTERNET_SOCKET(AF_INET, SOCK_DGRAM, IPPROTO_UDP),
	INTERNET_SOCKET(AF_INET6, SOCK_DGRAM, 0), INTERNET_SOCKET(AF_INET6, SOCK_DGRAM, IPPROTO_UDP),
	FOR_IF(CALLS_CONNECT, socket, {0, UINT32_MAX, AF_NETLINK}, {2, UINT32_MAX, NETLINK_ROUTE}),
	FOR_IF(CALLS_CONNECT, socket, {0, UINT32_MAX, AF_UNIX}),
	/* calls of older architectures only */
#ifdef SYS_open
	IF(open, {1, WRITES, O_RDONLY}), ALLOW(stat), ALLOW(lstat), ALLOW(access), ALLOW(readlink), ALLOW(poll), ALLOW(select),
	ALLOW(dup2), ALLOW(pipe), ALLOW(epoll_wait), ALLOW(time), ALLOW(getpgrp),
#endif
};

static const long deadly[] = {
	SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_getfd, SYS_bpf,
	SYS_perf_event_open, SYS_userfaultfd, SYS_io_uring_setup, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot,
	SYS_setns, SYS_unshare, SYS_open_by_handle_at, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load,
	SYS_add_key, SYS_keyctl, SYS_request_key, SYS_reboot, SYS_swapon, SYS_setuid, SYS_setgid, SYS_setresuid, SYS_setresgid,
	SYS_capset,
};
/* clang-format on */

#define COUNT_OF(array_) (sizeof(array_) / sizeof *(array_))
#define FIELD(member_)   ((uint32_t)offsetof(struct seccomp_data, member_))

static uint32_t argument_at(unsigned argument)
{
	unsigned low = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0;
	return FIELD(args) + 8 * argument + low;
}

struct program_text {
	struct sock_filter *lines;
	size_t count;
};

static void line(struct program_text *p, struct sock_filter next)
{
	p->lines[p->count++] = next;
}

static void load(struct program_text *p, uint32_t field)
{
	line(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, field));
}

static void end(struct program_text *p, uint32_t action)
{
	line(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* Goes on if the value is this one, else jumps over `otherwise` lines. */
static void unless(struct program_text *p, uint32_t value, size_t otherwise)
{
	line(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, (uint8_t)otherwise));
}

/* Begins and ends with the call's number loaded. */
static void put_row(struct program_text *p, const struct row *row)
{
	size_t checks = 0;
	while (checks < CHECKS_MOST && row->checks[checks].mask)
		checks++;
	unless(p, (uint32_t)row->call, checks ? 3 * checks + 2 : 1);
	for (size_t i = 0; i < checks; i++) {
		const struct check *c = &row->checks[i];
		load(p, argument_at(c->argument));
		line(p, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, c->mask));
		unless(p, c->value == OWN_PROCESS ? (uint32_t)getpid() : c->value, 3 * (checks - i - 1) + 1);
	}
	end(p, SECCOMP_RET_ALLOW);
	if (checks)
		load(p, FIELD(nr));
}

static void put_end(struct program_text *p, long call, uint32_t action)
{
	unless(p, (uint32_t)call, 1);
	end(p, action);
}

#ifdef ARCHITECTURE
static void put_program(struct program_text *p, unsigned needs)
{
	load(p, FIELD(arch));
	line(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0));
	end(p, SECCOMP_RET_KILL_PROCESS);
	load(p, FIELD(nr));
	line(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_CALLS, 0, 1));
	end(p, SECCOMP_RET_KILL_PROCESS);
	for (size_t i = 0; i < COUNT_OF(allowed); i++)
		if (!allowed[i].needs || (allowed[i].needs & needs))
			put_row(p, &allowed[i]);
	for (size_t i = 0; i < COUNT_OF(deadly); i++)
		put_end(p, deadly[i], SECCOMP_RET_KILL_PROCESS);
	/* its arguments are in memory, which a filter does not see; without it, the C library uses clone */
	put_end(p, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
	line(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, NEWEST_CALL, 0, 1));
	end(p, SECCOMP_RET_ERRNO | ENOSYS);
	end(p, SECCOMP_RET_ERRNO | EPERM);
}
#endif

const char *call_filter_unavailable(void)
{
#ifdef ARCHITECTURE
	uint32_t action = SECCOMP_RET_KILL_PROCESS;
	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0
	           ? NULL
	           : "this kernel has no filters of system calls (seccomp)";
#else
	return "no filter of system calls is written for this processor: only for x86-64 and arm64";
#endif
}

int call_filter_install(unsigned needs, struct ipf_error *err)
{
#ifdef ARCHITECTURE
	struct program_text text = {
		calloc(16 + COUNT_OF(allowed) * LINES_OF_ROW + COUNT_OF(deadly) * 2, sizeof *text.lines), 0};
	if (!text.lines)
		return ipf_error_memory(err);
	put_program(&text, needs);
	struct sock_fprog program = {(unsigned short)text.count, text.lines};
	long failed = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (!failed)
		failed = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
	int why = errno;
	free(text.lines);
	if (failed > 0) /* a thread with a filter of others */
		return ipf_error_set(err, IPF_SYSTEM, "--sandbox: cannot limit the system calls of thread %ld", failed);
	return failed ? ipf_error_errno(err, why, NULL, "--sandbox: cannot limit system calls") : 0;
#else
	(void)needs;
	return ipf_error_set(err, IPF_SYSTEM, "--sandbox: %s", call_filter_unavailable());
#endif
}
