// Small kernels that show what guarded memory sees and what the launch sets up.
#define KERNEL extern "C" __attribute__((global))
#define SHARED __attribute__((shared))
#define TID ((int)__builtin_amdgcn_workitem_id_x())
#define BID ((int)__builtin_amdgcn_workgroup_id_x())
#define BDIM ((int)__builtin_amdgcn_workgroup_size_x())
#define BARRIER()                                                              \
  do {                                                                         \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");                     \
    __builtin_amdgcn_s_barrier();                                              \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");                     \
  } while (0)

__attribute__((constant)) int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__attribute__((device)) int calls;

KERNEL void saxpy(float a, const float *x, float *y, int n) {
  int i = BID * BDIM + TID;
  if (i < n)
    y[i] = a * x[i] + y[i];
}

// Reverses each block of up to 1024 values through LDS.
KERNEL void reverse(const int *in, int *out) {
  SHARED static int buffer[1024];
  int n = BDIM;
  buffer[TID] = in[BID * n + TID];
  BARRIER();
  out[BID * n + TID] = buffer[n - 1 - TID];
}

// Stores one value past the end.
KERNEL void store_past_end(int *out, int n) {
  int i = BID * BDIM + TID;
  if (i <= n)
    out[i] = i;
}

KERNEL void load_at(const int *in, int *out, long at) { out[TID] = in[at + TID]; }

KERNEL void store_at(int *out, long at) { out[at + TID] = TID; }

KERNEL void forever(volatile int *out) {
  while (true)
    out[0] = 1;
}

// An array that the compiler keeps in scratch.
KERNEL void scratch_array(int *out, int k) {
  volatile int t[32];
  for (int i = 0; i < 32; i++)
    t[i] = i * k;
  out[TID] = t[(k + TID) & 31];
}

// Reads the read-only data of the code object.
KERNEL void constants(int *out) { out[TID] = primes[TID & 7]; }

KERNEL void globals(int *out) {
  if (TID == 0)
    out[0] = ++calls;
}

KERNEL void count(unsigned *total, unsigned *highest) {
  int i = BID * BDIM + TID;
  __hip_atomic_fetch_add(total, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_fetch_max(highest, (unsigned)i, __ATOMIC_RELAXED,
                         __HIP_MEMORY_SCOPE_AGENT);
}

// Histogram in LDS, one atomic a work-item, then one global atomic a bin.
KERNEL void histogram(const unsigned char *in, unsigned *bins, int n) {
  SHARED static unsigned local[16];
  if (TID < 16)
    local[TID] = 0;
  BARRIER();
  int i = BID * BDIM + TID;
  if (i < n)
    __hip_atomic_fetch_add(&local[in[i] & 15], 1u, __ATOMIC_RELAXED,
                           __HIP_MEMORY_SCOPE_WORKGROUP);
  BARRIER();
  if (TID < 16)
    __hip_atomic_fetch_add(&bins[TID], local[TID], __ATOMIC_RELAXED,
                           __HIP_MEMORY_SCOPE_AGENT);
}

// Every workgroup stores its own number to the same place.
KERNEL void same_place(int *out) {
  if (TID == 0)
    out[0] = BID;
}

// Every workgroup stores the same number to the same place: no race.
KERNEL void same_value(int *out) {
  if (TID == 0)
    out[0] = 7;
}

// Each workgroup reads what its neighbour stores.
KERNEL void neighbour(int *a, int *out, int blocks) {
  if (TID == 0) {
    a[BID] = BID + 1;
    out[BID] = a[(BID + 1) % blocks];
  }
}

// Neighbouring workgroups store to different bytes of one dword: no race.
KERNEL void bytes(unsigned char *out) {
  if (TID == 0)
    out[BID] = (unsigned char)(BID + 1);
}

KERNEL void uninitialised_lds(int *out) {
  SHARED static int buffer[64];
  if (TID != 5)
    buffer[TID] = TID;
  BARRIER();
  out[TID] = buffer[63 - TID];
}

// Where each work-item finds itself.
KERNEL void identity(unsigned *out) {
  unsigned x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y(), z = __builtin_amdgcn_workitem_id_z();
  unsigned bx = __builtin_amdgcn_workgroup_size_x(), by = __builtin_amdgcn_workgroup_size_y(), bz = __builtin_amdgcn_workgroup_size_z();
  unsigned gx = __builtin_amdgcn_workgroup_id_x(), gy = __builtin_amdgcn_workgroup_id_y(), gz = __builtin_amdgcn_workgroup_id_z();
  unsigned nx = __builtin_amdgcn_grid_size_x() / bx, ny = __builtin_amdgcn_grid_size_y() / by;
  unsigned block = (gz * ny + gy) * nx + gx;
  unsigned i = block * bx * by * bz + (z * by + y) * bx + x;
  out[i] = gz << 25 | gy << 20 | gx << 15 | z << 10 | y << 5 | x;
}

// Element types and widths.
struct wide { long a, b; };
KERNEL void widths(const signed char *c, const unsigned short *s, const long *l, const wide *w, long *out) {
  int i = TID;
  out[i] = c[i] + s[i] + l[i] + w[i].a * 3 + w[i].b;
}

KERNEL void store_widths(unsigned char *c, unsigned short *s, long *l, wide *w) {
  int i = TID;
  c[i] = i;
  s[i] = i * 3;
  l[i] = i * 5L - 7;
  w[i] = {i * 7L, -i};
}

KERNEL void trap(int n) {
  if (n == BID)
    __builtin_trap();
}

// Dynamic LDS.
KERNEL void dynamic(int *out) {
  extern SHARED int memory[];
  memory[TID] = TID * 2;
  BARRIER();
  out[TID] = memory[BDIM - 1 - TID];
}

// A pointer in the data of the code object, which the loader relocates.
__attribute__((device)) int values[4] = {10, 20, 30, 40};
__attribute__((device)) int *volatile middle = &values[2];
KERNEL void relocated(int *out) { out[TID] = middle[(TID & 3) - 2]; }

// Only the first wave comes to the barrier; the others have ended.
KERNEL void early_exit(int *out) {
  if (TID >= 64)
    return;
  BARRIER();
  out[TID] = TID;
}
