#!/bin/bash
# ipf, the launcher: its list comes from the makefiles; its arguments reach make unchanged; mistakes are one line. ipf doctor.
. "$TESTS/tap.sh"

ipf=$BIN/ipf

# ---- lists and help ----
run "$ipf"
status_is 0 "ipf alone ends with 0"
is "$(sed -nE 's/^  ([a-z]+)  .*/\1/p' "$OUT" | grep -vxE 'doctor|help|prep|sched|fire|collect|report|twin|sim' | tr '\n' ' ')" \
	"$(cd "$TESTS/../share/ipf" && ls ./*.mk | sed -e 's|./||; s|\.mk||; /common/d' | sort | tr '\n' ' ')" "ipf lists a command for each makefile"
is "$(sed 's/…/./g' "$OUT" | awk 'length > 79')" "" "the list of commands fits into 79 columns"
for command in $(sed -nE '/^The programs/,$d; s/^  ([a-z]+)  .*/\1/p' "$OUT" | grep -v doctor | grep -vx help); do
	run "$ipf" help "$command"
	status_is 0 "ipf help $command ends with 0"
	is "$(sed 's/…/./g' "$OUT" | awk 'length > 79')" "" "ipf help $command fits into 79 columns"
	cp "$OUT" help
	run "$ipf" "$command" --help
	same "$OUT" help "ipf $command --help prints the same"
	yes_if "ipf help $command has the common options" grep -q '^  --url URL ' help
done
run "$ipf" help run
yes_if "options with their defaults" grep -qF 'requests per second (Poisson arrivals) (default: 4)' "$OUT"
yes_if "ipf help run has names that people expect" grep -qE '^  --duration FOR .*\(default: 60s\)$' "$OUT"
run "$ipf" --version
matches "$(cat "$OUT")" '^ipf [0-9]+\.[0-9]+' "ipf --version prints the version"

# ---- mistakes ----
wrong() { fails_with 2 "$1" "$ipf" "${@:2}"; } # MESSAGE ARGUMENT…
wrong 'there is no command "rnu", did you mean run? (ipf lists all)' rnu
wrong 'there is no command "capasity", did you mean capacity?' help capasity
wrong 'run has no --rat, did you mean --rate? (ipf help run lists all)' run --rat 4
wrong 'run has no RAET, did you mean RATE?' run RAET=4
wrong 'run has no --hit-rates' run --hit-rates 0.5
wrong 'run has no --hit-rates' run --hit-rates
wrong '--rate: expected a value' run --rate
wrong 'unknown option -r' run -r 4
wrong 'unexpected argument "chat.json": values belong to options, as in --data chat.json' run chat.json
wrong '--completion: expected bash, zsh or fish, got "tcsh"' --completion tcsh

# ---- arguments for make ----
mkdir bin
cat >bin/make <<'MAKE'
#!/bin/sh
for argument; do printf '<%s>\n' "$argument"; done
MAKE
chmod +x bin/make
as_make() { # EXPECTED TEXT ARGUMENT…
	expected=$1 text=$2
	shift 2
	PATH=$PWD/bin:$PATH run "$ipf" "$@"
	is "$(sed '1,3d' "$OUT")" "$expected" "make gets $text"
}
as_make '<URL=http://localhost:8000>
<RATE=4>
<FOR=60s>
<USERS=8>' "options are variables" run --url http://localhost:8000 --rate=4 --duration 60s --concurrency 8
as_make '<RATE=4>
<schedule>' "variables and targets pass as they are" run RATE=4 schedule
# shellcheck disable=SC2016 # nothing is to be expanded
as_make '<DATA=a b'\''"`x`$(touch y)
-z>' "any value is one word" run --data 'a b'\''"`x`$(touch y)
-z'
as_make '<OUT=>' "also an empty one" run --out ''
is "$(ls y 2>/dev/null)" "" "values are not executed"

# The README's commands have existing options.
grep -oE '`ipf (capacity|compare|replay|cache|plan|run) [^`]*`' "$TESTS/../README.md" | tr -d '`' >commands
yes_if "the README has commands" test "$(wc -l <commands)" -ge 5
while read -r _ words; do
	# shellcheck disable=SC2086 # words
	PATH=$PWD/bin:$PATH run "$ipf" $words
	status_is 0 "ipf $words ends with 0"
