import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { ns } from '../ui/format';
import type { WorkloadRequest } from './model';

const LISTS = [
  ['Slowest to first token', 'ttft_ns'],
  ['Longest end to end', 'e2e_ns'],
  ['Longest wait', 'queue_ns'],
] as const;

const EACH = 5;

/** Positions of the largest values, largest first; of equal ones the first. */
export function largest(
  requests: readonly WorkloadRequest[],
  key: (typeof LISTS)[number][1],
  shown: Uint8Array,
  many: number,
): number[] {
  const positions: number[] = [];
  requests.forEach((request, position) => {
    if (shown[position] === 1 && (request[key] ?? 0) > 0) positions.push(position);
  });
  const value = (position: number): number => requests[position]?.[key] ?? 0;
  return positions.sort((a, b) => value(b) - value(a) || a - b).slice(0, many);
}

export interface SlowestProps {
  readonly requests: readonly WorkloadRequest[];
  readonly shown: Uint8Array;
  readonly onChoose: (position: number) => void;
}

/** Where to look first: the slowest of the shown requests. */
export function Slowest({ requests, shown, onChoose }: SlowestProps): JSX.Element {
  const lists = useMemo(
    () => LISTS.map(([title, key]) => ({ title, key, positions: largest(requests, key, shown, EACH) })),
    [requests, shown],
  );
  return (
    <div class="wl-slowest">
      <p class="wl-note">
        Click a point, a bar or a row to see one request. By keyboard: walk through a plot with the arrow keys, then
        press Enter.
      </p>
      {lists
        .filter(({ positions }) => positions.length > 0)
        .map(({ title, key, positions }) => (
          <section key={key} aria-label={title}>
            <h3>{title}</h3>
            <ol>
              {positions.map((position) => {
                const request = requests[position];
                if (request === undefined) return null;
                const share = (request[key] ?? 0) / Math.max(1, requests[positions[0] ?? 0]?.[key] ?? 1);
                return (
                  <li key={position}>
                    <button
                      type="button"
                      onClick={() => {
                        onChoose(position);
                      }}
                    >
                      <span class="wl-slowest-name">{`#${request.index}`}</span>
                      <span class="wl-slowest-bar" aria-hidden="true">
                        <span style={{ width: `${(share * 100).toFixed(2)}%` }} />
                      </span>
                      <span>{ns(request[key])}</span>
                    </button>
                  </li>
                );
              })}
            </ol>
          </section>
        ))}
    </div>
  );
}
