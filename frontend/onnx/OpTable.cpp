//===- OpTable.cpp - all operators that are imported ----------------------===//

#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/Import.h"
#include "llvm/ADT/StringSwitch.h"

#include <fmt/format.h>

namespace colrow {

const std::vector<const OnnxOp *> &allOnnxOps() {
  static const std::vector<const OnnxOp *> all = [] {
    std::vector<const OnnxOp *> list;
    for (auto family : {activationOps(), attentionOps(), convOps(), lookupOps(), lossOps(), mathOps(), nnOps(),
                        productOps(), reduceOps(), shapeOps(), sourceOps()})
      for (const OnnxOp &op : family)
        list.push_back(&op);
    llvm::sort(list, [](const OnnxOp *a, const OnnxOp *b) { return a->name < b->name; });
    return list;
  }();
  return all;
}

const OnnxOp *findOnnxOp(llvm::StringRef name) {
  const auto &all = allOnnxOps();
  auto it = llvm::lower_bound(all, name,
                              [](const OnnxOp *op, llvm::StringRef key) { return op->name < key; });
  return it != all.end() && (*it)->name == name ? *it : nullptr;
}

std::string whyNotImported(llvm::StringRef name, int64_t opset) {
  if (const OnnxOp *op = findOnnxOp(name)) {
    if (opset >= op->since)
      return "";
    return fmt::format(
        "is an operator of opset {} and later, but the model has opset {}; export it "
        "with opset_version={}",
        op->since, opset, maxOpset);
  }
  // Those whose result's shape, or whether they run at all, depends on data.
  bool isDynamic = llvm::StringSwitch<bool>(name)
                       .Cases({"NonZero", "Loop", "If", "Scan", "Unique", "Compress"}, true)
                       .Cases({"NonMaxSuppression", "SequenceAt", "SplitToSequence"}, true)
                       .Default(false);
  if (isDynamic)
    return "depends on data at run time, which a program of static shapes cannot; export the model "
           "without the branch, loop or selection it comes from (for a language model: with a "
           "fixed "
           "attention mask or none)";
  return "is an operator that is not imported; frontend/onnx/README.md lists those that are. "
         "Export "
         "the model with another opset or attention implementation that avoids it";
}

std::string onnxOpTable() {
  std::string text = "| operator | opsets | limits |\n|---|---|---|\n";
  for (const OnnxOp *op : allOnnxOps())
    text += fmt::format("| {} | {} | {} |\n", op->name.str(),
                        op->since == maxOpset ? fmt::format("{}", maxOpset)
                                              : fmt::format("{}-{}", op->since, maxOpset),
                        op->remark.str());
  return text;
}

} // namespace colrow
