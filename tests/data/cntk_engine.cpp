/* cntk_engine.cpp - evaluates nodes of a CNTK v1 file with CNTK 2.7's own engine, in double:
** make_cntk1_oracle.py runs it. No part of the build: it needs CNTK's sources for their headers
** and the libraries of its Python package.
**
**     g++ -std=c++11 -fpermissive -w -DCPUONLY -DNO_SYNC -include limits -include cstring
**         -include functional -I of Source/{Common/Include,Math,ComputationNetworkLib,ActionsLib,
**         CNTKv2LibraryDll{,/API,/API/Internals},SGDLib,CNTK/BrainScript} cntk_engine.cpp
**         libCntk.Core-2.7.so libCntk.Math-2.7.so -Wl,--allow-shlib-undefined
**
**     cntk_engine MODEL INPUTS NODE ...
**
** INPUTS is text: for each input its name, how many samples, the size of one, the values. Written
** is, a line for each node, its name, rows, columns and values. All samples are one sequence. */
#include "stdafx.h"
#include "ComputationNetwork.h"
#include <fstream>
#include <iostream>

using namespace Microsoft::MSR::CNTK;

static std::wstring wide(const std::string &s)
{
    return std::wstring(s.begin(), s.end());
}

static Matrix<double> &value_of(const ComputationNodeBasePtr &node)
{
    return node->As<ComputationNode<double>>()->Value();
}

static void set_input(const ComputationNodeBasePtr &node, size_t samples, size_t size,
                      std::vector<double> &values)
{
    if (auto layout = node->GetMBLayout()) {
        layout->Init(1, samples);
        layout->AddSequence(0, 0, 0, samples);
    }
    Matrix<double> dense(size, samples, values.data(), CPUDEVICE, matrixFlagNormal);
    if (value_of(node).GetMatrixType() == SPARSE)
        dense.SwitchToMatrixType(SPARSE, matrixFormatSparseCSC, true);
    value_of(node).SetValue(dense);
}

static void give_inputs(ComputationNetwork &net, const char *path)
{
    std::ifstream file(path);
    std::vector<ComputationNodeBasePtr> given;
    std::string name;
    size_t samples, size;
    while (file >> name >> samples >> size) {
        std::vector<double> values(samples * size);
        for (double &x : values)
            file >> x;
        given.push_back(net.GetNodeFromName(wide(name)));
        set_input(given.back(), samples, size, values);
    }
    ComputationNetwork::BumpEvalTimeStamp(given);
    net.NotifyInputNodesFunctionValuesMBSizeModified();
}

static void write(const ComputationNodeBasePtr &node)
{
    Matrix<double> &value = value_of(node);
    std::unique_ptr<double[]> all(value.CopyToArray());
    std::wcout << node->NodeName() << L" " << value.GetNumRows() << L" " << value.GetNumCols();
    for (size_t i = 0; i < value.GetNumElements(); i++)
        std::wcout << L" " << all[i];
    std::wcout << std::endl;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    try {
        auto net = ComputationNetwork::CreateFromFile<double>(CPUDEVICE, wide(argv[1]));
        std::vector<ComputationNodeBasePtr> nodes;
        for (int i = 3; i < argc; i++)
            nodes.push_back(net->GetNodeFromName(wide(argv[i])));
        ScopedNetworkOperationMode mode(net, NetworkOperationMode::inferring);
        net->AllocateAllMatrices({}, nodes, nullptr);
        give_inputs(*net, argv[2]);
        std::wcout.precision(17);
        for (auto &node : nodes) {
            net->StartEvaluateMinibatchLoop(node);
            net->ForwardProp(node);
            write(node);
        }
    } catch (const std::exception &e) {
        std::cerr << e.what() << std::endl;
        return 1;
    }
    return 0;
}
