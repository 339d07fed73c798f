#include "thrift/client/stream.h"

TideStream *
tide_stream_open(const TideEndpoint *endpoint, const TideCallLimits *limits, GError **error)
{
  return endpoint->stream->open(endpoint, limits, error);
}

void
tide_stream_free(TideStream *stream)
{
  if (stream != NULL)
    stream->kind->free(stream);
}
