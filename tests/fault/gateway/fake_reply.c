/* The forms of a reply. */
#include "fault/gateway/fake_service_private.h"

static void
begin_struct(TideFakeWriter *writer, const TideFakeRequest *request)
{
  fake_writer_message_begin(writer, request->name, TIDE_FAKE_REPLY, request->sequence_id);
  fake_writer_struct_begin(writer);
}

static void
end_struct(TideFakeWriter *writer)
{
  fake_writer_struct_end(writer);
  fake_writer_message_end(writer);
}

void
fake_reply_begin(TideAnswer *answer)
{
  begin_struct(answer->writer, answer->request);
}

void
fake_reply_end(TideAnswer *answer)
{
  end_struct(answer->writer);
}

void
fake_reply_bool(TideAnswer *answer, gboolean value)
{
  fake_reply_begin(answer);
  fake_writer_bool_field(answer->writer, 0, value);
  fake_reply_end(answer);
}

void
fake_reply_i32(TideAnswer *answer, gint32 value)
{
  fake_reply_begin(answer);
  fake_writer_i32_field(answer->writer, 0, value);
  fake_reply_end(answer);
}

void
fake_reply_nothing(TideAnswer *answer)
{
  fake_reply_begin(answer);
  fake_reply_end(answer);
}

void
fake_service_write_io_error(TideFakeWriter *writer, const TideFakeRequest *request, const char *message,
                            TideFaultCanRetry can_retry)
{
  begin_struct(writer, request);
  fake_writer_struct_field(writer, 1);
  fake_writer_struct_begin(writer);
  fake_writer_string_field(writer, 1, message);
  if (can_retry != TIDE_CAN_RETRY_ABSENT)
    fake_writer_bool_field(writer, 2, can_retry == TIDE_CAN_RETRY_YES);
  fake_writer_struct_end(writer);
  end_struct(writer);
}

void
fake_service_write_application_error(TideFakeWriter *writer, const TideFakeRequest *request, gint32 type,
                                     const char *message)
{
  fake_writer_message_begin(writer, request->name, TIDE_FAKE_EXCEPTION, request->sequence_id);
  fake_writer_struct_begin(writer);
  fake_writer_string_field(writer, 1, message);
  fake_writer_i32_field(writer, 2, type);
  fake_writer_struct_end(writer);
  fake_writer_message_end(writer);
}

void
fake_reply_argument_error(TideAnswer *answer, const char *message)
{
  fake_reply_begin(answer);
  fake_writer_struct_field(answer->writer, 2);
  fake_writer_struct_begin(answer->writer);
  fake_writer_string_field(answer->writer, 1, message);
  fake_writer_struct_end(answer->writer);
  fake_reply_end(answer);
}

void
fake_reply_error(TideAnswer *answer, const TideFakeError *error)
{
  TideFaultCanRetry can_retry = error->can_retry ? TIDE_CAN_RETRY_YES : TIDE_CAN_RETRY_NO;
  switch (error->kind) {
  case TIDE_FAKE_ERROR_IO:
    fake_service_write_io_error(answer->writer, answer->request, error->message,
                                answer->has_can_retry ? can_retry : TIDE_CAN_RETRY_ABSENT);
    return;
  case TIDE_FAKE_ERROR_ARGUMENT:
    fake_reply_argument_error(answer, error->message);
    return;
  case TIDE_FAKE_ERROR_INTERNAL:
    fake_service_write_application_error(answer->writer, answer->request, TIDE_APPLICATION_INTERNAL_ERROR,
                                         error->message);
    return;
  case TIDE_FAKE_ERROR_NONE:
    break;
  }
  g_assert_not_reached();
}

void
fake_reply_done(TideAnswer *answer, gboolean ok, const TideFakeError *error)
{
  if (ok)
    fake_reply_nothing(answer);
  else
    fake_reply_error(answer, error);
}

void
fake_reply_unknown_method(TideAnswer *answer)
{
  g_autofree char *message = g_strdup_printf("Invalid method name: '%s'", answer->request->name);
  fake_service_write_application_error(answer->writer, answer->request, TIDE_APPLICATION_UNKNOWN_METHOD, message);
}
