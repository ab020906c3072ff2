//===- Passes.td - phase differentiate -------------------------*- tablegen -*-===//

include "mlir/Pass/PassBase.td"

def Evaluate : Pass<"colrow-evaluate", "::mlir::ModuleOp"> {
  let summary = "@main's outputs move to a function of their own, @evaluate";
  let description = [{
    Needs `@main` with exactly one result of role `loss`, a scalar. `@evaluate(parameters, inputs) ->
    (loss, outputs)` is a copy of it in evaluation form: without dropout
    (`EvaluationFormOpInterface`), and without inputs that only training reads. `@main` keeps the
    loss alone, so that what training does not need is not computed there. Keeps layouts.

    Before:

    ```mlir
    func.func @main(%w: tensor<4xf32> {colrow.role = "parameter", colrow.name = "w"},
                    %x: tensor<4xf32> {colrow.role = "input", colrow.name = "x"})
        -> (tensor<4xf32> {colrow.role = "output", colrow.name = "y"},
            tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
      %0 = colrow.mul %w, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %1 = colrow.reduce_sum %0 over [0] : (tensor<4xf32>) -> tensor<f32>
      return %0, %1 : tensor<4xf32>, tensor<f32>
    }
    ```

    After:

    ```mlir
    func.func @main(%w: tensor<4xf32> {colrow.name = "w", colrow.role = "parameter"},
                    %x: tensor<4xf32> {colrow.name = "x", colrow.role = "input"})
        -> (tensor<f32> {colrow.name = "loss", colrow.role = "loss"}) {
      %0 = colrow.mul %w, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %1 = colrow.reduce_sum %0 over [0] : (tensor<4xf32>) -> tensor<f32>
      return %1 : tensor<f32>
    }
    func.func @evaluate(%w: tensor<4xf32> {colrow.name = "w", colrow.role = "parameter"},
                        %x: tensor<4xf32> {colrow.name = "x", colrow.role = "input"})
        -> (tensor<f32> {colrow.name = "loss", colrow.role = "loss"},
            tensor<4xf32> {colrow.name = "y", colrow.role = "output"}) {
      %0 = colrow.mul %w, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %1 = colrow.reduce_sum %0 over [0] : (tensor<4xf32>) -> tensor<f32>
      return %1, %0 : tensor<f32>, tensor<4xf32>
    }
    ```
  }];
}

def FuseLoss : Pass<"colrow-fuse-loss", "::mlir::ModuleOp"> {
  let summary = "merges cross entropy with the product that makes its logits";
  let description = [{
    `cross_entropy` of an `einsum` whose result nobody else reads (reshapes of tokens in between are
    looked through) becomes `linear_cross_entropy`, whose kernel never holds all logits. Logits that
    are also a result of the model stay in `@evaluate` (`colrow-evaluate` comes first). Before
    `colrow-differentiate`, which then puts `linear_cross_entropy_with_grad` in its place: loss and
    gradients in one visit, without a second product for the logits. Keeps layouts.

    Before:

    ```mlir
    func.func @main(%x: tensor<8x16xf32>, %w: tensor<64x16xf32>, %labels: tensor<8xi64>,
                    %count: tensor<f32>) -> tensor<f32> {
      %logits = colrow.einsum "th,vh->tv" %x, %w
          : (tensor<8x16xf32>, tensor<64x16xf32>) -> tensor<8x64xf32>
      %loss = colrow.cross_entropy %logits, %labels, %count ignore -100 valid 64
          : (tensor<8x64xf32>, tensor<8xi64>, tensor<f32>) -> tensor<f32>
      return %loss : tensor<f32>
    }
    ```

    After:

    ```mlir
    func.func @main(%x: tensor<8x16xf32>, %w: tensor<64x16xf32>, %labels: tensor<8xi64>,
                    %count: tensor<f32>) -> tensor<f32> {
      %loss = colrow.linear_cross_entropy %x, %w, %labels, %count ignore -100 valid 64
          : (tensor<8x16xf32>, tensor<64x16xf32>, tensor<8xi64>, tensor<f32>) -> tensor<f32>
      return %loss : tensor<f32>
    }
    ```
  }];
}

def Differentiate : Pass<"colrow-differentiate", "::mlir::ModuleOp"> {
  let summary = "reverse-mode differentiation of the loss with respect to every parameter";
  let description = [{
    Needs `@main` with exactly one result of role `loss`, a scalar. In its place there is afterwards
    `@forward_backward(parameters, inputs, gradients) -> (loss, gradients)`: one microbatch. Each
    gradient has the gradient type of its parameter (every layout state transposed) and is added to
    the one that came in. Other results of `@main` are not computed: `colrow-evaluate` keeps them.

    Operations say their gradients themselves (`DifferentiableOpInterface`); one that does not, but
    has a decomposition, is decomposed first. Since every gradient is made of transposes, sharded IR
    stays within L1 to L8: the transpose of f is g. Operations of the backward pass have the
    location of the forward operation they belong to, fused with the metadata "backward". A
    parameter that the loss does not depend on gets a zero gradient and a remark.

    Before:

    ```mlir
    func.func @main(%w: tensor<4xf32> {colrow.role = "parameter", colrow.name = "w"},
                    %x: tensor<4xf32> {colrow.role = "input", colrow.name = "x"})
        -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
      %0 = colrow.mul %w, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %1 = colrow.reduce_sum %0 over [0] : (tensor<4xf32>) -> tensor<f32>
      return %1 : tensor<f32>
    }
    ```

    After:

    ```mlir
    func.func @forward_backward(
        %w: tensor<4xf32> {colrow.name = "w", colrow.role = "parameter"},
        %x: tensor<4xf32> {colrow.name = "x", colrow.role = "input"},
        %dw: tensor<4xf32> {colrow.name = "w", colrow.role = "gradient"})
        -> (tensor<f32> {colrow.name = "loss", colrow.role = "loss"},
            tensor<4xf32> {colrow.name = "w", colrow.role = "gradient"}) {
      %0 = colrow.mul %w, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %1 = colrow.reduce_sum %0 over [0] : (tensor<4xf32>) -> tensor<f32>
      %2 = colrow.constant dense<1.000000e+00> : tensor<f32>
      %3 = colrow.reshape %2 : (tensor<f32>) -> tensor<1xf32>
      %4 = colrow.broadcast %3 : (tensor<1xf32>) -> tensor<4xf32>
      %5 = colrow.mul %4, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %6 = colrow.add %dw, %5 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %1, %6 : tensor<f32>, tensor<4xf32>
    }
    ```
  }];
}
