/* How equally groups of requests were served. */
#ifndef REPORT_FAIRNESS_H
#define REPORT_FAIRNESS_H

struct figures;

struct fairness {
	double goodput, output_tokens; /* Jain's index; NAN: not known */
	int groups;                    /* their number; 0: none is known */
};

/* Computed from the groups' shares of good requests, and their output tokens per started request. */
struct fairness fairness_of(const struct figures *groups, int count);

#endif
