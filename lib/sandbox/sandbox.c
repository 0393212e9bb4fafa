#include "sandbox/sandbox.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's interface, of which Debian 12's headers know the first version only: rights of files. */
enum {
	EXECUTE = 1 << 0,
	WRITE_FILE = 1 << 1,
	READ_FILE = 1 << 2,
	READ_DIR = 1 << 3,
	MAKE_REG = 1 << 8,
	OF_VERSION_1 = (1 << 13) - 1,
	REFER = 1 << 13,     /* since version 2 */
	TRUNCATE = 1 << 14,  /* 3 */
	IOCTL_DEV = 1 << 15, /* 5 */
};
enum { BIND_TCP = 1 << 0, CONNECT_TCP = 1 << 1 };               /* 4 */
enum { ABSTRACT_UNIX_SOCKET = 1 << 0, SIGNAL_OTHERS = 1 << 1 }; /* 6 */
enum { RULE_PATH = 1, RULE_PORT = 2, ASK_VERSION = 1 };

struct ruleset_rights {
	uint64_t files, ports, scoped;
};
struct __attribute__((packed)) path_rule {
	uint64_t rights;
	int32_t fd;
};
struct port_rule {
	uint64_t rights, port;
};

/* Files that libraries open on first use. No folder of keys is among them. */
static const char *const libraries_read[] = {
	/* the loader: modules of lookups, of OpenSSL, of character sets */
	"/etc/ld.so.cache",
	"/lib",
	"/lib64",
	"/usr/lib",
	"/usr/lib64",
	"/usr/local/lib",
	/* lookups of names */
	"/etc/resolv.conf",
	"/etc/hosts",
	"/etc/host.conf",
	"/etc/nsswitch.conf",
	"/etc/gai.conf",
	"/etc/services",
	"/etc/protocols",
	/* certificates that are trusted */
	"/etc/ssl/openssl.cnf",
	"/etc/ssl/cert.pem",
	"/etc/ssl/certs",
	"/etc/ssl/ca-bundle.pem",
	"/var/lib/ca-certificates",
	"/etc/pki/tls/openssl.cnf",
	"/etc/pki/tls/cert.pem",
	"/etc/pki/tls/certs",
	"/etc/pki/ca-trust",
	"/etc/crypto-policies",
	"/usr/share/ca-certificates",
	"/usr/local/share/ca-certificates",
	/* times, the process and the machine */
	"/etc/localtime",
	"/usr/share/zoneinfo",
	"/dev/null",
	"/dev/random",
	"/dev/urandom",
	"/proc/self",
	"/proc/stat",
	"/proc/meminfo",
	"/sys/devices/system/cpu",
	"/sys/fs/cgroup",
};

/* Variables that give such files other places. */
static const char *const places[] = {"SSL_CERT_FILE", "SSL_CERT_DIR", "OPENSSL_CONF", "OPENSSL_MODULES", "HOSTALIASES"};

static uint64_t rights_of_files(const struct sandbox *s)
{
	uint64_t rights = OF_VERSION_1;
	rights |= s->version >= 2 ? REFER : 0;
	rights |= s->version >= 3 ? TRUNCATE : 0;
	return rights | (s->version >= 5 ? IOCTL_DEV : 0);
}

int sandbox_begin(struct sandbox *s, struct ipf_error *err)
{
	const char *why = call_filter_unavailable();
	*s = (struct sandbox){.ruleset = -1};
	if (why)
		return ipf_error_set(err, IPF_SYSTEM, "--sandbox: %s", why);
	s->version = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, ASK_VERSION);
	if (s->version < 1) {
		s->missing = "this kernel has no landlock: which files can be read and which ports be reached is not limited";
		return 0;
	}
	if (s->version < 4)
		s->missing = "this kernel's landlock is older than Linux 6.7: which ports can be reached is not limited";
	struct ruleset_rights all = {.files = rights_of_files(s),
	                             .ports = s->version >= 4 ? BIND_TCP | CONNECT_TCP : 0,
	                             .scoped = s->version >= 6 ? ABSTRACT_UNIX_SOCKET | SIGNAL_OTHERS : 0};
	s->ruleset = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0);
	if (s->ruleset < 0)
		return ipf_error_errno(err, errno, NULL, "--sandbox: cannot limit files");
	for (size_t i = 0; i < sizeof libraries_read / sizeof *libraries_read; i++)
		sandbox_read(s, libraries_read[i]);
	/* the C library may be elsewhere (packaging/bundle), and loads libgcc_s when a thread ends */
	Dl_info c_library;
	if (dladdr((const void *)(uintptr_t)getenv, &c_library))
		sandbox_read_again(s, c_library.dli_fname);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		sandbox_read(s, getenv(places[i]));
	return 0;
}

