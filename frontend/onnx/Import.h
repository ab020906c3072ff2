//===- Import.h - ONNX models as programs of the dialect ------------------===//
//
// What comes out: a module with one function @main on static shapes,
//
//   module attributes {colrow.model = "gpt2/model.onnx", colrow.batch = 4 : i64,
//                      colrow.sequence = 32 : i64} {
//     func.func @main(
//         %p0: tensor<503x64xf32> {colrow.role = "parameter", colrow.name =
//         "transformer.wte.weight",
//              colrow.aliases = ["lm_head.weight"], colrow.onnx = ["transformer.wte.weight"]}, ...,
//         %ids: tensor<4x32xi64> {colrow.role = "input", colrow.name = "input_ids"})
//         -> (tensor<4x32x503xf32> {colrow.role = "output", colrow.name = "logits"})
//
// Weights are arguments, never attributes; `colrow.transposed` marks one that the graph reads as
// the transpose of torch's. An active dropout site adds the input `colrow.random`, tensor<4xi64> =
// [seed, step, microbatch, active]. The location of every operation is the name of its ONNX node.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/onnx/Parameters.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/reference/Tensor.h"

#include <map>
#include <optional>
#include <string>

namespace colrow {

struct ImportOptions {
  /// The size of the first dimension of the inputs: of the symbol `batch`, or the symbol that is
  /// there.
  std::optional<int64_t> batch;
  /// The size of the second dimension of the integer inputs: of `sequence`, or what is there.
  std::optional<int64_t> sequence;
  /// Sizes of other symbols by name.
  std::map<std::string, int64_t> bindings;
  ParameterOptions parameters;
  /// Inputs of the graph that are fixed to a value and folded away.
  std::map<std::string, reference::Tensor> fixedInputs;
};

/// Imports a model file. What is wrong with file, options or graph is one error, through MLIR's
/// diagnostics, that names file and node and says what to do; decisions about parameters are
/// remarks. The dialects need not be loaded.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> importOnnx(mlir::MLIRContext &context,
                                                              const std::filesystem::path &path,
                                                              const ImportOptions &options = {});

/// The same of a model whose parameters are sorted out, for those that need the table as well.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> importOnnx(mlir::MLIRContext &context,
                                                              const OnnxModel &model,
                                                              const ParameterTable &table,
                                                              const ImportOptions &options = {});

/// Which symbol of a model's inputs the sizes `batch` and `sequence` of ImportOptions bind; empty
/// where the model's file has a number there, or no such dimension.
std::string symbolOfBatch(const std::vector<GraphInput> &inputs);
std::string symbolOfSequence(const std::vector<GraphInput> &inputs);

/// The table of operators and opsets in frontend/onnx/README.md.
std::string onnxOpTable();

} // namespace colrow
