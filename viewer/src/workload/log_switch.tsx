import type { JSX } from 'preact';
import { logScale, setLogScale } from './workload_state';

/** For all plots of the tab. */
export function LogSwitch(): JSX.Element {
  return (
    <label class="wl-check">
      <input
        type="checkbox"
        checked={logScale()}
        onChange={(event) => {
          setLogScale(event.currentTarget.checked);
        }}
      />
      Log scales
    </label>
  );
}
