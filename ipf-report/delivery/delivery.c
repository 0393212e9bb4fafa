#include "delivery/delivery.h"

#include "delivery/push_report.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

int delivery_check(const struct delivery_options *options, struct ipf_error *err)
{
	return push_report_check(&options->push, err);
}

int delivery_prepare(struct delivery *d, const struct report *report, struct ipf_error *err)
{
	const char *run = json_string_value(json_object_get(report->run_info, "name"));
	if (!d->options->push.targets.count)
		return 0;
	if (run && !(d->run = strdup(run)))
		return ipf_error_memory(err);
	format_prometheus.render(report, &d->exposition);
	d->prepared = true;
	return d->exposition.failed ? ipf_error_memory(err) : 0;
}

int delivery_send(const struct delivery *d, FILE *to, const char *program, struct ipf_error *err)
{
	for (size_t i = 0; d->prepared && i < d->options->push.targets.count; i++) {
		struct ipf_error now = {0};
		if (push_report_send(&d->options->push, i, d->run, &d->exposition, &now) == 0)
			continue;
		if (err->kind == IPF_OK)
			*err = now;
		else
			ipf_error_report(&now, to, program);
	}
	return err->kind == IPF_OK ? 0 : -1;
}

void delivery_release(struct delivery *d)
{
	free(d->run);
	buffer_release(&d->exposition);
}

const char *delivery_libraries(void)
{
	return curl_version();
}
