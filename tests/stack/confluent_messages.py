"""Writes messages with Confluent's serializers, which register their schemas; run by the interpreter that has them.

    confluent_messages.py < ORDER > MESSAGES

ORDER is a JSON object: the registry's url, a topic, and values, with `avro`, the schema, and its `references`, with `json`, a
JSON Schema, or with `protobuf`, the files (FileDescriptorProto as JSON) that the `message` is of, each behind those that it
imports. MESSAGES are a line in hex for each value. For protobuf, `descriptor_set` names a file that gets the files as protoc writes them.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Callable

from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from google.protobuf import timestamp_pb2

Serialize = Callable[[Any, SerializationContext], bytes]


def avro(order: dict[str, Any], client: SchemaRegistryClient) -> Serialize:
    references = [SchemaReference(**reference) for reference in order.get("references", ())]
    serializer: Serialize = AvroSerializer(client, Schema(json.dumps(order["avro"]), "AVRO", references))
    return serializer


def json_schema(order: dict[str, Any], client: SchemaRegistryClient) -> Serialize:
    serializer: Serialize = JSONSerializer(json.dumps(order["json"]), client)
    return serializer


def protobuf(order: dict[str, Any], client: SchemaRegistryClient) -> Serialize:
    files = descriptor_pb2.FileDescriptorSet()
    files.file.add().ParseFromString(timestamp_pb2.DESCRIPTOR.serialized_pb)
    files.file.extend(json_format.ParseDict(file, descriptor_pb2.FileDescriptorProto()) for file in order["protobuf"])
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    if "descriptor_set" in order:
        with open(order["descriptor_set"], "wb") as out:
            out.write(files.SerializeToString())
    kind = message_factory.GetMessageClass(pool.FindMessageTypeByName(order["message"]))
    serializer = ProtobufSerializer(kind, client, {"use.deprecated.format": False})
    return lambda value, context: serializer(json_format.ParseDict(value, kind()), context)


def main() -> None:
    order = json.load(sys.stdin)
    client = SchemaRegistryClient({"url": order["registry"]})
    serialize = (avro if "avro" in order else json_schema if "json" in order else protobuf)(order, client)
    context = SerializationContext(order["topic"], MessageField.VALUE)
    for value in order["values"]:
        print(serialize(value, context).hex())


if __name__ == "__main__":
    main()
