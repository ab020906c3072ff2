// GELU as exporters write it, by tanh and by erf, and what only looks like it.
// RUN: colrow-opt %s --split-input-file --colrow-widen-constants --colrow-raise | FileCheck %s
// RUN: colrow-opt %s --split-input-file --colrow-widen-constants --colrow-raise=only=silu,attention | FileCheck %s --check-prefix=OFF
// RUN: colrow-opt %s --split-input-file --colrow-widen-constants --colrow-raise --remarks-filter=colrow-raise -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// OFF-NOT: colrow.gelu
// REMARK: GELU recognised, by tanh

// GPT-2: x/2 (1 + tanh(c (x + 0.044715 x^3))) with pow.
// CHECK-LABEL: @tanh_pow
// CHECK-NEXT: %[[Y:.*]] = colrow.gelu tanh %arg0 : (tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @tanh_pow(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %half = colrow.constant dense<0.5> : tensor<f32>
  %three = colrow.constant dense<3.0> : tensor<f32>
  %w = colrow.constant dense<4.471500e-02> : tensor<f32>
  %c = colrow.constant dense<0.797884583> : tensor<f32>
  %one = colrow.constant dense<1.0> : tensor<f32>
  %0 = colrow.mul %x, %half : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %1 = colrow.pow %x, %three : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %2 = colrow.mul %1, %w : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %3 = colrow.add %x, %2 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %4 = colrow.mul %3, %c : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %5 = colrow.tanh %4 : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %6 = colrow.add %5, %one : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %7 = colrow.mul %0, %6 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %7 : tensor<2x8xf32>
}

// -----

// The cube as products, c x (1 + 0.044715 x^2) inside, the half last; x is itself a sum.
// CHECK-LABEL: @tanh_products
// CHECK-NEXT: %[[X:.*]] = colrow.add %arg0, %arg1
// CHECK-NEXT: colrow.gelu tanh %[[X]]
// CHECK-NEXT: return
func.func @tanh_products(%h: tensor<2x8xf32>, %b: tensor<8xf32>) -> tensor<2x8xf32> {
  %half = colrow.constant dense<0.5> : tensor<f32>
  %w = colrow.constant dense<4.471500e-02> : tensor<f32>
  %c = colrow.constant dense<0.797884583> : tensor<f32>
  %one = colrow.constant dense<1.0> : tensor<f32>
  %x = colrow.add %h, %b : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %0 = colrow.mul %x, %x : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %1 = colrow.mul %w, %0 : (tensor<f32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %2 = colrow.add %one, %1 : (tensor<f32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %3 = colrow.mul %x, %c : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %4 = colrow.mul %3, %2 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %5 = colrow.tanh %4 : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %6 = colrow.add %one, %5 : (tensor<f32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %7 = colrow.mul %6, %x : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %8 = colrow.mul %7, %half : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  return %8 : tensor<2x8xf32>
}

// -----

// BERT: x (1/2 (1 + erf(x / sqrt 2))).
// CHECK-LABEL: @erf
// CHECK-NEXT: colrow.gelu erf %arg0
// CHECK-NEXT: return
func.func @erf(%x: tensor<8xf32>) -> tensor<8xf32> {
  %half = colrow.constant dense<0.5> : tensor<f32>
  %root = colrow.constant dense<1.41421354> : tensor<f32>
  %one = colrow.constant dense<1.0> : tensor<f32>
  %0 = colrow.div %x, %root : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = colrow.erf %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = colrow.add %1, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = colrow.mul %half, %2 : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = colrow.mul %x, %3 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// -----

// Another constant: 0.7978 is not sqrt(2 / pi).
// CHECK-LABEL: @other_constant
// CHECK-NOT: colrow.gelu
// CHECK: return
func.func @other_constant(%x: tensor<8xf32>) -> tensor<8xf32> {
  %half = colrow.constant dense<0.5> : tensor<f32>
  %root = colrow.constant dense<1.4141> : tensor<f32>
  %one = colrow.constant dense<1.0> : tensor<f32>
  %0 = colrow.div %x, %root : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = colrow.erf %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = colrow.add %1, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = colrow.mul %half, %2 : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = colrow.mul %x, %3 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// -----

// Somebody else reads the curve.
// CHECK-LABEL: @second_reader
// CHECK-NOT: colrow.gelu
// CHECK: return
func.func @second_reader(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %half = colrow.constant dense<0.5> : tensor<f32>
  %root = colrow.constant dense<1.41421354> : tensor<f32>
  %one = colrow.constant dense<1.0> : tensor<f32>
  %0 = colrow.div %x, %root : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = colrow.erf %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = colrow.add %1, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = colrow.mul %half, %2 : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = colrow.mul %x, %3 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %4, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Times another value than what the curve is of.
// CHECK-LABEL: @other_factor
// CHECK-NOT: colrow.gelu
// CHECK: return
func.func @other_factor(%x: tensor<8xf32>, %z: tensor<8xf32>) -> tensor<8xf32> {
  %half = colrow.constant dense<0.5> : tensor<f32>
  %root = colrow.constant dense<1.41421354> : tensor<f32>
  %one = colrow.constant dense<1.0> : tensor<f32>
  %0 = colrow.div %x, %root : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = colrow.erf %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = colrow.add %1, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = colrow.mul %half, %2 : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = colrow.mul %z, %3 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}
