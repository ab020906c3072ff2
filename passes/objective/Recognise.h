//===- Recognise.h - what a graph says about its training -----------------===//
#pragma once

#include "dialect/Colrow.h"

#include <optional>

namespace colrow {

constexpr int64_t ignoreLabel = -100; // PyTorch's

/// The cross entropy that a scalar is, or null.
CrossEntropyOp crossEntropyOf(mlir::Value value);

/// The input that a loss takes its labels from.
struct LabelsOf {
  enum Rule { unchanged, shifted } rule = unchanged; ///< shifted left by one, the last one ignored
  mlir::BlockArgument input;
  bool isReadElsewhere = false; ///< by more than the loss, such as a decoder that is fed with them
};

/// By value: the operations between labels and loss are executed on their own positions. Nothing
/// where the loss is no mean over labels that are such an input.
std::optional<LabelsOf> recogniseLabels(CrossEntropyOp loss);

/// What logits of this type are for: causal_lm, masked_lm, seq2seq or classification.
llvm::StringRef kindOfModel(mlir::func::FuncOp function, mlir::RankedTensorType logits);

} // namespace colrow
