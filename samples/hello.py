import evallib, numpy

model = evallib.load("samples/digits/digits.onnx")
image = numpy.loadtxt("samples/digits/images/7.pgm", skiprows=3)
scores = model(image.reshape(1, 784))
print("The digit is", scores.argmax())
