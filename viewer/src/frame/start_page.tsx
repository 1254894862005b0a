import type { JSX } from 'preact';
import { OpenButton } from './drop_zone';

/** Where nothing is open: what can be, and how. */
export function StartPage(): JSX.Element {
  return (
    <div class="start">
      <h2>Nothing is open yet</h2>
      <p>A trace is opened by the program, which reads it and shows this page:</p>
      <div class="command">
        <code>layerscope view TRACE</code>
      </div>
      <div class="drop-here">
        <p>Or drop a document of layerscope here.</p>
        <p>
          <OpenButton label="Open a document…" />
        </p>
      </div>
      <dl>
        <dt>model_execution.json</dt>
        <dd>
          modules, operators, kernels and layers of a run: <code>layerscope map</code>
        </dd>
        <dt>per_request_profiles.json</dt>
        <dd>
          requests beside each other, by module: <code>layerscope requests</code>
        </dd>
        <dt>workload_data.json</dt>
        <dd>
          every request of a benchmark: <code>layerscope workload</code>
        </dd>
      </dl>
    </div>
  );
}
