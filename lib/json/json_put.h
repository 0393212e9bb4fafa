/* Members of JSON for people and programs: a figure that does not exist is omitted.
 *
 *     json_put(json, "mean", f->mean);             // none if it is NAN
 *     json_put_object(json, "input", input_json);  // an object or a list: none if it is empty; takes it over
 */
#ifndef IPF_JSON_PUT_H
#define IPF_JSON_PUT_H

#include <jansson.h>
#include <stdint.h>

json_t *json_figure(double value); /* with at most six decimals; "inf" */
void json_put(json_t *to, const char *name, double value);
void json_put_exact(json_t *to, const char *name, double value); /* with 15 digits: prices of a token are small */
void json_put_count(json_t *to, const char *name, int64_t value);
void json_put_text(json_t *to, const char *name, const char *text); /* none if it is NULL or empty */
void json_put_object(json_t *to, const char *name, json_t *value);

#endif
