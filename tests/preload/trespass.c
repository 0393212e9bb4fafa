/* Preloaded: at the end of each thread, and of the program, makes the calls --sandbox must refuse, and prints the
 * outcome on standard error: "trespass: create: EPERM". TRESPASS_FOLDER has the files secret and victim, and is not the
 * folder of the program's output; TRESPASS_PORT is one that the program does not need.
 *
 * TRESPASS=execve (ptrace, process_vm_readv, bpf) does only that, at the program's end: nothing is said, since it ends
 * the program.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *what, long result)
{
	int why = errno;
	char line[128];
	int len = snprintf(line, sizeof line, "trespass: %s: %s\n", what, result >= 0 ? "done" : strerrorname_np(why));
	if (write(STDERR_FILENO, line, (size_t)len) < 0)
		abort();
}

static const char *in_folder(const char *name, char path[4096])
{
	snprintf(path, 4096, "%s/%s", getenv("TRESPASS_FOLDER"), name);
	return path;
}

static void try_files(void)
{
	char path[4096], other[4096];
	say("write to /etc/passwd", open("/etc/passwd", O_WRONLY | O_APPEND));
	say("write", open(in_folder("victim", path), O_WRONLY));
	say("create", open(in_folder("new", path), O_WRONLY | O_CREAT, 0600));
	say("create here", open("trespass.new", O_RDWR | O_CREAT, 0600));
	say("read", open(in_folder("secret", path), O_RDONLY));
	say("remove", unlink(in_folder("victim", path)));
	say("rename", rename(in_folder("victim", path), in_folder("other", other)));
	say("mode", chmod(in_folder("victim", path), 0777));
}

static void try_network(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	at.sin_port = htons((uint16_t)atoi(getenv("TRESPASS_PORT")));
	say("connect", fd < 0 ? fd : connect(fd, (struct sockaddr *)&at, sizeof at));
	at.sin_port = 0;
	fd = socket(AF_INET, SOCK_STREAM, 0);
	say("listen", fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) < 0 ? -1 : listen(fd, 1));
	say("ping", socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP));
	say("packets", socket(AF_PACKET, SOCK_RAW, 0));
	say("multipath TCP", socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP));
}

static void try_processes(void)
{
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	say("fork", pid);
	say("signal", kill(getppid(), 0));
	say("owner", fcntl(STDERR_FILENO, F_SETOWN, getppid())); /* who gets SIGIO of the file */
	say("priority", setpriority(PRIO_PROCESS, (id_t)getppid(), 19));
	say("executable memory",
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1
	                                                                                                           : 0);
}

static void try_all(void)
{
	try_files();
	try_network();
	try_processes();
}

static void try_deadly(const char *what)
{
	static char byte;
	struct iovec part = {&byte, 1};
	union bpf_attr map = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
	if (!strcmp(what, "execve"))
		execl("/bin/true", "true", (char *)NULL);
	else if (!strcmp(what, "ptrace"))
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	else if (!strcmp(what, "process_vm_readv"))
		process_vm_readv(getppid(), &part, 1, &part, 1, 0);
	else if (!strcmp(what, "bpf"))
		syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof map);
}

struct started {
	void *(*run)(void *);
	void *data;
};

static void *run_and_try(void *data)
{
	struct started started = *(struct started *)data;
	free(data);
	void *result = started.run(started.data);
	try_all();
	return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *data)
{
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = (int (*)(
		pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
	struct started *started = malloc(sizeof *started);
	if (!started || getenv("TRESPASS"))
		return create(thread, attributes, run, data);
	*started = (struct started){run, data};
	return create(thread, attributes, run_and_try, started);
}

__attribute__((destructor)) static void at_end(void)
{
	const char *what = getenv("TRESPASS");
	if (what)
		try_deadly(what);
	else
		try_all();
}
