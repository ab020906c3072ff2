// A GPT-2 block with a tied, padded vocabulary over two ranks: what moves, and where. Of 2L + 1
// all-reduces of tokens x hidden forward (the embedding, and here only the MLP) and as many backward.
// RUN: colrow-opt %s --colrow-evaluate --colrow-fuse-loss --colrow-differentiate | FileCheck %s --check-prefix=FUSED
// RUN: colrow-opt %s --colrow-decompose --colrow-evaluate --colrow-differentiate | FileCheck %s --check-prefix=PRIMITIVE
// RUN: colrow-opt %s --colrow-evaluate --colrow-fuse-loss --colrow-differentiate --colrow-decompose \
// RUN:   --colrow-optimizer | FileCheck %s --check-prefix=DECOMPOSED

// FUSED-LABEL: func.func @forward_backward
// FUSED: colrow.take %arg0
// FUSED-NEXT: colrow.g %{{.*}} -> tensor<2x8x16xf32>
// FUSED: colrow.layer_norm_with_statistics
// FUSED: colrow.gelu
// FUSED: colrow.g %{{.*}} -> tensor<2x8x16xf32>
// FUSED: %{{.*}}, %[[DX:.*]], %[[DW:.*]] = colrow.linear_cross_entropy_with_grad
// FUSED-SAME: -> (tensor<f32>, tensor<2x8x16xf32, #colrow.layout<tp = partial>>, tensor<512x16xf32, #colrow.layout<tp = shard<0>>>)
// FUSED-NEXT: colrow.g %[[DX]] on ["tp"]
// FUSED: colrow.gelu_grad
// FUSED: colrow.g %{{.*}} -> tensor<2x8x16xf32>
// FUSED: colrow.layer_norm_grad
// FUSED-NOT: colrow.g{{ }}
// FUSED: colrow.add %[[DW]], %{{.*}} -> tensor<512x16xf32, #colrow.layout<tp = shard<0>>>
// FUSED-LABEL: func.func @evaluate
// FUSED-NOT: colrow.dropout
// FUSED: colrow.linear_cross_entropy %

// The same on primitives. No collective moves logits: for the loss three numbers a token, and the
// loss itself.
// PRIMITIVE-LABEL: func.func @forward_backward
// PRIMITIVE: colrow.g %{{.*}} -> tensor<2x8x16xf32>
// PRIMITIVE: colrow.g %{{.*}} -> tensor<2x8x16xf32>
// PRIMITIVE: %[[LOGITS:.*]] = colrow.mask_padding %{{.*}} along 2 valid 300 value 0xFFF0000000000000
// PRIMITIVE: %[[MAX:.*]] = colrow.reduce_max %[[LOGITS]] over [2] keepdims {{.*}} -> tensor<2x8x1xf32, #colrow.layout<tp = partial<max>>>
// PRIMITIVE: colrow.g %[[MAX]] {{.*}} -> tensor<2x8x1xf32>
// PRIMITIVE: colrow.g %{{.*}} -> tensor<2x8x1xf32>
// PRIMITIVE: colrow.g %{{.*}} -> tensor<f32>
// PRIMITIVE: colrow.g %{{.*}} -> tensor<2x8x1xf32>
// PRIMITIVE: colrow.g %{{.*}} -> tensor<2x8x16xf32>
// PRIMITIVE: colrow.g %{{.*}} -> tensor<2x8x16xf32>
// PRIMITIVE-NOT: colrow.g{{ }}
// PRIMITIVE-LABEL: func.func @evaluate

