// RUN: colrow-opt %s --colrow-localize --split-input-file | FileCheck %s
// RUN: colrow-opt %s --colrow-localize --split-input-file \
// RUN:   | colrow-opt --colrow-localize --split-input-file | FileCheck %s

// What was sharded is local, what the ranks hold is in colrow.global, and f moves nothing.
// CHECK-LABEL: module attributes {colrow.grid = #colrow.grid<tp = 2>}
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  // CHECK: func.func @mlp(%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x8xf32> {colrow.global = tensor<8x16xf32, #colrow.layout<tp = shard<1>>>, colrow.role = "parameter"},
  // CHECK-SAME: %[[V:.*]]: tensor<8x8xf32> {colrow.global = tensor<16x8xf32, #colrow.layout<tp = shard<0>>>, colrow.role = "parameter"})
  // CHECK-SAME: -> (tensor<4x8xf32>, tensor<4x8xf32> {colrow.global = tensor<4x16xf32, #colrow.layout<tp = shard<1>>>})
  func.func @mlp(%x: tensor<4x8xf32>,
                 %w: tensor<8x16xf32, #colrow.layout<tp = shard<1>>> {colrow.role = "parameter"},
                 %v: tensor<16x8xf32, #colrow.layout<tp = shard<0>>> {colrow.role = "parameter"})
      -> (tensor<4x8xf32>, tensor<4x16xf32, #colrow.layout<tp = shard<1>>>) {
    %0 = colrow.f %x on ["tp"]
        : (tensor<4x8xf32>) -> tensor<4x8xf32, #colrow.layout<tp = replicated>>
    // CHECK-NEXT: %[[H:.*]] = colrow.einsum "ti,io->to" %[[X]], %[[W]] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %1 = colrow.einsum "ti,io->to" %0, %w
        : (tensor<4x8xf32, #colrow.layout<tp = replicated>>,
           tensor<8x16xf32, #colrow.layout<tp = shard<1>>>)
        -> tensor<4x16xf32, #colrow.layout<tp = shard<1>>>
    // CHECK-NEXT: %[[P:.*]] = colrow.einsum "to,oi->ti" %[[H]], %[[V]]
    %2 = colrow.einsum "to,oi->ti" %1, %v
        : (tensor<4x16xf32, #colrow.layout<tp = shard<1>>>,
           tensor<16x8xf32, #colrow.layout<tp = shard<0>>>)
        -> tensor<4x8xf32, #colrow.layout<tp = partial>>
    // CHECK-NEXT: %[[Y:.*]] = colrow.comm.all_reduce %[[P]] on ["tp"] from tensor<4x8xf32, #colrow.layout<tp = partial>> to tensor<4x8xf32> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %3 = colrow.g %2 on ["tp"]
        : (tensor<4x8xf32, #colrow.layout<tp = partial>>) -> tensor<4x8xf32>
    // CHECK-NEXT: return %[[Y]], %[[H]]
    return %3, %1 : tensor<4x8xf32>, tensor<4x16xf32, #colrow.layout<tp = shard<1>>>
  }
}

// -----

// Attributes that count elements: a cut inside the three blocks of a fused QKV.
// CHECK-LABEL: func.func @blocks
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @blocks(%qkv: tensor<4x48xf32, #colrow.layout<tp = shard<1, blocks = 3, unit = 4>>>)
      -> tensor<4x48xf32, #colrow.layout<tp = shard<1, blocks = 3, unit = 4>>> {
    // CHECK: colrow.slice %{{.*}} from [0, 8] to [4, 16] step [1, 1] : (tensor<4x24xf32>) -> tensor<4x8xf32>
    %k = colrow.slice %qkv from [0, 16] to [4, 32] step [1, 1]
        : (tensor<4x48xf32, #colrow.layout<tp = shard<1, blocks = 3, unit = 4>>>)
        -> tensor<4x16xf32, #colrow.layout<tp = shard<1, unit = 4>>>
    // CHECK: colrow.pad %{{.*}} low [0, 8] high [0, 8] step [1, 1] value 0.000000e+00 : (tensor<4x8xf32>) -> tensor<4x24xf32>
    %p = colrow.pad %k low [0, 16] high [0, 16] step [1, 1] value 0.0
        : (tensor<4x16xf32, #colrow.layout<tp = shard<1, unit = 4>>>)
        -> tensor<4x48xf32, #colrow.layout<tp = shard<1, blocks = 3, unit = 4>>>
    // CHECK: colrow.constant dense<2.000000e+00> : tensor<4x24xf32>
    %c = colrow.constant dense<2.0> : tensor<4x48xf32>
        as tensor<4x48xf32, #colrow.layout<tp = shard<1, blocks = 3, unit = 4>>>
    %r = colrow.mul %p, %c
        : (tensor<4x48xf32, #colrow.layout<tp = shard<1, blocks = 3, unit = 4>>>,
           tensor<4x48xf32, #colrow.layout<tp = shard<1, blocks = 3, unit = 4>>>)
        -> tensor<4x48xf32, #colrow.layout<tp = shard<1, blocks = 3, unit = 4>>>
    return %r : tensor<4x48xf32, #colrow.layout<tp = shard<1, blocks = 3, unit = 4>>>
  }
}

// -----

// What depends on the rank remembers the global type of what it slices.
// CHECK-LABEL: func.func @lookup
module attributes {colrow.grid = #colrow.grid<tp = 4>} {
  func.func @lookup(%table: tensor<32x8xf32, #colrow.layout<tp = shard<0>>>, %ids: tensor<3xi64>)
      -> tensor<3x8xf32> {
    // CHECK: colrow.take %{{.*}} at %{{.*}} along 0 {global = tensor<32x8xf32, #colrow.layout<tp = shard<0>>>} : (tensor<8x8xf32>, tensor<3xi64>) -> tensor<3x8xf32>
    %0 = colrow.take %table at %ids along 0
        : (tensor<32x8xf32, #colrow.layout<tp = shard<0>>>, tensor<3xi64>)
        -> tensor<3x8xf32, #colrow.layout<tp = partial>>
    %1 = colrow.g %0 on ["tp"]
        : (tensor<3x8xf32, #colrow.layout<tp = partial>>) -> tensor<3x8xf32>
    return %1 : tensor<3x8xf32>
  }
}

// -----

// Every other conversion, on two axes.
// CHECK-LABEL: func.func @conversions
module attributes {colrow.grid = #colrow.grid<dp = 2, tp = 2>} {
  func.func @conversions(%x: tensor<8x8xf32, #colrow.layout<dp = shard<0>>>) -> tensor<8x8xf32> {
    // CHECK: colrow.comm.take_shard %{{.*}} on ["tp"] {{.*}} : (tensor<4x8xf32>) -> tensor<2x8xf32>
    %0 = colrow.take_shard %x on ["tp"]
        : (tensor<8x8xf32, #colrow.layout<dp = shard<0>>>)
        -> tensor<8x8xf32, #colrow.layout<dp = shard<0>, tp = shard<0>>>
    // CHECK: colrow.comm.all_to_all %{{.*}} on ["tp"] {{.*}} : (tensor<2x8xf32>) -> tensor<4x4xf32>
    %1 = colrow.all_to_all %0 on ["tp"]
        : (tensor<8x8xf32, #colrow.layout<dp = shard<0>, tp = shard<0>>>)
        -> tensor<8x8xf32, #colrow.layout<dp = shard<0>, tp = shard<1>>>
    // CHECK: colrow.comm.place %{{.*}} on ["tp"] {{.*}} : (tensor<4x4xf32>) -> tensor<4x8xf32>
    %2 = colrow.place %1 on ["tp"]
        : (tensor<8x8xf32, #colrow.layout<dp = shard<0>, tp = shard<1>>>)
        -> tensor<8x8xf32, #colrow.layout<dp = shard<0>, tp = partial>>
    // CHECK: colrow.comm.reduce_scatter %{{.*}} on ["tp"] {{.*}} : (tensor<4x8xf32>) -> tensor<4x4xf32>
    %3 = colrow.reduce_scatter %2 on ["tp"]
        : (tensor<8x8xf32, #colrow.layout<dp = shard<0>, tp = partial>>)
        -> tensor<8x8xf32, #colrow.layout<dp = shard<0>, tp = shard<1>>>
    // CHECK: colrow.comm.all_gather %{{.*}} on ["dp", "tp"] {{.*}} : (tensor<4x4xf32>) -> tensor<8x8xf32>
    %4 = colrow.gather %3 on ["dp", "tp"]
        : (tensor<8x8xf32, #colrow.layout<dp = shard<0>, tp = shard<1>>>) -> tensor<8x8xf32>
    return %4 : tensor<8x8xf32>
  }
}
