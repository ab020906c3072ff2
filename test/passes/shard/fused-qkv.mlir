// RUN: colrow-opt %s --colrow-set-grid=axes=tp=2 --colrow-shard | FileCheck %s
// RUN: colrow-opt %s --colrow-set-grid=axes=tp=3 --colrow-shard | FileCheck %s --check-prefix=ODD
// The blocks of a fused QKV projection are found from the heads, backward through the slices. The
// scale is a constant that several uses share: each use has its own state.

// 4 heads over 3 ranks are stored as 6, in each of the three blocks. Zeros stay zeros on the way to the
// row-parallel product, so nothing has to be masked.
// ODD-LABEL: func.func @main
// ODD-SAME: tensor<64x288xf32, #colrow.layout<tp = shard<1, blocks = 3, unit = 16>>> {colrow.because = "with the factor of 4 of 'scores', 4 of its units stored as 6"
// ODD-SAME: colrow.valid = [64, 192]
// ODD-SAME: tensor<288xf32, {{.*}} colrow.valid = [192]
// ODD-SAME: tensor<96x64xf32, #colrow.layout<tp = shard<0, unit = 16>>> {{{.*}}colrow.valid = [64, 64]
// ODD-NOT: mask_padding
// ODD: colrow.slice {{.*}} from [0, 0, 96] to [2, 8, 192]
// ODD: colrow.softmax {{.*}} -> tensor<2x6x8x8xf32, #colrow.layout<tp = shard<1>>>
// ODD: colrow.einsum "ti,io->to" {{.*}} -> tensor<16x64xf32, #colrow.layout<tp = partial>>

// CHECK-LABEL: func.func @main
// CHECK-SAME: tensor<64x192xf32, #colrow.layout<tp = shard<1, blocks = 3, unit = 16>>>
// CHECK-SAME: tensor<192xf32, #colrow.layout<tp = shard<0, blocks = 3, unit = 16>>>
// CHECK-SAME: tensor<64x64xf32, #colrow.layout<tp = shard<0, unit = 16>>>
// CHECK: colrow.f
// CHECK-NOT: colrow.f
// CHECK: colrow.softmax {{.*}} -> tensor<2x4x8x8xf32, #colrow.layout<tp = shard<1>>>
// CHECK-NOT: colrow.g
// CHECK: colrow.einsum "ti,io->to" {{.*}} -> tensor<16x64xf32, #colrow.layout<tp = partial>>
// CHECK-NEXT: colrow.g
module {
  func.func @main(%x: tensor<16x64xf32> {colrow.role = "input", colrow.name = "x"},
                  %w: tensor<64x192xf32> {colrow.role = "parameter", colrow.name = "w"},
                  %b: tensor<192xf32> {colrow.role = "parameter", colrow.name = "b"},
                  %v: tensor<64x64xf32> {colrow.role = "parameter", colrow.name = "v"})
      -> tensor<16x64xf32> {
    %scale = colrow.constant dense<0.25> : tensor<f32>
    %0 = colrow.einsum "ti,io->to" %x, %w : (tensor<16x64xf32>, tensor<64x192xf32>) -> tensor<16x192xf32>
    %1 = colrow.add %b, %0 : (tensor<192xf32>, tensor<16x192xf32>) -> tensor<16x192xf32>
    %2 = colrow.reshape %1 : (tensor<16x192xf32>) -> tensor<2x8x192xf32>
    %3 = colrow.slice %2 from [0, 0, 0] to [2, 8, 64] step [1, 1, 1] : (tensor<2x8x192xf32>) -> tensor<2x8x64xf32>
    %4 = colrow.slice %2 from [0, 0, 64] to [2, 8, 128] step [1, 1, 1] : (tensor<2x8x192xf32>) -> tensor<2x8x64xf32>
    %5 = colrow.slice %2 from [0, 0, 128] to [2, 8, 192] step [1, 1, 1] : (tensor<2x8x192xf32>) -> tensor<2x8x64xf32>
    %q = colrow.reshape %3 : (tensor<2x8x64xf32>) -> tensor<2x8x4x16xf32>
    %k = colrow.reshape %4 : (tensor<2x8x64xf32>) -> tensor<2x8x4x16xf32>
    %u = colrow.reshape %5 : (tensor<2x8x64xf32>) -> tensor<2x8x4x16xf32>
    %6 = colrow.einsum "bshd,bthd->bhst" %q, %k : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> tensor<2x4x8x8xf32> loc("scores")
    %7 = colrow.mul %6, %scale : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
    %8 = colrow.softmax %7 along 3 : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
    %9 = colrow.einsum "bhst,bthd->bshd" %8, %u : (tensor<2x4x8x8xf32>, tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
    %10 = colrow.reshape %9 : (tensor<2x8x4x16xf32>) -> tensor<16x64xf32>
    %11 = colrow.einsum "ti,io->to" %10, %v : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
    %12 = colrow.mul %11, %scale : (tensor<16x64xf32>, tensor<f32>) -> tensor<16x64xf32>
    return %12 : tensor<16x64xf32>
  }
}
