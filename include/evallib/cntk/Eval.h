/* cntk/Eval.h - CNTK's own evaluation classes over the tables of eval.h.
**
** A program written for CNTK's Eval.h is compiled with this one in its place and linked with
** evallib; its calls stay as they are. GetEvalF and its kin are functions of the namespace with
** C++ linkage: a program that fetches them by dlsym or GetProcAddress calls them instead.
** Failures are what they are in CNTK, with evallib's text: std::runtime_error mostly;
** std::invalid_argument for a network that does not fit together or holds what is not offered;
** std::logic_error for going on where there is no sequence; std::bad_alloc when memory is short.
** The objects end with Destroy, as CNTK's. */
#ifndef EVALLIB_CNTK_EVAL_H
#define EVALLIB_CNTK_EVAL_H
#ifndef EVALLIB_EVAL_H
#define EVALLIB_ONLY_TYPES
#include "../eval.h"
#undef EVALLIB_ONLY_TYPES
#endif
#include <cstring>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>
#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace evallib_c {
extern "C" {
EVL_API void GetEvalF(::IEvaluateModelF **model);
EVL_API void GetEvalD(::IEvaluateModelD **model);
}
}

namespace Microsoft { namespace MSR { namespace CNTK {

enum NodeGroup { nodeInput, nodeOutput, nodeSpecified };

template <class ElemType>
class IEvaluateModelBase {
public:
    virtual void Init(const std::string &config) = 0;
    virtual void CreateNetwork(const std::string &networkDescription) = 0;
    virtual void Destroy() = 0;
};

template <class ElemType>
class IEvaluateModel : public IEvaluateModelBase<ElemType> {
public:
    typedef std::map<std::wstring, std::vector<ElemType> *> Vectors;
    virtual void GetNodeDimensions(std::map<std::wstring, size_t> &dimensions, NodeGroup group) = 0;
    virtual void StartEvaluateMinibatchLoop(const std::wstring &outputNodeName) = 0;
    virtual void Evaluate(Vectors &inputs, Vectors &outputs) = 0;
    virtual void Evaluate(Vectors &outputs) = 0;
    virtual void ResetState() = 0;
};

/* A vector that is somebody else's: it is filled up to its capacity, and never grows. */
template <class ElemType>
struct VectorRef {
    ElemType *m_vector;
    size_t m_capacity, m_size;

    VectorRef() : m_vector(nullptr), m_capacity(0), m_size(0) {}
    void InitFrom(std::vector<ElemType> &src)
    {
        m_vector = src.data();
        m_capacity = src.capacity();
        m_size = src.size();
    }
    void InitFrom(const VectorRef<ElemType> &src) { *this = src; }
    size_t size() const { return m_size; }
    size_t capacity() const { return m_capacity; }
    ElemType *data() { return m_vector; }
    const ElemType *data() const { return m_vector; }
    ElemType *begin() { return m_vector; }
    ElemType *end() { return m_vector + m_size; }
    const ElemType *begin() const { return m_vector; }
    const ElemType *end() const { return m_vector + m_size; }
    ElemType &operator[](size_t i) { return m_vector[i]; }
    const ElemType &operator[](size_t i) const { return m_vector[i]; }
    void resize(size_t size) { m_size = size; }
};

/* Sparse values: m_indices are the rows of m_buffer's, m_colIndices where columns begin. */
template <typename ElemType, template <typename> class Container>
struct ValueBuffer {
    Container<ElemType> m_buffer;
    Container<int> m_indices, m_colIndices;

