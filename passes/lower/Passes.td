//===- Passes.td - phase lower ---------------------------------*- tablegen -*-===//

include "mlir/Pass/PassBase.td"

def Accumulate : Pass<"colrow-accumulate", "::mlir::ModuleOp"> {
  let summary = "adds gradients where they come to be, in place";
  let description = [{
    A gradient that `@forward_backward` returns is the one that came in plus what the microbatch
    adds. This pass moves that sum to where its other operand is computed and marks it
    `colrow.in_place = 0`: the result has the memory of operand 0, so products add to the gradient
    and no temporary of the parameter's size lives on. A sum of several contributions is added one
    by one. The first is marked `colrow.begins`, as is the argument: in the first microbatch of a step
    it is written and not added, so that no gradient has to be zero before.

    Before:

    ```mlir
    func.func @forward_backward(%x: tensor<8x4xf32>, %dy: tensor<8x6xf32>,
        %dw: tensor<4x6xf32> {colrow.role = "gradient", colrow.name = "w"})
        -> (tensor<8x4xf32>, tensor<4x6xf32> {colrow.role = "gradient", colrow.name = "w"}) {
      %0 = colrow.einsum "ti,to->io" %x, %dy
          : (tensor<8x4xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
      %1 = colrow.neg %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
      %2 = colrow.add %dw, %0 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
      return %1, %2 : tensor<8x4xf32>, tensor<4x6xf32>
    }
    ```

    After:

    ```
    %0 = colrow.einsum "ti,to->io" %x, %dy
    %1 = colrow.add %dw, %0 {colrow.begins, colrow.in_place = 0 : i64}
    %2 = colrow.neg %x
    ```
  }];
}

def JoinPads : Pass<"colrow-join-pads", "::mlir::ModuleOp"> {
  let summary = "makes a sum of paddings that lie side by side one concatenation";
  let description = [{
    The gradient of what is taken apart by slices (the thirds of a fused QKV) is a sum of tensors, each
    padded with zeros to the whole. Where together they fill a dimension, without a hole and without
    an overlap, one copy of each does the same. Needs localized IR.

    Before:

    ```mlir
    func.func @forward_backward(%x: tensor<2x2xf32>, %y: tensor<2x3xf32>) -> tensor<2x5xf32> {
      %0 = colrow.pad %y low [0, 2] high [0, 0] step [1, 1] value 0.0
          : (tensor<2x3xf32>) -> tensor<2x5xf32>
      %1 = colrow.pad %x low [0, 0] high [0, 3] step [1, 1] value 0.0
          : (tensor<2x2xf32>) -> tensor<2x5xf32>
      %2 = colrow.add %0, %1 : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
      return %2 : tensor<2x5xf32>
    }
    ```

    After:

    ```mlir
    func.func @forward_backward(%x: tensor<2x2xf32>, %y: tensor<2x3xf32>) -> tensor<2x5xf32> {
      %0 = colrow.concat %x, %y along 1 : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x5xf32>
      return %0 : tensor<2x5xf32>
    }
    ```
  }];
}

