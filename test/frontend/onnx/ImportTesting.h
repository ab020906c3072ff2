//===- ImportTesting.h - running imported models
//----------------------------------------------------===//
#pragma once

#include "colrow/Error.h"
#include "colrow/Safetensors.h"
#include "frontend/onnx/Import.h"
#include "frontend/onnx/OnnxNode.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "passes/raise/Passes.h"
#include "runtime/reference/Interpreter.h"

#include <gtest/gtest.h>

namespace colrow::testing {

using NamedTensors = std::map<std::string, reference::Tensor>;

/// A context that collects what is reported.
struct TestContext {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::vector<std::string> errors, remarks;

  TestContext() {
    context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
      auto severity = diagnostic.getSeverity();
      if (severity == mlir::DiagnosticSeverity::Error)
        errors.push_back(diagnostic.str());
      if (severity == mlir::DiagnosticSeverity::Remark)
        remarks.push_back(diagnostic.str());
      return mlir::success();
    });
  }
  std::string firstError() const { return errors.empty() ? "" : errors.front(); }
};

/// The initial values of all parameters, by the names that @main has for them.
inline NamedTensors parameterValues(const OnnxModel &model, const ParameterTable &table) {
  NamedTensors values;
  for (const Parameter &parameter : table.parameters) {
    std::vector<float> data = initialData(model, parameter);
    values[parameter.name] =
        reference::Tensor::floats(parameter.valueShape(), {data.begin(), data.end()});
  }
  return values;
}

/// Replaces big operations by primitive ones, and numbers by those they were rounded from.
inline void decompose(mlir::ModuleOp module) {
  mlir::PassManager passes(module.getContext());
  passes.addPass(createWidenConstants());
  passes.addPass(createDecompose());
  ASSERT_TRUE(succeeded(passes.run(module)));
}

inline reference::Tensor doublesOf(const SafetensorsFile &file, const std::string &name) {
  const TensorEntry &entry = file.get(name);
  return reference::Tensor::floats(entry.shape, file.readDoubles(entry));
}
inline reference::Tensor integersOf(const SafetensorsFile &file, const std::string &name,
                                    int64_t batch) {
  const TensorEntry &entry = file.get(name);
  std::vector<int64_t> shape(entry.shape.begin() + 1, entry.shape.end());
  int64_t size = reference::elementCount(shape);
  return reference::Tensor::integers(shape, file.readIntegers(entry, batch * size, size));
}

} // namespace colrow::testing
