"""Writes conformance cases for the opsets that libonnx-testdata has not, as ONNX's own: a folder a case with model.onnx and
test_data_set_0/{input,output}_N.pb. The results are those of ONNX's reference evaluator, but for old forms that it does not know.

    make_cases.py conformance/

Needs the Python packages onnx (1.17 or newer) and numpy. The cases are committed; run this again after
adding one.
"""
import pathlib
import shutil
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

random = np.random.RandomState(18)


def floats(*shape):
    return random.randn(*shape).astype(np.float32)


def int64(*values):
    return np.array(values, dtype=np.int64)


def case(root, name, opset, op, inputs, outputs=1, values=None, **attributes):
    """A case of one node; an input of None is left out. `values` are the results, if known."""
    names = ["" if value is None else f"x{i}" for i, value in enumerate(inputs)]
    results = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, names, results, **attributes)
    arrays = [value for value in inputs if value is not None]

    def info(name, array):
        return helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)

    def model(values):
        graph = helper.make_graph(
            [node], name, [info(n, v) for n, v in zip(filter(None, names), arrays)],
            [info(n, v) if v is not None else helper.make_empty_tensor_value_info(n)
             for n, v in zip(results, values)])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)],
                                 ir_version=8)

    feeds = dict(zip(filter(None, names), arrays))
    if values is None:
        values = ReferenceEvaluator(model([None] * outputs)).run(None, feeds)
    values = [np.asarray(v) for v in values]
    made = model(values)
    made.producer_name = "make_cases.py"
    onnx.checker.check_model(made)
    folder = root / f"test_{name}"
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(made.SerializeToString())
    for kind, tensors, labels in (("input", arrays, list(filter(None, names))),
                                  ("output", values, results)):
        for i, (array, label) in enumerate(zip(tensors, labels)):
            tensor = numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), label)
            (data / f"{kind}_{i}.pb").write_bytes(tensor.SerializeToString())


def reductions(root):
    x = floats(2, 3, 4)
    positive = np.abs(x) + np.float32(0.1)
    for op in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceProd", "ReduceL1",
               "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"):
        name = f"opset18_{op.lower()}"
        operand = positive if op == "ReduceLogSum" else x
        case(root, f"{name}_axes", 18, op, [operand, int64(1)])
        case(root, f"{name}_two_axes_dropped", 18, op, [operand, int64(-1, 0)], keepdims=0)
        case(root, f"{name}_all", 18, op, [operand])
        case(root, f"{name}_noop", 18, op, [operand], noop_with_empty_axes=1)
    flags = random.rand(3, 4) > 0.5
    case(root, "opset20_reducemax_bool", 20, "ReduceMax", [flags, int64(1)])
    case(root, "opset20_reducemin_bool", 20, "ReduceMin", [flags, int64(0)], keepdims=0)


def activations(root):
    x = floats(3, 4, 5) * 2
    case(root, "opset20_gelu_erf", 20, "Gelu", [x])
    case(root, "opset20_gelu_none", 20, "Gelu", [x], approximate="none")
    case(root, "opset20_gelu_tanh", 20, "Gelu", [x], approximate="tanh")
    case(root, "opset18_mish", 18, "Mish", [x])


def shapes(root):
    x = floats(3, 4)
    case(root, "opset18_pad_axes", 18, "Pad", [x, int64(1, 2), np.float32(7), int64(1)])
    case(root, "opset18_pad_negative_axis", 18, "Pad", [x, int64(0, 2), None, int64(-2)])
    case(root, "opset18_pad_edge", 18, "Pad", [x, int64(1, 2, 3, 0)], mode="edge")
    case(root, "opset18_pad_reflect", 18, "Pad", [x, int64(1, 2, 0, 3)], mode="reflect")
    case(root, "opset19_pad_wrap", 19, "Pad", [x, int64(1, 2, 2, 3)], mode="wrap")
    case(root, "opset18_split_num_outputs", 18, "Split", [floats(2, 6)], outputs=3, axis=1,
         num_outputs=3)
    case(root, "opset18_split_uneven", 18, "Split", [floats(7)], outputs=3, num_outputs=3)
    case(root, "opset18_split_sizes", 18, "Split", [floats(2, 6), int64(1, 5)], outputs=2, axis=-1)
    case(root, "opset19_reshape_allowzero", 19, "Reshape", [floats(2, 3, 4), int64(4, -1)],
         allowzero=1)
    case(root, "opset19_reshape_copies", 19, "Reshape", [floats(2, 3, 4), int64(0, -1)])
    case(root, "opset19_shape_slice", 19, "Shape", [floats(2, 3, 4)], start=1, end=-1)
    case(root, "opset19_size", 19, "Size", [x])
    case(root, "opset19_identity", 19, "Identity", [x])
    case(root, "opset20_constantofshape", 20, "ConstantOfShape", [int64(2, 3)],
         value=helper.make_tensor("value", TensorProto.FLOAT, [1], [1.5]))
    case(root, "opset19_cast", 19, "Cast", [np.array([-1.7, 0, 2.9], np.float32)],
         to=TensorProto.INT64)
    case(root, "opset19_cast_bool", 19, "Cast", [np.array([-1.7, 0, 2.9], np.float32)],
         to=TensorProto.BOOL)
    case(root, "opset19_castlike", 19, "CastLike", [int64(1, 2), np.float32([0.5])])
    case(root, "opset19_equal", 19, "Equal", [int64(1, 2, 3), int64(1, 0, 3)])
    case(root, "opset20_isinf", 20, "IsInf", [np.array([1, np.inf, -np.inf, np.nan], np.float32)])
    case(root, "opset20_isinf_positive", 20, "IsInf",
         [np.array([1, np.inf, -np.inf, np.nan], np.float32)], detect_negative=0)
    case(root, "opset20_isnan", 20, "IsNaN", [np.array([1, np.inf, np.nan], np.float32)])


