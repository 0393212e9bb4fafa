/* ipf-prep stat TRACE: describes a trace before it is replayed. */
#ifndef PREP_TRACE_STAT_H
#define PREP_TRACE_STAT_H

/* A program within ipf-prep: parses its options, prints, and returns the exit status. argv[0] is "stat". */
int trace_stat_main(int argc, char **argv);

#endif
