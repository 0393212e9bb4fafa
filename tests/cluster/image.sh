# The image of examples/container, built without a registry or a daemon, for the tests needing it: source it after tap.sh and fixture.sh.
# As root, Debian: apt-get install buildah podman runc mmdebstrap. The system that builds is fetched from Debian's archive.
# shellcheck shell=sh

# Slow builds are kept here, outside of the sources, for the next time.
CLUSTER=${IPF_CLUSTER:-/var/tmp/ipf-cluster}
IMAGE=localhost/ipf:test
image_store="--root $CLUSTER/store --runroot $CLUSTER/runroot --storage-driver ${IPF_STORAGE_DRIVER:-overlay}"

# Missing requirements; nothing if all is there.
image_lacks() {
	[ "$(id -u)" = 0 ] || echo "root"
	for image_program in buildah podman runc mmdebstrap; do
		command -v "$image_program" >/dev/null || echo "$image_program"
	done | head -1
	unset image_program
}

# Builds $IMAGE from the sources as they are; unchanged parts are not built again. 1: there is no network; see image.log.
image_build() {
	mkdir -p "$CLUSTER"
	: >image.log
	if ! [ -s "$CLUSTER/base.tar" ]; then
		nice -n 19 mmdebstrap --quiet --variant=apt bookworm "$CLUSTER/part.base.tar" >>image.log 2>&1 && mv "$CLUSTER/part.base.tar" "$CLUSTER/base.tar" || return 1
	fi
	# shellcheck disable=SC2086 # several options
	{
		podman $image_store image exists localhost/ipf-base:1 || podman $image_store import "$CLUSTER/base.tar" localhost/ipf-base:1
		nice -n 19 buildah $image_store build --isolation chroot --layers --build-arg BASE=localhost/ipf-base:1 \
			-f "$ROOT/examples/container/Containerfile" -t "$IMAGE" "$ROOT"
	} >>image.log 2>&1
}

# podman with options that work in most virtual machines, too.
image_podman() { # COMMAND ARGUMENT…
	# shellcheck disable=SC2086 # several options
	podman $image_store --runtime runc --cgroup-manager cgroupfs "$@"
}

# As examples/container/README.md says: without rights, and nothing but /work can be written.
image_run() { # ARGUMENT OF podman run…
	image_podman run --rm --ulimit nofile=4096:4096 --ulimit nproc=4096:4096 --read-only --cap-drop ALL --security-opt no-new-privileges "$@"
}

image_save() { # IMAGE FILE: as docker save writes it, unless FILE has it already
	# shellcheck disable=SC2086 # several options
	image_id=$(podman $image_store image inspect "$1" --format '{{.Id}}')
	if ! [ -s "$2" ] || [ "$(cat "$2.id" 2>/dev/null)" != "$image_id" ]; then
		rm -f "$2"
		# shellcheck disable=SC2086 # several options
		buildah $image_store push -q "$1" "docker-archive:$2:$1" && echo "$image_id" >"$2.id"
	fi
	unset image_id
}
