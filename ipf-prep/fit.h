/* ipf-prep fit [SOURCE] FILE…: learns a model of recorded traffic, from which ipf-prep synthetic --like makes more. */
#ifndef PREP_FIT_H
#define PREP_FIT_H

/* A program within ipf-prep: parses its options, writes the model, and returns the exit status. argv[0] is "fit". */
int fit_main(int argc, char **argv);

#endif
