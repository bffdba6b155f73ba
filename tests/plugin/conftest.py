"""What the tests of plug-ins share: plug-ins, each built once."""
import pytest

from building import ROOT, compiled


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """built("swish"): a sample; built("odd", 3): tests/plugin/odd.c with ODD=3."""
    folder, made = tmp_path_factory.mktemp("plugins"), {}

    def build(name, odd=None, **how):
        key = (name, odd, how.get("compiler"))
        if key not in made:
            source = ROOT / ("tests/plugin" if odd is not None else "samples/plugin") / f"{name}.c"
            options = [] if odd is None else [f"-DODD={odd}"]
            made[key] = compiled(source, folder / f"{name}{len(made)}.so", *options, **how)
        return made[key]

    return build
