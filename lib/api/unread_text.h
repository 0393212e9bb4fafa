/* Text in an event of which the API's descriptor reads none: a server or proxy putting the answer in a member of its
 * own would otherwise look as if it sent less.
 *
 *     if (!content && unread_text(&doc)) …       // {"choices":[{"delta":{"thoughts_text":…, "content":"Hi"}}]}
 */
#ifndef IPF_UNREAD_TEXT_H
#define IPF_UNREAD_TEXT_H

#include "json/jdoc.h"

/* The bytes between the quotes of the first string that is not empty and whose member has a name that APIs give to
 * generated text ("content", "delta", "reasoning_text", …); 0: there is none. Events whose `type` says they open, close
 * or repeat a part ("….added", "….done", "message_start") have none. */
size_t unread_text(const struct jdoc *doc);

#endif
