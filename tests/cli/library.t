#!/bin/sh
# libipf: its installed files, by pkg-config alone; the same rows, schedules and tokens as the programs; no leak; its interface.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

[ -z "${SANITIZE:-}" ] || skip_all "unit/test_public runs its functions under sanitizers"
prefix=$PWD/prefix
unset DESTDIR
run make -C "$ROOT" -o all BUILD="$BUILD" prefix="$prefix" install
status_is 0 "make install ends with 0"
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig" XDG_CACHE_HOME="$PWD/cache"

# ---- the interface ---------------------------------------------------------------------------------------------------

lib=$prefix/lib/libipf.so
headers=$ROOT/libipf/ipf
nm -D --defined-only "$lib" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort >exported
sed -n 's/^\t\(ipf_[a-z_]*\);$/\1/p' "$ROOT/libipf/libipf.map" | sort >listed
sed -e '/^#/d' "$headers"/*.h | grep -oE 'IPF_PUBLIC [^(]*\(' | grep -oE 'ipf_[a-z_]+\($' | tr -d '(' | sort >declared
sed -n 's/^\.Fo \(ipf_[a-z_]*\)$/\1/p' "$ROOT"/libipf/*.3 | sort >documented
yes_if "the list of functions is not empty" test -s listed
is "$(diff listed exported)" "" "the shared library has the functions of the list and no other symbol"
is "$(diff listed declared)" "" "headers declare the functions of the list"
is "$(diff listed documented)" "" "manual pages document the functions of the list"
is "$(nm -g --defined-only "$prefix/lib/libipf.a" | awk 'NF == 3 { print $3 }' | sort)" "$(cat listed)" "the static library has the functions of the list"
is "$(for f in $(cat listed); do
	grep -l "^\.Fn $f\b" "$ROOT"/libipf/*.3 >/dev/null || echo "$f"; done | grep -vE '_(free|new|close)$')" "" \
	"every function is described"
matches "$(readelf -d "$lib")" "SONAME.*\[libipf.so.0\]" "the shared library has a soname"
is "$(readelf -rW "$lib" | grep -wE '(exit|_exit|abort|printf|puts|signal|json_set_alloc_funcs|CRYPTO_set_mem_functions)(@.*)?')" "" \
	"the shared library neither exits, prints to standard output, installs signal handlers, nor changes allocators"

/usr/bin/python3 "$TESTS/helpers/library_layout.py" "$headers"/*.h >layout.c
run cc -o layout layout.c -I"$prefix/include"
if [ "$(uname -m)" = x86_64 ]; then
	./layout >layout.txt
	is "$(diff "$TESTS/data/library_layout.txt" layout.txt)" "" "structs and enums are laid out as in the list"
else
	skip "structs and enums are laid out as in the list" "the list is that of x86_64"
fi
for header in "$prefix"/include/ipf/*.h; do
	printf '#include <ipf/%s>\nint main(void) { return 0; }\n' "${header##*/}" >one.c
	cp one.c one.cc
	run cc -std=c99 -pedantic -Wall -Wextra -Werror -I"$prefix/include" -fsyntax-only one.c
	status_is 0 "$(basename "$header") is C99 by itself"
	run c++ -std=c++11 -pedantic -Wall -Wextra -Werror -I"$prefix/include" -fsyntax-only one.cc
	status_is 0 "$(basename "$header") is C++"
done

# ---- against an installed prefix ---------------------------------------------------------------------------------------

build() { # PROGRAM SOURCE [STANDARD]
	# shellcheck disable=SC2046 # one word a flag
	run cc -std="${3:-c99}" -D_POSIX_C_SOURCE=200809L -pedantic -Wall -Wextra -Werror -g -o "$1" "$2" $(pkg-config --cflags --libs ipf) -pthread
	status_is 0 "$(basename "$2") builds by pkg-config alone"
}
build user "$TESTS/helpers/library_user.c" c11
build benchmark "$ROOT/examples/library/benchmark.c"
build measure "$ROOT/examples/library/measure.c"
# shellcheck disable=SC2046
run cc -o static "$TESTS/helpers/library_user.c" $(pkg-config --cflags ipf) "$prefix/lib/libipf.a" \
	$(pkg-config --libs $(pkg-config --print-requires-private ipf)) -lm -pthread
