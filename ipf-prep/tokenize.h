/* ipf-prep tokenize: a filter that turns texts into token ids and back. */
#ifndef PREP_TOKENIZE_H
#define PREP_TOKENIZE_H

/* argv[0] is "tokenize". Returns the exit status. */
int tokenize_main(int argc, char **argv);

#endif
