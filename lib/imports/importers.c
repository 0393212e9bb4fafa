/* The tools whose files are read, and which of them wrote a file. */
#include "imports/import.h"

#include "safe_text.h"

#include <string.h>

enum { LOOK_FIRST = 64, LOOK = 256 * 1024 };

#define IMPORTER_OF(id_, name_)   &import_##id_,
#define IMPORTER_NAME(id_, name_) name_,
static const struct importer *const importers[] = {IMPORTERS(IMPORTER_OF)};
const char *const importer_names[] = {IMPORTERS(IMPORTER_NAME) NULL};
enum { IMPORTER_COUNT = sizeof importers / sizeof *importers };

static int import_file(struct import *in, int which, struct progress *progress, struct ipf_error *err)
{
	const struct importer *importer = importers[which];
	return import_begin(in, importer, importer_names[which], err) < 0 ||
	               import_check_alike(in->run, in->name, importer->tool, err) < 0 || importer->read(in, err) < 0
	           ? -1
	           : import_end(in, importer->tool, progress, err);
}

static bool begins(struct slice text, const char *with)
{
	return text.len >= strlen(with) && memcmp(text.data, with, strlen(with)) == 0;
}

/* Which tool wrote this; IMPORT_AUTOMATIC: none, and then it can only be a stream of ours; -2: nothing that is known.
 */
static int recognise(struct import *in, struct ipf_error *err)
{
	struct slice text;
	int which = 0;
	if (stream_reader_peek(in->json.input, LOOK_FIRST, &text, err) < 0)
		return -2;
	if (begins(text, "\x1f\x8b")) {
		ipf_error_at(err, IPF_INPUT, in->name, 0, "compressed with gzip: zcat %s | ipf-report", shown(in->name).text);
		return -2;
	}
	if (begins(text, "{\"ipf\":") && !begins(text, "{\"ipf\":\"report\""))
		return IMPORT_AUTOMATIC;
	if (stream_reader_peek(in->json.input, LOOK, &text, err) < 0)
		return -2;
	file_outline_read(&in->outline, text);
	while (which < IMPORTER_COUNT && !importers[which]->recognises(&in->outline))
		which++;
	if (which < IMPORTER_COUNT)
		return which;
	if (file_outline_has(&in->outline, "ipf") && file_outline_has(&in->outline, "verdict")) {
		ipf_error_at(err, IPF_INPUT, in->name, 0,
		             "a JSON report, where results are expected: to show it, give ipf-report its file alone");
		return -2;
	}
	if (!in->outline.paths.len || file_outline_has(&in->outline, "ipf"))
		return IMPORT_AUTOMATIC;
	ipf_error_at(err, IPF_INPUT, in->name, 1,
	             "neither results of ipf-collect nor a known file; --from names the tool:" IMPORTER_CHOICES);
	return -2;
}

int import_read(struct run_data *run, const char *path, int from, struct progress *progress, struct ipf_error *err)
{
	struct stream_reader *input;
	if (stream_reader_open_input(&input, path, err) < 0)
		return -1;
	struct import in = {.name = stream_reader_name(input), .run = run};
	json_pull_init(&in.json, input);
	int which = recognise(&in, err), bad = -1;
	if (from != IMPORT_AUTOMATIC && which != from) {
		ipf_error_clear(err);
		which = from;
	}
	if (which == IMPORT_AUTOMATIC && import_check_alike(run, in.name, NULL, err) == 0) {
		import_release(&in);
		return run_data_read(run, input, progress, err);
	}
	if (which >= 0)
		bad = import_file(&in, which, progress, err);
	import_release(&in);
	stream_reader_close(input);
	return bad;
}
