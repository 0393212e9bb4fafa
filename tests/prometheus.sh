# A real Prometheus for the tests needing one: source it after tap.sh.
# shellcheck shell=sh

# Starts a Prometheus that scrapes TARGET each 300 ms as the job "live"; $PROMETHEUS is its URL.
prometheus_start() { # NAME TARGET [OPTION…]
	prometheus_name=$1
	printf 'global: {scrape_interval: 300ms, scrape_timeout: 300ms}\nscrape_configs:\n- {job_name: live, static_configs: [{targets: ["%s"]}]}\n' \
		"$2" >"$prometheus_name.yml"
	shift 2
	prometheus_port=$(free_ports 1)
	prometheus --config.file="$prometheus_name.yml" --storage.tsdb.path="$PWD/$prometheus_name.tsdb" \
		--web.listen-address="127.0.0.1:$prometheus_port" --web.enable-remote-write-receiver "$@" >"$prometheus_name.log" 2>&1 &
	stop_at_exit $!
	PROMETHEUS=http://127.0.0.1:$prometheus_port
	wait_for curl -sf "$PROMETHEUS/-/ready" || {
		not_ok "Prometheus starts" "$(tail -5 "$prometheus_name.log")"
		exit 1
	}
}

# Starts a Pushgateway; $GATEWAY is its URL, $GATEWAY_PID its pid. Debian's would keep the groups of other tests in a file.
pushgateway_start() {
	prometheus-pushgateway --web.listen-address=127.0.0.1:0 --persistence.file= >pushgateway.log 2>&1 &
	GATEWAY_PID=$!
	stop_at_exit $GATEWAY_PID
	wait_for grep -q '"Listening on"' pushgateway.log || {
		not_ok "the Pushgateway starts" "$(tail -5 pushgateway.log)"
		exit 1
	}
	GATEWAY=http://$(sed -n 's/.*"Listening on" address=//p' pushgateway.log)
}
