#include "metrics/metric_sink.h"

const char *metric_suffix(enum metric_type type)
{
	return type == METRIC_COUNTER ? "_total" : type == METRIC_INFO ? "_info" : "";
}
