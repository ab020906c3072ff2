// RUN: colrow-opt %s --colrow-set-grid=axes=tp=2 --colrow-shard | FileCheck %s
// RUN: not colrow-opt %s --colrow-set-grid=axes=tp=3 --colrow-shard 2>&1 | FileCheck %s --check-prefix=ODD
// The blocks of a fused QKV projection are found from the heads, backward through the slices. The
// scale is a constant that several uses share: each use has its own state.

// ODD: error: {{.*}}'scores': 4 heads or units of a block do not divide over tp = 3; values that would do: 1, 2, 4

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
