import { computed, signal } from '@preact/signals';
import type { DataSource, SourceError } from '../data/source';

export const TABS = ['workload', 'profiler', 'architecture'] as const;
export type TabName = (typeof TABS)[number];

/** What is looked at. Every tab follows it, the address holds it. Null: nothing chosen. */
export interface Selection {
  /** Path of a module, as `modules` and `map` print it. */
  readonly module: string | null;
  /** Index of a layer in the model. */
  readonly layer: number | null;
  /** Index of a pass, as `passes` prints it. */
  readonly pass: number | null;
  /** Index of a request, in per_request_profiles.json or workload_data.json. */
  readonly request: number | null;
  /** Null: the first rank there is. */
  readonly rank: number | null;
}

export const NOTHING_SELECTED: Selection = {
  module: null,
  layer: null,
  pass: null,
  request: null,
  rank: null,
};

export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** Null: nothing is open; the page asks for a document. */
export const source = signal<DataSource | null>(null);
/** Why nothing could be opened, or what was wrong with a dropped file. */
export const sourceError = signal<SourceError | null>(null);

export const tab = signal<TabName>('profiler');
/** What the address calls a tab, where there is none of that name. */
export const strayTab = signal<string | null>(null);
export const selection = signal<Selection>(NOTHING_SELECTED);
/** State of one view alone (a filter, a sort, an open drill-down), by a name that starts with the view's. */
export const params = signal<Readonly<Record<string, string>>>({});
export const theme = signal<Theme>('auto');

/** What the system prefers; followed by the frame. */
export const systemIsDark = signal(false);
/** The theme on screen. Plots drawn on a canvas read it, to draw again when it changes. */
export const shownTheme = computed<'light' | 'dark'>(() =>
  theme.value === 'auto' ? (systemIsDark.value ? 'dark' : 'light') : theme.value,
);

/** Changes a part of the selection; what is not named stays. */
export function select(change: Partial<Selection>): void {
  const next = { ...selection.peek(), ...change };
  const keys = Object.keys(next) as (keyof Selection)[];
  if (keys.some((key) => next[key] !== selection.peek()[key])) selection.value = next;
}

export function openTab(name: TabName): void {
  tab.value = name;
}

/** Sets a view's own state; null takes it out of the address. */
export function setParam(name: string, value: string | null): void {
  if ((params.peek()[name] ?? null) === value) return;
  const others = Object.entries(params.peek()).filter(([key]) => key !== name);
  params.value = Object.fromEntries(value === null ? others : [...others, [name, value]]);
}

/** Reading it in a component (or computed) follows it. */
export function param(name: string): string | null {
  return params.value[name] ?? null;
}
