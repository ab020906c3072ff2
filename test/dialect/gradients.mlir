// Gradients of the primitive operations: what is built, and that layouts transpose.
// RUN: colrow-opt %s --split-input-file --colrow-evaluate --colrow-differentiate | FileCheck %s

// Broadcast operands get the sum over what was broadcast.
// CHECK-LABEL: func.func @forward_backward
// CHECK: %[[ONE:.*]] = colrow.constant dense<1.000000e+00> : tensor<f32>
// CHECK: %[[DY:.*]] = colrow.broadcast
// CHECK: %[[SUM:.*]] = colrow.reduce_sum %[[DY]] over [1] keepdims : (tensor<4x8xf32>) -> tensor<4x1xf32>
// CHECK: %[[DK:.*]] = colrow.neg %[[SUM]]
// CHECK: %[[DC:.*]] = colrow.reduce_sum %[[DY]] over [0] : (tensor<4x8xf32>) -> tensor<8xf32>
// CHECK: colrow.add %{{.*}}, %[[DY]]
// CHECK: colrow.add %{{.*}}, %[[DC]]
// CHECK: colrow.add %{{.*}}, %[[DK]]
// CHECK-LABEL: func.func @evaluate
func.func @main(%x: tensor<4x8xf32> {colrow.role = "parameter", colrow.name = "x"},
                %c: tensor<8xf32> {colrow.role = "parameter", colrow.name = "c"},
                %k: tensor<4x1xf32> {colrow.role = "parameter", colrow.name = "k"})
    -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
  %a = colrow.add %x, %c : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %y = colrow.sub %a, %k : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %l = colrow.reduce_sum %y over [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// A select gives zero, not 0 times something, to what was not selected.
// CHECK-LABEL: func.func @forward_backward
// CHECK: %[[DY:.*]] = colrow.broadcast
// CHECK: %[[ZERO:.*]] = colrow.constant dense<0.000000e+00> : tensor<f32>
// CHECK: colrow.select %arg1, %[[DY]], %[[ZERO]]
// CHECK-LABEL: func.func @evaluate
func.func @main(%x: tensor<4x8xf32> {colrow.role = "parameter", colrow.name = "x"},
                %m: tensor<4x8xi1> {colrow.role = "input", colrow.name = "m"})
    -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
  %zero = colrow.constant dense<0xFF800000> : tensor<f32>
  %y = colrow.select %m, %x, %zero : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %l = colrow.reduce_sum %y over [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// Equal ones share the gradient of a maximum.
// CHECK-LABEL: func.func @forward_backward
// CHECK: %[[EQ:.*]] = colrow.compare eq %arg0, %arg1
// CHECK: %[[HALF:.*]] = colrow.select %[[EQ]]
// CHECK: %[[GT:.*]] = colrow.compare gt %arg0, %arg1
// CHECK: %[[SHARE:.*]] = colrow.select %[[GT]], %{{.*}}, %[[HALF]]
// CHECK: colrow.mul %{{.*}}, %[[SHARE]]
// CHECK: %[[REST:.*]] = colrow.sub %{{.*}}, %[[SHARE]]
// CHECK: colrow.mul %{{.*}}, %[[REST]]
// CHECK-LABEL: func.func @evaluate
func.func @main(%x: tensor<4x8xf32> {colrow.role = "parameter", colrow.name = "x"},
                %z: tensor<4x8xf32> {colrow.role = "parameter", colrow.name = "z"})
    -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
  %y = colrow.max %x, %z : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %l = colrow.reduce_sum %y over [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// A product by permuted letters.
// CHECK-LABEL: func.func @forward_backward
// CHECK: colrow.einsum "bos,io->bsi" %[[DY:.*]], %arg1
// CHECK: colrow.einsum "bsi,bos->io" %arg0, %[[DY]]
// CHECK-LABEL: func.func @evaluate
func.func @main(%x: tensor<2x8x16xf32> {colrow.role = "parameter", colrow.name = "x"},
                %w: tensor<16x32xf32> {colrow.role = "parameter", colrow.name = "w"})
    -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
  %y = colrow.einsum "bsi,io->bos" %x, %w : (tensor<2x8x16xf32>, tensor<16x32xf32>) -> tensor<2x32x8xf32>
  %l = colrow.reduce_sum %y over [0, 1, 2] : (tensor<2x32x8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

#r = #colrow.layout<tp = replicated>
#p = #colrow.layout<tp = partial>
#s0 = #colrow.layout<tp = shard<0>>
#s1 = #colrow.layout<tp = shard<1>>
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  // Column then row, cut: f and g are each other's transpose.
  // CHECK-LABEL: func.func @forward_backward
  // CHECK: %[[H:.*]] = colrow.tanh
  // CHECK: colrow.g
  // CHECK: %[[DY:.*]] = colrow.broadcast
  // CHECK: %[[F:.*]] = colrow.f %[[DY]] on ["tp"]
  // CHECK: %[[DH:.*]] = colrow.einsum "to,io->ti" %[[F]], %arg2 : {{.*}} -> tensor<8x32xf32, #colrow.layout<tp = shard<1>>>
  // CHECK: colrow.einsum "ti,to->io" %[[H]], %[[F]] : {{.*}} -> tensor<32x16xf32, #colrow.layout<tp = shard<0>>>
  // CHECK: %[[DX:.*]] = colrow.einsum "to,io->ti" %{{.*}}, %arg1 : {{.*}} -> tensor<8x16xf32, #colrow.layout<tp = partial>>
  // CHECK: colrow.g %[[DX]] on ["tp"]
  // CHECK-LABEL: func.func @evaluate
  func.func @main(%x: tensor<8x16xf32> {colrow.role = "parameter", colrow.name = "x"},
                  %u: tensor<16x32xf32, #s1> {colrow.role = "parameter", colrow.name = "u"},
                  %d: tensor<32x16xf32, #s0> {colrow.role = "parameter", colrow.name = "d"})
      -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
    %0 = colrow.f %x on ["tp"] : (tensor<8x16xf32>) -> tensor<8x16xf32, #r>
    %1 = colrow.einsum "ti,io->to" %0, %u : (tensor<8x16xf32, #r>, tensor<16x32xf32, #s1>) -> tensor<8x32xf32, #s1>
    %2 = colrow.tanh %1 : (tensor<8x32xf32, #s1>) -> tensor<8x32xf32, #s1>
    %3 = colrow.einsum "ti,io->to" %2, %d : (tensor<8x32xf32, #s1>, tensor<32x16xf32, #s0>) -> tensor<8x16xf32, #p>
    %y = colrow.g %3 on ["tp"] : (tensor<8x16xf32, #p>) -> tensor<8x16xf32>
    %l = colrow.reduce_sum %y over [0, 1] : (tensor<8x16xf32>) -> tensor<f32>
    return %l : tensor<f32>
  }
}

// -----

#p = #colrow.layout<tp = partial>
#s1 = #colrow.layout<tp = shard<1>>
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  // A sum over a cut dimension: the broadcast back is cut there by its own choice.
  // CHECK-LABEL: func.func @forward_backward
  // CHECK: %[[F:.*]] = colrow.f
  // CHECK: %[[K:.*]] = colrow.reshape %[[F]] : {{.*}} -> tensor<8x1xf32, #colrow.layout<tp = replicated>>
  // CHECK: colrow.broadcast %[[K]] : {{.*}} -> tensor<8x16xf32, #colrow.layout<tp = shard<1>>>
  // CHECK-LABEL: func.func @evaluate
  func.func @main(%x: tensor<8x16xf32, #s1> {colrow.role = "parameter", colrow.name = "x"})
      -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
    %0 = colrow.reduce_sum %x over [1] : (tensor<8x16xf32, #s1>) -> tensor<8xf32, #p>
    %y = colrow.g %0 on ["tp"] : (tensor<8xf32, #p>) -> tensor<8xf32>
    %l = colrow.reduce_sum %y over [0] : (tensor<8xf32>) -> tensor<f32>
    return %l : tensor<f32>
  }
}

// -----

#d0 = #colrow.layout<dp = shard<0>>
#dr = #colrow.layout<dp = replicated>
#dp = #colrow.layout<dp = partial>
#s0 = #colrow.layout<tp = shard<0>>
#drs0 = #colrow.layout<dp = replicated, tp = shard<0>>
#d0p = #colrow.layout<dp = shard<0>, tp = partial>
module attributes {colrow.grid = #colrow.grid<dp = 2, tp = 2>} {
  // A masked lookup in a cut table, and a whole table looked up by cut ids.
  // CHECK-LABEL: func.func @forward_backward
  // CHECK: %[[F:.*]] = colrow.f %{{.*}} on ["tp"] : {{.*}} -> tensor<8x16xf32, #colrow.layout<dp = shard<0>, tp = replicated>>
  // CHECK: %[[DT:.*]] = colrow.take_grad %[[F]] at %arg2 along 0 : {{.*}} -> tensor<64x16xf32, #colrow.layout<dp = partial, tp = shard<0>>>
  // CHECK: colrow.g %[[DT]] on ["dp"] : {{.*}} -> tensor<64x16xf32, #colrow.layout<tp = shard<0>>>
  // CHECK: %[[DQ:.*]] = colrow.take_grad %{{.*}} at %arg2 along 0 : {{.*}} -> tensor<32x16xf32, #colrow.layout<dp = partial>>
  // CHECK: colrow.g %[[DQ]] on ["dp"]
  // CHECK-LABEL: func.func @evaluate
  func.func @main(%t: tensor<64x16xf32, #s0> {colrow.role = "parameter", colrow.name = "t"},
                  %q: tensor<32x16xf32> {colrow.role = "parameter", colrow.name = "q"},
                  %ids: tensor<8xi64, #d0> {colrow.role = "input", colrow.name = "ids"})
      -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
    %0 = colrow.f %q on ["dp"] : (tensor<32x16xf32>) -> tensor<32x16xf32, #dr>
    %1 = colrow.take %0 at %ids along 0 : (tensor<32x16xf32, #dr>, tensor<8xi64, #d0>) -> tensor<8x16xf32, #d0>
    %2 = colrow.f %t on ["dp"] : (tensor<64x16xf32, #s0>) -> tensor<64x16xf32, #drs0>
    %3 = colrow.take %2 at %ids along 0 : (tensor<64x16xf32, #drs0>, tensor<8xi64, #d0>) -> tensor<8x16xf32, #d0p>
    %4 = colrow.g %3 on ["tp"] : (tensor<8x16xf32, #d0p>) -> tensor<8x16xf32, #d0>
    %5 = colrow.mul %4, %1 : (tensor<8x16xf32, #d0>, tensor<8x16xf32, #d0>) -> tensor<8x16xf32, #d0>
    %6 = colrow.reduce_sum %5 over [0, 1] : (tensor<8x16xf32, #d0>) -> tensor<f32, #dp>
    %l = colrow.g %6 on ["dp"] : (tensor<f32, #dp>) -> tensor<f32>
    return %l : tensor<f32>
  }
}

// -----

#p = #colrow.layout<tp = partial>
#q = #colrow.layout<tp = shard<1, blocks = 3>>
#s1 = #colrow.layout<tp = shard<1>>
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  // A third of a fused dimension, cut inside its blocks, goes back into its place.
  // CHECK-LABEL: func.func @forward_backward
  // CHECK: colrow.pad %{{.*}} low [0, 16] high [0, 16] step [1, 1] value 0.000000e+00 : {{.*}} -> tensor<8x48xf32, #colrow.layout<tp = shard<1, blocks = 3>>>
  // CHECK-LABEL: func.func @evaluate
  func.func @main(%x: tensor<8x48xf32, #q> {colrow.role = "parameter", colrow.name = "x"})
      -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
    %y = colrow.slice %x from [0, 16] to [8, 32] step [1, 1] : (tensor<8x48xf32, #q>) -> tensor<8x16xf32, #s1>
    %0 = colrow.reduce_sum %y over [0, 1] : (tensor<8x16xf32, #s1>) -> tensor<f32, #p>
    %l = colrow.g %0 on ["tp"] : (tensor<f32, #p>) -> tensor<f32>
    return %l : tensor<f32>
  }
}

// -----

// Steps: what was skipped gets zeros, and what was put between is skipped.
// CHECK-LABEL: func.func @forward_backward
// CHECK: colrow.slice %{{.*}} from [1] to [6] step [2] : (tensor<8xf32>) -> tensor<3xf32>
// CHECK: colrow.pad %{{.*}} low [1] high [1] step [3] value 0.000000e+00 : (tensor<3xf32>) -> tensor<9xf32>
// CHECK-LABEL: func.func @evaluate
func.func @main(%x: tensor<9xf32> {colrow.role = "parameter", colrow.name = "x"})
    -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
  %0 = colrow.slice %x from [1] to [9] step [3] : (tensor<9xf32>) -> tensor<3xf32>
  %y = colrow.pad %0 low [1] high [2] step [2] value 7.0 : (tensor<3xf32>) -> tensor<8xf32>
  %l = colrow.reduce_sum %y over [0] : (tensor<8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// Shapes and order.
// CHECK-LABEL: func.func @forward_backward
// CHECK: colrow.cumsum %{{.*}} along 0 exclusive reverse
// CHECK: colrow.reshape %{{.*}} -> tensor<10x4xf32>
// CHECK: %[[D:.*]] = colrow.transpose %{{.*}} [1, 0]
// CHECK: colrow.slice %[[D]] from [0, 0] to [4, 8] step [1, 1]
// CHECK: colrow.slice %[[D]] from [0, 8] to [4, 10] step [1, 1]
// CHECK-LABEL: func.func @evaluate
func.func @main(%x: tensor<4x8xf32> {colrow.role = "parameter", colrow.name = "x"},
                %z: tensor<4x2xf32> {colrow.role = "parameter", colrow.name = "z"})
    -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
  %0 = colrow.concat %x, %z along 1 : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<4x10xf32>
  %1 = colrow.transpose %0 [1, 0] : (tensor<4x10xf32>) -> tensor<10x4xf32>
  %2 = colrow.reshape %1 : (tensor<10x4xf32>) -> tensor<40xf32>
  %y = colrow.cumsum %2 along 0 exclusive : (tensor<40xf32>) -> tensor<40xf32>
  %l = colrow.reduce_sum %y over [0] : (tensor<40xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// Equal maxima share the gradient; what is padding or dropped gets none.
// CHECK-LABEL: func.func @forward_backward
// CHECK: %[[Y:.*]] = colrow.reduce_max
// CHECK: %[[K:.*]] = colrow.reshape %[[Y]] : (tensor<4xf32>) -> tensor<4x1xf32>
// CHECK: %[[EQ:.*]] = colrow.compare eq %{{.*}}, %[[K]]
// CHECK: %[[W:.*]] = colrow.cast %[[EQ]]
// CHECK: %[[N:.*]] = colrow.reduce_sum %[[W]] over [1] keepdims
// CHECK: %[[S:.*]] = colrow.div %{{.*}}, %[[N]]
// CHECK: %[[D:.*]] = colrow.mul %[[S]], %[[W]]
// CHECK: %[[E:.*]] = colrow.dropout %[[D]] random %arg1 rate 2.500000e-01 id 3
// CHECK: colrow.mask_padding %[[E]] along 1 valid 5 value 0.000000e+00
// CHECK-LABEL: func.func @evaluate
func.func @main(%x: tensor<4x8xf32> {colrow.role = "parameter", colrow.name = "x"},
                %random: tensor<4xi64> {colrow.role = "input", colrow.name = "random"})
    -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
  %0 = colrow.mask_padding %x along 1 valid 5 value 0xFFF0000000000000 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = colrow.dropout %0 random %random rate 0.25 id 3 : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  %y = colrow.reduce_max %1 over [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %l = colrow.reduce_sum %y over [0] : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// No gradient passes floor, a comparison or stop_gradient.
// CHECK-LABEL: func.func @forward_backward
// CHECK: %[[C:.*]] = colrow.mul %{{.*}}, %arg0
// CHECK-NEXT: colrow.mul %[[C]], %arg0
// CHECK: %[[D:.*]] = colrow.mul %{{.*}}, %[[C]]
// CHECK-NEXT: %[[S:.*]] = colrow.add %arg1, %[[D]]
// CHECK-NEXT: return %{{.*}}, %[[S]]
// CHECK-LABEL: func.func @evaluate
func.func @main(%x: tensor<4x8xf32> {colrow.role = "parameter", colrow.name = "x"})
    -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
  %0 = colrow.floor %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = colrow.stop_gradient %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = colrow.mul %0, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = colrow.mul %2, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %l = colrow.reduce_sum %y over [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

#r = #colrow.layout<tp = replicated>
#p = #colrow.layout<tp = partial>
#s0 = #colrow.layout<tp = shard<0>>
#s1 = #colrow.layout<tp = shard<1>>
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  // Partial values: the gradient of a summand is whole.
  // CHECK-LABEL: func.func @forward_backward
  // CHECK: %[[Q:.*]] = colrow.div
  // CHECK: %[[F:.*]] = colrow.f %{{.*}} -> tensor<8xf32, #colrow.layout<tp = replicated>>
  // CHECK: colrow.div %[[F]], %{{.*}} -> tensor<8xf32, #colrow.layout<tp = replicated>>
  // CHECK: colrow.mul %[[F]], %[[Q]] : {{.*}} -> tensor<8xf32, #colrow.layout<tp = partial>>
  // CHECK-LABEL: func.func @evaluate
  func.func @main(%x: tensor<8x16xf32, #s1> {colrow.role = "parameter", colrow.name = "x"},
                  %c: tensor<16xf32, #s0> {colrow.role = "parameter", colrow.name = "c"},
                  %k: tensor<8xf32> {colrow.role = "parameter", colrow.name = "k"})
      -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
    %0 = colrow.einsum "ti,i->t" %x, %c : (tensor<8x16xf32, #s1>, tensor<16xf32, #s0>) -> tensor<8xf32, #p>
    %1 = colrow.f %k on ["tp"] : (tensor<8xf32>) -> tensor<8xf32, #r>
    %2 = colrow.div %0, %1 : (tensor<8xf32, #p>, tensor<8xf32, #r>) -> tensor<8xf32, #p>
    %y = colrow.g %2 on ["tp"] : (tensor<8xf32, #p>) -> tensor<8xf32>
    %l = colrow.reduce_sum %y over [0] : (tensor<8xf32>) -> tensor<f32>
    return %l : tensor<f32>
  }
}
