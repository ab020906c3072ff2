// RUN: colrow-opt %s --split-input-file --colrow-set-grid=axes=tp=2 --colrow-shard | FileCheck %s
// Sizes that the ranks do not divide: what sums over the padding must not notice it.

// 5 units are stored as 6. exp(0) is 1, so it is masked before the row-parallel product; a bias that
// is as long is filled up with zeros.
// CHECK-LABEL: func.func @main
// CHECK-SAME: tensor<4x6xf32, #colrow.layout<tp = shard<1>>> {{{.*}}colrow.valid = [4, 5]}
// CHECK-SAME: tensor<6x4xf32, #colrow.layout<tp = shard<0>>> {{{.*}}colrow.valid = [5, 4]}
// CHECK: colrow.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 0.000000e+00]>
// CHECK: %[[E:.*]] = colrow.exp
// CHECK: %[[M:.*]] = colrow.mask_padding %[[E]] along 1 valid 5 value 0.0
// CHECK: colrow.einsum "ti,io->to" %[[M]]
module {
  func.func @main(%x: tensor<8x4xf32> {colrow.role = "input", colrow.name = "x"},
                  %w: tensor<4x5xf32> {colrow.role = "parameter", colrow.name = "w"},
                  %v: tensor<5x4xf32> {colrow.role = "parameter", colrow.name = "v"})
      -> tensor<8x4xf32> {
    %bias = colrow.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
    %0 = colrow.einsum "ti,io->to" %x, %w : (tensor<8x4xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>
    %1 = colrow.add %0, %bias : (tensor<8x5xf32>, tensor<5xf32>) -> tensor<8x5xf32>
    %2 = colrow.exp %1 : (tensor<8x5xf32>) -> tensor<8x5xf32>
    %3 = colrow.einsum "ti,io->to" %2, %v : (tensor<8x5xf32>, tensor<5x4xf32>) -> tensor<8x4xf32>
    return %3 : tensor<8x4xf32>
  }
}

// -----

// The length of a vector that is cut: the square root's slope at 0 is infinite, so the padding gets
// gradients of 0 by a mask right behind the product, and the sum over units one by another.
// CHECK-LABEL: func.func @main
// CHECK: %[[P:.*]] = colrow.einsum "ti,io->to" {{.*}} -> tensor<8x6xf32, #colrow.layout<tp = shard<1>>>
// CHECK: %[[M:.*]] = colrow.mask_padding %[[P]] along 1 valid 5 value 0.0
// CHECK: %[[S:.*]] = colrow.sqrt
// CHECK: colrow.einsum "ti,io->to" %[[S]]
module {
  func.func @main(%x: tensor<8x4xf32> {colrow.role = "input", colrow.name = "x"},
                  %w: tensor<4x5xf32> {colrow.role = "parameter", colrow.name = "w"},
                  %v: tensor<5x4xf32> {colrow.role = "parameter", colrow.name = "v"})
      -> tensor<8x4xf32> {
    %0 = colrow.einsum "ti,io->to" %x, %w : (tensor<8x4xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>
    %1 = colrow.mul %0, %0 : (tensor<8x5xf32>, tensor<8x5xf32>) -> tensor<8x5xf32>
    %2 = colrow.sqrt %1 : (tensor<8x5xf32>) -> tensor<8x5xf32>
    %3 = colrow.einsum "ti,io->to" %2, %v : (tensor<8x5xf32>, tensor<5x4xf32>) -> tensor<8x4xf32>
    return %3 : tensor<8x4xf32>
  }
}
