#!/bin/bash
# Every program's duties: a full disk is an error, a satisfied reader is none, missing standard descriptors are
# survived, and an error is one line beginning with the program's name.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

server_start --step-base 200us
# Enough for no pipe to swallow it all.
small_run 150
declare -A command=(
	[ipf-prep]="ipf-prep azure $ROOT/examples/arrivals.csv"
	[ipf-sched]="ipf-sched -q constant:rate=1k,n=40k -t chat.trace"
	[ipf-fire]="ipf-fire -u $URL -m sim -t chat.trace chat.sched"
	[ipf-collect]="ipf-collect chat.records"
	[ipf-report]="ipf-report chat.results"
)
declare -A input=([ipf-fire]=chat.sched [ipf-collect]=chat.records [ipf-report]=chat.results)

for program in ipf-prep ipf-sched ipf-fire ipf-collect ipf-report; do
	read -ra words <<<"${command[$program]}"

	run "${words[@]}"
	status_is 0 "$program does its work"
	stderr_is "" "$program has no messages if all goes well"

	asked=0 taken=
	for option in $("$program" --help | sed -nE 's/^  (-., |    )(--[a-z-]+) [^ ].*/\2/p'); do
		asked=$((asked + 1))
		run "${words[@]}" "$option="
		[ "$status $(wc -l <"$ERR")" = "2 1" ] && grep -q "^$program: $option: expected .*got \"\"$" "$ERR" ||
			taken+=" $option"
	done
	between $asked 3 100 "$program has options with values"
	is "$taken" "" "$program refuses an empty value of each option"

	status=0
	"${words[@]}" >/dev/full 2>"$ERR" || status=$?
	status_is 1 "$program > /dev/full ends with 1"
	complains $program "No space left on device" "$program > /dev/full says why"
	run "${words[@]}" -o /dev/full
	status_is 1 "$program -o /dev/full ends with 1"
	complains $program "/dev/full" "$program -o /dev/full names the file"
	(ulimit -f 0 && exec "${words[@]}" -o limited) 2>&1 >/dev/null | cat >"$ERR"
	status=${PIPESTATUS[0]}
	status_is 1 "$program -o beyond the limit of files' sizes ends with 1"
	complains $program "limited: cannot write: File too large" "$program -o beyond the limit of files' sizes says why"
	run "${words[@]}" -o no/such/folder/out
	status_is 1 "$program -o in a folder that does not exist ends with 1"
	complains $program "no/such/folder/out" "$program -o in a missing folder names the file"

	for word in "${words[@]}"; do
		[ -f "$word" ] || continue
		cp "$word" mine
		run "${words[@]/#$word/mine}" -o ./mine
		status_is 2 "$program does not write over $(basename "$word"), which it reads"
		complains $program "./mine" "$program says which file it does not write over"
		same mine "$word" "$program leaves a file that it reads as it was"
	done

	{ "${words[@]}" 2>"$ERR"; echo $? >ended; } | head -1 >first
	status=$(cat ended)
	status_is 0 "$program | head -1 ends with 0"
	stderr_is "" "$program | head -1 has no messages"
	isnt "$(cat first)" "" "$program | head -1 writes the line"
	{ "${words[@]}" 2>"$ERR"; echo $? >ended; } | true
	status=$(cat ended)
	status_is 0 "$program | true ends with 0"

	for closed in '<&-' '>&-' '2>&-' '<&- >&- 2>&-'; do
		status=0
		timeout 120 bash -c "\"\$@\" -o out.closed $closed" - "${words[@]}" 2>"$ERR" || status=$?
		status_is 0 "$program -o FILE $closed works"
		isnt "$(head -c 1 out.closed)" "" "$program -o FILE $closed writes its output"
	done

	if [ -n "${input[$program]:-}" ]; then
		unset 'words[-1]'
		run "${words[@]}" <"${input[$program]}"
		status_is 0 "$program reads standard input when no file is named"
		run "${words[@]}" - <"${input[$program]}"
		status_is 0 "$program reads standard input for -"
		run "${words[@]}" </dev/null
		status_is 3 "$program ends with 3 on an empty input"
		complains $program "standard input" "$program says that standard input is empty"
		run "${words[@]}" no-such-file
		status_is 1 "$program ends with 1 where there is no such file"
		complains $program "no-such-file: " "$program names the missing file"
		run "${words[@]}" /
		status_is 1 "$program ends with 1 on a folder"
		complains $program "/" "$program names the folder"
		printf 'hello\n' >other
		run "${words[@]}" other
		status_is 3 "$program ends with 3 on a file of another kind"
		complains $program "other:1: not an ipf stream" "$program says that the file is not an ipf stream"
		run "${words[@]}" chat.trace
		status_is 3 "$program ends with 3 on a stream of another kind"
		complains $program 'got "trace"' "$program says which kind of stream it got"
		run "${words[@]}" chat.trace chat.trace chat.trace
		isnt "$status" 0 "$program does not take three streams silently"
	fi
done
