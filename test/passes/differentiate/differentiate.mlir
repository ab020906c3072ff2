// RUN: colrow-opt %s --split-input-file --colrow-evaluate --colrow-differentiate \
// RUN:   --remarks-filter=colrow-differentiate --remark-policy=all 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

// The example of the pass.
// CHECK-LABEL: func.func @forward_backward
// CHECK-SAME: %[[W:.*]]: tensor<4xf32> {colrow.name = "w", colrow.role = "parameter"}
// CHECK-SAME: %[[X:.*]]: tensor<4xf32> {colrow.name = "x", colrow.role = "input"}
// CHECK-SAME: %[[DW:.*]]: tensor<4xf32> {colrow.name = "w", colrow.role = "gradient"}
// CHECK-SAME: -> (tensor<f32> {colrow.name = "loss", colrow.role = "loss"}, tensor<4xf32> {colrow.name = "w", colrow.role = "gradient"})
// CHECK-NEXT: %[[Y:.*]] = colrow.mul %[[W]], %[[X]]
// CHECK-NEXT: %[[LOSS:.*]] = colrow.reduce_sum %[[Y]] over [0]
// CHECK-NEXT: %[[ONE:.*]] = colrow.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[KEPT:.*]] = colrow.reshape %[[ONE]]
// CHECK-NEXT: %[[DY:.*]] = colrow.broadcast %[[KEPT]]
// CHECK-NEXT: %[[G:.*]] = colrow.mul %[[DY]], %[[X]]
// CHECK-NEXT: %[[SUM:.*]] = colrow.add %[[DW]], %[[G]]
// CHECK-NEXT: return %[[LOSS]], %[[SUM]]
// CHECK-LABEL: func.func @evaluate
// CHECK-NEXT: colrow.mul
// CHECK-NEXT: colrow.reduce_sum
// CHECK-NEXT: return
func.func @main(%w: tensor<4xf32> {colrow.role = "parameter", colrow.name = "w"},
                %x: tensor<4xf32> {colrow.role = "input", colrow.name = "x"})
    -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
  %0 = colrow.mul %w, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = colrow.reduce_sum %0 over [0] : (tensor<4xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// Dropout is gone from evaluation, and so is what only it read; outputs are evaluate's alone, and
// the loss comes first. Three uses are two adds.
// CHECK-LABEL: func.func @forward_backward
// CHECK-SAME: -> (tensor<f32> {colrow.name = "loss", colrow.role = "loss"}, tensor<4xf32> {colrow.name = "w", colrow.role = "gradient"})
// CHECK: %[[D:.*]] = colrow.dropout %arg0 random %arg1 rate 1.000000e-01 id 5
// CHECK: colrow.broadcast
// CHECK-COUNT-2: colrow.add
// CHECK: colrow.dropout %{{.*}} random %arg1 rate 1.000000e-01 id 5
// CHECK: colrow.add %arg2
// CHECK-NOT: colrow.add
// CHECK-LABEL: func.func @evaluate(%arg0: tensor<4xf32> {colrow.name = "w", colrow.role = "parameter"})
// CHECK-SAME: -> (tensor<f32> {colrow.name = "loss", colrow.role = "loss"}, tensor<4xf32> {colrow.name = "y", colrow.role = "output"})
// CHECK-NEXT: %[[A:.*]] = colrow.mul %arg0, %arg0
// CHECK-NEXT: %[[Y:.*]] = colrow.mul %[[A]], %arg0
// CHECK-NEXT: %[[L:.*]] = colrow.reduce_sum %[[Y]]
// CHECK-NEXT: return %[[L]], %[[Y]]
func.func @main(%w: tensor<4xf32> {colrow.role = "parameter", colrow.name = "w"},
                %random: tensor<4xi64> {colrow.role = "input", colrow.name = "colrow.random"})
    -> (tensor<4xf32> {colrow.role = "output", colrow.name = "y"},
        tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
  %0 = colrow.dropout %w random %random rate 0.1 id 5 : (tensor<4xf32>, tensor<4xi64>) -> tensor<4xf32>
  %1 = colrow.mul %0, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = colrow.mul %1, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = colrow.reduce_sum %2 over [0] : (tensor<4xf32>) -> tensor<f32>
  return %2, %3 : tensor<4xf32>, tensor<f32>
}

// -----

// A parameter that the loss does not depend on, cut: its gradient is a cut zero.
// REMARK: the loss does not depend on 'lost': its gradient is zero
// REMARK-NOT: does not depend on 'w'
// CHECK-LABEL: func.func @forward_backward
// CHECK: %[[ZERO:.*]] = colrow.constant dense<0.000000e+00> : tensor<4xf32> as tensor<4xf32, #colrow.layout<tp = shard<0>>>
// CHECK: colrow.add %arg3, %[[ZERO]]
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @main(
      %w: tensor<4xf32> {colrow.role = "parameter", colrow.name = "w"},
      %lost: tensor<4xf32, #colrow.layout<tp = shard<0>>> {colrow.role = "parameter", colrow.name = "lost"})
      -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
    %0 = colrow.reduce_sum %w over [0] : (tensor<4xf32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

// Two f of one value are one, so that their transpose is one all-reduce.
// CHECK-LABEL: func.func @forward_backward
// CHECK-COUNT-1: colrow.f %arg0
// CHECK-NOT: colrow.f %arg0
// CHECK: colrow.g %{{.*}} -> tensor<4x8xf32>
// CHECK-NOT: colrow.g %{{.*}} -> tensor<4x8xf32>
// CHECK-LABEL: func.func @evaluate
#r = #colrow.layout<tp = replicated>
#p = #colrow.layout<tp = partial>
#s1 = #colrow.layout<tp = shard<1>>
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @main(
      %x: tensor<4x8xf32> {colrow.role = "parameter", colrow.name = "x"},
      %q: tensor<8x8xf32, #s1> {colrow.role = "parameter", colrow.name = "q"},
      %k: tensor<8x8xf32, #s1> {colrow.role = "parameter", colrow.name = "k"})
      -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
    %0 = colrow.f %x on ["tp"] : (tensor<4x8xf32>) -> tensor<4x8xf32, #r>
    %1 = colrow.einsum "ti,io->to" %0, %q : (tensor<4x8xf32, #r>, tensor<8x8xf32, #s1>) -> tensor<4x8xf32, #s1>
    %2 = colrow.f %x on ["tp"] : (tensor<4x8xf32>) -> tensor<4x8xf32, #r>
    %3 = colrow.einsum "ti,io->to" %2, %k : (tensor<4x8xf32, #r>, tensor<8x8xf32, #s1>) -> tensor<4x8xf32, #s1>
    %4 = colrow.mul %1, %3 : (tensor<4x8xf32, #s1>, tensor<4x8xf32, #s1>) -> tensor<4x8xf32, #s1>
    %5 = colrow.reduce_sum %4 over [0, 1] : (tensor<4x8xf32, #s1>) -> tensor<f32, #p>
    %6 = colrow.g %5 on ["tp"] : (tensor<f32, #p>) -> tensor<f32>
    return %6 : tensor<f32>
  }
}
