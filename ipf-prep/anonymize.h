/* ipf-prep anonymize: makes a shareable trace of a recorded one, see ipf-prep-anonymize(1). */
#ifndef PREP_ANONYMIZE_H
#define PREP_ANONYMIZE_H

/* argv[0] is "anonymize". Returns the exit status of the program. */
int anonymize_main(int argc, char **argv);

#endif
