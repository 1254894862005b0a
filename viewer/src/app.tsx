import { effect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ArchitectureTab } from './architecture/architecture_tab';
import { DropZone } from './frame/drop_zone';
import { AddressNotice } from './frame/address_notice';
import { Badges } from './frame/badges';
import { Header } from './frame/header';
import { StartPage } from './frame/start_page';
import { TAB_TITLES, TabList, panelId } from './frame/tab_list';
import { ProfilerTab } from './profiler/profiler_tab';
import { TABS, type TabName, shownTheme, source, sourceError, systemIsDark, tab } from './state/state';
import { TimelineStrip } from './timeline/timeline_strip';
import { Boundary } from './ui/boundary';
import { NameText } from './ui/name_text';
import { ErrorState, Loading } from './ui/states';
import { TooltipLayer } from './ui/tooltip';
import { WorkloadTab } from './workload/workload_tab';

const CONTENT: Readonly<Record<TabName, () => JSX.Element>> = {
  workload: WorkloadTab,
  profiler: ProfilerTab,
  architecture: ArchitectureTab,
};

/** Puts the theme on the root; "auto" follows the system as it changes. */
export function followTheme(): void {
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  systemIsDark.value = system.matches;
  system.addEventListener('change', () => {
    systemIsDark.value = system.matches;
  });
  effect(() => {
    document.documentElement.dataset.theme = shownTheme.value;
  });
}

/** What went wrong while something stays open; else the whole page says it. */
function Notice(): JSX.Element | null {
  const error = sourceError.value;
  if (error === null || source.value === null) return null;
  return (
    <div class="notice" role="alert">
      <NameText text={`${error.message} ${error.hint}`} limit={600} tip={false} class="wrap" />
      <button
        type="button"
        class="button small"
        onClick={() => {
          sourceError.value = null;
        }}
      >
        Dismiss
      </button>
    </div>
  );
}

/** A tab is made when it is first opened and kept, so that coming back costs nothing and keeps its scroll. */
function Panels(): JSX.Element {
  const [opened, setOpened] = useState<ReadonlySet<TabName>>(new Set());
  const current = tab.value;
  useEffect(() => {
    setOpened((before) => (before.has(current) ? before : new Set([...before, current])));
  }, [current]);
  return (
    <>
      {TABS.map((name) => {
        const Content = CONTENT[name];
        return (
          <div
            key={name}
            id={panelId(name)}
            class="main"
            role="tabpanel"
            aria-label={TAB_TITLES[name]}
            hidden={name !== current}
            tabIndex={-1}
          >
            {(name === current || opened.has(name)) && (
              <Boundary what={`The tab ${TAB_TITLES[name]}`}>
                <Content />
              </Boundary>
            )}
          </div>
        );
      })}
    </>
  );
}

function Nothing({ opening }: { opening: boolean }): JSX.Element {
  const error = sourceError.value;
  return (
    <div class="main" role="main">
      {error !== null && <ErrorState error={error} />}
      {error === null && opening ? <Loading label="Opening…" /> : <StartPage />}
    </div>
  );
}

export function App({ opening }: { opening: Promise<void> }): JSX.Element {
  const [pending, setPending] = useState(true);
  useEffect(() => {
    void opening.then(() => {
      setPending(false);
    });
  }, [opening]);
  const from = source.value;
  return (
    <div class="app">
      <Header />
      {from === null ? (
        <Nothing opening={pending} />
      ) : (
        <>
          <div class="tabs">
            <TabList />
            <Badges />
          </div>
          <main class="panels">
            <Notice />
            <AddressNotice />
            <Panels />
          </main>
          {from.index.analyses.includes('timeline') && (
            <section class="strip" aria-label="Timeline">
              <Boundary what="The timeline">
                <TimelineStrip />
              </Boundary>
            </section>
          )}
        </>
      )}
      <DropZone />
      <TooltipLayer />
    </div>
  );
}
