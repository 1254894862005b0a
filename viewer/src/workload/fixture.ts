/** Small documents for tests, made here. */
import type { WorkloadRequest } from './model';

export function request(change: Partial<WorkloadRequest> = {}): WorkloadRequest {
  return {
    index: 0,
    start_ns: 0,
    ttft_ns: 10,
    itl_ns: [5, 15],
    tpot_ns: 10,
    decode_ns: 20,
    e2e_ns: 30,
    queue_ns: 0,
    input_tokens: 100,
    output_tokens: 3,
    ok: true,
    error: null,
    steps: null,
    ...change,
  };
}

const MS = 1e6;

/**
 * Four requests, 100 ms apart: TTFT 10, 20, 30 ms; decode 40, 50, 60 ms; waits of 0, 5, 80 ms; the last one
 * failed with a text that must stay a text.
 */
export function fourRequests(): unknown {
  const requests = [0, 1, 2].map((i) => ({
    index: i,
    start_ns: i * 100 * MS,
    ttft_ns: (i + 1) * 10 * MS,
    itl_ns: [20 * MS, (20 + 10 * i) * MS],
    tpot_ns: (20 + 5 * i) * MS,
    decode_ns: (40 + 10 * i) * MS,
    e2e_ns: (50 + 20 * i) * MS,
    queue_ns: [0, 5 * MS, 80 * MS][i],
    input_tokens: 100 * (i + 1),
    output_tokens: 3,
    ok: true,
    error: null,
  }));
  return {
    schema: 'layerscope/workload/1',
    sources: [{ path: 'bench.json', kind: 'vllm_bench', version: null }],
    model: { name: 'tiny' },
    requests: [
      ...requests,
      {
        index: 3,
        start_ns: 300 * MS,
        ttft_ns: null,
        itl_ns: [],
        tpot_ns: null,
        decode_ns: null,
        e2e_ns: null,
        queue_ns: 1 * MS,
        input_tokens: 400,
        output_tokens: 0,
        ok: false,
        error: '<img src=x onerror=alert(1)>\u202e\u0000',
      },
    ],
    summary: {
      completed: 3,
      failed: 1,
      duration_ns: 290 * MS,
      request_throughput_per_s: 10.345,
      output_token_throughput_per_s: 31.03,
      from: 'requests',
      ttft: { mean_ns: 20 * MS, std_ns: 8164966, p50_ns: 20 * MS, p90_ns: 28 * MS, p95_ns: 29 * MS, p99_ns: 29800000 },
      queue: null,
    },
    concurrency: [
      { t_ns: 0, n: 1 },
      { t_ns: 50 * MS, n: 0 },
      { t_ns: 100 * MS, n: 1 },
    ],
    server: {},
    differences: [],
    queue_threshold_ns: 10 * MS,
    queue_split: { of: 'queue_ns', below: 2, above: 1, explained_ppm: 900000 },
  };
}
