#include "upload/media_type.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *end, *type;
} types[] = {
	{".html", "text/html; charset=utf-8"},
	{".txt", "text/plain; charset=utf-8"},
	{".md", "text/markdown; charset=utf-8"},
	{".csv", "text/csv; charset=utf-8"},
	{".tsv", "text/tab-separated-values; charset=utf-8"},
	{".gp", "text/plain; charset=utf-8"},
	{".prom", "text/plain; charset=utf-8"},
	{".json", "application/json"},
	{".jsonl", "application/x-ndjson"},
	{".ndjson", "application/x-ndjson"},
	{".xml", "application/xml"},
	{".sql", "application/sql"},
	{".yaml", "application/yaml"},
	{".svg", "image/svg+xml"},
	{".png", "image/png"},
	{".pdf", "application/pdf"},
	{".zst", "application/zstd"},
	{".parquet", "application/vnd.apache.parquet"},
};

const char *media_type(const char *name)
{
	size_t len = strlen(name);
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		size_t end = strlen(types[i].end);
		if (len > end && strcmp(name + len - end, types[i].end) == 0)
			return types[i].type;
	}
	return "application/octet-stream";
}
