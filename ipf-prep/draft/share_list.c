#include "draft/share_list.h"

#include "cli/units.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* "0.5", "60" or "5%": nothing below 0. */
static bool parse_weight(const char *text, double *weight)
{
	struct ipf_error ignored = {0};

	return parse_share(text, weight, &ignored) == 0 || (parse_number(text, weight, &ignored) == 0 && *weight >= 0);
}

int share_list_parse(struct share_list *list, const char *text, const char *expected, struct ipf_error *err)
{
	size_t room = 1, given = 0;
	double sum = 0;

	for (const char *at = text; *at; at++)
		room += *at == ',';
	share_list_release(list);
	list->items = calloc(room, sizeof *list->items);
	list->text = strdup(text);
	if (!list->items || !list->text)
		return ipf_error_memory(err);
	char *rest = list->text;
	for (char *item = strsep(&rest, ","); item; item = strsep(&rest, ",")) {
		char *equals = strrchr(item, '=');
		double weight = 1;
		if (equals)
			*equals = '\0';
		if (!*item || (equals && !parse_weight(equals + 1, &weight)))
			return ipf_error_set(err, IPF_USAGE, "expected %s, got \"%s\"", expected, text);
		given += equals != NULL;
		sum += weight;
		list->items[list->count++] = (struct share){item, sum};
	}
	if ((given > 0 && given < list->count) || !(sum > 0) || !isfinite(sum))
		return ipf_error_set(err, IPF_USAGE, "expected %s, got \"%s\"", expected, text);
	for (size_t i = 0; i < list->count; i++)
		list->items[i].cumulative /= sum;
	list->items[list->count - 1].cumulative = 2;
	return 0;
}

void share_list_release(struct share_list *list)
{
	free(list->items);
	free(list->text);
	*list = (struct share_list){0};
}

size_t share_list_pick(const struct share_list *list, double u)
{
	size_t i = 0;
	while (u >= list->items[i].cumulative)
		i++;
	return i;
}
