// RUN: colrow-opt %s --split-input-file --colrow-set-grid=axes=tp=2 --colrow-shard | FileCheck %s
// Two branches that are summed at once take one all-reduce forward and one backward.

// Of one input. The bias is added behind g.
// CHECK-LABEL: func.func @main
// CHECK: colrow.f %
// CHECK-NOT: colrow.f %
// CHECK: %[[A:.*]] = colrow.einsum {{.*}} -> tensor<4x8xf32, #colrow.layout<tp = partial>>
// CHECK: %[[B:.*]] = colrow.einsum {{.*}} -> tensor<4x8xf32, #colrow.layout<tp = partial>>
// CHECK: %[[S:.*]] = colrow.add %[[A]], %[[B]] : {{.*}} -> tensor<4x8xf32, #colrow.layout<tp = partial>>
// CHECK: %[[G:.*]] = colrow.g %[[S]]
// CHECK: colrow.add %[[G]], %{{.*}}
// CHECK-NOT: colrow.g %
// CHECK: return
module {
  func.func @main(%x: tensor<4x8xf32> {colrow.role = "input", colrow.name = "x"},
                  %w1: tensor<8x16xf32> {colrow.role = "parameter", colrow.name = "w1"},
                  %v1: tensor<16x8xf32> {colrow.role = "parameter", colrow.name = "v1"},
                  %b1: tensor<8xf32> {colrow.role = "parameter", colrow.name = "b1"},
                  %w2: tensor<8x16xf32> {colrow.role = "parameter", colrow.name = "w2"},
                  %v2: tensor<16x8xf32> {colrow.role = "parameter", colrow.name = "v2"})
      -> tensor<4x8xf32> {
    %0 = colrow.einsum "ti,io->to" %x, %w1 : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %1 = colrow.tanh %0 : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %2 = colrow.einsum "ti,io->to" %1, %v1 : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
    %3 = colrow.add %2, %b1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    %4 = colrow.einsum "ti,io->to" %x, %w2 : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %5 = colrow.tanh %4 : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %6 = colrow.einsum "ti,io->to" %5, %v2 : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
    %7 = colrow.add %3, %6 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %8 = colrow.add %x, %7 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    return %8 : tensor<4x8xf32>
  }
}

// -----

// Of two norms of one input: each rank computes them for itself, so that the gradient of the input is
// reduced once, and those of the norms' scales, which are smaller.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<64x8xf32>
// CHECK-SAME: %[[S1:[a-z0-9]+]]: tensor<8xf32>
// CHECK-SAME: %[[S2:[a-z0-9]+]]: tensor<8xf32>
// CHECK-DAG: colrow.f %[[X]]
// CHECK-DAG: colrow.f %[[S1]]
// CHECK-DAG: colrow.f %[[S2]]
// CHECK-NOT: colrow.f %
// CHECK: colrow.mul {{.*}} -> tensor<64x8xf32, #colrow.layout<tp = replicated>>
// CHECK: colrow.g %
// CHECK-NOT: colrow.g %
module {
  func.func @main(%x: tensor<64x8xf32> {colrow.role = "input", colrow.name = "x"},
                  %s1: tensor<8xf32> {colrow.role = "parameter", colrow.name = "s1"},
                  %s2: tensor<8xf32> {colrow.role = "parameter", colrow.name = "s2"},
                  %w1: tensor<8x16xf32> {colrow.role = "parameter", colrow.name = "w1"},
                  %v1: tensor<16x8xf32> {colrow.role = "parameter", colrow.name = "v1"},
                  %w2: tensor<8x16xf32> {colrow.role = "parameter", colrow.name = "w2"},
                  %v2: tensor<16x8xf32> {colrow.role = "parameter", colrow.name = "v2"})
      -> tensor<64x8xf32> {
    %n1 = colrow.mul %x, %s1 : (tensor<64x8xf32>, tensor<8xf32>) -> tensor<64x8xf32>
    %n2 = colrow.mul %x, %s2 : (tensor<64x8xf32>, tensor<8xf32>) -> tensor<64x8xf32>
    %0 = colrow.einsum "ti,io->to" %n1, %w1 : (tensor<64x8xf32>, tensor<8x16xf32>) -> tensor<64x16xf32>
    %1 = colrow.tanh %0 : (tensor<64x16xf32>) -> tensor<64x16xf32>
    %2 = colrow.einsum "ti,io->to" %1, %v1 : (tensor<64x16xf32>, tensor<16x8xf32>) -> tensor<64x8xf32>
    %4 = colrow.einsum "ti,io->to" %n2, %w2 : (tensor<64x8xf32>, tensor<8x16xf32>) -> tensor<64x16xf32>
    %5 = colrow.tanh %4 : (tensor<64x16xf32>) -> tensor<64x16xf32>
    %6 = colrow.einsum "ti,io->to" %5, %v2 : (tensor<64x16xf32>, tensor<16x8xf32>) -> tensor<64x8xf32>
    %7 = colrow.add %2, %6 : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    %8 = colrow.add %x, %7 : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    return %8 : tensor<64x8xf32>
  }
}

// -----

// One after the other: f stays behind the norm, since the f of the second block stays behind the sum.
// CHECK-LABEL: func.func @main
// CHECK: %[[N:.*]] = colrow.mul %{{.*}} -> tensor<64x8xf32>
// CHECK-NEXT: colrow.f %[[N]] on ["tp"]
// CHECK: colrow.g %
// CHECK: %[[Y:.*]] = colrow.add
// CHECK-NEXT: colrow.f %[[Y]] on ["tp"]
// CHECK-NOT: colrow.f %
// CHECK: return
module {
  func.func @main(%x: tensor<64x8xf32> {colrow.role = "input", colrow.name = "x"},
                  %s: tensor<8xf32> {colrow.role = "parameter", colrow.name = "s"},
                  %w1: tensor<8x16xf32> {colrow.role = "parameter", colrow.name = "w1"},
                  %v1: tensor<16x8xf32> {colrow.role = "parameter", colrow.name = "v1"},
                  %w2: tensor<8x16xf32> {colrow.role = "parameter", colrow.name = "w2"},
                  %v2: tensor<16x8xf32> {colrow.role = "parameter", colrow.name = "v2"})
      -> tensor<64x8xf32> {
    %n = colrow.mul %x, %s : (tensor<64x8xf32>, tensor<8xf32>) -> tensor<64x8xf32>
    %0 = colrow.einsum "ti,io->to" %n, %w1 : (tensor<64x8xf32>, tensor<8x16xf32>) -> tensor<64x16xf32>
    %1 = colrow.tanh %0 : (tensor<64x16xf32>) -> tensor<64x16xf32>
    %2 = colrow.einsum "ti,io->to" %1, %v1 : (tensor<64x16xf32>, tensor<16x8xf32>) -> tensor<64x8xf32>
    %y = colrow.add %x, %2 : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
    %3 = colrow.einsum "ti,io->to" %y, %w2 : (tensor<64x8xf32>, tensor<8x16xf32>) -> tensor<64x16xf32>
    %4 = colrow.tanh %3 : (tensor<64x16xf32>) -> tensor<64x16xf32>
    %5 = colrow.einsum "ti,io->to" %4, %v2 : (tensor<64x16xf32>, tensor<16x8xf32>) -> tensor<64x8xf32>
    return %5 : tensor<64x8xf32>
  }
}