def Recompute : Pass<"colrow-recompute", "::mlir::ModuleOp"> {
  let summary = "lets the backward pass compute again what takes more memory than time";
  let description = [{
    A value of the forward pass that the backward pass reads is kept from the one to the other. Where
    one pass over memory makes it from values that are kept anyway (the result of a norm from its
    operand, an activation function's from its argument), this pass repeats the operation in front of its
    first reader in the backward pass, and only the operands are kept. The numbers are the same bits:
    it is the same operation. Products, reductions, collectives and transcendental functions (but for
    those of gelu and silu) are not repeated. Selective recomputation is from arXiv 2205.05198, section 5. Needs localized IR.

    Before:

    ```mlir
    func.func @forward_backward(%x: tensor<4x6xf32>, %w: tensor<6x6xf32>)
        -> (tensor<4x6xf32>, tensor<6x6xf32>, tensor<4x6xf32>) {
      %0 = colrow.tanh %x : (tensor<4x6xf32>) -> tensor<4x6xf32>
      %1 = colrow.mul %0, %x : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
      %2 = colrow.einsum "ti,io->to" %1, %w
          : (tensor<4x6xf32>, tensor<6x6xf32>) -> tensor<4x6xf32>
      %3 = colrow.einsum "ti,to->io" %1, %2
          : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<6x6xf32> loc(fused<"backward">["product"])
      %4 = colrow.mul %2, %0
          : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32> loc(fused<"backward">["mul"])
      return %2, %3, %4 : tensor<4x6xf32>, tensor<6x6xf32>, tensor<4x6xf32>
    }
    ```

    After:

    ```mlir
    func.func @forward_backward(%x: tensor<4x6xf32>, %w: tensor<6x6xf32>)
        -> (tensor<4x6xf32>, tensor<6x6xf32>, tensor<4x6xf32>) {
      %0 = colrow.tanh %x : (tensor<4x6xf32>) -> tensor<4x6xf32>
      %1 = colrow.mul %0, %x : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
      %2 = colrow.einsum "ti,io->to" %1, %w
          : (tensor<4x6xf32>, tensor<6x6xf32>) -> tensor<4x6xf32>
      %3 = colrow.mul %0, %x : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
      %4 = colrow.einsum "ti,to->io" %3, %2
          : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<6x6xf32>
      %5 = colrow.mul %2, %0 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
      return %2, %4, %5 : tensor<4x6xf32>, tensor<6x6xf32>, tensor<4x6xf32>
    }
    ```
  }];
}

def RepeatViews : Pass<"colrow-repeat-views", "::mlir::ModuleOp"> {
  let summary = "lets the backward pass see for itself what the forward pass saw in another order";
  let description = [{
    A transpose, a slice or a reshape that takes dimensions apart costs nothing where its reader takes
    strides. But where the backward pass reads it too it would be kept, and written for that. This
    pass repeats it in front of a reader in the backward pass that takes strides, so that what is
    kept is the tensor that it sees. Slices only where together they are no less than that. Needs
    localized IR; run before `colrow-outline`, so that repeated layers have their own views.

    Before:

    ```mlir
    func.func @forward_backward(%x: tensor<4x6xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>) {
      %0 = colrow.tanh %x : (tensor<4x6xf32>) -> tensor<4x6xf32>
      %1 = colrow.transpose %0 [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
      %2 = colrow.exp %1 : (tensor<6x4xf32>) -> tensor<6x4xf32>
      %3 = colrow.mul %2, %1 : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
          loc(fused<"backward">["exp"])
      return %2, %3 : tensor<6x4xf32>, tensor<6x4xf32>
    }
    ```

    After:

    ```mlir
    func.func @forward_backward(%x: tensor<4x6xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>) {
      %0 = colrow.tanh %x : (tensor<4x6xf32>) -> tensor<4x6xf32>
      %1 = colrow.transpose %0 [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
      %2 = colrow.exp %1 : (tensor<6x4xf32>) -> tensor<6x4xf32>
      %3 = colrow.transpose %0 [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
      %4 = colrow.mul %2, %3 : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
      return %2, %4 : tensor<6x4xf32>, tensor<6x4xf32>
    }
    ```
  }];
}

def Outline : Pass<"colrow-outline", "::mlir::ModuleOp"> {
  let summary = "makes one function of every repeated layer";
  let description = [{
    Finds sequences of operations that follow one another several times, equal but for names and for
    the values that come from outside: the layers of a transformer, of its backward pass, of its
    update. Each becomes a private function and the instances become calls of it. What differs,
    parameters among it, is an argument. Needs localized IR.

    The function has `colrow.instances`; a call has its number, `colrow.instance`, and the common
    prefix of the instance's parameter names, `colrow.label`. Identifiers of dropout sites, which
    differ too, are in the array `colrow.ids` of the call, and the dropout in the function has its
    place there, `colrow.id_argument`. A result whose memory is that of an argument has the
    attribute `colrow.in_place`.

    Before `--colrow-outline=min-ops=2`:

    ```mlir
    func.func @evaluate(%x: tensor<8x4xf32>,
        %w0: tensor<4x4xf32> {colrow.role = "parameter", colrow.name = "h.0.w"},
        %w1: tensor<4x4xf32> {colrow.role = "parameter", colrow.name = "h.1.w"})
        -> tensor<8x4xf32> {
      %0 = colrow.einsum "ti,io->to" %x, %w0
          : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      %1 = colrow.tanh %0 : (tensor<8x4xf32>) -> tensor<8x4xf32>
      %2 = colrow.einsum "ti,io->to" %1, %w1
          : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      %3 = colrow.tanh %2 : (tensor<8x4xf32>) -> tensor<8x4xf32>
      return %3 : tensor<8x4xf32>
    }
    ```

    After:

    ```
    %0 = call @layer_evaluate(%x, %w0) {colrow.instance = 0 : i64, colrow.label = "h.0"}
    %1 = call @layer_evaluate(%0, %w1) {colrow.instance = 1 : i64, colrow.label = "h.1"}
    return %1
    func.func private @layer_evaluate(...
    %2 = colrow.einsum "ti,io->to" %y, %w
    %3 = colrow.tanh %2
    return %3
    ```
  }];
  let options = [
    Option<"minOps", "min-ops", "int64_t", "6", "fewest operations that are worth a function">
  ];
}

def PrintPlan : Pass<"colrow-print-plan", "::mlir::ModuleOp"> {
  let summary = "prints steps and memory of every function (passes/lower/Plan.h)";
  let description = [{
    For people and tests: what the emitted program does, in order, and where every value is.

    Before:

    ```mlir
    func.func @evaluate(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>, %b: tensor<4xf32>)
        -> (tensor<8x4xf32> {colrow.role = "output", colrow.name = "y"}) {
      %0 = colrow.einsum "ti,io->to" %x, %w
          : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      %1 = colrow.add %0, %b : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
      %2 = colrow.tanh %1 : (tensor<8x4xf32>) -> tensor<8x4xf32>
      return %2 : tensor<8x4xf32>
    }
    ```

    After, in front of the module, the sum is a variable of one loop, which overwrites the product:

    ```
    @evaluate
    call einsum: output + 0
    loop add tanh over [8, 4]: output + 0
    bytes: scratch 0, activation 0, output 128, constant 0
    ```
  }];
}
