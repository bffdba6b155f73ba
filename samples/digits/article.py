# -*- coding: utf-8 -*-
"""The script of "CNTK: a wrapper for Python", on our model: the paths are ours, print is a function,
the pixels come from one of our images, and the image and its digit are shown."""
import os, sys

from CNTKPythonWrapper import *

here = os.path.dirname(os.path.abspath(__file__))
image = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "images", "7.pgm")

model=IPythonEvaluateModelF();
config=os.path.join(here, "digits.cntk");
model.Init(config);
networkConfig="deviceId=-1\nmodelPath=\"" + os.path.join(here, "digits.dnn") + "\""
model.CreateNetwork(networkConfig)
values=[int(v) for v in open(image).read().split()[4:]]
inputs={"features":values}
outputs=model.Evaluate2(inputs, "ol.z", 10)

print(outputs)

for row in range(28):
    print("".join(" .:+*#@"[v * 6 // 255] * 2 for v in values[row * 28:row * 28 + 28]))
print("The digit is", outputs.index(max(outputs)))
