/* number.h - the type of an operator's parameters, whatever its elements are. */
#ifndef EVL_BASE_NUMBER_H
#define EVL_BASE_NUMBER_H
typedef double evl_number;
#endif
