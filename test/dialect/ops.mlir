// Every operation as it is written: printed and parsed again, nothing changes.
// RUN: colrow-opt %s | FileCheck %s
// RUN: colrow-opt %s | colrow-opt | FileCheck %s
// RUN: colrow-opt %s --mlir-print-op-generic | colrow-opt | FileCheck %s

// CHECK-LABEL: func.func @neg(
func.func @neg(%arg0: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.neg %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  %0 = colrow.neg %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @neg_2(
func.func @neg_2(%arg0: tensor<24xi64>) {
  // CHECK-NEXT: %0 = colrow.neg %arg0 : (tensor<24xi64>) -> tensor<24xi64>
  %0 = colrow.neg %arg0 : (tensor<24xi64>) -> tensor<24xi64>
  return
}
// CHECK-LABEL: func.func @abs(
func.func @abs(%arg0: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.abs %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  %0 = colrow.abs %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @exp(
func.func @exp(%arg0: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.exp %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  %0 = colrow.exp %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @log(
func.func @log(%arg0: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.log %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  %0 = colrow.log %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @sqrt(
func.func @sqrt(%arg0: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.sqrt %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  %0 = colrow.sqrt %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @reciprocal(
func.func @reciprocal(%arg0: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.reciprocal %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  %0 = colrow.reciprocal %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @tanh(
func.func @tanh(%arg0: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.tanh %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  %0 = colrow.tanh %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @erf(
func.func @erf(%arg0: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.erf %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  %0 = colrow.erf %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @sin(
func.func @sin(%arg0: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.sin %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  %0 = colrow.sin %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @cos(
func.func @cos(%arg0: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.cos %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  %0 = colrow.cos %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @sigmoid(
func.func @sigmoid(%arg0: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.sigmoid %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  %0 = colrow.sigmoid %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @floor(
func.func @floor(%arg0: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.floor %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  %0 = colrow.floor %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @ceil(
func.func @ceil(%arg0: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.ceil %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  %0 = colrow.ceil %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @round(
func.func @round(%arg0: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.round %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  %0 = colrow.round %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @sign(
func.func @sign(%arg0: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.sign %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  %0 = colrow.sign %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @not(
func.func @not(%arg0: tensor<3x24xi1>) {
  // CHECK-NEXT: %0 = colrow.not %arg0 : (tensor<3x24xi1>) -> tensor<3x24xi1>
  %0 = colrow.not %arg0 : (tensor<3x24xi1>) -> tensor<3x24xi1>
  return
}
// CHECK-LABEL: func.func @isnan(
func.func @isnan(%arg0: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.isnan %arg0 : (tensor<3x24xf32>) -> tensor<3x24xi1>
  %0 = colrow.isnan %arg0 : (tensor<3x24xf32>) -> tensor<3x24xi1>
  return
}
// CHECK-LABEL: func.func @stop_gradient(
func.func @stop_gradient(%arg0: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.stop_gradient %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  %0 = colrow.stop_gradient %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @add(
func.func @add(%arg0: tensor<3x24xf32>, %arg1: tensor<24xf32>) {
  // CHECK-NEXT: %0 = colrow.add %arg0, %arg1 : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xf32>
  %0 = colrow.add %arg0, %arg1 : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @add_2(
func.func @add_2(%arg0: tensor<24x1xf32>, %arg1: tensor<1x24xf32>) {
  // CHECK-NEXT: %0 = colrow.add %arg0, %arg1 : (tensor<24x1xf32>, tensor<1x24xf32>) -> tensor<24x24xf32>
  %0 = colrow.add %arg0, %arg1 : (tensor<24x1xf32>, tensor<1x24xf32>) -> tensor<24x24xf32>
  return
}
// CHECK-LABEL: func.func @sub(
func.func @sub(%arg0: tensor<3x24xf32>, %arg1: tensor<3x1xf32>) {
  // CHECK-NEXT: %0 = colrow.sub %arg0, %arg1 : (tensor<3x24xf32>, tensor<3x1xf32>) -> tensor<3x24xf32>
  %0 = colrow.sub %arg0, %arg1 : (tensor<3x24xf32>, tensor<3x1xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @mul(
func.func @mul(%arg0: tensor<3x24xf32>, %arg1: tensor<24xf32>) {
  // CHECK-NEXT: %0 = colrow.mul %arg0, %arg1 : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xf32>
  %0 = colrow.mul %arg0, %arg1 : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @mul_2(
func.func @mul_2(%arg0: tensor<3x24xf32>, %arg1: tensor<f32>) {
  // CHECK-NEXT: %0 = colrow.mul %arg0, %arg1 : (tensor<3x24xf32>, tensor<f32>) -> tensor<3x24xf32>
  %0 = colrow.mul %arg0, %arg1 : (tensor<3x24xf32>, tensor<f32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @mul_3(
func.func @mul_3(%arg0: tensor<24xi64>, %arg1: tensor<24xi64>) {
  // CHECK-NEXT: %0 = colrow.mul %arg0, %arg1 : (tensor<24xi64>, tensor<24xi64>) -> tensor<24xi64>
  %0 = colrow.mul %arg0, %arg1 : (tensor<24xi64>, tensor<24xi64>) -> tensor<24xi64>
  return
}
// CHECK-LABEL: func.func @div(
func.func @div(%arg0: tensor<3x24xf32>, %arg1: tensor<24xf32>) {
  // CHECK-NEXT: %0 = colrow.div %arg0, %arg1 : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xf32>
  %0 = colrow.div %arg0, %arg1 : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @pow(
func.func @pow(%arg0: tensor<3x24xf32>, %arg1: tensor<24xf32>) {
  // CHECK-NEXT: %0 = colrow.pow %arg0, %arg1 : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xf32>
  %0 = colrow.pow %arg0, %arg1 : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @max(
func.func @max(%arg0: tensor<3x24xf32>, %arg1: tensor<24xf32>) {
  // CHECK-NEXT: %0 = colrow.max %arg0, %arg1 : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xf32>
  %0 = colrow.max %arg0, %arg1 : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @min(
func.func @min(%arg0: tensor<3x24xf32>, %arg1: tensor<24xf32>) {
  // CHECK-NEXT: %0 = colrow.min %arg0, %arg1 : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xf32>
  %0 = colrow.min %arg0, %arg1 : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @mod(
func.func @mod(%arg0: tensor<3x24xf32>, %arg1: tensor<24xf32>) {
  // CHECK-NEXT: %0 = colrow.mod %arg0, %arg1 : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xf32>
  %0 = colrow.mod %arg0, %arg1 : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @mod_2(
func.func @mod_2(%arg0: tensor<3x24xf32>, %arg1: tensor<24xf32>) {
  // CHECK-NEXT: %0 = colrow.mod %arg0, %arg1 {fmod} : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xf32>
  %0 = colrow.mod %arg0, %arg1 {fmod} : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @and(
func.func @and(%arg0: tensor<3x24xi1>, %arg1: tensor<24xi1>) {
  // CHECK-NEXT: %0 = colrow.and %arg0, %arg1 : (tensor<3x24xi1>, tensor<24xi1>) -> tensor<3x24xi1>
  %0 = colrow.and %arg0, %arg1 : (tensor<3x24xi1>, tensor<24xi1>) -> tensor<3x24xi1>
  return
}
// CHECK-LABEL: func.func @or(
func.func @or(%arg0: tensor<3x24xi1>, %arg1: tensor<24xi1>) {
  // CHECK-NEXT: %0 = colrow.or %arg0, %arg1 : (tensor<3x24xi1>, tensor<24xi1>) -> tensor<3x24xi1>
  %0 = colrow.or %arg0, %arg1 : (tensor<3x24xi1>, tensor<24xi1>) -> tensor<3x24xi1>
  return
}
// CHECK-LABEL: func.func @xor(
func.func @xor(%arg0: tensor<3x24xi1>, %arg1: tensor<24xi1>) {
  // CHECK-NEXT: %0 = colrow.xor %arg0, %arg1 : (tensor<3x24xi1>, tensor<24xi1>) -> tensor<3x24xi1>
  %0 = colrow.xor %arg0, %arg1 : (tensor<3x24xi1>, tensor<24xi1>) -> tensor<3x24xi1>
  return
}
// CHECK-LABEL: func.func @compare(
func.func @compare(%arg0: tensor<3x24xf32>, %arg1: tensor<24xf32>) {
  // CHECK-NEXT: %0 = colrow.compare le %arg0, %arg1 : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xi1>
  %0 = colrow.compare le %arg0, %arg1 : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xi1>
  return
}
// CHECK-LABEL: func.func @compare_2(
func.func @compare_2(%arg0: tensor<24x1xi64>, %arg1: tensor<24xi64>) {
  // CHECK-NEXT: %0 = colrow.compare eq %arg0, %arg1 : (tensor<24x1xi64>, tensor<24xi64>) -> tensor<24x24xi1>
  %0 = colrow.compare eq %arg0, %arg1 : (tensor<24x1xi64>, tensor<24xi64>) -> tensor<24x24xi1>
  return
}
// CHECK-LABEL: func.func @select(
func.func @select(%arg0: tensor<24xi1>, %arg1: tensor<3x24xf32>, %arg2: tensor<3x1xf32>) {
  // CHECK-NEXT: %0 = colrow.select %arg0, %arg1, %arg2 : (tensor<24xi1>, tensor<3x24xf32>, tensor<3x1xf32>) -> tensor<3x24xf32>
  %0 = colrow.select %arg0, %arg1, %arg2 : (tensor<24xi1>, tensor<3x24xf32>, tensor<3x1xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @cast(
func.func @cast(%arg0: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.cast %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf64>
  %0 = colrow.cast %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf64>
  return
}
// CHECK-LABEL: func.func @cast_2(
func.func @cast_2(%arg0: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.cast %arg0 : (tensor<3x24xf32>) -> tensor<3x24xi64>
  %0 = colrow.cast %arg0 : (tensor<3x24xf32>) -> tensor<3x24xi64>
  return
}
// CHECK-LABEL: func.func @cast_3(
func.func @cast_3(%arg0: tensor<3x24xi64>) {
  // CHECK-NEXT: %0 = colrow.cast %arg0 : (tensor<3x24xi64>) -> tensor<3x24xf32>
  %0 = colrow.cast %arg0 : (tensor<3x24xi64>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @cast_4(
func.func @cast_4(%arg0: tensor<3x24xi64>) {
  // CHECK-NEXT: %0 = colrow.cast %arg0 : (tensor<3x24xi64>) -> tensor<3x24xi1>
  %0 = colrow.cast %arg0 : (tensor<3x24xi64>) -> tensor<3x24xi1>
  return
}
// CHECK-LABEL: func.func @reduce_sum(
func.func @reduce_sum(%arg0: tensor<3x24x4xf32>) {
  // CHECK-NEXT: %0 = colrow.reduce_sum %arg0 over [1] : (tensor<3x24x4xf32>) -> tensor<3x4xf32>
  %0 = colrow.reduce_sum %arg0 over [1] : (tensor<3x24x4xf32>) -> tensor<3x4xf32>
  return
}
// CHECK-LABEL: func.func @reduce_sum_2(
func.func @reduce_sum_2(%arg0: tensor<4x24x4xf32>) {
  // CHECK-NEXT: %0 = colrow.reduce_sum %arg0 over [0, 2] keepdims : (tensor<4x24x4xf32>) -> tensor<1x24x1xf32>
  %0 = colrow.reduce_sum %arg0 over [0, 2] keepdims : (tensor<4x24x4xf32>) -> tensor<1x24x1xf32>
  return
}
// CHECK-LABEL: func.func @reduce_sum_3(
func.func @reduce_sum_3(%arg0: tensor<24xi64>) {
  // CHECK-NEXT: %0 = colrow.reduce_sum %arg0 over [0] : (tensor<24xi64>) -> tensor<i64>
  %0 = colrow.reduce_sum %arg0 over [0] : (tensor<24xi64>) -> tensor<i64>
  return
}
// CHECK-LABEL: func.func @reduce_max(
func.func @reduce_max(%arg0: tensor<3x24x4xf32>) {
  // CHECK-NEXT: %0 = colrow.reduce_max %arg0 over [1] : (tensor<3x24x4xf32>) -> tensor<3x4xf32>
  %0 = colrow.reduce_max %arg0 over [1] : (tensor<3x24x4xf32>) -> tensor<3x4xf32>
  return
}
// CHECK-LABEL: func.func @reduce_min(
func.func @reduce_min(%arg0: tensor<4x24x4xf32>) {
  // CHECK-NEXT: %0 = colrow.reduce_min %arg0 over [1] : (tensor<4x24x4xf32>) -> tensor<4x4xf32>
  %0 = colrow.reduce_min %arg0 over [1] : (tensor<4x24x4xf32>) -> tensor<4x4xf32>
  return
}
// CHECK-LABEL: func.func @reduce_prod(
func.func @reduce_prod(%arg0: tensor<4x24xf32>) {
  // CHECK-NEXT: %0 = colrow.reduce_prod %arg0 over [1] keepdims : (tensor<4x24xf32>) -> tensor<4x1xf32>
  %0 = colrow.reduce_prod %arg0 over [1] keepdims : (tensor<4x24xf32>) -> tensor<4x1xf32>
  return
}
// CHECK-LABEL: func.func @cumsum(
func.func @cumsum(%arg0: tensor<24x4xf32>) {
  // CHECK-NEXT: %0 = colrow.cumsum %arg0 along 1 : (tensor<24x4xf32>) -> tensor<24x4xf32>
  %0 = colrow.cumsum %arg0 along 1 : (tensor<24x4xf32>) -> tensor<24x4xf32>
  return
}
// CHECK-LABEL: func.func @cumsum_2(
func.func @cumsum_2(%arg0: tensor<24x4xf32>) {
  // CHECK-NEXT: %0 = colrow.cumsum %arg0 along 0 exclusive reverse : (tensor<24x4xf32>) -> tensor<24x4xf32>
  %0 = colrow.cumsum %arg0 along 0 exclusive reverse : (tensor<24x4xf32>) -> tensor<24x4xf32>
  return
}
// CHECK-LABEL: func.func @einsum(
func.func @einsum(%arg0: tensor<4x24xf32>, %arg1: tensor<24x8xf32>) {
  // CHECK-NEXT: %0 = colrow.einsum "ti,io->to" %arg0, %arg1 : (tensor<4x24xf32>, tensor<24x8xf32>) -> tensor<4x8xf32>
  %0 = colrow.einsum "ti,io->to" %arg0, %arg1 : (tensor<4x24xf32>, tensor<24x8xf32>) -> tensor<4x8xf32>
  return
}
// CHECK-LABEL: func.func @einsum_2(
func.func @einsum_2(%arg0: tensor<2x4x3x4xf32>, %arg1: tensor<2x4x5x4xf32>) {
  // CHECK-NEXT: %0 = colrow.einsum "bhqd,bhkd->bhqk" %arg0, %arg1 : (tensor<2x4x3x4xf32>, tensor<2x4x5x4xf32>) -> tensor<2x4x3x5xf32>
  %0 = colrow.einsum "bhqd,bhkd->bhqk" %arg0, %arg1 : (tensor<2x4x3x4xf32>, tensor<2x4x5x4xf32>) -> tensor<2x4x3x5xf32>
  return
}
// CHECK-LABEL: func.func @einsum_3(
func.func @einsum_3(%arg0: tensor<8xf32>, %arg1: tensor<24xf32>) {
  // CHECK-NEXT: %0 = colrow.einsum "i,j->ji" %arg0, %arg1 : (tensor<8xf32>, tensor<24xf32>) -> tensor<24x8xf32>
  %0 = colrow.einsum "i,j->ji" %arg0, %arg1 : (tensor<8xf32>, tensor<24xf32>) -> tensor<24x8xf32>
  return
}
// CHECK-LABEL: func.func @constant(
func.func @constant() {
  // CHECK-NEXT: %0 = colrow.constant dense<2.500000e+00> : tensor<3x24xf32>
  %0 = colrow.constant dense<2.500000e+00> : tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @constant_2(
func.func @constant_2() {
  // CHECK-NEXT: %0 = colrow.constant dense<0.000000e+00> : tensor<3x24xf32>
  %0 = colrow.constant dense<0.000000e+00> : tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @constant_3(
func.func @constant_3() {
  // CHECK-NEXT: %0 = colrow.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>
  %0 = colrow.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>
  return
}
// CHECK-LABEL: func.func @constant_4(
func.func @constant_4() {
  // CHECK-NEXT: %0 = colrow.constant dense<7> : tensor<3x24xi64>
  %0 = colrow.constant dense<7> : tensor<3x24xi64>
  return
}
// CHECK-LABEL: func.func @iota(
func.func @iota() {
  // CHECK-NEXT: %0 = colrow.iota 1 : tensor<3x24xi64>
  %0 = colrow.iota 1 : tensor<3x24xi64>
  return
}
// CHECK-LABEL: func.func @iota_2(
func.func @iota_2() {
  // CHECK-NEXT: %0 = colrow.iota 0 : tensor<24x4xf32>
  %0 = colrow.iota 0 : tensor<24x4xf32>
  return
}
// CHECK-LABEL: func.func @reshape(
func.func @reshape(%arg0: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.reshape %arg0 : (tensor<3x24xf32>) -> tensor<3x4x6xf32>
  %0 = colrow.reshape %arg0 : (tensor<3x24xf32>) -> tensor<3x4x6xf32>
  return
}
// CHECK-LABEL: func.func @reshape_2(
func.func @reshape_2(%arg0: tensor<2x72xf32>) {
  // CHECK-NEXT: %0 = colrow.reshape %arg0 : (tensor<2x72xf32>) -> tensor<2x3x4x6xf32>
  %0 = colrow.reshape %arg0 : (tensor<2x72xf32>) -> tensor<2x3x4x6xf32>
  return
}
// CHECK-LABEL: func.func @reshape_3(
func.func @reshape_3(%arg0: tensor<4x6x5xf32>) {
  // CHECK-NEXT: %0 = colrow.reshape %arg0 : (tensor<4x6x5xf32>) -> tensor<8x15xf32>
  %0 = colrow.reshape %arg0 : (tensor<4x6x5xf32>) -> tensor<8x15xf32>
  return
}
// CHECK-LABEL: func.func @reshape_4(
func.func @reshape_4(%arg0: tensor<1x24x1xf32>) {
  // CHECK-NEXT: %0 = colrow.reshape %arg0 : (tensor<1x24x1xf32>) -> tensor<24xf32>
  %0 = colrow.reshape %arg0 : (tensor<1x24x1xf32>) -> tensor<24xf32>
  return
}
// CHECK-LABEL: func.func @transpose(
func.func @transpose(%arg0: tensor<3x24x4xf32>) {
  // CHECK-NEXT: %0 = colrow.transpose %arg0 [2, 0, 1] : (tensor<3x24x4xf32>) -> tensor<4x3x24xf32>
  %0 = colrow.transpose %arg0 [2, 0, 1] : (tensor<3x24x4xf32>) -> tensor<4x3x24xf32>
  return
}
// CHECK-LABEL: func.func @broadcast(
func.func @broadcast(%arg0: tensor<3x1xf32>) {
  // CHECK-NEXT: %0 = colrow.broadcast %arg0 : (tensor<3x1xf32>) -> tensor<24x3x8xf32>
  %0 = colrow.broadcast %arg0 : (tensor<3x1xf32>) -> tensor<24x3x8xf32>
  return
}
// CHECK-LABEL: func.func @broadcast_2(
func.func @broadcast_2(%arg0: tensor<8xi64>) {
  // CHECK-NEXT: %0 = colrow.broadcast %arg0 : (tensor<8xi64>) -> tensor<24x8xi64>
  %0 = colrow.broadcast %arg0 : (tensor<8xi64>) -> tensor<24x8xi64>
  return
}
// CHECK-LABEL: func.func @slice(
func.func @slice(%arg0: tensor<4x72xf32>) {
  // CHECK-NEXT: %0 = colrow.slice %arg0 from [0, 24] to [4, 48] step [1, 1] : (tensor<4x72xf32>) -> tensor<4x24xf32>
  %0 = colrow.slice %arg0 from [0, 24] to [4, 48] step [1, 1] : (tensor<4x72xf32>) -> tensor<4x24xf32>
  return
}
// CHECK-LABEL: func.func @slice_2(
func.func @slice_2(%arg0: tensor<4x24xf32>) {
  // CHECK-NEXT: %0 = colrow.slice %arg0 from [1, 0] to [4, 24] step [2, 1] : (tensor<4x24xf32>) -> tensor<2x24xf32>
  %0 = colrow.slice %arg0 from [1, 0] to [4, 24] step [2, 1] : (tensor<4x24xf32>) -> tensor<2x24xf32>
  return
}
// CHECK-LABEL: func.func @pad(
func.func @pad(%arg0: tensor<4x24xf32>) {
  // CHECK-NEXT: %0 = colrow.pad %arg0 low [0, 24] high [0, 24] step [1, 1] value 0.000000e+00 : (tensor<4x24xf32>) -> tensor<4x72xf32>
  %0 = colrow.pad %arg0 low [0, 24] high [0, 24] step [1, 1] value 0.000000e+00 : (tensor<4x24xf32>) -> tensor<4x72xf32>
  return
}
// CHECK-LABEL: func.func @pad_2(
func.func @pad_2(%arg0: tensor<4x24xf32>) {
  // CHECK-NEXT: %0 = colrow.pad %arg0 low [1, 0] high [2, 0] step [2, 1] value 3.000000e+00 : (tensor<4x24xf32>) -> tensor<10x24xf32>
  %0 = colrow.pad %arg0 low [1, 0] high [2, 0] step [2, 1] value 3.000000e+00 : (tensor<4x24xf32>) -> tensor<10x24xf32>
  return
}
// CHECK-LABEL: func.func @concat(
func.func @concat(%arg0: tensor<4x24xf32>, %arg1: tensor<4x24xf32>, %arg2: tensor<4x24xf32>) {
  // CHECK-NEXT: %0 = colrow.concat %arg0, %arg1, %arg2 along 1 : (tensor<4x24xf32>, tensor<4x24xf32>, tensor<4x24xf32>) -> tensor<4x72xf32>
  %0 = colrow.concat %arg0, %arg1, %arg2 along 1 : (tensor<4x24xf32>, tensor<4x24xf32>, tensor<4x24xf32>) -> tensor<4x72xf32>
  return
}
// CHECK-LABEL: func.func @concat_2(
func.func @concat_2(%arg0: tensor<4x24xf32>, %arg1: tensor<2x24xf32>) {
  // CHECK-NEXT: %0 = colrow.concat %arg0, %arg1 along 0 : (tensor<4x24xf32>, tensor<2x24xf32>) -> tensor<6x24xf32>
  %0 = colrow.concat %arg0, %arg1 along 0 : (tensor<4x24xf32>, tensor<2x24xf32>) -> tensor<6x24xf32>
  return
}
// CHECK-LABEL: func.func @take(
func.func @take(%arg0: tensor<24x4xf32>, %arg1: tensor<4x2xi64>) {
  // CHECK-NEXT: %0 = colrow.take %arg0 at %arg1 along 0 : (tensor<24x4xf32>, tensor<4x2xi64>) -> tensor<4x2x4xf32>
  %0 = colrow.take %arg0 at %arg1 along 0 : (tensor<24x4xf32>, tensor<4x2xi64>) -> tensor<4x2x4xf32>
  return
}
// CHECK-LABEL: func.func @take_2(
func.func @take_2(%arg0: tensor<4x24x3xf32>, %arg1: tensor<8xi64>) {
  // CHECK-NEXT: %0 = colrow.take %arg0 at %arg1 along 1 : (tensor<4x24x3xf32>, tensor<8xi64>) -> tensor<4x8x3xf32>
  %0 = colrow.take %arg0 at %arg1 along 1 : (tensor<4x24x3xf32>, tensor<8xi64>) -> tensor<4x8x3xf32>
  return
}
// CHECK-LABEL: func.func @take_3(
func.func @take_3(%arg0: tensor<24xi64>, %arg1: tensor<8xi64>) {
  // CHECK-NEXT: %0 = colrow.take %arg0 at %arg1 along 0 : (tensor<24xi64>, tensor<8xi64>) -> tensor<8xi64>
  %0 = colrow.take %arg0 at %arg1 along 0 : (tensor<24xi64>, tensor<8xi64>) -> tensor<8xi64>
  return
}
// CHECK-LABEL: func.func @take_grad(
func.func @take_grad(%arg0: tensor<4x2xi64>, %arg1: tensor<4x2x4xf32>) {
  // CHECK-NEXT: %0 = colrow.take_grad %arg1 at %arg0 along 0 : (tensor<4x2xi64>, tensor<4x2x4xf32>) -> tensor<24x4xf32>
  %0 = colrow.take_grad %arg1 at %arg0 along 0 : (tensor<4x2xi64>, tensor<4x2x4xf32>) -> tensor<24x4xf32>
  return
}
// CHECK-LABEL: func.func @take_along(
func.func @take_along(%arg0: tensor<8x24xf32>, %arg1: tensor<8x4xi64>) {
  // CHECK-NEXT: %0 = colrow.take_along %arg0 at %arg1 along 1 : (tensor<8x24xf32>, tensor<8x4xi64>) -> tensor<8x4xf32>
  %0 = colrow.take_along %arg0 at %arg1 along 1 : (tensor<8x24xf32>, tensor<8x4xi64>) -> tensor<8x4xf32>
  return
}
// CHECK-LABEL: func.func @take_along_2(
func.func @take_along_2(%arg0: tensor<4x24xf32>, %arg1: tensor<2x24xi64>) {
  // CHECK-NEXT: %0 = colrow.take_along %arg0 at %arg1 along 1 : (tensor<4x24xf32>, tensor<2x24xi64>) -> tensor<2x24xf32>
  %0 = colrow.take_along %arg0 at %arg1 along 1 : (tensor<4x24xf32>, tensor<2x24xi64>) -> tensor<2x24xf32>
  return
}
// CHECK-LABEL: func.func @take_along_grad(
func.func @take_along_grad(%arg0: tensor<8x4xi64>, %arg1: tensor<8x4xf32>) {
  // CHECK-NEXT: %0 = colrow.take_along_grad %arg1 at %arg0 along 1 : (tensor<8x4xi64>, tensor<8x4xf32>) -> tensor<8x24xf32>
  %0 = colrow.take_along_grad %arg1 at %arg0 along 1 : (tensor<8x4xi64>, tensor<8x4xf32>) -> tensor<8x24xf32>
  return
}
// CHECK-LABEL: func.func @mask_padding(
func.func @mask_padding(%arg0: tensor<4x24xf32>) {
  // CHECK-NEXT: %0 = colrow.mask_padding %arg0 along 1 valid 17 value 2.1178512679360433E-314 : (tensor<4x24xf32>) -> tensor<4x24xf32>
  %0 = colrow.mask_padding %arg0 along 1 valid 17 value 2.1178512679360433E-314 : (tensor<4x24xf32>) -> tensor<4x24xf32>
  return
}
// CHECK-LABEL: func.func @mask_padding_2(
func.func @mask_padding_2(%arg0: tensor<4x24xf32>) {
  // CHECK-NEXT: %0 = colrow.mask_padding %arg0 along 1 valid 17 value 0.000000e+00 : (tensor<4x24xf32>) -> tensor<4x24xf32>
  %0 = colrow.mask_padding %arg0 along 1 valid 17 value 0.000000e+00 : (tensor<4x24xf32>) -> tensor<4x24xf32>
  return
}
// CHECK-LABEL: func.func @gelu(
func.func @gelu(%arg0: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.gelu erf %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  %0 = colrow.gelu erf %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @gelu_2(
func.func @gelu_2(%arg0: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.gelu tanh %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  %0 = colrow.gelu tanh %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @silu(
func.func @silu(%arg0: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.silu %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  %0 = colrow.silu %arg0 : (tensor<3x24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @gelu_grad(
func.func @gelu_grad(%arg0: tensor<3x24xf32>, %arg1: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.gelu_grad erf %arg0 at %arg1 : (tensor<3x24xf32>, tensor<3x24xf32>) -> tensor<3x24xf32>
  %0 = colrow.gelu_grad erf %arg0 at %arg1 : (tensor<3x24xf32>, tensor<3x24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @gelu_grad_2(
func.func @gelu_grad_2(%arg0: tensor<3x24xf32>, %arg1: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.gelu_grad tanh %arg0 at %arg1 : (tensor<3x24xf32>, tensor<3x24xf32>) -> tensor<3x24xf32>
  %0 = colrow.gelu_grad tanh %arg0 at %arg1 : (tensor<3x24xf32>, tensor<3x24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @silu_grad(
func.func @silu_grad(%arg0: tensor<3x24xf32>, %arg1: tensor<3x24xf32>) {
  // CHECK-NEXT: %0 = colrow.silu_grad %arg0 at %arg1 : (tensor<3x24xf32>, tensor<3x24xf32>) -> tensor<3x24xf32>
  %0 = colrow.silu_grad %arg0 at %arg1 : (tensor<3x24xf32>, tensor<3x24xf32>) -> tensor<3x24xf32>
  return
}
// CHECK-LABEL: func.func @softmax(
func.func @softmax(%arg0: tensor<4x5x24xf32>) {
  // CHECK-NEXT: %0 = colrow.softmax %arg0 along 1 : (tensor<4x5x24xf32>) -> tensor<4x5x24xf32>
  %0 = colrow.softmax %arg0 along 1 : (tensor<4x5x24xf32>) -> tensor<4x5x24xf32>
  return
}
// CHECK-LABEL: func.func @softmax_grad(
func.func @softmax_grad(%arg0: tensor<4x5x24xf32>, %arg1: tensor<4x5x24xf32>) {
  // CHECK-NEXT: %0 = colrow.softmax_grad %arg0 at %arg1 along 1 : (tensor<4x5x24xf32>, tensor<4x5x24xf32>) -> tensor<4x5x24xf32>
  %0 = colrow.softmax_grad %arg0 at %arg1 along 1 : (tensor<4x5x24xf32>, tensor<4x5x24xf32>) -> tensor<4x5x24xf32>
  return
}
// CHECK-LABEL: func.func @layer_norm(
func.func @layer_norm(%arg0: tensor<4x24xf32>, %arg1: tensor<24xf32>, %arg2: tensor<24xf32>) {
  // CHECK-NEXT: %0 = colrow.layer_norm %arg0 scale %arg1 bias %arg2 from 1 epsilon 1.000000e-05 : (tensor<4x24xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<4x24xf32>
  %0 = colrow.layer_norm %arg0 scale %arg1 bias %arg2 from 1 epsilon 1.000000e-05 : (tensor<4x24xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<4x24xf32>
  return
}
// CHECK-LABEL: func.func @layer_norm_2(
func.func @layer_norm_2(%arg0: tensor<8x6xf32>, %arg1: tensor<6xf32>) {
  // CHECK-NEXT: %0 = colrow.layer_norm %arg0 scale %arg1 from 1 epsilon 1.000000e-05 : (tensor<8x6xf32>, tensor<6xf32>) -> tensor<8x6xf32>
  %0 = colrow.layer_norm %arg0 scale %arg1 from 1 epsilon 1.000000e-05 : (tensor<8x6xf32>, tensor<6xf32>) -> tensor<8x6xf32>
  return
}
// CHECK-LABEL: func.func @layer_norm_with_statistics(
func.func @layer_norm_with_statistics(%arg0: tensor<8x6xf32>, %arg1: tensor<6xf32>, %arg2: tensor<6xf32>) {
  // CHECK-NEXT: %result, %mean, %rstd = colrow.layer_norm_with_statistics %arg0 scale %arg1 bias %arg2 from 1 epsilon 1.000000e-05 : (tensor<8x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<8x6xf32>, tensor<8xf32>, tensor<8xf32>)
  %result, %mean, %rstd = colrow.layer_norm_with_statistics %arg0 scale %arg1 bias %arg2 from 1 epsilon 1.000000e-05 : (tensor<8x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<8x6xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}
// CHECK-LABEL: func.func @layer_norm_grad(
func.func @layer_norm_grad(%arg0: tensor<8x6xf32>, %arg1: tensor<8x6xf32>, %arg2: tensor<8xf32>, %arg3: tensor<8xf32>, %arg4: tensor<6xf32>) {
  // CHECK-NEXT: %input_gradient, %scale_gradient, %bias_gradient = colrow.layer_norm_grad %arg0 at %arg1 mean %arg2 rstd %arg3 scale %arg4 from 1 : (tensor<8x6xf32>, tensor<8x6xf32>, tensor<8xf32>, tensor<8xf32>, tensor<6xf32>) -> (tensor<8x6xf32>, tensor<6xf32>, tensor<6xf32>)
  %input_gradient, %scale_gradient, %bias_gradient = colrow.layer_norm_grad %arg0 at %arg1 mean %arg2 rstd %arg3 scale %arg4 from 1 : (tensor<8x6xf32>, tensor<8x6xf32>, tensor<8xf32>, tensor<8xf32>, tensor<6xf32>) -> (tensor<8x6xf32>, tensor<6xf32>, tensor<6xf32>)
  return
}
// CHECK-LABEL: func.func @rms_norm(
func.func @rms_norm(%arg0: tensor<8x6xf32>, %arg1: tensor<6xf32>) {
  // CHECK-NEXT: %0 = colrow.rms_norm %arg0 scale %arg1 from 1 epsilon 1.000000e-05 : (tensor<8x6xf32>, tensor<6xf32>) -> tensor<8x6xf32>
  %0 = colrow.rms_norm %arg0 scale %arg1 from 1 epsilon 1.000000e-05 : (tensor<8x6xf32>, tensor<6xf32>) -> tensor<8x6xf32>
  return
}
// CHECK-LABEL: func.func @rms_norm_with_statistics(
func.func @rms_norm_with_statistics(%arg0: tensor<8x6xf32>) {
  // CHECK-NEXT: %result, %rstd = colrow.rms_norm_with_statistics %arg0 from 1 epsilon 1.000000e-05 : (tensor<8x6xf32>) -> (tensor<8x6xf32>, tensor<8xf32>)
  %result, %rstd = colrow.rms_norm_with_statistics %arg0 from 1 epsilon 1.000000e-05 : (tensor<8x6xf32>) -> (tensor<8x6xf32>, tensor<8xf32>)
  return
}
// CHECK-LABEL: func.func @rms_norm_grad(
func.func @rms_norm_grad(%arg0: tensor<8x6xf32>, %arg1: tensor<8xf32>, %arg2: tensor<6xf32>) {
  // CHECK-NEXT: %input_gradient, %scale_gradient = colrow.rms_norm_grad %arg0 at %arg0 rstd %arg1 scale %arg2 from 1 : (tensor<8x6xf32>, tensor<8x6xf32>, tensor<8xf32>, tensor<6xf32>) -> (tensor<8x6xf32>, tensor<6xf32>)
  %input_gradient, %scale_gradient = colrow.rms_norm_grad %arg0 at %arg0 rstd %arg1 scale %arg2 from 1 : (tensor<8x6xf32>, tensor<8x6xf32>, tensor<8xf32>, tensor<6xf32>) -> (tensor<8x6xf32>, tensor<6xf32>)
  return
}
// CHECK-LABEL: func.func @dropout(
func.func @dropout(%arg0: tensor<4x24xf32>, %arg1: tensor<4xi64>) {
  // CHECK-NEXT: %0 = colrow.dropout %arg0 random %arg1 rate 2.500000e-01 id 11 : (tensor<4x24xf32>, tensor<4xi64>) -> tensor<4x24xf32>
  %0 = colrow.dropout %arg0 random %arg1 rate 2.500000e-01 id 11 : (tensor<4x24xf32>, tensor<4xi64>) -> tensor<4x24xf32>
  return
}
// CHECK-LABEL: func.func @attention(
func.func @attention(%arg0: tensor<2x4x2x3xf32>, %arg1: tensor<2x2x5x3xf32>, %arg2: tensor<2x2x5x6xf32>) {
  // CHECK-NEXT: %0 = colrow.attention %arg0, %arg1, %arg2 scale 5.000000e-01 : (tensor<2x4x2x3xf32>, tensor<2x2x5x3xf32>, tensor<2x2x5x6xf32>) -> tensor<2x4x2x6xf32>
  %0 = colrow.attention %arg0, %arg1, %arg2 scale 5.000000e-01 : (tensor<2x4x2x3xf32>, tensor<2x2x5x3xf32>, tensor<2x2x5x6xf32>) -> tensor<2x4x2x6xf32>
  return
}
// CHECK-LABEL: func.func @attention_2(
func.func @attention_2(%arg0: tensor<2x4x2x3xf32>, %arg1: tensor<2x4x5x3xf32>, %arg2: tensor<1x5xf32>, %arg3: tensor<4xi64>) {
  // CHECK-NEXT: %0 = colrow.attention %arg0, %arg1, %arg1 mask %arg2 random %arg3 rate 2.500000e-01 id 11 scale 5.000000e-01 causal 3 : (tensor<2x4x2x3xf32>, tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>, tensor<1x5xf32>, tensor<4xi64>) -> tensor<2x4x2x3xf32>
  %0 = colrow.attention %arg0, %arg1, %arg1 mask %arg2 random %arg3 rate 2.500000e-01 id 11 scale 5.000000e-01 causal 3 : (tensor<2x4x2x3xf32>, tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>, tensor<1x5xf32>, tensor<4xi64>) -> tensor<2x4x2x3xf32>
  return
}
// CHECK-LABEL: func.func @attention_cap(
func.func @attention_cap(%arg0: tensor<2x4x2x3xf32>) {
  // CHECK-NEXT: %0 = colrow.attention %arg0, %arg0, %arg0 scale 5.000000e-01 cap 2.000000e+01 causal 0 : (tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>) -> tensor<2x4x2x3xf32>
  %0 = colrow.attention %arg0, %arg0, %arg0 scale 5.000000e-01 cap 2.000000e+01 causal 0 : (tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>) -> tensor<2x4x2x3xf32>
  return
}
// CHECK-LABEL: func.func @attention_with_statistics(
func.func @attention_with_statistics(%arg0: tensor<2x4x2x3xf32>, %arg1: tensor<2x4x2x3xf32>) {
  // CHECK-NEXT: %result, %log_sum_exp = colrow.attention_with_statistics %arg0, %arg1, %arg1 scale 5.000000e-01 causal 0 : (tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>) -> (tensor<2x4x2x3xf32>, tensor<2x4x2xf32>)
  %result, %log_sum_exp = colrow.attention_with_statistics %arg0, %arg1, %arg1 scale 5.000000e-01 causal 0 : (tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>) -> (tensor<2x4x2x3xf32>, tensor<2x4x2xf32>)
  return
}
// CHECK-LABEL: func.func @attention_grad(
func.func @attention_grad(%arg0: tensor<2x4x2x3xf32>, %arg1: tensor<2x4x2xf32>, %arg2: tensor<4xi64>) {
  // CHECK-NEXT: %query_gradient, %key_gradient, %value_gradient = colrow.attention_grad %arg0 at %arg0, %arg0, %arg0 log_sum_exp %arg1 random %arg2 rate 2.500000e-01 id 11 scale 5.000000e-01 causal 0 : (tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>, tensor<2x4x2xf32>, tensor<4xi64>) -> (tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>)
  %query_gradient, %key_gradient, %value_gradient = colrow.attention_grad %arg0 at %arg0, %arg0, %arg0 log_sum_exp %arg1 random %arg2 rate 2.500000e-01 id 11 scale 5.000000e-01 causal 0 : (tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>, tensor<2x4x2xf32>, tensor<4xi64>) -> (tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>)
  return
}
// CHECK-LABEL: func.func @attention_grad_mask(
func.func @attention_grad_mask(%arg0: tensor<2x4x2x3xf32>, %arg1: tensor<2x4x2xf32>, %arg2: tensor<4x1x2xf32>) {
  // CHECK-NEXT: %query_gradient, %key_gradient, %value_gradient, %mask_gradient = colrow.attention_grad %arg0 at %arg0, %arg0, %arg0 log_sum_exp %arg1 mask %arg2 scale 5.000000e-01 cap 3.000000e+00 with_mask_gradient : (tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>, tensor<2x4x2xf32>, tensor<4x1x2xf32>) -> (tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>, tensor<4x1x2xf32>)
  %query_gradient, %key_gradient, %value_gradient, %mask_gradient = colrow.attention_grad %arg0 at %arg0, %arg0, %arg0 log_sum_exp %arg1 mask %arg2 scale 5.000000e-01 cap 3.000000e+00 with_mask_gradient : (tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>, tensor<2x4x2xf32>, tensor<4x1x2xf32>) -> (tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>, tensor<2x4x2x3xf32>, tensor<4x1x2xf32>)
  return
}
// CHECK-LABEL: func.func @cross_entropy(
func.func @cross_entropy(%arg0: tensor<4x24xf32>, %arg1: tensor<4xi64>, %arg2: tensor<f32>) {
  // CHECK-NEXT: %0 = colrow.cross_entropy %arg0, %arg1, %arg2 ignore 3 valid 19 : (tensor<4x24xf32>, tensor<4xi64>, tensor<f32>) -> tensor<f32>
  %0 = colrow.cross_entropy %arg0, %arg1, %arg2 ignore 3 valid 19 : (tensor<4x24xf32>, tensor<4xi64>, tensor<f32>) -> tensor<f32>
  return
}
// CHECK-LABEL: func.func @cross_entropy_terms(
func.func @cross_entropy_terms(%arg0: tensor<4x24xf32>, %arg1: tensor<4xi64>, %arg2: tensor<f32>) {
  // CHECK-NEXT: %0 = colrow.cross_entropy %arg0, %arg1, %arg2 ignore 3 valid 19 {label_smoothing = 1.000000e-01 : f64, z_loss = 1.000000e-02 : f64} : (tensor<4x24xf32>, tensor<4xi64>, tensor<f32>) -> tensor<f32>
  %0 = colrow.cross_entropy %arg0, %arg1, %arg2 ignore 3 valid 19 {label_smoothing = 1.000000e-01 : f64, z_loss = 1.000000e-02 : f64} : (tensor<4x24xf32>, tensor<4xi64>, tensor<f32>) -> tensor<f32>
  return
}
// CHECK-LABEL: func.func @cross_entropy_with_statistics(
func.func @cross_entropy_with_statistics(%arg0: tensor<4x24xf32>, %arg1: tensor<4xi64>, %arg2: tensor<f32>) {
  // CHECK-NEXT: %result, %log_sum_exp = colrow.cross_entropy_with_statistics %arg0, %arg1, %arg2 ignore 3 valid 19 : (tensor<4x24xf32>, tensor<4xi64>, tensor<f32>) -> (tensor<f32>, tensor<4xf32>)
  %result, %log_sum_exp = colrow.cross_entropy_with_statistics %arg0, %arg1, %arg2 ignore 3 valid 19 : (tensor<4x24xf32>, tensor<4xi64>, tensor<f32>) -> (tensor<f32>, tensor<4xf32>)
  return
}
// CHECK-LABEL: func.func @cross_entropy_grad(
func.func @cross_entropy_grad(%arg0: tensor<f32>, %arg1: tensor<4x24xf32>, %arg2: tensor<4xi64>, %arg3: tensor<f32>, %arg4: tensor<4xf32>) {
  // CHECK-NEXT: %0 = colrow.cross_entropy_grad %arg0 at %arg1, %arg2, %arg3, %arg4 ignore 3 valid 19 : (tensor<f32>, tensor<4x24xf32>, tensor<4xi64>, tensor<f32>, tensor<4xf32>) -> tensor<4x24xf32>
  %0 = colrow.cross_entropy_grad %arg0 at %arg1, %arg2, %arg3, %arg4 ignore 3 valid 19 : (tensor<f32>, tensor<4x24xf32>, tensor<4xi64>, tensor<f32>, tensor<4xf32>) -> tensor<4x24xf32>
  return
}
// CHECK-LABEL: func.func @linear_cross_entropy(
func.func @linear_cross_entropy(%arg0: tensor<4x3xf32>, %arg1: tensor<24x3xf32>, %arg2: tensor<4xi64>, %arg3: tensor<f32>) {
  // CHECK-NEXT: %0 = colrow.linear_cross_entropy %arg0, %arg1, %arg2, %arg3 ignore 3 valid 19 : (tensor<4x3xf32>, tensor<24x3xf32>, tensor<4xi64>, tensor<f32>) -> tensor<f32>
  %0 = colrow.linear_cross_entropy %arg0, %arg1, %arg2, %arg3 ignore 3 valid 19 : (tensor<4x3xf32>, tensor<24x3xf32>, tensor<4xi64>, tensor<f32>) -> tensor<f32>
  return
}
// CHECK-LABEL: func.func @linear_cross_entropy_with_grad(
func.func @linear_cross_entropy_with_grad(%arg0: tensor<4x3xf32>, %arg1: tensor<24x3xf32>, %arg2: tensor<4xi64>, %arg3: tensor<f32>) {
  // CHECK-NEXT: %result, %input_gradient, %weight_gradient = colrow.linear_cross_entropy_with_grad %arg0, %arg1, %arg2, %arg3 ignore 3 valid 19 : (tensor<4x3xf32>, tensor<24x3xf32>, tensor<4xi64>, tensor<f32>) -> (tensor<f32>, tensor<4x3xf32>, tensor<24x3xf32>)
  %result, %input_gradient, %weight_gradient = colrow.linear_cross_entropy_with_grad %arg0, %arg1, %arg2, %arg3 ignore 3 valid 19 : (tensor<4x3xf32>, tensor<24x3xf32>, tensor<4xi64>, tensor<f32>) -> (tensor<f32>, tensor<4x3xf32>, tensor<24x3xf32>)
  return
}
// CHECK-LABEL: func.func @sum_squares(
func.func @sum_squares(%arg0: tensor<4x24xf32>) {
  // CHECK-NEXT: %0 = colrow.sum_squares %arg0 : (tensor<4x24xf32>) -> tensor<f32>
  %0 = colrow.sum_squares %arg0 : (tensor<4x24xf32>) -> tensor<f32>
  return
}
// CHECK-LABEL: func.func @adamw(
func.func @adamw(%arg0: tensor<24xf32>, %arg1: tensor<24xf32>, %arg2: tensor<24xf32>, %arg3: tensor<24xf32>, %arg4: tensor<f32>, %arg5: tensor<7xf32>) {
  // CHECK-NEXT: %new_parameter, %new_first, %new_second = colrow.adamw %arg0, %arg1, %arg2, %arg3 clip %arg4 scalars %arg5 decay : (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<f32>, tensor<7xf32>) -> (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>)
  %new_parameter, %new_first, %new_second = colrow.adamw %arg0, %arg1, %arg2, %arg3 clip %arg4 scalars %arg5 decay : (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<f32>, tensor<7xf32>) -> (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>)
  return
}
