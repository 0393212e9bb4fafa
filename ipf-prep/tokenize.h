/* ipf-prep tokenize: a filter that turns texts into token ids, and token ids into texts. */
#ifndef PREP_TOKENIZE_H
#define PREP_TOKENIZE_H

/* argv[0] is "tokenize". Returns the exit status of the program. */
int tokenize_main(int argc, char **argv);

#endif
