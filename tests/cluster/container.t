#!/bin/bash
# examples/container: the image, built by buildah, and run by podman as its page says: no rights, a read-only root.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/cluster/image.sh"

lacks=$(image_lacks)
[ -z "$lacks" ] || skip_all "$lacks is missing"
if ! image_build; then
	mirror=$(apt-get indextargets --format '$(SITE)' | grep -m1 ^http)
	curl -sI --max-time 20 "$mirror" >/dev/null || skip_all "there is no network for Debian's packages"
	not_ok "the image is built" "$(tail -20 image.log)"
	exit 1
fi
ok "the image is built"
between "$(image_podman image inspect "$IMAGE" | jq '.[0].Size')" 1000000 60000000 "the image has less than 60 MB"
is "$(image_podman image inspect "$IMAGE" | jq -r '.[0].Config.User')" 65532:65532 "the image runs as a user without rights"

mkdir work
chmod 777 work
in_image() { image_run --network host -v "$PWD/work:/work" "$@"; }

# ---- the programs ----
for program in ipf-prep ipf-sched ipf-fire ipf-collect ipf-report ipf-sim; do
	run in_image "$IMAGE" $program --help
	status_is 0 "$program runs in the container"
done
run in_image "$IMAGE" sh -c 'id -u; grep -E "^(CapEff|NoNewPrivs)" /proc/self/status; touch /file'
matches "$(cat "$OUT")" '^65532$' "the container runs as user 65532"
matches "$(cat "$OUT")" '^CapEff:.0000000000000000$' "the container has no capabilities"
contains "$(cat "$ERR")" "Read-only file system" "the container cannot write to its root"

# ---- the demo ----
run image_run --network none --tmpfs /work:mode=1777 --tmpfs /tmp -e DEMO=/work "$IMAGE" sh /usr/local/share/doc/ipf/examples/demo.sh
status_is 0 "the demo runs"
is "$(grep -c '^Verdict ' "$OUT")" 2 "the demo shows two reports"

# ---- a makefile, environment instead of options ----
server_start
run in_image "$IMAGE" make -f /usr/local/share/ipf/run.mk URL="$URL" MODEL=sim RATE=20 FOR=2s WARMUP=0 REQUESTS=100 INPUT=20 OUTPUT=5 \
	SCRAPE="$URL/metrics" OUT=/work/run
status_is 0 "a makefile measures, and follows the run"
contains "$(cat "$OUT")" "Verdict " "the makefile shows its report"
run in_image -e IPF_REPORT_FORMAT=html -e IPF_REPORT_OUTPUT=report.html "$IMAGE" ipf-report run/results.zst
status_is 0 "options come from the environment"
yes_if "the report is there" test -s work/report.html

# ---- signals ----
ipf-prep synthetic -n 200 --input-tokens 20 --output-tokens 5 -q -o work/trace
ipf-sched poisson:rate=20,for=120s -t work/trace -q -o work/schedule
has_lines() { [ "$(wc -l <work/stopped.records)" -gt 5 ]; }
image_run --name ipf-stopped-$$ --network host -v "$PWD/work:/work" "$IMAGE" ipf-fire -u "$URL" -m sim -t trace -o stopped.records schedule >fire.out 2>&1 &
pid=$!
stop_at_exit $pid
wait_for has_lines
image_podman stop -t 30 ipf-stopped-$$ >/dev/null
wait $pid
is $? 0 "SIGTERM ends a run as the first process of its container"
yes_if "records of a stopped container are whole" whole work/stopped.records
contains "$(tail -1 work/stopped.records | jq -r .end.incomplete)" interrupted "records of a stopped container say that it was interrupted"

# ---- a server's certificate, a name ----
run in_image "$IMAGE" sh -c 'test -s /etc/ssl/certs/ca-certificates.crt && test -s /usr/lib/ssl/cert.pem'
status_is 0 "certificates of authorities are there"
sed -i 's/127.0.0.1/localhost/' work/trace
run in_image "$IMAGE" ipf-fire -u "${URL/127.0.0.1/localhost}" -m sim -t trace --probe
status_is 0 "names are resolved"
