#include "requests/deferred_request.h"

#include <stdlib.h>
#include <string.h>

struct dialogue *dialogue_new(void)
{
	struct dialogue *d = calloc(1, sizeof *d);
	if (d)
		atomic_init(&d->references, 1);
	return d;
}

static struct dialogue *dialogue_hold(struct dialogue *d)
{
	atomic_fetch_add(&d->references, 1);
	return d;
}

void dialogue_release(struct dialogue *d)
{
	if (!d || atomic_fetch_sub(&d->references, 1) > 1)
		return;
	buffer_release(&d->messages);
	free(d);
}

static bool copy_request(struct deferred_request *d, const struct trace_request *q)
{
	d->request = *q;
	struct slice *const slices[] = {
		&d->request.id,     &d->request.messages, &d->request.prompt,          &d->request.prompt_token_ids,
		&d->request.inputs, &d->request.query,    &d->request.session,         &d->request.parents,
		&d->request.model,  &d->request.tools,    &d->request.response_format, &d->request.body,
		&d->request.tags,   &d->request.slo,      &d->request.answer,          &d->request.answer_token_ids,
	};
	const size_t count = sizeof slices / sizeof *slices;
	size_t len = 0;
	for (size_t i = 0; i < count; i++)
		len += slices[i]->len;
	d->bytes = sizeof *d + len;
	d->memory = malloc(len + 1);
	if (!d->memory)
		return false;
	char *to = d->memory;
	for (size_t i = 0; i < count; i++) {
		if (!slices[i]->data)
			continue;
		memcpy(to, slices[i]->data, slices[i]->len);
		slices[i]->data = to;
		to += slices[i]->len;
	}
	return true;
}

struct deferred_request *deferred_request_new(const struct trace_request *request, struct dialogue *dialogue,
                                              size_t context_len)
{
	struct deferred_request *d = calloc(1, sizeof *d);
	if (!d || !copy_request(d, request)) {
		free(d);
		return NULL;
	}
	d->dialogue = dialogue_hold(dialogue);
	d->context_len = context_len;
	return d;
}

void deferred_request_free(struct deferred_request *d)
{
	if (!d)
		return;
	dialogue_release(d->dialogue);
	free(d->memory);
	free(d);
}

struct slice deferred_request_context(const struct deferred_request *d)
{
	return (struct slice){d->dialogue->messages.data, d->context_len};
}
