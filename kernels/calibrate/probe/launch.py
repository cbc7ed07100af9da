#!/usr/bin/env python3
"""Runs every tile of this folder through the GPU's fp8 matrix instructions and
writes what came out to one file. Needs Python 3 and the HIP runtime of ROCm."""

import argparse
import base64
import ctypes
import hashlib
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TO_DEVICE, TO_HOST = 1, 2  # hipMemcpyKind


def fail(message):
    sys.exit("calibrate: " + message)


def read(name):
    try:
        with open(os.path.join(HERE, name), "rb") as f:
            return f.read()
    except OSError as e:
        fail(f"cannot read {name}: {e.strerror}: copy the probe's whole folder")


class Hip:
    """The calls of the HIP runtime that the probe makes."""

    def __init__(self, path):
        tried = [path] if path else ["libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6",
                                     os.path.join(os.environ.get("ROCM_PATH", "/opt/rocm"), "lib", "libamdhip64.so")]
        for name in tried:
            try:
                self.lib = ctypes.CDLL(name)
                break
            except OSError as e:
                reason = e
        else:
            fail(f"cannot load the HIP runtime ({reason}): install ROCm, or give its library with --hip")
        self.lib.hipGetErrorString.restype = ctypes.c_char_p

    def call(self, name, *args):
        status = getattr(self.lib, name)(*args)
        if status != 0:
            text = self.lib.hipGetErrorString(status)
            fail(f"{name}: {text.decode() if text else ''} (HIP error {status})")

    def alloc(self, size, data=None):
        p = ctypes.c_void_p()
        self.call("hipMalloc", ctypes.byref(p), ctypes.c_size_t(size))
        # What a kernel does not write must not look like a result.
        data = data if data is not None else b"\xff" * size
        self.call("hipMemcpy", p, data, ctypes.c_size_t(size), TO_DEVICE)
        return p

    def fetch(self, p, size):
        out = ctypes.create_string_buffer(size)
        self.call("hipMemcpy", out, p, ctypes.c_size_t(size), TO_HOST)
        return out.raw


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", default="calibrate-output.json", help="file to write")
    parser.add_argument("--device", type=int, default=0, help="number of the GPU")
    parser.add_argument("--hip", help="path of libamdhip64.so")
    args = parser.parse_args()

    probe = json.loads(read("probe.json"))
    tiles = read(probe["tiles"])
    if hashlib.sha256(tiles).hexdigest() != probe["inputs"]:
        fail(f"{probe['tiles']} is damaged: write the probe again")

    hip = Hip(args.hip)
    hip.call("hipInit", 0)
    count = ctypes.c_int()
    hip.call("hipGetDeviceCount", ctypes.byref(count))
    if not 0 <= args.device < count.value:
        fail(f"no GPU {args.device}: the runtime sees {count.value}")
    hip.call("hipSetDevice", args.device)
    name = ctypes.create_string_buffer(256)
    hip.call("hipDeviceGetName", name, len(name), args.device)
    version = ctypes.c_int()
    hip.call("hipRuntimeGetVersion", ctypes.byref(version))

    module = ctypes.c_void_p()
    image = read(probe["code_object"])
    status = hip.lib.hipModuleLoadData(ctypes.byref(module), image)
    if status != 0:
        text = hip.lib.hipGetErrorString(status)
        fail(f"GPU {args.device} ({name.value.decode()}) does not take code for {probe['target']}: "
             f"{text.decode() if text else ''} (HIP error {status}): choose another GPU with --device, "
             "or write the probe for this one")

    results, at = [], 0
    for kernel in probe["kernels"]:
        n, k, count = kernel["n"], kernel["k"], kernel["tiles"]
        buffers = []
        for size in (count * n * k, count * n * k, count * n * n * 4):
            buffers.append(hip.alloc(size, tiles[at:at + size]))
            at += size
        size = count * n * n * 4
        buffers.append(hip.alloc(size))
        function = ctypes.c_void_p()
        hip.call("hipModuleGetFunction", ctypes.byref(function), module, kernel["symbol"].encode())
        pointers = (ctypes.c_void_p * len(buffers))(*[ctypes.cast(ctypes.byref(b), ctypes.c_void_p) for b in buffers])
        hip.call("hipModuleLaunchKernel", function, count, 1, 1, 64, 1, 1, 0, None, pointers, None)
        hip.call("hipDeviceSynchronize")
        d = hip.fetch(buffers[3], size)
        for b in buffers:
            hip.call("hipFree", b)
        results.append({"instruction": kernel["instruction"], "sha256": hashlib.sha256(d).hexdigest(),
                        "data": base64.b64encode(d).decode()})
        print(f"{kernel['instruction']}: {count} tiles, {count * n * n} results")

    output = {"format": probe["format"], "target": probe["target"], "inputs": probe["inputs"],
              "device": name.value.decode(errors="replace"), "runtime": str(version.value), "results": results}
    partial = args.output + ".partial"
    try:
        with open(partial, "w") as f:
            json.dump(output, f)
        os.replace(partial, args.output)
    except OSError as e:
        fail(f"cannot write {args.output}: {e.strerror}")
    print(f"wrote {args.output}: take it to `mqaproof calibrate read {args.output}`")


if __name__ == "__main__":
    main()
