import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { scaleLinear } from 'd3-scale';
import { ns, timeAxis } from '../ui/format';
import { AxisLeft } from '../ui/axis';
import { hideTip, showTip } from '../ui/tooltip';
import { useSize } from '../ui/use_size';
import { visibleText } from '../ui/visible_text';
import type { RailRow } from './layer_rail';
import type { ArchModel, Layer } from './model';
import type { Spread } from './statistics';
import { differenceText } from './statistics';
import { typeColor } from './type_chip';

const HEIGHT = 260;
const LEFT = 58;
const BOTTOM = 26;
const TOP = 12;

interface ChartProps {
  readonly model: ArchModel;
  readonly rows: readonly RailRow[];
  readonly spread: Spread;
  readonly chosen: Layer | null;
  readonly onChoose: (layer: Layer) => void;
}

/** All bars of a layer type as one path: twenty thousand cost as much as ten. */
function barPath(rows: readonly RailRow[], type: string, x: (at: number) => number, width: number, y: (ns: number) => number, base: number): string {
  let path = '';
  rows.forEach((row, at) => {
    if (row.layer.type !== type || row.ns === null) return;
    const top = Math.min(y(row.ns), base - 1);
    path += `M${x(at).toFixed(1)} ${base}V${top.toFixed(1)}h${width.toFixed(1)}V${base}z`;
  });
  return path;
}

/** One bar a layer, the mean as a line. */
export function StepChart({ model, rows, spread, chosen, onChoose }: ChartProps): JSX.Element {
  const { ref, width: box } = useSize<HTMLDivElement>();
  const [over, setOver] = useState<number | null>(null);
  const width = Math.max(320, box);
  const base = HEIGHT - BOTTOM;
  const band = (width - LEFT - 10) / Math.max(1, rows.length);
  const gap = band > 5 ? Math.min(4, band * 0.22) : 0;
  const y = scaleLinear([0, spread.maxNs * 1.05 || 1], [base, TOP]);
  const x = (at: number): number => LEFT + at * band + gap / 2;
  const axis = timeAxis(spread.maxNs);
  const paths = useMemo(
    () =>
      [...new Set(rows.map((row) => row.layer.type))].map((type) => ({
        type,
        d: barPath(rows, type, x, Math.max(0.6, band - gap), y, base),
      })),
    [rows, width, spread],
  );
  const atPointer = (event: { clientX: number; currentTarget: SVGSVGElement }): number | null => {
    const at = Math.floor((event.clientX - event.currentTarget.getBoundingClientRect().left - LEFT) / band);
    return at >= 0 && at < rows.length ? at : null;
  };
  const labelEvery = Math.max(1, Math.ceil(30 / band));
  const marked = chosen === null ? -1 : rows.findIndex((row) => row.layer.index === chosen.index);
  return (
    <div class="arch-chart" ref={ref}>
      <svg
        width={width}
        height={HEIGHT}
        role="img"
        aria-label={`Bars of ${rows.length} layers, from ${ns(spread.minNs)} to ${ns(spread.maxNs)}; the table below has each value`}
        onPointerMove={(event) => {
          const at = atPointer(event);
          setOver(at);
          const row = at === null ? undefined : rows[at];
          if (at === null || row === undefined) {
            hideTip();
            return;
          }
          const left = event.currentTarget.getBoundingClientRect().left + x(at);
          const top = event.currentTarget.getBoundingClientRect().top + y(row.ns ?? 0);
          showTip(
            { left, right: left + band, top, bottom: top + 14 },
            {
              title: `Layer ${row.layer.index}`,
              rows: [
                ['type', visibleText(row.layer.type)],
                ['time', ns(row.ns)],
                ['against the mean', differenceText(row.ns, spread.avgNs)],
              ],
            },
          );
        }}
        onPointerLeave={() => {
          setOver(null);
          hideTip();
        }}
        onClick={(event) => {
          const at = atPointer(event);
          const row = at === null ? undefined : rows[at];
          if (row !== undefined) onChoose(row.layer);
        }}
      >
        <AxisLeft scale={y} at={LEFT} format={axis.tick} label={axis.unit} grid={width - LEFT - 10} />
        {over !== null && <rect class="arch-chart-over" x={LEFT + over * band} width={band} y={TOP} height={base - TOP} />}
        {paths.map(({ type, d }) => (
          <path key={type} d={d} fill={typeColor(model, type)} />
        ))}
        {marked >= 0 && <rect class="arch-chart-chosen" x={x(marked) - 1} width={band - gap + 2} y={TOP} height={base - TOP} />}
        <line class="arch-chart-mean" x1={LEFT} x2={width - 10} y1={y(spread.avgNs)} y2={y(spread.avgNs)} />
        <text class="arch-chart-mean-text" x={width - 12} y={y(spread.avgNs) - 5} text-anchor="end">
          mean {ns(spread.avgNs)}
        </text>
        {rows.map((row, at) =>
          at % labelEvery === 0 ? (
            <text key={row.layer.index} x={x(at) + (band - gap) / 2} y={base + 15} text-anchor="middle">
              {row.layer.index}
            </text>
          ) : null,
        )}
      </svg>
    </div>
  );
}
