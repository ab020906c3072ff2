// Layouts, the grid and conversions as they are written.
// RUN: colrow-opt %s | FileCheck %s
// RUN: colrow-opt %s | colrow-opt | FileCheck %s

// CHECK: module attributes {colrow.grid = #colrow.grid<dp = 2, tp = 4>}
module attributes {colrow.grid = #colrow.grid<dp = 2, tp = 4>} {
  // Axes are printed by name; cuts of one dimension stay outer first.
  // CHECK: func.func private @states(tensor<8xf32, #colrow.layout<dp = partial, tp = replicated>>,
  // CHECK-SAME: tensor<8x48xf32, #colrow.layout<dp = shard<0>, tp = shard<1, blocks = 3, unit = 4>>>,
  // CHECK-SAME: tensor<8xf32, #colrow.layout<tp = shard<0>, dp = shard<0>>>,
  // CHECK-SAME: tensor<8xf32, #colrow.layout<dp = shard<0>, tp = shard<0>>>,
  // CHECK-SAME: tensor<8xf32, #colrow.layout<tp = partial<max>>>)
  func.func private @states(
      tensor<8xf32, #colrow.layout<tp = replicated, dp = partial>>,
      tensor<8x48xf32, #colrow.layout<tp = shard<1, blocks = 3, unit = 4>, dp = shard<0>>>,
      tensor<8xf32, #colrow.layout<tp = shard<0>, dp = shard<0>>>,
      tensor<8xf32, #colrow.layout<dp = shard<0>, tp = shard<0>>>,
      tensor<8xf32, #colrow.layout<tp = partial<max>>>)

  // CHECK-LABEL: func.func @conversions
  func.func @conversions(%x: tensor<8x16xf32>, %p: tensor<8x16xf32, #colrow.layout<tp = partial>>,
                         %m: tensor<8xf32, #colrow.layout<tp = partial<max>>>) {
    // CHECK-NEXT: colrow.f %{{.*}} on ["dp", "tp"] : (tensor<8x16xf32>) -> tensor<8x16xf32, #colrow.layout<dp = replicated, tp = replicated>>
    %f = colrow.f %x on ["dp", "tp"] : (tensor<8x16xf32>)
        -> tensor<8x16xf32, #colrow.layout<dp = replicated, tp = replicated>>
    // CHECK-NEXT: colrow.g %{{.*}} on ["tp"] : (tensor<8x16xf32, #colrow.layout<tp = partial>>) -> tensor<8x16xf32>
    %g = colrow.g %p on ["tp"] : (tensor<8x16xf32, #colrow.layout<tp = partial>>)
        -> tensor<8x16xf32>
    // CHECK-NEXT: colrow.g %{{.*}} on ["tp"] : (tensor<8xf32, #colrow.layout<tp = partial<max>>>) -> tensor<8xf32>
    %gm = colrow.g %m on ["tp"] : (tensor<8xf32, #colrow.layout<tp = partial<max>>>)
        -> tensor<8xf32>
    // CHECK-NEXT: colrow.take_shard %{{.*}} on ["tp"]
    %s = colrow.take_shard %x on ["tp"] : (tensor<8x16xf32>)
        -> tensor<8x16xf32, #colrow.layout<tp = shard<1>>>
    // CHECK-NEXT: colrow.all_to_all %{{.*}} on ["tp"]
    %t = colrow.all_to_all %s on ["tp"] : (tensor<8x16xf32, #colrow.layout<tp = shard<1>>>)
        -> tensor<8x16xf32, #colrow.layout<tp = shard<0>>>
    // CHECK-NEXT: colrow.all_gather %{{.*}} on ["tp"]
    %r = colrow.all_gather %t on ["tp"] : (tensor<8x16xf32, #colrow.layout<tp = shard<0>>>)
        -> tensor<8x16xf32, #colrow.layout<tp = replicated>>
    // CHECK-NEXT: colrow.gather %{{.*}} on ["tp"]
    %w = colrow.gather %t on ["tp"] : (tensor<8x16xf32, #colrow.layout<tp = shard<0>>>)
        -> tensor<8x16xf32>
    // CHECK-NEXT: colrow.place %{{.*}} on ["tp"]
    %q = colrow.place %t on ["tp"] : (tensor<8x16xf32, #colrow.layout<tp = shard<0>>>)
        -> tensor<8x16xf32, #colrow.layout<tp = partial>>
    // CHECK-NEXT: colrow.reduce_scatter %{{.*}} on ["tp"]
    %u = colrow.reduce_scatter %q on ["tp"] : (tensor<8x16xf32, #colrow.layout<tp = partial>>)
        -> tensor<8x16xf32, #colrow.layout<tp = shard<1>>>
    return
  }
}
