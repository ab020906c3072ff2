// RUN: colrow-opt %s --split-input-file --colrow-fuse-loss | FileCheck %s

// Batches, and a reshape of tokens between product and loss: the labels follow the product.
// CHECK-LABEL: @batches
// CHECK-NEXT: %[[LABELS:.*]] = colrow.reshape %arg2 : (tensor<16xi64>) -> tensor<2x8xi64>
// CHECK-NEXT: %[[LOSS:.*]] = colrow.linear_cross_entropy %arg0, %arg1, %[[LABELS]], %arg3 ignore -100 valid 60
// CHECK-NEXT: return %[[LOSS]]
func.func @batches(%x: tensor<2x8x16xf32>, %w: tensor<64x16xf32>, %labels: tensor<16xi64>,
                   %count: tensor<f32>) -> tensor<f32> {
  %0 = colrow.einsum "bsh,vh->bsv" %x, %w : (tensor<2x8x16xf32>, tensor<64x16xf32>) -> tensor<2x8x64xf32>
  %1 = colrow.reshape %0 : (tensor<2x8x64xf32>) -> tensor<16x64xf32>
  %2 = colrow.cross_entropy %1, %labels, %count ignore -100 valid 60
      : (tensor<16x64xf32>, tensor<16xi64>, tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// A weight stored [hidden, vocabulary], on the left.
// CHECK-LABEL: @transposed
// CHECK-NEXT: %[[W:.*]] = colrow.transpose %arg1 [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
// CHECK-NEXT: colrow.linear_cross_entropy %arg0, %[[W]], %arg2, %arg3
func.func @transposed(%x: tensor<8x16xf32>, %w: tensor<16x64xf32>, %labels: tensor<8xi64>,
                      %count: tensor<f32>) -> tensor<f32> {
  %0 = colrow.einsum "hv,th->tv" %w, %x : (tensor<16x64xf32>, tensor<8x16xf32>) -> tensor<8x64xf32>
  %1 = colrow.cross_entropy %0, %labels, %count ignore -100 valid 64
      : (tensor<8x64xf32>, tensor<8xi64>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// A head tied to its embedding: the transpose of the transpose is the embedding.
// CHECK-LABEL: @tied
// CHECK-NOT: colrow.transpose %{{[0-9]}}
// CHECK: colrow.linear_cross_entropy %arg0, %arg1, %arg2, %arg3
func.func @tied(%x: tensor<8x16xf32>, %w: tensor<64x16xf32>, %labels: tensor<8xi64>,
                %count: tensor<f32>) -> tensor<f32> {
  %t = colrow.transpose %w [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
  %0 = colrow.einsum "th,hv->tv" %x, %t : (tensor<8x16xf32>, tensor<16x64xf32>) -> tensor<8x64xf32>
  %1 = colrow.cross_entropy %0, %labels, %count ignore -100 valid 64
      : (tensor<8x64xf32>, tensor<8xi64>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// The terms of the loss go with it.
// CHECK-LABEL: @terms
// CHECK: colrow.linear_cross_entropy {{.*}} valid 64 {label_smoothing = 1.000000e-01 : f64, z_loss = 1.000000e-02 : f64}
func.func @terms(%x: tensor<8x16xf32>, %w: tensor<64x16xf32>, %labels: tensor<8xi64>,
                 %count: tensor<f32>) -> tensor<f32> {
  %0 = colrow.einsum "th,vh->tv" %x, %w : (tensor<8x16xf32>, tensor<64x16xf32>) -> tensor<8x64xf32>
  %1 = colrow.cross_entropy %0, %labels, %count ignore -100 valid 64 {label_smoothing = 0.1 : f64, z_loss = 0.01 : f64}
      : (tensor<8x64xf32>, tensor<8xi64>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// Somebody else reads the logits: both stay.
// CHECK-LABEL: @shared
// CHECK: colrow.einsum
// CHECK: colrow.cross_entropy
func.func @shared(%x: tensor<8x16xf32>, %w: tensor<64x16xf32>, %labels: tensor<8xi64>,
                  %count: tensor<f32>) -> (tensor<f32>, tensor<8x64xf32>) {
  %0 = colrow.einsum "th,vh->tv" %x, %w : (tensor<8x16xf32>, tensor<64x16xf32>) -> tensor<8x64xf32>
  %1 = colrow.cross_entropy %0, %labels, %count ignore -100 valid 64
      : (tensor<8x64xf32>, tensor<8xi64>, tensor<f32>) -> tensor<f32>
  return %1, %0 : tensor<f32>, tensor<8x64xf32>
}

// The vocabulary is not the last dimension of a product of this form.
// CHECK-LABEL: @weights_by_token
// CHECK: colrow.cross_entropy
func.func @weights_by_token(%x: tensor<8x16xf32>, %w: tensor<8x64x16xf32>, %labels: tensor<8xi64>,
                            %count: tensor<f32>) -> tensor<f32> {
  %0 = colrow.einsum "th,tvh->tv" %x, %w : (tensor<8x16xf32>, tensor<8x64x16xf32>) -> tensor<8x64xf32>
  %1 = colrow.cross_entropy %0, %labels, %count ignore -100 valid 64
      : (tensor<8x64xf32>, tensor<8xi64>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// A cut vocabulary stays cut.
// CHECK-LABEL: @cut
// CHECK: colrow.linear_cross_entropy %arg0, %arg1, %arg2, %arg3 ignore -1 valid 50
// CHECK-SAME: tensor<64x16xf32, #colrow.layout<tp = shard<0>>>
// CHECK-SAME: -> tensor<f32>
#r = #colrow.layout<tp = replicated>
#s0 = #colrow.layout<tp = shard<0>>
#s1 = #colrow.layout<tp = shard<1>>
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @cut(%x: tensor<8x16xf32, #r>, %w: tensor<64x16xf32, #s0>, %labels: tensor<8xi64>,
                 %count: tensor<f32, #r>) -> tensor<f32> {
    %0 = colrow.einsum "th,vh->tv" %x, %w : (tensor<8x16xf32, #r>, tensor<64x16xf32, #s0>) -> tensor<8x64xf32, #s1>
    %1 = colrow.cross_entropy %0, %labels, %count ignore -1 valid 50
        : (tensor<8x64xf32, #s1>, tensor<8xi64>, tensor<f32, #r>) -> tensor<f32>
    return %1 : tensor<f32>
  }
}
