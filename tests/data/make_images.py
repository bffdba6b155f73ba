"""Writes tests/data/images: one small picture in the formats that samples/plugin/images decodes,
and its pixels as Pillow sees them in each (NAME.rgb: height * width * 3 bytes)."""
import io, pathlib

import numpy as np
import PIL.Image

WIDTH, HEIGHT = 20, 14
FORMATS = [("jpeg", "JPEG", "RGB", {}), ("progressive.jpeg", "JPEG", "RGB", {"progressive": True, "subsampling": 0}),
           ("inks.jpeg", "JPEG", "CMYK", {}), ("png", "PNG", "RGB", {}), ("palette.png", "PNG", "P", {}),
           ("opacity.png", "PNG", "RGBA", {}), ("tiff", "TIFF", "RGB", {}),
           ("opacity.tiff", "TIFF", "RGBA", {}),
           ("lzw.tiff", "TIFF", "L", {"compression": "tiff_lzw"}), ("webp", "WEBP", "RGB", {}),
           ("jp2", "JPEG2000", "RGB", {}), ("bmp", "BMP", "RGB", {})]

folder = pathlib.Path(__file__).parent / "images"
folder.mkdir(exist_ok=True)
x, y = np.meshgrid(np.linspace(0, 255, WIDTH), np.linspace(0, 255, HEIGHT))
pixels = np.stack([x, y, (x + 255 - y) / 2], axis=-1).astype(np.uint8)
for name, kind, mode, options in FORMATS:
    data = io.BytesIO()
    picture = PIL.Image.fromarray(pixels).convert(mode)
    if mode == "RGBA":
        picture.putalpha(PIL.Image.fromarray(y.astype(np.uint8)))
    picture.save(data, kind, **options)
    (folder / name).write_bytes(data.getvalue())
    (folder / f"{name}.rgb").write_bytes(np.asarray(PIL.Image.open(data).convert("RGB")).tobytes())
