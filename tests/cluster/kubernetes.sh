# A real Kubernetes on this machine, for the tests needing one: source it after tap.sh, fixture.sh and image.sh. etcd, API server,
# controllers, scheduler and a node with containerd, built from their Go modules and kept in $CLUSTER for the next time (20 minutes and 4
# GB the first time). As root, with Go; Debian: apt-get install containerd containernetworking-plugins openssl iproute2
#
# All of it lives in namespaces of its own (mounts, network, processes), so it takes no port and ends as a whole. It has no DNS and no
# addresses of services but that of the API server: pods are reached by their own.
# shellcheck shell=bash

KUBERNETES=1.36.3
HELM=4.2.4 # for Kubernetes 0.36
kube_bin=$CLUSTER/kubernetes-$KUBERNETES

# Missing requirements; nothing if all is there.
kube_lacks() {
	local program
	[ "$(id -u)" = 0 ] || echo "root"
	for program in go containerd runc ctr unshare nsenter openssl ip; do
		command -v "$program" >/dev/null || echo "$program"
	done | head -1
	[ -x /usr/lib/cni/bridge ] || echo "containernetworking-plugins"
}

kube_go() { # go, with its build cache kept in $CLUSTER
	CGO_ENABLED=0 GOCACHE=$CLUSTER/gocache GOFLAGS=-p=1 GOMAXPROCS=2 nice -n 19 go "$@"
}

# All programs of Kubernetes in one, which acts by the name it is called by: they share nearly all of their code.
kube_main() {
	cat <<'END'
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	commands := map[string]func() *cobra.Command{
		"kube-apiserver":          apiserver.NewAPIServerCommand,
		"kube-controller-manager": controllers.NewControllerManagerCommand,
		"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
		"kubelet":                 func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
		"kubectl":                 kubectl.NewDefaultKubectlCommand,
	}
	name := filepath.Base(os.Args[0])
	if name == "etcd" {
		etcdmain.Main(os.Args)
		return
	}
	command := commands[name]
	if command == nil {
		fmt.Fprintln(os.Stderr, "unknown program:", name)
		os.Exit(2)
	}
	os.Exit(cli.Run(command()))
}
END
}

# Builds missing parts. 1: it failed; see kubernetes.log.
kube_build() {
	[ -x "$kube_bin/kubectl" ] && [ -x "$kube_bin/helm" ] && [ -s "$kube_bin/crds.yaml" ] && return 0
	mkdir -p "$kube_bin/source" "$CLUSTER/gocache"
	(
		set -e
		cd "$kube_bin/source"
		kube_main >main.go
		kube_go mod download "k8s.io/kubernetes@v$KUBERNETES"
		# Kubernetes' own modules have the version 0.X.Y beside its 1.X.Y
		{
			printf 'module hyper\n\ngo 1.26.0\n\ngodebug default=go1.26\n\nrequire k8s.io/kubernetes v%s\n\nreplace (\n' "$KUBERNETES"
			sed -nE 's,^\s+(k8s\.io/[a-z-]+) v0\.0\.0$,\1,p' "$(go env GOMODCACHE)/cache/download/k8s.io/kubernetes/@v/v$KUBERNETES.mod" |
				sort -u | sed "s,.*,\t& => & v0.${KUBERNETES#1.},"
			echo ')'
		} >go.mod
		kube_go mod tidy -e
		local_version=k8s.io/component-base/version
		kube_go build -buildvcs=false -o "$kube_bin/all" \
			-ldflags "-s -w -X $local_version.gitVersion=v$KUBERNETES -X $local_version.gitMajor=1 -X $local_version.gitMinor=${KUBERNETES:2:2}" .
		GOBIN=$kube_bin kube_go install -ldflags '-s -w' "helm.sh/helm/v4/cmd/helm@v$HELM"
		kube_crds >"$kube_bin/crds.new"
		mv "$kube_bin/crds.new" "$kube_bin/crds.yaml"
		for program in etcd kube-apiserver kube-controller-manager kube-scheduler kubelet kubectl; do ln -sf all "$kube_bin/$program"; done
	) >kubernetes.log 2>&1
}