status_is 0 "library_user.c builds with the static library"
export LD_LIBRARY_PATH="$prefix/lib"

checked() { # COMMAND…: under valgrind, if there is one
	if command -v valgrind >/dev/null; then
		run valgrind -q --leak-check=full --errors-for-leak-kinds=definite,indirect,possible --error-exitcode=99 "$@"
	else
		run "$@"
	fi
}
command -v valgrind >/dev/null || skip "no memory is lost or misused" "valgrind is not installed"

small_run
ipf-collect --events chat.records -o events.results && plain events.results | grep '^{"n":' >rows.expected
checked ./user rows chat.records
status_is 0 "library_user measures records"
same "$OUT" rows.expected "rows are those of ipf-collect"
run ./static rows chat.records
same "$OUT" rows.expected "the static library gives the rows of ipf-collect"
run ./measure chat.records
status_is 0 "the example runs"
matches "$(cat "$OUT")" '^sim +12 +0 ' "the example counts the requests of the model"

for stream in trace sched records results; do
	run ./user walk chat.$stream
	status_is 0 "library_user walks a $stream"
	is "$(sed -e 1d -e '$d' -e 's/^[0-9]* [0-9]* //' "$OUT" | cksum)" "$(plain chat.$stream | sed -e 1d -e '$d' | cksum)" "line by line"
done
is "$(./user walk chat.results | awk '$1 == 6' | wc -l)" 12 "rows are told from other lines"
run ./user figures chat.results
status_is 0 "statistics of results"
ipf-report -f json chat.results >report.json
is "$(jq '[.count, .p50 / 1e6, .mean / 1e6 | . * 1000 | round]' -c "$OUT")" \
	"$(jq '.total.latency.ttft_ms.from_start | [.n, .p50, .mean | . * 1000 | round]' -c report.json)" "statistics of results are those of ipf-report"
is "$(jq -r '.histogram_count == .count and .itl > 0 and (.histogram_p50 / .p50 - 1 | fabs) < 0.002' "$OUT")" true "statistics of histograms differ by less than 0.2 %"

checked ./user trace made.trace.zst
status_is 0 "library_user writes a trace"
stdout_is "id: missing
messages, prompt, prompt_token_ids, inputs: expected one of them, got several
messages: expected JSON on one line: not JSON: unexpected text after the value at byte 2
prompt: expected UTF-8
output_tokens: expected a number of tokens from 0 to 2^40, got -1" "the library refuses what a trace cannot have"
yes_if "the trace is whole" whole made.trace.zst
is "$(ipf-prep stat made.trace.zst -f json 2>/dev/null | jq -c "[.requests, .queries, .inputs.mean]")" "[4,1,2]" "ipf-prep reads it"

checked ./user schedule made.sched chat.trace 7 poisson:rate=20,for=2s,warmup closed:users=2,n=4
status_is 0 "library_user writes a schedule"
ipf-sched --seed 7 -t chat.trace -o expected.sched poisson:rate=20,for=2s,warmup closed:users=2,n=4
is "$(tail -1 made.sched | jq -r .end.sha256)" "$(tail -1 expected.sched | jq -r .end.sha256)" "the one of ipf-sched"
run ./user schedule bad.sched chat.trace 7 poisson:rate=0,for=2s
status_is 2 "library_user refuses a stage"
is "$(cat "$ERR")" "$(ipf-sched poisson:rate=0,for=2s 2>&1 | sed 's/^ipf-sched: //')" "the library refuses a stage as ipf-sched does"
run ./user times times.sched chat.trace 0 1000 5000000
status_is 0 "library_user writes times"
run ipf-sched stat times.sched
status_is 0 "ipf-sched reads the times"

