# What zsh offers if Tab is pressed after WORDS, a candidate a line: zsh -f zsh_offers.zsh COMPLETIONS WORDS SCRATCH
# COMPLETIONS is the folder with the scripts, SCRATCH a folder for its files. An interactive zsh in a pseudo-terminal completes the
# words as soon as it would read a line; its compadd keeps what it is given.
zmodload zsh/zpty
cat >$3/setup <<END
PROMPT= RPROMPT=
fpath=(${(q)1} \$fpath)
autoload -U compinit
compinit -u -d ${(q)3}/dump
typeset -ga offered
compadd() {
	local -a these
	if [[ " \$* " != *" "-[OAD]" "* ]]; then
		builtin compadd -O these "\$@"
		offered+=(\$these)
	fi
	builtin compadd "\$@"
}
collect() {
	_main_complete
	compstate[list]= compstate[insert]=
}
offer() {
	BUFFER=${(q)2}
	CURSOR=\$#BUFFER
	zle candidates
	print -rl -- \$offered >${(q)3}/list
	exit
}
zle -C candidates complete-word collect
zle -N zle-line-init offer
END
: >$3/list
zpty inner zsh -f -i
zpty -w inner "source ${(q)3}/setup"
while zpty -r inner line; do :; done
sort -u $3/list
