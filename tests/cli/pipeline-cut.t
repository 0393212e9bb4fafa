#!/bin/sh
# A cut stream, wherever it ends: its reader says so in one line with the number of good lines, works with these, writes
# its own output whole and ends with 3.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

small_run
for stream in trace sched records results; do zstd -q "chat.$stream" -o "chat.$stream.zst"; done

read_stream() { # KIND FILE: by the program coming next
	case $1 in
	trace) run ipf-sched constant:rate=25 -t "$2" -o next ;;
	sched) run ipf-fire -u "$URL" -m sim -t chat.trace "$2" -o next ;;
	records) run ipf-collect "$2" -o next ;;
	results) run ipf-report "$2" -o next ;;
	esac
}
program_of() {
	case $1 in trace) echo ipf-sched ;; sched) echo ipf-fire ;; records) echo ipf-collect ;; results) echo ipf-report ;; esac
}

for kind in trace sched records results; do
	file=chat.$kind
	program=$(program_of $kind)
	size=$(wc -c <"$file")
	head_size=$(head -1 "$file" | wc -c)
	trailer_size=$(tail -1 "$file" | wc -c)

	: >short
	rm -f next
	read_stream $kind short
	status_is 3 "an empty $kind gives 3"
	complains $program "empty" "$program says that an empty $kind is empty"
	head -c $((head_size / 2)) "$file" >short
	read_stream $kind short
	status_is 3 "a $kind cut in its header gives 3"
	complains $program "0 good lines" "$program counts 0 good lines of a $kind cut in its header"

	middle=$((head_size + (size - head_size - trailer_size) / 2))
	third=$(head -4 "$file" | wc -c)
	for at in "$head_size" "$third" "$middle" $((size - trailer_size)) $((size - trailer_size / 2)); do
		head -c "$at" "$file" >short
		good=$(($(tr -cd '\n' <short | wc -c) - 1))
		rm -f next
		read_stream $kind short
		status_is 3 "a $kind cut at byte $at of $size gives 3"
		complains $program "$good good line" "$program counts $good good lines of a $kind cut at byte $at"
		case $kind/$good in
		trace/0) ;; # without a request there is no schedule
		results/*) contains "$(cat next)" "cut" "the report says that a $kind cut at byte $at is cut" ;;
		*) yes_if "$program writes a whole stream from a $kind cut at byte $at" whole next ;;
		esac
	done
	head -c $((size - 1)) "$file" >short
	read_stream $kind short
	status_is 3 "a $kind that lost its very last byte gives 3"

	for percent in 30 70 95; do
		head -c $(($(wc -c <"$file.zst") * percent / 100)) "$file.zst" >short.zst
		rm -f next
		read_stream $kind short.zst
		status_is 3 "a compressed $kind cut at $percent % gives 3"
		complains $program "good line" "$program counts the good lines of a $kind cut at $percent %"
	done
	head -c $(($(wc -c <"$file.zst") - 1)) "$file.zst" >short.zst
	read_stream $kind short.zst
	status_is 3 "a compressed $kind that lost its very last byte gives 3"
done
