/* Turns a reading into the row it makes in one table. One mapper for each thread and table: it owns the columns seen. */
#pragma once

#include "model/reject.h"
#include "model/row.h"
#include "model/table.h"

G_BEGIN_DECLS

/* Columns cached for each mapper; one that is met beyond this is encoded anew each time, so a sender that invents names
 * costs speed, not memory. */
#define TIDE_MAPPER_MAX_COLUMNS 65536u

typedef struct TideTableMapper TideTableMapper;

typedef struct TideMapperLimits {
  guint32 max_cell_bytes; /* hbase.max_cell_bytes: above it HBase's client refuses a cell, as it counts one: row key,
                           * family, qualifier, value and 20 bytes more (hbase.client.keyvalue.maxsize, 10 MB) */
  guint32 max_row_bytes;  /* encoded size of one row at the most: it must fit a call */
} TideMapperLimits;

/* Which fields make cells: those that a rule names, always; and for a rule "*" all others, but for the fields that stand in
 * the table's key and @time_field (unless with_key_fields: see tide_table_key_fields()) and for what the record offers
 * ("$key", ...: tide_field_name_is_of_record()). A field that is in several rules makes several cells.
 * @table, @names: borrowed for the mapper's life; @names is the thread's own copy.
 * @time_field: the field of the event time, or TIDE_NAME_NONE. */
TideTableMapper *tide_table_mapper_new(const TideTable *table, const TideFieldNames *names, TideNameId time_field,
                                       TideWireProtocol protocol, TideMapperLimits limits);
void tide_table_mapper_free(TideTableMapper *mapper);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideTableMapper, tide_table_mapper_free)

/**
 * tide_table_mapper_map: the row of @reading.
 * @scratch: where keys (and anything that must be copied) are appended; the row points into it only by offset until the
 *     caller is done appending: see ret_key_offset
 * @cells: (element-type TideCell) cells are appended; the row's are the last @ret_row->n_cells
 * @ret_row: key and cells are left unset: the caller resolves them once all rows of the message are mapped, from
 *     @ret_key_offset and the order of cells
 * Returns: FALSE with @ret_reject filled, @scratch and @cells as they were: the whole message is rejected by the caller.
 *     Beside what the key rejects: a row without any cell as NO_CELLS, a cell or a row above the limits as CELL_TOO_LARGE
 *     or TOO_LARGE, a null as TYPE where the rule says so, a field with an empty name that "*" would write as BAD_COLUMN, and
 *     two fields that fall on one column (by renaming) as DUPLICATE_FIELD.
 * Allocates: when a field is met for the first time, and to grow @scratch and @cells.
 */
gboolean tide_table_mapper_map(TideTableMapper *mapper, const TideReading *reading, TideBuffer *scratch, GArray *cells,
                               TideRow *ret_row, gsize *ret_key_offset, gsize *ret_key_len, TideReject *ret_reject)
    G_GNUC_WARN_UNUSED_RESULT;

/* Forgets columns that were not cached; call once a message, before the first map. */
void tide_table_mapper_begin_message(TideTableMapper *mapper);

G_END_DECLS
