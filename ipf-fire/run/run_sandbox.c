#include "run/run_sandbox.h"

#include "http/url_port.h"
#include "run/calibration.h"
#include "sandbox/sandbox.h"

#include <stdio.h>
#include <stdlib.h>

static const struct sandbox_file files[] = {
	{offsetof(struct fire_options, cacert), sandbox_read},
	{offsetof(struct fire_options, cert), sandbox_read},
	{offsetof(struct fire_options, key), sandbox_read},
	{offsetof(struct fire_options, calibration), sandbox_read},
	{offsetof(struct fire_options, common.output), sandbox_write},
};

/* Through a proxy or a Unix socket, no target is connected to. */
static void allow_ports(struct sandbox *s, const struct run_sandbox_options *o)
{
	const struct network_path *p = o->network_path;
	if (p->o.dns_each)
		sandbox_look_up_names(s);
	if (p->o.bind)
		sandbox_bind(s, 0);
	if (p->proxy_port)
		sandbox_connect(s, atoi(p->proxy_port));
	for (size_t i = 0; !p->proxy_port && !p->o.unix_socket && i < o->endpoint->count; i++)
		sandbox_connect(s, url_parsed_port(o->endpoint->targets[i].parsed));
}

int run_sandbox_enter(const struct run_sandbox_options *o, struct ipf_error *err)
{
	struct sandbox s;
	if (sandbox_begin(&s, err) < 0)
		return -1;
	if (s.missing && !o->options->common.quiet)
		fprintf(stderr, "ipf-fire: warning: --sandbox: %s\n", s.missing);
	sandbox_read(&s, o->schedule);
	sandbox_read(&s, o->trace);
	sandbox_files(&s, o->options, files, sizeof files / sizeof *files);
	char *calibration = o->options->calibration ? NULL : calibration_path();
	sandbox_read(&s, calibration);
	free(calibration);
	allow_ports(&s, o);
	return sandbox_enter(&s, err);
}

int run_sandbox_close_files(struct ipf_error *err)
{
	return sandbox_close_files(CALLS_CONNECT | CALLS_PRIORITY | CALLS_CLOCK, err);
}
