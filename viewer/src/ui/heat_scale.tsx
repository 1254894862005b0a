import type { JSX } from 'preact';

/** What the colours of share bars mean: from nothing to all of something. */
export function HeatScale({ of }: { of: string }): JSX.Element {
  return (
    <span class="heat-scale">
      0
      <span class="heat-scale-ramp" aria-hidden="true" />
      100&nbsp;% {of}
    </span>
  );
}
