#include "commands/split_sides.h"

#include "safe_text.h"

#include <unistd.h>

int split_sides(const struct operands *all, const char *expected, struct operands sides[2], struct ipf_error *err)
{
	const int base = all->before_mark < 0 && all->count == 2 ? 1 : all->before_mark;
	if (base <= 0 || base == all->count)
		return ipf_error_set(err, IPF_USAGE, "expected %s, results before and after --", expected);
	for (int i = base; i < all->count; i++)
		if (all->items[i][0] == '-' && all->items[i][1] && access(all->items[i], F_OK) < 0)
			return ipf_error_set(err, IPF_USAGE, "%s: options come before --, since results follow",
			                     shown(all->items[i]).text);
	sides[0] = (struct operands){.items = all->items, .count = base};
	sides[1] = (struct operands){.items = all->items + base, .count = all->count - base};
	return 0;
}
