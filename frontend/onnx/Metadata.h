//===- Metadata.h - metadata_props that newer ONNX files carry ------------===//
//
// ONNX 1.16 added `metadata_props` to nodes, values and graphs. The protobuf of Debian's ONNX 1.12
// does not know them and keeps them as unknown fields, which it also writes back. This is the one
// place that reads them.
// Field numbers: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
//
//===----------------------------------------------------------------------===//
#pragma once

#include "onnx/onnx_pb.h"

#include <map>
#include <string>

namespace colrow {

using Metadata = std::map<std::string, std::string>;

Metadata nodeMetadata(const onnx::NodeProto &node);
Metadata graphMetadata(const onnx::GraphProto &graph);

} // namespace colrow
