#include "thrift/wire/mutation_reader.h"

gboolean
tide_mutations_enter_put(TideWireReader *reader)
{
  while (reader->offset < reader->len) {
    TideWireField field = {0};
    while (tide_wire_read_field(reader, &field)) {
      if (field.id == 1)
        return TRUE;
      tide_wire_skip(reader, field.type);
    }
  }
  return FALSE;
}
