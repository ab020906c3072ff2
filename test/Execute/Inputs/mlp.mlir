// Three layers of layer norm and MLP between an embedding and a tied head, cut over tp = 2.
module attributes {colrow.grid = #colrow.grid<tp = 2>, colrow.model = "mlp.onnx",
                   colrow.batch = 2 : i64, colrow.sequence = 4 : i64, colrow.labels = "shift_left"} {
  func.func @main(
      %wte: tensor<256x16xf32, #colrow.layout<tp = shard<0>>> {colrow.role = "parameter", colrow.name = "wte.weight"},
      %lnw0: tensor<16xf32> {colrow.role = "parameter", colrow.name = "h.0.ln.weight"},
      %lnb0: tensor<16xf32> {colrow.role = "parameter", colrow.name = "h.0.ln.bias"},
      %fcw0: tensor<16x32xf32, #colrow.layout<tp = shard<1>>> {colrow.role = "parameter", colrow.name = "h.0.fc.weight"},
      %fcb0: tensor<32xf32, #colrow.layout<tp = shard<0>>> {colrow.role = "parameter", colrow.name = "h.0.fc.bias"},
      %pw0: tensor<32x16xf32, #colrow.layout<tp = shard<0>>> {colrow.role = "parameter", colrow.name = "h.0.proj.weight"},
      %pb0: tensor<16xf32> {colrow.role = "parameter", colrow.name = "h.0.proj.bias"},
      %lnw1: tensor<16xf32> {colrow.role = "parameter", colrow.name = "h.1.ln.weight"},
      %lnb1: tensor<16xf32> {colrow.role = "parameter", colrow.name = "h.1.ln.bias"},
      %fcw1: tensor<16x32xf32, #colrow.layout<tp = shard<1>>> {colrow.role = "parameter", colrow.name = "h.1.fc.weight"},
      %fcb1: tensor<32xf32, #colrow.layout<tp = shard<0>>> {colrow.role = "parameter", colrow.name = "h.1.fc.bias"},
      %pw1: tensor<32x16xf32, #colrow.layout<tp = shard<0>>> {colrow.role = "parameter", colrow.name = "h.1.proj.weight"},
      %pb1: tensor<16xf32> {colrow.role = "parameter", colrow.name = "h.1.proj.bias"},
      %lnw2: tensor<16xf32> {colrow.role = "parameter", colrow.name = "h.2.ln.weight"},
      %lnb2: tensor<16xf32> {colrow.role = "parameter", colrow.name = "h.2.ln.bias"},
      %fcw2: tensor<16x32xf32, #colrow.layout<tp = shard<1>>> {colrow.role = "parameter", colrow.name = "h.2.fc.weight"},
      %fcb2: tensor<32xf32, #colrow.layout<tp = shard<0>>> {colrow.role = "parameter", colrow.name = "h.2.fc.bias"},
      %pw2: tensor<32x16xf32, #colrow.layout<tp = shard<0>>> {colrow.role = "parameter", colrow.name = "h.2.proj.weight"},
      %pb2: tensor<16xf32> {colrow.role = "parameter", colrow.name = "h.2.proj.bias"},
      %ids: tensor<2x4xi64> {colrow.role = "input", colrow.name = "input_ids"},
      %labels: tensor<2x4xi64> {colrow.role = "input", colrow.name = "labels"},
      %random: tensor<4xi64> {colrow.role = "input", colrow.name = "colrow.random"},
      %count: tensor<f32> {colrow.role = "input", colrow.name = "colrow.count"})
      -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"},
          tensor<2x4x256xf32, #colrow.layout<tp = shard<2>>> {colrow.role = "output", colrow.name = "logits"}) {
    %e = colrow.take %wte at %ids along 0 : (tensor<256x16xf32, #colrow.layout<tp = shard<0>>>, tensor<2x4xi64>) -> tensor<2x4x16xf32, #colrow.layout<tp = partial>> loc("wte")
    %x0 = colrow.g %e on ["tp"] : (tensor<2x4x16xf32, #colrow.layout<tp = partial>>) -> tensor<2x4x16xf32> loc("wte")
    %n0 = colrow.layer_norm %x0 scale %lnw0 bias %lnb0 from 2 epsilon 1.000000e-05 : (tensor<2x4x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<2x4x16xf32> loc("h.0.ln")
    %f0 = colrow.f %n0 on ["tp"] : (tensor<2x4x16xf32>) -> tensor<2x4x16xf32, #colrow.layout<tp = replicated>> loc("h.0.ln")
    %u0 = colrow.einsum "bti,io->bto" %f0, %fcw0 : (tensor<2x4x16xf32, #colrow.layout<tp = replicated>>, tensor<16x32xf32, #colrow.layout<tp = shard<1>>>) -> tensor<2x4x32xf32, #colrow.layout<tp = shard<2>>> loc("h.0.fc")
    %b0 = colrow.add %u0, %fcb0 : (tensor<2x4x32xf32, #colrow.layout<tp = shard<2>>>, tensor<32xf32, #colrow.layout<tp = shard<0>>>) -> tensor<2x4x32xf32, #colrow.layout<tp = shard<2>>> loc("h.0.fc.bias")
    %g0 = colrow.gelu tanh %b0 : (tensor<2x4x32xf32, #colrow.layout<tp = shard<2>>>) -> tensor<2x4x32xf32, #colrow.layout<tp = shard<2>>> loc("h.0.act")
    %p0 = colrow.einsum "bti,io->bto" %g0, %pw0 : (tensor<2x4x32xf32, #colrow.layout<tp = shard<2>>>, tensor<32x16xf32, #colrow.layout<tp = shard<0>>>) -> tensor<2x4x16xf32, #colrow.layout<tp = partial>> loc("h.0.proj")
    %s0 = colrow.g %p0 on ["tp"] : (tensor<2x4x16xf32, #colrow.layout<tp = partial>>) -> tensor<2x4x16xf32> loc("h.0.proj")
    %q0 = colrow.add %s0, %pb0 : (tensor<2x4x16xf32>, tensor<16xf32>) -> tensor<2x4x16xf32> loc("h.0.proj.bias")
    %d0 = colrow.dropout %q0 random %random rate 1.000000e-01 id 100 : (tensor<2x4x16xf32>, tensor<4xi64>) -> tensor<2x4x16xf32> loc("h.0.dropout")
    %x1 = colrow.add %x0, %d0 : (tensor<2x4x16xf32>, tensor<2x4x16xf32>) -> tensor<2x4x16xf32> loc("h.0.residual")
    %n1 = colrow.layer_norm %x1 scale %lnw1 bias %lnb1 from 2 epsilon 1.000000e-05 : (tensor<2x4x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<2x4x16xf32> loc("h.1.ln")
    %f1 = colrow.f %n1 on ["tp"] : (tensor<2x4x16xf32>) -> tensor<2x4x16xf32, #colrow.layout<tp = replicated>> loc("h.1.ln")
    %u1 = colrow.einsum "bti,io->bto" %f1, %fcw1 : (tensor<2x4x16xf32, #colrow.layout<tp = replicated>>, tensor<16x32xf32, #colrow.layout<tp = shard<1>>>) -> tensor<2x4x32xf32, #colrow.layout<tp = shard<2>>> loc("h.1.fc")
    %b1 = colrow.add %u1, %fcb1 : (tensor<2x4x32xf32, #colrow.layout<tp = shard<2>>>, tensor<32xf32, #colrow.layout<tp = shard<0>>>) -> tensor<2x4x32xf32, #colrow.layout<tp = shard<2>>> loc("h.1.fc.bias")
    %g1 = colrow.gelu tanh %b1 : (tensor<2x4x32xf32, #colrow.layout<tp = shard<2>>>) -> tensor<2x4x32xf32, #colrow.layout<tp = shard<2>>> loc("h.1.act")
    %p1 = colrow.einsum "bti,io->bto" %g1, %pw1 : (tensor<2x4x32xf32, #colrow.layout<tp = shard<2>>>, tensor<32x16xf32, #colrow.layout<tp = shard<0>>>) -> tensor<2x4x16xf32, #colrow.layout<tp = partial>> loc("h.1.proj")
    %s1 = colrow.g %p1 on ["tp"] : (tensor<2x4x16xf32, #colrow.layout<tp = partial>>) -> tensor<2x4x16xf32> loc("h.1.proj")
    %q1 = colrow.add %s1, %pb1 : (tensor<2x4x16xf32>, tensor<16xf32>) -> tensor<2x4x16xf32> loc("h.1.proj.bias")
    %d1 = colrow.dropout %q1 random %random rate 1.000000e-01 id 101 : (tensor<2x4x16xf32>, tensor<4xi64>) -> tensor<2x4x16xf32> loc("h.1.dropout")
    %x2 = colrow.add %x1, %d1 : (tensor<2x4x16xf32>, tensor<2x4x16xf32>) -> tensor<2x4x16xf32> loc("h.1.residual")
    %n2 = colrow.layer_norm %x2 scale %lnw2 bias %lnb2 from 2 epsilon 1.000000e-05 : (tensor<2x4x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<2x4x16xf32> loc("h.2.ln")
    %f2 = colrow.f %n2 on ["tp"] : (tensor<2x4x16xf32>) -> tensor<2x4x16xf32, #colrow.layout<tp = replicated>> loc("h.2.ln")
    %u2 = colrow.einsum "bti,io->bto" %f2, %fcw2 : (tensor<2x4x16xf32, #colrow.layout<tp = replicated>>, tensor<16x32xf32, #colrow.layout<tp = shard<1>>>) -> tensor<2x4x32xf32, #colrow.layout<tp = shard<2>>> loc("h.2.fc")
    %b2 = colrow.add %u2, %fcb2 : (tensor<2x4x32xf32, #colrow.layout<tp = shard<2>>>, tensor<32xf32, #colrow.layout<tp = shard<0>>>) -> tensor<2x4x32xf32, #colrow.layout<tp = shard<2>>> loc("h.2.fc.bias")
    %g2 = colrow.gelu tanh %b2 : (tensor<2x4x32xf32, #colrow.layout<tp = shard<2>>>) -> tensor<2x4x32xf32, #colrow.layout<tp = shard<2>>> loc("h.2.act")
    %p2 = colrow.einsum "bti,io->bto" %g2, %pw2 : (tensor<2x4x32xf32, #colrow.layout<tp = shard<2>>>, tensor<32x16xf32, #colrow.layout<tp = shard<0>>>) -> tensor<2x4x16xf32, #colrow.layout<tp = partial>> loc("h.2.proj")
    %s2 = colrow.g %p2 on ["tp"] : (tensor<2x4x16xf32, #colrow.layout<tp = partial>>) -> tensor<2x4x16xf32> loc("h.2.proj")
    %q2 = colrow.add %s2, %pb2 : (tensor<2x4x16xf32>, tensor<16xf32>) -> tensor<2x4x16xf32> loc("h.2.proj.bias")
    %d2 = colrow.dropout %q2 random %random rate 1.000000e-01 id 102 : (tensor<2x4x16xf32>, tensor<4xi64>) -> tensor<2x4x16xf32> loc("h.2.dropout")
    %x3 = colrow.add %x2, %d2 : (tensor<2x4x16xf32>, tensor<2x4x16xf32>) -> tensor<2x4x16xf32> loc("h.2.residual")
    %y = colrow.f %x3 on ["tp"] : (tensor<2x4x16xf32>) -> tensor<2x4x16xf32, #colrow.layout<tp = replicated>> loc("head")
    %logits = colrow.einsum "bti,vi->btv" %y, %wte : (tensor<2x4x16xf32, #colrow.layout<tp = replicated>>, tensor<256x16xf32, #colrow.layout<tp = shard<0>>>) -> tensor<2x4x256xf32, #colrow.layout<tp = shard<2>>> loc("head")
    %c = colrow.f %count on ["tp"] : (tensor<f32>) -> tensor<f32, #colrow.layout<tp = replicated>> loc("loss")
    %loss = colrow.cross_entropy %logits, %labels, %c ignore -100 valid 250 : (tensor<2x4x256xf32, #colrow.layout<tp = shard<2>>>, tensor<2x4xi64>, tensor<f32, #colrow.layout<tp = replicated>>) -> tensor<f32> loc("loss")
    return %loss, %logits : tensor<f32>, tensor<2x4x256xf32, #colrow.layout<tp = shard<2>>>
  }
}
