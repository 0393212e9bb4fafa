# Bare root file systems for the tests of packages: source it after tap.sh. As root, Debian: apt-get install mmdebstrap.
# shellcheck shell=bash

# Missing requirements; nothing if all is there.
systems_lack() { # PROGRAM…
	local program
	[ "$(id -u)" = 0 ] || echo "root"
	for program in mmdebstrap unshare chroot "$@"; do command -v "$program" >/dev/null || echo "$program"; done | head -1
}

# A root file system in FOLDER. 1: it cannot be made, see system.log.
system_make() { # FOLDER SUITE PACKAGES [MIRROR OR OPTION OF mmdebstrap]…
	local folder=$1 suite=$2 packages=$3
	shift 3
	nice -n 10 mmdebstrap --quiet --variant=minbase --include="$packages" "$suite" "$folder" "$@" >system.log 2>&1
}

# A root file system in FOLDER without glibc: musl and busybox, of Debian's packages. 1: it cannot be made.
system_make_musl() { # FOLDER
	local folder=$1 busybox loader
	busybox=$(command -v busybox) && loader=$(ls /lib/ld-musl-*.so.1) || return 1
	mkdir -p "$folder"/{bin,dev,etc,lib,opt,proc,root,sbin,tmp,usr} && chmod 1777 "$folder/tmp" && ln -s ../bin "$folder/usr/bin" || return 1
	cp "$busybox" "$folder/bin/busybox" && cp -L "$loader" "$folder/lib/" && "$busybox" --list | grep -vx busybox | while read -r applet; do ln -sf busybox "$folder/bin/$applet"; done
	printf 'root:x:0:0:root:/root:/bin/sh\n' >"$folder/etc/passwd"
	printf '127.0.0.1 localhost\n' >"$folder/etc/hosts"
}

# Runs a command line in it, as root; all mounts and processes end with it.
system_run() { # FOLDER COMMAND-LINE
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount --pid --fork --kill-child sh -c 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" &&
		exec chroot "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive sh -c "$2"' - "$1" "$2"
}

# The same as a user without rights, in that user's folder.
system_user() { # FOLDER COMMAND-LINE
	grep -q ^user: "$1/etc/passwd" || system_run "$1" "useradd -m -s /bin/bash user"
	printf '%s\n' "$2" >"$1/home/user/command"
	system_run "$1" "su - user -c 'bash command'"
}

# A measurement with `ipf run` against ipf-sim of the same installation, in the current folder: a command line for system_run.
# shellcheck disable=SC2016 # for the inner shell
measure_simulated='rm -f sim.txt; ipf-sim --die-with-parent >sim.txt & for _ in $(seq 300); do [ ! -s sim.txt ] || break; sleep 0.1; done
	ipf run --url $(grep -o "http[^ ]*" sim.txt) --model sim --requests 100 --input 20 --output 4 --rate 20 --duration 2s --warmup 0'
