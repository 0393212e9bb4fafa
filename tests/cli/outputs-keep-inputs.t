#!/bin/bash
# No output is an input: whichever options name the same file, in whichever spelling, nothing is written. The second half
# walks the options of all programs, so a new option is tried, too.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/every_option.sh"

server_start --step-base 200us
small_run
every_option_files
printf '0,5\n1,5\n' >rates.csv
printf '1 2\n3 4\n' >lengths.txt
head -c 40 /dev/urandom | base64 >salt

# TEXT FILE COMMAND…: the command ends with 2 and says why; FILE keeps its bytes.
kept() {
	local text=$1 file=$2
	shift 2
	cp "$file" before
	run "$@"
	local got=$status
	cmp -s before "$file" || got="$got, $file changed"
	[ "$got" = 2 ] && grep -qE "is also|below the folder" "$ERR" || got="$got, $(head -c 300 "$ERR")"
	is "$got" 2 "$text"
	cp before "$file"
}

# ---- options that name one file ------------------------------------------------------------------------------------

kept "--report over the input" chat.trace ipf-prep anonymize trace chat.trace -o new --report chat.trace
kept "--report over the salt" salt ipf-prep anonymize trace chat.trace -o new --salt-file salt --report salt
kept "-o over the input of --like" model.json ipf-prep synthetic -n 2 --like model.json -o model.json
kept "-o over the second input of --like" model.json ipf-prep synthetic -n 2 --like other=0.5,model.json=0.5 -o model.json
kept "-o over the text of --system" words.txt ipf-prep synthetic -n 2 --system words.txt -o words.txt
kept "-o over a histogram" lengths.txt ipf-prep synthetic -n 2 --input-tokens histogram:lengths.txt -o lengths.txt
kept "-o over a file of rates" rates.csv ipf-sched rates:file=rates.csv -o rates.csv
kept "-o over a file of rates, before another key" rates.csv ipf-sched rates:scale=2,file=rates.csv,arrivals=poisson -o ./rates.csv
kept "-o over the token of a scraper" salt ipf-collect --prometheus http://127.0.0.1:1 --prometheus-bearer salt chat.records -o salt
kept "--media over the input" chat.trace ipf-prep trace chat.trace --media chat.trace -o new
kept "a plot over the trace" chat.trace ipf-prep stat chat.trace --plot chat.trace
kept "a plot over the schedule" chat.sched ipf-sched stat chat.sched --plot chat.sched
kept "-o over the input of --results" chat.results ipf-sched -r chat.results constant:rate=1,n=1 -o chat.results
kept "-o over standard input" words.txt bash -c 'exec ipf-prep tokenize -o words.txt <words.txt'
IPF_PREP_CONTENT=words.txt kept "-o over a file that the environment names" words.txt ipf-prep synthetic -n 2 -o words.txt
cp chat.trace named.trace
ipf-sched constant:rate=5,n=2 -t named.trace -o named.sched
kept "records over the trace that the schedule names" named.trace ipf-fire -u "$URL" -m sim named.sched -o named.trace --force
kept "an output beside a trace, over its media" chat.trace bash -c 'cp chat.trace t.media; cp chat.trace t; ipf-prep trace t -o t.media'

# ---- two outputs ---------------------------------------------------------------------------------------------------

for names in "new new" "new ./new" "new $PWD/new" "new here/../new" "new dangling"; do
	mkdir -p here
	ln -sfn new dangling
	read -r one two <<<"$names"
	run ipf-prep anonymize trace chat.trace -o "$one" --report "$two"
	is "$status $(ls new 2>/dev/null)" "2 " "two outputs are not one file: $names"
