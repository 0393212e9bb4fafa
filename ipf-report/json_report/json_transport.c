#include "json_report/json_report.h"
#include "results/run_data.h"

/* The findings in the trailers of the results; of several results, each entry has the name of its results in "part". */
json_t *json_transport(const struct report *report)
{
	const struct run_data *run = report->run;
	json_t *list = json_array(), *finding;
	size_t k;
	for (int i = 0; i < run->part_count; i++) {
		json_array_foreach(json_object_get(run->parts[i].trailer, "transport"), k, finding)
		{
			json_t *copy = json_is_object(finding) ? json_copy(finding) : NULL;
			if (copy && run->part_count > 1)
				json_object_set_new(copy, "part", json_string(run->parts[i].name));
			if (copy)
				json_array_append_new(list, copy);
		}
	}
	return list;
}
