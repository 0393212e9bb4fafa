#!/bin/sh
# ipf doctor: is this machine, and the server, ready to be measured? A line for each check: OK, or the remedy. The
# status is 1 if something has to be done before a measurement can be trusted.
set -u
usage() {
	cat <<'END'
usage: ipf doctor [--url URL] [--model NAME] [--calibrate]
Is this machine, and the server, ready to be measured?

  --url URL      also ask the server: name, connection, API, models, metrics
  --model NAME   the model that is to be measured
  --calibrate    also measure how exact times are on this machine (10 s)
END
}

url='' model='' calibrate=''
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help) usage; exit 0 ;;
	--calibrate) calibrate=1 ;;
	--url=* | URL=*) url=${1#*=} ;;
	--model=* | MODEL=*) model=${1#*=} ;;
	--url | --model)
		[ $# -gt 1 ] || { echo "ipf doctor: $1: expected a value" >&2; exit 2; }
		if [ "$1" = --url ]; then url=$2; else model=$2; fi
		shift
		;;
	*) echo "ipf doctor: unknown option \"$1\" (ipf doctor --help lists all)" >&2; exit 2 ;;
	esac
	shift
done
case $url in '' | *://*) ;; *) url=http://$url ;; esac

bad=0
said() { # WORD MATTER TEXT [ADVICE]
	printf '%-6s %-16s %s\n' "$1" "$2" "$3"
	[ -z "${4:-}" ] || printf '%-23s %s\n' '' "$4"
}
good() { said OK "$@"; }
note() { said note "$@"; } # figures can be trusted, but may be better
wrong() { # figures cannot be trusted, or there are none
	said WRONG "$@"
	bad=1
}

# ---- programs -------------------------------------------------------------------------------------------------------
missing=
for program in ipf-prep ipf-sched ipf-fire ipf-collect ipf-report ipf-twin make jq; do
	command -v $program >/dev/null || missing="$missing $program"
done
if [ -z "$missing" ]; then
	good programs "$(ipf-fire --version | sed 's/ipf-fire/ipf/;q'), make, jq"
else
	wrong programs "missing:$missing" "install them, or add their folder to PATH"
fi
if command -v gnuplot >/dev/null; then
	good plots "$(gnuplot --version)"
else
	note plots "gnuplot is missing: reports have no plots" "apt-get install gnuplot-nox"
fi

# ---- the machine ----------------------------------------------------------------------------------------------------
# shellcheck disable=SC3045 # every sh of Linux has it
files=$(ulimit -Hn)
if [ "$files" = unlimited ] || [ "$files" -ge 4096 ]; then
	good "open files" "$files: as many connections, less a few"
else
	wrong "open files" "$files: connections are limited to about that" "ulimit -n 65536, or LimitNOFILE= of the service"
fi

# shellcheck disable=SC2046 # two words
set -- $(cat /proc/sys/net/ipv4/ip_local_port_range 2>/dev/null)
if [ $# -eq 2 ]; then
	ports=$(($2 - $1 + 1))
	if [ "$ports" -ge 16384 ]; then
		good ports "$ports for connections to one address"
	else
		note ports "$ports for connections to one address" "sysctl net.ipv4.ip_local_port_range='1024 65535'"
	fi
fi

available=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo 2>/dev/null)
if [ "${available:-0}" -ge 512 ]; then
	good memory "$available MiB available"
else
	wrong memory "${available:-?} MiB available" "end other programs: swapping delays what is measured"
fi

cores=$(getconf _NPROCESSORS_ONLN)
quota=$(cut -d ' ' -f 1 /sys/fs/cgroup/cpu.max 2>/dev/null)
load=$(cut -d ' ' -f 1 /proc/loadavg)
if [ "${quota:-max}" != max ]; then
	wrong processors "$cores, of which a limit of the control group takes time away" "remove the CPU limit: it stops the client for milliseconds"
