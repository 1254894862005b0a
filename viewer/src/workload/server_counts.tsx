import type { JSX } from 'preact';
import { count } from '../ui/format';
import { NameText } from '../ui/name_text';
import type { Difference } from './model';

const LABELS: Readonly<Record<string, string>> = {
  requests: 'Requests',
  input_tokens: 'Input tokens',
  output_tokens: 'Output tokens',
};

/** What both sides counted: times are compared in the percentile table. */
export function isCount(difference: Difference): boolean {
  return !difference.what.endsWith('_ns');
}

/** The benchmark's counts beside the server's. */
export function ServerCounts({ differences }: { readonly differences: readonly Difference[] }): JSX.Element | null {
  const counts = differences.filter(isCount);
  if (counts.length === 0) return null;
  return (
    <table class="wl-figures wl-counts">
      <caption class="offscreen">Counts of the benchmark and of the server</caption>
      <thead>
        <tr>
          <th scope="col">Counted by</th>
          <th scope="col">Benchmark</th>
          <th scope="col">Server</th>
          <th scope="col">Difference</th>
        </tr>
      </thead>
      <tbody>
        {counts.map(({ what, metric, bench, server, difference }) => (
          <tr key={what} data-what={what} title={metric ?? ''}>
            <th scope="row">{LABELS[what] ?? <NameText text={what} />}</th>
            <td>{count(bench)}</td>
            <td>{count(server)}</td>
            <td class={difference === 0 ? 'wl-none' : 'wl-differs'}>{difference === 0 ? 'none' : count(difference)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
