import type { JSX } from 'preact';
import { count, ns, nsExact } from '../ui/format';
import { NameText } from '../ui/name_text';
import { CopyButton } from '../ui/tooltip';
import { visibleText } from '../ui/visible_text';
import { phasesOf } from './gantt';
import type { WorkloadRequest } from './model';
import { TokenGaps } from './token_gaps';

export interface RequestToolsProps {
  readonly request: WorkloadRequest;
  readonly onStep: (step: number) => void;
  readonly onClose: () => void;
}

function PhaseBar({ request }: { readonly request: WorkloadRequest }): JSX.Element | null {
  const phases = phasesOf(request);
  const start = phases[0]?.start_ns ?? 0;
  const span = (phases.at(-1)?.end_ns ?? start) - start;
  if (span <= 0) return null;
  return (
    <div class="wl-phasebar" aria-hidden="true">
      {phases.map((stretch) => (
        <span
          key={stretch.phase}
          class={`wl-phase-${stretch.phase}`}
          style={{ width: `${(((stretch.end_ns - stretch.start_ns) / span) * 100).toFixed(3)}%` }}
        />
      ))}
    </div>
  );
}

const FACTS = [
  ['Start', 'start_ns'],
  ['Queue', 'queue_ns'],
  ['TTFT', 'ttft_ns'],
  ['Decode', 'decode_ns'],
  ['TPOT', 'tpot_ns'],
  ['End to end', 'e2e_ns'],
  ['Input tokens', 'input_tokens'],
  ['Output tokens', 'output_tokens'],
] as const;

function Fact({ name, value }: { readonly name: (typeof FACTS)[number][1]; readonly value: number | null }): JSX.Element {
  if (value === null) return <dd class="wl-none">not recorded</dd>;
  return name.endsWith('_ns') ? <dd title={nsExact(value)}>{ns(value)}</dd> : <dd>{count(value)}</dd>;
}

/** For the head of the panel: copy, to the neighbours, close. */
export function RequestTools({ request, onStep, onClose }: RequestToolsProps): JSX.Element {
  const copied = (): string =>
    JSON.stringify({ ...request, itl_ns: request.itl_ns.length > 0 ? request.itl_ns : undefined }, null, 1);
  const step = (label: string, sign: string, act: () => void): JSX.Element => (
    <button type="button" class="button small" aria-label={label} title={label} onClick={act}>
      {sign}
    </button>
  );
  return (
    <>
      <CopyButton text={copied} label="Copy JSON" />
      {step('Previous request', '‹', () => {
        onStep(-1);
      })}
      {step('Next request', '›', () => {
        onStep(1);
      })}
      {step('Close the request', '×', onClose)}
    </>
  );
}

export interface RequestDetailProps {
  readonly request: WorkloadRequest;
  /** Why no request is linked to the steps of a trace. */
  readonly unlinked: string | null;
}

function Steps({ request, unlinked }: RequestDetailProps): JSX.Element | null {
  if (request.steps !== null) {
    const { first, last, n } = request.steps;
    return <p class="wl-note">{`Engine steps ${count(first)} to ${count(last)} of the trace (${count(n)}) ran meanwhile.`}</p>;
  }
  return unlinked === null ? null : (
    <p class="wl-note">
      Not linked to engine steps: <NameText text={unlinked} limit={300} tip={false} class="wrap" />.
    </p>
  );
}

/** Everything that the document says about the chosen request. */
export function RequestDetail({ request, unlinked }: RequestDetailProps): JSX.Element {
  return (
    <div class="wl-detail" data-request={request.index}>
      {request.error !== null && request.error !== '' && (
        <pre class="wl-error" tabIndex={0} role="region" aria-label="Error of the request">
          <bdi>{visibleText(request.error)}</bdi>
        </pre>
      )}
      <PhaseBar request={request} />
      <dl class="wl-facts">
        {FACTS.map(([label, name]) => (
          <div key={name} data-fact={name}>
            <dt>{label}</dt>
            <Fact name={name} value={request[name]} />
          </div>
        ))}
      </dl>
      <TokenGaps gaps={request.itl_ns} />
      <Steps request={request} unlinked={unlinked} />
    </div>
  );
}
