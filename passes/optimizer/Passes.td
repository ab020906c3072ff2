//===- Passes.td - phase optimizer -----------------------------*- tablegen -*-===//

include "mlir/Pass/PassBase.td"

def Optimizer : Pass<"colrow-optimizer", "::mlir::ModuleOp"> {
  let summary = "adds @update: clipping by the global gradient norm, then AdamW";
  let description = [{
    Needs `@forward_backward` of `colrow-differentiate`. Adds

        @update(parameters, gradients, first moments, second moments, scalars)
            -> (new parameters, new first moments, new second moments, norm)

    Moments have role `state` and are called `<parameter>.first` and `<parameter>.second`. `scalars`
    (role `input`, name `colrow.scalars`) holds learning rate, beta1, beta2, epsilon, weight decay,
    1 - beta1^t, 1 - beta2^t and the norm to clip at, where 0 means no clipping. Weight decay
    applies to parameters with two or more dimensions.

    The norm (role `metric`, name `grad_norm`) counts every parameter once: the squares of a cut
    gradient are a partial sum, all partial sums of one layout are added before one g, and the
    squares of whole gradients are added after it. The clip coefficient, min(1, clip / (norm +
    1e-6)) as in torch.nn.utils.clip_grad_norm_, goes through f to cut parameters, so that the
    verifier would reject one computed from a norm that was not reduced.

    Before:

    ```mlir
    module attributes {colrow.grid = #colrow.grid<tp = 2>} {
      func.func @forward_backward(
          %w: tensor<4x4xf32, #colrow.layout<tp = shard<0>>>
              {colrow.role = "parameter", colrow.name = "w"},
          %dw: tensor<4x4xf32, #colrow.layout<tp = shard<0>>>
              {colrow.role = "gradient", colrow.name = "w"})
          -> (tensor<4x4xf32, #colrow.layout<tp = shard<0>>>
                  {colrow.role = "gradient", colrow.name = "w"}) {
        return %dw : tensor<4x4xf32, #colrow.layout<tp = shard<0>>>
      }
    }
    ```

    After, in short:

    ```
    func.func @update(%w: ..., %dw: ..., %first: ..., %second: ..., %scalars: tensor<8xf32>
      %0 = colrow.sum_squares %dw : ... -> tensor<f32, #colrow.layout<tp = partial>>
      %1 = colrow.g %0 on ["tp"]
      %norm = colrow.sqrt %1
      %limit = colrow.slice %scalars from [7] to [8]
      %coefficient = colrow.select ...
      %clip = colrow.f %coefficient on ["tp"]
      %new, %newFirst, %newSecond = colrow.adamw %w, %dw, %first, %second clip %clip
      return %new, %newFirst, %newSecond, %norm
    ```
  }];
}
