#include "upload/upload_target.h"

#include "safe_text.h"

#include <stdlib.h>
#include <string.h>

static const char *const schemes[] = {[STORE_S3] = "s3://", [STORE_GCS] = "gs://"};

/* Characters both stores allow, and no URL needs an escape for. */
static bool is_bucket(const char *name, size_t len)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789.-_ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	return len >= 3 && len <= 222 && name[0] != '.' && strspn(name, allowed) >= len;
}

int upload_target_parse(const char *url, struct upload_target *target, struct ipf_error *err)
{
	const char *bucket = NULL;
	for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
		if (strncmp(url, schemes[i], strlen(schemes[i])) == 0) {
			target->kind = (enum store_kind)i;
			bucket = url + strlen(schemes[i]);
		}
	if (!bucket)
		return ipf_error_set(err, IPF_USAGE, "--upload: expected s3://BUCKET/PATH or gs://BUCKET/PATH, got \"%s\"",
		                     shown(url).text);
	size_t len = strcspn(bucket, "/");
	const char *key = bucket[len] ? bucket + len + 1 : "";
	if (!is_bucket(bucket, len))
		return ipf_error_set(err, IPF_USAGE, "--upload: expected the name of a bucket after %s, got \"%s\"",
		                     schemes[target->kind], shown(url).text);
	if (strlen(key) > UPLOAD_KEY_MOST)
		return ipf_error_set(err, IPF_USAGE, "--upload: the path has more than %d bytes", UPLOAD_KEY_MOST);
	target->bucket = strndup(bucket, len);
	target->key = strdup(key);
	return target->bucket && target->key ? 0 : ipf_error_memory(err);
}

void upload_target_release(struct upload_target *target)
{
	free(target->bucket);
	free(target->key);
	*target = (struct upload_target){0};
}

bool upload_target_is_folder(const struct upload_target *target)
{
	size_t len = strlen(target->key);
	return len == 0 || target->key[len - 1] == '/';
}

void upload_target_key(const struct upload_target *target, const char *name, struct buffer *key)
{
	const char *slash = strrchr(target->key, '/');
	if (slash)
		buffer_append(key, target->key, (size_t)(slash + 1 - target->key));
	buffer_text(key, name);
}

void upload_target_url(const struct upload_target *target, const char *key, struct buffer *out)
{
	buffer_format(out, "%s%s/%s", schemes[target->kind], target->bucket, key);
}
