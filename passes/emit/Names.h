//===- Names.h - C++ names from the model's names -------------------------===//
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/StringMap.h"

#include <string>

namespace colrow {

/// "transformer_h_0_attn" for "transformer.h.0.attn"; never a keyword, never empty.
std::string identifier(llvm::StringRef name);

/// "layerForward" for "layer_forward".
std::string camelBack(llvm::StringRef name);

/// Names of the values of one function: those of the model, without the part that a label says
/// ("transformer.h.0"), with `d_` in front for the backward pass, and a number where one occurs
/// again.
class Names {
public:
  explicit Names(llvm::StringRef label);

  /// The model's name for a value, and that name made unique.
  std::string base(mlir::Value value) const;
  std::string nameOf(mlir::Value value) { return unique(base(value)); }
  /// The name, or the name with the lowest number that is free.
  std::string unique(const std::string &name);

private:
  std::string label;
  llvm::StringMap<unsigned> used;
};

} // namespace colrow
