"""Random system calls against the filters of --sandbox: an intruder makes them at the program's end (preload/attempts.c), and each
has its fate by the rules below, which state those of the filter anew.

    random_calls.py SEED COUNT NEEDS NUMBERS COMMAND…    COUNT calls for each run of COMMAND, and a deadly one at the end

NEEDS: what the program may do, any of connect, accept, priority and clock with "+" between, or "none". NUMBERS: a file of
the compiler's "#define __NR_read 0" lines. Prints each call with another fate, and "N calls, N refused, N pass, N ended the
process, N differ".
"""
import errno
import os
import random
import re
import signal
import subprocess
import sys

NEWEST = 450  # calls after this one are unknown
TRAMPOLINES = (335, 336)  # for probes, on x86-64: Linux does not ask filters about them

# ---- the rules ----


def low(value):
    """Most arguments are of 32 bits: the kernel ignores the others."""
    return value & 0xFFFFFFFF


def reads_only(flags):
    writable, created, cut = flags & 3, flags & 0o100, flags & 0o1000
    return not writable and not created and not cut


def is_not_both(protection):
    """Memory is never writable and executable."""
    return protection & 2 == 0 or protection & 4 == 0


def socket_allowed(family, kind, protocol):
    stream, datagram = kind & 15 == 1, kind & 15 == 2
    if family in (2, 10):  # IPv4, IPv6: TCP and UDP
        return stream and protocol in (0, 6) or datagram and protocol in (0, 17)
    return family == 1 or family == 16 and protocol == 0  # Unix, routing tables


ALWAYS = """read write readv writev pread64 pwrite64 lseek close dup dup3 pipe2 ppoll pselect6 fsync fdatasync fadvise64 epoll_create1 epoll_ctl
epoll_pwait epoll_pwait2 eventfd2 timerfd_create timerfd_settime timerfd_gettime getrandom fstat newfstatat statx getdents64 readlinkat
faccessat faccessat2 getcwd fstatfs statfs brk munmap mremap madvise futex set_robust_list rseq membarrier exit exit_group gettid sched_yield
sched_getaffinity rt_sigaction rt_sigprocmask rt_sigreturn rt_sigtimedwait sigaltstack signalfd4 restart_syscall clock_gettime clock_getres
clock_nanosleep nanosleep gettimeofday times getpid getppid getpgid getuid geteuid getgid getegid getrusage sysinfo uname sched_getscheduler
getpriority stat lstat access readlink poll select dup2 pipe epoll_wait time getpgrp""".split()
SOCKETS = "recvfrom recvmsg recvmmsg getsockopt setsockopt getsockname getpeername shutdown".split()
FAST_OPEN = 0x20000000  # connects where landlock does not look
THREAD = 0x10000
DEADLY = """execve execveat ptrace process_vm_readv process_vm_writev pidfd_getfd bpf perf_event_open userfaultfd io_uring_setup mount umount2
pivot_root chroot setns unshare open_by_handle_at init_module finit_module delete_module kexec_load add_key keyctl request_key reboot swapon
setuid setgid setresuid setresgid capset""".split()
OF_ARGUMENTS = {
    "open": lambda a: reads_only(a[1]),
    "openat": lambda a: reads_only(a[2]),
    "mmap": lambda a: is_not_both(a[2]),
    "mprotect": lambda a: is_not_both(a[2]),
    "clone": lambda a: a[0] & THREAD,
    "prctl": lambda a: a[0] in (15, 29),  # the name of a thread, the slack of its timers
    "ioctl": lambda a: a[1] in (0x5401, 0x5413, 0x540F, 0x5421, 0x541B),  # facts about terminals, non-blocking, bytes to read
    # copies, flags and locks: no signals to an owner, no leases, no notices
    "fcntl": lambda a: a[1] in (0, 1, 2, 3, 4, 5, 6, 1030),
    "prlimit64": lambda a: a[0] == 0,
    "tgkill": lambda a: a[0] == "own",
}