done
run ipf-prep jsonl words.txt --media m -o m
status_is 2 "the media are not written over the trace"
run ipf-prep synthetic -n 2 --media pictures.media -o pictures
status_is 0 "the media file may have its usual name"
run ipf-prep synthetic -n 2 --like later -o later
is "$status $(ls later 2>/dev/null)" "1 " "an input that does not exist yet is not made by -o"
# A device is neither destroyed nor made: it may be both.
run ipf-report -q -o /dev/null /dev/null
is "$status $(cat "$ERR")" "3 ipf-report: /dev/null: empty: expected an ipf results stream" "a device may be input and output"
run ipf-prep trace chat.trace --media /dev/null -q -o /dev/null
is "$status $(cat "$ERR")" "0 " "a device may be two outputs"
cp chat.trace null.media
kept "-o over the media beside a pipe" null.media ipf-prep trace <(cat chat.trace) --media null.media -o null.media

# ---- spellings of one file -----------------------------------------------------------------------------------------

ln -f chat.results hard.results
ln -sfn chat.results soft.results
ln -sfn . folder
for path in ./chat.results "$PWD/chat.results" here/../chat.results folder/chat.results hard.results soft.results; do
	kept "-o over the input as $path" chat.results ipf-report chat.results -o "$path"
done
run ipf-report chat.results -o here/chat.results
status_is 0 "a file of the same name in another folder is written"

# ---- folders -------------------------------------------------------------------------------------------------------

cp chat.results cdf-ttft.tsv
kept "a plot's data over the results" cdf-ttft.tsv ipf-report plot . cdf-ttft.tsv
kept "a plot's picture over the results" cdf-ttft.tsv bash -c 'cp chat.results cdf-ttft.svg; ipf-report --plots . cdf-ttft.svg'
printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\10\2\0\0\0' >here/one.png
printf '{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"one.png"}}]}]}\n' >here/pictures.jsonl
kept "the trace over a picture below --media-root" here/one.png ipf-prep jsonl here/pictures.jsonl --media-root here -o here/one.png
kept "the trace over a picture beside the data" here/one.png ipf-prep jsonl here/pictures.jsonl -o folder/here/one.png
kept "the media file over a picture" here/one.png ipf-prep jsonl here/pictures.jsonl --media here/one.png -o new
printf '\0\0\0\30ftypsome new kind of picture' >here/one.new
kept "the trace over a medium of an unknown kind" here/one.new ipf-prep jsonl here/pictures.jsonl --media-root here -o here/one.new
: >here/empty.trace.zst
run ipf-prep jsonl here/pictures.jsonl -o here/empty.trace.zst
run ipf-prep jsonl here/pictures.jsonl -o here/empty.trace.zst
status_is 0 "a compressed trace beside its pictures is written again"
run ipf-prep jsonl here/pictures.jsonl -o here/pictures.trace
run ipf-prep jsonl here/pictures.jsonl -o here/pictures.trace
status_is 0 "a trace beside its pictures is written again"

# ---- every option --------------------------------------------------------------------------------------------------

has_output() { # COMMAND…
	"$@" --help | grep -q -- '--output '
}

escaped=
no_output_is_an_input() { # OPTION ARGUMENT
	# an option may not write over what another argument reads
	for word in "${words[@]}"; do
		[ -f "$word" ] || continue
		cp "$word" before
		timeout 120 "${command[@]}" "${words[@]}" "$1=$word" >"$OUT" 2>"$ERR" </dev/null
		cmp -s before "$word" || escaped+=" ${command[*]} $1 writes over the input $word;"
		cp before "$word"
	done
	# a file that is opened for an option, or could be, is not written by -o
	[ "$1" != --output ] && has_output "${command[@]}" && takes_file "$1" "$2" || return 0
	cp words.txt named.file
	timeout 120 "${command[@]}" "${words[@]}" "$1=named.file" -o named.file >"$OUT" 2>"$ERR" </dev/null
	[ $? = 2 ] && grep -q "is also" "$ERR" && cmp -s words.txt named.file || escaped+=" ${command[*]} $1;"
}
each_option no_output_is_an_input
at_least "$options_tried" 200 "the options of all programs are tried"
is "$unknown_commands" "" "the operands of all commands are known"
is "$escaped" "" "no option's file is written over"
