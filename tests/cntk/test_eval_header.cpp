/* CNTK's classes over the tables: what a program written for CNTK's Eval.h does. */
#include "evallib/cntk/Eval.h"
#include <cstdio>
#include <cstdlib>

using namespace Microsoft::MSR::CNTK;

static void require(bool is_true, const char *what, int line)
{
    if (is_true)
        return;
    std::fprintf(stderr, "line %d: %s\n", line, what);
    std::exit(1);
}
#define REQUIRE(what) require(what, #what, __LINE__)

template <class Exception = std::runtime_error, class Call>
static bool throws(Call call, const char *text)
{
    try {
        call();
    } catch (const Exception &e) {
        return std::strstr(e.what(), text) != nullptr;
    }
    return false;
}

static std::string path(const char *name)
{
    return std::string("deviceId=-1\nmodelPath=\"" EVL_TEST_DATA "/cntk1/") + name + ".model\"";
}

template <class E>
static void a_model_is_evaluated(IEvaluateModel<E> *eval)
{
    std::map<std::wstring, size_t> inputs, outputs, asked = { { L"W1", 7 } };
    eval->GetNodeDimensions(asked, nodeSpecified);
    REQUIRE(asked[L"W1"] == 0);
    eval->Init("numCPUThreads=1");
    eval->CreateNetwork(path("mlp_v12"));
    eval->GetNodeDimensions(inputs, nodeInput);
    eval->GetNodeDimensions(outputs, nodeOutput);
    REQUIRE(inputs.size() == 1 && inputs[L"features"] == 4);
    REQUIRE(outputs.size() == 1 && outputs[L"z"] == 3);
    std::vector<E> x = { 1, 2, 3, 4, 4, 3, 2, 1 }, z, w;
    std::map<std::wstring, std::vector<E> *> in = { { L"features", &x } }, out = { { L"z", &z } };
    eval->StartEvaluateMinibatchLoop(L"z");
    eval->Evaluate(in, out);
    REQUIRE(z.size() == 6 && z[0] != z[3]);
    std::map<std::wstring, std::vector<E> *> constant = { { L"W1", &w } };
    eval->Evaluate(constant);
    REQUIRE(w.size() == 20);
    in[L"nobody\u00e9\U0001f600"] = &x;
    REQUIRE(throws([&] { eval->Evaluate(in, out); }, "nobody\xc3\xa9\xf0\x9f\x98\x80"));
    REQUIRE(throws([&] { eval->CreateNetwork("deviceId=-1"); }, "required parameter missing"));
    REQUIRE(throws([&] { eval->CreateNetwork("modelPath=/nowhere"); }, "/nowhere"));
    REQUIRE(throws<std::invalid_argument>([&] { eval->CreateNetwork(path("bad_not_offered")); },
                                          "not offered"));
    eval->ResetState();
    eval->Destroy();
}

template <class E>
static void sequences_go_through_the_extended_interface(IEvaluateModelExtended<E> *eval)
{
    eval->CreateNetwork(path("sparse_v14"));
    VariableSchema outputs = eval->GetOutputSchema();
    REQUIRE(outputs.size() == 1 && outputs[0].m_name == L"z" && outputs[0].m_numElements == 1);
    Values<E> y = outputs.CreateBuffers<E>({ 3 }), x(1);
    x[0].m_buffer = { 1, 2, 3, 5, 6 };
    x[0].m_indices = { 0, 2, 2, 1, 2 };
    REQUIRE(throws([&] { eval->ForwardPass(x, y); }, "before StartForwardEvaluation"));
    eval->StartForwardEvaluation({ L"z" });
    VariableSchema inputs = eval->GetInputSchema();
    REQUIRE(inputs.size() == 1 && inputs[0].m_storageType == VariableLayout::Sparse);
    REQUIRE(throws([&] { eval->ForwardPass(x, y); }, "2 entries"));
    x[0].m_colIndices = { 0, 2, 2, 5 };
    REQUIRE(throws<std::logic_error>([&] { eval->ForwardPass(x, y, false); }, "previous sequence"));
    eval->ForwardPass(x, y, true);
    REQUIRE((y[0].m_buffer == std::vector<E>{ 6, 0, 28 }));
    ValueRefs<E> in(1), out(1);
    std::vector<E> room(3);
    in[0].m_buffer.InitFrom(x[0].m_buffer);
    in[0].m_indices.InitFrom(x[0].m_indices);
    in[0].m_colIndices.InitFrom(x[0].m_colIndices);
    out[0].m_buffer.InitFrom(room);
    eval->ForwardPass(in, out, false);
    REQUIRE(room[2] == 28 && out[0].m_buffer.size() == 3);
    Values<E> little = outputs.CreateBuffers<E>({ 1 }), none(0);
    REQUIRE(throws([&] { eval->ForwardPass(x, little); }, "Not enough space"));
    REQUIRE(throws([&] { eval->ForwardPass(x, none); }, "Expected 1 outputs, but got 0."));
    REQUIRE(throws([&] { outputs.CreateBuffers<E>({}); }, "max lengths"));
    eval->Destroy();
}

static void a_library_is_loaded_by_name()
{
    Eval<float> eval("evaluator=" EVL_TEST_LIBRARY "\nnumCPUThreads=1");
    eval.CreateNetwork(path("mlp_v12"));
    std::vector<float> x = { 1, 2, 3, 4 }, z;
    std::map<std::wstring, std::vector<float> *> in = { { L"features", &x } }, out = { { L"z", &z } };
    eval.Evaluate(in, out);
    REQUIRE(z.size() == 3);
    REQUIRE(throws([] { Eval<double>("evaluator=/nowhere/at/all.so"); }, "Cannot find library"));
}

int main()
{
    IEvaluateModel<float> *f;
    IEvaluateModel<double> *d;
    IEvaluateModelExtended<float> *ef;
    IEvaluateModelExtended<double> *ed;
    GetEvalF(&f);
    a_model_is_evaluated(f);
    GetEvalD(&d);
    a_model_is_evaluated(d);
    GetEvalExtendedF(&ef);
    sequences_go_through_the_extended_interface(ef);
    GetEvalExtendedD(&ed);
    sequences_go_through_the_extended_interface(ed);
    a_library_is_loaded_by_name();
    return 0;
}