def is_allowed(name, arguments, needs):
    a = [low(x) if isinstance(x, int) else x for x in arguments]
    if name in OF_ARGUMENTS:
        return OF_ARGUMENTS[name](a)
    if name in SOCKETS:
        return bool(needs & {"connect", "accept"})
    if name in ("sendto", "sendmmsg"):
        return bool(needs & {"connect", "accept"}) and not a[3] & FAST_OPEN
    if name == "sendmsg":
        return bool(needs & {"connect", "accept"}) and not a[2] & FAST_OPEN
    if name in ("accept", "accept4"):
        return "accept" in needs
    if name in ("connect", "bind", "socketpair"):
        return "connect" in needs
    if name == "socket":
        return "connect" in needs and socket_allowed(*a[:3])
    if name == "setpriority":  # a thread's own only
        return "priority" in needs and a[0] == 0 and a[1] == 0
    if name in ("sched_setscheduler", "sched_setattr"):
        return "priority" in needs and a[0] == 0
    if name in ("clock_adjtime", "adjtimex"):
        return "clock" in needs
    return name in ALWAYS


def fate_of(way, number, arguments, needs, names):
    if way == "int80" or number >= 0x40000000:
        return "dies"
    name = names.get(number)
    if number > NEWEST or name == "clone3":
        return "ENOSYS"
    if name in DEADLY:
        return "dies"
    return "passes" if is_allowed(name, arguments, needs) else "EPERM"


# ---- random calls ----

NUMBERS = [0, 1, 2, 3, 4, 5, 6, 7, 15, 16, 17, 0x10, 0x40, 0x42, 0x80, 0x100, 0x241, 0x200, 0x400, 0o100, 0o101, 0o1000, 0o2000000, 0o20200002,
           0x5401, 0x5410, 0x5412, 0x5413, 0x541B, 0x5421, 0x5452, 0x8901, 0x8902, 1024, 1030, 1031, 1033, 8, 10, 14, 1026, 0x10000, 0x3D0F00,
           0x10000000, 0x20000000, 0x20004000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 1 << 32, (1 << 32) + 2, (1 << 32) + 6, 1 << 63,
           (1 << 64) - 1]
LISTED = {  # values of the arguments that decide, near those allowed
    "socket": [[1, 2, 10, 16, 17, 11, 38, 39, 40, 43, 44, 4], [1, 2, 3, 5, 0x801, 0x80802, 0x80001, 6, 10, 0x12, 0x1000001],
               [0, 1, 2, 4, 6, 16, 17, 58, 132, 136, 255, 262, 256, 7, 18, (1 << 32) + 6]],
    "clone": [[0, 17, 0x10000, 0x3D0F00, 0x100 | 17, 0x4000 | 17, 0x8000, 0x10000000, 0x20000, 0x10010000, 1 << 48 | 17]],
    "fcntl": [[0, 1, 2], list(range(0, 17)) + list(range(1024, 1042)) + [36, 37, 38, 1 << 32 | 8]],
    "prctl": [list(range(1, 71)) + [0x59616D61, 0x53564D41, 0x56414D45]],
    "ioctl": [[0, 1, 2], [0x5401, 0x5402, 0x540E, 0x540F, 0x5410, 0x5412, 0x5413, 0x5414, 0x541B, 0x541D, 0x5421, 0x5423, 0x5450, 0x5451, 0x5452,
                          0x8901, 0x8902, 0x8904, 0x8927, 0x89A0, 1 << 32 | 0x5412]],
    "tgkill": [["own", 0, 1, 2, 0xFFFFFFFF], [0, 1], [0, 9, 15]],
    "setpriority": [[0, 1, 2, 3], [0, 1, 2, 0xFFFFFFFF]],
    "sched_setscheduler": [[0, 1, 2, 0xFFFFFFFF]],
    "sched_setattr": [[0, 1, 2, 0xFFFFFFFF]],
    "prlimit64": [[0, 1, 2, 0xFFFFFFFF, 1 << 32]],
    "seccomp": [[0, 1, 2, 3]],
}


