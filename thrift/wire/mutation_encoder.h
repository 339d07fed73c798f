/* Encodes THBaseService.mutateRow: puts and deletes of one row, applied atomically. Sent for `latest: replace`,
 * tombstones and `latest --forget`. tests/unit/thrift/wire/test-mutation-encoder.c compares it with the generated code.
 *
 * A call consists of head (message, table, row, number of mutations), the mutations, and tail. */
#pragma once

#include "thrift/wire/wire_reader.h"

G_BEGIN_DECLS

/* A TMutation that puts: head, @n_cells cells encoded by put_encoder.h, then tail with the put's `_ttl` or 0. */
void tide_mutation_put_head_append(TideWireProtocol protocol, TideBuffer *out, TideBytes row, guint32 n_cells);
void tide_mutation_put_tail_append(TideWireProtocol protocol, TideBuffer *out, gint64 ttl_ms);

/* Maximum size of head and tail, without the cells. */
gsize tide_mutation_put_overhead_max(TideBytes row);

/* A TMutation that deletes everything in @families with a cell time of at most @to_ms: one marker per family. @to_ms:
 * not negative, which HBase refuses. */
void tide_mutation_delete_append(TideWireProtocol protocol, TideBuffer *out, TideBytes row, const TideBytes *families,
                                 gsize n_families, gint64 to_ms);

/* Maximum size of the bytes appended. */
gsize tide_mutation_delete_size_max(TideBytes row, const TideBytes *families, gsize n_families);

/* The same in pieces: head, @n_families families, tail. */
void tide_mutation_delete_head_append(TideWireProtocol protocol, TideBuffer *out, TideBytes row, guint32 n_families);
void tide_mutation_delete_family_append(TideWireProtocol protocol, TideBuffer *out, TideBytes family, gint64 to_ms);
void tide_mutation_delete_tail_append(TideWireProtocol protocol, TideBuffer *out);

/* Offset of the row key in a delete, from the mutation's first byte. */
gsize tide_mutation_delete_key_offset(TideWireProtocol protocol, gsize key_len);

void tide_mutate_row_head_append(TideWireProtocol protocol, TideBuffer *out, gint32 sequence_id, TideBytes table,
                                 TideBytes row, guint32 n_mutations);
void tide_mutate_row_tail_append(TideWireProtocol protocol, TideBuffer *out);

/* Moves @reader, which reads mutations written by this file, into the first TPut; FALSE when there is none. */
gboolean tide_mutations_enter_put(TideWireReader *reader);

G_END_DECLS
