/* Finds the put among the encoded mutations of a row, as mutation_encoder.h writes them. For our own bytes. */
#pragma once

#include "thrift/wire/wire_reader.h"

G_BEGIN_DECLS

/* Moves @reader from the start of a row's TMutations to its TPut; FALSE when it has none. */
gboolean tide_mutations_enter_put(TideWireReader *reader);

G_END_DECLS