for name in gpt2 llama; do
	text=$(jq -r 'select(.text | length > 20 and test("^[ -~]+$")) | .text' "$TESTS/data/tokenizer/$name.cases" | head -1)
	[ $name = gpt2 ] && check=checked || check=run
	$check ./user tokens "$TESTS/data/tokenizer/$name.json" "$text"
	status_is 0 "tokenizes with $name"
	is "$(head -1 "$OUT")" "$(jq -r --arg t "$text" 'select(.text == $t) | .ids | map(tostring) | join(" ")' "$TESTS/data/tokenizer/$name.cases")" "ids of $name are those of the reference"
	is "$(sed -n 3p "$OUT")" "$(jq -r --arg t "$text" 'select(.text == $t) | .decoded' "$TESTS/data/tokenizer/$name.cases")" "texts of the ids of $name are those of the reference"
done

# ---- a run -------------------------------------------------------------------------------------------------------------

checked ./benchmark "$URL" sim 6 1
status_is 0 "the benchmark runs"
matches "$(cat "$OUT")" "^[1-9][0-9]* sent, [1-9][0-9]* answered, 0 failed$" "the benchmark counts requests"
stderr_is "" "the benchmark has no messages"
is "$(ipf-collect benchmark.records.zst | grep -c '^{"n":')" "$(sed -n 's/ sent.*//p' "$OUT")" "the benchmark writes whole records"
run ./benchmark "$URL" sim 0 1
status_is 2 "a stage that is none"
stderr_contains 'benchmark: stage 1 (poisson): rate: ' "the benchmark names a wrong stage"
run env IPF_FIRE_TIMEOUT=nonsense ./benchmark nothttp://x sim 1 1
status_is 2 "a URL that is none, whatever the environment says"
stderr_contains "nothttp" "the benchmark names a wrong URL"

# Long enough: no machine is through with it before it is stopped.
ipf-sched -q closed:users=1,n=2000 -t chat.trace -o long.sched
ipf-sched -q closed:users=1,n=2 -t chat.trace -o short.sched
for who in start first_byte part end thread; do
	[ $who = thread ] && check=checked || check=run
	$check ./user stop $who "$URL" chat.trace long.sched short.sched stopped.$who
	status_is 0 "a run is stopped by $who"
	matches "$(head -1 "$OUT")" "^0: [1-9][0-9]?[0-9]? started, .* 1 with text, [1-9][0-9]?[0-9]? ended" "a run stopped by $who ends all its requests"
	is "$(sed -n 2p "$OUT")" "0: 2 started, 2 answered, 1 with text, 2 ended, 0 failed" "a run after the one stopped by $who sends whatever it gets"
	yes_if "records of a run stopped by $who are whole" whole stopped.$who
done
checked ./user two "$URL" chat.trace short.sched first.records second.records
status_is 0 "two runs at the same time"
stdout_is "0: 2 ended, 0 failed
0: 2 ended, 0 failed" "two simultaneous runs have all their requests"
is "$(cat first.records second.records | grep -c '"status":200')" 4 "two simultaneous runs write records of their own"

# ---- errors are values -------------------------------------------------------------------------------------------------

plain chat.results | head -5 >cut.results
run ./user walk cut.results
status_is 3 "a stream that was cut"
stderr_contains "cut.results: " "library_user names a stream that was cut"
is "$(wc -l <"$OUT")" 5 "a cut stream gives its good lines"
sed '3s/"ttft_ns":[0-9]*/"ttft_ns":"many"/' chat.results >odd.results
run ./user figures odd.results
status_is 3 "a member of another type"
stderr_is 'odd.results:3: ttft_ns: expected an integer, got "many"' "a member of another type is named with file, line and value"
run ./user walk nowhere
status_is 1 "a file that is not there"
stderr_is "nowhere: cannot open: No such file or directory" "library_user names a missing file"

