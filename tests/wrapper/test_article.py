"""The article's two classes and its network."""

import runpy

import numpy as np
import pytest

import CNTKPythonWrapper
import evallib

SCORES = [-0.3318317, -4.6834245, 5.444819, 7.212333, -10.3287, 4.966484, -3.330386, -0.0122177,
          1.8866484, -3.1840117]


@pytest.fixture(scope="module")
def network(shared):
    return shared / "cntk" / "v1" / "NetworkTests_01_OneHidden.dnn"


@pytest.fixture(scope="module")
def image(shared):
    text = (shared / "cntk" / "data" / "seed_mnist_784.txt").read_text()
    values = [int(v) for v in text.replace(",", " ").split()]
    assert len(values) == 784
    return values


def test_the_module_gives_the_two_classes_to_import_star():
    names = {}
    exec("from CNTKPythonWrapper import *", names)
    assert {n for n in names if not n.startswith("__")} == {"IPythonEvaluateModelF",
                                                            "IPythonEvaluateModelD"}


@pytest.mark.parametrize("name", CNTKPythonWrapper.__all__)
def test_the_articles_calls(name, network, image):
    model = getattr(CNTKPythonWrapper, name)()
    model.Init("C:\\Users\\liuxz\\Git\\CNTK\\Examples\\Image\\MNIST\\Config\\01_OneHidden.cntk")
    model.CreateNetwork(f'deviceId=-1\nmodelPath="{network}"')
    outputs = model.Evaluate2({"features": image}, "ol.z", 10)
    assert isinstance(outputs, list) and all(type(v) is float for v in outputs)
    assert outputs == pytest.approx(SCORES, abs=1e-4)
    assert model.Evaluate2({"features": image * 3}, "ol.z", 1) == pytest.approx(outputs * 3)
    assert model.TEST() == "TEST"
    assert model.GetNodeDimensions("specified", ["ol.z"]) == {"ol.z": 10}
    model.StartEvaluateMinibatchLoop("ol.z")
    model.ResetState()
    model.Destroy()
    with pytest.raises(RuntimeError, match=r"^Object has been disposed\.$"):
        model.Evaluate2({"features": image}, "ol.z", 10)


def test_a_parameter_needs_no_input(network):
    model = CNTKPythonWrapper.IPythonEvaluateModelF()
    model.CreateNetwork(f'modelPath="{network}"')
    parameter = next(n.name for n in evallib.load(network).nodes if n.op == "Constant")
    values = model.Evaluate(parameter, 1)
    assert values and all(type(v) is float for v in values)


@pytest.mark.parametrize("precision, dtype", [("float32", np.float32), ("float64", np.float64)])
def test_the_articles_network_as_a_model(network, image, precision, dtype):
    with evallib.load(network, precision) as model:
        for feed in ([image], [image, image], np.array([image] * 3, np.uint8)):
            scores = model.run({"features": feed}, ["ol.z"])["ol.z"]
            assert scores.dtype == dtype
            for row in scores.reshape(-1, 10):
                assert row.tolist() == pytest.approx(SCORES, abs=1e-4)


def test_wrong_names_and_lengths_say_what_is_wrong(network, image):
    model = evallib.ModelF()
    model.CreateNetwork(f'modelPath="{network}"')
    with pytest.raises(evallib.NotFoundError, match="feature"):
        model.Evaluate({"featurs": image}, ["ol.z"])
    with pytest.raises(evallib.NotFoundError, match="ol"):
        model.Evaluate({"features": image}, ["ol.zz"])
    with pytest.raises(evallib.ShapeError, match="784"):
        model.Evaluate({"features": image[:-1]}, ["ol.z"])
    with pytest.raises(evallib.NotFoundError):
        model.StartEvaluateMinibatchLoop("nothing")
    assert model.Evaluate({"features": image}, ["ol.z"])["ol.z"] == pytest.approx(SCORES, abs=1e-4)


def test_the_articles_script_runs(network, image, tmp_path, monkeypatch, capsys):
    """With no change but Python 3's print() and where the model lies."""
    (tmp_path / "01_OneHidden").write_bytes(network.read_bytes())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.py").write_text(
        "# -*- coding: utf-8 -*-\n"
        "from CNTKPythonWrapper import *\n"
        "model=IPythonEvaluateModelF();\n"
        'config="Config\\\\01_OneHidden.cntk";\n'
        "model.Init(config);\n"
        'networkConfig="deviceId=-1\\nmodelPath=\\"01_OneHidden\\""\n'
        "model.CreateNetwork(networkConfig)\n"
        f"values={image}\n"
        'inputs={"features":values}\n'
        'outputs=model.Evaluate2(inputs, "ol.z", 10)\n'
        "print(outputs)\n")
    runpy.run_path("script.py", run_name="__main__")
    assert eval(capsys.readouterr().out) == pytest.approx(SCORES, abs=1e-4)
