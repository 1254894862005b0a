/** The tab's own state in the address; the chosen request is the page's. */
import { signal } from '@preact/signals';
import { param, setParam } from '../state/state';
import type { TableSort } from '../ui/table';
import { decodeRanges, encodeRanges, isEmpty, type Range, type Ranges } from './selection';

const FILTER = 'work.filter';
const RANGES = 'work.ranges';
const SORT = 'work.sort';
const ONLY = 'work.only';
const LOG = 'work.log';
const RUN = 'work.run';

export function inputFilter(): Range | undefined {
  return decodeRanges(param(FILTER) ?? '').input;
}

export function setInputFilter(range: Range | null): void {
  setParam(FILTER, range === null ? null : encodeRanges({ input: range }));
}

/** Ranges while a brush is drawn: the address gets them when it is let go. */
const drawn = signal<string | null>(null);

/** As text, so that it can be compared. */
export function rangesText(): string {
  return drawn.value ?? param(RANGES) ?? '';
}

export function setRanges(ranges: Ranges): void {
  drawn.value = null;
  setParam(RANGES, isEmpty(ranges) ? null : encodeRanges(ranges));
}

export function drawRanges(ranges: Ranges): void {
  drawn.value = encodeRanges(ranges);
}

/** The brush is let go. */
export function keepDrawnRanges(): void {
  const text = drawn.peek();
  if (text !== null) setRanges(decodeRanges(text));
}

export function readRanges(text: string): Ranges {
  return decodeRanges(text);
}

/** `-ttft_ns` sorts from the largest down. */
export function tableSort(): TableSort {
  const text = param(SORT) ?? 'index';
  return text.startsWith('-') ? { column: text.slice(1), descending: true } : { column: text, descending: false };
}

export function setTableSort(sort: TableSort): void {
  const text = `${sort.descending ? '-' : ''}${sort.column}`;
  setParam(SORT, text === 'index' ? null : text);
}

export function onlySelected(): boolean {
  return param(ONLY) === '1';
}

export function setOnlySelected(only: boolean): void {
  setParam(ONLY, only ? '1' : null);
}

/** The run of a sweep that the address asks for; null: the document's own. */
export function askedRun(): number | null {
  const text = param(RUN);
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : null;
}

export function askRun(run: number | null): void {
  setParam(RUN, run === null ? null : String(run));
}

export function logScale(): boolean {
  return param(LOG) === '1';
}

export function setLogScale(log: boolean): void {
  setParam(LOG, log ? '1' : null);
}
