import type { JSX } from 'preact';
import { useAnalysis } from '../state/answers';
import { pids, PID_PARAM, ranks } from '../state/parts';
import { param, select, selection, setParam, source, strayTab, tab } from '../state/state';
import { NameText } from '../ui/name_text';
import { TAB_TITLES } from './tab_list';

/** Something that the address names and what is open does not have. */
interface Fault {
  readonly text: string;
  readonly forget: () => void;
}

function rangeText(numbers: readonly number[]): string {
  const [first, last] = [numbers[0] ?? 0, numbers[numbers.length - 1] ?? 0];
  const isRow = numbers.every((number, i) => number === first + i);
  return numbers.length > 2 && isRow ? `${first} to ${last}` : numbers.slice(0, 20).join(', ');
}

function tabFault(): Fault | null {
  const name = strayTab.value;
  if (name === null) return null;
  return {
    text: `There is no tab “${name}”; this is ${TAB_TITLES[tab.value]}.`,
    forget: () => {
      strayTab.value = null;
    },
  };
}

function rankFault(): Fault | null {
  const chosen = selection.value.rank;
  if (chosen === null || source.value === null || ranks.value.includes(chosen) || ranks.value.length === 0) return null;
  return {
    text: `There is no rank ${chosen}; there are ${rangeText(ranks.value)}.`,
    forget: () => {
      select({ rank: null });
    },
  };
}

function pidFault(): Fault | null {
  const chosen = param(PID_PARAM);
  if (chosen === null || pids.value.length === 0 || pids.value.includes(chosen)) return null;
  return {
    text: `There is no process ${chosen}; there are ${pids.value.join(', ')}.`,
    forget: () => {
      setParam(PID_PARAM, null);
    },
  };
}

function usePassFault(): Fault | null {
  const { pass } = selection.value;
  const hasPasses = source.value?.index.analyses.includes('passes') ?? false;
  const loaded = useAnalysis('passes', pass !== null && hasPasses ? {} : null);
  if (pass === null || loaded.state !== 'ready') return null;
  const known = (loaded.value.data.passes ?? []).map(({ index }) => index);
  if (known.includes(pass)) return null;
  return {
    text: known.length === 0 ? `There is no pass ${pass}: no passes were found.` : `There is no pass ${pass}; there are passes ${rangeText(known)}.`,
    forget: () => {
      select({ pass: null });
    },
  };
}

/** Says what of the address does not exist: a link from another trace, or one that was typed. */
export function AddressNotice(): JSX.Element | null {
  const ofPass = usePassFault();
  const faults = [tabFault(), rankFault(), pidFault(), ofPass].filter((fault) => fault !== null);
  if (faults.length === 0 || source.value === null) return null;
  return (
    <div class="notice" role="alert">
      <NameText text={`The address names what is not here. ${faults.map(({ text }) => text).join(' ')}`} limit={600} tip={false} class="wrap" />
      <button
        type="button"
        class="button small"
        onClick={() => {
          for (const fault of faults) fault.forget();
        }}
      >
        Dismiss
      </button>
    </div>
  );
}
