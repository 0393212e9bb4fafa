# Walks the options of all programs and commands, for rules that no option escapes: source it after fixture.sh, in bash.
#
#     each_option try                    # try OPTION ARGUMENT, with ${command[@]} and the ${words[@]} of its operands
#
# The operands are the files of small_run, words.txt and model.json, which every_option_files makes. A command without
# operands here is in $unknown_commands.
# shellcheck shell=bash

declare -A operands=(
	[ipf-prep]="trace chat.trace" [ipf-prep stat]=chat.trace [ipf-prep fit]="trace chat.trace"
	[ipf-prep tokenize]=words.txt [ipf-prep anonymize]="trace chat.trace"
	[ipf-sched]="constant:rate=5,n=2" [ipf-sched stat]=chat.sched
	[ipf-fire]="-u http://127.0.0.1:1 -m sim -t chat.trace chat.sched" [ipf-collect]=chat.records
	[ipf-report]=chat.results [ipf-report compare]="chat.results chat.results" [ipf-report export]="csv chat.results"
	[ipf-report gateway]="chat.results -- chat.results" [ipf-report plot]="plots chat.results"
	[ipf-report certificate]=chat.results [ipf-report definitions]=""
	[ipf-twin fit]=chat.results [ipf-twin predict]="model.json chat.sched" [ipf-twin why]="model.json chat.results"
)
commands_of() { # PROGRAM
	case $1 in
	ipf-prep) printf 'ipf-prep %s\n' stat fit tokenize anonymize ;;
	ipf-sched) echo "ipf-sched stat" ;;
	*) "$1" --help | awk -v p="$1" '/^Commands,/ { here = 1; next } here && /^  [a-z]/ { print p, $1 } here && /^$/ { exit }' ;;
	esac
}
values_of() { # COMMAND…: the options that take a value, and their arguments
	"$@" --help | sed -nE 's/^ {2}(-., | {4})(--[a-z][a-z0-9-]*) ([^ ]+).*/\2 \3/p' | sort -u
}

every_option_files() { # after small_run
	run ipf-prep fit trace chat.trace -o model.json
	printf 'words of a text\n' >words.txt
}

# Opens OPTION=words.txt: does the program open the file, or does the help call it one?
takes_file() { # OPTION ARGUMENT
	case $2 in *FILE* | *RECORDS*) return 0 ;; esac
	[ -z "${SANITIZE:-}" ] || return 1 # sanitizers are loaded first
	cp words.txt named.file
	rm -f opened
	OPENED_LIST=$PWD/opened LD_PRELOAD="$BUILD/tests/opened.so" timeout 120 "${command[@]}" "${words[@]}" "$1=named.file" \
		>"$OUT" 2>"$ERR" </dev/null
	grep -qx named.file opened 2>/dev/null
}

each_option() { # FUNCTION
	options_tried=0 unknown_commands=
	for program in ipf-prep ipf-sched ipf-fire ipf-collect ipf-report ipf-twin; do
		while read -ra command; do
			[ "${command[*]}" != ipf-twin ] || continue # it has commands only
			if [ -z "${operands[${command[*]}]+known}" ]; then
				unknown_commands+=" ${command[*]}"
				continue
			fi
			read -ra words <<<"${operands[${command[*]}]}"
			while read -r option argument; do
				options_tried=$((options_tried + 1))
				"$1" "$option" "$argument"
			done < <(values_of "${command[@]}")
		done < <(
			echo "$program"
			commands_of "$program"
		)
	done
}
