import { effect } from '@preact/signals';
import {
  NOTHING_SELECTED,
  type Selection,
  TABS,
  THEMES,
  type TabName,
  type Theme,
  params,
  selection,
  strayTab,
  tab,
  theme,
} from './state';

/** Everything that the address holds behind `#`. */
export interface Place {
  readonly tab: TabName;
  readonly selection: Selection;
  readonly theme: Theme;
  readonly params: Readonly<Record<string, string>>;
}

const NUMBERS = ['layer', 'pass', 'request', 'rank'] as const;
const RESERVED = new Set<string>(['tab', 'module', 'theme', ...NUMBERS]);

function indexOf(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** `tab=profiler&module=model.layers.3&layer=3&…`; what is unset is left out. */
export function toHash(place: Place): string {
  const fields = new URLSearchParams({ tab: place.tab });
  if (place.selection.module !== null) fields.set('module', place.selection.module);
  for (const name of NUMBERS) {
    const value = place.selection[name];
    if (value !== null) fields.set(name, String(value));
  }
  if (place.theme !== 'auto') fields.set('theme', place.theme);
  for (const [name, value] of Object.entries(place.params).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!RESERVED.has(name)) fields.set(name, value);
  }
  return `#${fields.toString()}`;
}

/** Reads what it knows and takes nothing else on trust; a strange address gives the start. */
export function fromHash(hash: string): Place {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const own = [...fields].filter(([name]) => !RESERVED.has(name));
  const asked = { layer: null, pass: null, request: null, rank: null } as Record<(typeof NUMBERS)[number], number | null>;
  for (const name of NUMBERS) asked[name] = indexOf(fields.get(name));
  return {
    tab: TABS.find((name) => name === fields.get('tab')) ?? 'profiler',
    selection: { ...NOTHING_SELECTED, ...asked, module: fields.get('module') },
    theme: THEMES.find((name) => name === fields.get('theme')) ?? 'auto',
    params: Object.fromEntries(own),
  };
}

/** True where the address says which tab; else the app chooses by what is open. */
export function namesTab(hash: string): boolean {
  return new URLSearchParams(hash.replace(/^#/, '')).has('tab');
}

/** What stands for a tab in the address, where no tab is called so. */
export function strayTabOf(hash: string): string | null {
  const name = new URLSearchParams(hash.replace(/^#/, '')).get('tab');
  return name === null || TABS.some((known) => known === name) ? null : name;
}

function show(place: Place): void {
  tab.value = place.tab;
  selection.value = place.selection;
  theme.value = place.theme;
  params.value = place.params;
}

/** Params that say where in a drill-down one is. */
const STEP_PARAMS = ['arch.view', 'arch.node'] as const;

/** A step back leads to another tab or selection, not to each character of a filter. */
function isStep(before: Place, after: Place): boolean {
  return (
    before.tab !== after.tab ||
    before.selection.module !== after.selection.module ||
    STEP_PARAMS.some((name) => before.params[name] !== after.params[name])
  );
}

/** Keeps the address and the state equal, both ways. */
export function followAddress(): void {
  show(fromHash(location.hash));
  strayTab.value = strayTabOf(location.hash);
  let shown = fromHash(location.hash);
  window.addEventListener('hashchange', () => {
    shown = fromHash(location.hash);
    strayTab.value = strayTabOf(location.hash);
    show(shown);
  });
  effect(() => {
    const place = { tab: tab.value, selection: selection.value, theme: theme.value, params: params.value };
    const hash = toHash(place);
    if (hash !== toHash(shown) || location.hash === '') {
      if (isStep(shown, place) && location.hash !== '') history.pushState(null, '', hash);
      else history.replaceState(null, '', hash);
    }
    shown = place;
  });
}
