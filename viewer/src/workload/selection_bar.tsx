import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { count, ns } from '../ui/format';
import { parseAmount } from './amount';
import { DIMENSIONS, DIMENSION_NAMES, withRanges, type Dimension, type Range, type Ranges } from './selection';

type Unit = 'tokens' | 'ns';

function shown(value: number, unit: Unit): string {
  return unit === 'ns' ? ns(value) : count(value);
}

interface EndFieldProps {
  readonly label: string;
  readonly unit: Unit;
  /** Null: no bound. */
  readonly value: number | null;
  /** What holds without a bound; null when no request has a value. */
  readonly limit: number | null;
  readonly onValue: (value: number | null) => void;
}

/** One end of a range. What is typed counts on Enter and on leaving; what is no amount is dropped. */
function EndField({ label, unit, value, limit, onValue }: EndFieldProps): JSX.Element {
  const [draft, setDraft] = useState<string | null>(null);
  // A bound that bounds nothing is left to the placeholder, so that typing begins in an empty field.
  const written = value === null || value === limit ? '' : shown(value, unit);
  const hint = limit === null ? '–' : shown(limit, unit);
  const commit = (): void => {
    // Text that was not changed keeps its exact value: it is shown rounded.
    if (draft !== null && draft !== written) {
      const typed = parseAmount(draft, unit);
      if (typed !== null || draft.trim() === '') onValue(typed);
    }
    setDraft(null);
  };
  return (
    <input
      type="text"
      class="wl-input"
      style={{ width: `${Math.max(4, (draft ?? (written || hint)).length) + 0.4}ch` }}
      inputMode={unit === 'tokens' ? 'numeric' : 'text'}
      aria-label={label}
      placeholder={hint}
      disabled={limit === null}
      value={draft ?? written}
      onInput={(event) => {
        setDraft(event.currentTarget.value);
      }}
      onBlur={commit}
      onKeyDown={(event) => {
        if (event.key === 'Enter') commit();
      }}
    />
  );
}

interface RangeFieldsProps {
  readonly label: string;
  /** What is seen, where the label would be too long. */
  readonly short?: string;
  readonly unit: Unit;
  readonly range: Range | undefined;
  /** Smallest and largest value there is; null when no request has one. */
  readonly limits: readonly [number, number] | null;
  readonly onRange: (range: Range | null) => void;
}

/** Two text fields, from and to; empty means no bound. Times take a unit (12 ms), tokens none. */
export function RangeFields({ label, short, unit, range, limits, onRange }: RangeFieldsProps): JSX.Element {
  const end = (low: number | null, high: number | null): void => {
    if (low === null && high === null) {
      onRange(null);
      return;
    }
    const ends = [low ?? limits?.[0] ?? 0, high ?? limits?.[1] ?? 0];
    onRange({ low: Math.min(...ends), high: Math.max(...ends) });
  };
  return (
    <div class={`wl-range ${range === undefined ? '' : 'wl-range-set'}`} role="group" aria-label={label}>
      <span class="wl-range-label">{short ?? label}</span>
      <EndField
        label={`${label} from`}
        unit={unit}
        value={range?.low ?? null}
        limit={limits?.[0] ?? null}
        onValue={(low) => {
          end(low, range?.high ?? null);
        }}
      />
      <span aria-hidden="true">–</span>
      <EndField
        label={`${label} to`}
        unit={unit}
        value={range?.high ?? null}
        limit={limits?.[1] ?? null}
        onValue={(high) => {
          end(range?.low ?? null, high);
        }}
      />
      <button
        type="button"
        class="wl-clear"
        aria-label={`Clear ${label}`}
        disabled={range === undefined}
        onClick={() => {
          onRange(null);
        }}
      >
        ×
      </button>
    </div>
  );
}

export interface SelectionBarProps {
  readonly ranges: Ranges;
  readonly limits: Readonly<Record<Dimension, readonly [number, number] | null>>;
  readonly onRanges: (ranges: Ranges) => void;
}

/** The selection as ranges: what a brush sets can be read, typed and taken back here. */
export function SelectionBar({ ranges, limits, onRanges }: SelectionBarProps): JSX.Element {
  return (
    <div class="wl-ranges">
      {DIMENSION_NAMES.filter((dimension) => limits[dimension] !== null || ranges[dimension] !== undefined).map((dimension) => (
        <RangeFields
          key={dimension}
          label={DIMENSIONS[dimension].label}
          short={DIMENSIONS[dimension].short}
          unit={DIMENSIONS[dimension].unit}
          range={ranges[dimension]}
          limits={limits[dimension]}
          onRange={(range) => {
            onRanges(withRanges(ranges, { [dimension]: range }));
          }}
        />
      ))}
    </div>
  );
}
