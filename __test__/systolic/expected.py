"""Makes expected.json: what SCALE-Sim 3.0.0 counts for products and convolutions, which simulate.test.ts compares with.

    python -m venv venv && venv/bin/pip install 'numpy<2' scalesim==3.0.0
    venv/bin/python __test__/systolic/expected.py > __test__/systolic/expected.json

Each layer runs by itself with 1 MiB of each SRAM, in the mode in which SCALE-Sim finds the bandwidth that stalls nothing ('CALC'). One row
is [dataflow, rows, columns, layer, cycles, utilisation, mapping efficiency, reads of the input, reads of the filter, writes of the output],
the last three of SRAM.
"""

import contextlib
import csv
import io
import json
import os
import random
import sys
import tempfile

from scalesim.scale_sim import scalesim

CONFIG = """[general]
run_name = run
[architecture_presets]
ArrayHeight: {rows}
ArrayWidth: {cols}
IfmapSramSzkB: 1024
FilterSramSzkB: 1024
OfmapSramSzkB: 1024
IfmapOffset: 0
FilterOffset: 10000000
OfmapOffset: 20000000
Bandwidth: 10
Dataflow: {dataflow}
MemoryBanks: 1
ReadRequestBuffer: 32
WriteRequestBuffer: 32
[layout]
IfmapCustomLayout: False
FilterCustomLayout: False
IfmapSRAMBankBandwidth: 10
IfmapSRAMBankNum: 10
IfmapSRAMBankPort: 2
FilterSRAMBankBandwidth: 10
FilterSRAMBankNum: 10
FilterSRAMBankPort: 2
[sparsity]
SparsitySupport: false
SparseRep: ellpack_block
OptimizedMapping: false
BlockSize: 8
RandomNumberGeneratorSeed: 40
[run_presets]
InterfaceBandwidth: CALC
UseRamulatorTrace: False
"""

LAYOUT = "Layer name,a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s\n" + "L,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\n"


def simulate(dataflow, rows, cols, layer):
    """One layer: {m, n, k}, or a convolution."""
    gemm = "m" in layer
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        def write(name, text):
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return path

        if gemm:
            topology = "Layer,M,N,K,\nL,%d,%d,%d,\n" % (layer["m"], layer["n"], layer["k"])
        else:
            names = ["height", "width", "filterHeight", "filterWidth", "channels", "filters", "stride"]
            topology = "Layer name,IFMAP Height,IFMAP Width,Filter Height,Filter Width,Channels,Num Filter,Strides,\nL,%s,\n" % ",".join(str(layer[name]) for name in names)
        sim = scalesim(save_disk_space=True, verbose=False, config=write("c.cfg", CONFIG.format(rows=rows, cols=cols, dataflow=dataflow)),
                       topology=write("t.csv", topology), layout=write("l.csv", LAYOUT), input_type_gemm=gemm)
        sim.run_scale(top_path=folder)

        def report(name):
            with open(os.path.join(folder, "run", name), encoding="utf-8") as file:
                header, row = list(csv.reader(file, skipinitialspace=True))[:2]
            return dict(zip([title.strip() for title in header], row))

        compute = report("COMPUTE_REPORT.csv")
        access = report("DETAILED_ACCESS_REPORT.csv")
    total = next(value for title, value in compute.items() if title in ("Total Cycles", "Total Cycles (compute)"))
    return [dataflow, rows, cols, layer, int(float(total)), float(compute["Overall Util %"]), float(compute["Mapping Efficiency %"]),
            int(float(access["SRAM IFMAP Reads"])), int(float(access["SRAM Filter Reads"])), int(float(access["SRAM OFMAP Writes"]))]


def main():
    random.seed(1)
    rows = []
    for size in ((8, 8), (16, 8), (4, 16), (32, 32)):
        for dataflow in ("os", "ws", "is"):
            layers = [{"m": size[0], "n": size[1], "k": size[0]}, {"m": 1, "n": 1, "k": 1}]
            layers += [{"m": random.randint(1, 70), "n": random.randint(1, 70), "k": random.randint(1, 70)} for _ in range(12)]
            for _ in range(3):
                filter_size = random.randint(1, 3)
                stride = random.randint(1, 2)
                # Windows end where images do: else SCALE-Sim has one more, beyond the image.
                layers.append({"height": filter_size + stride * random.randint(1, 4), "width": filter_size + stride * random.randint(1, 4), "filterHeight": filter_size,
                               "filterWidth": filter_size, "channels": random.randint(1, 6), "filters": random.randint(1, 20), "stride": stride})
            for layer in layers:
                rows.append(simulate(dataflow, *size, layer))
                print(len(rows), end="\r", file=sys.stderr)
    print("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]")


if __name__ == "__main__":
    main()
