/** A run of several ranks is looked at one rank at a time: of several files, or of the processes in one. */
import { computed, signal } from '@preact/signals';
import type { InfoData } from '../data/analyses';
import { type DataSource, type QueryOptions } from '../data/source';
import { param, selection, source } from './state';

export type Process = NonNullable<InfoData['processes']>[number];

/** Processes in the file that is open, as `info` lists them; empty where they are not known. */
export const processes = signal<readonly Process[]>([]);

function rankOfInputs(from: DataSource | null): readonly number[] {
  return (from?.index.inputs ?? []).flatMap((input) => (input.rank === null ? [] : [input.rank]));
}

function distinct(values: readonly number[]): readonly number[] {
  return [...new Set(values)].sort((a, b) => a - b);
}

/** Those that something of the trace ran for; only a server can be asked for one of them. */
const candidates = computed<readonly Process[]>(() =>
  source.value?.index.live === true ? processes.value.filter(({ devices }) => devices.length > 0) : [],
);

/** Ranks of the inputs, else of the processes of the one file, in order; empty where none is known. */
export const ranks = computed<readonly number[]>(() => {
  const ofInputs = distinct(rankOfInputs(source.value));
  if (ofInputs.length > 1) return ofInputs;
  const ofProcesses = distinct(candidates.value.flatMap(({ rank }) => (rank === null ? [] : [rank])));
  return ofProcesses.length > 1 ? ofProcesses : ofInputs;
});

/** Processes by their number, where no ranks tell them apart; else empty. */
export const pids = computed<readonly string[]>(() => {
  if (ranks.value.length > 1) return [];
  const known = candidates.value.flatMap(({ pid }) => (pid === null ? [] : [String(pid)]));
  return known.length > 1 ? [...new Set(known)] : [];
});

/** The rank that is shown: the chosen one, else the first of several; null where there is one. */
export const shownRank = computed<number | null>(() => {
  if (ranks.value.length < 2) return null;
  const chosen = selection.value.rank;
  return chosen !== null && ranks.value.includes(chosen) ? chosen : (ranks.value[0] ?? null);
});

export const PID_PARAM = 'pid';

/** The process that is shown, likewise. */
export const shownPid = computed<string | null>(() => {
  if (pids.value.length < 2) return null;
  const chosen = param(PID_PARAM);
  return chosen !== null && pids.value.includes(chosen) ? chosen : (pids.value[0] ?? null);
});

/** What a server is asked with, so that its answer is of what is shown alone. */
export const partOptions = computed<QueryOptions>(() => ({
  ...(shownRank.value === null ? {} : { rank: shownRank.value }),
  ...(shownPid.value === null ? {} : { pid: shownPid.value }),
}));

/** Asks what is in the file, where ranks of several files do not say it already. */
export async function findProcesses(from: DataSource): Promise<void> {
  processes.value = [];
  const { live, analyses } = from.index;
  if (!live || !analyses.includes('info') || distinct(rankOfInputs(from)).length > 1) return;
  const answer = await from.analysis('info');
  if (answer.ok) processes.value = (answer.value.data as InfoData | null)?.processes ?? [];
}
