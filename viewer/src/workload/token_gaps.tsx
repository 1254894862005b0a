import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { useSize } from '../ui/use_size';
import { count, ns } from '../ui/format';

const HEIGHT_PX = 84;

/** The largest gap of each pixel: with many tokens no stall is lost. */
export function gapColumns(gaps: readonly number[], columns: number): number[] {
  if (gaps.length <= columns) return [...gaps];
  const out = new Array<number>(columns).fill(0);
  gaps.forEach((gap, i) => {
    const column = Math.min(columns - 1, Math.floor((i / gaps.length) * columns));
    out[column] = Math.max(out[column] ?? 0, gap);
  });
  return out;
}

/** Times between tokens of one request, a bar each in the order of the tokens. */
export function TokenGaps({ gaps }: { readonly gaps: readonly number[] }): JSX.Element {
  const { ref, width } = useSize<HTMLDivElement>();
  const columns = useMemo(() => gapColumns(gaps, Math.max(1, Math.floor(width / 2))), [gaps, width]);
  const most = columns.reduce((a, b) => Math.max(a, b), 0);
  const step = width / Math.max(1, columns.length);
  const label = `${count(gaps.length)} times between tokens, at most ${ns(most)}`;
  return (
    <div ref={ref} class="wl-gaps">
      {gaps.length === 0 ? (
        <p class="wl-note">No times between tokens were recorded for this request.</p>
      ) : (
        <>
          <p class="wl-gaps-label">
            <span>Time between tokens</span>
            <span>{`${count(gaps.length)} values · longest ${ns(most)}`}</span>
          </p>
          <svg width={width} height={HEIGHT_PX} role="img" aria-label={label}>
            {most > 0 &&
              columns.map((gap, i) => {
                const height = Math.max(1, (gap / most) * (HEIGHT_PX - 2));
                return (
                  <rect
                    key={i}
                    class="wl-gap"
                    x={i * step}
                    y={HEIGHT_PX - height}
                    width={Math.max(1, step - (step > 4 ? 1 : 0))}
                    height={height}
                  >
                    <title>{ns(gap)}</title>
                  </rect>
                );
              })}
          </svg>
        </>
      )}
    </div>
  );
}
