# nginx before the simulated server, as a witness that is not ours: HTTP/2, TLS, Unix sockets, and a log of connections. Source it after
# fixture.sh, with cert.pem and key.pem in the folder.
# shellcheck shell=sh

# $TLS and $H2C are ports that speak HTTP/2 (and 1.1) over TLS and HTTP/2 without, $PLAIN and $TLS1 are such of
# HTTP/1.1 without and with TLS, nginx.sock a Unix socket.
# nginx.log has a line a request: connection, protocol, status, session resumed ("r") or not ("."), the name in the TLS handshake or "-", the
# Host. 1 where there is no nginx. STREAMS, REQUESTS: most streams at a time, and requests in all, of a connection; UPSTREAM=fresh: a connection to
# the server for each request, since one that the server is just closing would give 502.
nginx_start() { # PORT OF THE SERVER BEHIND IT
	nginx_bin=$(PATH=$PATH:/usr/sbin command -v nginx) || return 1
	read -r TLS H2C PLAIN TLS1 <<END
$(free_ports 4)
END
	nginx_conf "$1" >nginx.conf
	: >nginx.log
	"$nginx_bin" -p "$PWD" -c nginx.conf 2>nginx.said &
	NGINX=$!
	stop_at_exit "$NGINX"
	wait_for nginx_up_or_gone && kill -0 "$NGINX" 2>/dev/null && return 0
	cat nginx.said >&2
	return 1
}

nginx_up_or_gone() { [ -s nginx.pid ] || ! kill -0 "$NGINX" 2>/dev/null; }
nginx_stop() { kill "$NGINX"; wait "$NGINX" 2>/dev/null; rm -f nginx.pid nginx.sock; }

nginx_conf() {
	cat <<END
daemon off; master_process off; pid nginx.pid; error_log nginx.err;
events { worker_connections 1024; }
http {
	client_body_temp_path tmp1; proxy_temp_path tmp2; fastcgi_temp_path tmp3; uwsgi_temp_path tmp4; scgi_temp_path tmp5;
	log_format line '\$connection \$server_protocol \$status \$ssl_session_reused \$ssl_server_name \$http_host';
	access_log nginx.log line; client_max_body_size 0;
	http2_max_concurrent_streams ${STREAMS:-128}; keepalive_requests ${REQUESTS:-10000}; ssl_session_cache shared:s:1m;
	upstream sim { server 127.0.0.1:$1; $([ "${UPSTREAM:-kept}" != kept ] || echo 'keepalive 64;') }
	server {
		listen 127.0.0.1:$TLS ssl http2; listen 127.0.0.1:$H2C http2; listen 127.0.0.1:$PLAIN; listen 127.0.0.1:$TLS1 ssl; listen unix:nginx.sock;
		ssl_certificate cert.pem; ssl_certificate_key key.pem;
		location / { proxy_pass http://sim; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }
	}
}
END
}
