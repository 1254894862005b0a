import type { JSX } from 'preact';
import { ns, nsExact } from '../ui/format';
import { quantityHint, quantityLabel, STATISTICS, type Bound, type FigureSet, type Statistic } from './percentiles';

export interface PercentileTableProps {
  readonly quantities: readonly string[];
  readonly sets: readonly FigureSet[];
}

interface FigureProps {
  readonly set: FigureSet;
  readonly quantity: string;
  readonly statistic: Statistic;
}

const BOUND_SAYS: Readonly<Record<Bound, string>> = {
  at_most: 'No more than this: the mean of the histogram or its first bound says so, its buckets do not tell more',
  at_least: 'No less than this: it lies above the largest bound of the histogram',
};

function signed(value: number): string {
  return `${value > 0 ? '+' : value < 0 ? '−' : ''}${ns(Math.abs(value))}`;
}

function Figure({ set, quantity, statistic }: FigureProps): JSX.Element {
  const value = set.figures[quantity]?.[statistic] ?? null;
  if (value === null) return <td class="wl-none">–</td>;
  const delta = set.deltas.get(`${quantity}.${statistic}_ns`);
  const bound = set.bounds.get(`${quantity}.${statistic}_ns`);
  if (bound !== undefined) {
    return (
      <td class="wl-estimate" title={BOUND_SAYS[bound]}>
        {bound === 'at_most' ? '≤ ' : '≥ '}
        {ns(value)}
      </td>
    );
  }
  const isEstimate = set.isEstimate(`${quantity}.${statistic}_ns`);
  const said = isEstimate ? `about ${nsExact(value)}, estimated inside of a bucket` : nsExact(value);
  const exact = delta === undefined ? said : `${said}; requests minus ${set.name}: ${nsExact(delta)}`;
  return (
    <td class={isEstimate ? 'wl-estimate' : ''} title={exact}>
      {isEstimate && '≈ '}
      {ns(value)}
      {delta !== undefined && (
        <span class={isEstimate ? 'wl-delta wl-delta-estimate' : 'wl-delta'}>
          {isEstimate && '≈ '}
          {signed(delta)}
        </span>
      )}
    </td>
  );
}

function SetName({ set, quantity, given }: { set: FigureSet; quantity: string; given: boolean }): JSX.Element {
  if (!given) {
    return (
      <th scope="row" class="wl-figures-set">
        not recorded
      </th>
    );
  }
  const agrees = set.agreeing.has(quantity);
  return (
    <th scope="row" class="wl-figures-set" title={agrees ? `${set.hint}. They agree with the requests.` : set.hint}>
      {set.name}
      {agrees && <span class="wl-agrees"> ✓ agrees</span>}
    </th>
  );
}

/** Mean, spread and percentiles of each quantity, one row a source; below a value how far the requests are from it. */
export function PercentileTable({ quantities, sets }: PercentileTableProps): JSX.Element {
  const several = sets.length > 1;
  const isGiven = (set: FigureSet, quantity: string): boolean => (set.figures[quantity] ?? null) !== null;
  return (
    <div class="wl-scroll-x" tabIndex={0} role="region" aria-label="Percentiles">
      <table class="wl-figures wl-percentiles">
        <thead>
          <tr>
            <th scope="col">Quantity</th>
            {several && (
              <th scope="col" class="wl-figures-set">
                From
              </th>
            )}
            {STATISTICS.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        {quantities.map((quantity) => {
          const given = sets.filter((set) => isGiven(set, quantity));
          const rows = given.length > 0 ? given : sets.slice(0, 1);
          return (
            <tbody key={quantity} data-quantity={quantity}>
              {rows.map((set, i) => (
                <tr key={set.name} data-set={set.name}>
                  {i === 0 && (
                    <th scope="rowgroup" rowSpan={rows.length} title={quantityHint(quantity)}>
                      {quantityLabel(quantity)}
                    </th>
                  )}
                  {several && <SetName set={set} quantity={quantity} given={given.length > 0} />}
                  {STATISTICS.map((name) => (
                    <Figure key={name} set={set} quantity={quantity} statistic={name} />
                  ))}
                </tr>
              ))}
            </tbody>
          );
        })}
      </table>
    </div>
  );
}
