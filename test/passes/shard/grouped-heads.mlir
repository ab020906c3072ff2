// RUN: colrow-opt %s --colrow-set-grid=axes=tp=8 --colrow-shard | FileCheck %s
// RUN: colrow-opt %s --colrow-set-grid=axes=tp=6 --colrow-shard | FileCheck %s --check-prefix=SIX
// 8 query heads in 2 groups that share a head of keys and of values each, over 8 ranks: tp is factored
// into 2, which cuts the groups, and 4, which cuts the heads of each group. Keys and values are computed
// on the 4 ranks of a group alike; the gradients of their weights are reduced, not their own.

// CHECK: module attributes {colrow.grid = #colrow.grid<tp.0 = 2, tp.1 = 4>}
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x6x32xf32>
// CHECK-SAME: tensor<32x32xf32, #colrow.layout<tp.0 = shard<1, unit = 16>, tp.1 = shard<1, unit = 4>>> {colrow.because = "{{[^"]*}} over tp.0; {{[^"]*}} over tp.1"
// CHECK-SAME: %[[K:[a-z0-9]+]]: tensor<32x8xf32, #colrow.layout<tp.0 = shard<1, unit = 4>>>
// CHECK-SAME: %[[V:[a-z0-9]+]]: tensor<32x8xf32, #colrow.layout<tp.0 = shard<1, unit = 4>>>
// CHECK-SAME: tensor<32x32xf32, #colrow.layout<tp.0 = shard<0, unit = 16>, tp.1 = shard<0, unit = 4>>>
// CHECK-DAG: colrow.f %[[X]] on ["tp.0", "tp.1"]
// CHECK-DAG: colrow.f %[[K]] on ["tp.1"]
// CHECK-DAG: colrow.f %[[V]] on ["tp.1"]
// CHECK-NOT: colrow.f
// CHECK: colrow.attention
// CHECK-NOT: colrow.f
// CHECK: colrow.g {{.*}} on ["tp.0", "tp.1"]
// CHECK-NOT: colrow.g %

// 6 ranks are 2 x 3: the 4 heads of each group are stored as 6, and the units of tp.0 with them.
// SIX: colrow.grid<tp.0 = 2, tp.1 = 3>
// SIX-LABEL: func.func @main
// SIX-SAME: tensor<32x48xf32, #colrow.layout<tp.0 = shard<1, unit = 24>, tp.1 = shard<1, unit = 4>>> {{{[^}]*}}colrow.filled = [1, 2]{{[^}]*}}colrow.valid = [32, 32]
// SIX-SAME: tensor<32x8xf32, #colrow.layout<tp.0 = shard<1, unit = 4>>>
// SIX-SAME: tensor<32x8xf32, #colrow.layout<tp.0 = shard<1, unit = 4>>>
// SIX-SAME: tensor<48x32xf32, {{.*}}> {{{[^}]*}}colrow.filled = [2, 1]{{[^}]*}}colrow.valid = [32, 32]
// SIX: colrow.attention {{.*}} -> tensor<2x12x6x4xf32, #colrow.layout<tp.0 = shard<1, unit = 6>, tp.1 = shard<1>>>
module {
  func.func @main(%x: tensor<2x6x32xf32> {colrow.role = "input", colrow.name = "x"},
                  %wq: tensor<32x32xf32> {colrow.role = "parameter", colrow.name = "q"},
                  %wk: tensor<32x8xf32> {colrow.role = "parameter", colrow.name = "k"},
                  %wv: tensor<32x8xf32> {colrow.role = "parameter", colrow.name = "v"},
                  %wo: tensor<32x32xf32> {colrow.role = "parameter", colrow.name = "o"})
      -> tensor<2x6x32xf32> {
    %0 = colrow.einsum "bti,io->bto" %x, %wq : (tensor<2x6x32xf32>, tensor<32x32xf32>) -> tensor<2x6x32xf32>
    %1 = colrow.einsum "bti,io->bto" %x, %wk : (tensor<2x6x32xf32>, tensor<32x8xf32>) -> tensor<2x6x8xf32>
    %2 = colrow.einsum "bti,io->bto" %x, %wv : (tensor<2x6x32xf32>, tensor<32x8xf32>) -> tensor<2x6x8xf32>
    %3 = colrow.reshape %0 : (tensor<2x6x32xf32>) -> tensor<2x6x8x4xf32>
    %4 = colrow.reshape %1 : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
    %5 = colrow.reshape %2 : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
    %q = colrow.transpose %3 [0, 2, 1, 3] : (tensor<2x6x8x4xf32>) -> tensor<2x8x6x4xf32>
    %k = colrow.transpose %4 [0, 2, 1, 3] : (tensor<2x6x2x4xf32>) -> tensor<2x2x6x4xf32>
    %v = colrow.transpose %5 [0, 2, 1, 3] : (tensor<2x6x2x4xf32>) -> tensor<2x2x6x4xf32>
    %6 = colrow.attention %q, %k, %v scale 0.5 causal 0 : (tensor<2x8x6x4xf32>, tensor<2x2x6x4xf32>, tensor<2x2x6x4xf32>) -> tensor<2x8x6x4xf32>
    %7 = colrow.transpose %6 [0, 2, 1, 3] : (tensor<2x8x6x4xf32>) -> tensor<2x6x8x4xf32>
    %8 = colrow.reshape %7 : (tensor<2x6x8x4xf32>) -> tensor<2x6x32xf32>
    %9 = colrow.einsum "bti,io->bto" %8, %wo : (tensor<2x6x32xf32>, tensor<32x32xf32>) -> tensor<2x6x32xf32>
    return %9 : tensor<2x6x32xf32>
  }
}
