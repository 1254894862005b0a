import type { JSX } from 'preact';
import { TABS, type TabName, openTab, tab } from '../state/state';

export const TAB_TITLES: Readonly<Record<TabName, string>> = {
  workload: 'Workload',
  profiler: 'Profiler',
  architecture: 'Architecture',
};

export function panelId(name: TabName): string {
  return `panel-${name}`;
}

/** Arrows, Home and End move between tabs. */
export function TabList(): JSX.Element {
  const move = (event: KeyboardEvent): void => {
    const at = TABS.indexOf(tab.value);
    const steps: Readonly<Record<string, number>> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: TABS.length - 1 };
    const step = steps[event.key];
    const next = step === undefined ? undefined : TABS[(step + TABS.length) % TABS.length];
    if (next === undefined) return;
    event.preventDefault();
    openTab(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div role="tablist" aria-label="Views" onKeyDown={move}>
      {TABS.map((name) => (
        <button
          key={name}
          id={`tab-${name}`}
          type="button"
          role="tab"
          aria-selected={tab.value === name}
          aria-controls={panelId(name)}
          tabIndex={tab.value === name ? 0 : -1}
          onClick={() => {
            openTab(name);
          }}
        >
          {TAB_TITLES[name]}
        </button>
      ))}
    </div>
  );
}
