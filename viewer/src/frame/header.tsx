import type { JSX } from 'preact';
import type { AnalysisPart, SummaryData } from '../data/analyses';
import type { HealthEntry } from '../data/envelope';
import type { ViewIndex } from '../data/source';
import { type Loaded, useAnalysis } from '../state/answers';
import { THEMES, ranks, select, shownRank, source, theme } from '../state/state';
import { count, counted, ns, share } from '../ui/format';
import { NameText } from '../ui/name_text';
import { words } from '../ui/palette';
import { CoverageDetails, EvidenceBar } from './evidence';
import { OpenButton } from './drop_zone';
import { Popover } from './popover';

const SEVERITIES = ['error', 'data_loss', 'warning', 'info'] as const;

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

function factsOf(data: SummaryData): string {
  const what = data.what;
  const facts = [what?.gpu, what?.layers, what?.engine, data.gpu === undefined ? null : `${ns(data.gpu.span_ns)} recorded`];
  return facts.filter((fact): fact is string => typeof fact === 'string' && fact !== '').join(' · ');
}

function What({ index, summary }: { index: ViewIndex; summary: Loaded<AnalysisPart<'summary'>> }): JSX.Element {
  const data = summary.state === 'ready' ? summary.value.data : null;
  const model = data?.what?.model ?? null;
  return (
    <div class="what">
      <NameText text={model ?? index.title} limit={120} />
      {data !== null && <NameText text={factsOf(data)} class="facts-line" limit={200} />}
    </div>
  );
}

function RankChooser(): JSX.Element | null {
  if (ranks.value.length < 2) return null;
  return (
    <label class="choice">
      Rank
      <select
        class="bare"
        value={String(shownRank.value)}
        onChange={(event) => {
          select({ rank: Number(event.currentTarget.value) });
        }}
      >
        {ranks.value.map((rank) => (
          <option key={rank} value={rank}>
            {rank}
          </option>
        ))}
      </select>
    </label>
  );
}

const THEME_NAMES = { auto: 'System', light: 'Light', dark: 'Dark' } as const;

function ThemeChooser(): JSX.Element {
  return (
    <div class="segments" role="group" aria-label="Theme">
      {THEMES.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={theme.value === name}
          onClick={() => {
            theme.value = name;
          }}
        >
          {THEME_NAMES[name]}
        </button>
      ))}
    </div>
  );
}

function Mark(): JSX.Element {
  return (
    <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
      <rect x="1" y="2" width="18" height="4" rx="1.5" fill="var(--series-1)" />
      <rect x="4" y="8" width="12" height="4" rx="1.5" fill="var(--series-2)" />
      <rect x="7" y="14" width="6" height="4" rx="1.5" fill="var(--series-3)" />
    </svg>
  );
}

/** The summary, where the source has one; both rows of the head show parts of it. */
function useSummary(): Loaded<AnalysisPart<'summary'>> {
  const hasSummary = source.value?.index.analyses.includes('summary') ?? false;
  return useAnalysis('summary', hasSummary ? {} : null);
}

/** What is open, and the choices that hold for the whole page. */
export function Header(): JSX.Element {
  const from = source.value;
  const summary = useSummary();
  return (
    <header class="bar">
      <h1 class="brand">
        <Mark />
        layerscope
      </h1>
      {from !== null && <What index={from.index} summary={summary} />}
      <div class="bar-tools">
        <RankChooser />
        {from !== null && <OpenButton />}
        <ThemeChooser />
      </div>
    </header>
  );
}

/** Whether what is open can be trusted: evidence, health, and what it was made from. */
export function Badges(): JSX.Element {
  const from = source.value;
  const summary = useSummary();
  return (
    <div class="badges">
      {summary.state === 'ready' && <CoverageBadge part={summary.value} />}
      {summary.state === 'ready' && <HealthBadge entries={summary.value.envelope.health} />}
      {from !== null && <Inputs index={from.index} />}
    </div>
  );
}
