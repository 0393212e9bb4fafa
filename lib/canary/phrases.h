/* The fixed texts of prompts: canary_make() writes them and canary_solve() recognises them. */
#ifndef IPF_CANARY_PHRASES_H
#define IPF_CANARY_PHRASES_H

#define COPY_BEGIN "Repeat this code exactly and write nothing else: "

#define RECALL_BEGIN    "Here is a list of codes.\n\n"
#define RECALL_LINE     "The code of " /* NAME is CODE */
#define RECALL_IS       " is "
#define RECALL_QUESTION "\nWrite the code of "
#define RECALL_END      " and nothing else."

#define ARITHMETIC_BEGIN "Compute "
#define ARITHMETIC_END   ". Write only the number."

#define JSON_BEGIN "Write a JSON object on one line, without a code fence and with nothing else. Its members are: "
#define JSON_AND   "; "

#define LIST_BEGIN "Write these items on one line, in this order, with a comma between them and nothing else:\n\n"

#define COMPLETION_BEGIN "Q: "
#define COMPLETION_END   "\nA:"
#define COMPLETION_NEXT  "\n\n" /* between the example and the task */

/* Names are two of these words, so 4096 names exist. */
enum { CANARY_WORDS = 64 };
extern const char *const canary_first_words[CANARY_WORDS], *const canary_second_words[CANARY_WORDS];

#endif