def norms(root):
    x = floats(2, 6, 3)
    # Positive numbers: the evaluator forgets the absolute value.
    case(root, "opset20_lpnorm_l1", 20, "LpNormalization", [np.abs(x)], axis=1, p=1)
    case(root, "opset20_lpnorm_l2", 20, "LpNormalization", [x])


def lookups(root):
    x = floats(3, 4, 5)
    case(root, "opset20_gathernd_rows", 20, "GatherND", [x, np.array([[0], [2]], np.int64)])
    # A grid of indices: what a padding mask is looked up with.
    grid = np.stack(np.broadcast_arrays(np.arange(3).reshape(3, 1, 1, 1), np.arange(4)), axis=-1)
    case(root, "opset20_gathernd_grid", 20, "GatherND", [x, grid.astype(np.int64)])
    case(root, "opset20_gathernd_offset_grid", 20, "GatherND",
         [x, (grid[:2, :, :, 1:3] + [1, 0]).astype(np.int64)])
    case(root, "opset20_gathernd_batch", 20, "GatherND",
         [x, np.array([[[1, 2], [3, 4]], [[0, 0], [-1, 2]], [[3, -5], [1, 1]]], np.int64)],
         batch_dims=1)
    case(root, "opset20_gather_consecutive", 20, "Gather", [x, int64(1, 2)], axis=1)
    case(root, "opset20_gather_repeated_rows", 20, "Gather",
         [x, np.array([[0, 1, 2], [0, 1, 2]], np.int64)], axis=0)


def transformers(root):
    x = floats(2, 3, 8)
    case(root, "opset23_rms_norm", 23, "RMSNormalization", [x, floats(8)])
    case(root, "opset23_rms_norm_epsilon", 23, "RMSNormalization", [x, floats(8)], epsilon=0.1)
    case(root, "opset23_rms_norm_two_axes", 23, "RMSNormalization", [x, floats(3, 8)], axis=1)

    q, k, v = floats(2, 3, 4, 8), floats(2, 3, 6, 8), floats(2, 3, 6, 5)
    case(root, "opset23_attention", 23, "Attention", [q, k, v])
    case(root, "opset23_attention_scale", 23, "Attention", [q, k, v], scale=0.3)
    case(root, "opset23_attention_causal", 23, "Attention", [q, q, floats(2, 3, 4, 5)], is_causal=1)
    case(root, "opset23_attention_mask", 23, "Attention", [q, k, v, floats(4, 6)])
    visible = random.rand(2, 1, 4, 6) > 0.4
    visible[..., 0] = True
    case(root, "opset23_attention_bool_mask", 23, "Attention", [q, k, v, visible])
    case(root, "opset23_attention_grouped", 23, "Attention", [floats(2, 6, 4, 8), k, v])
    case(root, "opset23_attention_flat", 23, "Attention",
         [floats(2, 4, 24), floats(2, 6, 24), floats(2, 6, 15)], q_num_heads=3, kv_num_heads=3)
    case(root, "opset23_attention_flat_grouped", 23, "Attention",
         [floats(2, 4, 48), floats(2, 6, 24), floats(2, 6, 24)], q_num_heads=6, kv_num_heads=3)

    angles = floats(2, 4, 4)
    tables = [np.cos(angles), np.sin(angles)]
    case(root, "opset23_rotary", 23, "RotaryEmbedding", [q, *tables])
    case(root, "opset23_rotary_interleaved", 23, "RotaryEmbedding", [q, *tables], interleaved=1)
    case(root, "opset23_rotary_flat", 23, "RotaryEmbedding", [floats(2, 4, 24), *tables],
         num_heads=3)
    some = [table[..., :2] for table in tables]
    case(root, "opset23_rotary_partial", 23, "RotaryEmbedding", [q, *some], rotary_embedding_dim=4)
    case(root, "opset23_rotary_partial_interleaved", 23, "RotaryEmbedding", [q, *some],
         rotary_embedding_dim=4, interleaved=1)
    positions = np.array([[0, 1, 2, 3], [5, 6, 7, 8]], np.int64)
    long = floats(10, 4)
    case(root, "opset23_rotary_positions", 23, "RotaryEmbedding",
         [q, np.cos(long), np.sin(long), positions])