    void Swap(ValueBuffer &other) { std::swap(*this, other); }
};

template <typename ElemType>
using Vector = std::vector<ElemType, std::allocator<ElemType>>;
template <typename ElemType>
using Values = std::vector<ValueBuffer<ElemType, Vector>>;
template <typename ElemType>
using ValueRefs = std::vector<ValueBuffer<ElemType, VectorRef>>;

struct VariableLayout {
    enum DataType { Float32, Float64 };
    enum StorageType { Undetermined, Dense, Sparse };
    std::wstring m_name;
    DataType m_dataType;
    StorageType m_storageType;
    size_t m_numElements;
};

class VariableSchema : public std::vector<VariableLayout> {
public:
    /* Buffers with room for so many samples of each variable, and no value yet. */
    template <typename ElemType>
    Values<ElemType> CreateBuffers(const std::vector<size_t> &maxLengths)
    {
        if (maxLengths.size() != size())
            throw std::runtime_error("Expected max lengths for all variables.");
        Values<ElemType> buffers(size());
        for (size_t i = 0; i < size(); i++)
            buffers[i].m_buffer.reserve(operator[](i).m_numElements * maxLengths[i]);
        return buffers;
    }
};

template <typename ElemType>
class IEvaluateModelExtended : public IEvaluateModelBase<ElemType> {
public:
    virtual VariableSchema GetOutputSchema() const = 0;
    virtual void StartForwardEvaluation(const std::vector<std::wstring> &outputs) = 0;
    virtual VariableSchema GetInputSchema() const = 0;
    virtual void ForwardPass(const Values<ElemType> &inputs, Values<ElemType> &outputs) = 0;
    virtual void ForwardPass(const Values<ElemType> &inputs, Values<ElemType> &outputs,
                             bool resetRNN) = 0;
    virtual void ForwardPass(const ValueRefs<ElemType> &inputs, ValueRefs<ElemType> &outputs) = 0;
    virtual void ForwardPass(const ValueRefs<ElemType> &inputs, ValueRefs<ElemType> &outputs,
                             bool resetRNN) = 0;
};

/* --- over evallib's tables --------------------------------------------------------- */

namespace evallib_detail {

inline void AddCharacter(std::string &to, unsigned long c)
{
    if (c < 0x80) {
        to += static_cast<char>(c);
        return;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned first[] = { 0, 0xc0, 0xe0, 0xf0 };
    to += static_cast<char>(first[more] | (c >> (6 * more)));
    while (more-- > 0)
        to += static_cast<char>(0x80 | ((c >> (6 * more)) & 0x3f));
}

inline std::string ToUtf8(const std::wstring &text)
{
    std::string to; /* UTF-16 where wchar_t has two bytes */
    for (size_t i = 0; i < text.size(); i++) {
        unsigned long c = static_cast<unsigned long>(text[i]);
        if (c >= 0xd800 && c < 0xdc00 && i + 1 < text.size())
            c = 0x10000 + ((c - 0xd800) << 10) + (static_cast<unsigned long>(text[++i]) - 0xdc00);
        AddCharacter(to, c);
    }
    return to;
}

inline std::wstring ToWide(const char *text)
{
    std::wstring to;
    for (const unsigned char *at = reinterpret_cast<const unsigned char *>(text); *at;) {
        unsigned long c = *at++;
        int more = c < 0xc0 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
        c &= more == 0 ? 0x7fUL : 0x3fUL >> more;
        for (; more > 0 && *at; more--)
            c = c << 6 | (*at++ & 0x3fUL);
        if (sizeof(wchar_t) == 2 && c > 0xffff) {
            to += static_cast<wchar_t>(0xd800 + ((c - 0x10000) >> 10));
            c = 0xdc00 + ((c - 0x10000) & 0x3ff);
        }
        to += static_cast<wchar_t>(c);
    }
    return to;
}

template <class ElemType>
struct Tables;

template <>
struct Tables<float> {
    typedef ::IEvaluateModelF Model;
    typedef ::EvalInputF Input;
    typedef ::EvalOutputF Output;
    typedef ::EvalBufferF Buffer;
    typedef ::EvalExtendedF Extended;
    static void Make(Model **model) { evallib_c::GetEvalF(model); }
    static const char *Symbol() { return "GetEvalF"; }
};

template <>
struct Tables<double> {
    typedef ::IEvaluateModelD Model;
    typedef ::EvalInputD Input;
    typedef ::EvalOutputD Output;
    typedef ::EvalBufferD Buffer;
    typedef ::EvalExtendedD Extended;
    static void Make(Model **model) { evallib_c::GetEvalD(model); }
    static const char *Symbol() { return "GetEvalD"; }
};

/* An object of evallib's, and its failures as exceptions. */
template <class ElemType>
class Object {
public:
    typedef Tables<ElemType> T;
    typename T::Model *model;

    explicit Object(typename T::Model *made) : model(made)
    {
        if (!model)
            throw std::bad_alloc();
    }
    ~Object() { model->vtbl->Destroy(model); }
    Object(const Object &) = delete;
    Object &operator=(const Object &) = delete;

    void Check(EvalStatus status) const
    {
        if (status == EVAL_ERR_MEMORY)
            throw std::bad_alloc();
        if (status == EVAL_ERR_INTERNAL)
            throw std::logic_error(model->vtbl->LastError(model));
        if (status != EVAL_OK)
            throw std::runtime_error(model->vtbl->LastError(model));
    }
    /* Nodes that cannot be made, or do not fit together, are arguments to CNTK's builder. */
    void CreateNetwork(const std::string &description) const
    {
        EvalStatus status = model->vtbl->CreateNetwork(model, description.c_str());
        if (status == EVAL_ERR_SHAPE || status == EVAL_ERR_TYPE || status == EVAL_ERR_UNSUPPORTED)
            throw std::invalid_argument(model->vtbl->LastError(model));
        Check(status);
    }
    const typename T::Extended *Extended() const
    {
        const void *table;
        Check(model->vtbl->GetInterface(model, "extended", 1, &table));
        return static_cast<const typename T::Extended *>(table);
    }
};

template <class ElemType>
class Model final : public IEvaluateModel<ElemType> {
    typedef Tables<ElemType> T;
    typedef typename IEvaluateModel<ElemType>::Vectors Vectors;
    Object<ElemType> m_object;
    bool m_hasNetwork;

    /* A group's nodes. */
    std::vector<EvalDimension> List(EvalNodeGroup group)
    {
        size_t n = 0;
        typename T::Model *m = m_object.model;
        m_object.Check(m->vtbl->GetNodeDimensions(m, group, nullptr, &n));
        std::vector<EvalDimension> all(n + 1);
        m_object.Check(m->vtbl->GetNodeDimensions(m, group, all.data(), &n));
        all.resize(n);
        return all;
    }

    void Specified(std::map<std::wstring, size_t> &dimensions)
    {
        typename T::Model *m = m_object.model;
        for (auto &entry : dimensions) {
            std::string name = ToUtf8(entry.first);
            EvalDimension one = { name.c_str(), 0 };
            size_t n = 1;
            m_object.Check(m->vtbl->GetNodeDimensions(m, EVAL_NODE_SPECIFIED, &one, &n));
            entry.second = one.size;
        }
    }

public:
    explicit Model(typename T::Model *made) : m_object(made), m_hasNetwork(false) {}

    void Init(const std::string &config) override
    {
        m_object.Check(m_object.model->vtbl->Init(m_object.model, config.c_str()));
    }
    void CreateNetwork(const std::string &description) override
    {
        m_object.CreateNetwork(description);
        m_hasNetwork = true;
    }
    void Destroy() override { delete this; }

    void GetNodeDimensions(std::map<std::wstring, size_t> &dimensions, NodeGroup group) override
    {
        if (!m_hasNetwork) {
            for (auto &entry : dimensions)
                entry.second = 0;
            return;
        }
        if (group == nodeSpecified)
            return Specified(dimensions);
        for (const EvalDimension &d : List(group == nodeInput ? EVAL_NODE_INPUT : EVAL_NODE_OUTPUT))
            dimensions[ToWide(d.name)] = d.size;
    }
    void StartEvaluateMinibatchLoop(const std::wstring &name) override
    {
        typename T::Model *m = m_object.model;
        m_object.Check(m->vtbl->StartEvaluateMinibatchLoop(m, ToUtf8(name).c_str()));
    }
    void Evaluate(Vectors &inputs, Vectors &outputs) override
    {
        std::vector<std::string> names;
        std::vector<typename T::Input> in;
        std::vector<typename T::Output> out;
        typename T::Model *m = m_object.model;
        names.reserve(inputs.size() + outputs.size());
        for (auto &entry : inputs) {
            names.push_back(ToUtf8(entry.first));
            in.push_back({ names.back().c_str(), entry.second->data(), entry.second->size() });
        }
        for (auto &entry : outputs) {
            names.push_back(ToUtf8(entry.first));
            out.push_back({ names.back().c_str(), nullptr, 0, 0 });
        }
        m_object.Check(m->vtbl->Evaluate(m, in.data(), in.size(), out.data(), out.size()));
        size_t i = 0;
        for (auto &entry : outputs) {
            entry.second->assign(out[i].data, out[i].data + out[i].count);
            i++;
        }
    }
    void Evaluate(Vectors &outputs) override
    {
        Vectors none;
        Evaluate(none, outputs);
    }
    void ResetState() override
    {
        m_object.Check(m_object.model->vtbl->ResetState(m_object.model));
    }
};

template <class ElemType>
class ModelExtended final : public IEvaluateModelExtended<ElemType> {
    typedef Tables<ElemType> T;
    Object<ElemType> m_object;
    const typename T::Extended *m_table;
    bool m_isStarted;

    VariableSchema Schema(EvalStatus (*get)(typename T::Model *, EvalVariable *, size_t *)) const
    {
        VariableSchema schema;
        size_t n = 0;
        m_object.Check(get(m_object.model, nullptr, &n));
        std::vector<EvalVariable> all(n + 1);
        m_object.Check(get(m_object.model, all.data(), &n));
        for (size_t i = 0; i < n; i++)
            schema.push_back({ ToWide(all[i].name),
                               sizeof(ElemType) == 8 ? VariableLayout::Float64
                                                     : VariableLayout::Float32,
                               all[i].storage == EVAL_STORAGE_SPARSE ? VariableLayout::Sparse
                                                                     : VariableLayout::Dense,
                               all[i].elements });
        return schema;
    }

    template <class Buffers>
    void Pass(const Buffers &inputs, Buffers &outputs, bool resetRNN)
    {
        std::vector<typename T::Buffer> in, out;
        ElemType nothing = 0;
        for (const auto &b : inputs)
            in.push_back({ const_cast<ElemType *>(b.m_buffer.data()), b.m_buffer.size(),
                           b.m_buffer.size(), b.m_indices.data(), b.m_colIndices.data(),
                           b.m_indices.size(), b.m_colIndices.size() });
        for (auto &b : outputs) {
            b.m_buffer.resize(b.m_buffer.capacity());
            out.push_back({ b.m_buffer.capacity() ? b.m_buffer.data() : &nothing, 0,
                            b.m_buffer.capacity(), nullptr, nullptr, 0, 0 });
        }
        EvalStatus status = m_table->ForwardPass(m_object.model, in.data(), in.size(), out.data(),
                                                 out.size(), resetRNN);
        if (status == EVAL_ERR_STATE && m_isStarted)
            throw std::logic_error(m_object.model->vtbl->LastError(m_object.model));
        m_object.Check(status);
        for (size_t i = 0; i < outputs.size(); i++)
            outputs[i].m_buffer.resize(out[i].count);
    }

public:
    explicit ModelExtended(typename T::Model *made) : m_object(made), m_table(m_object.Extended()), m_isStarted(false) {}

    void Init(const std::string &config) override
    {
        m_object.Check(m_object.model->vtbl->Init(m_object.model, config.c_str()));
    }
    void CreateNetwork(const std::string &description) override
    {
        m_object.CreateNetwork(description);
        m_isStarted = false;
    }
    void Destroy() override { delete this; }

    VariableSchema GetOutputSchema() const override { return Schema(m_table->GetOutputSchema); }
    VariableSchema GetInputSchema() const override { return Schema(m_table->GetInputSchema); }
    void StartForwardEvaluation(const std::vector<std::wstring> &outputs) override
    {
        std::vector<std::string> names;
        std::vector<const char *> texts;
        for (const std::wstring &name : outputs)
            names.push_back(ToUtf8(name));
        for (const std::string &name : names)
            texts.push_back(name.c_str());
        m_object.Check(
            m_table->StartForwardEvaluation(m_object.model, texts.data(), texts.size()));
        m_isStarted = true;
    }
    void ForwardPass(const Values<ElemType> &inputs, Values<ElemType> &outputs) override
    {
        Pass(inputs, outputs, true);
    }
    void ForwardPass(const Values<ElemType> &inputs, Values<ElemType> &outputs,
                     bool resetRNN) override
    {
        Pass(inputs, outputs, resetRNN);
    }
    void ForwardPass(const ValueRefs<ElemType> &inputs, ValueRefs<ElemType> &outputs) override
    {
        Pass(inputs, outputs, true);
    }
    void ForwardPass(const ValueRefs<ElemType> &inputs, ValueRefs<ElemType> &outputs,
                     bool resetRNN) override
    {
        Pass(inputs, outputs, resetRNN);
    }
};

template <template <class> class Made, class ElemType>
Made<ElemType> *Make()
{
    typename Tables<ElemType>::Model *model = nullptr;
    Tables<ElemType>::Make(&model);
    return new Made<ElemType>(model);
}

/* A library opened by name: "evaluator" of the configuration, as a file or its plain name. */
class Library {
#ifdef _WIN32
    HMODULE m_library;
#else
    void *m_library;
#endif

public:
    explicit Library(const std::string &name)
    {
#ifdef _WIN32
        m_library = LoadLibraryA((name + ".dll").c_str());
#else
        std::string file = name.find('/') == std::string::npos ? "lib" + name + ".so" : name;
        m_library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
#endif
        if (!m_library)
            throw std::runtime_error("Cannot find library: " + name);
    }
    ~Library()
    {
#ifdef _WIN32
        FreeLibrary(m_library);
#else
        dlclose(m_library);
#endif
    }
    Library(const Library &) = delete;
    Library &operator=(const Library &) = delete;

    template <class ModelType>
    ModelType *Make(const char *symbol)
    {
        typedef void (*Maker)(ModelType **);
#ifdef _WIN32
        Maker make = reinterpret_cast<Maker>(GetProcAddress(m_library, symbol));
#else
        Maker make;
        void *found = dlsym(m_library, symbol);
        std::memcpy(&make, &found, sizeof make);
#endif
        ModelType *model = nullptr;
        if (!make)
            throw std::runtime_error("Cannot get IEvaluateModel.");
        make(&model);
        return model;
    }

    static std::string NameIn(const std::string &config)
    {
        size_t at = config.find("evaluator=");
        if (at == std::string::npos)
            return "evallib";
        size_t end = config.find_first_of("\r\n;,", at += 10);
        std::string name = config.substr(at, end == std::string::npos ? end : end - at);
        size_t first = name.find_first_not_of(" \t\""), last = name.find_last_not_of(" \t\"");
        return first == std::string::npos ? "evallib" : name.substr(first, last - first + 1);
    }
};
} // namespace evallib_detail

inline void GetEvalF(IEvaluateModel<float> **peval)
{
    *peval = evallib_detail::Make<evallib_detail::Model, float>();
}
inline void GetEvalD(IEvaluateModel<double> **peval)
{
    *peval = evallib_detail::Make<evallib_detail::Model, double>();
}
inline void GetEvalExtendedF(IEvaluateModelExtended<float> **peval)
{
    *peval = evallib_detail::Make<evallib_detail::ModelExtended, float>();
}
inline void GetEvalExtendedD(IEvaluateModelExtended<double> **peval)
{
    *peval = evallib_detail::Make<evallib_detail::ModelExtended, double>();
}

template <class ElemType>
void GetEval(IEvaluateModel<ElemType> **peval)
{
    *peval = evallib_detail::Make<evallib_detail::Model, ElemType>();
}

/* An evaluator whose library is loaded by name; it ends with its scope. */
template <class ElemType>
class Eval : public IEvaluateModel<ElemType> {
    typedef typename IEvaluateModel<ElemType>::Vectors Vectors;
    typedef evallib_detail::Tables<ElemType> T;
    evallib_detail::Library m_library;
    evallib_detail::Model<ElemType> m_eval;

    void Destroy() override { delete this; }

public:
    explicit Eval(const std::string &config)
        : m_library(evallib_detail::Library::NameIn(config)),
          m_eval(m_library.Make<typename T::Model>(T::Symbol()))
    {
        m_eval.Init(config);
    }
    virtual ~Eval() {}
    void Init(const std::string &config) override { m_eval.Init(config); }
    void CreateNetwork(const std::string &description) override { m_eval.CreateNetwork(description); }
    void GetNodeDimensions(std::map<std::wstring, size_t> &dimensions, NodeGroup group) override
    {
        m_eval.GetNodeDimensions(dimensions, group);
    }
    void StartEvaluateMinibatchLoop(const std::wstring &name) override
    {
        m_eval.StartEvaluateMinibatchLoop(name);
    }
    void Evaluate(Vectors &inputs, Vectors &outputs) override { m_eval.Evaluate(inputs, outputs); }
    void Evaluate(Vectors &outputs) override { m_eval.Evaluate(outputs); }
    void ResetState() override { m_eval.ResetState(); }
};

}}} // namespace Microsoft::MSR::CNTK
#endif
