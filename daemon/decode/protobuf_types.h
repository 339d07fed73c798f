/* What libprotobuf makes of a descriptor set, between the two files that include libprotobuf. C++. */
#pragma once

#include "decode/decode_options.h"

#include <google/protobuf/descriptor.h>

struct TideProtobufSchema {
  google::protobuf::DescriptorPool pool;
  TideSchemaFraming framing;
  const google::protobuf::FileDescriptor *file; /* whose messages are meant */
  const google::protobuf::Descriptor *message;  /* NULL: the frame says which */
  bool has_required;                            /* some message has a field that must be there */
  gsize n_types;                                /* messages, of all files, those inside of others too */
};
