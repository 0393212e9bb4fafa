#include "json_report/json_report.h"

json_t *json_why(const struct report *report)
{
	return json_incref(report->why);
}
