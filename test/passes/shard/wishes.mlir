// A user's layout is a seed that wins; one that cannot be had says why. Unasked, w and v are cut as
// column and row.
// RUN: colrow-opt %s "--colrow-set-grid=axes=tp=2" --colrow-shard | FileCheck %s --check-prefix=UNASKED
// RUN: colrow-opt %s "--colrow-set-grid=axes=tp=2" "--colrow-shard=layout=v=shard<1>" | FileCheck %s --check-prefix=COLUMN
// RUN: colrow-opt %s "--colrow-set-grid=axes=tp=2" "--colrow-shard=layout=w=whole" | FileCheck %s --check-prefix=WHOLE
// RUN: not colrow-opt %s "--colrow-set-grid=axes=tp=2" "--colrow-shard=layout=[vu]=whole require-sharded=true" 2>&1 | FileCheck %s --check-prefix=REQUIRED
// RUN: not colrow-opt %s "--colrow-set-grid=axes=tp=2" "--colrow-shard=layout=table=shard<1>" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not colrow-opt %s "--colrow-set-grid=axes=tp=2" "--colrow-shard=layout=w=shard<0>" 2>&1 | FileCheck %s --check-prefix=OBSTACLE
// RUN: not colrow-opt %s "--colrow-set-grid=axes=tp=2" "--colrow-shard=layout=w=shard<1>,v=shard<1>" 2>&1 | FileCheck %s --check-prefix=RIVALS
// RUN: not colrow-opt %s "--colrow-set-grid=axes=tp=2" "--colrow-shard=layout=lm_*=shard<0>" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not colrow-opt %s "--colrow-set-grid=axes=tp=2" "--colrow-shard=layout=w=cut" 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: not colrow-opt %s "--colrow-set-grid=axes=tp=2" "--colrow-shard=layout=w=shard<1>,w=shard<0>" 2>&1 | FileCheck %s --check-prefix=BOTH

// UNASKED-LABEL: func.func @main
// UNASKED-SAME: tensor<4x8xf32, #colrow.layout<tp = shard<1>>> {{{[^}]*}}colrow.name = "w"
// UNASKED-SAME: tensor<8x8xf32, #colrow.layout<tp = shard<0>>> {{{[^}]*}}colrow.name = "v"
// COLUMN-LABEL: func.func @main
// COLUMN-SAME: tensor<4x8xf32> {{{[^}]*}}colrow.name = "w"
// COLUMN-SAME: tensor<8x8xf32, #colrow.layout<tp = shard<1>>> {{{[^}]*}}colrow.name = "v"
// COLUMN-SAME: tensor<8x4xf32, #colrow.layout<tp = shard<0>>> {{{[^}]*}}colrow.name = "u"
// WHOLE-LABEL: func.func @main
// WHOLE-SAME: tensor<4x8xf32> {colrow.because = "asked for by 'w=whole'", colrow.name = "w"
// REQUIRED: error: weights that every rank would hold whole:
// REQUIRED-NEXT: 'w': {{.*}}
// REQUIRED-NEXT: 'v': asked for by '[vu]=whole'
// REQUIRED-NEXT: 'u': asked for by '[vu]=whole'
// NONE: error: layout 'table=shard<1>' cannot be had for 'table': no product or lookup has a factor there
// OBSTACLE: error: layout 'w=shard<0>' cannot be had for 'w': 'colrow.layer_norm' needs its dimension of 4 whole
// RIVALS: error: layout 'w=shard<1>' cannot be had for 'w': goes against 'v=shard<1>'
// UNKNOWN: error: layout 'lm_*=shard<0>' matches no parameter
// SYNTAX: error: expects PATTERN=shard<DIMENSION> or PATTERN=whole, such as '*.c_fc.weight=shard<1>'; got 'w=cut'
// BOTH: error: layout 'w=shard<1>' cannot be had for 'w': goes against 'w=shard<0>'
module {
  func.func @main(%x: tensor<8x4xf32> {colrow.role = "input", colrow.name = "x"},
                  %table: tensor<8x4xf32> {colrow.role = "parameter", colrow.name = "table"},
                  %w: tensor<4x8xf32> {colrow.role = "parameter", colrow.name = "w"},
                  %v: tensor<8x8xf32> {colrow.role = "parameter", colrow.name = "v"},
                  %u: tensor<8x4xf32> {colrow.role = "parameter", colrow.name = "u"})
      -> tensor<8x4xf32> {
    %0 = colrow.add %x, %table : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = colrow.layer_norm %0 from 1 epsilon 1.000000e-05 : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = colrow.einsum "ti,io->to" %1, %w : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    %3 = colrow.tanh %2 : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %4 = colrow.einsum "ti,io->to" %3, %v : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %5 = colrow.tanh %4 : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %6 = colrow.einsum "ti,io->to" %5, %u : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    return %6 : tensor<8x4xf32>
  }
}
