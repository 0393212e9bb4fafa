# Runs of makefiles in virtual time: source it after tap.sh. PATH then has an ipf-fire that lets ipf-twin predict a run against a virtual server by its twin, so
# every figure follows by arithmetic. Runs against other servers are real. A virtual server is ready at once and has no cache: --wait-ready and --cache are left out.
#
#     virtual_server http://a.test step_base_ns=2000000 step_per_sequence_ns=0
#     make -f run.mk URL=http://a.test …
#
# Each run has chance of its own, where the server has some (step_jitter=). A run whose arguments contain the text in $VIRTUAL/hold begins when that file is removed.
# shellcheck shell=bash

VIRTUAL=$PWD/virtual
mkdir -p "$VIRTUAL/bin"
cat >"$VIRTUAL/bin/ipf-fire" <<END
#!/bin/bash
while [ -e "$VIRTUAL/hold" ] && grep -qF -e "\$(cat "$VIRTUAL/hold")" <<<"\$*"; do sleep 0.05; done
arguments=() ready=() virtual=
while [ \$# -gt 0 ]; do
	case \$1 in
	-u)
		twin=$VIRTUAL/\$(tr -c 'A-Za-z0-9\n' _ <<<"\$2").twin
		[ -e "\$twin" ] && arguments+=("\$twin" --seed "\$(cksum <<<"\$*" | cut -d ' ' -f 1)") && virtual=1 || arguments+=(-u "\$2")
		shift
		;;
	--wait-ready | --cache) ready+=("\$1" "\$2") && shift ;;
	*) arguments+=("\$1") ;;
	esac
	shift
done
[ -z "\$virtual" ] || exec "$BIN/ipf-twin" predict "\${arguments[@]}"
exec "$BIN/ipf-fire" "\${ready[@]}" "\${arguments[@]}"
END
chmod +x "$VIRTUAL/bin/ipf-fire"
# ipf takes the programs beside it.
cp "$TESTS/../share/ipf/ipf" "$VIRTUAL/bin/"
ln -s "$TESTS/../share" "$VIRTUAL/share"
PATH=$VIRTUAL/bin:$PATH

virtual_server() { # URL PARAMETER=VALUE…
	local url=$1
	shift
	twin "$VIRTUAL/$(tr -c 'A-Za-z0-9\n' _ <<<"$url").twin" model=sim "$@"
}
