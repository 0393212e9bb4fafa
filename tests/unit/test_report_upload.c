/* Uploads: where they go, how a file is divided, and a store's lists. */
#include "unit.h"
#include "upload/media_type.h"
#include "upload/part_plan.h"
#include "upload/pending_upload.h"
#include "upload/store_address.h"
#include "upload/xml_reader.h"

#include <fcntl.h>
#include <unistd.h>

#define MIB (INT64_C(1) << 20)

static void test_parts(void **state)
{
	static const int64_t sizes[] = {
		0, 1, 64 * MIB, 64 * MIB + 1, 5000000000, 160000 * MIB, 160000 * MIB + 1, 5497558138880};
	(void)state;
	assert_int_equal(part_count_of(64 * MIB), 0);
	assert_int_equal(part_count_of(64 * MIB + 1), 5);
	assert_int_equal(part_count_of(5000000000), 299);
	assert_int_equal(part_bytes_of(5497558138880), 525 * MIB); /* 5 TiB, the largest object */
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		int64_t bytes = part_bytes_of(sizes[i]), count = part_count_of(sizes[i]);
		assert_true(bytes >= PART_LEAST && bytes % MIB == 0 && count <= PARTS_MOST);
		if (count) {
			assert_true(count * bytes >= sizes[i]);
			assert_true((count - 1) * bytes < sizes[i]);
		}
	}
}

/* The MD5s of "a" and "b", and that of both, by md5sum(1). */
static void test_composed_etag(void **state)
{
	static const unsigned char md5s[] = {0x0c, 0xc1, 0x75, 0xb9, 0xc0, 0xf1, 0xb6, 0xa8, 0x31, 0xc3, 0x99,
	                                     0xe2, 0x69, 0x77, 0x26, 0x61, 0x92, 0xeb, 0x5f, 0xfe, 0xe6, 0xae,
	                                     0x2f, 0xec, 0x3a, 0xd7, 0x1c, 0x77, 0x75, 0x31, 0x57, 0x8f};
	char etag[ETAG_BYTES];
	(void)state;
	composed_etag(md5s, 2, etag);
	assert_string_equal(etag, "96e024ba2074fe77e8e965ba43a704be-2");
}

