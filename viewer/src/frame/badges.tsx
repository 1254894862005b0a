import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { AnalysisPart } from '../data/analyses';
import { type HealthEntry, SEVERITIES, readHealth } from '../data/envelope';
import type { ViewIndex } from '../data/source';
import { useDocument } from '../state/answers';
import { source, tab } from '../state/state';
import { count, counted, share } from '../ui/format';
import { NameText } from '../ui/name_text';
import { words } from '../ui/palette';
import { CoverageDetails, EvidenceBar } from './evidence';
import { Popover } from './popover';
import { useSummary } from './use_summary';

function HealthList({ entries }: { entries: readonly HealthEntry[] }): JSX.Element {
  if (entries.length === 0) return <p>Everything in the input could be read and used.</p>;
  return (
    <ul class="health">
      {entries.map((entry) => (
        <li key={`${entry.code}.${entry.message}`}>
          <span class={`severity severity-${entry.severity}`}>{words(entry.severity)}</span>
          <span>
            <NameText text={entry.message} limit={1500} tip={false} class="wrap" />
            <span class="muted">
              {' '}
              {entry.code} × {count(entry.count)}
            </span>
          </span>
        </li>
      ))}
    </ul>
  );
}

function HealthBadge({ entries }: { entries: readonly HealthEntry[] }): JSX.Element {
  const worst = SEVERITIES.find((severity) => entries.some((entry) => entry.severity === severity));
  const sorted = [...entries].sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
  const loud = entries.filter((entry) => entry.severity !== 'info').length;
  const text = loud > 0 ? counted(loud, 'warning') : entries.length > 0 ? counted(entries.length, 'note') : 'healthy';
  return (
    <Popover button={text} buttonClass={`badge badge-${worst ?? 'info'}`} label={`Health of the input: ${text}`}>
      {() => (
        <>
          <h3>Health of the input</h3>
          <HealthList entries={sorted} />
        </>
      )}
    </Popover>
  );
}

function CoverageBadge({ part }: { part: AnalysisPart<'summary'> }): JSX.Element | null {
  const coverage = part.coverage;
  if (coverage === null || coverage.total_ns === 0) return null;
  const resolved = coverage.total_ns - (coverage.module.unresolved ?? 0);
  const text = share(resolved, coverage.total_ns);
  return (
    <Popover
      buttonClass="badge"
      label={`Evidence: ${text} of GPU time has a module`}
      button={
        <>
          <EvidenceBar map={coverage.module} total={coverage.total_ns} />
          <span>{text} in modules</span>
        </>
      }
    >
      {() => <CoverageDetails coverage={coverage} />}
    </Popover>
  );
}

function Inputs({ index }: { index: ViewIndex }): JSX.Element {
  return (
    <Popover button={counted(index.inputs.length, 'input')} buttonClass="badge" label="Inputs">
      {() => (
        <>
          <h3>{index.live ? 'Inputs' : 'Made from'}</h3>
          <ul class="inputs">
            {index.inputs.map((input, i) => (
              <li key={i}>
                {input.rank !== null && <span class="muted">rank {input.rank}</span>}
                <NameText text={input.path} limit={400} tip={false} class="wrap mono" />
                <span class="muted">{input.kind}</span>
              </li>
            ))}
          </ul>
          {index.cuts.length > 0 && (
            <section>
              <h3>Left out, to keep this file small</h3>
              <ul class="inputs">
                {index.cuts.map((cut, i) => (
                  <li key={i}>
                    <span>
                      {cut.what}: {count(cut.kept)} of {count(cut.of)} kept
                    </span>
                    <span class="muted">{cut.why}</span>
                  </li>
                ))}
              </ul>
            </section>
          )}
          {index.version !== '' && <p class="muted">layerscope {index.version}</p>}
        </>
      )}
    </Popover>
  );
}

/** Health of the benchmark beside the trace: what the program says at once, and what its document says once it is read. */
function useWorkloadHealth(): readonly HealthEntry[] {
  const index = source.value?.index;
  const wasOpen = useRef(false);
  if (tab.value === 'workload') wasOpen.current = true;
  const document = useDocument('workload', wasOpen.current);
  const ofDocument = document?.state === 'ready' ? readHealth(document.value.health) : [];
  const all = [...readHealth(index?.health), ...ofDocument];
  return all.filter((entry, i) => all.findIndex(({ code, message }) => code === entry.code && message === entry.message) === i);
}

/** Whether what is open can be trusted: evidence, health, and what it was made from. */
export function Badges(): JSX.Element {
  const from = source.value;
  const summary = useSummary();
  const ofWorkload = useWorkloadHealth();
  const ofTrace = summary.state === 'ready' ? summary.value.envelope.health : [];
  const isKnown = summary.state === 'ready' || ofWorkload.length > 0;
  return (
    <div class="badges">
      {summary.state === 'ready' && <CoverageBadge part={summary.value} />}
      {isKnown && <HealthBadge entries={[...ofTrace, ...ofWorkload]} />}
      {from !== null && <Inputs index={from.index} />}
    </div>
  );
}
