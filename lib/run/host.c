#include "run/host.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Clients on one machine have one clock, whatever their containers are called. */
static void add_boot_id(json_t *host)
{
	char id[64];
	FILE *from = fopen("/proc/sys/kernel/random/boot_id", "re");
	if (!from)
		return;
	if (fgets(id, sizeof id, from) && id[strcspn(id, "\n")] == '\n') {
		id[strcspn(id, "\n")] = '\0';
		json_object_set_new(host, "boot_id", json_string(id));
	}
	fclose(from);
}

json_t *host_json(void)
{
	struct utsname u;
	if (uname(&u) < 0)
		return json_null();
	json_t *host = json_pack("{s:s, s:s, s:s, s:s, s:I}", "name", u.nodename, "system", u.sysname, "release", u.release,
	                         "machine", u.machine, "processors", (json_int_t)sysconf(_SC_NPROCESSORS_ONLN));
	add_boot_id(host);
	return host;
}
