"""A small convolutional network in numpy: forward, backward, and Adam.

28 x 28 pixels -> convolution 5 x 5, 12 maps -> ReLU -> maximum of 2 x 2 -> convolution 5 x 5,
24 maps -> ReLU -> maximum of 2 x 2 -> 64 units -> ReLU -> 10 scores. Images are [n, channels,
rows, columns]; a parameter is a pair of weights and bias."""
import numpy as np

KERNEL = 5
SHAPES = {"c1": (12, 1, KERNEL, KERNEL), "c2": (24, 12, KERNEL, KERNEL), "h1": (384, 64), "ol": (64, 10)}


def initial(rng):
    """Weights of the size that keeps ReLU's variance, biases zero."""
    parameters = {}
    for name, shape in SHAPES.items():
        is_convolution = len(shape) == 4
        fan_in = np.prod(shape[1:]) if is_convolution else shape[0]
        weights = rng.normal(0, np.sqrt(2 / fan_in), shape)
        bias = np.zeros(shape[0] if is_convolution else shape[1])
        parameters[name] = [weights.astype(np.float32), bias.astype(np.float32)]
    return parameters


def windows(x):
    """[n, c, h, w] -> [n, oh * ow, c * k * k], a row for every place of the kernel."""
    view = np.lib.stride_tricks.sliding_window_view(x, (KERNEL, KERNEL), axis=(2, 3))
    n, c, oh, ow = view.shape[:4]
    return view.transpose(0, 2, 3, 1, 4, 5).reshape(n, oh * ow, c * KERNEL * KERNEL), oh, ow


def convolve(x, weights, bias):
    rows, oh, ow = windows(x)
    y = rows @ weights.reshape(len(weights), -1).T + bias
    return y.transpose(0, 2, 1).reshape(len(x), len(weights), oh, ow), rows


def convolve_back(dy, rows, weights, x_shape):
    n, maps, oh, ow = dy.shape
    flat = dy.reshape(n, maps, oh * ow).transpose(0, 2, 1)
    dw = np.tensordot(flat, rows, ([0, 1], [0, 1])).reshape(weights.shape)
    parts = (flat @ weights.reshape(maps, -1)).reshape(n, oh, ow, x_shape[1], KERNEL, KERNEL)
    dx = np.zeros(x_shape, np.float32)
    for i in range(KERNEL):
        for j in range(KERNEL):
            dx[:, :, i:i + oh, j:j + ow] += parts[:, :, :, :, i, j].transpose(0, 3, 1, 2)
    return dx, [dw, flat.sum((0, 1))]


def pool(x):
    """The maximum of each 2 x 2 cell, and where it was."""
    n, c, h, w = x.shape
    cells = x.reshape(n, c, h // 2, 2, w // 2, 2)
    y = cells.max((3, 5))
    return y, cells == y[:, :, :, None, :, None]


def pool_back(dy, was_maximum):
    n, c, h, _, w, _ = was_maximum.shape
    return (dy[:, :, :, None, :, None] * was_maximum).reshape(n, c, 2 * h, 2 * w)


def forward(parameters, x):
    """Scores [n, 10] for images with pixels in 0 .. 1, and what `backward` needs."""
    kept = {"x": x}
    for name in ("c1", "c2"):
        y, rows = convolve(x, *parameters[name])
        x, was_maximum = pool(np.maximum(y, 0))
        kept[name] = (rows, y > 0, was_maximum, x)
    flat = x.reshape(len(x), -1)
    hidden = np.maximum(flat @ parameters["h1"][0] + parameters["h1"][1], 0)
    kept["flat"], kept["hidden"] = flat, hidden
    return hidden @ parameters["ol"][0] + parameters["ol"][1], kept


def backward(parameters, kept, d_scores):
    hidden, flat = kept["hidden"], kept["flat"]
    gradients = {"ol": [hidden.T @ d_scores, d_scores.sum(0)]}
    d_hidden = (d_scores @ parameters["ol"][0].T) * (hidden > 0)
    gradients["h1"] = [flat.T @ d_hidden, d_hidden.sum(0)]
    dx = (d_hidden @ parameters["h1"][0].T).reshape(kept["c2"][3].shape)
    for name, below in (("c2", kept["c1"][3]), ("c1", kept["x"])):
        rows, is_active, was_maximum, _ = kept[name]
        dy = pool_back(dx, was_maximum) * is_active
        dx, gradients[name] = convolve_back(dy, rows, parameters[name][0], below.shape)
    return gradients


def softmax(scores):
    e = np.exp(scores - scores.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


class Adam:
    """Kingma and Ba's rule, with its usual constants."""

    def __init__(self, parameters):
        self.step = 0
        self.moments = {k: [[np.zeros_like(p), np.zeros_like(p)] for p in v] for k, v in parameters.items()}

    def update(self, parameters, gradients, rate):
        self.step += 1
        rate *= np.sqrt(1 - 0.999 ** self.step) / (1 - 0.9 ** self.step)
        for name, pair in parameters.items():
            for value, gradient, (mean, square) in zip(pair, gradients[name], self.moments[name]):
                mean += 0.1 * (gradient - mean)
                square += 0.001 * (gradient * gradient - square)
                value -= (rate * mean / (np.sqrt(square) + 1e-8)).astype(np.float32)
