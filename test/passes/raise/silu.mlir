// SiLU, alone and gated, and what only looks like it.
// RUN: colrow-opt %s --split-input-file --colrow-raise | FileCheck %s
// RUN: colrow-opt %s --split-input-file --colrow-raise=only=gelu | FileCheck %s --check-prefix=OFF
// RUN: colrow-opt %s --split-input-file --colrow-raise --remarks-filter=colrow-raise -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// OFF-NOT: colrow.silu
// REMARK: SiLU recognised

// CHECK-LABEL: @gated
// CHECK-NEXT: %[[S:.*]] = colrow.silu %arg0
// CHECK-NEXT: colrow.mul %[[S]], %arg1
// CHECK-NEXT: return
func.func @gated(%x: tensor<8xf32>, %up: tensor<8xf32>) -> tensor<8xf32> {
  %0 = colrow.sigmoid %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = colrow.mul %0, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = colrow.mul %1, %up : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// Quick GELU: the sigmoid is of 1.702 x.
// CHECK-LABEL: @quick_gelu
// CHECK-NOT: colrow.silu
// CHECK: return
func.func @quick_gelu(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c = colrow.constant dense<1.702> : tensor<f32>
  %0 = colrow.mul %x, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = colrow.sigmoid %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = colrow.mul %x, %1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// A gate of its own, whose sigmoid another value reads too.
// CHECK-LABEL: @second_reader
// CHECK-NOT: colrow.silu
// CHECK: return
func.func @second_reader(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = colrow.sigmoid %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = colrow.mul %0, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %1, %0 : tensor<8xf32>, tensor<8xf32>
}
