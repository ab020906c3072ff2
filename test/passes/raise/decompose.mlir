// RUN: colrow-opt %s --split-input-file --colrow-decompose | FileCheck %s
// RUN: colrow-opt %s --split-input-file --colrow-decompose=ops=colrow.silu | FileCheck %s --check-prefix=SILU
// RUN: not colrow-opt %s --split-input-file --colrow-decompose=ops=colrow.add 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: 'colrow.add' is not an operation with a decomposition

// CHECK-LABEL: @activations
// CHECK-NOT: colrow.{{gelu|silu}}
// CHECK: colrow.tanh
// CHECK: colrow.erf
// CHECK: %[[S:.*]] = colrow.sigmoid %[[X:.*]] : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: colrow.mul %[[X]], %[[S]]
// SILU-LABEL: @activations
// SILU: colrow.gelu tanh
// SILU: colrow.gelu erf
// SILU: colrow.sigmoid
func.func @activations(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = colrow.gelu tanh %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = colrow.gelu erf %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = colrow.silu %1 : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// Numbers that single precision would round are given in double.
// CHECK-LABEL: @numbers
// CHECK: colrow.constant dense<5.000000e-01> : tensor<f32>
// CHECK: colrow.constant dense<0.3989422804014{{[0-9]*}}> : tensor<f64> as tensor<f32>
func.func @numbers(%dy: tensor<8xf32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = colrow.gelu_grad erf %dy at %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// The maximum is a constant for differentiation.
// CHECK-LABEL: @softmax
// CHECK-NEXT: %[[STOPPED:.*]] = colrow.stop_gradient %arg0
// CHECK-NEXT: %[[MAX:.*]] = colrow.reduce_max %[[STOPPED]] over [1] keepdims
// CHECK-NEXT: %[[SHIFTED:.*]] = colrow.sub %arg0, %[[MAX]]
// CHECK-NEXT: %[[EXP:.*]] = colrow.exp %[[SHIFTED]]
// CHECK-NEXT: %[[SUM:.*]] = colrow.reduce_sum %[[EXP]] over [1] keepdims
// CHECK-NEXT: colrow.div %[[EXP]], %[[SUM]]
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = colrow.softmax %x along 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: @layer_norm
// CHECK: colrow.reciprocal
// CHECK: colrow.mul %{{.*}}, %arg1
// CHECK-NEXT: colrow.add %{{.*}}, %arg2
// CHECK: colrow.reshape {{.*}} -> tensor<4xf32>
func.func @layer_norm(%x: tensor<4x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>)
    -> (tensor<4x8xf32>, tensor<4xf32>) {
  %0, %1, %2 = colrow.layer_norm_with_statistics %x scale %w bias %b from 1 epsilon 1.0e-5
      : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  return %0, %1 : tensor<4x8xf32>, tensor<4xf32>
}

// -----

// Over a cut vocabulary: two numbers a token and the loss; padding is -inf before the maximum.
// Tokens are cut over dp, so that the loss stays a partial sum there.
// CHECK-LABEL: @cross_entropy
// CHECK: %[[L:.*]] = colrow.mask_padding %arg0 along 1 valid 50 value 0xFFF0000000000000
// CHECK: %[[MAX:.*]] = colrow.reduce_max {{.*}} -> tensor<8x1xf32, #colrow.layout<dp = shard<0>, tp = partial<max>>>
// CHECK: %[[G:.*]] = colrow.g %[[MAX]] on ["tp"]
// CHECK: %[[F:.*]] = colrow.f %[[G]] on ["tp"]
// CHECK: %[[SHIFTED:.*]] = colrow.sub %[[L]], %[[F]]
// CHECK: %[[SUM:.*]] = colrow.reduce_sum {{.*}} -> tensor<8x1xf32, #colrow.layout<dp = shard<0>, tp = partial>>
// CHECK: colrow.g %[[SUM]] on ["tp"]
// CHECK: %[[AT:.*]] = colrow.take_along {{.*}} -> tensor<8x1xf32, #colrow.layout<dp = shard<0>, tp = partial>>
// CHECK: colrow.select {{.*}} -> tensor<8xf32, #colrow.layout<dp = shard<0>, tp = partial>>
// CHECK: %[[LOSS:.*]] = colrow.div {{.*}} -> tensor<f32, #colrow.layout<dp = partial, tp = partial>>
// CHECK: colrow.g %[[LOSS]] on ["tp"] : {{.*}} -> tensor<f32, #colrow.layout<dp = partial>>
#c = #colrow.layout<dp = shard<0>, tp = shard<1>>
#d = #colrow.layout<dp = shard<0>>
#r = #colrow.layout<dp = replicated, tp = replicated>
#p = #colrow.layout<dp = partial>
module attributes {colrow.grid = #colrow.grid<dp = 2, tp = 2>} {
  func.func @cross_entropy(%logits: tensor<8x64xf32, #c>, %labels: tensor<8xi64, #d>,
                           %count: tensor<f32, #r>) -> tensor<f32, #p> {
    %0 = colrow.cross_entropy %logits, %labels, %count ignore -100 valid 50
        : (tensor<8x64xf32, #c>, tensor<8xi64, #d>, tensor<f32, #r>) -> tensor<f32, #p>
    return %0 : tensor<f32, #p>
  }
}

// -----

// The merged loss: gradients leave partial where they are sums over the vocabulary or the tokens.
// CHECK-LABEL: @merged
// CHECK: colrow.einsum "ah,vh->av"
// CHECK: colrow.take_along_grad
// CHECK: colrow.einsum "av,vh->ah" {{.*}} -> tensor<8x16xf32, #colrow.layout<dp = shard<0>, tp = partial>>
// CHECK: colrow.einsum "av,ah->vh" {{.*}} -> tensor<64x16xf32, #colrow.layout<dp = partial, tp = shard<0>>>
#x = #colrow.layout<dp = shard<0>, tp = replicated>
#w = #colrow.layout<dp = replicated, tp = shard<0>>
#dx = #colrow.layout<dp = shard<0>, tp = partial>
#dw = #colrow.layout<dp = partial, tp = shard<0>>
#d = #colrow.layout<dp = shard<0>>
#r = #colrow.layout<dp = replicated, tp = replicated>
#p = #colrow.layout<dp = partial>
module attributes {colrow.grid = #colrow.grid<dp = 2, tp = 2>} {
  func.func @merged(%x: tensor<8x16xf32, #x>, %w: tensor<64x16xf32, #w>, %labels: tensor<8xi64, #d>,
                    %count: tensor<f32, #r>)
      -> (tensor<f32, #p>, tensor<8x16xf32, #dx>, tensor<64x16xf32, #dw>) {
    %0, %1, %2 = colrow.linear_cross_entropy_with_grad %x, %w, %labels, %count ignore -100 valid 50
        : (tensor<8x16xf32, #x>, tensor<64x16xf32, #w>, tensor<8xi64, #d>, tensor<f32, #r>)
        -> (tensor<f32, #p>, tensor<8x16xf32, #dx>, tensor<64x16xf32, #dw>)
    return %0, %1, %2 : tensor<f32, #p>, tensor<8x16xf32, #dx>, tensor<64x16xf32, #dw>
  }
}
