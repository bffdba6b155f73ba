/* ndl.h - networks described in text: CNTK's network description language.
**
**     NDLNetworkBuilder=[
**         features = Input(784)
**         h = Sigmoid(Plus(Times(Parameter(256, 784, init=fromFile, initFromFilePath=W.txt),
**                                features), Constant(0.5)), tag="output")
**     ]
**
** A name is looked at when it is needed, so statements may stand in any order and loops close
** through delays. The result is the model that CNTK's formats share. */
#ifndef EVL_READERS_NDL_NDL_H
#define EVL_READERS_NDL_NDL_H
#include "config/config.h"
#include "ir/graph.h"

/* The network of a configuration that holds NDLNetworkBuilder, into an empty graph. */
EVL_MUST_USE EvalStatus evl_ndl_read(evl_context *, const evl_config *, evl_graph *);
#endif
