import type { JSX } from 'preact';
import { count } from '../ui/format';
import type { Shape, View } from './derived';
import { Legend } from './legend';
import type { Workload } from './model';
import { isEmpty, type Ranges } from './selection';
import { RangeFields, SelectionBar } from './selection_bar';
import { inputFilter, setInputFilter, setRanges } from './workload_state';

export interface FilterBarProps {
  readonly shape: Shape;
  readonly view: View;
  readonly total: number;
  readonly ranges: Ranges;
  readonly workload: Workload;
}

function stateText(view: View, total: number): string {
  const shown = view.shownCount === total ? `${count(total)} requests` : `${count(view.shownCount)} of ${count(total)} requests`;
  return view.selected === null ? shown : `${count(view.selectedCount)} selected of ${shown}`;
}

/** What is shown (filter), what is selected (ranges), and what the colours mean. */
export function FilterBar({ shape, view, total, ranges, workload }: FilterBarProps): JSX.Element {
  const none = isEmpty(ranges);
  return (
    <section class="panel wl-area-filter" aria-label="Filter and selection">
      <div class="wl-filter-row">
        <span class="wl-filter-name">Show</span>
        <RangeFields
          label="Input tokens shown"
          short="Input tokens"
          unit="tokens"
          range={inputFilter()}
          limits={shape.limits.input}
          onRange={setInputFilter}
        />
        <Legend counts={shape.counts} threshold_ns={workload.queue_threshold_ns} of={workload.threshold_of} />
        <span class="wl-grow" />
        <span class="wl-note" role="status" data-testid="selection-state">
          {stateText(view, total)}
        </span>
      </div>
      <div class="wl-filter-row">
        <span class="wl-filter-name">Select</span>
        <SelectionBar ranges={ranges} limits={shape.limits} onRanges={setRanges} />
        <button
          type="button"
          class="button small"
          title="Escape does the same"
          disabled={none}
          onClick={() => {
            setRanges({});
          }}
        >
          Clear
        </button>
      </div>
    </section>
  );
}
