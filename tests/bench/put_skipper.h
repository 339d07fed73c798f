/* Finds the ends of putMultiple calls in a stream of Thrift bytes, as fast as possible and without keeping anything,
 * for the null gateway. Other calls are left to the caller, whole. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

typedef enum TideSkipEvent {
  TIDE_SKIP_NEED_MORE, /* all that could be was consumed: append bytes and go on */
  TIDE_SKIP_PUTS,      /* a putMultiple has ended */
  TIDE_SKIP_OTHER,     /* another call is whole */
  TIDE_SKIP_BROKEN,    /* these bytes are no call */
} TideSkipEvent;

typedef enum TideSkipState { TIDE_SKIP_HEAD, TIDE_SKIP_ROWS, TIDE_SKIP_TAIL, TIDE_SKIP_FRAME } TideSkipState;

typedef struct TidePutSkipper {
  gboolean framed; /* set once */
  gboolean compact;

  TideSkipState state;
  gint32 sequence_id; /* of the call under way, or just ended */
  guint64 rows_left;
  gsize frame_left; /* the frame's bytes that are not looked at */
  guint64 n_rows;   /* in all calls so far */
  guint64 n_calls;  /* putMultiple calls */
} TidePutSkipper;

/**
 * tide_put_skipper_step: go on over @input.
 * @ret_consumed: bytes of @input that will not be asked for again; set whatever is returned
 * @ret_call: with TIDE_SKIP_OTHER: the call's bytes in @input, without a frame's head
 */
TideSkipEvent tide_put_skipper_step(TidePutSkipper *skipper, TideBytes input, gsize *ret_consumed, TideBytes *ret_call);

G_END_DECLS
