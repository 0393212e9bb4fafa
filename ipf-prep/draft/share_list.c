#include "draft/share_list.h"

#include "cli/units.h"

#include <stdlib.h>
#include <string.h>

int share_list_parse(struct share_list *list, const char *text, const char *expected, struct ipf_error *err)
{
	size_t room = 1;
	for (const char *at = text; *at; at++)
		room += *at == ',';
	share_list_release(list);
	list->items = calloc(room, sizeof *list->items);
	list->text = strdup(text);
	if (!list->items || !list->text)
		return ipf_error_memory(err);
	double sum = 0;
	char *rest = list->text;
	for (char *item = strsep(&rest, ","); item; item = strsep(&rest, ",")) {
		char *equals = strrchr(item, '=');
		double share = 1;
		struct ipf_error why = {0};
		if (equals)
			*equals = '\0';
		if (!*item || (equals && parse_share(equals + 1, &share, &why) < 0))
			return ipf_error_set(err, IPF_USAGE, "expected %s, got \"%s\"", expected, text);
		sum += share;
		list->items[list->count++] = (struct share){item, sum};
	}
	/* Shares written with two digits need not sum up to 1 to the last bit. */
	if (list->count == 1 && sum > 0)
		sum = 1;
	if (sum < 0.999 || sum > 1.001)
		return ipf_error_set(err, IPF_USAGE, "the shares sum up to %g instead of 1: \"%s\"", sum, text);
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
