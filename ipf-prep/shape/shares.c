#include "shape/shares.h"

#include "cli/units.h"

#include <stdlib.h>
#include <string.h>

int shares_parse(struct shares *s, const char *option, const char *expected, const char *text, struct ipf_error *err)
{
	size_t room = 1;
	for (const char *at = text; *at; at++)
		room += *at == ',';
	*s = (struct shares){.list = calloc(room, sizeof *s->list), .text = strdup(text)};
	if (!s->list || !s->text)
		return ipf_error_memory(err);
	double sum = 0;
	char *rest = s->text;
	for (char *item = strsep(&rest, ","); item; item = strsep(&rest, ",")) {
		char *equals = strrchr(item, '=');
		double share = 1;
		struct ipf_error why = {0};
		if (equals)
			*equals = '\0';
		if (!*item || (equals && parse_share(equals + 1, &share, &why) < 0))
			return ipf_error_set(err, IPF_USAGE, "%s: expected %s, got \"%s\"", option, expected, text);
		sum += share;
		s->list[s->count++] = (struct share){item, sum};
	}
	/* Shares written with two digits need not sum up to 1 to the last bit. */
	if (s->count == 1 && sum > 0)
		sum = 1;
	if (sum < 0.999 || sum > 1.001)
		return ipf_error_set(err, IPF_USAGE, "%s: the shares sum up to %g, not to 1", option, sum);
	s->list[s->count - 1].upto = 2;
	return 0;
}

void shares_release(struct shares *s)
{
	free(s->list);
	free(s->text);
	*s = (struct shares){0};
}

size_t shares_pick(const struct shares *s, double u)
{
	size_t i = 0;
	while (u >= s->list[i].upto)
		i++;
	return i;
}
