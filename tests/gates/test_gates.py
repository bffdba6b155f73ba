"""Each gate is shown something bad and must say so: a gate that cannot fail guards nothing."""
import pathlib, subprocess, sys
import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import gate_exports, gate_operators, gate_readme, gate_sections, gate_size, gate_style, gate_tree   # noqa: E402

GOOD_NM = "\n".join(f"0000000000001000 T {name}" for name in sorted(gate_exports.EXPORTS)) + """
                 U memcpy@GLIBC_2.14
                 w __gmon_start__
"""


def run(gate, root):
    return subprocess.run([sys.executable, HERE / gate, root, "none.so"], capture_output=True, text=True)


def put(root, name, text):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_right_export_table_passes():
    assert gate_exports.faults(GOOD_NM) == []


@pytest.mark.parametrize("line", [
    "0000000000002000 T evl_graph_add", "0000000000002000 D state", "                 U abort@GLIBC_2.2.5",
    "                 U __printf_chk", "                 U getenv", "                 U stderr@GLIBC_2.2.5",
    "                 U connect", "                 U fork", "                 U setlocale", "                 U __assert_fail"])
def test_a_wrong_symbol_is_reported(line):
    assert len(gate_exports.faults(GOOD_NM + line + "\n")) == 1


def test_a_missing_export_is_reported():
    assert gate_exports.faults(GOOD_NM.replace("GetEvalD", "GetEval")) == [
        "exported and not public: GetEval", "not exported: GetEvalD"]


def sections(name, size):
    return f"  [20] {name}   PROGBITS        0000000000003de8 002de8 {size:06x} 00  WA  0   0  8\n"


STACK = "  GNU_STACK      0x000000 0x0000000000000000 0x0000000000000000 0x000000 0x000000 RW  0x10\n"


@pytest.mark.parametrize("name", [".init_array", ".fini_array", ".data", ".bss"])
def test_a_section_with_more_than_the_runtimes_own_is_reported(name):
    assert gate_sections.faults(sections(name, 8), STACK) == []
    assert len(gate_sections.faults(sections(name, 16), STACK)) == 1


def test_thread_local_data_is_reported():
    assert len(gate_sections.faults(sections(".tbss", 4), STACK)) == 1


def test_an_executable_stack_and_text_relocations_are_reported():
    assert gate_sections.faults("", STACK.replace("RW ", "RWE")) == ["the stack is executable"]
    assert gate_sections.faults("", STACK + " 0x16 (TEXTREL) 0x0\n") == ["code that is relocated (TEXTREL)"]


def test_the_gates_read_what_binutils_print_of_a_real_library(tmp_path):
    """A library with a constructor, a variable, an odd export and a call of abort fails twice."""
    source, library = tmp_path / "bad.c", tmp_path / "bad.so"
    source.write_text("#include <stdlib.h>\nint counter = 3; static int zeros[9];\n"
                      "__attribute__((constructor)) static void begin(void) { zeros[counter]++; }\n"
                      "void GetEvalF(void) { if (zeros[counter]) abort(); }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-O0", "-o", library, source], check=True)
    for gate, words in (("gate_exports.py", ["counter", "abort", "not exported: GetEvalD"]),
                        ("gate_sections.py", [".init_array", ".data", ".bss"])):
        answer = subprocess.run([sys.executable, HERE / gate, tmp_path, library], capture_output=True, text=True)
        assert answer.returncode == 1
        assert all(word in answer.stdout for word in words), answer.stdout


def test_a_library_that_is_too_large_is_reported():
    assert gate_size.faults(gate_size.LIMIT) == []
    assert len(gate_size.faults(gate_size.LIMIT + 1)) == 1


@pytest.mark.parametrize("text", [
    "#define MAX(a, b) ((a) > (b) ? (a) : (b))\n", "#define TWICE(x) \\\n    x; x\n",
    "int x; /* */ #define\n#if defined(__linux__)\nint y;\n#endif\n"])
def test_a_macro_or_a_condition_out_of_place_is_reported(text):
    assert len(gate_style.macro_faults("evallib/ir/graph.c", text)) == 1


def test_include_guards_name_builders_and_comments_are_no_faults():
    text = "/* #define F(x) */\n#ifndef EVL_A_H\n#define EVL_A_H\n#define TWIN(name) name##_f\n#endif\n"
    assert gate_style.macro_faults("evallib/ir/a.h", text) == []


def test_long_functions_are_reported():
    assert gate_style.length_faults({str(i): 10 for i in range(100)}) == []
    assert len(gate_style.length_faults({**{str(i): 10 for i in range(100)}, "long": 101})) == 1
    assert len(gate_style.length_faults({str(i): 41 if i < 11 else 10 for i in range(100)})) == 1


def test_ctags_finds_a_long_function_in_a_real_file(tmp_path):
    put(tmp_path, "evallib/ir/long.c", "int f(void)\n{\n" + "    g();\n" * 120 + "}\n")
    answer = run("gate_style.py", tmp_path)
    if answer.returncode == 77:
        pytest.skip(answer.stdout)
    assert answer.returncode == 1 and "long.c: f: 123 lines" in answer.stdout


