# Finds checks in the tests of `make check` that a busy machine can break: clock.awk FILE…; prints FILE:LINE: what is wrong.
#
# A test asserts no upper bound of a time that was measured, no rate, no lag, no share of late requests and no verdict on them: those belong into
# tests/bench or tests/long. It may if the clock is simulated (ipf-fire --twin, ipf-sim's arithmetic, times that the test wrote). Such a line in a file
# that also sends requests ends in "# exact: REASON".

FNR == 1 {
	measures = 0
	python = FILENAME ~ /\.py$/
	while ((getline line <FILENAME) > 0)
		if (line !~ /^[ \t]*#/ && line ~ /server_start|ipf-fire"?( |$)|fixture\.sh|-C "\$share/ && line !~ /--twin/)
			measures = 1
	close(FILENAME)
}

/# exact: [^ ]/ || /^[ \t]*#/ { next }

/wait_for [0-9]/ { say("wait_for takes no seconds: it polls until the test hangs") }
!python && match($0, /(^|[ \t(])timeout (-k [0-9]+ )?[0-9.]+ /) {
	split(substr($0, RSTART, RLENGTH), word, " ")
	if (word[word[2] == "-k" ? 4 : 2] + 0 < 120)
		say("a timeout is for hangs: at least 120 s")
}
python && match($0, /timeout(=|\()[0-9.]+/) {
	split(substr($0, RSTART, RLENGTH), word, /[=(]/)
	if (word[2] + 0 < 120)
		say("a timeout is for hangs: at least 120 s")
}
!python && /\$\(?\(?SECONDS|date \+%s/ { say("elapsed time of this machine") }
!python && /\|\| ([a-z_]+) *\|\| \1|for (attempt|try|round) in/ { say("a second try hides what the first one said") }
measures && /between .*(_ms|_ns|_s\>|latency|lag|late|took|elapsed|rate\>|\.p[0-9]+)/ {
	say("an upper bound of what was measured: use at_least")
	next
}
measures && /(_ms|_ns|_s)\>[^"']*[^-=<]<=? *[1-9]/ { say("an upper bound of what was measured") }
measures && /load_delivered|client_headroom|verdict\.status|[Vv]erdict.*(OK|DOUBTFUL|INVALID)/ && !/server_answers|enough_samples/ {
	say("a verdict on a run that was measured")
}

function say(what) {
	printf "%s:%d: %s: %s\n", FILENAME, FNR, what, $0
	found = 1
}
END { exit found }
