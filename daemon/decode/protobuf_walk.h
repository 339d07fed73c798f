/* What becomes of a message in protobuf. Its
 * fields are called as in the .proto file, and come in its order:
 *
 *     integers                 NUMBER   exact, all 64 bits of them
 *     float, double            NUMBER   as short as it can be to be read back; one that is not finite is a NUMBER fault
 *     string                   STRING   must be UTF-8
 *     bytes                    STRING   in hex
 *     bool                     BOOL     as declared
 *     enum                     STRING   its value's name; NUMBER where the file has no name for it
 *     message, group                    its fields, as of an object in JSON
 *     google.protobuf.Timestamp NUMBER  seconds since 1970, with nine digits behind the point where it has a fraction
 *     Int32Value and its like  what it wraps
 *     map                      an object, in the order of its keys; of a key that comes twice, the last
 *     repeated                 as declared for arrays; with nothing in it, it is not there
 *
 * A field with presence (optional, oneof, messages, all of proto2) is there where the message has it. One without is
 * always there, with its default where the message has none: a sender leaves a 0 out, and it is a 0 that he measured.
 * Fields that the schema does not know, extensions among them, are left out.
 *
 * All of a message's bytes are looked at before a value is used: tags, lengths, UTF-8, depth (as of the same value in
 * JSON), and the memory that its values take. These faults are the message's. With TIDE_BAD_READING_ALONE the other
 * faults of JSON that are the reading's own are so here.
 */
#pragma once

#include "decode/decode_options.h"
#include "util/bytes.h"

G_BEGIN_DECLS

/* Which messages a topic may hold: those of a descriptor set, which protoc --include_imports --descriptor_set_out
 * writes. typedef in decode_options.h */

/**
 * tide_protobuf_schema_new: the messages of @set.
 * @message: the full name of one; with TIDE_FRAMING_CONFLUENT any message of its file may come, and NULL is the file
 * that stands last in the set, as protoc puts the one that it was called with Returns: (transfer full) (nullable): NULL
 * with TIDE_ERROR_DATA, which goes on after "'FILE': ". Threads: any may read one schema.
 */
TideProtobufSchema *tide_protobuf_schema_new(TideBytes set, const char *message, TideSchemaFraming framing,
                                             GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_protobuf_schema_free(TideProtobufSchema *schema); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideProtobufSchema, tide_protobuf_schema_free)

G_END_DECLS