/* Anything but a file or folder (a pipe by /dev/fd/63) is not limited, and has no rule: EBADFD. */
static void allow(struct sandbox *s, const char *path, uint64_t rights)
{
	struct stat st;
	int fd = s->ruleset >= 0 && path && *path ? open(path, O_PATH | O_CLOEXEC) : -1;
	if (fd < 0)
		return;
	uint64_t of_files = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;
	bool folder = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
	struct path_rule rule = {.rights = rights & rights_of_files(s) & (folder ? UINT64_MAX : of_files), .fd = fd};
	if (syscall(SYS_landlock_add_rule, s->ruleset, RULE_PATH, &rule, 0) < 0 && errno != EBADFD && !s->failure)
		s->failure = errno;
	close(fd);
}

static void allow_folder_of(struct sandbox *s, const char *path, uint64_t rights)
{
	const char *slash = strrchr(path, '/');
	char *folder = !slash ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
	if (folder)
		allow(s, folder, rights);
	else
		s->failure = ENOMEM;
	free(folder);
}

void sandbox_read(struct sandbox *s, const char *path)
{
	allow(s, path, READ_FILE | READ_DIR);
}

void sandbox_read_again(struct sandbox *s, const char *path)
{
	if (path && *path)
		allow_folder_of(s, path, READ_FILE);
}

void sandbox_write(struct sandbox *s, const char *path)
{
	if (!path || !strcmp(path, "-"))
		return;
	if (access(path, F_OK) == 0)
		allow(s, path, READ_FILE | WRITE_FILE | TRUNCATE);
	else
		allow_folder_of(s, path, READ_FILE | WRITE_FILE | TRUNCATE | MAKE_REG);
}

void sandbox_files(struct sandbox *s, const void *options, const struct sandbox_file *files, size_t count)
{
	for (size_t i = 0; i < count; i++)
		files[i].allow(s, *(const char *const *)(const void *)((const char *)options + files[i].path));
}

static void allow_port(struct sandbox *s, int port, uint64_t rights)
{
	struct port_rule rule = {rights, (uint64_t)port};
	if (s->version >= 4 && syscall(SYS_landlock_add_rule, s->ruleset, RULE_PORT, &rule, 0) < 0 && !s->failure)
		s->failure = errno;
}

void sandbox_connect(struct sandbox *s, int port)
{
	if (port > 0)
		allow_port(s, port, CONNECT_TCP);
}

void sandbox_bind(struct sandbox *s, int port)
{
	allow_port(s, port > 0 ? port : 0, BIND_TCP);
}

void sandbox_look_up_names(struct sandbox *s)
{
	sandbox_connect(s, 53);
}

/* Root keeps: opening the files allowed, and priorities of threads. */
static int drop_capabilities(void)
{
	const uint32_t kept = 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH | 1u << CAP_NET_BIND_SERVICE |
	                      1u << CAP_SYS_NICE;
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct held[_LINUX_CAPABILITY_U32S_3];
	if (syscall(SYS_capget, &header, held) < 0)
		return -1;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		held[i].permitted &= i ? 0 : kept;
		held[i].effective &= i ? 0 : kept;
		held[i].inheritable = 0;
	}
	return (int)syscall(SYS_capset, &header, held);
}

int sandbox_enter(struct sandbox *s, struct ipf_error *err)
{
	int failed = s->failure;
	if (!failed && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || drop_capabilities() < 0))
		failed = errno;
	if (!failed && s->ruleset >= 0 && syscall(SYS_landlock_restrict_self, s->ruleset, 0) < 0)
		failed = errno;
	if (s->ruleset >= 0)
		close(s->ruleset);
	s->ruleset = -1;
	if (failed)
		return ipf_error_errno(err, failed, NULL, "--sandbox: cannot limit files");
	ipf_error_denied = "--sandbox may have refused it";
	return 0;
}

int sandbox_close_files(unsigned needs, struct ipf_error *err)
{
	return call_filter_install(needs, err);
}
