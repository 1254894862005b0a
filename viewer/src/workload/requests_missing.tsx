import type { JSX } from 'preact';
import { EmptyState } from '../ui/states';
import type { Workload } from './model';

/** Which option of which benchmark records single requests. */
const HOW_TO: readonly { readonly kind: RegExp; readonly command: string }[] = [
  { kind: /vllm/, command: 'vllm bench serve … --save-result --save-detailed' },
  { kind: /sglang/, command: 'python3 -m sglang.bench_serving … --output-file result.jsonl --output-details' },
  { kind: /inference_perf/, command: 'layerscope workload per_request_lifecycle_metrics.json -o workload_data.json' },
];

/** In place of the plots, when the benchmark kept only its aggregates. */
export function RequestsMissing({ workload }: { readonly workload: Workload }): JSX.Element {
  const benches = workload.sources.filter(({ kind }) => !kind.startsWith('prometheus'));
  const known = HOW_TO.find(({ kind }) => benches.some((source) => kind.test(source.kind)));
  if (benches.length === 0 && workload.sources.length > 0) {
    return (
      <div class="wl-area-missing">
        <EmptyState title="No benchmark" command="layerscope workload --bench result.json --prometheus metrics.txt -o workload_data.json">
          This document holds the server's metrics alone. Plots and the table of requests need the result of a benchmark.
        </EmptyState>
      </div>
    );
  }
  return (
    <div class="wl-area-missing">
      <EmptyState title="No single requests in this file" command={known?.command ?? 'vllm bench serve … --save-result --save-detailed'}>
        The benchmark kept only aggregates, so there is nothing to plot a request at a time. With what is named below every
        request stands here with its start, TTFT and times between tokens.
      </EmptyState>
    </div>
  );
}
