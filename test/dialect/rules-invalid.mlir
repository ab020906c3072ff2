// What breaks each rule by itself, L1 to L11 and C1 to C3.
// RUN: colrow-opt %s --split-input-file --verify-diagnostics

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @l1(%x: tensor<4xf32>) {
    // expected-error @+1 {{breaks L1 on axis 'tp': all operands are invariant, so result 0 is, got: replicated}}
    %0 = colrow.exp %x : (tensor<4xf32>) -> tensor<4xf32, #colrow.layout<tp = replicated>>
    return
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @l1_own(%x: tensor<1xf32>) {
    // expected-error @+1 {{breaks L1 on axis 'tp': all operands are invariant, so result 0 is, got: shard<0>}}
    %0 = colrow.broadcast %x : (tensor<1xf32>) -> tensor<4xf32, #colrow.layout<tp = shard<0>>>
    return
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @l2(%x: tensor<4xf32>, %y: tensor<4xf32, #colrow.layout<tp = replicated>>) {
    // expected-error @+1 {{breaks L2 on axis 'tp': operand 0 is invariant where another is not: it needs f (or take_shard)}}
    %0 = colrow.mul %x, %y : (tensor<4xf32>, tensor<4xf32, #colrow.layout<tp = replicated>>)
        -> tensor<4xf32, #colrow.layout<tp = replicated>>
    return
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @l3_two_factors(%x: tensor<4x8xf32, #colrow.layout<tp = shard<0>>>,
                            %w: tensor<8x4xf32, #colrow.layout<tp = shard<1>>>) {
    // expected-error @+1 {{breaks L3 on axis 'tp': two factors are cut on one axis}}
    %0 = colrow.einsum "ti,io->to" %x, %w
        : (tensor<4x8xf32, #colrow.layout<tp = shard<0>>>,
           tensor<8x4xf32, #colrow.layout<tp = shard<1>>>)
        -> tensor<4x4xf32, #colrow.layout<tp = shard<0>>>
    return
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @l3_differently(%x: tensor<8xf32, #colrow.layout<tp = shard<0>>>,
                            %y: tensor<8xf32, #colrow.layout<tp = shard<0, blocks = 2>>>) {
    // expected-error @+1 {{breaks L3 on axis 'tp': operands cut one dimension differently: shard<0> and shard<0, blocks = 2>}}
    %0 = colrow.add %x, %y
        : (tensor<8xf32, #colrow.layout<tp = shard<0>>>,
           tensor<8xf32, #colrow.layout<tp = shard<0, blocks = 2>>>)
        -> tensor<8xf32, #colrow.layout<tp = shard<0>>>
    return
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @l3_not_cut_alike(%x: tensor<8xf32, #colrow.layout<tp = shard<0>>>,
                              %y: tensor<8xf32, #colrow.layout<tp = replicated>>) {
    // expected-error @+1 {{breaks L3 on axis 'tp': operand 1 is replicated, but the dimension it shares with a cut operand must be cut alike}}
    %0 = colrow.add %x, %y
        : (tensor<8xf32, #colrow.layout<tp = shard<0>>>,
           tensor<8xf32, #colrow.layout<tp = replicated>>)
        -> tensor<8xf32, #colrow.layout<tp = shard<0>>>
    return
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @l3_partial_beside_cut(%x: tensor<8xf32, #colrow.layout<tp = shard<0>>>,
                                   %y: tensor<f32, #colrow.layout<tp = partial>>) {
    // expected-error @+1 {{breaks L3 on axis 'tp': operand 1 is partial, but beside a cut operand it must be replicated}}
    %0 = colrow.mul %x, %y
        : (tensor<8xf32, #colrow.layout<tp = shard<0>>>, tensor<f32, #colrow.layout<tp = partial>>)
        -> tensor<8xf32, #colrow.layout<tp = shard<0>>>
    return
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @l3_whole(%x: tensor<4x8xf32, #colrow.layout<tp = shard<1>>>) {
    // expected-error @+1 {{breaks L3 on axis 'tp': operand 0 is shard<1>, but dimension 1 must be whole here}}
    %0 = colrow.softmax %x along 1 : (tensor<4x8xf32, #colrow.layout<tp = shard<1>>>)
        -> tensor<4x8xf32, #colrow.layout<tp = shard<1>>>
    return
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @l3_result(%x: tensor<4x8xf32, #colrow.layout<tp = shard<1>>>) {
    // expected-error @+1 {{breaks L3 on axis 'tp': result 0 must be partial, got: replicated}}
    %0 = colrow.reduce_sum %x over [1] : (tensor<4x8xf32, #colrow.layout<tp = shard<1>>>)
        -> tensor<4xf32, #colrow.layout<tp = replicated>>
    return
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @l4_product(%x: tensor<8xf32, #colrow.layout<tp = partial>>) {
    // expected-error @+1 {{breaks L4 on axis 'tp': operands 0, 1 are partial, but the operation is not linear in exactly these}}
    %0 = colrow.mul %x, %x
        : (tensor<8xf32, #colrow.layout<tp = partial>>, tensor<8xf32, #colrow.layout<tp = partial>>)
        -> tensor<8xf32, #colrow.layout<tp = partial>>
    return
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @l4_sum(%x: tensor<8xf32, #colrow.layout<tp = partial>>,
                    %y: tensor<8xf32, #colrow.layout<tp = replicated>>) {
    // expected-error @+1 {{breaks L4 on axis 'tp': operands 0 are partial}}
    %0 = colrow.add %x, %y
        : (tensor<8xf32, #colrow.layout<tp = partial>>,
           tensor<8xf32, #colrow.layout<tp = replicated>>)
        -> tensor<8xf32, #colrow.layout<tp = partial>>
    return
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @l4_result(%x: tensor<8xf32, #colrow.layout<tp = partial>>) {
    // expected-error @+1 {{breaks L4 on axis 'tp': result 0 must be partial, got: invariant}}
    %0 = colrow.neg %x : (tensor<8xf32, #colrow.layout<tp = partial>>) -> tensor<8xf32>
    return
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @l5(%x: tensor<8xf32, #colrow.layout<tp = replicated>>) {
    // expected-error @+1 {{breaks L5 on axis 'tp': result 0 is shard<0>, but no operand is cut there}}
    %0 = colrow.exp %x : (tensor<8xf32, #colrow.layout<tp = replicated>>)
        -> tensor<8xf32, #colrow.layout<tp = shard<0>>>
    return
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @l5_partial(%x: tensor<8xf32, #colrow.layout<tp = replicated>>) {
    // expected-error @+1 {{breaks L5 on axis 'tp': result 0 must be replicated, got: partial}}
    %0 = colrow.exp %x : (tensor<8xf32, #colrow.layout<tp = replicated>>)
        -> tensor<8xf32, #colrow.layout<tp = partial>>
    return
  }
}

// -----

// expected-error @+1 {{L6: 'i64' has no gradient, hence is not replicated on 'tp': leave it invariant}}
func.func private @l6(tensor<8xi64, #colrow.layout<tp = replicated>>)

// -----

// expected-error @+1 {{L6: booleans have no sum, hence are not partial on 'tp'}}
func.func private @l6_partial(tensor<8xi1, #colrow.layout<tp = partial>>)

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @l7() {
    // expected-error @+1 {{breaks L7 on axis 'tp': result 0 without floating operands is declared partial; it is invariant, replicated or shard}}
    %0 = colrow.constant dense<1.0> : tensor<8xf32> as tensor<8xf32, #colrow.layout<tp = partial>>
    return
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @l7_not_a_splat() {
    // expected-error @+1 {{breaks L7 on axis 'tp': result 0 is shard<0>, but no operand is cut there}}
    %0 = colrow.constant dense<[1.0, 2.0]> : tensor<2xf32>
        as tensor<2xf32, #colrow.layout<tp = shard<0>>>
    return
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @l8(%x: tensor<8xf32, #colrow.layout<tp = shard<0>>>) {
    %0 = colrow.reduce_max %x over [0] : (tensor<8xf32, #colrow.layout<tp = shard<0>>>)
        -> tensor<f32, #colrow.layout<tp = partial<max>>>
    // expected-error @+1 {{breaks L8 on axis 'tp': operand 0 is partial<max>, which only g takes}}
    %1 = colrow.neg %0 : (tensor<f32, #colrow.layout<tp = partial<max>>>)
        -> tensor<f32, #colrow.layout<tp = partial<max>>>
    return
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @l8_result(%x: tensor<8xf32, #colrow.layout<tp = shard<0>>>) {
    // expected-error @+1 {{breaks L8 on axis 'tp': result 0 must be partial<max>, got: partial}}
    %0 = colrow.reduce_max %x over [0] : (tensor<8xf32, #colrow.layout<tp = shard<0>>>)
        -> tensor<f32, #colrow.layout<tp = partial>>
    return
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  // expected-error @+1 {{breaks L9: result 0 (loss 'loss') must have type 'tensor<f32>', got: 'tensor<f32, #colrow.layout<tp = partial>>'}}
  func.func @l9_loss(%x: tensor<f32, #colrow.layout<tp = partial>>)
      -> (tensor<f32, #colrow.layout<tp = partial>> {colrow.role = "loss", colrow.name = "loss"}) {
    return %x : tensor<f32, #colrow.layout<tp = partial>>
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  // expected-error @+1 {{breaks L9: result 0 (gradient 'w') must have type 'tensor<8xf32>', got: 'tensor<8xf32, #colrow.layout<tp = partial>>'}}
  func.func @l9_gradient(%w: tensor<8xf32> {colrow.role = "parameter", colrow.name = "w"},
                         %g: tensor<8xf32, #colrow.layout<tp = partial>>)
      -> (tensor<8xf32, #colrow.layout<tp = partial>>
          {colrow.role = "gradient", colrow.name = "w"}) {
    return %g : tensor<8xf32, #colrow.layout<tp = partial>>
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  // expected-error @+1 {{breaks L9: result 0 (parameter 'w') must have type 'tensor<8xf32, #colrow.layout<tp = shard<0>>>', got: 'tensor<8xf32>'}}
  func.func @l9_parameter(
      %w: tensor<8xf32, #colrow.layout<tp = shard<0>>>
          {colrow.role = "parameter", colrow.name = "w"}, %new: tensor<8xf32>)
      -> (tensor<8xf32> {colrow.role = "parameter", colrow.name = "w"}) {
    return %new : tensor<8xf32>
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  // expected-error @+1 {{breaks L9: result 0 (state 'w.first') must have type}}
  func.func @l9_state(
      %m: tensor<8xf32, #colrow.layout<tp = shard<0>>>
          {colrow.role = "state", colrow.name = "w.first"}, %new: tensor<8xf32>)
      -> (tensor<8xf32> {colrow.role = "state", colrow.name = "w.first"}) {
    return %new : tensor<8xf32>
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @l9_return(%x: tensor<8xf32, #colrow.layout<tp = partial>>) -> tensor<8xf32> {
    // expected-error @+1 {{breaks L9: result 0 must have type 'tensor<8xf32>', got: 'tensor<8xf32, #colrow.layout<tp = partial>>'}}
    return %x : tensor<8xf32, #colrow.layout<tp = partial>>
  }
}

// -----

// expected-error @+1 {{L11: an axis that is not named is invariant: leave out 'tp'}}
func.func private @l11_invariant(tensor<8xf32, #colrow.layout<tp = invariant>>)

// -----

// expected-error @+1 {{L11: a tensor that is invariant on every axis has no layout}}
func.func private @l11_empty(tensor<8xf32, #colrow.layout<>>)

// -----

// expected-error @+1 {{L11: axis 'tp' is named twice}}
func.func private @l11_twice(tensor<8xf32, #colrow.layout<tp = partial, tp = replicated>>)

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @c1_from(%x: tensor<8xf32, #colrow.layout<tp = partial>>) {
    // expected-error @+1 {{breaks C1: does not convert from partial on axis 'tp'}}
    %0 = colrow.f %x on ["tp"] : (tensor<8xf32, #colrow.layout<tp = partial>>)
        -> tensor<8xf32, #colrow.layout<tp = replicated>>
    return
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @c1_to(%x: tensor<8xf32, #colrow.layout<tp = partial>>) {
    // expected-error @+1 {{breaks C1: does not convert to replicated on axis 'tp'}}
    %0 = colrow.g %x on ["tp"] : (tensor<8xf32, #colrow.layout<tp = partial>>)
        -> tensor<8xf32, #colrow.layout<tp = replicated>>
    return
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @c1_same(%x: tensor<8xf32, #colrow.layout<tp = shard<0>>>) {
    // expected-error @+1 {{breaks C1: expects another cut}}
    %0 = colrow.all_to_all %x on ["tp"] : (tensor<8xf32, #colrow.layout<tp = shard<0>>>)
        -> tensor<8xf32, #colrow.layout<tp = shard<0>>>
    return
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<dp = 2, tp = 2>} {
  func.func @c2_axis(%x: tensor<8xf32, #colrow.layout<tp = partial>>) {
    // expected-error @+1 {{breaks C2: changes axis 'dp', which it does not name}}
    %0 = colrow.g %x on ["tp"] : (tensor<8xf32, #colrow.layout<tp = partial>>)
        -> tensor<8xf32, #colrow.layout<dp = replicated>>
    return
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @c2_shape(%x: tensor<8xf32>) {
    // expected-error @+1 {{breaks C2: changes more than the layout}}
    %0 = colrow.f %x on ["tp"] : (tensor<8xf32>)
        -> tensor<4xf32, #colrow.layout<tp = replicated>>
    return
  }
}

// -----

// dp deals out halves, tp deals out quarters inside them. Gathering over dp alone would leave tp
// with two pieces that do not lie side by side.
module attributes {colrow.grid = #colrow.grid<dp = 2, tp = 2>} {
  func.func @c3(%x: tensor<8xf32, #colrow.layout<dp = shard<0>, tp = shard<0>>>) {
    // expected-error @+1 {{breaks C3: axis 'tp' cuts}}
    %0 = colrow.gather %x on ["dp"]
        : (tensor<8xf32, #colrow.layout<dp = shard<0>, tp = shard<0>>>)
        -> tensor<8xf32, #colrow.layout<tp = shard<0>>>
    return
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @axis(%x: tensor<8xf32>) {
    // expected-error @+1 {{names axis 'dp', which the grid lacks}}
    %0 = colrow.f %x on ["dp"] : (tensor<8xf32>)
        -> tensor<8xf32, #colrow.layout<dp = replicated>>
    return
  }
}

// -----

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  // expected-error @+1 {{dimension 0 of 'tensor<7xf32, #colrow.layout<tp = shard<0>>>' does not divide into whole units on every rank}}
  func.func @divides(%x: tensor<7xf32, #colrow.layout<tp = shard<0>>>) {
    return
  }
}

// -----

// expected-error @+1 {{axis 'tp' cuts dimension 1 of a tensor of rank 1}}
func.func private @dimension(tensor<8xf32, #colrow.layout<tp = shard<1>>>)

// -----

// expected-error @+1 {{axis "tp" is named twice}}
module attributes {colrow.grid = #colrow.grid<tp = 2, tp = 2>} {}

// -----

// expected-error @+1 {{axis "tp" expects a size of at least 1, got: 0}}
module attributes {colrow.grid = #colrow.grid<tp = 0>} {}

// -----

// Upstream operations know nothing of layouts.
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @upstream(%x: tensor<8xf32, #colrow.layout<tp = partial>>) {
    // expected-error @+1 {{touches a tensor with a layout; only colrow operations and func.func, func.call and func.return may}}
    %0 = builtin.unrealized_conversion_cast %x
        : tensor<8xf32, #colrow.layout<tp = partial>> to tensor<8xf32>
    return
  }
}

// -----

// A layout without a grid.
func.func @grid(%x: tensor<8xf32, #colrow.layout<tp = partial>>) {
  // expected-error @+1 {{has a layout, but the module has no 'colrow.grid'}}
  %0 = colrow.neg %x : (tensor<8xf32, #colrow.layout<tp = partial>>)
      -> tensor<8xf32, #colrow.layout<tp = partial>>
  return
}

// -----

// After localize: operand and result are what one rank holds.
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @comm(%x: tensor<8xf32>) {
    // expected-error @+1 {{expects 'tensor<4xf32>' of 'tensor<8xf32, #colrow.layout<tp = shard<0>>>', got: 'tensor<8xf32>'}}
    %0 = colrow.comm.all_gather %x on ["tp"] from tensor<8xf32, #colrow.layout<tp = shard<0>>>
        to tensor<8xf32> : (tensor<8xf32>) -> tensor<8xf32>
    return
  }
}

// -----

// dp outside tp in one operand and inside it in the other: their local elements are others.
module attributes {colrow.grid = #colrow.grid<dp = 2, tp = 2>} {
  func.func @l11_order(%x: tensor<8xf32, #colrow.layout<dp = shard<0>, tp = shard<0>>>,
                       %y: tensor<8xf32, #colrow.layout<tp = shard<0>, dp = shard<0>>>) {
    // expected-error @+1 {{breaks L11: axes 'dp' and 'tp' cut one dimension in different orders}}
    %0 = colrow.add %x, %y
        : (tensor<8xf32, #colrow.layout<dp = shard<0>, tp = shard<0>>>,
           tensor<8xf32, #colrow.layout<tp = shard<0>, dp = shard<0>>>)
        -> tensor<8xf32, #colrow.layout<dp = shard<0>, tp = shard<0>>>
    return
  }
}