def test_a_long_file_is_reported(tmp_path):
    put(tmp_path, "evallib/ir/long.h", "\n" * 601)
    assert "601 lines" in run("gate_style.py", tmp_path).stdout


def test_an_include_ring_is_reported():
    texts = {"a.h": '#include "b.h"\n', "b.h": '#include "x/c.h"\n', "x/c.h": '#include "a.h"\n', "d.h": '#include "a.h"\n'}
    assert set(gate_style.ring(gate_style.include_edges(texts))) == {"a.h", "b.h", "x/c.h"}
    texts["x/c.h"] = ""
    assert gate_style.ring(gate_style.include_edges(texts)) == []


OPERATORS = ['const evl_op evl_op_abs = {\n    "Abs", NULL, 1,\n};\nstatic const evl_op tan = { .name = "Tan",\n};\n'
             'const evl_op evl_op_block = { .name = "Block", };\nconst evl_op *const evl_ops_unary[] = {\n    &evl_op_abs, &tan, NULL };\n',
             'const evl_op evl_op_delay = {\n    .name = "Delay",\n    .domain = "evl",\n};\n']


def test_an_operator_that_is_told_wrongly_is_reported():
    def faults(told):
        return gate_readme.operator_faults(f"**ONNX**, all of it:\n\n{told}\n\nOthers are refused.\n", OPERATORS)
    assert faults("Abs\nTan") == []
    assert len(faults("Abs")) == len(faults("Tan Abs")) == len(faults("Abs Abs Tan")) == len(faults("Abs Sin Tan")) == 1
    assert len(gate_readme.operator_faults("", OPERATORS)) == 2
    assert len(gate_readme.operator_faults("", ["const evl_op x = y;"])) == 1


@pytest.mark.parametrize("line", [
    "/* TODO: later */", "/* Copyright (c) 2020 Somebody */", 'open("/home/me/x")', "# FIXME", "cd /work/project"])
def test_a_line_that_may_not_be_given_away_is_reported(line):
    assert len(gate_tree.text_faults("x.c", line)) == 1


def test_an_empty_tree_lacks_its_licence(tmp_path):
    answer = run("gate_tree.py", tmp_path)
    assert answer.returncode == 1 and "LICENSE is missing" in answer.stdout


@pytest.mark.parametrize("name, text, word", [
    ("evallib/ir/graph.h", '#include "exec/run.h"\n', "may not include"),
    ("evallib/readers/onnx/model.c", '#include "readers/cntk1/file.h"\n', "another's"),
    ("evallib/odd/file.c", "", "no rank")])
def test_an_include_that_points_upward_is_reported(tmp_path, name, text, word):
    put(tmp_path, name, text)
    answer = run("gate_layers.py", tmp_path)
    assert answer.returncode == 1 and word in answer.stdout


def test_a_type_named_in_a_real_file_is_reported(tmp_path):
    put(tmp_path, "evallib/ops/unary_real.c", "/* float */\nreal f(real x) { return x; }\n")
    assert run("gate_words.py", tmp_path).returncode == 0
    put(tmp_path, "evallib/ops/unary_real.c", "double f(real x) { return x; }\n")
    assert run("gate_words.py", tmp_path).returncode == 1


def test_a_readme_that_does_not_tell_the_truth_is_reported(tmp_path):
    readme = "```c\nint x;\n```\n| `mapFile` | |\n| `gone` | |\n\n## The map\n\n    evallib/   x\n      ir/   y\n\n"
    assert gate_readme.program_faults(readme, "c", "hello.c", "int x;\n") == []
    assert len(gate_readme.program_faults(readme, "c", "hello.c", "int y;\n")) == 1
    table = '    { "mapFile", KEY_BOOL, 0 },\n    { "blas", KEY_TEXT, 0 },\n    { "old", KEY_IGNORED, 0 },\n'
    assert gate_readme.setting_faults(readme, table) == [
        "README.md does not tell of the setting blas", "README.md tells of gone, which is no setting"]
    (tmp_path / "evallib").mkdir()
    assert gate_readme.map_faults(readme, tmp_path) == ["README.md's map names ir/, which is not there"]


def test_a_table_of_operators_that_is_old_is_seen():
    one = {("", "Abs"): (28, 1 << 1 | 1 << 11, (1, 1), (1, 1))}
    two = {**one, ("", "Add"): (28, 1 << 1, (2, 2), (1, 1))}
    assert gate_operators.faults(gate_operators.table(one, one), gate_operators.table(one, one)) == []
    assert len(gate_operators.faults(gate_operators.table(one, one), gate_operators.table(two, two))) == 1
    assert "F: float32, float64; D: float32" in gate_operators.table(one, {("", "Abs"): (28, 2, (1, 1), (1, 1))})
