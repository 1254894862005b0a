import type { ComponentChildren, JSX } from 'preact';

export interface PanelProps {
  readonly title: string;
  /** Its place in the grid of the tab. */
  readonly area: string;
  /** Stands right of the title. */
  readonly beside?: ComponentChildren;
  /** Stands at the right end of the title. */
  readonly tools?: ComponentChildren;
  /** The content reaches the edges. */
  readonly flush?: boolean;
  readonly children: ComponentChildren;
}

/** A titled box of the tab. */
export function Panel({ title, area, beside, tools, flush = false, children }: PanelProps): JSX.Element {
  return (
    <section class={`panel wl-area-${area}`} aria-label={title} data-panel={area}>
      <header class="panel-head">
        <h2>{title}</h2>
        {beside}
        <div class="tools">{tools}</div>
      </header>
      <div class={flush ? 'panel-body flush' : 'panel-body'}>{children}</div>
    </section>
  );
}
