/* Preloaded: at the program's end, makes the system calls of the file that ATTEMPTS names, one after another, and
 * prints the verdict of the filters of --sandbox on each on standard error: "attempt 7 passes", "attempt 7 EPERM".
 *
 * A line of the file is "NUMBER ARGUMENT…", six arguments, all in hexadecimal; "own" is the process's number. "int80"
 * before it enters the kernel as a 32-bit program does. A call that passes is never made: a filter of our own, from
 * before --sandbox, hands it to a tracer, and there is none, so the kernel answers ENOSYS. It looks only at calls of
 * this library, by the address of the instruction, and leaves those in "real" lines alone: they are made, and "attempt
 * 7 ENOSYS" is the kernel's answer or the sandbox's. For x86-64.
 */
#if defined __x86_64__
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ATTEMPTS_MOST 65536

struct attempt {
	enum { OBSERVED, REAL, INT80 } way;
	unsigned long number, arguments[6];
};

static struct attempt *attempts;
static size_t count;

long call_observed(unsigned long number, const unsigned long *arguments);
long call_real(unsigned long number, const unsigned long *arguments);
long call_int80(unsigned long number, const unsigned long *arguments);
extern const char after_observed[];

/* The kernel sees the address after the instruction. */
#define CALL(name_, label_)                                                                                            \
	__asm__(".text\n" #name_                                                                                           \
	        ":\n push %rbx\n mov %rdi, %rax\n mov %rsi, %rbx\n mov (%rbx), %rdi\n mov 8(%rbx), %rsi\n"                 \
	        "mov 16(%rbx), %rdx\n mov 24(%rbx), %r10\n mov 32(%rbx), %r8\n mov 40(%rbx), %r9\n syscall\n" label_       \
	        "pop %rbx\n ret\n")
CALL(call_observed, "after_observed:\n");
CALL(call_real, "");
__asm__(".text\ncall_int80:\n push %rbx\n mov %rdi, %rax\n mov (%rsi), %rbx\n mov 8(%rsi), %rcx\n mov 16(%rsi), %rdx\n"
        "int $0x80\n pop %rbx\n ret\n");

static void fail(const char *why)
{
	fprintf(stderr, "attempts: %s\n", why);
	_exit(70);
}

static void load(const char *path)
{
	char line[512];
	FILE *file = fopen(path, "r");
	attempts = calloc(ATTEMPTS_MOST, sizeof *attempts);
	if (!file || !attempts)
		fail("no file");
	while (count < ATTEMPTS_MOST && fgets(line, sizeof line, file)) {
		struct attempt *a = &attempts[count++];
		a->way = !strncmp(line, "int80 ", 6) ? INT80 : !strncmp(line, "real ", 5) ? REAL : OBSERVED;
		char *at = a->way == OBSERVED ? line : strchr(line, ' ');
		a->number = strtoul(at, &at, 16);
		for (int i = 0; i < 6; i++) {
			bool own = !strncmp(at, " own", 4);
			a->arguments[i] = own ? (unsigned long)getpid() : strtoul(at, &at, 16);
			at += own ? 4 : 0;
		}
	}
	fclose(file);
}

static void observe(void)
{
	uint64_t at = (uint64_t)(uintptr_t)after_observed;
	unsigned low = offsetof(struct seccomp_data, instruction_pointer);
	struct sock_filter lines[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, low),      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)at, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, low + 4),  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(at >> 32), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof lines / sizeof *lines, lines};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		fail("no filter");
}

__attribute__((constructor)) static void at_start(void)
{
	const char *path = getenv("ATTEMPTS");
	if (!path)
		fail("ATTEMPTS is not set");
	load(path);
	observe();
}

__attribute__((destructor)) static void at_end(void)
{
	static long (*const ways[])(unsigned long, const unsigned long *) = {
		[OBSERVED] = call_observed, [REAL] = call_real, [INT80] = call_int80};
	for (size_t i = 0; i < count; i++) {
		long got = ways[attempts[i].way](attempts[i].number, attempts[i].arguments);
		const char *name = got < 0 && got > -4096 ? strerrorname_np((int)-got) : "done";
		char line[64];
		if (attempts[i].way == OBSERVED && got == -ENOSYS)
			name = "passes";
		int len = snprintf(line, sizeof line, "attempt %zu %s\n", i, name ? name : "?");
		if (write(STDERR_FILENO, line, (size_t)len) < 0)
			abort();
	}
}
#endif
