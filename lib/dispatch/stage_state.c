#include "dispatch/stage_state.h"

#include "absent.h"

#include <stdlib.h>

int stage_state_init(struct stage_state *s, const struct schedule_stage *definition)
{
	*s = (struct stage_state){.definition = definition, .over_ns = IPF_ABSENT};
	if (!definition->closed)
		return 0;
	if (definition->slots > 0 && (uint64_t)definition->slots < SIZE_MAX / sizeof *s->free_users)
		s->free_users = malloc((size_t)definition->slots * sizeof *s->free_users);
	return s->free_users ? 0 : -1;
}

void stage_state_release(struct stage_state *s)
{
	free(s->thinking.nodes);
	free(s->free_users);
}

bool stage_open_ended(const struct stage_state *s)
{
	return s->definition->end_ns == IPF_ABSENT;
}

bool stage_holds_time(const struct stage_state *s)
{
	return stage_open_ended(s) || s->definition->drain;
}

int64_t stage_begin(const struct stage_state *s)
{
	return s->definition->begin_ns + s->offset_ns;
}

int64_t stage_end(const struct stage_state *s)
{
	return stage_open_ended(s) ? INT64_MAX : s->definition->end_ns + s->offset_ns;
}

bool stage_ended(const struct stage_state *s, int64_t due)
{
	return s->over || (s->definition->closed && due >= stage_end(s));
}

bool stage_complete(const struct stage_state *s, bool finished)
{
	bool all_came = s->definition->cycle ? s->over : s->added >= s->definition->arrivals || finished;
	return all_came && (s->definition->overlap ? s->unstarted : s->live) == 0;
}

void stage_put_user(struct stage_state *s, struct virtual_user user)
{
	s->free_users[(s->free_first + s->free_count++) % s->definition->slots] = user;
}

struct virtual_user stage_take_user(struct stage_state *s)
{
	struct virtual_user user = s->free_users[s->free_first];
	s->free_first = (s->free_first + 1) % s->definition->slots;
	s->free_count--;
	return user;
}
