// Wrong programs that someone who shards by hand would write, each with the rule that rejects it.
// RUN: colrow-opt %s --split-input-file --verify-diagnostics

// gelu of a partial: the gelu of a sum is not the sum of gelus.
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @gelu_of_a_partial(%h: tensor<4x16xf32, #colrow.layout<tp = shard<1>>>,
                               %w: tensor<16x8xf32, #colrow.layout<tp = shard<0>>>)
      -> tensor<4x8xf32, #colrow.layout<tp = partial>> {
    %0 = colrow.einsum "to,oi->ti" %h, %w
        : (tensor<4x16xf32, #colrow.layout<tp = shard<1>>>,
           tensor<16x8xf32, #colrow.layout<tp = shard<0>>>)
        -> tensor<4x8xf32, #colrow.layout<tp = partial>>
    // expected-error @+1 {{breaks L4 on axis 'tp': operands 0 are partial, but the operation is not linear in exactly these: reduce them with g first}}
    %1 = colrow.gelu erf %0
        : (tensor<4x8xf32, #colrow.layout<tp = partial>>)
        -> tensor<4x8xf32, #colrow.layout<tp = partial>>
    return %1 : tensor<4x8xf32, #colrow.layout<tp = partial>>
  }
}

// -----

// A bias added to a partial would be added once by every rank.
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @bias_added_to_a_partial(%y: tensor<4x8xf32, #colrow.layout<tp = partial>>,
                                     %b: tensor<8xf32>) -> tensor<4x8xf32> {
    %0 = colrow.f %b on ["tp"]
        : (tensor<8xf32>) -> tensor<8xf32, #colrow.layout<tp = replicated>>
    // expected-error @+1 {{breaks L4 on axis 'tp': operands 0 are partial}}
    %1 = colrow.add %y, %0
        : (tensor<4x8xf32, #colrow.layout<tp = partial>>,
           tensor<8xf32, #colrow.layout<tp = replicated>>)
        -> tensor<4x8xf32, #colrow.layout<tp = partial>>
    %2 = colrow.g %1 on ["tp"]
        : (tensor<4x8xf32, #colrow.layout<tp = partial>>) -> tensor<4x8xf32>
    return %2 : tensor<4x8xf32>
  }
}

// -----

// The same without f: the bias is invariant beside a partial.
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @invariant_bias_added_to_a_partial(
      %y: tensor<4x8xf32, #colrow.layout<tp = partial>>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
    // expected-error @+1 {{breaks L2 on axis 'tp': operand 1 is invariant where another is not: it needs f}}
    %0 = colrow.add %y, %b
        : (tensor<4x8xf32, #colrow.layout<tp = partial>>, tensor<8xf32>)
        -> tensor<4x8xf32, #colrow.layout<tp = partial>>
    %1 = colrow.g %0 on ["tp"]
        : (tensor<4x8xf32, #colrow.layout<tp = partial>>) -> tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }
}

// -----

// Missing f before a column-parallel product: the gradient of %x would be one rank's summand.
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @missing_f(%x: tensor<4x8xf32>,
                       %w: tensor<8x16xf32, #colrow.layout<tp = shard<1>>>)
      -> tensor<4x16xf32, #colrow.layout<tp = shard<1>>> {
    // expected-error @+1 {{breaks L2 on axis 'tp': operand 0 is invariant where another is not: it needs f}}
    %0 = colrow.einsum "ti,io->to" %x, %w
        : (tensor<4x8xf32>, tensor<8x16xf32, #colrow.layout<tp = shard<1>>>)
        -> tensor<4x16xf32, #colrow.layout<tp = shard<1>>>
    return %0 : tensor<4x16xf32, #colrow.layout<tp = shard<1>>>
  }
}

// -----

// Missing g at a residual: the residual stream would be added once by every rank.
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @missing_g(%x: tensor<4x8xf32>, %h: tensor<4x16xf32, #colrow.layout<tp = shard<1>>>,
                       %w: tensor<16x8xf32, #colrow.layout<tp = shard<0>>>)
      -> tensor<4x8xf32, #colrow.layout<tp = partial>> {
    %0 = colrow.einsum "to,oi->ti" %h, %w
        : (tensor<4x16xf32, #colrow.layout<tp = shard<1>>>,
           tensor<16x8xf32, #colrow.layout<tp = shard<0>>>)
        -> tensor<4x8xf32, #colrow.layout<tp = partial>>
    // expected-error @+1 {{breaks L2 on axis 'tp': operand 0 is invariant where another is not}}
    %1 = colrow.add %x, %0
        : (tensor<4x8xf32>, tensor<4x8xf32, #colrow.layout<tp = partial>>)
        -> tensor<4x8xf32, #colrow.layout<tp = partial>>
    return %1 : tensor<4x8xf32, #colrow.layout<tp = partial>>
  }
}

// -----

// The norm of a partial: mean and variance of one rank's summands mean nothing.
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @norm_of_a_partial(%y: tensor<4x8xf32, #colrow.layout<tp = partial>>,
                               %scale: tensor<8xf32, #colrow.layout<tp = replicated>>)
      -> tensor<4x8xf32, #colrow.layout<tp = partial>> {
    // expected-error @+1 {{breaks L4 on axis 'tp': operands 0 are partial}}
    %0 = colrow.layer_norm %y scale %scale from 1 epsilon 1.0e-05
        : (tensor<4x8xf32, #colrow.layout<tp = partial>>,
           tensor<8xf32, #colrow.layout<tp = replicated>>)
        -> tensor<4x8xf32, #colrow.layout<tp = partial>>
    return %0 : tensor<4x8xf32, #colrow.layout<tp = partial>>
  }
}

// -----

// Clipping with a local norm: the squares of a cut gradient are a partial sum. Its root is not the
// norm, and every rank would clip by another factor.
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @clip_with_a_local_norm(%g: tensor<8x16xf32, #colrow.layout<tp = shard<1>>>)
      -> tensor<8x16xf32, #colrow.layout<tp = shard<1>>> {
    %0 = colrow.sum_squares %g
        : (tensor<8x16xf32, #colrow.layout<tp = shard<1>>>)
        -> tensor<f32, #colrow.layout<tp = partial>>
    // expected-error @+1 {{breaks L4 on axis 'tp': operands 0 are partial}}
    %1 = colrow.sqrt %0
        : (tensor<f32, #colrow.layout<tp = partial>>)
        -> tensor<f32, #colrow.layout<tp = partial>>
    %2 = colrow.mul %g, %1
        : (tensor<8x16xf32, #colrow.layout<tp = shard<1>>>,
           tensor<f32, #colrow.layout<tp = partial>>)
        -> tensor<8x16xf32, #colrow.layout<tp = shard<1>>>
    return %2 : tensor<8x16xf32, #colrow.layout<tp = shard<1>>>
  }
}

// -----

// Clipping with the global norm, but without f before the cut gradient.
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @clip_without_f(%g: tensor<8x16xf32, #colrow.layout<tp = shard<1>>>,
                            %clip: tensor<f32>)
      -> tensor<8x16xf32, #colrow.layout<tp = shard<1>>> {
    // expected-error @+1 {{breaks L2 on axis 'tp': operand 1 is invariant where another is not}}
    %0 = colrow.mul %g, %clip
        : (tensor<8x16xf32, #colrow.layout<tp = shard<1>>>, tensor<f32>)
        -> tensor<8x16xf32, #colrow.layout<tp = shard<1>>>
    return %0 : tensor<8x16xf32, #colrow.layout<tp = shard<1>>>
  }
}

// -----

// An unmasked gather along a cut dimension: no rank has all rows of the table, so what it looks up
// is a summand (zeros for the ids of others), never the whole.
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @unmasked_gather(%table: tensor<32x8xf32, #colrow.layout<tp = shard<0>>>,
                             %ids: tensor<4xi64>) -> tensor<4x8xf32> {
    // expected-error @+1 {{breaks L3 on axis 'tp': result 0 must be partial, got: invariant}}
    %0 = colrow.take %table at %ids along 0
        : (tensor<32x8xf32, #colrow.layout<tp = shard<0>>>, tensor<4xi64>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}

// -----

// A fused QKV cut across its blocks: rank 0 would hold all queries and half of the keys.
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @qkv_cut_across_blocks(%qkv: tensor<4x48xf32, #colrow.layout<tp = shard<1>>>)
      -> tensor<4x16xf32, #colrow.layout<tp = shard<1>>> {
    // expected-error @+1 {{breaks L3 on axis 'tp': operand 0 is shard<1>, which cuts across the dimension's structure}}
    %q = colrow.slice %qkv from [0, 0] to [4, 16] step [1, 1]
        : (tensor<4x48xf32, #colrow.layout<tp = shard<1>>>)
        -> tensor<4x16xf32, #colrow.layout<tp = shard<1>>>
    return %q : tensor<4x16xf32, #colrow.layout<tp = shard<1>>>
  }
}
