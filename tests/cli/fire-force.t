#!/bin/bash
# Records of a run are not overwritten without --force, whatever form they have. The run's name goes as far as the report.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
. "$TESTS/fixture.sh"
unset IPF_FIRE_FORCE

server_start --log server.log
small_run 4
asked() { wc -l <server.log; }
fire() { run ipf-fire -q -u "$URL" -m sim -t chat.trace chat.sched "$@"; }
kept() { # FILE TEXT
	cp "$1" "$1.before"
	fire -o "$1"
	status_is 2 "$2: refused"
	complains ipf-fire "\"$1\"" "$2: one message with its name"
	stderr_contains "--force" "$2: the message names --force"
	same "$1" "$1.before" "$2: no byte has changed"
	fire -o "$1" --probe
	status_is 2 "$2: --probe refuses it"
}

ipf-fire -q -u "$URL" -m sim -t chat.trace chat.sched -o whole.records.zst
logged() { [ "$(asked)" = 8 ]; } # after an answer was sent
wait_for logged
before=$(asked)
kept chat.records "records"
kept whole.records.zst "compressed records"
cp whole.records.zst other.name
kept other.name "compressed records with another name"
head -c 300 chat.records >cut-header
kept cut-header "a header that was cut"
head -c 5 chat.records >cut-start
kept cut-start "the first bytes of one"
head -n 3 chat.records >"cut"
kept cut "records that were cut"
head -c 200 whole.records.zst >cut.zst
kept cut.zst "compressed records that were cut"
head -c 30 whole.records.zst >start.zst
kept start.zst "the first bytes of compressed records"
for program in gzip xz bzip2; do
	command -v $program >/dev/null || continue
	$program -c chat.records >chat.$program
	kept chat.$program "records by $program"
done
sed '1s/"version":1/"version":2/' chat.records >newer
kept newer "records of a newer version"
sed '1s/^{"ipf":"records",\(.*\)}$/{\1,"ipf":"records"}/' chat.records >sorted
kept sorted "a header in another order"
ln -s chat.records link
kept link "a link to records"
ln chat.records hard
kept hard "another name of records"
run ipf-fire -q --calibrate -o chat.records
status_is 2 "--calibrate does not replace records"
same chat.records chat.records.before "chat.records stays as it was"
is "$(asked)" "$before" "refused runs send nothing to the server"
fire -o chat.records --wait-ready 120s --start-at +1h
status_is 2 "ipf-fire refuses to overwrite at once, not at the start"

# ---- replaced files ----
fire -o chat.records --force
status_is 0 "--force replaces records"
yes_if "--force writes whole records" whole chat.records
for file in chat.trace chat.sched chat.results; do
	cp $file replaced
	fire -o replaced
	status_is 0 "$file is replaced as by any program"
done
: >empty
fire -o empty
status_is 0 "an empty file is used"
echo notes >text
fire -o text
status_is 0 "a text is replaced"
fire -o /dev/null
status_is 0 "/dev/null is no file"
mkfifo fifo
cat fifo >from-fifo &
fire -o fifo
status_is 0 "a pipe with a name"
wait $!
yes_if "a named pipe gets the whole stream" whole from-fifo
printf '{"ipf":"record' >other-kind
printf '{"ipf":"results","version":1}\n' >results
fire -o results
status_is 0 "the header of another kind"
ipf-fire -q -u "$URL" -m sim -t chat.trace chat.sched >chat.records
is "$?" 0 "the shell has emptied the file before us"

# ---- the variable ----
IPF_FIRE_FORCE=1 fire -o chat.records
status_is 0 "IPF_FIRE_FORCE=1 is --force"
IPF_FIRE_FORCE=0 fire -o chat.records
status_is 2 "IPF_FIRE_FORCE=0 is not"
IPF_FIRE_FORCE=maybe fire -o chat.records
status_is 2 "IPF_FIRE_FORCE takes only 0 and 1"
complains ipf-fire 'IPF_FIRE_FORCE: expected 1 or 0, got "maybe"' "ipf-fire says what IPF_FIRE_FORCE may be"
IPF_FIRE_HEADER="X-Jwt: sesame" IPF_FIRE_TIMEOUT=17s IPF_FIRE_MODEL=other run ipf-fire -q -u "$URL" -m sim -t chat.trace chat.sched
is "$(head -1 "$OUT" | jq -c '[.timeout_ns, .model, .argv[0:2]]')" '[17000000000,"sim",["--header=X-Jwt: [redacted]","--timeout=17s"]]' \
	"options by variables: recorded, and the command line wins"
IPF_FIRE_TIMEOUT=17 fire
complains ipf-fire 'IPF_FIRE_TIMEOUT: expected a duration' "ipf-fire checks options of variables"

# ---- the run's name ----
named() { # EXPECTED ARGUMENTS OF ipf-fire…: in the header, the results and the reports
	local expected=$1
	shift
	rm -f run.a.records
	ipf-fire -q -u "$URL" -m sim -t chat.trace chat.sched "$@" || not_ok "a run with $*"
	ipf-collect -q "${records:-run.a.records}" -o name.results
	is "$(jq -r 'select(.ipf != null) | .name' "${records:-run.a.records}" name.results | sort -u)" "$expected" "the name of ${*//$PWD/.} is $expected"
	is "$(ipf-report -f json name.results | jq -r .run.name)" "$expected" "JSON has the name $expected"
	is "$(ipf-report -f csv name.results | python3 -c 'import csv, sys; print({r["name"] for r in csv.DictReader(sys.stdin)})')" "{'$expected'}" "CSV has the name $expected"
	matches "$(ipf-report name.results | head -1)" "^Verdict +[A-Z]+ +$expected\$" "the text has the name $expected"
}
named run -o "$PWD/run.a.records"
named "the second try" -o run.a.records --name "the second try"
records=piped.records named piped --name piped -o piped.records
ipf-fire -q -u "$URL" -m sim -t chat.trace chat.sched | ipf-collect -q >name.results
is "$(head -1 name.results | jq .name)" null "a pipe has no name"
is "$(ipf-report name.results | grep -c '^  name ')" 0 "a report of a pipe has no name"
for name in "$(printf 'a\033[31mb')" "$(printf 'a\nb')" "$(printf 'x%.0s' $(seq 201))"; do
	fire --name "$name" -o run.x
	status_is 2 "a name that is not shown"
done