// Decomposed afterwards: one product for the logits, as for the gradients.
// DECOMPOSED-LABEL: func.func @forward_backward
// DECOMPOSED-COUNT-1: colrow.einsum {{.*}} -> tensor<2x8x512xf32, #colrow.layout<tp = shard<2>>>
// DECOMPOSED-NOT: colrow.einsum {{.*}} -> tensor<2x8x512xf32
// DECOMPOSED-LABEL: func.func @update
#f = #colrow.layout<tp = replicated>
#p = #colrow.layout<tp = partial>
#s0 = #colrow.layout<tp = shard<0>>
#s1 = #colrow.layout<tp = shard<1>>
#s2 = #colrow.layout<tp = shard<2>>
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @main(
      %e: tensor<512x16xf32, #s0> {colrow.role = "parameter", colrow.name = "wte"},
      %g: tensor<16xf32> {colrow.role = "parameter", colrow.name = "ln.weight"},
      %h: tensor<16xf32> {colrow.role = "parameter", colrow.name = "ln.bias"},
      %u: tensor<16x64xf32, #s1> {colrow.role = "parameter", colrow.name = "fc.weight"},
      %ub: tensor<64xf32, #s0> {colrow.role = "parameter", colrow.name = "fc.bias"},
      %d: tensor<64x16xf32, #s0> {colrow.role = "parameter", colrow.name = "proj.weight"},
      %db: tensor<16xf32> {colrow.role = "parameter", colrow.name = "proj.bias"},
      %lost: tensor<16xf32> {colrow.role = "parameter", colrow.name = "lost"},
      %ids: tensor<2x8xi64> {colrow.role = "input", colrow.name = "input_ids"},
      %labels: tensor<2x8xi64> {colrow.role = "input", colrow.name = "labels"},
      %count: tensor<f32> {colrow.role = "input", colrow.name = "colrow.count"},
      %random: tensor<4xi64> {colrow.role = "input", colrow.name = "colrow.random"})
      -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
    %0 = colrow.take %e at %ids along 0 : (tensor<512x16xf32, #s0>, tensor<2x8xi64>) -> tensor<2x8x16xf32, #p>
    %1 = colrow.g %0 on ["tp"] : (tensor<2x8x16xf32, #p>) -> tensor<2x8x16xf32>
    %2 = colrow.dropout %1 random %random rate 0.1 id 7 : (tensor<2x8x16xf32>, tensor<4xi64>) -> tensor<2x8x16xf32>
    %3 = colrow.layer_norm %2 scale %g bias %h from 2 epsilon 1.0e-5 : (tensor<2x8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<2x8x16xf32>
    %4 = colrow.f %3 on ["tp"] : (tensor<2x8x16xf32>) -> tensor<2x8x16xf32, #f>
    %5 = colrow.einsum "bsi,io->bso" %4, %u : (tensor<2x8x16xf32, #f>, tensor<16x64xf32, #s1>) -> tensor<2x8x64xf32, #s2>
    %6 = colrow.add %5, %ub : (tensor<2x8x64xf32, #s2>, tensor<64xf32, #s0>) -> tensor<2x8x64xf32, #s2>
    %7 = colrow.gelu tanh %6 : (tensor<2x8x64xf32, #s2>) -> tensor<2x8x64xf32, #s2>
    %8 = colrow.einsum "bsi,io->bso" %7, %d : (tensor<2x8x64xf32, #s2>, tensor<64x16xf32, #s0>) -> tensor<2x8x16xf32, #p>
    %9 = colrow.g %8 on ["tp"] : (tensor<2x8x16xf32, #p>) -> tensor<2x8x16xf32>
    %10 = colrow.add %9, %db : (tensor<2x8x16xf32>, tensor<16xf32>) -> tensor<2x8x16xf32>
    %11 = colrow.add %2, %10 : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %12 = colrow.f %11 on ["tp"] : (tensor<2x8x16xf32>) -> tensor<2x8x16xf32, #f>
    %13 = colrow.einsum "bsh,vh->bsv" %12, %e : (tensor<2x8x16xf32, #f>, tensor<512x16xf32, #s0>) -> tensor<2x8x512xf32, #s2>
    %n = colrow.f %count on ["tp"] : (tensor<f32>) -> tensor<f32, #f>
    %14 = colrow.cross_entropy %13, %labels, %n ignore -100 valid 300 : (tensor<2x8x512xf32, #s2>, tensor<2x8xi64>, tensor<f32, #f>) -> tensor<f32>
    return %14 : tensor<f32>
  }
}
