#!/bin/bash
# Twins of servers whose parameters are known: 30 in virtual time, and some of ipf-sim in real time, each fitted to a ramp, with five loads that
# were not fitted: constant, in bursts, beyond saturation, users in a closed loop, longer prompts. TWINS='30 2' are the numbers.
# A search at 20 of them and at their twins finds the same rate. It takes ten minutes, and seven for each server in real time.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
command -v python3 >/dev/null || skip_all "python3 is not installed"
read -r virtual real <<<"${TWINS:-30 2}"

judge() { # KIND
	local sums
	sums=$(tail -1 "$1.out")
	grep -v '^{' "$1.out" | sed 's/^/# /'
	echo "# $sums"
	is "$(jq -c '.wrong * 50 <= .parameters' <<<"$sums")" true "$1: at most one known parameter of 50 is more than 5 % off"
	between "$(jq '.hold / .intervals * 100' <<<"$sums")" 90 100 "$1: at least 90 % of the intervals hold the truth"
	between "$(jq '.good / .figures * 100' <<<"$sums")" "$2" 100 "$1: at least $2 % of the predictions are within their limits"
}

python3 "$TESTS/helpers/twin_truth.py" "$BIN" twin 1 "$virtual" >virtual.out || not_ok "virtual servers"
judge virtual 95
python3 "$TESTS/helpers/twin_truth.py" "$BIN" sim 101 "$real" 4 >simulated.out || not_ok "simulated servers"
judge simulated 85
python3 "$TESTS/helpers/twin_truth.py" "$BIN" search 1 20 >search.out || not_ok "searches"
sed 's/^/# /' search.out
between "$(tail -1 search.out | jq .found)" 18 20 "a search finds at least 18 of 20 rates within its precision"
