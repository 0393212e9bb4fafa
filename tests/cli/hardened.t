#!/bin/bash
# Binaries are hardened, as SECURITY.md says: programs and library.
. "$TESTS/tap.sh"
[ -z "${SANITIZE:-}" ] || skip_all "sanitizers have checks of their own"
command -v readelf >/dev/null || skip_all "readelf is not installed"
grep -q -e -fstack-protector-strong "$BUILD/flags" || skip_all "built with HARDEN= "

has() { # FILE WHAT PATTERN OPTION of readelf
	matches "$(readelf "$4" -W "$1")" "$3" "${1##*/}: $2"
}
for file in "$BIN"/ipf-{prep,sched,fire,collect,report,sim} "$BUILD"/library/libipf.so; do
	has "$file" "relocations are resolved at the start" "FLAGS.*NOW" -d
	has "$file" "and read-only then" GNU_RELRO -l
	has "$file" "the stack is not executable" "GNU_STACK .* RW " -l
	has "$file" "overrun stack frames are noticed" "__stack_chk_fail" --dyn-syms
	grep -q -e -O0 "$BUILD/flags" || has "$file" "copies are checked against the size of their target" "__[a-z]+_chk" --dyn-syms
done
# Debian's start files say nothing of that, so a program does not say it either.
[ "$(uname -m)" != x86_64 ] || has "$BUILD/lib/error.o" "jumps and returns can be checked by the processor" "IBT, SHSTK" -n
for file in "$BIN"/ipf-{prep,sched,fire,collect,report,sim}; do
	has "$file" "is position-independent" "FLAGS_1.*PIE" -d
done
# memory.h: the linker leads these elsewhere, by whatever name the compiler calls them.
for file in "$BIN"/ipf-{prep,sched,fire,collect,report,sim,twin}; do
	is "$(readelf -W --dyn-syms "$file" | grep -oE 'UND (strdup|strndup|reallocarray|asprintf|__asprintf_chk|__strdup)\b')" "" "${file##*/}: no copy of a text escapes the notes about memory"
done