def softmax(x, axis):
    """Before opset 13: over all dimensions from the axis on."""
    rows = x.reshape(int(np.prod(x.shape[:axis])), -1).astype(np.float64)
    exp = np.exp(rows - rows.max(axis=1, keepdims=True))
    return (exp / exp.sum(axis=1, keepdims=True)).reshape(x.shape)


def attributes_of_old(root):
    """Opsets 11 and 12: axes, sizes and ratios are attributes."""
    x, row = floats(2, 3, 4), floats(1, 3, 1, 4)
    for opset in (11, 12):
        name = f"opset{opset}"
        case(root, f"{name}_squeeze", opset, "Squeeze", [row])
        case(root, f"{name}_squeeze_axes", opset, "Squeeze", [row], axes=[-2])
        case(root, f"{name}_unsqueeze_axes", opset, "Unsqueeze", [x], axes=[1, -1])
        case(root, f"{name}_reducesum_axes", opset, "ReduceSum", [x], axes=[0, -1])
        case(root, f"{name}_reducesum_dropped", opset, "ReduceSum", [x], axes=[1], keepdims=0)
        case(root, f"{name}_reducesum_all", opset, "ReduceSum", [x])
        case(root, f"{name}_reducemean_axes", opset, "ReduceMean", [x], axes=[-1])
        case(root, f"{name}_split", opset, "Split", [x], outputs=2, axis=-1)
        case(root, f"{name}_split_sizes", opset, "Split", [x], outputs=2, axis=1, split=[1, 2])
        case(root, f"{name}_clip", opset, "Clip", [x, np.float32(-0.5), np.float32(0.7)])
        for axis in (0, 1, 2):
            case(root, f"{name}_softmax_axis_{axis}", opset, "Softmax", [x], axis=axis,
                 values=[softmax(x, axis).astype(np.float32)])
        case(root, f"{name}_softmax_default_axis", opset, "Softmax", [x],
             values=[softmax(x, 1).astype(np.float32)])
        case(root, f"{name}_logsoftmax", opset, "LogSoftmax", [x],
             values=[np.log(softmax(x, 1)).astype(np.float32)])
    case(root, "opset11_dropout", 11, "Dropout", [x], ratio=0.3, values=[x])
    case(root, "opset12_dropout", 12, "Dropout", [x, np.float32(0.3)], values=[x])
    scale, bias, mean, variance = floats(3), floats(3), floats(3), np.abs(floats(3)) + np.float32(0.5)
    column = lambda v: v.reshape(3, 1)
    # Of one result the statistics are given; the evaluator takes new ones.
    y = (x - column(mean)) / np.sqrt(column(variance) + 1e-5) * column(scale) + column(bias)
    case(root, "opset11_batchnorm", 11, "BatchNormalization", [x, scale, bias, mean, variance],
         values=[y.astype(np.float32)])


def more_attention(root):
    q, k, v = floats(2, 3, 4, 8), floats(2, 3, 6, 8), floats(2, 3, 6, 5)
    case(root, "opset23_attention_softcap", 23, "Attention", [q, k, v], softcap=0.8)
    case(root, "opset23_attention_softcap_mask", 23, "Attention", [q, k, v, floats(3, 1, 6)],
         softcap=1.5, scale=2.0)


def main():
    root = pathlib.Path(sys.argv[1])
    if root.exists():
        shutil.rmtree(root)
    for group in (reductions, activations, shapes, norms, lookups, transformers,
                  attributes_of_old, more_attention):
        group(root)
    print(f"{len(list(root.iterdir()))} cases in {root}")


main()
