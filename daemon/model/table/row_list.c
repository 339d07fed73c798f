#include "model/table/row_list.h"

void
tide_row_list_init(TideRowList *list)
{
  *list = (TideRowList){.computed = g_array_new(FALSE, FALSE, sizeof(TideComputedValue)),
                        .rows = g_array_new(FALSE, FALSE, sizeof(TideRow)),
                        .spans = g_array_new(FALSE, FALSE, sizeof(TideRowSpan))};
}

void
tide_row_list_clear(TideRowList *list)
{
  tide_buffer_clear_memory(&list->bytes);
  tide_buffer_clear_memory(&list->cells);
  tide_buffer_clear_memory(&list->encoded);
  g_clear_pointer(&list->computed, g_array_unref);
  g_clear_pointer(&list->rows, g_array_unref);
  g_clear_pointer(&list->spans, g_array_unref);
}

void
tide_row_list_reset(TideRowList *list)
{
  tide_buffer_reset(&list->bytes);
  tide_buffer_reset(&list->cells);
  tide_buffer_reset(&list->encoded);
  list->uniform.columns = NULL;
  g_array_set_size(list->computed, 0);
  g_array_set_size(list->rows, 0);
  g_array_set_size(list->spans, 0);
}

void
tide_row_list_return(TideRowList *list, TideRowListMark mark)
{
  list->bytes.len = mark.bytes_len;
  list->cells.len = mark.n_cells * sizeof(TideCell);
  list->encoded.len = mark.encoded_len;
  list->uniform.columns = NULL;
  g_array_set_size(list->computed, mark.n_computed);
}

void
tide_row_list_return_rows(TideRowList *list, guint n_rows, TideRowListMark mark)
{
  tide_row_list_return(list, mark);
  g_array_set_size(list->rows, n_rows);
  g_array_set_size(list->spans, n_rows);
}

void
tide_row_list_resolve(TideRowList *list)
{
  TideCell *cells = (TideCell *)(gpointer)list->cells.data;
  for (guint i = 0; i < list->computed->len; i++) {
    const TideComputedValue *computed = &g_array_index(list->computed, TideComputedValue, i);
    cells[computed->cell].value.data = list->bytes.data + computed->offset;
  }
  for (guint i = 0; i < list->rows->len; i++) {
    TideRow *row = tide_row_list_row(list, i);
    const TideRowSpan *span = &g_array_index(list->spans, TideRowSpan, i);
    row->key = tide_bytes(list->bytes.data + span->key_offset, span->key_len);
    if (span->name_len > 0)
      row->table_name = tide_bytes(list->bytes.data + span->name_offset, span->name_len);
    row->cells = cells + span->first_cell;
    if (row->columns_id != 0)
      row->encoded = tide_bytes(list->encoded.data + span->encoded_offset, span->encoded_len);
  }
}
