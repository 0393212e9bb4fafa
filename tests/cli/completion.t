#!/bin/bash
# Completion in the shells themselves, interactive as far as possible: all options, choices, files, and nothing where nothing is
# known. All of it comes from the option table, as --help does.
. "$TESTS/tap.sh"

programs="ipf-prep ipf-sched ipf-fire ipf-collect ipf-report ipf-twin ipf-sim"
PATH=$BIN:$PATH
HOME=$PWD/home
export PATH HOME
unset XDG_DATA_HOME XDG_CONFIG_HOME XDG_DATA_DIRS FPATH
mkdir home zsh fish bash files scratch

for program in $programs; do
	for shell in bash zsh fish; do
		run "$program" --completion $shell
		status_is 0 "$program --completion $shell"
		cp "$OUT" $shell/"$program"
		run "$program" --completion=$shell -v
		same "$OUT" $shell/"$program" "$program --completion=$shell prints the same"
	done
	run "$program" --completion
	same "$OUT" bash/"$program" "bash is the default"
	mv zsh/"$program" zsh/_"$program"
	cat fish/"$program" >>all.fish
	"$program" --help | sed -nE 's/^ {2}(-., | {4})(--[a-z][a-z0-9-]*).*/\2/p' | sort -u >"$program.options"
done
commands="compare gateway export plot certificate definitions"
for command in $commands; do
	ipf-report $command --help | sed -nE 's/^ {2}(-., | {4})(--[a-z][a-z0-9-]*).*/\2/p' | sort -u >$command.options
done
for wrong in "--completion tcsh" "--completion=tcsh" "--completion="; do
	# shellcheck disable=SC2086 # two words
	run ipf-report $wrong
	status_is 2 "$wrong is refused"
	complains ipf-report '--completion: expected bash, zsh or fish, got "' "the error of --completion names the shells"
done

# The candidates after the words, a line each, in the folder with the files.
offers_bash() { # WORDS
	# shellcheck disable=SC2016 # for the inner shell
	bash --norc -c 'compopt() { :; }
		. "$1" || exit
		COMP_LINE=$2
		read -ra COMP_WORDS <<<"${2//=/ = }"
		[[ $2 == *[\ =] ]] && COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		set -u
		"_${COMP_WORDS[0]//-/_}" "${COMP_WORDS[0]}"
		[ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"' bash "../bash/${1%% *}" "$1" | sort -u
}
offers_zsh() { # WORDS
	timeout 120 zsh -f "$TESTS/helpers/zsh_offers.zsh" "$PWD/../zsh" "$1" "$PWD/../scratch" </dev/null 2>&1 | grep .
}
offers_fish() { # WORDS: without the descriptions, and without the option the value is attached to
	fish --no-config -c "source ../all.fish; complete -C '$1'" </dev/null 2>&1 | cut -f 1 | sed 's/^--[a-z-]*=//' | sort -u
}

cd files || exit 1
echo >a.zst
echo >b.csv
for shell in bash zsh fish; do
	if ! command -v $shell >/dev/null; then
		skip "completion in $shell" "$shell is not installed"
		continue
	fi
	for program in $programs; do
		# fish offers short options too
		is "$(offers_$shell "$program --" | grep '^--')" "$(cat "../$program.options")" "$shell: every option of $program"
	done
	for command in $commands; do
		is "$(offers_$shell "ipf-report $command --" | grep '^--')" "$(cat "../$command.options")" "$shell: every option of ipf-report $command"
	done
	while IFS='|' read -r words offered; do
		is "$(offers_$shell "$words" | tr '\n' ' ')" "$offered" "$shell completes: $words"
	done <<-'END'
		ipf-fire --tr|--trace 
		ipf-fire --history |live live-reasoning recorded server 
		ipf-fire --history l|live live-reasoning 
		ipf-fire --history=|live live-reasoning recorded server 
		ipf-report -f js|json 
		ipf-report --format=js|json 
		ipf-report --completion |bash fish zsh 
		ipf-report --completion=f|fish 
		ipf-report a|a.zst 
		ipf-fire -t |a.zst b.csv 
		ipf-fire --trace |a.zst b.csv 
		ipf-fire -v b|b.csv 
		ipf-sched --seed |
		ipf-sched cl|closed: 
		ipf-sched s|search: sine: spike: stat steps: sweep: 
		ipf-sched -t |a.zst b.csv 
		ipf-prep az|azure 
		ipf-prep st|stat stories 
		ipf-prep azure |a.zst b.csv 
		ipf-fire --api openai-c|openai-chat openai-completions 
		ipf-fire --api a|a.zst anthropic-messages 
		ipf-report --by m|model 
		ipf-report --as vllm|vllm vllm-rs 
		ipf-fire --url a|
		ipf-report c|certificate compare 
		ipf-report b|b.csv 
		ipf-report -v |a.zst b.csv 
		ipf-report compare |a.zst b.csv 
		ipf-report compare a.zst -- |a.zst b.csv 
		ipf-report compare -f j|json junit 
		ipf-report compare --window=d|drain 
		ipf-report compare --min-effect |
		ipf-report export c|csv 
		ipf-report export --window steady mlp|mlperf 
		ipf-report export csv |a.zst b.csv 
		ipf-report export csv -o |a.zst b.csv 
		ipf-report plot --plot-format p|pdf png 
		ipf-report plot |a.zst b.csv 
		ipf-report certificate --format=|json text 
	END
	# The shells differ in how much of the word they show.
	while IFS='|' read -r words offered; do
		is "$(offers_$shell "$words" | sed 's/.*[:,]//' | tr '\n' ' ')" "$offered" "$shell: $words: keys of the stage"
	done <<-'END'
		ipf-sched constant:rate=5,f|for= 
		ipf-sched rest:for=1s closed:users=2,r|rampup= rate= 
		ipf-sched closed:w|warmup 
	END
done

# Found by the shell itself in the folder where `make install` puts it, without being sourced.
if command -v fish >/dev/null; then
	mkdir -p ../share/fish/vendor_completions.d
	for program in $programs; do cp "../fish/$program" "../share/fish/vendor_completions.d/$program.fish"; done
	is "$(XDG_DATA_DIRS=$PWD/../share fish -c "complete -C 'ipf-report -f js'" </dev/null | cut -f 1)" json "fish finds an installed completion"
else
	skip "fish finds an installed completion" "fish is not installed"
fi
