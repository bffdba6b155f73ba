"""The two classes of the article that wrapped CNTK's EvalDLL for Python.

    from CNTKPythonWrapper import *
    model = IPythonEvaluateModelF()
    model.CreateNetwork('deviceId=-1\\nmodelPath="01_OneHidden"')
    outputs = model.Evaluate2({"features": values}, "ol.z", 10)
"""

import evallib

__all__ = ["IPythonEvaluateModelF", "IPythonEvaluateModelD"]


class _IPythonEvaluateModel:
    _native_class = None

    def __init__(self):
        self._eval = self._native_class()

    def Init(self, config):
        """Settings in CNTK configuration text; a text without '=' does nothing."""
        self._eval.Init(config)

    def CreateNetwork(self, networkDescription):
        """Loads a model: configuration text with modelPath="..."."""
        self._eval.CreateNetwork(networkDescription)

    def Evaluate(self, outputKey, outputSize):
        """The values of an output that needs no input, as a list of floats."""
        return self._eval.EvaluateOutputs([outputKey])[outputKey].tolist()

    def Evaluate2(self, inputs, outputKey, outputSize):
        """The values of an output as a list of floats, sample after sample.

        inputs: a dict of names and lists of numbers. The list has as many values as
        there are, whatever outputSize was.
        """
        return self._eval.Evaluate(inputs, [outputKey])[outputKey].tolist()

    def Evaluate3(self, inputs, outputs):
        """Several outputs at once: the values of each key of the dict outputs are put there, as
        lists of floats. The article announces it; gives outputs back."""
        for key, values in self._eval.Evaluate(inputs, list(outputs)).items():
            if isinstance(outputs[key], list):
                outputs[key][:] = values.tolist()
            else:
                outputs[key] = values.tolist()
        return outputs

    def TEST(self):
        return "TEST"

    # Beyond the article.

    def GetNodeDimensions(self, group, names=None):
        """Elements per sample of the "input", "output" or "specified" nodes, as a dict."""
        return self._eval.GetNodeDimensions(group, names)

    def StartEvaluateMinibatchLoop(self, outputKey):
        """Makes ready to evaluate that node. Optional."""
        self._eval.StartEvaluateMinibatchLoop(outputKey)

    def ResetState(self):
        """A new sequence begins."""
        self._eval.ResetState()

    def Destroy(self):
        """Frees everything; the end of the object does the same."""
        self._eval.Destroy()


class IPythonEvaluateModelF(_IPythonEvaluateModel):
    """CNTK's evaluation interface in float."""

    _native_class = evallib.ModelF


class IPythonEvaluateModelD(_IPythonEvaluateModel):
    """CNTK's evaluation interface in double."""

    _native_class = evallib.ModelD
