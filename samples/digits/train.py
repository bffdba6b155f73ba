"""Trains the digits network and stores it: digits.dnn (CNTK, version 1) and digits.onnx.

    python train.py            needs numpy, onnx and npm; some minutes; the seed is fixed

The figure printed at the end is the share of held-out digits that the network reads right;
evaluate.py measures it again, with evallib, on the stored files."""
import sys, time
import numpy as np
import digits, network, store

EPOCHS, BATCH, RATE = 36, 64, 2e-3


def distorted(images, rng):
    """Each image turned, scaled, slanted and moved a little, so that a stroke may be anyone's."""
    n = len(images)
    angle, slant = rng.uniform(-0.22, 0.22, n), rng.uniform(-0.15, 0.15, n)
    scale = rng.uniform(0.85, 1.15, (2, n))
    move = rng.uniform(-2.2, 2.2, (2, n))
    y, x = np.mgrid[0:28, 0:28] - 13.5
    cos, sin = np.cos(angle)[:, None, None], np.sin(angle)[:, None, None]
    from_x = scale[0][:, None, None] * (cos * x - sin * y + slant[:, None, None] * y) + 13.5 + move[0][:, None, None]
    from_y = scale[1][:, None, None] * (sin * x + cos * y) + 13.5 + move[1][:, None, None]
    return sampled(images.reshape(n, 28, 28), from_y, from_x)


def sampled(images, y, x):
    """Bilinear values of images at real coordinates; outside is 0."""
    padded = np.pad(images, ((0, 0), (1, 2), (1, 2)))
    y, x = np.clip(y + 1, 0, 29), np.clip(x + 1, 0, 29)
    top, left = y.astype(int), x.astype(int)
    down, right = (y - top).astype(np.float32), (x - left).astype(np.float32)
    which = np.arange(len(images))[:, None, None]
    upper = padded[which, top, left] * (1 - right) + padded[which, top, left + 1] * right
    lower = padded[which, top + 1, left] * (1 - right) + padded[which, top + 1, left + 1] * right
    return upper * (1 - down) + lower * down


def accuracy(parameters, images, labels):
    right = 0
    for at in range(0, len(images), 500):
        x = images[at:at + 500].reshape(-1, 1, 28, 28).astype(np.float32) / 255
        right += int((network.forward(parameters, x)[0].argmax(1) == labels[at:at + 500]).sum())
    return right / len(images)


def train(images, labels, rng):
    parameters = network.initial(rng)
    adam = network.Adam(parameters)
    n_steps = EPOCHS * (len(images) // BATCH)
    step = 0
    for epoch in range(EPOCHS):
        began, loss = time.time(), 0.0
        order = rng.permutation(len(images))
        for at in range(0, len(images) - BATCH + 1, BATCH):
            chosen = order[at:at + BATCH]
            x = distorted(images[chosen].astype(np.float32) / 255, rng)[:, None].astype(np.float32)
            scores, kept = network.forward(parameters, x)
            p = network.softmax(scores)
            loss -= float(np.log(p[np.arange(BATCH), labels[chosen]] + 1e-12).mean())
            p[np.arange(BATCH), labels[chosen]] -= 1
            rate = RATE * 0.5 * (1 + np.cos(np.pi * step / n_steps))
            adam.update(parameters, network.backward(parameters, kept, p / BATCH), rate)
            step += 1
        print(f"epoch {epoch + 1:2} of {EPOCHS}: loss {loss * BATCH / len(images):.4f}, "
              f"{time.time() - began:.0f} s", flush=True)
    return parameters


def main():
    (images, labels), (held_images, held_labels) = digits.split()
    parameters = train(images, labels, np.random.default_rng(20160417))
    store.write(parameters)
    share = accuracy(parameters, held_images, held_labels)
    print(f"{100 * share:.2f} % of {len(held_images)} held-out digits read right")
    return share < 0.985


if __name__ == "__main__":
    sys.exit(main())
