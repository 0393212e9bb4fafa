/* Makes requests of a record as a layout says.
 *
 *     struct layout_reader reader = {.layout = layout, .fields = &layout->fields, .settings = …};
 *     if (layout_read(&reader, &record, &sink, &err) < 0) …
 *     layout_reader_release(&reader);
 */
#ifndef PREP_LAYOUT_READ_H
#define PREP_LAYOUT_READ_H

#include "sources/layout.h"
#include "sources/layout_values.h"
#include "name_set.h"
#include "sources/chat_fields.h"
#include "sources/record_fields.h"
#include "sources/recorded_times.h"

/* The state of a format a layout describes. */
struct layout_reader {
	const struct layout *layout;        /* must be first: source_open() sets it */
	const struct layout_fields *fields; /* the layout's, or `given` */
	struct layout_fields given;         /* by --field */
	bool is_given;
	struct chat_settings settings;
	struct time_origin origin;
	struct name_set ids;                   /* ids of the requests so far */
	struct jdoc inner;                     /* a list the record has as a text */
	struct buffer prompt_hint, other_hint; /* for a file's first record: options of --field of the same meaning */
	bool hinted;
	int32_t *columns; /* a CSV file's, by mapping; NULL: it is none */

	/* the record at hand */
	const struct source_record *record;
	struct sink *sink;
	int64_t part;
};

int layout_read(struct layout_reader *r, const struct source_record *record, struct sink *sink, struct ipf_error *err);
void layout_reader_release(struct layout_reader *r);

/* ---- layout_request.c, layout_turns.c ---- */

/* A record is a request even if its prompt was empty: it may have failed. */
static inline bool layout_is_trace(const struct layout_reader *r)
{
	return r->layout->format.kind == SOURCE_TRACE;
}

/* Adds a request from the view: 1, 0 if it has no non-empty prompt, -1. A turn's prompt may lack. */
int layout_request(struct layout_reader *r, const struct layout_view *v, struct ipf_error *err);
/* Adds a list of turns, which may be in a document of its own, to the draft and hands it over: 0 or -1. */
int layout_turns_read(struct layout_reader *r, const struct layout_view *v, const struct jdoc *j, jdoc_id list,
                      const char *name, struct ipf_error *err);
/* The arrival: recorded, or the end less the duration; IPF_ABSENT. 0 or -1. */
int layout_arrival(const struct layout_view *v, struct draft *d, int64_t *at_ns, struct ipf_error *err);
/* Whether the request failed, and after how long its client left it; 0: it did not, or the time is not known. 0 or -1.
 */
int layout_outcome(const struct layout_view *v, struct draft *d, bool *failed, int64_t *hang_up_ns,
                   struct ipf_error *err);
/* The recorded latencies: recorded_ttft, or first_token less the arrival; recorded_e2e, the duration, or the end less
 * the arrival. `at_ns`: the arrival as recorded; IPF_ABSENT. 0 or -1. */
int layout_recorded(const struct layout_view *v, struct draft *d, int64_t at_ns, struct recorded_times *recorded,
                    struct ipf_error *err);
/* Images, audio and video of the last message. */
int layout_media(const struct layout_reader *r, const struct layout_view *v, struct ipf_error *err);
/* Hands over the draft, after the members common to all of its requests: session, id, arrival. */
int layout_hand_over(struct layout_reader *r, const struct layout_view *v, struct ipf_error *err);

#endif
