"""Logits of an exported model in onnxruntime: check_onnxruntime.py FOLDER [FOLDER...], folders of check_export.py."""
import sys

import numpy
import onnxruntime
import safetensors_io as safetensors  # test/Inputs

for folder in sys.argv[1:]:
    tensors = {name: numpy.array(values).reshape(shape)
               for name, (_, shape, values) in safetensors.read(f"{folder}/expected.safetensors").items()}
    session = onnxruntime.InferenceSession(f"{folder}/exported.onnx", providers=["CPUExecutionProvider"])
    (got,) = session.run(["logits"], {i.name: tensors[i.name] for i in session.get_inputs()})
    expected = tensors["logits"]
    distance = numpy.linalg.norm(got - expected) / numpy.linalg.norm(expected)
    print(f"{'ok' if got.shape == expected.shape and distance <= 1e-5 else 'WRONG'} {folder}: distance {distance:.1e}")
