/* Only in the library: it must not remember for good that memory ran out, as programs do (memory.h), since the process
 * goes on. A flag for each thread does, which every function that can fail clears when it begins. */
#ifndef IPF_LIBRARY_H
#define IPF_LIBRARY_H

/* To be called first. */
void library_begin(void);

#endif
