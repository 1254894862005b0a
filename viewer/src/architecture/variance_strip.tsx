import type { JSX } from 'preact';
import { ns } from '../ui/format';
import type { Spread } from './statistics';

const WIDTH = 130;
const HEIGHT = 14;

/** Smallest to largest as a line, the mean as a tick, one layer as a dot; all rows share one scale. */
export function VarianceStrip({ spread, value, scale }: { spread: Spread; value: number | null; scale: number }): JSX.Element {
  const x = (time: number): number => 3 + (Math.max(0, time) / scale) * (WIDTH - 6);
  const label = `${ns(spread.minNs)} to ${ns(spread.maxNs)}, mean ${ns(spread.avgNs)}`;
  return (
    <svg class="arch-variance" width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      <line class="arch-variance-rail" x1={3} x2={WIDTH - 3} y1={7} y2={7} />
      <line class="arch-variance-range" x1={x(spread.minNs)} x2={Math.max(x(spread.maxNs), x(spread.minNs) + 1)} y1={7} y2={7} />
      <line class="arch-variance-mean" x1={x(spread.avgNs)} x2={x(spread.avgNs)} y1={2} y2={12} />
      {value !== null && <circle class="arch-variance-dot" cx={x(value)} cy={7} r={3} />}
    </svg>
  );
}
