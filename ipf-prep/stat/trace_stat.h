/* ipf-prep stat TRACE: what one wants to know of a trace before it is replayed. */
#ifndef PREP_STAT_H
#define PREP_STAT_H

/* A program of its own within ipf-prep: parses its options, prints, and returns the exit status. argv[0] is "stat". */
int trace_stat_main(int argc, char **argv);

#endif
