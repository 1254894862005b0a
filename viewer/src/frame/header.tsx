import type { JSX } from 'preact';
import type { AnalysisPart } from '../data/analyses';
import type { ViewIndex } from '../data/source';
import type { Loaded } from '../state/answers';
import { PID_PARAM, pids, ranks, shownPid, shownRank } from '../state/parts';
import { THEMES, select, setParam, source, theme } from '../state/state';
import { ns } from '../ui/format';
import { NameText } from '../ui/name_text';
import { visibleText } from '../ui/visible_text';
import { OpenButton } from './drop_zone';
import { useSummary } from './use_summary';

/** How long was recorded: the span of the shown file, whatever ran in it. */
function recordedOf({ envelope, input }: AnalysisPart<'summary'>): string | null {
  const file = envelope.inputs.find(({ path }) => path === input) ?? envelope.inputs[0];
  return file === undefined || file.span_ns <= 0 ? null : `${ns(file.span_ns)} recorded`;
}

function factsOf(part: AnalysisPart<'summary'>): string {
  const what = part.data.what;
  const facts = [what?.gpu, what?.layers, what?.engine, recordedOf(part)];
  return facts.filter((fact): fact is string => typeof fact === 'string' && fact !== '').join(' · ');
}

function What({ index, summary }: { index: ViewIndex; summary: Loaded<AnalysisPart<'summary'>> }): JSX.Element {
  const part = summary.state === 'ready' ? summary.value : null;
  const model = part?.data.what?.model ?? null;
  return (
    <div class="what">
      <NameText text={model ?? index.title} limit={120} />
      {part !== null && <NameText text={factsOf(part)} class="facts-line" limit={200} />}
    </div>
  );
}

interface ChooserProps {
  readonly label: string;
  readonly of: readonly (string | number)[];
  readonly shown: string | number | null;
  readonly onChoose: (value: string) => void;
}

function Chooser({ label, of, shown, onChoose }: ChooserProps): JSX.Element | null {
  if (of.length < 2) return null;
  return (
    <label class="choice">
      {label}
      <select
        class="bare"
        value={String(shown)}
        onChange={(event) => {
          onChoose(event.currentTarget.value);
        }}
      >
        {of.map((value) => (
          <option key={value} value={value}>
            {visibleText(String(value))}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Which rank (or, where none is known, process) is shown, of several. */
function PartChooser(): JSX.Element {
  return (
    <>
      <Chooser
        label="Rank"
        of={ranks.value}
        shown={shownRank.value}
        onChoose={(value) => {
          select({ rank: Number(value) });
        }}
      />
      <Chooser
        label="Process"
        of={pids.value}
        shown={shownPid.value}
        onChoose={(value) => {
          setParam(PID_PARAM, value);
        }}
      />
    </>
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
        <PartChooser />
        {from !== null && <OpenButton />}
        <ThemeChooser />
      </div>
    </header>
  );
}