done <commands

# ---- programs ----
run "$ipf" sched constant:rate=2,n=2
status_is 0 "ipf sched ends with 0"
is "$(grep -c '"at_ns"\|^{' "$OUT")" "$("$BIN/ipf-sched" constant:rate=2,n=2 | grep -c '"at_ns"\|^{')" "ipf sched prints the output of ipf-sched"
run "$ipf" report --no-such-option
status_is 2 "ipf report keeps the status of ipf-report"

# ---- installed, by a link, elsewhere ----
mkdir -p there/bin there/share
cp "$ipf" there/bin/ipf
cp -r "$TESTS/../share/ipf" there/share/ipf
ln -s "$PWD/there/bin/ipf" linked
run ./linked help run
status_is 0 "ipf works through a link"
rm -r there/share/ipf
run ./linked
status_is 1 "ipf without makefiles ends with 1"
complains ipf "the makefiles are missing" "ipf says that the makefiles are missing"

# ---- completion ----
for shell in bash zsh fish; do
	run "$ipf" --completion $shell
	status_is 0 "ipf --completion $shell ends with 0"
done
"$ipf" --completion bash >completion
offers() { # WORDS, the last one unfinished
	# shellcheck disable=SC2016 # for the inner shell
	PATH=$BIN:$PATH bash --norc -c '. ./completion; read -ra COMP_WORDS <<<"$1"; COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _ipf; printf "%s\n" "${COMPREPLY[@]}"' bash "$1"
}
is "$(offers 'ipf ca' | tr '\n' ' ')" "cache capacity " "completion offers commands"
is "$(offers 'ipf run --ra')" "--rate" "options of a command"
is "$(offers 'ipf run --data compl')" "completion" "completion offers files"

# ---- an odd place ----
odd="$PWD/an odd; (place)"
mkdir -p "$odd/bin" "$odd/share"
cp -R "$TESTS/../share/ipf" "$odd/share/"
cp "$odd/share/ipf/ipf" "$odd/bin/"
ln -s "$BIN"/ipf-* "$odd/bin/"
run "$ipf" help answers
grep -v '^usage' "$OUT" >help
run "$odd/bin/ipf" help answers
is "$status $(grep -v '^usage' "$OUT" | diff help -)" "0 " "a folder with spaces has the same help"
run "$odd/bin/ipf" run --url http://127.0.0.1:1 --requests 20 --input 9 --output 2 --out requests trace
is "$status $(plain requests/trace.zst | jq -c 'select(.end) | .end.lines')" "0 20" "makefiles work in a folder with spaces"

# ---- ipf doctor ----
run "$ipf" doctor --help
status_is 0 "ipf doctor --help ends with 0"
run "$ipf" doctor --no
status_is 2 "ipf doctor --no ends with 2"
server_start -m llama
run "$ipf" doctor --url "$URL" --model llama
for matter in programs "open files" memory processors frequency clock server models metrics; do
	yes_if "$matter is looked at" grep -qE "^(OK|note|WRONG) +$matter " "$OUT"
done
yes_if "the server is there" grep -qE "^OK +server +127\.0\.0\.1 port ${URL##*:}, connected in " "$OUT"
yes_if "ipf doctor finds the model" grep -qx 'OK     models           llama' "$OUT"
run "$ipf" doctor --url "${URL#http://}" --model other
status_is 1 "ipf doctor with another model ends with 1"
yes_if "ipf doctor names the models of the server" grep -qx 'WRONG  models           it has llama, but not other' "$OUT"
run "$ipf" doctor --url http://127.0.0.1:1
status_is 1 "ipf doctor without a server ends with 1"
yes_if "ipf doctor says why it cannot connect" grep -q '^WRONG  server .*port 1' "$OUT"
# shellcheck disable=SC3045 # bash has it
(ulimit -n 1024 && "$ipf" doctor) >few
yes_if "few open files, and what to do" grep -qx 'WRONG  open files       1024: connections are limited to about that' few
is "$(awk 'length > 100' few)" "" "lines of ipf doctor are at most 100 characters"
