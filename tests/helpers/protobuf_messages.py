"""Messages of protocol buffers for Google's library, from a short description instead of a .proto file:

    message_of("package", {"Pair": "name=1 string, value=2 *int64", "List": "pair=1 *Pair"})     # the class of the last; * is repeated

Ends with 77 where the library is not installed.
"""
import sys

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ImportError:
    sys.exit(77)

INTEGERS = {"int64": 3, "uint64": 4, "int32": 5, "uint32": 13, "sint32": 17, "sint64": 18, "double": 1, "string": 9,
            "fixed64": 6, "bool": 8, "bytes": 12}


def message_of(name, schema):
    file = descriptor_pb2.FileDescriptorProto(name=name + ".proto", package=name, syntax="proto2")
    for message, fields in schema.items():
        m = file.message_type.add(name=message)
        for text in fields.split(", "):
            place, kind = text.split(" ")
            field, number = place.split("=")
            f = m.field.add(name=field, number=int(number), label=3 if kind[0] == "*" else 1)
            kind = kind.lstrip("*")
            f.type = INTEGERS.get(kind, 11)
            if f.type == 11:
                f.type_name = f".{name}.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    top = pool.FindMessageTypeByName(f"{name}.{list(schema)[-1]}")
    try:
        return message_factory.GetMessageClass(top)
    except AttributeError:  # before 4.22
        return message_factory.MessageFactory(pool).GetPrototype(top)
