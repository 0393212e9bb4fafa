#include "api/api_grpc.h"

#include <stdio.h>
#include <string.h>

/* ---- do the templates fit the message types? ---- */

static int check_message(struct descriptor_place at, const struct protobuf_schema *p, int type, json_t *map,
                         struct ipf_error *err);

/* Checks a template for a value of the field; template operators are checked by their contents. */
static int check_value(struct descriptor_place at, const struct protobuf_schema *p, const struct protobuf_shape *shape,
                       json_t *value, struct ipf_error *err)
{
	json_t *first = json_object_get(value, "$first"), *values = json_object_get(value, "$values"), *inner;
	const char *key;
	size_t i;
	json_array_foreach(first, i, inner)
	{
		if (check_value(at, p, shape, inner, err) < 0)
			return -1;
	}
	if (json_object_get(value, "$if"))
		return check_value(at, p, shape, json_object_get(value, "then"), err);
	if (json_object_get(value, "$each"))
		return check_value(at, p, shape, json_object_get(value, "as"), err);
	if (first || json_object_get(value, "$json") || json_object_get(value, "$raw"))
		return 0;
	json_array_foreach(value, i, inner)
	{
		if (check_value(at, p, shape, inner, err) < 0)
			return -1;
	}
	if (values || (json_is_object(value) && shape->map)) {
		const struct protobuf_shape element = {.message = shape->message};
		json_object_foreach(values ? values : value, key, inner)
		{
			if (check_value(at, p, values ? shape : &element, inner, err) < 0)
				return -1;
		}
		return 0;
	}
	return json_is_object(value) && shape->message >= 0 ? check_message(at, p, shape->message, value, err) : 0;
}

static int check_message(struct descriptor_place at, const struct protobuf_schema *p, int type, json_t *map,
                         struct ipf_error *err)
{
	const char *key;
	json_t *value;
	json_object_foreach(map, key, value)
	{
		struct protobuf_shape shape;
		if (!protobuf_field_shape(p, type, key, &shape))
			return ipf_error_at(err, IPF_INPUT, at.file, 0, "%s: the message has no field \"%s\"", at.inside, key);
		if (check_value(at, p, &shape, value, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- compiling ---- */

/* The message types for whole and for streamed responses: one name for both, or one each. */
static int find_types(struct descriptor_place at, struct api_grpc *g, json_t *json, const char *key, int types[2],
                      struct ipf_error *err)
{
	static const char *const known[] = {"stream", "whole", NULL};
	json_t *value = json_object_get(json, key);
	if (json_is_object(value) && descriptor_only_members(at, value, known, err) < 0)
		return -1;
	for (int streamed = 0; streamed < 2; streamed++) {
		json_t *name = json_is_object(value) ? json_object_get(value, known[!streamed]) : value;
		types[streamed] = json_is_string(name) ? protobuf_message_type(g->protobuf, json_string_value(name)) : -1;
		if (types[streamed] < 0 && (name || !json_is_object(value)))
			return descriptor_wrong(at, key, err, "the name of one of the messages", name);
	}
	return 0;
}

static int check_templates(struct descriptor_place at, const struct api_grpc *g, json_t *request, struct ipf_error *err)
{
	static const struct {
		const char *name;
		bool whole, streamed;
	} parts[] = {{"body", true, true},
	             {"stream", false, true},
	             {"whole", true, false},
	             {"exact_output", true, true},
	             {"recorded_answers", true, true}};
	char inside[40];
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		for (int streamed = 0; streamed < 2; streamed++) {
			json_t *map = json_object_get(request, parts[i].name);
			snprintf(inside, sizeof inside, "request.%s", parts[i].name);
			at.inside = inside;
			if ((streamed ? parts[i].streamed : parts[i].whole) && g->request[streamed] >= 0 &&
			    check_message(at, g->protobuf, g->request[streamed], map, err) < 0)
				return -1;
		}
	return 0;
}

int api_grpc_compile(struct descriptor_place at, json_t *json, json_t *request, struct api_grpc *g,
                     struct ipf_error *err)
{
	static const char *const known[] = {"request", "response", "messages", "enums", NULL};
	if (!json_is_object(json))
		return descriptor_wrong(descriptor_inside(at, NULL), "grpc", err, "an object, which framing \"grpc\" requires",
		                        json);
	json_t *enums = json_object_get(json, "enums");
	if (enums && !json_is_object(enums))
		return descriptor_wrong(at, "enums", err, "an object", enums);
	if (descriptor_only_members(at, json, known, err) < 0 ||
	    protobuf_schema_new(&g->protobuf, json, at.file, err) < 0 ||
	    find_types(at, g, json, "request", g->request, err) < 0 ||
	    find_types(at, g, json, "response", g->response, err) < 0)
		return -1;
	return check_templates(at, g, request, err);
}

const char *api_grpc_header(size_t i)
{
	static const char *const headers[] = {"grpc-status", "grpc-message", "grpc-encoding"};
	return i < sizeof headers / sizeof *headers ? headers[i] : NULL;
}
