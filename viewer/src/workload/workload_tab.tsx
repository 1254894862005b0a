import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { WorkloadData } from '../data/documents';
import { useDocument } from '../state/answers';
import { EmptyState, Loading, WhenLoaded } from '../ui/states';
import { readWorkload } from './model';
import type { MissingRun } from './runs_panel';
import { WorkloadPage } from './workload_page';
import { askedRun } from './workload_state';

/** The Workload tab: a benchmark's requests and the server's own figures. */
export function WorkloadTab(): JSX.Element {
  const loaded = useDocument('workload');
  if (loaded === null) {
    return (
      <EmptyState
        title="No workload is open"
        command="layerscope workload --bench result.json --prometheus metrics.txt -o workload_data.json"
      >
        Drop a workload_data.json on this page, or start the viewer with a benchmark's result: layerscope view TRACE
        --bench result.json. vLLM writes one with `vllm bench serve --save-result --save-detailed`, SGLang with
        `bench_serving --output-file --output-details`.
      </EmptyState>
    );
  }
  return (
    <WhenLoaded of={loaded} label="Reading the workload…">
      {(value) => <OfRun value={value} />}
    </WhenLoaded>
  );
}

/** The run that the address asks for; where the source cannot make it, the one that is there, and why. */
function OfRun({ value }: { readonly value: WorkloadData }): JSX.Element {
  const asked = askedRun();
  const own = value.run ?? 0;
  const wanted = asked !== null && asked !== own;
  const other = useDocument('workload', wanted, asked === null ? {} : { run: asked });
  if (!wanted || other === null) return <Checked value={value} missing={null} />;
  if (other.state === 'loading') return <Loading label={`Reading run #${asked}…`} />;
  if (other.state === 'error') return <Checked value={value} missing={{ run: asked, why: other.error }} />;
  return <Checked value={other.value} missing={null} />;
}

function Checked({ value, missing }: { readonly value: unknown; readonly missing: MissingRun | null }): JSX.Element {
  const workload = useMemo(() => readWorkload(value), [value]);
  if (workload === null) {
    return (
      <EmptyState title="This is no workload_data.json" kind="error" command="layerscope workload --bench result.json -o workload_data.json">
        Its key “schema” does not begin with “layerscope/workload/”.
      </EmptyState>
    );
  }
  return <WorkloadPage workload={workload} missing={missing} />;
}
