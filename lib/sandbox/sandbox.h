/* --sandbox: once everything is open, the process gives up unused permissions, so an answer or a file taking it over
 * can do little with it. In two steps, since the output is opened late:
 *
 *     struct sandbox s;
 *     sandbox_begin(&s, &err);              // refuses where the kernel cannot
 *     if (s.missing) …                      // warn: what it cannot limit
 *     sandbox_read(&s, options->trace);     // what is opened later: files, and ports of TCP
 *     sandbox_write(&s, options->output);
 *     sandbox_connect(&s, 8000);
 *     sandbox_enter(&s, &err);              // 1. before the first thread: files and ports, by landlock
 *     …                                     // the output is opened
 *     sandbox_close_files(CALLS_CONNECT, &err);  // 2. no more files for writing, few system calls, by seccomp
 *
 * From the first step on, root has lost its powers beyond other users, except to open files of theirs. Only these can
 * be opened: named files, and those libraries read late (libraries themselves, certificates, the configuration of
 * lookups, /proc/self, the cgroups). Nothing is executed, no signal and no abstract Unix socket reaches another
 * process. Descriptors that are open stay as they are. From the second step on, system calls are those of
 * call_filter.h. Neither can be undone, and neither needs privileges.
 *
 * Errors naming an errno it may have caused say so from the first step on (ipf_error_denied, error.h).
 */
#ifndef IPF_SANDBOX_H
#define IPF_SANDBOX_H

#include "sandbox/call_filter.h"

#include <stddef.h>

struct sandbox {
	int ruleset;         /* -1: this kernel has no landlock */
	int version;         /* landlock's interface version */
	int failure;         /* errno of the first rule that failed; 0 */
	const char *missing; /* the limits this kernel lacks; NULL: none */
};

/* -1: IPF_SYSTEM, without filters of system calls. */
int sandbox_begin(struct sandbox *s, struct ipf_error *err);

/* Each of these takes NULL for nothing, and missing files are left out. A folder is meant with all below it. */
void sandbox_read(struct sandbox *s, const char *path);
/* The file, and later files of its name or beside it: for files replaced while they are used. */
void sandbox_read_again(struct sandbox *s, const char *path);
/* Or create it, for which its folder is opened until the second step. "-": nothing. */
void sandbox_write(struct sandbox *s, const char *path);
/* An option whose file is opened, or opened again, after the first thread has been started. */
struct sandbox_file {
	size_t path; /* offset of its char * in the options */
	void (*allow)(struct sandbox *s, const char *path);
};
void sandbox_files(struct sandbox *s, const void *options, const struct sandbox_file *files, size_t count);
/* TCP ports; 0 or less: none to connect to, any free one to bind to. UDP is not limited. */
void sandbox_connect(struct sandbox *s, int port);
void sandbox_bind(struct sandbox *s, int port);
/* Over TCP where an answer is too long for UDP. */
void sandbox_look_up_names(struct sandbox *s);

/* Before other threads are started: of those that run, it does not know. -1: IPF_SYSTEM. */
int sandbox_enter(struct sandbox *s, struct ipf_error *err);
/* For all threads. `needs`: enum call_needs. -1: IPF_SYSTEM. */
int sandbox_close_files(unsigned needs, struct ipf_error *err);

#endif