# ---- other languages ---------------------------------------------------------------------------------------------------

run env LIBIPF="$lib" /usr/bin/python3 "$ROOT/examples/library/results.py" chat.results
status_is 0 "results.py reads results"
matches "$(cat "$OUT")" "ttft_ns" "results.py shows latencies"
if "${PYTHON:-/usr/bin/python3}" -c 'import pandas' 2>/dev/null; then
	run env LIBIPF="$lib" "${PYTHON:-/usr/bin/python3}" "$ROOT/examples/library/results.py" chat.results
	matches "$(cat "$OUT")" "^count +12" "results.py makes a DataFrame"
else
	skip "results.py makes a DataFrame" "PYTHON has no package pandas"
fi
run env LIBIPF="$lib" /usr/bin/python3 "$ROOT/examples/library/results.py" cut.results
status_is 3 "results.py ends with 3 for cut results"
stderr_is "results.py: cut.results: cut after 4 good lines: the trailer is missing" "results.py has the message of the library"
python3() { env -u LIBIPF /usr/bin/python3 "$@"; }
run python3 "$prefix/share/ipf/library/results.py" chat.results
status_is 0 "installed, it finds the library that was installed with it"
mkdir -p alone/share/ipf/library no-pandas
sed 's/^LIBRARY = .*/LIBRARY = "libipf.so.none"/' "$ROOT/examples/library/results.py" >alone/share/ipf/library/results.py
run python3 alone/share/ipf/library/results.py chat.results
status_is 1 "results.py without a library ends with 1"
stderr_is "results.py: cannot load the library: libipf.so.none: cannot open shared object file: No such file or directory; it is neither in $PWD/alone/lib nor where \
the loader looks: set LIBIPF=FOLDER/libipf.so.none, or make its folder known by ldconfig" "results.py says in one line where it looked for the library, and what to do"
mkdir alone/lib
echo nonsense >alone/lib/libipf.so.none
run python3 alone/share/ipf/library/results.py chat.results
stderr_is "results.py: cannot load the library: $PWD/alone/lib/libipf.so.none: file too short" "results.py names a file that is no library"
run env LIBIPF=/nowhere/libipf.so.0 /usr/bin/python3 "$ROOT/examples/library/results.py" chat.results
status_is 1 "a library that is named and missing"
stderr_is "results.py: cannot load the library: /nowhere/libipf.so.0: cannot open shared object file: No such file or directory" "results.py names a missing library"
run python3 "$ROOT/examples/library/results.py"
status_is 2 "results.py without an operand ends with 2"
echo 'raise ImportError("not here")' >no-pandas/pandas.py
run env LIBIPF="$lib" PYTHONPATH="no-pandas:$ROOT/examples/library" /usr/bin/python3 -c 'import results; results.frame("chat.results")'
is "$(tail -1 "$ERR")" "ImportError: frame() needs pandas (not here); columns() has the same without it" "a DataFrame without pandas says what does without"
run env LIBIPF="$lib" PYTHONPATH=no-pandas /usr/bin/python3 "$ROOT/examples/library/results.py" chat.results
matches "$(cat "$OUT")" "^ttft_ns +count 12 median " "results.py without pandas prints medians"
# A Python with the packages pandas and duckdb, such as a virtual environment: not of Debian.
python=${PYTHON:-/usr/bin/python3}
zstd -q chat.results -o run.results.zst
if "$python" -c 'import duckdb' 2>/dev/null; then
	run "$python" -c 'import duckdb, sys; print(duckdb.sql(open(sys.argv[1]).read()).fetchall())' "$ROOT/examples/library/results.sql"
	matches "$(cat "$OUT")" "^\[\(0, 'sim', 12, 0, " "DuckDB reads results"
else
	skip "DuckDB reads results" "PYTHON has no package duckdb"
fi
