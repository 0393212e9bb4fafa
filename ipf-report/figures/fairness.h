/* How equally groups of requests were served. */
#ifndef REPORT_FAIRNESS_H
#define REPORT_FAIRNESS_H

struct figures;

struct fairness {
	double goodput, output_tokens; /* Jain's index; NAN: not known */
	int groups;                    /* of which they are; 0: none is known */
};

/* Of the shares of good requests of the groups, and of their output tokens per started request. */
struct fairness fairness_of(const struct figures *groups, int count);

#endif