static void test_digests(void **state)
{
	struct file_digest d;
	struct ipf_error err = {0};
	char name[] = "/tmp/ipf-test-digest.XXXXXX";
	int fd = mkstemp(name);
	(void)state;
	unlink(name);
	assert_int_equal(write(fd, "xxabcyy", 7), 7);
	assert_int_equal(file_digest(fd, 2, 3, "name", &d, &err), 0);
	assert_string_equal(d.md5_hex, "900150983cd24fb0d6963f7d28e17f72");
	assert_string_equal(d.md5_base64, "kAFQmDzST7DWlj99KOF/cg==");
	assert_string_equal(d.sha256_hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_string_equal(d.sha256_base64, "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
	assert_int_equal(file_digest(fd, 2, 6, "name", &d, &err), -1);
	assert_string_equal(err.text, "has become shorter while it was uploaded");
	close(fd);
}

static void parses(const char *url, enum store_kind kind, const char *bucket, const char *key, const char *file)
{
	struct upload_target t = {0};
	struct ipf_error err = {0};
	struct buffer out = {0};
	assert_int_equal(upload_target_parse(url, &t, &err), 0);
	assert_int_equal(t.kind, kind);
	assert_string_equal(t.bucket, bucket);
	assert_string_equal(t.key, key);
	upload_target_key(&t, "f", &out);
	assert_string_equal(out.data, file);
	buffer_release(&out);
	upload_target_release(&t);
}

static void test_targets(void **state)
{
	static const char *const wrong[] = {"",
	                                    "s3:/b/c",
	                                    "s3://",
	                                    "s3:///c",
	                                    "s3://ab/c",
	                                    "s3://b ucket/c",
	                                    "s3://me:pw@bucket/c",
	                                    "http://bucket/c",
	                                    "S3://bucket/c",
	                                    "gs://../c"};
	(void)state;
	parses("s3://bucket", STORE_S3, "bucket", "", "f");
	parses("s3://bucket/", STORE_S3, "bucket", "", "f");
	parses("gs://my.bucket-1/a/b?c#d%20", STORE_GCS, "my.bucket-1", "a/b?c#d%20", "a/f");
	parses("s3://bucket/a//", STORE_S3, "bucket", "a//", "a//f");
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct upload_target t = {0};
		struct ipf_error err = {0};
		if (upload_target_parse(wrong[i], &t, &err) == 0)
			fail_msg("%s is accepted", wrong[i]);
		assert_int_equal(err.kind, IPF_USAGE);
		upload_target_release(&t);
	}
}

static void is_at(enum store_kind kind, char *bucket, const char *expected)
{
	const struct upload_target target = {.kind = kind, .bucket = bucket};
	struct store_address address;
	struct ipf_error err = {0};
	if (store_address_find(&target, &address, &err) < 0)
		assert_string_equal(err.text, expected);
	else
		assert_string_equal(address.base.data, expected);
	store_address_release(&address);
}

static void test_addresses(void **state)
{
	static const char *const names[] = {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION",
	                                    "STORAGE_EMULATOR_HOST"};
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unsetenv(names[i]);
	is_at(STORE_S3, "runs", "https://runs.s3.us-east-1.amazonaws.com");
	setenv("AWS_DEFAULT_REGION", "eu-west-3", 1);
	is_at(STORE_S3, "my.runs", "https://s3.eu-west-3.amazonaws.com/my.runs");
	setenv("AWS_REGION", "cn-north-1", 1);
	is_at(STORE_S3, "runs", "https://runs.s3.cn-north-1.amazonaws.com.cn");
	setenv("AWS_REGION", "evil.example/", 1);
	is_at(STORE_S3, "runs", "AWS_REGION: expected a region such as eu-west-1, got \"evil.example/\"");
	setenv("AWS_ENDPOINT_URL", "http://localhost:9000/", 1);
	is_at(STORE_S3, "runs", "http://localhost:9000/runs");
	setenv("AWS_ENDPOINT_URL_S3", "https://minio/s3", 1);
	is_at(STORE_S3, "runs", "https://minio/s3/runs");
	setenv("AWS_ENDPOINT_URL_S3", "https://me:sesame@minio", 1);
	is_at(STORE_S3, "runs",
	      "AWS_ENDPOINT_URL_S3: expected an http or https URL without a user and query, got \"https://minio\"");
	is_at(STORE_GCS, "runs", "https://storage.googleapis.com/runs");
}

static void test_uploads_of_a_key(void **state)
{
	static const char list[] =
		"<L><Upload><Key>a</Key><UploadId>1</UploadId><Initiated>2026-01-02T00:00:00Z</Initiated></Upload>"
		"<Upload><Key>a&amp;b</Key><UploadId>2</UploadId><Initiated>2026-01-03T00:00:00Z</Initiated></Upload>"
		"<Upload><Key>a</Key><UploadId>3&lt;</UploadId><Initiated>2026-01-01T00:00:00Z</Initiated></Upload></L>";
	(void)state;
	char *id = pending_upload_latest(slice_of(list), "a");
	assert_string_equal(id, "1");
	free(id);
	id = pending_upload_latest(slice_of(list), "a&b");
	assert_string_equal(id, "2");
	free(id);
	assert_null(pending_upload_latest(slice_of(list), "b"));
	assert_null(pending_upload_latest(slice_of("{}"), "a"));
}

static void test_listed_parts(void **state)
{
	static const char page[] = "<L><IsTruncated>true</IsTruncated><Part><PartNumber>2</PartNumber>"
							   "<ETag>\"900150983cd24fb0d6963f7d28e17f72\"</ETag><Size>3</Size></Part>"
							   "<Part><PartNumber>7</PartNumber><ETag>x</ETag><Size>3</Size></Part></L>";
	struct pending_upload p;
	struct ipf_error err = {0};
	struct file_digest d = {.md5_hex = "900150983cd24fb0d6963f7d28e17f72", .sha256_base64 = "sum"};
	int64_t last = 0;
	(void)state;
	assert_int_equal(pending_upload_init(&p, 3, &err), 0);
	assert_int_equal(pending_upload_read_parts(slice_of(page), &p, &last), 1);
	assert_int_equal(last, 7);
	assert_true(pending_upload_has(&p, 1, 3, &d));
	assert_false(pending_upload_has(&p, 1, 4, &d));
	assert_false(pending_upload_has(&p, 0, 0, &d));
	p.sha256_kept = true;
	assert_false(pending_upload_has(&p, 1, 3, &d));
	strcpy(p.parts[1].sha256, "sum");
	assert_true(pending_upload_has(&p, 1, 3, &d));
	d.md5_hex[0] = 'x'; /* the ETag of an encrypted part */
	assert_true(pending_upload_has(&p, 1, 3, &d));
	/* a page repeating itself is the last */
	assert_int_equal(pending_upload_read_parts(slice_of(page), &p, &last), 0);
	assert_int_equal(pending_upload_read_parts(slice_of("<L>"), &p, &last), -1);
	pending_upload_release(&p);
}

static void count(void *data, const char *element, const char *text)
{
	(void)element;
	(void)text;
	(*(int *)data)++;
}

static void test_xml(void **state)
{
	int elements = 0;
	(void)state;
	assert_int_equal(xml_read(slice_of("<a><b>1</b><c/></a>"), count, &elements), 0);
	assert_int_equal(elements, 3);
	assert_int_equal(xml_read(slice_of("<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>"), count, &elements), -1);
	assert_int_equal(xml_read((struct slice){0}, count, &elements), -1);
	assert_int_equal(elements, 3);
}

static void test_media_types(void **state)
{
	(void)state;
	assert_string_equal(media_type("a/report.html"), "text/html; charset=utf-8");
	assert_string_equal(media_type("chat.results.zst"), "application/zstd");
	assert_string_equal(media_type(".html"), "application/octet-stream");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),        cmocka_unit_test(test_composed_etag),
		cmocka_unit_test(test_digests),      cmocka_unit_test(test_targets),
		cmocka_unit_test(test_addresses),    cmocka_unit_test(test_uploads_of_a_key),
		cmocka_unit_test(test_listed_parts), cmocka_unit_test(test_xml),
		cmocka_unit_test(test_media_types),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