def random_value(r):
    kind = r.randrange(4)
    if kind < 2:
        return r.choice(NUMBERS)
    return 1 << r.randrange(64) if kind == 2 else r.getrandbits(r.choice((8, 16, 32, 64)))


def random_arguments(r, name):
    arguments = [random_value(r) for _ in range(6)]
    if r.randrange(4):
        for i, values in enumerate(LISTED.get(name, [])):
            arguments[i] = r.choice(values)
    return arguments


def random_number(r, names):
    kind = r.randrange(8)
    if kind < 4:
        return r.choice(list(names))
    if kind < 7:
        wanted = list(LISTED) + list(OF_ARGUMENTS) + ["sendto", "sendmsg", "sendmmsg", "openat2", "creat", "memfd_create", "clone3", "pkey_mprotect"]
        number = {name: n for n, name in names.items()}
        return number.get(r.choice(wanted), 0)
    return r.choice((r.randrange(NEWEST + 1, 700), r.randrange(512), r.randrange(512, 548)))


def random_call(r, needs, names, deadly):
    """(way, number, arguments): it ends the process if `deadly`, and otherwise does not."""
    while True:
        way, number = "", random_number(r, names)
        if deadly:
            kind = r.randrange(4)
            way = "int80" if kind == 0 else ""
            if kind == 1:
                number |= r.choice((0x40000000, 0x80000000, 0xC0000000, 0xFFFFFFFF, 1 << 62 | 0x40000000))
                number = low(number)
            if kind > 1:
                number = r.choice([n for n, name in names.items() if name in DEADLY])
        arguments = random_arguments(r, names.get(number))
        fate = fate_of(way, number, arguments, needs, names)
        if number not in TRAMPOLINES and (fate == "dies") == deadly:
            # unknown to the filter: the kernel's own answer is another, if it has the call
            return ("real" if fate == "ENOSYS" else way), number, arguments


# ---- running ----


def line_of(call):
    way, number, arguments = call
    return " ".join([way] * bool(way) + ["%x" % number] + [a if a == "own" else "%x" % a for a in arguments])


def attack(calls, command, path, folder):
    """The fate of each call, and how the program ended."""
    with open(path, "w", encoding="ascii") as out:
        out.write("".join(line_of(call) + "\n" for call in calls))
    environment = dict(os.environ, LD_PRELOAD=folder + "/attempts.so", ATTEMPTS=path)
    ended = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    fates = dict(re.findall(r"^attempt (\d+) (\S+)$", ended.stderr.decode("utf-8", "replace"), re.M))
    return {int(n): fate for n, fate in fates.items()}, ended.returncode, ended.stderr


def main(seed, count, needs, numbers, command):
    folder = os.environ["BUILD"] + "/tests"
    with open(numbers, encoding="ascii") as lines:
        names = {int(n): name for name, n in re.findall(r"^#define __NR_(\w+) (\d+)$", lines.read(), re.M)}
    needs = set(needs.split("+"))
    r = random.Random(seed)
    calls = [random_call(r, needs, names, False) for _ in range(count)] + [random_call(r, needs, names, True)]
    fates, ended, said = attack(calls, command, "attempts", folder)
    differ, seen = 0, {"EPERM": 0, "ENOSYS": 0, "passes": 0}
    for i, call in enumerate(calls[:-1]):
        way, number, arguments = call
        expected, got = fate_of(*call, needs, names), fates.get(i, "nothing")
        seen[got] = seen.get(got, 0) + 1
        if got != expected:
            differ += 1
            print("%s %s(%s): expected %s, got %s" % (way, names.get(number, number), line_of(call).split(" ", 1)[1], expected, got))
    if ended != -signal.SIGSYS or len(calls) - 1 in fates:
        differ += 1
        print("the last call, %s, has not ended the process by SIGSYS: %d %r" % (line_of(calls[-1]), ended, said[-300:]))
    print("%d calls, %d refused, %d pass, 1 ended the process, %d differ" % (len(calls), seen["EPERM"] + seen["ENOSYS"], seen["passes"], differ))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5:]))
