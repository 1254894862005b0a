import type { JSX } from 'preact';
import { peakConcurrency } from './concurrency';
import { finite, type Workload } from './model';
import { count, ns, nsExact, rate } from '../ui/format';

interface Kpi {
  readonly label: string;
  readonly value: string;
  readonly exact: string;
  readonly alert?: boolean;
}

function kpisOf(workload: Workload): Kpi[] {
  const { summary } = workload;
  const out: Kpi[] = [];
  const whole = (label: string, value: number | null, alert = false): void => {
    if (value !== null) out.push({ label, value: count(value), exact: String(value), alert });
  };
  const perSecond = (label: string, value: number | null, unit: string): void => {
    if (value !== null) out.push({ label, value: rate(value, unit), exact: `${value} ${unit}` });
  };
  whole('Completed', finite(summary.completed));
  const failed = finite(summary.failed);
  whole('Failed', failed, (failed ?? 0) > 0);
  const duration = finite(summary.duration_ns);
  if (duration !== null) {
    out.push({ label: 'Duration', value: ns(duration), exact: nsExact(duration) });
  }
  perSecond('Request rate', finite(summary.request_throughput_per_s), 'req/s');
  perSecond('Output rate', finite(summary.output_token_throughput_per_s), 'tok/s');
  whole('Input tokens', finite(summary.input_tokens));
  whole('Output tokens', finite(summary.output_tokens));
  whole('Peak in flight', peakConcurrency(workload.concurrency));
  return out;
}

/** The run in one line. */
export function Kpis({ workload }: { readonly workload: Workload }): JSX.Element {
  return (
    <dl class="wl-kpis" aria-label="The run">
      {kpisOf(workload).map(({ label, value, exact, alert }) => (
        <div key={label} class={alert === true ? 'wl-kpi wl-kpi-alert' : 'wl-kpi'}>
          <dt>{label}</dt>
          <dd title={exact}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
