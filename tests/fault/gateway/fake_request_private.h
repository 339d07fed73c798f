/* What the files that read the calls of THBaseService share. */
#pragma once

#include "fault/gateway/fake_service.h"

G_BEGIN_DECLS

static inline gboolean
fake_field_is(const TideFakeField *field, gint16 id, TideFakeType type)
{
  return field->id == id && field->type == type;
}

/* The number of structs in the list that @reader stands at; 0 when it is none. */
guint32 fake_request_read_struct_list(TideFakeReader *reader);

/* Arguments of calls about tables and namespaces: fake_request_tables.c. */
const char *fake_request_read_table_name(TideFakeReader *reader);
const char *fake_request_read_namespace(TideFakeReader *reader);
void fake_request_read_table_spec(TideFakeRequest *request, TideFakeReader *reader);
void fake_request_read_splits(TideFakeRequest *request, TideFakeReader *reader);

/* Measured: a framed gateway takes the whole frame for each table attribute's name and value. */
void fake_request_spoil_attributes(TideFakeTableSpec *spec, TideBytes frame);

G_END_DECLS
