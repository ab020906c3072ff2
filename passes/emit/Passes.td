//===- Passes.td - phase emit ----------------------------------*- tablegen -*-===//

include "mlir/Pass/PassBase.td"

def EmitCpp : Pass<"colrow-emit-cpp", "::mlir::ModuleOp"> {
  let summary = "prints the C++ of a localized program (passes/emit/Emit.h)";
  let description = [{
    Prints one file of the program: `step` (the functions), `model` (parameters, inputs, grid),
    `constants` or `manifest`. `colrow compile` writes them all into a folder that builds.

    Before:

    ```mlir
    func.func @evaluate(
        %x: tensor<8x4xf32> {colrow.role = "input", colrow.name = "x"},
        %w: tensor<4x4xf32> {colrow.role = "parameter", colrow.name = "h.weight"})
        -> (tensor<8x4xf32> {colrow.role = "output", colrow.name = "y"}) {
      %0 = colrow.einsum "ti,io->to" %x, %w
          : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      %1 = colrow.tanh %0 : (tensor<8x4xf32>) -> tensor<8x4xf32>
      return %1 : tensor<8x4xf32>
    }
    ```

    After, in a class:

    ```
    double evaluate(const StepScalars &step) override {
    load(step);
    float *x = in<float>(0); // [8, 4]
    float *h_weight = p(0); // [4, 4]
    float *einsum_ = outputs.at<float>(0); // [8, 4]
    einsum(ctx, "ti,io->to", {x, {8, 4}}, {h_weight, {4, 4}}, {einsum_, {8, 4}});
    for (int64_t i = 0; i < 32; ++i)
    tanh[i] = math::tanh(einsum_[i]);
    ```
  }];
  let options = [
    Option<"file", "file", "std::string", "\"step\"", "which file to print">,
    Option<"folder", "folder", "std::string", "\"\"", "write a trainer's whole folder instead">,
    Option<"build", "build", "bool", "false", "and build it">
  ];
}
