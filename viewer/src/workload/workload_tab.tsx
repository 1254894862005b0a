import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { useDocument } from '../state/answers';
import { EmptyState, WhenLoaded } from '../ui/states';
import { readWorkload } from './model';
import { WorkloadPage } from './workload_page';

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
      {(value) => <Checked value={value} />}
    </WhenLoaded>
  );
}

function Checked({ value }: { readonly value: unknown }): JSX.Element {
  const workload = useMemo(() => readWorkload(value), [value]);
  if (workload === null) {
    return (
      <EmptyState title="This is no workload_data.json" kind="error" command="layerscope workload --bench result.json -o workload_data.json">
        Its key “schema” does not begin with “layerscope/workload/”.
      </EmptyState>
    );
  }
  return <WorkloadPage workload={workload} />;
}
