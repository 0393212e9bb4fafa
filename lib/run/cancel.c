#include "run/cancel.h"

#include "cli/units.h"
#include "text_hash.h"

#include <stdlib.h>
#include <string.h>

int cancels_add(struct cancels *c, const char *text, struct ipf_error *err)
{
	if (strcmp(text, "none") == 0) {
		c->no_recorded = true;
		return 0;
	}
	if (c->count == CANCELS_MOST)
		return ipf_error_set(err, IPF_USAGE, "can be given at most %d times", CANCELS_MOST);
	const char *at = strchr(text, '@');
	char *share = at ? strndup(text, (size_t)(at - text)) : NULL;
	double sum = c->count ? c->list[c->count - 1].below : 0, part = 0;
	struct cancel *to = &c->list[c->count];
	struct ipf_error why = {0};
	int bad = !share || parse_share(share, &part, &why) < 0 || parse_duration(at + 1, &to->after_ns, &why) < 0;
	free(share);
	if (bad)
		return ipf_error_set(err, IPF_USAGE, "expected a share and a time such as 5%%@2s, or none, got \"%s\"", text);
	/* shares that add up to 1 in decimal may exceed it a little in binary */
	if (sum + part > 1 + 1e-9)
		return ipf_error_set(err, IPF_USAGE, "the shares exceed 100 %% of the requests");
	to->text = text;
	to->below = sum + part;
	c->count++;
	return 0;
}

void cancels_seed(struct cancels *c, json_t *schedule, int64_t exempt_from_n)
{
	json_t *seed = json_object_get(schedule, "seed");
	char *text = seed ? json_dumps(seed, JSON_ENCODE_ANY) : NULL;
	c->exempt_from_n = exempt_from_n;
	c->seed = text ? text_hash_mixed(slice_of(text)) : 0;
	free(text);
}

int cancels_find(const struct cancels *c, int64_t n)
{
	if (!c->count || n >= c->exempt_from_n)
		return -1;
	/* SplitMix64: the n-th number of the seed's sequence */
	uint64_t z = c->seed + ((uint64_t)n + 1) * UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	double u = (double)((z ^ z >> 31) >> 11) * 0x1p-53;
	for (size_t i = 0; i < c->count; i++)
		if (u < c->list[i].below)
			return (int)i;
	return -1;
}
