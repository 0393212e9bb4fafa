#!/bin/bash
# Control plane and node of tests/cluster/kubernetes.sh, in the namespaces it made: kubernetes-node.sh PROGRAMS FOLDER IMAGE-FILE…
bin=$1 folder=$2
shift 2
cd "$folder" || exit 1
ulimit -n 20000
ip link set lo up
ip link add cni0 type bridge
ip address add 10.88.0.1/24 dev cni0
ip link set cni0 up
ip route add default dev cni0
ip address add 10.96.0.1/32 dev lo # the address of the service "kubernetes", as nothing here translates addresses of services

# ---- control plane ----
openssl genrsa -out service-accounts.key 2048 2>/dev/null
openssl rsa -in service-accounts.key -pubout -out service-accounts.pub 2>/dev/null
token=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')
echo "$token,admin,admin,system:masters" >tokens.csv
"$bin/etcd" --data-dir etcd --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
	--listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 --initial-cluster default=http://127.0.0.1:2380 \
	--unsafe-no-fsync --log-level warn >log/etcd.log 2>&1 &
"$bin/kube-apiserver" --etcd-servers http://127.0.0.1:2379 --cert-dir certs --bind-address 0.0.0.0 --advertise-address 10.88.0.1 --secure-port 443 \
	--endpoint-reconciler-type none --service-cluster-ip-range 10.96.0.0/24 --authorization-mode Node,RBAC --token-auth-file tokens.csv \
	--service-account-issuer https://kubernetes.default.svc --service-account-signing-key-file service-accounts.key \
	--service-account-key-file service-accounts.pub --kubelet-preferred-address-types InternalIP --allow-privileged=true --profiling=false \
	--external-hostname localhost >log/apiserver.log 2>&1 &
cat >kubeconfig.new <<END
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://localhost:443", tls-server-name: kubernetes, certificate-authority: $folder/certs/apiserver.crt}}]
users: [{name: u, user: {token: $token}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
END
export KUBECONFIG=$folder/kubeconfig.new
until [ -f certs/apiserver.crt ] && "$bin/kubectl" get --raw /readyz >/dev/null 2>&1; do sleep 0.2; done
mv kubeconfig.new kubeconfig
export KUBECONFIG=$folder/kubeconfig
"$bin/kube-controller-manager" --kubeconfig kubeconfig --authentication-kubeconfig kubeconfig --authorization-kubeconfig kubeconfig \
	--bind-address 127.0.0.1 --cert-dir certs --leader-elect=false --service-account-private-key-file service-accounts.key \
	--root-ca-file certs/apiserver.crt >log/controllers.log 2>&1 &
"$bin/kube-scheduler" --kubeconfig kubeconfig --authentication-kubeconfig kubeconfig --authorization-kubeconfig kubeconfig \
	--bind-address 127.0.0.1 --cert-dir certs --leader-elect=false >log/scheduler.log 2>&1 &

# ---- node ----
cat >containerd.toml <<END
version = 2
root = "$folder/containerd"
state = "$folder/run/containerd"
[grpc]
  address = "$folder/run/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$folder/cni"
END
cat >cni/bridge.conflist <<END
{"cniVersion": "0.4.0", "name": "bridge", "plugins": [{"type": "bridge", "bridge": "cni0", "ipMasq": false, "hairpinMode": true,
 "ipam": {"type": "host-local", "dataDir": "$folder/run/ipam", "ranges": [[{"subnet": "10.88.0.0/24", "rangeStart": "10.88.0.10",
 "gateway": "10.88.0.1"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
END
mount -t tmpfs tmpfs /run
mkdir -p /run/containerd
containerd --config containerd.toml >log/containerd.log 2>&1 &
until [ -S run/containerd.sock ]; do sleep 0.1; done
for image; do ctr --address run/containerd.sock --namespace k8s.io images import "$image"; done
mount --make-rshared /
# Settings the kubelet insists on, shown in this mount namespace only: the machine keeps its own settings.
for setting in kernel/panic=10 kernel/panic_on_oops=1 vm/overcommit_memory=1; do
	file=run/setting.${setting%%/*}.$(basename "${setting%=*}")
	echo "${setting#*=}" >"$file"
	mount --bind "$file" "/proc/sys/${setting%=*}"
done
cat >kubelet.yaml <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: unix://$folder/run/containerd.sock
failCgroupV1: false
cgroupDriver: cgroupfs
cgroupRoot: /
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
failSwapOn: false
enforceNodeAllocatable: []
featureGates: {KubeletInUserNamespace: true}
podLogsDir: $folder/logs-of-pods
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%}
# Images come from files: kubelet must not delete one that no pod uses at the moment, however full the disk is.
imageGCHighThresholdPercent: 100
nodeStatusUpdateFrequency: 2s
syncFrequency: 2s
resolvConf: /etc/resolv.conf
END
"$bin/kubelet" --config kubelet.yaml --kubeconfig kubeconfig --root-dir "$folder/kubelet" --node-ip 10.88.0.1 --hostname-override node \
	--oom-score-adj 0 --cert-dir "$folder/kubelet/pki" >log/kubelet.log 2>&1 &
wait
