// RUN: colrow-opt %s --colrow-shard | FileCheck %s
// The example of the pass: w is column-parallel, v row-parallel, the bias behind g is added once.

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  // CHECK-LABEL: func.func @main
  // CHECK-SAME: tensor<64x256xf32, #colrow.layout<tp = shard<1>>> {colrow.because = {{.*}}, colrow.name = "w", {{.*}}colrow.rule = "column-parallel"}
  // CHECK-SAME: tensor<256xf32, #colrow.layout<tp = shard<0>>>
  // CHECK-SAME: tensor<256x64xf32, #colrow.layout<tp = shard<0>>> {{{.*}}colrow.rule = "row-parallel"}
  // CHECK-SAME: tensor<64xf32> {{{.*}}colrow.rule = "whole"}
  func.func @main(%x: tensor<8x64xf32> {colrow.role = "input", colrow.name = "x"},
                  %w: tensor<64x256xf32> {colrow.role = "parameter", colrow.name = "w"},
                  %b: tensor<256xf32> {colrow.role = "parameter", colrow.name = "b"},
                  %v: tensor<256x64xf32> {colrow.role = "parameter", colrow.name = "v"},
                  %c: tensor<64xf32> {colrow.role = "parameter", colrow.name = "c"})
      -> tensor<8x64xf32> {
    // CHECK: %[[F:.*]] = colrow.f %{{.*}} on ["tp"]
    // CHECK: %[[Y:.*]] = colrow.einsum "ti,io->to" %[[F]], {{.*}} -> tensor<8x256xf32, #colrow.layout<tp = shard<1>>>
    // CHECK: colrow.add %[[Y]]
    // CHECK: %[[H:.*]] = colrow.gelu tanh
    // CHECK: %[[P:.*]] = colrow.einsum "ti,io->to" %[[H]], {{.*}} -> tensor<8x64xf32, #colrow.layout<tp = partial>>
    // CHECK: %[[G:.*]] = colrow.g %[[P]] on ["tp"]
    // CHECK: colrow.add %[[G]], {{.*}} -> tensor<8x64xf32>
    %0 = colrow.einsum "ti,io->to" %x, %w : (tensor<8x64xf32>, tensor<64x256xf32>) -> tensor<8x256xf32>
    %1 = colrow.add %0, %b : (tensor<8x256xf32>, tensor<256xf32>) -> tensor<8x256xf32>
    %2 = colrow.gelu tanh %1 : (tensor<8x256xf32>) -> tensor<8x256xf32>
    %3 = colrow.einsum "ti,io->to" %2, %v : (tensor<8x256xf32>, tensor<256x64xf32>) -> tensor<8x64xf32>
    %4 = colrow.add %3, %c : (tensor<8x64xf32>, tensor<64xf32>) -> tensor<8x64xf32>
    return %4 : tensor<8x64xf32>
  }
}
