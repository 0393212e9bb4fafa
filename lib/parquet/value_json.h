/* The JSON text of a value of a Parquet file.
 *
 *     struct value_type type;
 *     value_type_of(&element, &type);
 *     value_json(&type, value, &out);
 *
 * Dates and times are texts in the form of SQL, as DuckDB writes them: "2026-01-31", "12:34:56.5", "2026-01-31
 * 12:34:56.5", and with "+00" at the end if they are UTC; the fraction ends with its last non-zero digit. Decimals are
 * numbers with all their digits. Bytes not declared as text are text if they are UTF-8 without control characters, else
 * each byte other than printable ASCII is \xNN. Numbers without JSON (NaN, infinities) are null.
 */
#ifndef IPF_VALUE_JSON_H
#define IPF_VALUE_JSON_H

#include "parquet/footer.h"

enum value_kind {
	VALUE_BOOL,
	VALUE_INTEGER,
	VALUE_UNSIGNED_32,
	VALUE_UNSIGNED_64,
	VALUE_REAL,
	VALUE_HALF,
	VALUE_TEXT,
	VALUE_JSON,
	VALUE_BYTES,
	VALUE_UUID,
	VALUE_DECIMAL,
	VALUE_WIDE_DECIMAL,
	VALUE_DATE,
	VALUE_TIME,
	VALUE_TIMESTAMP,
	VALUE_INT96
};

struct value_type {
	enum value_kind kind;
	unsigned digits; /* digits behind a decimal's point; digits of a fraction of a second */
	bool utc;
};

/* By the physical type. */
union parquet_value {
	int64_t integer;    /* BOOLEAN, INT32 (with its sign), INT64 */
	double real;        /* FLOAT, DOUBLE */
	struct slice bytes; /* the others */
};

#define DECIMAL_DIGITS_MAX 76 /* behind the point */

/* How a column is written. An annotation unfit for the physical type is ignored. */
struct value_type value_type_of(const struct schema_element *element);
/* Appends the value. Texts are escaped but not checked: if they are not UTF-8, neither is the JSON. */
void value_json(const struct value_type *type, union parquet_value value, struct buffer *out);

#endif
