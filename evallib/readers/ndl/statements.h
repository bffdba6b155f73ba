/* statements.h - a description's statements, by name. */
#ifndef EVL_READERS_NDL_STATEMENTS_H
#define EVL_READERS_NDL_STATEMENTS_H
#include "readers/ndl/network.h"

evl_ndl_scope *evl_ndl_scope_new(evl_ndl_network *, evl_ndl_scope *outer, const char *prefix);
/* Keeps what they say, and macros apart; the last one, NULL when there is none. */
evl_ndl_symbol *evl_ndl_add_statements(evl_ndl_network *, evl_ndl_scope *, evl_span body);
void evl_ndl_add_to_group(evl_ndl_network *, int group, evl_cntk_node *);
#endif
