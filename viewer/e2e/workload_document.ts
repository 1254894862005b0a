import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, scratchFolder } from './program';

/** What the tests read of workload_data.json: the screen is compared with it. */
export interface Request {
  readonly index: number;
  readonly start_ns: number | null;
  readonly ttft_ns: number | null;
  readonly itl_ns: readonly number[] | null;
  readonly tpot_ns: number | null;
  readonly decode_ns: number | null;
  readonly e2e_ns: number | null;
  readonly queue_ns: number | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly ok: boolean;
  readonly error: string | null;
}

export type Statistics = Readonly<Record<string, number | null>>;

export interface WorkloadDocument {
  readonly requests: readonly Request[];
  readonly summary: Readonly<Record<string, unknown>>;
  readonly concurrency: readonly { readonly t_ns: number; readonly n: number }[];
  readonly server: Readonly<Record<string, unknown>>;
  readonly queue_threshold_ns: number | null;
}

/** `layerscope workload … -o`: the file and what it holds. */
export function workloadOf(...options: readonly string[]): { path: string; document: WorkloadDocument } {
  const path = join(scratchFolder(), 'workload_data.json');
  run('workload', ...options, '-o', path);
  return { path, document: JSON.parse(readFileSync(path, 'utf8')) as WorkloadDocument };
}

/** Text of a JSON value that may stand inside of a script element. */
function inert(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The built page with a document inside, as a report has it; its address. */
export function pageWith(document: unknown): string {
  const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
  const index = {
    schema: 'layerscope/view/1',
    version: 'test',
    title: 'workload',
    live: false,
    inputs: [],
    analyses: [],
    documents: ['workload'],
    cuts: [],
  };
  const data = inert({ view: index, analyses: {}, documents: { workload: document } });
  const page = readFileSync(join(root, 'dist/index.html'), 'utf8').replace(
    '<!--layerscope-data-->',
    () => `<script type="application/json" id="layerscope-data">${data}</script>`,
  );
  const path = join(scratchFolder(), 'page.html');
  writeFileSync(path, page);
  return `file://${path}`;
}

/** The page before anything is open. */
export function emptyPage(): string {
  return `file://${resolve(dirname(fileURLToPath(import.meta.url)), '../dist/index.html')}`;
}

/** A text of a server that tries everything. */
export const HOSTILE =
  '=1+1 <img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script> \u202eright to left\u0000\u001b[31m';

/** Numbers from 0 to 1 that are the same in every run. */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * A result of `vllm bench serve --save-detailed`, written to a file: `n` requests in waves, every 97th one
 * failed, first tokens in two groups that lie far apart.
 */
export function benchFile(n: number): string {
  const random = sequence(7);
  const requests = Array.from({ length: n }, (_, i) => {
    const failed = i % 97 === 5;
    const input = 16 + Math.floor(random() * 4000);
    const output = 2 + Math.floor(random() * 300);
    const ttft = (i % 8 === 3 ? 2 : 0.05) * (1 + input / 20_000);
    const gap = 0.01 + random() * 0.005;
    return { failed, input, output, ttft, start: 100 + i * 0.01 + random() * 0.005, queue: (i % 5) * 0.02, gap };
  });
  const result = {
    date: '20260101-000000',
    backend: 'vllm',
    model_id: 'made/for-a-test',
    num_prompts: n,
    request_rate: 'inf',
    duration: 0.01 * n + 5,
    completed: requests.filter(({ failed }) => !failed).length,
    failed: requests.filter(({ failed }) => failed).length,
    input_lens: requests.map(({ input }) => input),
    output_lens: requests.map(({ failed, output }) => (failed ? 0 : output)),
    ttfts: requests.map(({ failed, ttft }) => (failed ? 0 : ttft)),
    itls: requests.map(({ failed, output, gap }) => (failed ? [] : Array<number>(output - 1).fill(gap))),
    start_times: requests.map(({ start }) => start),
    queue_times: requests.map(({ queue }) => queue),
    generated_texts: requests.map(() => ''),
    errors: requests.map(({ failed }) => (failed ? HOSTILE : '')),
  };
  const path = join(scratchFolder(), 'bench.json');
  writeFileSync(path, JSON.stringify(result));
  return path;
}

/** The same without the lists of single requests. */
export function plainBenchFile(): string {
  const path = join(scratchFolder(), 'bench.json');
  const result = {
    date: '20260101-000000',
    backend: 'vllm',
    model_id: 'made/for-a-test',
    num_prompts: 10,
    request_rate: 'inf',
    duration: 2,
    completed: 10,
    failed: 0,
    total_input_tokens: 100,
    total_output_tokens: 50,
    request_throughput: 5,
    output_throughput: 25,
    mean_ttft_ms: 20,
    median_ttft_ms: 19,
    std_ttft_ms: 3,
    p99_ttft_ms: 31,
  };
  writeFileSync(path, JSON.stringify(result));
  return path;
}
