#include "stream/observed.h"

#include "stream/provenance.h"

static json_t *member_of(json_t *object)
{
	json_t *member = json_object_get(object, OBSERVED_MEMBER);
	return json_is_object(member) ? member : NULL;
}

json_t *observed_find(json_t *header)
{
	json_t *own = member_of(header);
	return own ? own : member_of(provenance_find(header, "records"));
}

json_t *observed_capture(json_t *trailer)
{
	json_t *own = member_of(trailer), *input;
	size_t i;
	json_array_foreach(json_object_get(trailer, "from"), i, input)
	{
		if (!own)
			own = member_of(input);
	}
	return own;
}
