#!/bin/sh
# The whole pipeline in about 45 seconds, against the simulated model server: `make demo` builds and runs it.
#
# Every command is shown before it runs, as you would type it. Set DEMO to keep the streams and reports in another
# folder, BUILD to use programs from another build. Where nothing is built, it uses installed ones.
set -eu
cd "$(dirname "$0")/.."

BUILD=${BUILD:-.build}
DEMO=${DEMO:-demo}
[ ! -d "$BUILD/bin" ] || PATH=$(cd "$BUILD" && pwd)/bin:$PATH
mkdir -p "$DEMO"

server=
stop_server() {
	if [ -n "$server" ]; then
		kill "$server" 2>/dev/null || :
		wait "$server" 2>/dev/null || :
	fi
}
trap stop_server EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say() { printf '\n# %s\n' "$@"; }
show() { # COMMAND LINE
	printf '\n$ %s\n' "$1"
	eval "$1"
}
# The text below is printed, then evaluated.
# shellcheck disable=SC2016,SC2034
{
say 'A model server to measure: simulated, on a free port of this machine.'
printf '\n$ ipf-sim &\n'
ipf-sim --die-with-parent >"$DEMO/server.txt" &
server=$!
for _ in $(seq 200); do
	[ ! -s "$DEMO/server.txt" ] || break
	kill -0 "$server" || exit 1
	sleep 0.05
done
cat "$DEMO/server.txt"
URL=http://127.0.0.1:$(grep -oE '[0-9]+' "$DEMO/server.txt" | tail -1)

say 'What is asked: 600 requests of lengths as in chats. Datasets and recorded traces come the same way, as below.'
show 'ipf-prep synthetic -n 600 --seed 1 --input-tokens lognormal:300,200 --output-tokens lognormal:60,30 \
    -o $DEMO/chat.trace.zst'
say 'When: a warm-up, then two measured stages. Nothing has been sent yet.'
show 'ipf-sched constant:rate=2,for=3s,warmup poisson:rate=15,for=12s poisson:rate=30,for=12s \
    -t $DEMO/chat.trace.zst -o $DEMO/chat.sched'
show 'ipf-sched stat $DEMO/chat.sched'
say 'The run: requests are sent on time, and every byte that comes back is recorded.'
show 'ipf-fire -u $URL -m sim -t $DEMO/chat.trace.zst $DEMO/chat.sched --progress --force -o $DEMO/chat.records.zst'
say 'What it meant. This needs no server and can be repeated with other definitions.'
show 'ipf-collect $DEMO/chat.records.zst -o $DEMO/chat.results.zst'
show 'ipf-report $DEMO/chat.results.zst | tee $DEMO/chat.report.txt'
show 'ipf-report -f json -o $DEMO/chat.report.json $DEMO/chat.results.zst'
say 'The same with plots, as a page of one file.'
show 'ipf-report -f html -o $DEMO/chat.report.html $DEMO/chat.results.zst'

say 'Recorded arrivals, six times as fast, all in one pipe. (200 answers are few: see the verdict.)'
show 'ipf-prep azure examples/arrivals.csv -o $DEMO/arrivals.trace.zst'
show 'ipf-sched replay:speed=6 -t $DEMO/arrivals.trace.zst | tee $DEMO/arrivals.sched |
    ipf-fire -u $URL -m sim -t $DEMO/arrivals.trace.zst --progress | tee $DEMO/arrivals.records |
    ipf-collect | tee $DEMO/arrivals.results |
    ipf-report | tee $DEMO/arrivals.report.txt'
}
say "Streams and reports are in $DEMO/. Open $DEMO/chat.report.html, or look into a stream:
#   zstd -dc $DEMO/chat.results.zst | head -3"
ls -l "$DEMO"
