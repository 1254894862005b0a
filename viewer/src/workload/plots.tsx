import type { JSX } from 'preact';
import type { Shape, View } from './derived';
import { LogSwitch } from './log_switch';
import type { Workload } from './model';
import type { Palette } from './palette';
import { Panel } from './panel';
import { Scatter, type ScatterAxis } from './scatter';
import { DIMENSIONS, withRanges, type Ranges } from './selection';
import { TimeChart } from './time_chart';
import type { TipRows } from './use_mark_tip';
import { drawRanges, keepDrawnRanges, logScale } from './workload_state';

export interface PlotsProps {
  readonly workload: Workload;
  readonly shape: Shape;
  readonly view: View;
  readonly ranges: Ranges;
  readonly chosen: number | null;
  readonly palette: Palette;
  readonly tips: { readonly title: (position: number) => string; readonly describe: (position: number) => TipRows };
  readonly onChoose: (position: number | null) => void;
}

const PAIRS = [
  { area: 'ttft', title: 'Time to first token by input length', x: 'input', y: 'ttft' },
  { area: 'decode', title: 'Decode time by output length', x: 'output', y: 'decode' },
] as const;

/** Both scatter plots and the requests over time; a drag in any of them selects in all. */
export function Plots(props: PlotsProps): JSX.Element {
  const { workload, shape, view, ranges, chosen, palette, tips, onChoose } = props;
  const axis = (dimension: 'input' | 'ttft' | 'output' | 'decode'): ScatterAxis => ({
    label: DIMENSIONS[dimension].label,
    kind: DIMENSIONS[dimension].unit,
    values: shape.values[dimension],
    range: ranges[dimension],
  });
  return (
    <>
      {PAIRS.map(({ area, title, x, y }) => (
        <Panel key={area} title={title} area={area} tools={<LogSwitch />} flush>
          <Scatter
            name={title}
            x={axis(x)}
            y={axis(y)}
            log={logScale()}
            classes={shape.classes}
            shown={view.shown}
            selected={view.selected}
            chosen={chosen}
            palette={palette}
            title={tips.title}
            describe={tips.describe}
            onBrush={(xs, ys) => {
              drawRanges(withRanges(ranges, { [x]: xs, [y]: ys }));
            }}
            onBrushed={keepDrawnRanges}
            onChoose={onChoose}
          />
        </Panel>
      ))}
      <Panel title="Requests over time" area="time" flush>
        <TimeChart
          requests={workload.requests}
          concurrency={workload.concurrency}
          shown={view.shown}
          selected={view.selected}
          failed={shape.failed}
          chosen={chosen}
          range={ranges.time}
          palette={palette}
          title={tips.title}
          describe={tips.describe}
          onBrush={(time) => {
            drawRanges(withRanges(ranges, { time }));
          }}
          onBrushed={keepDrawnRanges}
          onChoose={onChoose}
        />
      </Panel>
    </>
  );
}
