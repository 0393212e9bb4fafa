#include "upload/store_address.h"

#include "redact.h"
#include "safe_text.h"

#include <stdlib.h>
#include <string.h>

/* The first set one of these variables; NULL: none is. */
static const char *first_of(const char *const names[2], const char **name)
{
	for (int i = 0; i < 2 && names[i]; i++) {
		const char *value = getenv(names[i]);
		*name = names[i];
		if (value && *value)
			return value;
	}
	return NULL;
}

static int put_endpoint(const char *name, const char *endpoint, const char *bucket, struct buffer *base,
                        struct ipf_error *err)
{
	size_t len = strlen(endpoint);
	while (len && endpoint[len - 1] == '/')
		len--;
	bool good = (strncmp(endpoint, "https://", 8) == 0 && len > 8) || (strncmp(endpoint, "http://", 7) == 0 && len > 7);
	if (!good || strpbrk(endpoint, "?#@ \t\r\n")) {
		struct buffer text = {0};
		redact_url(endpoint, &text);
		ipf_error_set(err, IPF_USAGE, "%s: expected an http or https URL without a user and query, got \"%s\"", name,
		              shown_slice(buffer_all(&text)).text);
		buffer_release(&text);
		return -1;
	}
	buffer_append(base, endpoint, len);
	buffer_format(base, "/%s", bucket);
	return base->failed ? ipf_error_memory(err) : 0;
}

/* The certificates of Amazon do not cover a bucket with a dot as a host. */
static void put_amazon(const char *region, const char *bucket, struct buffer *base)
{
	const char *china = strncmp(region, "cn-", 3) == 0 ? ".cn" : "";
	if (strchr(bucket, '.'))
		buffer_format(base, "https://s3.%s.amazonaws.com%s/%s", region, china, bucket);
	else
		buffer_format(base, "https://%s.s3.%s.amazonaws.com%s", bucket, region, china);
}

int store_address_find(const struct upload_target *target, struct store_address *address, struct ipf_error *err)
{
	static const char *const endpoints[][2] =
		{[STORE_S3] = {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}, [STORE_GCS] = {"STORAGE_EMULATOR_HOST"}},
							 *const regions[] = {"AWS_REGION", "AWS_DEFAULT_REGION"};
	const char *name = NULL, *endpoint = first_of(endpoints[target->kind], &name);
	*address = (struct store_address){.region = "auto"};
	if (target->kind == STORE_GCS)
		return put_endpoint(name, endpoint ? endpoint : "https://storage.googleapis.com", target->bucket,
		                    &address->base, err);
	const char *region_name, *region = first_of(regions, &region_name);
	address->region = region ? region : "us-east-1";
	if (endpoint)
		return put_endpoint(name, endpoint, target->bucket, &address->base, err);
	if (strspn(address->region, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(address->region))
		return ipf_error_set(err, IPF_USAGE, "%s: expected a region such as eu-west-1, got \"%s\"", region_name,
		                     shown(address->region).text);
	put_amazon(address->region, target->bucket, &address->base);
	return address->base.failed ? ipf_error_memory(err) : 0;
}

void store_address_release(struct store_address *address)
{
	buffer_release(&address->base);
}
