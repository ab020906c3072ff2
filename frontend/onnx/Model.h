//===- Model.h - an ONNX model file, loaded and checked -------------------===//
//
// What holds for an OnnxModel: the graph is not empty, every value has one definition that comes
// before its uses, every node is of a standard operator, the opset is one we know, and the data of
// every initializer fits its type and shape. Shapes of other values are not looked at.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/onnx/Weights.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace colrow {

/// Opsets of the default domain that are read.
constexpr int64_t minOpset = 11, maxOpset = 23;

/// One dimension of a graph input: a number, or a symbol to be bound.
struct InputDim {
  std::string symbol; ///< `batch`; `input_ids.0` where the file leaves the dimension unnamed
  int64_t size = 0;   ///< if `symbol` is empty
};

/// An input of the graph that is no initializer.
struct GraphInput {
  std::string name;
  int32_t dtype = 0; ///< onnx::TensorProto_DataType
  std::vector<InputDim> dims;
};

/// An input with numbers only.
struct BoundInput {
  std::string name;
  int32_t dtype = 0;
  std::vector<int64_t> shape;
};

/// `node '/h.0/Add' (Add)`; without a name `node 17 (Add), which computes 'x'`.
std::string describeNode(const onnx::NodeProto &node, int index);

class OnnxModel {
public:
  /// Reads and checks a model file. Weights are not read; external files that do not exist are
  /// accepted (Storage::Absent). Throws Error with one message naming file, node or tensor.
  static OnnxModel load(const std::filesystem::path &path);

  const std::filesystem::path &path() const { return file; }
  const onnx::ModelProto &proto() const { return *model; }
  const onnx::GraphProto &graph() const { return model->graph(); }
  int64_t opset() const { return opsetVersion; }

  const std::vector<GraphInput> &inputs() const { return graphInputs; }

  /// Initializers in the order of the file.
  const std::vector<TensorInfo> &initializers() const { return tensors; }
  /// Null if there is no such initializer. The name is that of the file.
  const TensorInfo *findInitializer(const std::string &name) const;

  /// Symbols of the inputs' dimensions in order of appearance.
  std::vector<std::string> symbols() const;

  /// The inputs with every symbol replaced by its number. Throws Error listing all symbols that
  /// have none and the option that gives them, or naming a symbol that no input has.
  std::vector<BoundInput> bindSymbols(const std::map<std::string, int64_t> &values) const;

private:
  OnnxModel() = default;

  std::filesystem::path file;
  std::shared_ptr<onnx::ModelProto> model; // shared: TensorInfo points into it
  int64_t opsetVersion = 0;
  std::vector<GraphInput> graphInputs;
  std::vector<TensorInfo> tensors;
  std::map<std::string, size_t> tensorIndex;
};

/// Checks the names of a graph: no duplicates, every value defined before it is used, outputs
/// defined, no cycle. Throws Error naming `file`, node and value.
void checkGraph(const onnx::GraphProto &graph, const std::string &file);

} // namespace colrow
