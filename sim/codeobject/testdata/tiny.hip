// The smallest kernels that fill every part of a code object that the reader
// looks at: explicit and hidden arguments, static LDS, scratch, read-only data
// and a relocation.
#define KERNEL extern "C" __attribute__((global))

__attribute__((constant)) int table[4] = {2, 3, 5, 7};

KERNEL void saxpy(float a, const float *x, float *y, int n) {
  int i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
          __builtin_amdgcn_workitem_id_x();
  if (i < n)
    y[i] = a * x[i] + y[i];
}

KERNEL void reverse(int *data) {
  __attribute__((shared)) static int buffer[64];
  int i = __builtin_amdgcn_workitem_id_x();
  buffer[i] = data[i] + table[i & 3];
  __builtin_amdgcn_s_barrier();
  data[i] = buffer[63 - i];
}

KERNEL void spill(int *out, int k) {
  volatile int t[32];
  int lane = __builtin_amdgcn_workitem_id_x();
  for (int i = 0; i < 32; i++)
    t[i] = i * k;
  out[lane] = t[(k + lane) & 31];
}

__attribute__((device)) int value;
__attribute__((device)) int *volatile where = &value;
KERNEL void follow() { *where += 1; }
