#!/bin/bash
# Every row of faults/*.tsv: a fault, the expected results of the three programs, and the rules for every run
# (check_run.py).
#
#     FAULTS='tls h2-goaway' tests/run faults/matrix      only the rows whose group or name begins so
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
# shellcheck source-path=SCRIPTDIR
. "$TESTS/faults/actions.sh"

command -v python3 >/dev/null || skip_all "python3 is not installed"
export IPF_REPORT_FULL=1
SEED=${SEED:-$(date +%N | sed 's/^0*//')}
echo "# SEED=$SEED"
RANDOM=$SEED
set -f # the words of a row are no patterns
SECONDS_EACH=120

certificate() { # NAME SUBJECT-ALT-NAME OPTION OF openssl ca…
	openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "certs/$1.key" -out "certs/$1.csr" -subj "/CN=${2#*:}" 2>/dev/null
	echo "subjectAltName=$2" >"certs/$1.ext"
	openssl ca -batch -config ca.cnf -cert certs/ca.pem -keyfile certs/ca.key -in "certs/$1.csr" -out "certs/$1.crt" -notext \
		-extfile "certs/$1.ext" "${@:3}" 2>openssl.said || cat openssl.said
	cat "certs/$1.crt" "certs/$1.key" >"certs/$1.pem"
}
make_certificates() {
	mkdir certs
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=ipf-faults -keyout certs/ca.key -out certs/ca.pem 2>/dev/null
	: >index
	echo 01 >serial
	printf '[ca]\ndefault_ca=d\n[d]\ndatabase=index\nserial=serial\nnew_certs_dir=.\ndefault_md=sha256\npolicy=p\nunique_subject=no\n[p]\ncommonName=supplied\n' >ca.cnf
	certificate good DNS:localhost -days 2
	certificate other DNS:other.test -days 2
	certificate expired DNS:localhost -startdate 20200101000000Z -enddate 20200102000000Z
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
		-keyout certs/own.key -out certs/own.crt 2>/dev/null
	cat certs/own.crt certs/own.key >certs/own.pem
}

# $URL and $PORT for a row's server; 1: it cannot be had here, and that was said.
serve_row() { # NAME SERVER
	case $2 in
	sim*)
		# shellcheck disable=SC2086 # options
		server_start ${2#sim}
		PORT=${URL##*:}
		;;
	raw*) PORT=$(awk -v name="$1" '$2 == name { print $1 }' "$ports") ;;
	refused) PORT=1 ;;
	esac
	URL=http://127.0.0.1:$PORT
	case $2 in *" ; tls "* | "raw tls "*) URL=https://localhost:$PORT ;; esac
}

# The command line of ipf-fire: $fire.
fire_of() { # SCHEDULE OPTIONS
	local options=" $2 "
	[ "$2" != - ] || options=
	[ -e "$1.sched" ] || ipf-sched "$1" -t chat.trace -q -o "$1.sched"
	options=${options//PORT/$PORT}
	case $options in *" -u "*) ;; *) options="-u $URL $options" ;; esac
	case $options in *https:*) options="$options --cacert certs/ca.pem" ;; esac
	# shellcheck disable=SC2206 # words
	fire=(timeout -k 1 "$SECONDS_EACH" ipf-fire -m sim -t chat.trace "$1.sched" $options)
}

# A refused run: nothing is recorded.
check_refused() { # SAID STATUS
	is "${statuses%% *}" "$2" "$name: exit status"
	contains "$(cat fire.said)" "$1" "$name: the message of ipf-fire"
	is "$(wc -l <fire.said)" 1 "$name: one message of ipf-fire"
}

# Is the result as in the row? "~ERE": each part of it is, whatever its count.
became() { # RESULTS GOT
	local expected="^($1)\$"
	[ "${1#"~"}" = "$1" ] || expected="^([0-9]+ (${1#"~"})(, |\$))+\$"
	[[ $2 =~ $expected ]]
}

check_row() { # RESULTS SAID STATUSES CUT: of r.records, r.results, and $statuses
	ipf-report -f json -o report.json r.results 2>/dev/null
	python3 "$TESTS/faults/check_run.py" r.records r.results report.json "$4" >checked 2>&1
	printf '%s\t%s\n' "$name" "$(head -1 checked)" >>seen
	if became "$1" "$(head -1 checked)"; then ok "$name: the kinds of results"; else
		not_ok "$name: the kinds of results" "got:      $(head -1 checked)" "expected: $1" "$(jq -c .errors report.json)" "$(head -c 300 fire.said)"
	fi
	is "$(sed 1d checked)" "" "$name: every request and every byte is accounted for, and the verdict is right"
	[ "$2" = - ] || contains "$(tr -s ' ' <report.text)" "$2" "$name: the text of the report"
	matches "$statuses" "^($3)\$" "$name: exit statuses"
	is "$(cat fire.said collect.said report.said | grep -v '^ipf-[a-z]*: ')" "" "$name: only lines of ours"
	run ipf-collect --check ${4:+-q} r.records
	[ -n "$4" ] || status_is 0 "$name: ipf-collect --check"
}

row() { # NAME SERVER SCHEDULE OPTIONS ACTION RESULTS SAID STATUSES
	local cut=
	serve_row "$1" "$2"
	fire_of "$3" "$4"
	rm -f r.records r.results report.text report.json
	rm -f fire.said collect.said report.said
	touch fire.said collect.said report.said
	# shellcheck disable=SC2086 # words
	if ! "act_${5%% *}" ${5#* }; then
		skip "$1" "$(cat cannot)"
	elif [ "$6" = - ]; then
		check_refused "$7" "$8"
	else
		check_row "$6" "$7" "$8" "$cut"
	fi
	case $2 in sim*) server_stop "$SERVER" ;; esac
}

wanted_row() { # GROUP NAME
	local part
	[ -n "${FAULTS:-}" ] || return 0
	for part in $FAULTS; do
		case $1 in "$part"*) return 0 ;; esac
		case $2 in "$part"*) return 0 ;; esac
	done
	return 1
}

ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens 12 -n 10 -q -o chat.trace
make_certificates
cat "$TESTS/faults/network.tsv" "$TESTS/faults/system.tsv" >table
ports=$PWD/ports
python3 "$TESTS/faults/fault_server.py" table certs >"$ports" 2>server.err &
stop_at_exit $!
wait_for grep -q '^end' "$ports" || { not_ok "the server of scripts starts" "$(cat server.err)"; exit 1; }
while IFS=$'\t' read -r group name server schedule options action results said statuses <&9; do
	case $group in '#'* | '') continue ;; esac
	! wanted_row "$group" "$name" || row "$name" "$server" "$schedule" "$options" "$action" "$results" "$said" "$statuses"
done 9<table