# The types of others that examples/kubernetes uses, from the modules of their projects.
kube_crds() {
	local module file
	for module in sigs.k8s.io/gateway-api@v1.4.0:config/crd/standard/gateway.networking.k8s.io_httproutes.yaml \
		sigs.k8s.io/gateway-api-inference-extension@v1.0.1:config/crd/bases/inference.networking.k8s.io_inferencepools.yaml \
		github.com/prometheus-operator/prometheus-operator@v0.85.0:example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml; do
		file=$(kube_go mod download -json "${module%%:*}" | sed -nE 's/^\s*"Dir": "(.*)",$/\1/p')/${module##*:}
		echo ---
		cat "$file"
	done
}

# kubectl and helm, in the cluster's network.
kube_in() { nsenter --net --target "$kube_pid" "$@"; }
kubectl() { KUBECONFIG=$kube_folder/kubeconfig kube_in "$kube_bin/kubectl" "$@"; }
helm() { KUBECONFIG=$kube_folder/kubeconfig HOME=$kube_folder kube_in "$kube_bin/helm" "$@"; }

# Starts a program in the cluster's network, where $kube_address is this machine's; it ends with the test.
kube_address=10.88.0.1
kube_serve() { # COMMAND…
	nsenter --net --target "$kube_pid" "$@" &
	stop_at_exit $!
}

# Starts a store of objects there, with the folder NAME; $STORE is its URL.
kube_store() { # NAME
	kube_serve python3 "$TESTS/s3_server.py" "$1" "$1.ready" "$kube_address" 2>"$1.err"
	wait_for test -s "$1.ready" || {
		not_ok "the store starts" "$(cat "$1.err")"
		exit 1
	}
	# shellcheck disable=SC2034 # for the test
	STORE=http://$kube_address:$(cat "$1.ready")
}

# Starts it, with the images in IMAGE-FILEs (of docker save). Its state is in a folder of the test.
kube_start() { # IMAGE-FILE…
	kube_folder=$PWD/kubernetes
	mkdir -p "$kube_folder"/{etcd,certs,log,run,cni,kubelet,pause}
	kube_pause || return 1
	setsid unshare --mount --net --pid --ipc --fork --mount-proc --kill-child bash "$TESTS/cluster/kubernetes-node.sh" "$kube_bin" "$kube_folder" "$@" \
		>"$kube_folder/log/node.log" 2>&1 </dev/null &
	local outside=$!
	stop_at_exit $outside
	if wait_for pgrep -P $outside; then kube_pid=$(pgrep -P $outside); fi
	wait_for kube_is_up || {
		not_ok "Kubernetes starts" "$(tail -n 5 "$kube_folder"/log/*.log 2>&1 | cut -c 1-300)"
		exit 1
	}
	kubectl apply --server-side -f "$kube_bin/crds.yaml" >kubernetes.crds
}

kube_is_up() { [ -s "$kube_folder/kubeconfig" ] && kubectl get node node | grep -q ' Ready'; }

# The image of the process holding a pod's namespaces: it waits, and collects orphans.
kube_pause() {
	cat >"$kube_folder/pause/pause.c" <<'END'
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
static void end(int signal) { _exit(signal == 0); }
static void collect(int signal) { while (signal && waitpid(-1, 0, WNOHANG) > 0); }
int main(void)
{
	signal(SIGTERM, end);
	signal(SIGINT, end);
	signal(SIGCHLD, collect);
	for (;;)
		pause();
}
END
	gcc -static -O2 -s -o "$kube_folder/pause/pause" "$kube_folder/pause/pause.c" || return 1
	printf 'FROM scratch\nADD pause /pause\nUSER 65535:65535\nENTRYPOINT ["/pause"]\n' >"$kube_folder/pause/Containerfile"
	# shellcheck disable=SC2154,SC2086 # several options, of image.sh
	buildah $image_store build --isolation chroot -q -t localhost/pause:1 "$kube_folder/pause" >pause.log 2>&1 && image_save localhost/pause:1 "$kube_folder/pause.tar"
}

# The API server dies, and is started again.
kube_api_stop() {
	local pid
	pid=$(pgrep -P "$kube_pid" -x kube-apiserver)
	mapfile -d '' kube_api_command <"/proc/$pid/cmdline"
	kill -KILL "$pid"
}
kube_api_start() {
	nsenter --mount --net --pid --ipc --wd="$kube_folder" --target "$kube_pid" "${kube_api_command[@]}" >>"$kube_folder/log/apiserver.log" 2>&1 </dev/null &
	stop_at_exit $!
	wait_for kubectl get --raw /readyz
}

kube_stop() { kill -KILL "$kube_pid"; }

# The beginning of a test of examples/kubernetes: a cluster with the image, and NAMESPACE, restricted, as the current one. Skips the test
# where something is missing; the cluster ends with the test.
kube_cluster() { # NAMESPACE
	local lacks
	lacks=$(image_lacks)$(kube_lacks)
	[ -z "$lacks" ] || skip_all "$lacks is missing"
	image_build || skip_all "the image cannot be built, see cluster/container"
	kube_build || { curl -sI --max-time 20 "$(go env GOPROXY | cut -d, -f1)" >/dev/null || skip_all "there is no network for Go modules"; }
	if ! [ -x "$kube_bin/kubectl" ]; then
		not_ok "Kubernetes is built" "$(tail -20 kubernetes.log)"
		exit 1
	fi
	image_save "$IMAGE" "$CLUSTER/ipf.tar"
	kube_start "$PWD/kubernetes/pause.tar" "$CLUSTER/ipf.tar"
	trap 'kube_stop; tap_exit' EXIT
	kubectl create namespace "$1" >/dev/null
	kubectl label namespace "$1" pod-security.kubernetes.io/enforce=restricted >/dev/null
	kubectl config set-context --current --namespace "$1" >/dev/null
}
