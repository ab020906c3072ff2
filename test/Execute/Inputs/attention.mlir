// Three layers of causal attention with dropout, from a fused QKV with four heads, cut over tp = 2.
module attributes {colrow.grid = #colrow.grid<tp = 2>, colrow.model = "attention.onnx",
                   colrow.batch = 2 : i64, colrow.sequence = 4 : i64, colrow.labels = "shift_left"} {
  func.func @main(
      %wte: tensor<256x16xf32, #colrow.layout<tp = shard<0>>> {colrow.role = "parameter", colrow.name = "wte.weight"},
      %aw0: tensor<16x48xf32, #colrow.layout<tp = shard<1, blocks = 3, unit = 4>>> {colrow.role = "parameter", colrow.name = "h.0.attn.weight"},
      %ab0: tensor<48xf32, #colrow.layout<tp = shard<0, blocks = 3, unit = 4>>> {colrow.role = "parameter", colrow.name = "h.0.attn.bias"},
      %pw0: tensor<16x16xf32, #colrow.layout<tp = shard<0, unit = 4>>> {colrow.role = "parameter", colrow.name = "h.0.proj.weight"},
      %pb0: tensor<16xf32> {colrow.role = "parameter", colrow.name = "h.0.proj.bias"},
      %aw1: tensor<16x48xf32, #colrow.layout<tp = shard<1, blocks = 3, unit = 4>>> {colrow.role = "parameter", colrow.name = "h.1.attn.weight"},
      %ab1: tensor<48xf32, #colrow.layout<tp = shard<0, blocks = 3, unit = 4>>> {colrow.role = "parameter", colrow.name = "h.1.attn.bias"},
      %pw1: tensor<16x16xf32, #colrow.layout<tp = shard<0, unit = 4>>> {colrow.role = "parameter", colrow.name = "h.1.proj.weight"},
      %pb1: tensor<16xf32> {colrow.role = "parameter", colrow.name = "h.1.proj.bias"},
      %aw2: tensor<16x48xf32, #colrow.layout<tp = shard<1, blocks = 3, unit = 4>>> {colrow.role = "parameter", colrow.name = "h.2.attn.weight"},
      %ab2: tensor<48xf32, #colrow.layout<tp = shard<0, blocks = 3, unit = 4>>> {colrow.role = "parameter", colrow.name = "h.2.attn.bias"},
      %pw2: tensor<16x16xf32, #colrow.layout<tp = shard<0, unit = 4>>> {colrow.role = "parameter", colrow.name = "h.2.proj.weight"},
      %pb2: tensor<16xf32> {colrow.role = "parameter", colrow.name = "h.2.proj.bias"},
      %ids: tensor<2x4xi64> {colrow.role = "input", colrow.name = "input_ids"},
      %labels: tensor<2x4xi64> {colrow.role = "input", colrow.name = "labels"},
      %random: tensor<4xi64> {colrow.role = "input", colrow.name = "colrow.random"},
      %count: tensor<f32> {colrow.role = "input", colrow.name = "colrow.count"})
      -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"},
          tensor<2x4x256xf32, #colrow.layout<tp = shard<2>>> {colrow.role = "output", colrow.name = "logits"}) {
    %e = colrow.take %wte at %ids along 0 : (tensor<256x16xf32, #colrow.layout<tp = shard<0>>>, tensor<2x4xi64>) -> tensor<2x4x16xf32, #colrow.layout<tp = partial>> loc("wte")
    %x0 = colrow.g %e on ["tp"] : (tensor<2x4x16xf32, #colrow.layout<tp = partial>>) -> tensor<2x4x16xf32> loc("wte")
    %f0 = colrow.f %x0 on ["tp"] : (tensor<2x4x16xf32>) -> tensor<2x4x16xf32, #colrow.layout<tp = replicated>> loc("h.0.attn")
    %u0 = colrow.einsum "bti,io->bto" %f0, %aw0 : (tensor<2x4x16xf32, #colrow.layout<tp = replicated>>, tensor<16x48xf32, #colrow.layout<tp = shard<1, blocks = 3, unit = 4>>>) -> tensor<2x4x48xf32, #colrow.layout<tp = shard<2, blocks = 3, unit = 4>>> loc("h.0.attn")
    %b0 = colrow.add %u0, %ab0 : (tensor<2x4x48xf32, #colrow.layout<tp = shard<2, blocks = 3, unit = 4>>>, tensor<48xf32, #colrow.layout<tp = shard<0, blocks = 3, unit = 4>>>) -> tensor<2x4x48xf32, #colrow.layout<tp = shard<2, blocks = 3, unit = 4>>> loc("h.0.attn.bias")
    %qs0 = colrow.slice %b0 from [0, 0, 0] to [2, 4, 16] step [1, 1, 1] : (tensor<2x4x48xf32, #colrow.layout<tp = shard<2, blocks = 3, unit = 4>>>) -> tensor<2x4x16xf32, #colrow.layout<tp = shard<2, unit = 4>>> loc("h.0.q")
    %qr0 = colrow.reshape %qs0 : (tensor<2x4x16xf32, #colrow.layout<tp = shard<2, unit = 4>>>) -> tensor<2x4x4x4xf32, #colrow.layout<tp = shard<2>>> loc("h.0.q")
    %q0 = colrow.transpose %qr0 [0, 2, 1, 3] : (tensor<2x4x4x4xf32, #colrow.layout<tp = shard<2>>>) -> tensor<2x4x4x4xf32, #colrow.layout<tp = shard<1>>> loc("h.0.q")
    %ks0 = colrow.slice %b0 from [0, 0, 16] to [2, 4, 32] step [1, 1, 1] : (tensor<2x4x48xf32, #colrow.layout<tp = shard<2, blocks = 3, unit = 4>>>) -> tensor<2x4x16xf32, #colrow.layout<tp = shard<2, unit = 4>>> loc("h.0.k")
    %kr0 = colrow.reshape %ks0 : (tensor<2x4x16xf32, #colrow.layout<tp = shard<2, unit = 4>>>) -> tensor<2x4x4x4xf32, #colrow.layout<tp = shard<2>>> loc("h.0.k")
    %k0 = colrow.transpose %kr0 [0, 2, 1, 3] : (tensor<2x4x4x4xf32, #colrow.layout<tp = shard<2>>>) -> tensor<2x4x4x4xf32, #colrow.layout<tp = shard<1>>> loc("h.0.k")
    %vs0 = colrow.slice %b0 from [0, 0, 32] to [2, 4, 48] step [1, 1, 1] : (tensor<2x4x48xf32, #colrow.layout<tp = shard<2, blocks = 3, unit = 4>>>) -> tensor<2x4x16xf32, #colrow.layout<tp = shard<2, unit = 4>>> loc("h.0.v")
    %vr0 = colrow.reshape %vs0 : (tensor<2x4x16xf32, #colrow.layout<tp = shard<2, unit = 4>>>) -> tensor<2x4x4x4xf32, #colrow.layout<tp = shard<2>>> loc("h.0.v")
    %v0 = colrow.transpose %vr0 [0, 2, 1, 3] : (tensor<2x4x4x4xf32, #colrow.layout<tp = shard<2>>>) -> tensor<2x4x4x4xf32, #colrow.layout<tp = shard<1>>> loc("h.0.v")
    %y0 = colrow.attention %q0, %k0, %v0 random %random rate 2.000000e-01 id 100 scale 5.000000e-01 causal 0 : (tensor<2x4x4x4xf32, #colrow.layout<tp = shard<1>>>, tensor<2x4x4x4xf32, #colrow.layout<tp = shard<1>>>, tensor<2x4x4x4xf32, #colrow.layout<tp = shard<1>>>, tensor<4xi64>) -> tensor<2x4x4x4xf32, #colrow.layout<tp = shard<1>>> loc("h.0.attention")
    %yt0 = colrow.transpose %y0 [0, 2, 1, 3] : (tensor<2x4x4x4xf32, #colrow.layout<tp = shard<1>>>) -> tensor<2x4x4x4xf32, #colrow.layout<tp = shard<2>>> loc("h.0.attention")
    %yr0 = colrow.reshape %yt0 : (tensor<2x4x4x4xf32, #colrow.layout<tp = shard<2>>>) -> tensor<2x4x16xf32, #colrow.layout<tp = shard<2, unit = 4>>> loc("h.0.attention")
    %p0 = colrow.einsum "bti,io->bto" %yr0, %pw0 : (tensor<2x4x16xf32, #colrow.layout<tp = shard<2, unit = 4>>>, tensor<16x16xf32, #colrow.layout<tp = shard<0, unit = 4>>>) -> tensor<2x4x16xf32, #colrow.layout<tp = partial>> loc("h.0.proj")
    %s0 = colrow.g %p0 on ["tp"] : (tensor<2x4x16xf32, #colrow.layout<tp = partial>>) -> tensor<2x4x16xf32> loc("h.0.proj")
    %c0 = colrow.add %s0, %pb0 : (tensor<2x4x16xf32>, tensor<16xf32>) -> tensor<2x4x16xf32> loc("h.0.proj.bias")
    %x1 = colrow.add %x0, %c0 : (tensor<2x4x16xf32>, tensor<2x4x16xf32>) -> tensor<2x4x16xf32> loc("h.0.residual")
    %f1 = colrow.f %x1 on ["tp"] : (tensor<2x4x16xf32>) -> tensor<2x4x16xf32, #colrow.layout<tp = replicated>> loc("h.1.attn")
    %u1 = colrow.einsum "bti,io->bto" %f1, %aw1 : (tensor<2x4x16xf32, #colrow.layout<tp = replicated>>, tensor<16x48xf32, #colrow.layout<tp = shard<1, blocks = 3, unit = 4>>>) -> tensor<2x4x48xf32, #colrow.layout<tp = shard<2, blocks = 3, unit = 4>>> loc("h.1.attn")
    %b1 = colrow.add %u1, %ab1 : (tensor<2x4x48xf32, #colrow.layout<tp = shard<2, blocks = 3, unit = 4>>>, tensor<48xf32, #colrow.layout<tp = shard<0, blocks = 3, unit = 4>>>) -> tensor<2x4x48xf32, #colrow.layout<tp = shard<2, blocks = 3, unit = 4>>> loc("h.1.attn.bias")
    %qs1 = colrow.slice %b1 from [0, 0, 0] to [2, 4, 16] step [1, 1, 1] : (tensor<2x4x48xf32, #colrow.layout<tp = shard<2, blocks = 3, unit = 4>>>) -> tensor<2x4x16xf32, #colrow.layout<tp = shard<2, unit = 4>>> loc("h.1.q")
    %qr1 = colrow.reshape %qs1 : (tensor<2x4x16xf32, #colrow.layout<tp = shard<2, unit = 4>>>) -> tensor<2x4x4x4xf32, #colrow.layout<tp = shard<2>>> loc("h.1.q")
    %q1 = colrow.transpose %qr1 [0, 2, 1, 3] : (tensor<2x4x4x4xf32, #colrow.layout<tp = shard<2>>>) -> tensor<2x4x4x4xf32, #colrow.layout<tp = shard<1>>> loc("h.1.q")
    %ks1 = colrow.slice %b1 from [0, 0, 16] to [2, 4, 32] step [1, 1, 1] : (tensor<2x4x48xf32, #colrow.layout<tp = shard<2, blocks = 3, unit = 4>>>) -> tensor<2x4x16xf32, #colrow.layout<tp = shard<2, unit = 4>>> loc("h.1.k")
    %kr1 = colrow.reshape %ks1 : (tensor<2x4x16xf32, #colrow.layout<tp = shard<2, unit = 4>>>) -> tensor<2x4x4x4xf32, #colrow.layout<tp = shard<2>>> loc("h.1.k")
    %k1 = colrow.transpose %kr1 [0, 2, 1, 3] : (tensor<2x4x4x4xf32, #colrow.layout<tp = shard<2>>>) -> tensor<2x4x4x4xf32, #colrow.layout<tp = shard<1>>> loc("h.1.k")
    %vs1 = colrow.slice %b1 from [0, 0, 32] to [2, 4, 48] step [1, 1, 1] : (tensor<2x4x48xf32, #colrow.layout<tp = shard<2, blocks = 3, unit = 4>>>) -> tensor<2x4x16xf32, #colrow.layout<tp = shard<2, unit = 4>>> loc("h.1.v")
    %vr1 = colrow.reshape %vs1 : (tensor<2x4x16xf32, #colrow.layout<tp = shard<2, unit = 4>>>) -> tensor<2x4x4x4xf32, #colrow.layout<tp = shard<2>>> loc("h.1.v")
    %v1 = colrow.transpose %vr1 [0, 2, 1, 3] : (tensor<2x4x4x4xf32, #colrow.layout<tp = shard<2>>>) -> tensor<2x4x4x4xf32, #colrow.layout<tp = shard<1>>> loc("h.1.v")
    %y1 = colrow.attention %q1, %k1, %v1 random %random rate 2.000000e-01 id 101 scale 5.000000e-01 causal 0 : (tensor<2x4x4x4xf32, #colrow.layout<tp = shard<1>>>, tensor<2x4x4x4xf32, #colrow.layout<tp = shard<1>>>, tensor<2x4x4x4xf32, #colrow.layout<tp = shard<1>>>, tensor<4xi64>) -> tensor<2x4x4x4xf32, #colrow.layout<tp = shard<1>>> loc("h.1.attention")
    %yt1 = colrow.transpose %y1 [0, 2, 1, 3] : (tensor<2x4x4x4xf32, #colrow.layout<tp = shard<1>>>) -> tensor<2x4x4x4xf32, #colrow.layout<tp = shard<2>>> loc("h.1.attention")
    %yr1 = colrow.reshape %yt1 : (tensor<2x4x4x4xf32, #colrow.layout<tp = shard<2>>>) -> tensor<2x4x16xf32, #colrow.layout<tp = shard<2, unit = 4>>> loc("h.1.attention")
    %p1 = colrow.einsum "bti,io->bto" %yr1, %pw1 : (tensor<2x4x16xf32, #colrow.layout<tp = shard<2, unit = 4>>>, tensor<16x16xf32, #colrow.layout<tp = shard<0, unit = 4>>>) -> tensor<2x4x16xf32, #colrow.layout<tp = partial>> loc("h.1.proj")
    %s1 = colrow.g %p1 on ["tp"] : (tensor<2x4x16xf32, #colrow.layout<tp = partial>>) -> tensor<2x4x16xf32> loc("h.1.proj")
    %c1 = colrow.add %s1, %pb1 : (tensor<2x4x16xf32>, tensor<16xf32>) -> tensor<2x4x16xf32> loc("h.1.proj.bias")
    %x2 = colrow.add %x1, %c1 : (tensor<2x4x16xf32>, tensor<2x4x16xf32>) -> tensor<2x4x16xf32> loc("h.1.residual")
    %f2 = colrow.f %x2 on ["tp"] : (tensor<2x4x16xf32>) -> tensor<2x4x16xf32, #colrow.layout<tp = replicated>> loc("h.2.attn")
    %u2 = colrow.einsum "bti,io->bto" %f2, %aw2 : (tensor<2x4x16xf32, #colrow.layout<tp = replicated>>, tensor<16x48xf32, #colrow.layout<tp = shard<1, blocks = 3, unit = 4>>>) -> tensor<2x4x48xf32, #colrow.layout<tp = shard<2, blocks = 3, unit = 4>>> loc("h.2.attn")
    %b2 = colrow.add %u2, %ab2 : (tensor<2x4x48xf32, #colrow.layout<tp = shard<2, blocks = 3, unit = 4>>>, tensor<48xf32, #colrow.layout<tp = shard<0, blocks = 3, unit = 4>>>) -> tensor<2x4x48xf32, #colrow.layout<tp = shard<2, blocks = 3, unit = 4>>> loc("h.2.attn.bias")
    %qs2 = colrow.slice %b2 from [0, 0, 0] to [2, 4, 16] step [1, 1, 1] : (tensor<2x4x48xf32, #colrow.layout<tp = shard<2, blocks = 3, unit = 4>>>) -> tensor<2x4x16xf32, #colrow.layout<tp = shard<2, unit = 4>>> loc("h.2.q")
    %qr2 = colrow.reshape %qs2 : (tensor<2x4x16xf32, #colrow.layout<tp = shard<2, unit = 4>>>) -> tensor<2x4x4x4xf32, #colrow.layout<tp = shard<2>>> loc("h.2.q")
    %q2 = colrow.transpose %qr2 [0, 2, 1, 3] : (tensor<2x4x4x4xf32, #colrow.layout<tp = shard<2>>>) -> tensor<2x4x4x4xf32, #colrow.layout<tp = shard<1>>> loc("h.2.q")
    %ks2 = colrow.slice %b2 from [0, 0, 16] to [2, 4, 32] step [1, 1, 1] : (tensor<2x4x48xf32, #colrow.layout<tp = shard<2, blocks = 3, unit = 4>>>) -> tensor<2x4x16xf32, #colrow.layout<tp = shard<2, unit = 4>>> loc("h.2.k")
    %kr2 = colrow.reshape %ks2 : (tensor<2x4x16xf32, #colrow.layout<tp = shard<2, unit = 4>>>) -> tensor<2x4x4x4xf32, #colrow.layout<tp = shard<2>>> loc("h.2.k")
    %k2 = colrow.transpose %kr2 [0, 2, 1, 3] : (tensor<2x4x4x4xf32, #colrow.layout<tp = shard<2>>>) -> tensor<2x4x4x4xf32, #colrow.layout<tp = shard<1>>> loc("h.2.k")
    %vs2 = colrow.slice %b2 from [0, 0, 32] to [2, 4, 48] step [1, 1, 1] : (tensor<2x4x48xf32, #colrow.layout<tp = shard<2, blocks = 3, unit = 4>>>) -> tensor<2x4x16xf32, #colrow.layout<tp = shard<2, unit = 4>>> loc("h.2.v")
    %vr2 = colrow.reshape %vs2 : (tensor<2x4x16xf32, #colrow.layout<tp = shard<2, unit = 4>>>) -> tensor<2x4x4x4xf32, #colrow.layout<tp = shard<2>>> loc("h.2.v")
    %v2 = colrow.transpose %vr2 [0, 2, 1, 3] : (tensor<2x4x4x4xf32, #colrow.layout<tp = shard<2>>>) -> tensor<2x4x4x4xf32, #colrow.layout<tp = shard<1>>> loc("h.2.v")
    %y2 = colrow.attention %q2, %k2, %v2 random %random rate 2.000000e-01 id 102 scale 5.000000e-01 causal 0 : (tensor<2x4x4x4xf32, #colrow.layout<tp = shard<1>>>, tensor<2x4x4x4xf32, #colrow.layout<tp = shard<1>>>, tensor<2x4x4x4xf32, #colrow.layout<tp = shard<1>>>, tensor<4xi64>) -> tensor<2x4x4x4xf32, #colrow.layout<tp = shard<1>>> loc("h.2.attention")
    %yt2 = colrow.transpose %y2 [0, 2, 1, 3] : (tensor<2x4x4x4xf32, #colrow.layout<tp = shard<1>>>) -> tensor<2x4x4x4xf32, #colrow.layout<tp = shard<2>>> loc("h.2.attention")
    %yr2 = colrow.reshape %yt2 : (tensor<2x4x4x4xf32, #colrow.layout<tp = shard<2>>>) -> tensor<2x4x16xf32, #colrow.layout<tp = shard<2, unit = 4>>> loc("h.2.attention")
    %p2 = colrow.einsum "bti,io->bto" %yr2, %pw2 : (tensor<2x4x16xf32, #colrow.layout<tp = shard<2, unit = 4>>>, tensor<16x16xf32, #colrow.layout<tp = shard<0, unit = 4>>>) -> tensor<2x4x16xf32, #colrow.layout<tp = partial>> loc("h.2.proj")
    %s2 = colrow.g %p2 on ["tp"] : (tensor<2x4x16xf32, #colrow.layout<tp = partial>>) -> tensor<2x4x16xf32> loc("h.2.proj")
    %c2 = colrow.add %s2, %pb2 : (tensor<2x4x16xf32>, tensor<16xf32>) -> tensor<2x4x16xf32> loc("h.2.proj.bias")
    %x3 = colrow.add %x2, %c2 : (tensor<2x4x16xf32>, tensor<2x4x16xf32>) -> tensor<2x4x16xf32> loc("h.2.residual")
    %y = colrow.f %x3 on ["tp"] : (tensor<2x4x16xf32>) -> tensor<2x4x16xf32, #colrow.layout<tp = replicated>> loc("head")
    %logits = colrow.einsum "bti,vi->btv" %y, %wte : (tensor<2x4x16xf32, #colrow.layout<tp = replicated>>, tensor<256x16xf32, #colrow.layout<tp = shard<0>>>) -> tensor<2x4x256xf32, #colrow.layout<tp = shard<2>>> loc("head")
    %c = colrow.f %count on ["tp"] : (tensor<f32>) -> tensor<f32, #colrow.layout<tp = replicated>> loc("loss")
    %loss = colrow.cross_entropy %logits, %labels, %c ignore -100 valid 250 : (tensor<2x4x256xf32, #colrow.layout<tp = shard<2>>>, tensor<2x4xi64>, tensor<f32, #colrow.layout<tp = replicated>>) -> tensor<f32> loc("loss")
    return %loss, %logits : tensor<f32>, tensor<2x4x256xf32, #colrow.layout<tp = shard<2>>>
  }
}
