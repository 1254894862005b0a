import type { JSX } from 'preact';
import { count, ns, share } from '../ui/format';
import { NameText } from '../ui/name_text';
import { EmptyState } from '../ui/states';
import type { Fields, Figures, ServerSeries, Workload } from './model';
import { ServerCounts } from './server_counts';
import { figuresOfInstance, hasFigures, instancesOf, namedMetrics, type Instance, type ServerFigure } from './server_figures';

function Value({ figure }: { readonly figure: ServerFigure }): JSX.Element {
  const { value, kind, of } = figure;
  if (value === null) return <dd class="wl-none">not in the dump</dd>;
  if (kind === 'share') {
    return (
      <dd>
        {share(value, 1)}
        <meter class="wl-meter" min={0} max={1} value={value} aria-label={figure.label} />
      </dd>
    );
  }
  return (
    <dd>
      {count(value)}
      {of !== null && <span class="wl-of">{` of ${count(of)} (${of > 0 ? share(value, of) : 'none looked up'})`}</span>}
    </dd>
  );
}

interface InstanceFiguresProps {
  readonly instance: Instance;
  readonly named: ReadonlyMap<string, string>;
}

function InstanceFigures({ instance, named }: InstanceFiguresProps): JSX.Element {
  return (
    <section class="wl-instance" data-instance={instance.name}>
      <h4>{instance.name === '' ? 'Server' : <NameText text={instance.name} limit={80} />}</h4>
      <dl class="wl-facts">
        {figuresOfInstance(instance, named).map((figure) => (
          <div key={figure.id} data-figure={figure.id} title={`${figure.about}${figure.metric === null ? '' : ` (${figure.metric})`}`}>
            <dt>{figure.label}</dt>
            <Value figure={figure} />
          </div>
        ))}
      </dl>
    </section>
  );
}

function fieldText(name: string, value: Fields[string]): string {
  if (value === null) return 'not known';
  if (typeof value !== 'number') return String(value);
  if (name.endsWith('_ns')) return ns(value);
  if (name.endsWith('_ppm')) return share(value, 1e6);
  return value.toLocaleString('en-US', { maximumFractionDigits: 6 });
}

function SeriesRow({ series }: { readonly series: ServerSeries }): JSX.Element {
  const labels = Object.entries(series.labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
  const fields = Object.entries(series.fields)
    .filter(([name]) => name !== 'type')
    .map(([name, value]) => `${name.replace(/_(ns|ppm)$/, '')} ${fieldText(name, value)}`)
    .join(' · ');
  return (
    <tr>
      <th scope="row">
        <NameText text={series.metric} limit={70} />
        {labels !== '' && <NameText text={labels} limit={120} class="wl-labels" />}
      </th>
      <td>
        <NameText text={fields} limit={220} class="wrap" />
      </td>
    </tr>
  );
}

/** Every series of the document, as it stands there. */
function AllSeries({ series }: { readonly series: readonly ServerSeries[] }): JSX.Element {
  return (
    <details class="wl-all">
      <summary>{`All ${count(series.length)} series of the dump`}</summary>
      <div class="wl-scroll" tabIndex={0} role="region" aria-label="All series of the server's metrics">
        <table class="wl-figures">
          <thead>
            <tr>
              <th scope="col">Metric</th>
              <th scope="col">Values</th>
            </tr>
          </thead>
          <tbody>
            {series.map((one, i) => (
              <SeriesRow key={i} series={one} />
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

/** Of which time the counters speak. */
function coverText(summary: Figures): string {
  const engine = [summary.engine, summary.version].filter((part) => typeof part === 'string').join(' ');
  const of = engine === '' ? '' : `${engine}: `;
  if (summary.covers === 'between_dumps') return `${of}counters cover the time between the two dumps.`;
  return `${of}counters run since the server started and hold warm-up and other clients too; --prometheus-before takes them from before the run. Gauges are of the moment of the dump.`;
}

/** The server's own account: KV cache, preemptions, prefix cache, load and tokens of each model and engine. */
export function ServerPanel({ workload }: { readonly workload: Workload }): JSX.Element {
  const { server: series, server_summary: summary } = workload;
  if (series.length === 0) {
    return (
      <EmptyState
        title="No metrics of the server"
        command="curl -s http://HOST:8000/metrics -o metrics.txt && layerscope workload --bench result.json --prometheus metrics.txt -o workload_data.json"
      >
        KV cache usage, preemptions and prefix-cache hits come from the server's /metrics, read after the run. With a
        second dump from before the run (--prometheus-before) counters show the run alone. SGLang needs
        --enable-metrics.
      </EmptyState>
    );
  }
  const named = namedMetrics(summary);
  const instances = instancesOf(series);
  const telling = instances.filter((instance) => hasFigures(instance, named));
  return (
    <>
      {(telling.length > 0 ? telling : instances.slice(0, 1)).map((instance) => (
        <InstanceFigures key={instance.name} instance={instance} named={named} />
      ))}
      <p class="wl-note wl-covers">{coverText(summary)}</p>
      <ServerCounts differences={workload.differences} />
      <AllSeries series={series} />
    </>
  );
}

