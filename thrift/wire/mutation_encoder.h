/* Writes THBaseService.mutateRow: puts and deletes of one row, applied as one. What latest: replace, tombstones and
 * `latest --forget` send. tests/unit/thrift/wire/test-mutation-encoder.c holds it equal to the generated code.
 *
 * A call is: head (message, table, row, number of mutations), the mutations, tail. */
#pragma once

#include "thrift/wire/wire_reader.h"

G_BEGIN_DECLS

/* A TMutation that puts: head, then @n_cells cells as put_encoder.h writes them, then tail with the put's `_ttl` or 0.
 */
void tide_mutation_put_head_append(TideWireProtocol protocol, TideBuffer *out, TideBytes row, guint32 n_cells);
void tide_mutation_put_tail_append(TideWireProtocol protocol, TideBuffer *out, gint64 ttl_ms);

/* The bytes that head and tail take at the most, without the cells. */
gsize tide_mutation_put_overhead_max(TideBytes row);

/* A TMutation that deletes everything in @families with a cell time of at most @to_ms: one marker for each family.
 * @to_ms: not negative, which HBase refuses. */
void tide_mutation_delete_append(TideWireProtocol protocol, TideBuffer *out, TideBytes row, const TideBytes *families,
                                 gsize n_families, gint64 to_ms);

/* The bytes that it writes at the most. */
gsize tide_mutation_delete_size_max(TideBytes row, const TideBytes *families, gsize n_families);

/* The same in pieces: head, @n_families families, tail. */
void tide_mutation_delete_head_append(TideWireProtocol protocol, TideBuffer *out, TideBytes row, guint32 n_families);
void tide_mutation_delete_family_append(TideWireProtocol protocol, TideBuffer *out, TideBytes family, gint64 to_ms);
void tide_mutation_delete_tail_append(TideWireProtocol protocol, TideBuffer *out);

/* Where the row key begins in a delete, from the mutation's first byte. */
gsize tide_mutation_delete_key_offset(TideWireProtocol protocol, gsize key_len);

void tide_mutate_row_head_append(TideWireProtocol protocol, TideBuffer *out, gint32 sequence_id, TideBytes table,
                                 TideBytes row, guint32 n_mutations);
void tide_mutate_row_tail_append(TideWireProtocol protocol, TideBuffer *out);

/* Moves @reader, which is over mutations written by this file, into the first TPut; FALSE when there is none. */
gboolean tide_mutations_enter_put(TideWireReader *reader);

G_END_DECLS
