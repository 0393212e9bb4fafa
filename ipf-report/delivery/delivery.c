#include "delivery/delivery.h"

#include "delivery/push_report.h"
#include "upload/xml_reader.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

int delivery_check(const struct delivery_options *options, struct ipf_error *err)
{
	return push_report_check(&options->push, err) < 0 || upload_report_check(&options->upload, err) < 0 ? -1 : 0;
}

int delivery_prepare(struct delivery *d, const struct report *report, struct ipf_error *err)
{
	const char *run = json_string_value(json_object_get(report->run_info, "name"));
	d->prepared = true;
	if (!d->options->push.targets.count)
		return 0;
	if (run && !(d->run = strdup(run)))
		return ipf_error_memory(err);
	format_prometheus.render(report, &d->exposition);
	return d->exposition.failed ? ipf_error_memory(err) : 0;
}

static void note(const struct delivery *d, const struct ipf_error *now, struct ipf_error *err)
{
	if (err->kind == IPF_OK)
		*err = *now;
	else
		ipf_error_report(now, stderr, d->options->upload.program);
}

int delivery_send(const struct delivery *d, const struct report_output *output, struct ipf_error *err)
{
	for (size_t i = 0; d->prepared && i < d->options->push.targets.count; i++) {
		struct ipf_error now = {0};
		if (push_report_send(&d->options->push, i, d->run, &d->exposition, &now) < 0)
			note(d, &now, err);
	}
	struct ipf_error now = {0};
	if (d->prepared && d->options->upload.url && output->err.kind == IPF_CLOSED)
		ipf_error_set(&now, IPF_SYSTEM, "--upload: nothing was uploaded: standard output was closed too early");
	else if (d->prepared)
		upload_report_send(&d->options->upload, output->kept, &now);
	if (now.kind != IPF_OK)
		note(d, &now, err);
	return err->kind == IPF_OK ? 0 : -1;
}

void delivery_release(struct delivery *d)
{
	free(d->run);
	buffer_release(&d->exposition);
}

const char *delivery_libraries(void)
{
	static char names[512];
	snprintf(names, sizeof names, "%s %s", curl_version(), xml_library());
	return names;
}
