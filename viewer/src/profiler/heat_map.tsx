import type { JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { shownTheme } from '../state/state';
import { NameText } from '../ui/name_text';
import { type TipContent, hideTip, showTip } from '../ui/tooltip';
import { useSize } from '../ui/use_size';
import { rampOf } from './color_ramp';

export interface HeatRow {
  readonly key: string;
  readonly label: string;
  /** One a column; null: nothing there. */
  readonly values: readonly (number | null)[];
  /** The value of full colour. */
  readonly full: number;
  /** Right of the row: a total. */
  readonly note?: string;
}

interface HeatMapProps {
  readonly label: string;
  readonly rows: readonly HeatRow[];
  readonly columns: number;
  /** Name of what a column is, for its heading. */
  readonly columnTitle: string;
  readonly selectedColumn: number | null;
  readonly selectedRow: string | null;
  readonly tip: (row: HeatRow, column: number) => TipContent;
  readonly onSelect: (row: HeatRow, column: number) => void;
}

const LABEL_WIDTH = 116;
const NOTE_WIDTH = 78;
const HEAD = 18;
const LARGEST_CELL = 26;

interface Cell {
  readonly row: number;
  readonly column: number;
}

interface Geometry {
  readonly width: number;
  readonly cellWidth: number;
  readonly cellHeight: number;
}

function geometryOf(width: number, columns: number, rows: number): Geometry {
  const room = Math.max(40, width - LABEL_WIDTH - NOTE_WIDTH);
  // Many rows are made low, so that a few hundred passes fit on two screens.
  const cellHeight = rows <= 16 ? 18 : rows <= 60 ? 12 : 8;
  return { width: room, cellWidth: Math.min(LARGEST_CELL * 1.6, room / Math.max(1, columns)), cellHeight };
}

function paint(canvas: HTMLCanvasElement, props: HeatMapProps, size: Geometry, active: Cell | null): void {
  const scale = window.devicePixelRatio;
  const height = props.rows.length * size.cellHeight;
  canvas.width = Math.round(size.width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext('2d');
  if (context === null) return;
  const ramp = rampOf(canvas);
  context.scale(scale, scale);
  const gap = size.cellWidth >= 5 ? 1 : 0;
  props.rows.forEach((row, r) => {
    row.values.forEach((value, c) => {
      context.fillStyle = value === null || row.full <= 0 ? ramp.gap : ramp.at(Math.sqrt(value / row.full));
      if (value === null) context.globalAlpha = 0.35;
      context.fillRect(c * size.cellWidth, r * size.cellHeight, size.cellWidth - gap, size.cellHeight - 1);
      context.globalAlpha = 1;
    });
  });
  context.strokeStyle = ramp.mark;
  context.lineWidth = 1.5;
  if (props.selectedColumn !== null && props.selectedColumn < props.columns) {
    context.strokeRect(props.selectedColumn * size.cellWidth - 0.5, 0.75, size.cellWidth, height - 1.5);
  }
  if (active !== null) {
    context.lineWidth = 2;
    context.strokeRect(active.column * size.cellWidth, active.row * size.cellHeight, size.cellWidth - gap, size.cellHeight - 1);
  }
}

function moved(cell: Cell, key: string, rows: number, columns: number): Cell | null {
  const { row, column } = cell;
  const next: Readonly<Record<string, Cell>> = {
    ArrowRight: { row, column: column + 1 },
    ArrowLeft: { row, column: column - 1 },
    ArrowDown: { row: row + 1, column },
    ArrowUp: { row: row - 1, column },
    Home: { row, column: 0 },
    End: { row, column: columns - 1 },
    PageUp: { row: 0, column },
    PageDown: { row: rows - 1, column },
  };
  const to = next[key];
  if (to === undefined) return null;
  return { row: Math.max(0, Math.min(rows - 1, to.row)), column: Math.max(0, Math.min(columns - 1, to.column)) };
}

function spoken(tip: TipContent): string {
  return [tip.title ?? '', ...(tip.rows ?? []).map(([label, value]) => `${label} ${value}`)].join(', ');
}

/** What the colours mean; with the square root small parts stay visible beside large ones. */
export function HeatLegend({ full }: { full: string }): JSX.Element {
  return (
    <span class="heat-legend">
      0
      <span class="heat-ramp" aria-hidden="true" />
      {full}
      <span class="muted">(square-root scale)</span>
    </span>
  );
}

/** Axis numbers below: as many as fit. */
function ColumnHeads({ columns, size, title }: { columns: number; size: Geometry; title: string }): JSX.Element {
  const every = [1, 2, 4, 5, 8, 10, 16, 20, 25, 50, 100].find((step) => step * size.cellWidth >= 26) ?? 200;
  const marks = Array.from({ length: Math.ceil(columns / every) }, (_, i) => i * every);
  return (
    <svg class="heat-heads" width={size.width} height={HEAD} aria-hidden="true">
      {marks.map((column) => (
        <text key={column} x={(column + 0.5) * size.cellWidth} y={12} text-anchor="middle">
          {column}
        </text>
      ))}
      <title>{title}</title>
    </svg>
  );
}

/** Rows by columns, each cell as strong as its value. Arrows walk through it, Enter selects. */
export function HeatMap(props: HeatMapProps): JSX.Element {
  const { ref: box, width } = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [active, setActive] = useState<Cell | null>(null);
  const [focused, setFocused] = useState(false);
  const id = useId();
  const size = geometryOf(width, props.columns, props.rows.length);
  const theme = shownTheme.value;
  useEffect(() => {
    if (canvas.current !== null && width > 0) paint(canvas.current, props, size, focused ? active : null);
  }, [props.rows, props.selectedColumn, width, active, focused, theme]);

  const show = (cell: Cell | null): void => {
    const row = cell === null ? undefined : props.rows[cell.row];
    const frame = canvas.current?.getBoundingClientRect();
    if (cell === null || row === undefined || frame === undefined) return;
    const left = frame.left + cell.column * size.cellWidth;
    const top = frame.top + cell.row * size.cellHeight;
    showTip({ left, top, right: left + size.cellWidth, bottom: top + size.cellHeight }, props.tip(row, cell.column));
  };
  const cellAt = (event: MouseEvent): Cell | null => {
    const frame = canvas.current?.getBoundingClientRect();
    if (frame === undefined) return null;
    const column = Math.floor((event.clientX - frame.left) / size.cellWidth);
    const row = Math.floor((event.clientY - frame.top) / size.cellHeight);
    return column >= 0 && column < props.columns && row >= 0 && row < props.rows.length ? { row, column } : null;
  };
  const choose = (cell: Cell | null): void => {
    const row = cell === null ? undefined : props.rows[cell.row];
    if (cell !== null && row !== undefined) props.onSelect(row, cell.column);
  };
  const current = active ?? { row: 0, column: props.selectedColumn ?? 0 };
  const row = props.rows[current.row];
  return (
    <div class="heat" ref={box}>
      <div class="heat-labels" style={{ width: `${LABEL_WIDTH}px` }}>
        {props.rows.map((one) => (
          <div key={one.key} class={one.key === props.selectedRow ? 'on' : ''} style={{ height: `${size.cellHeight}px` }}>
            {(size.cellHeight >= 12 || one.key === props.selectedRow) && <NameText text={one.label} limit={40} />}
          </div>
        ))}
        <div class="muted">{props.columnTitle}</div>
      </div>
      <div
        class="heat-cells"
        tabIndex={0}
        role="group"
        aria-roledescription="heat map"
        aria-label={props.label}
        aria-describedby={id}
        onFocus={() => {
          setFocused(true);
          setActive(current);
        }}
        onBlur={() => {
          setFocused(false);
          hideTip();
        }}
        onKeyDown={(event) => {
          const next = moved(current, event.key, props.rows.length, props.columns);
          if (next !== null) {
            setActive(next);
            show(next);
          } else if (event.key === 'Enter' || event.key === ' ') {
            choose(current);
          } else {
            return;
          }
          event.preventDefault();
        }}
      >
        <canvas
          ref={canvas}
          style={{ width: `${size.width}px`, height: `${props.rows.length * size.cellHeight}px` }}
          onPointerMove={(event) => {
            show(cellAt(event));
          }}
          onPointerLeave={hideTip}
          onClick={(event) => {
            choose(cellAt(event));
          }}
        />
        <ColumnHeads columns={props.columns} size={size} title={props.columnTitle} />
        <span id={id} class="offscreen" aria-live="polite">
          {focused && row !== undefined ? spoken(props.tip(row, current.column)) : ''}
        </span>
      </div>
      <div class="heat-notes" style={{ width: `${NOTE_WIDTH}px` }}>
        {props.rows.map((one) => (
          <div key={one.key} style={{ height: `${size.cellHeight}px` }}>
            {size.cellHeight >= 12 ? (one.note ?? '') : ''}
          </div>
        ))}
      </div>
    </div>
  );
}
