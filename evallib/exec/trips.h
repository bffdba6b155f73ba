/* trips.h - a body that runs trip after trip: what Loop and Scan have in common.
**
** What is carried lies in rooms[i].value, i being the body's input. Each such value has two
** rooms, one for what a trip reads and one for what it writes; they change places. A room
** of a gathered output holds its texts and, as its value, what a frame is. */
#ifndef EVL_EXEC_TRIPS_H
#define EVL_EXEC_TRIPS_H
#include "exec/body.h"
#include "ops/loop.h"

typedef struct evl_trips {
    evl_session *s, *child;
    const evl_step *step;
    const evl_body *body;
    evl_room *in, *out; /* by the body's inputs and outputs */
    evl_loop loop;
} evl_trips;

EVL_MUST_USE EvalStatus evl_trips_begin(evl_session *, evl_context *, size_t i, evl_trips *);

/* Of all that is carried: given to the next trip; taken from the one that ran. */
EVL_MUST_USE EvalStatus evl_carry_in(evl_trips *, evl_context *);
EVL_MUST_USE EvalStatus evl_carry_out(evl_trips *, evl_context *);

/* The slot that output `output` of the body goes to; EVL_NO_SLOT: nobody wants it. */
evl_slot_index evl_trips_slot(const evl_trips *, size_t output);

/* Gathered outputs are arrays of `n_frames` frames, each in `outer` runs of `bytes`. */
typedef struct evl_frames {
    char *data;
    size_t outer, bytes, n_frames;
} evl_frames;

/* Is the frame that output `output` gave like those before it? The first says what they are. */
EVL_MUST_USE EvalStatus evl_frame_check(evl_trips *, evl_context *, size_t output);
/* What a frame is when there was none: sizes that are not known are 0. */
evl_tensor evl_frame_planned(const evl_trips *, size_t output);
/* The result of output `output` becomes frame `index`. */
EVL_MUST_USE EvalStatus evl_frame_put(evl_trips *, evl_context *, size_t output,
                                      const evl_frames *, size_t index);
#endif
