# A real PostgreSQL for the tests needing one: source it after tap.sh.
# shellcheck shell=sh

# The folder of its programs, which Debian keeps out of PATH; nothing if it is not installed.
postgres_programs() {
	for postgres_bin in /usr/lib/postgresql/*/bin; do
		[ ! -x "$postgres_bin/postgres" ] || echo "$postgres_bin"
	done | tail -1
	unset postgres_bin
}

# Runs a command as a user who may start PostgreSQL, in $PGHOST: root may not.
postgres_user() { # COMMAND…
	if [ "$(id -u)" = 0 ]; then
		cd "$PGHOST" && exec setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"
	else
		cd "$PGHOST" && exec "$@"
	fi
}

# Starts one on a socket in a folder its user can reach, unlike that of the test, with an empty database that psql uses by itself: $PGHOST, $PGUSER, $PGDATABASE.
postgres_start() {
	postgres_bin=$(postgres_programs)
	PGHOST=$(mktemp -d /tmp/ipf-postgres.XXXXXX) || exit 1
	remove_at_exit "$PGHOST"
	[ "$(id -u)" != 0 ] || chown nobody:nogroup "$PGHOST"
	PGUSER=ipf
	PGDATABASE=postgres
	export PGHOST PGUSER PGDATABASE
	if ! (postgres_user "$postgres_bin/initdb" -D data -U ipf -A trust -E UTF8 --locale=C --no-sync) >postgres.log 2>&1; then
		not_ok "a PostgreSQL server is set up" "$(tail -5 postgres.log)"
		exit 1
	fi
	(postgres_user "$postgres_bin/postgres" -D data -k "$PGHOST" -c listen_addresses= -c fsync=off -c shared_buffers=16MB) >postgres.log 2>&1 &
	stop_at_exit $!
	wait_for psql -Xqc 'SELECT 1' || {
		not_ok "PostgreSQL starts" "$(tail -5 postgres.log)"
		exit 1
	}
}