elif awk -v l="$load" -v c="$cores" 'BEGIN { exit !(l > c / 2) }'; then
	wrong processors "$cores, with a load of $load" "end other programs: they delay the client"
else
	good processors "$cores, with a load of $load"
fi

governors=$(cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor 2>/dev/null | sort -u | tr '\n' ' ')
case $governors in
'' | 'performance ') good frequency "${governors:-fixed, or set by the host}" ;;
*) note frequency "the policy is ${governors% }: processors wake up late" "cpupower frequency-set -g performance" ;;
esac

clock=$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource 2>/dev/null)
case $clock in
hpet | acpi_pm | jiffies | refined-jiffies) wrong clock "$clock: reading it is slow" "boot with clocksource=tsc" ;;
*) good clock "${clock:-unknown}" ;;
esac
synchronized=$(timedatectl show -p NTPSynchronized --value 2>/dev/null)
[ "$synchronized" != no ] || note "clock's time" "not synchronized: times of several machines do not compare" "timedatectl set-ntp true"

if command -v ipf-fire >/dev/null; then
	stamps=$(ipf-fire --stamps kernel --calibrate --shape streams=1,events=2,first=1ms,gap=1ms,for=20ms -o /dev/null 2>&1 | grep -i 'kernel receive' | head -n 1)
	if [ -z "$stamps" ]; then
		good "kernel stamps" "the kernel says when bytes came"
	else
		note "kernel stamps" "${stamps#*: }" "times are taken by the program: add some 10 us of error"
	fi
fi

if [ -n "$calibrate" ] && command -v ipf-fire >/dev/null; then
	if text=$(ipf-fire --calibrate 2>&1); then
		good calibration "$(printf '%s\n' "$text" | grep -m 1 '^within' || printf '%s\n' "$text" | tail -n 1)"
	else
		wrong calibration "$(printf '%s\n' "$text" | tail -n 1)"
	fi
fi

# ---- the server -----------------------------------------------------------------------------------------------------
# curl does not show ~/.curlrc; the key is an API's.
ask() { # PATH
	if [ -n "${OPENAI_API_KEY:-}" ]; then
		printf 'header = "Authorization: Bearer %s"\n' "$OPENAI_API_KEY" | curl -q -sS -m 10 -K - -- "${url%/}$1"
	else
		curl -q -sS -m 10 -- "${url%/}$1"
	fi
}

if [ -n "$url" ] && ! command -v curl >/dev/null; then
	wrong server "curl is missing, by which it is asked" "apt-get install curl"
elif [ -n "$url" ]; then
	if ! text=$(curl -q -sS -m 10 -o /dev/null -w '%{remote_ip} %{remote_port} %{time_connect} %{http_version} %{ssl_verify_result}' -- "$url" 2>&1); then
		wrong server "$(printf '%s\n' "$text" | sed -n 's/^curl: ([0-9]*) //p' | head -n 1)" "is the address right, and does the server run?"
	else
		# shellcheck disable=SC2086 # words
		set -- $text
		good server "$1 port $2, connected in $(awk -v s="$3" 'BEGIN { printf "%.1f ms", s * 1000 }')"
		models=$(ask /v1/models 2>/dev/null | jq -r '.data[]?.id' 2>/dev/null | tr '\n' ' ')
		if [ -z "$models" ]; then
			note models "no list at /v1/models: is it another API?" "ipf-fire --list-apis lists the known ones, --api chooses one"
		elif [ -n "$model" ] && ! printf '%s' "$models" | tr ' ' '\n' | grep -qxF -e "$model"; then
			wrong models "it has ${models% }, but not $model"
		else
			good models "${models% }"
		fi
		metrics=$(ask /metrics 2>/dev/null | grep -c '^[a-zA-Z_:].* [0-9]')
		if [ "${metrics:-0}" -gt 0 ]; then
			good metrics "$metrics samples at /metrics: --scrape ${url%/} shows the server's side"
		else
			note metrics "none at /metrics: reports have only the client's side"
		fi
	fi
fi

[ $bad = 0 ] || exit 1
