#include "frontend/onnx/Metadata.h"

#include <google/protobuf/unknown_field_set.h>

namespace colrow {

static Metadata readProperties(const google::protobuf::Message &message, int fieldNumber) {
  Metadata result;
  const auto &unknown = message.GetReflection()->GetUnknownFields(message);
  for (int i = 0; i < unknown.field_count(); ++i) {
    const google::protobuf::UnknownField &field = unknown.field(i);
    if (field.number() != fieldNumber ||
        field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      continue;
    onnx::StringStringEntryProto entry;
    if (entry.ParseFromString(field.length_delimited()))
      result[entry.key()] = entry.value();
  }
  return result;
}

Metadata nodeMetadata(const onnx::NodeProto &node) { return readProperties(node, 9); }

Metadata graphMetadata(const onnx::GraphProto &graph) { return readProperties(graph, 16); }

} // namespace colrow
