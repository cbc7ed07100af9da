// Kernels whose stack has no size that the compiler knows: recursion, calls
// through pointers and an array of run-time size. Compiled without
// optimisation, so that they stay as they are written.
#define KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(64, 64))) void
#define DEVICE __attribute__((device, noinline))

DEVICE int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

KERNEL recursion(int *out, const int *a) {
  const int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  out[i] = fib(a[i]);
}

typedef int (*function)(int);
DEVICE int triple(int x) { volatile int b[20]; b[x & 15] = x; return 3 * b[x & 15]; }
DEVICE int flip(int x) { volatile int b[20]; b[3] = x; return ~b[3]; }
__attribute__((device)) function functions[2] = {triple, flip};

KERNEL indirect(int *out, const int *a) {
  const int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  out[i] = functions[a[i] & 1](a[i]);
}

DEVICE int depth(int n) { volatile int b[4]; b[n & 3] = n; return n == 0 ? 0 : depth(n - 1) + (b[n & 3] == n); }

KERNEL deep(int *out, const int *a) {
  const int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  out[i] = depth(a[i]);
}
