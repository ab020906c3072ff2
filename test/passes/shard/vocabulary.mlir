// RUN: colrow-opt %s --colrow-set-grid=axes=tp=4 --colrow-shard | FileCheck %s
// A tied vocabulary of 300 at tp = 4 is stored as 512: the last slice is empty. One all-reduce for
// the masked lookup; the logits stay cut and the loss needs none of its own in the IR.

// CHECK-LABEL: func.func @main
// CHECK-SAME: tensor<512x16xf32, #colrow.layout<tp = shard<0>>> {{{.*}}colrow.rule = "vocabulary-parallel", colrow.valid = [300, 16]}
// CHECK: %[[P:.*]] = colrow.take {{.*}} -> tensor<2x8x16xf32, #colrow.layout<tp = partial>>
// CHECK: %[[X:.*]] = colrow.g %[[P]]
// CHECK: %[[F:.*]] = colrow.f %[[X]]
// CHECK: %[[L:.*]] = colrow.einsum "bsh,vh->bsv" %[[F]], {{.*}} -> tensor<2x8x512xf32, #colrow.layout<tp = shard<2>>>
// CHECK-NOT: colrow.g
// CHECK: colrow.cross_entropy %[[L]], {{.*}} valid 300 {{.*}} -> tensor<f32>
module {
  func.func @main(%ids: tensor<2x8xi64> {colrow.role = "input", colrow.name = "input_ids"},
                  %w: tensor<300x16xf32> {colrow.role = "parameter", colrow.name = "w"},
                  %labels: tensor<2x8xi64> {colrow.role = "input", colrow.name = "labels"},
                  %count: tensor<f32> {colrow.role = "input", colrow.name = "colrow.count"})
      -> (tensor<f32> {colrow.role = "loss"}) {
    %0 = colrow.take %w at %ids along 0 : (tensor<300x16xf32>, tensor<2x8xi64>) -> tensor<2x8x16xf32>
    %1 = colrow.einsum "bsh,vh->bsv" %0, %w : (tensor<2x8x16xf32>, tensor<300x16xf32>) -> tensor<2x8x300xf32>
    %2 = colrow.cross_entropy %1, %labels, %count ignore -100 valid 300
        : (tensor<2x8x300xf32>, tensor<2x8xi64>, tensor<f32>) -> tensor<f32>
    return %2 : tensor<f32>
  }
}
