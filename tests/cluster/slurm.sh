# A real Slurm on this machine, for the tests needing one: source it after tap.sh. One controller and four nodes, n0 to n3, each with a
# host name of its own. As root, Debian: apt-get install slurm-wlm munge
# shellcheck shell=sh

# Missing requirements; nothing if all is there.
slurm_lacks() {
	[ "$(id -u)" = 0 ] || echo "root"
	for slurm_program in munged slurmctld slurmd sbatch srun scontrol unshare setpriv; do
		command -v "$slurm_program" >/dev/null || echo "$slurm_program"
	done | head -1
	unset slurm_program
}

slurm_ports() { # COUNT: free ones
	python3 -c 'import socket, sys
all = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in all: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in all))' "$1"
}

# Starts it; all of it dies with the test, also if that is killed. Its state is in a folder of the test; SLURM_CONF leads its commands
# there. $SLURM_NODE_0 and so on are the nodes' daemons.
slurm_start() {
	SLURM_FOLDER=$PWD/slurm
	export SLURM_CONF=$SLURM_FOLDER/slurm.conf
	mkdir -p "$SLURM_FOLDER/state" "$SLURM_FOLDER/munge"
	chmod 755 "$SLURM_FOLDER/munge"
	head -c 128 /dev/urandom >"$SLURM_FOLDER/munge/key"
	chmod 400 "$SLURM_FOLDER/munge/key"
	# shellcheck disable=SC2046 # five ports
	set -- $(slurm_ports 5)
	cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=$(hostname)(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=$SLURM_FOLDER/munge/socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
SlurmctldPort=$5
SlurmctldPidFile=$SLURM_FOLDER/slurmctld.pid
SlurmdPidFile=$SLURM_FOLDER/slurmd-%n.pid
SlurmdSpoolDir=$SLURM_FOLDER/spool-%n
StateSaveLocation=$SLURM_FOLDER/state
SlurmctldLogFile=$SLURM_FOLDER/slurmctld.log
SlurmdLogFile=$SLURM_FOLDER/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=2,sched_min_interval=0,batch_sched_delay=0
ReturnToService=2
SlurmdParameters=config_overrides
SlurmctldTimeout=10
SlurmdTimeout=10
KillWait=5
GresTypes=gpu
END
	echo 'NodeName=n0 Name=gpu File=/dev/zero' >"$SLURM_FOLDER/gres.conf" # a GPU, as far as Slurm can tell
	slurm_node=0 slurm_gres=' Gres=gpu:1'
	for slurm_port in "$1" "$2" "$3" "$4"; do
		echo "NodeName=n$slurm_node NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$slurm_port CPUs=4 RealMemory=1000$slurm_gres"
		slurm_gres=
		slurm_node=$((slurm_node + 1))
	done >>"$SLURM_CONF"
	echo 'PartitionName=test Nodes=n[0-3] Default=YES MaxTime=INFINITE State=UP' >>"$SLURM_CONF"
	setpriv --pdeathsig KILL munged --foreground --force --socket="$SLURM_FOLDER/munge/socket" --key-file="$SLURM_FOLDER/munge/key" --pid-file="$SLURM_FOLDER/munge/pid" \
		--log-file="$SLURM_FOLDER/munge/log" --seed-file="$SLURM_FOLDER/munge/seed" >"$SLURM_FOLDER/munged.out" 2>&1 &
	stop_at_exit $!
	wait_for test -S "$SLURM_FOLDER/munge/socket"
	setpriv --pdeathsig KILL slurmctld -D -i >"$SLURM_FOLDER/slurmctld.out" 2>&1 &
	stop_at_exit $!
	for slurm_node in 0 1 2 3; do
		mkdir -p "$SLURM_FOLDER/spool-n$slurm_node"
		setpriv --pdeathsig KILL unshare --uts --pid --mount-proc --fork --kill-child \
			sh -c 'hostname "$1"; exec slurmd -D -N "$1"' sh "n$slurm_node" >"$SLURM_FOLDER/slurmd-$slurm_node.out" 2>&1 &
		slurm_process=$!
		eval "SLURM_NODE_$slurm_node=$slurm_process"
		wait_for pgrep -P $slurm_process slurmd
		stop_at_exit "$(pgrep -P $slurm_process)" # unshare itself takes no SIGTERM
	done
	wait_for slurm_is_up || {
		not_ok "Slurm starts" "$(cat "$SLURM_FOLDER"/*.out | tail -20)" "$(tail -5 "$SLURM_FOLDER/slurmctld.log")"
		exit 1
	}
	unset slurm_node slurm_port slurm_gres slurm_process
}

slurm_is_up() { # all nodes are idle
	[ "$(sinfo --noheader --Node --states=idle --format=%N | sort -u | wc -l)" = 4 ]
}

# The node fails: its daemon and all its jobs have started die at once. They are the machine of its host name.
slurm_kill_node() { # NODE-NUMBER
	eval "slurm_node=\$(readlink /proc/\$SLURM_NODE_$1/ns/uts)"
	for slurm_process in /proc/[0-9]*; do
		[ "$(readlink "$slurm_process/ns/uts" 2>/dev/null)" != "$slurm_node" ] || kill -9 "${slurm_process#/proc/}"
	done
	unset slurm_node slurm_process
}
