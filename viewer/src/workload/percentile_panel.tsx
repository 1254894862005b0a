import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { counted } from '../ui/format';
import type { View } from './derived';
import type { Workload } from './model';
import { Panel } from './panel';
import { PercentileTable } from './percentile_table';
import { useSettled } from './use_settled';
import { documentSets, partSet, quantitiesOf } from './percentiles';

/** The figures of the document beside the file's and the server's; with a selection or filter those of its requests. */
export function PercentilePanel({ workload, view }: { readonly workload: Workload; readonly view: View }): JSX.Element {
  const name = view.selected === null ? 'shown' : 'selected';
  const now = view.selected ?? (view.shownCount === workload.requests.length ? null : view.shown);
  const marks = useSettled(now);
  const given = useMemo(() => documentSets(workload), [workload]);
  const part = useMemo(
    () => (marks === null ? [] : [partSet(workload.requests, marks, name)]),
    [workload, marks, name],
  );
  const number = view.selected === null ? view.shownCount : view.selectedCount;
  const compared = given.some((set) => set.deltas.size > 0);
  return (
    <Panel
      title="Percentiles"
      area="percentiles"
      flush
      tools={
        <span class="wl-note">
          {now !== null ? `${counted(number, 'request')} ${name}` : compared ? 'small: first row minus this one' : ''}
        </span>
      }
    >
      <PercentileTable quantities={quantitiesOf(workload.summary)} sets={[...given, ...part]} />
    </Panel>
  );
}
