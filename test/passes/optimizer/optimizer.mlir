// RUN: colrow-opt %s --split-input-file --colrow-differentiate --colrow-optimizer | FileCheck %s

// Squares of cut gradients are added before one g, those of whole ones after it; the coefficient and
// the scalars go through f to cut parameters; matrices decay.
// CHECK-LABEL: func.func @update(
// CHECK-SAME: %[[U:[a-z0-9]+]]: tensor<16x64xf32, #colrow.layout<tp = shard<1>>> {colrow.aliases = ["fc.alias"], colrow.name = "fc.weight", colrow.role = "parameter"}
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<64xf32, #colrow.layout<tp = shard<0>>> {colrow.name = "fc.bias", colrow.role = "parameter"}
// CHECK-SAME: %[[N:[a-z0-9]+]]: tensor<16xf32> {colrow.name = "norm", colrow.role = "parameter"}
// CHECK-SAME: %[[DU:[a-z0-9]+]]: tensor<16x64xf32, #colrow.layout<tp = shard<1>>> {colrow.name = "fc.weight", colrow.role = "gradient"}
// CHECK-SAME: %[[DB:[a-z0-9]+]]: tensor<64xf32, #colrow.layout<tp = shard<0>>> {colrow.name = "fc.bias", colrow.role = "gradient"}
// CHECK-SAME: %[[DN:[a-z0-9]+]]: tensor<16xf32> {colrow.name = "norm", colrow.role = "gradient"}
// CHECK-SAME: %[[MU:[a-z0-9]+]]: tensor<16x64xf32, #colrow.layout<tp = shard<1>>> {colrow.name = "fc.weight.first", colrow.role = "state"}
// CHECK-SAME: %[[VU:[a-z0-9]+]]: tensor<16x64xf32, #colrow.layout<tp = shard<1>>> {colrow.name = "fc.weight.second", colrow.role = "state"}
// CHECK-SAME: %[[S:[a-z0-9]+]]: tensor<8xf32> {colrow.name = "colrow.scalars", colrow.role = "input"}
// CHECK: colrow.name = "grad_norm", colrow.role = "metric"
// CHECK-NEXT: %[[QU:.*]] = colrow.sum_squares %[[DU]]
// CHECK-NEXT: %[[QB:.*]] = colrow.sum_squares %[[DB]]
// CHECK-NEXT: %[[CUT:.*]] = colrow.add %[[QU]], %[[QB]] : {{.*}} -> tensor<f32, #colrow.layout<tp = partial>>
// CHECK-NEXT: %[[QN:.*]] = colrow.sum_squares %[[DN]] : (tensor<16xf32>) -> tensor<f32>
// CHECK-NEXT: %[[G:.*]] = colrow.g %[[CUT]] on ["tp"]
// CHECK-NEXT: %[[ALL:.*]] = colrow.add %[[G]], %[[QN]]
// CHECK-NEXT: %[[NORM:.*]] = colrow.sqrt %[[ALL]]
// CHECK-NOT: colrow.g{{ }}
// CHECK: %[[C:.*]] = colrow.select
// CHECK: %[[AS:.*]] = colrow.slice %[[S]] from [0] to [7] step [1]
// CHECK: %[[FC:.*]] = colrow.f %[[C]] on ["tp"]
// CHECK: %[[FS:.*]] = colrow.f %[[AS]] on ["tp"]
// CHECK: %[[NU:.*]], %{{.*}}, %{{.*}} = colrow.adamw %[[U]], %[[DU]], %[[MU]], %[[VU]] clip %[[FC]] scalars %[[FS]] decay
// CHECK: colrow.adamw %[[B]], %[[DB]], %{{.*}}, %{{.*}} clip %[[FC]] scalars %[[FS]] :
// CHECK: colrow.adamw %[[N]], %[[DN]], %{{.*}}, %{{.*}} clip %[[C]] scalars %[[AS]] :
// CHECK: return %[[NU]], {{.*}}, %[[NORM]] :
#r = #colrow.layout<tp = replicated>
#p = #colrow.layout<tp = partial>
#s0 = #colrow.layout<tp = shard<0>>
#s1 = #colrow.layout<tp = shard<1>>
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @main(
      %u: tensor<16x64xf32, #s1> {colrow.role = "parameter", colrow.name = "fc.weight", colrow.aliases = ["fc.alias"]},
      %b: tensor<64xf32, #s0> {colrow.role = "parameter", colrow.name = "fc.bias"},
      %n: tensor<16xf32> {colrow.role = "parameter", colrow.name = "norm"})
      -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
    %0 = colrow.f %n on ["tp"] : (tensor<16xf32>) -> tensor<16xf32, #r>
    %1 = colrow.einsum "i,io->o" %0, %u : (tensor<16xf32, #r>, tensor<16x64xf32, #s1>) -> tensor<64xf32, #s0>
    %2 = colrow.mul %1, %b : (tensor<64xf32, #s0>, tensor<64xf32, #s0>) -> tensor<64xf32, #s0>
    %3 = colrow.reduce_sum %2 over [0] : (tensor<64xf32, #s0>) -> tensor<f32, #p>
    %4 = colrow.g %3 on ["tp"] : (tensor<f32, #p>) -> tensor<f32>
    return %4 : tensor<f32>
  }
}
