#!/bin/bash
# Values of the makefiles' variables are data: make and the shell execute nothing of them. Each variable gets each value. The
# programs are stand-ins, which only write the files they are asked for.
. "$TESTS/tap.sh"
SHARE=$(cd "$TESTS/../share/ipf" && pwd)
export XDG_RUNTIME_DIR=$PWD
unset MAKEFLAGS MAKELEVEL MODEL DATA
mkdir bin
cat >bin/program <<'END'
#!/bin/sh
program=${0##*/} all=$*
out=/dev/stdout
while [ $# -gt 0 ]; do
	case $1 in -o) out=$2 ;; esac
	shift
done
case $program:$all in
ipf-sched:*" -r "*) echo answer; exit 10 ;;
ipf-sched:stat*) echo "arrivals 1 in" ;;
ipf-sched:*) echo '{"stages":[{"rate":1,"arrivals":1,"end_ns":1000000000}]}' >"$out" ;;
ipf-prep:*stat*) echo "arrivals 1 span_s 1" >"$out" ;;
curl:*) echo '{"id":"x","status":"completed","created_at":1}' >"$out" ;;
ipf-report:*csv*) printf 'stage,requests_failed,slo_p99:ttft=2s_value_ms,slo_p99:ttft=2s_error\ntotal,0,1,0\nfrom-0s,0,1,0\n' >"$out" ;;
ipf-prep:* | ipf-fire:* | ipf-twin:*) echo '{"id":"x","messages":[]}' >"$out" ;;
*) echo '{"total":{"requests":{"ok":1}},"run":{"duration_s":1},"verdict":{"status":"OK"}}' >"$out" ;;
esac
END
chmod +x bin/program
for program in ipf-prep ipf-sched ipf-fire ipf-collect ipf-report ipf-twin curl gnuplot; do ln -s program bin/$program; done
PATH=$PWD/bin:$PATH
export PATH

# Quotes come in pairs, or env -S would refuse the whole value. A value with "$" is refused.
plain="-x ';touch canary;' \";touch canary;\" \`touch canary\`; touch canary | touch canary & touch canary"$'\n'"touch canary"$'\n'"a[\`touch canary\`] >canary #"
# shellcheck disable=SC2016 # not for this shell
refused=('$(touch canary)' '$(shell touch canary)')
variables_of() { sed -nE 's/^([A-Z_]+) *\?=.*#:.*/\1/p' "$@" | sed 's/_NAME$/_4/' | sort -u; }

attack() { # MAKEFILE: in a folder of its own; prints each value executed, or not refused
	local file=$SHARE/$1.mk name=$1 variables own variable value got together=() count=0
	mkdir "$1" && cd "$1" || exit
	echo '{"prompt":"x"}' >data
	variables=$(variables_of "$file" "$SHARE/common.mk") own=$(variables_of "$file")
	set --
	for value in OUT=out URL=http://127.0.0.1:1 URL_B=http://127.0.0.1:2 MODELS=a=1 TWIN=data DATA=data LOG=data CAPTURE=data ROUNDS=1 SERVERS=http://127.0.0.1:1; do
		! grep -qx "${value%%=*}" <<<"$variables" || set -- "$@" "$value"
	done
	try() { # TEXT VARIABLE=VALUE…
		rm -rf out
		make -s -f "$file" "${all[@]}" "${@:2}" >log 2>&1 </dev/null
		[ ! -e canary ] || { echo "executed: $1=$plain"; rm -f canary; }
		count=$((count + $# - 1))
	}
	all=("$@")
	try nothing
	grep '\*\*\*' log
	# The shared variables, which common.mk checks, one by one with run.mk, and all at once with the other makefiles.
	for variable in $variables; do
		if [ "$name" = run ] || [ "$variable" = TRACE ] || grep -qx "$variable" <<<"$own"; then
			try "$variable" "$variable=$plain"
		elif [ "$variable" != OUT ] && [ "$variable" != DATA ]; then
			together+=("$variable=$plain")
		fi
	done
	try "one of the shared variables" "${together[@]}"
	[ "$name" = run ] || variables=$own
	for variable in $variables; do
		for value in "${refused[@]}"; do
			got=$(make -s -f "$file" "$@" "$variable=$value" 2>&1 </dev/null)
			[[ $got == *"$variable: a value must not contain"* || $name:$variable =~ ^(record|observe):(DATA|SOURCE)$ ]] || echo "$variable=$value: $got"
			[ ! -e canary ] || { echo "executed: $variable=$value"; rm -f canary; }
		done
		env "$variable=$value" make -s -f "$file" "$@" schedule >log 2>&1 </dev/null
		[ ! -e canary ] || { echo "executed: $variable=$value in the environment"; rm -f canary; }
		count=$((count + 3))
	done
	echo $count >count
}
for file in "$SHARE"/*.mk; do
	name=$(basename "$file" .mk)
	[ "$name" = common ] || { attack "$name" >"$name.found" 2>&1 & }
	[ "$(jobs -r | wc -l)" -lt 2 ] || wait -n
done
wait
for file in *.found; do
	is "$(cat "$file")" "" "${file%.found}: nothing of $(cat "${file%.found}/count") values is executed"
done
exit $tap_failed
