import type { ComponentChildren, JSX } from 'preact';
import type { Abstained } from '../data/analyses';
import type { SourceError } from '../data/source';
import type { Loaded } from '../state/answers';
import { NameText } from './name_text';
import { CopyButton } from './tooltip';

interface EmptyStateProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  /** A command that gives what is missing. */
  readonly command?: string;
  readonly kind?: 'empty' | 'error';
}

/** Says what is not there, why, and what to do. */
export function EmptyState({ title, children, command, kind = 'empty' }: EmptyStateProps): JSX.Element {
  return (
    <div class={`state state-${kind}`} role={kind === 'error' ? 'alert' : 'note'}>
      <h3>{title}</h3>
      {children !== undefined && <div class="state-text">{children}</div>}
      {command !== undefined && command !== '' && (
        <div class="command">
          <code>{command}</code>
          <CopyButton text={() => command} />
        </div>
      )}
    </div>
  );
}

/** A message of the program may quote names of the trace, so it is made visible like them. */
function Message({ text }: { text: string }): JSX.Element {
  return (
    <p>
      <NameText text={text} limit={2000} tip={false} class="wrap" />
    </p>
  );
}

export function ErrorState({ error }: { error: SourceError }): JSX.Element {
  return (
    <EmptyState title="This could not be shown" kind="error">
      <Message text={error.message} />
      {error.hint !== '' && <Message text={error.hint} />}
    </EmptyState>
  );
}

/** An analysis that ran and gave no rows. */
export function AbstainedState({ abstained, title }: { abstained: Abstained; title: string }): JSX.Element {
  return (
    <EmptyState title={title}>
      <Message text={abstained.why} />
      <Message text={abstained.how} />
    </EmptyState>
  );
}

export function Loading({ label }: { label: string }): JSX.Element {
  return (
    <div class="state state-loading" role="status">
      <span class="spinner" aria-hidden="true" />
      {label}
    </div>
  );
}

interface WhenLoadedProps<T> {
  readonly of: Loaded<T>;
  readonly label: string;
  readonly children: (value: T) => ComponentChildren;
}

/** Shows the answer, or that it is on its way, or why there is none. */
export function WhenLoaded<T>({ of, label, children }: WhenLoadedProps<T>): JSX.Element {
  if (of.state === 'loading') return <Loading label={label} />;
  if (of.state === 'error') return <ErrorState error={of.error} />;
  return <>{children(of.value)}</>;
}
