#!/bin/bash
# Every member standing in a stream is described in the stream's manual page (or, common to all, in ipf(7)).
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

# Streams with as much in them as can be had: sessions, errors, waits for slots, reasoning, events and texts kept.
server_start --step-base 1ms --fail error-inband:share=0.1 --fail reset:share=0.1,after=2 --fail reasoning:share=0.2 --fail cut:share=0.1 \
	--fail bad-utf8:share=0.1 --fail status:share=0.1 --fail idle-close:share=0.1
ipf-prep sharegpt "$ROOT/examples/chat.json" --turns all --wait 5ms --models a=0.5,b=0.5 --system "Be brief." -q -o a.trace
ipf-prep azure "$ROOT/examples/arrivals.csv" -n 20 -q -o b.trace
ipf-sched poisson:rate=200,n=60,slots=3 closed:users=2,for=300ms rest:for=100ms burst:n=5,warmup -t a.trace -q -o a.sched
ipf-sched replay:speed=30 -t b.trace -q -o b.sched
for run in a b; do
	ipf-fire -q -u "$URL" -m sim --param temperature=0 --record-header content-type -t $run.trace $run.sched -o $run.records
	ipf-collect -q -t approx --events --text $run.records -o $run.results
done
ipf-fire -q -u "$URL" -t a.trace a.sched -o c.records &
fire=$!
stop_at_exit $fire
wait_for grep -q '"n"' c.records
kill $fire
wait $fire
yes_if "a run that was interrupted is among them" grep -q '"interrupted":true' c.records

for kind in trace schedule records results; do
	page=$ROOT/lib/stream/ipf-$kind.5
	# The results hand on the schedule's stages and ipf-fire's own state, and their page points there.
	also=
	[ $kind != results ] || also="$ROOT/lib/stream/ipf-schedule.5 $ROOT/lib/stream/ipf-records.5"
	# shellcheck disable=SC2086
	cat "$page" "$ROOT/lib/ipf.7" $also | sed -e 's/\\-/-/g' -e 's/\\&//g' >words
	case $kind in schedule) set -- ?.sched ;; *) set -- ?."$kind" ;; esac
	{
		# Members of header, rows and trailer; those of stages, client lines, errors and connections one step deeper.
		jq -r 'keys[], (.end? | objects | keys[]), (.stages? | arrays | .[] | keys[]), (.client? | objects | keys[]),
			(.error? | objects | keys[]), (.connection? | objects | keys[]), (.histogram? | objects | keys[]),
			(.sample? | objects | keys[])' "$@"
	} | sort | uniq -c | sort -rn >members
	between "$(wc -l <members)" 8 400 "ipf-$kind: some members to look for"
	missing=
	while read -r _ member; do grep -qw -e "$member" words || missing="$missing $member"; done <members
	is "$missing" "" "ipf-$kind(5) describes every member that the stream has"
done

# The blocks of the JSON report: the manual has the members the schema has from the catalogue. Latencies are those of
# ipf-report-definitions(1), which unit/test_report_catalogue holds against the catalogue.
sed -n '/^BLOCK = {/,/^DIST = {/p' "$ROOT"/ipf-report/*.[15] | sed -e '/^DIST/d' -e 's/\\-/-/g' | grep -o '"[a-z0-9_.-]*"' | tr -d '"' |
	sort -u >members
jq -r '."$defs" | ((.block | del(.properties.latency.properties)), .residual, .early_stopping, .accuracy, .due_bar, .objectives | .. | objects | .properties? // empty | keys[]),
	.gap_position.required[]' "$BUILD/schema/report.schema.json" | sort -u >properties
between "$(wc -l <properties)" 80 400 "the schema has members of blocks"
is "$(diff members properties)" "" "the manual has the members of blocks of the schema"

missing=
for member in $(jq -r '.properties | keys[]' "$BUILD/schema/report.schema.json"); do
	sed -n '/^{ "ipf"/,/^BLOCK/p' "$ROOT/ipf-report/ipf-report-json.5" | grep -q "\"$member\"" || missing="$missing $member"
done
is "$missing" "" "ipf-report-json(5) has every member of a report"
