#!/bin/bash
# The scripts of examples/slurm where Slurm refuses or ends a job; tests/cluster/slurm.t has a real Slurm.
. "$TESTS/tap.sh"

EXAMPLE=$(cd "$TESTS/../examples/slurm" && pwd)
mkdir slurm
cat >slurm/sbatch <<'END'
#!/bin/sh
case $* in *"$REFUSED"*) echo "sbatch: error: Batch job submission failed: Invalid generic resource (gres) specification" >&2 && exit 1 ;; esac
echo x >>submitted
echo "47$(wc -l <submitted)"
END
cat >slurm/scancel <<'END'
#!/bin/sh
echo "$*" >>cancelled
END
cat >slurm/scontrol <<'END'
#!/bin/sh
echo "$*" >>released
END
chmod +x slurm/*
settings() { # SERVER
	cat >settings.sh <<END
SERVER='$1'
URL=http://127.0.0.1:1
MODEL=sim
READY=60s
SHARDS=2
START_IN=1
FIRE=()
SERVER_JOB=(--gres=gpu:1)
CLIENT_JOB=()
REPORT_JOB=(--report)
RUNS=$PWD/runs
PATH=$BIN:\$PATH
END
}
settings 'exec sleep 1000'
submit() { # WHAT-IS-REFUSED
	rm -rf submitted cancelled released runs
	REFUSED=$1 PATH=$PWD/slurm:$PATH run "$EXAMPLE/submit.sh" settings.sh
}

submit nothing
is "$status $(cat "$OUT") $(cat released) $(cat cancelled 2>/dev/null)" "0 $PWD/runs/471 release 471 " "three jobs are submitted, and released"
submit gres
is "$status $(cat cancelled) $(cat released 2>/dev/null)" "1 471 " "a refused server's job cancels the clients'"
contains "$(cat "$ERR")" "not submitted; cancelling 471" "submit says which job it cancels"
submit --report
is "$status $(cat cancelled) $(cat released 2>/dev/null)" "1 471 472 " "a refused report's job cancels both others"
submit shard
is "$status $(cat cancelled 2>/dev/null)" "1 " "a refused first job leaves nothing to cancel"

mkdir run
cp settings.sh run
bash "$EXAMPLE/serve.sh" run 2>serve.err &
serve=$!
stop_at_exit $serve
wait_for test -s run/url
kill -TERM $serve
wait $serve
is "$?" 143 "the server's job is cancelled before the start"
is "$(cat run/stop)" "the server's job was ended before the start" "the clients read that there is none"

# The server ends before the program waiting for it has become one: it must not end the job in its place.
settings 'false'
cp settings.sh run
for _ in $(seq 20); do
	rm -f run/stop
	bash "$EXAMPLE/serve.sh" run 2>>serve.err
	cat run/stop
done | sort | uniq -c | sed 's/^ *//' >stops
is "$(cat stops)" "20 the server ended before it was ready, see server.log" "a server that ends at once is what the clients read, 20 times"
