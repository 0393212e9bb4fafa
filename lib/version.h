/* The version of ipf. It is written nowhere else: the programs print it, and the Makefile reads it for `make dist`. */
#ifndef IPF_VERSION_H
#define IPF_VERSION_H

#define IPF_VERSION "0.1.0"

#endif
