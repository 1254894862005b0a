import { useMemo, useRef, useState } from 'preact/hooks';
import type { AnalysisPart, ModulesData } from '../data/analyses';
import { sliceKey } from '../data/source';
import { type Loaded, askAnalysis, useAnalysis } from '../state/answers';
import { partOptions } from '../state/parts';
import { source } from '../state/state';
import { count, ns } from '../ui/format';
import { visibleText } from '../ui/visible_text';
import { type ModuleList, fromModules } from './from_modules';
import type { ComparedColumn, FlatModule, TreeNode } from './module_tree';
import { type Typical, threePasses } from './three_passes';

/** A tree of up to this many modules is asked for whole: about 2 MB of JSON. */
const WHOLE_TREE = 2400;
/** Of a larger one the levels down to here; one more where these hold hardly anything. */
const FIRST_DEPTH = 2;
const HARDLY_ANY = 12;
/** Levels that are asked for when a module is opened. */
const NEXT_LEVELS = 2;

export interface TraceTree {
  readonly modules: readonly FlatModule[];
  readonly columns: readonly ComparedColumn[];
  readonly part: AnalysisPart<'modules'>;
  /** Modules that were not opened are not here, and not searched. */
  readonly isCut: boolean;
  /** Loads what is below a module that was cut off. */
  readonly loadBelow: (node: TreeNode) => void;
}

type ModulesAnswer = Loaded<AnalysisPart<'modules'>>;

function sizeOf(data: ModulesData): number {
  return (data.nodes?.length ?? 0) + (data.not_listed?.modules ?? 0);
}

interface FirstTree {
  readonly answer: ModulesAnswer;
  /** Depth to which modules are listed; null: all are. Not known before the first answer. */
  readonly depth: number | null | undefined;
}

/** The tree as far as it can be shown at once: whole when it is small, else its first levels. */
function useFirstTree(): FirstTree {
  const live = source.value?.index.live ?? false;
  const first = useAnalysis('modules', live ? { depth: FIRST_DEPTH } : {});
  const data = first.state === 'ready' ? first.value.data : null;
  const cut = live && (data?.not_listed?.modules ?? 0) > 0;
  const isSmall = data !== null && sizeOf(data) <= WHOLE_TREE;
  const isThin = !isSmall && (data?.nodes ?? []).length <= HARDLY_ANY;
  const whole = useAnalysis('modules', cut && isSmall ? {} : null);
  const deeper = useAnalysis('modules', cut && isThin ? { depth: FIRST_DEPTH + 1 } : null);
  if (data === null) return { answer: first, depth: undefined };
  if (!cut) return { answer: first, depth: null };
  if (isSmall) return { answer: whole.state === 'ready' ? whole : first, depth: null };
  if (isThin) return { answer: deeper.state === 'ready' ? deeper : first, depth: FIRST_DEPTH + 1 };
  return { answer: first, depth: FIRST_DEPTH };
}

/** The passes that get columns; empty until they are known. */
export function useTypical(): readonly Typical[] {
  const passes = useAnalysis('passes');
  const found = passes.state === 'ready' ? (passes.value.data.passes ?? []) : [];
  const none = passes.state === 'error' || (passes.state === 'ready' && !found.some((pass) => pass.complete && pass.wall_ns !== null));
  const steps = useAnalysis('steps', none ? {} : null);
  const known = steps.state === 'ready' ? (steps.value.data.steps ?? []) : [];
  return useMemo(() => threePasses(found, known), [passes, steps]);
}

type PassOption = { readonly pass: number } | { readonly step: number };

function optionOf(typical: Typical): PassOption {
  return typical.kind === 'pass' ? { pass: typical.index } : { step: typical.index };
}

function usePassTree(typical: Typical | undefined, depth: FirstTree['depth']): ModulesAnswer {
  const chosen = typical === undefined || depth === undefined ? null : optionOf(typical);
  return useAnalysis('modules', chosen === null || depth === null ? chosen : { depth: depth ?? FIRST_DEPTH, ...chosen });
}

function columnOf(typical: Typical, answer: ModulesAnswer): ComparedColumn {
  const what = typical.kind === 'pass' ? 'pass' : 'step';
  return {
    key: `${what}${typical.index}`,
    title: typical.labels.length === 3 ? `Only ${what}` : typical.labels.join(' = '),
    subtitle: `${what} ${typical.index} · ${ns(typical.wall_ns)}`,
    about: [
      [what, count(typical.index)],
      ['phase', visibleText(typical.phase)],
      ['wall', ns(typical.wall_ns)],
      ['chosen as', 'at 10, 50 or 90 % of its kind by wall time'],
    ],
    selects: typical.kind === 'pass' ? { pass: typical.index } : {},
    total: answer.state === 'ready' ? (answer.value.data.total?.gpu_ns ?? null) : null,
  };
}

/** What is below a module, of the run and of each compared pass. */
async function askBelow(node: TreeNode, typical: readonly Typical[]): Promise<ModuleList | null> {
  const options = { root: node.path, depth: node.modelDepth + NEXT_LEVELS };
  const [run, ...passes] = await Promise.all([
    askAnalysis('modules', options),
    ...typical.map((one) => askAnalysis('modules', { ...options, ...optionOf(one) })),
  ]);
  if (!run.ok) return null;
  return { run: run.value.data, compared: passes.map((pass) => (pass.ok ? pass.value.data : null)) };
}

/** Lists below opened modules, in the order in which they came. */
function useSubtrees(typical: readonly Typical[]): { subtrees: readonly ModuleList[]; load: (node: TreeNode) => void } {
  const home = sliceKey(source.value?.index.title ?? '', partOptions.value);
  const asked = useRef(new Set<string>());
  const [kept, keep] = useState<{ home: string; lists: readonly ModuleList[] }>({ home, lists: [] });
  const load = (node: TreeNode): void => {
    const key = `${home} ${node.key}`;
    if (asked.current.has(key)) return;
    asked.current.add(key);
    void askBelow(node, typical).then((list) => {
      if (list === null) asked.current.delete(key);
      else keep((before) => ({ home, lists: [...(before.home === home ? before.lists : []), list] }));
    });
  };
  return { subtrees: kept.home === home ? kept.lists : [], load };
}

/** The module tree of the trace, with a column each for the fast, the typical and the slow pass. */
export function useTraceTree(): Loaded<TraceTree> {
  const { answer, depth } = useFirstTree();
  const typical = useTypical();
  const passes = [usePassTree(typical[0], depth), usePassTree(typical[1], depth), usePassTree(typical[2], depth)];
  const { subtrees, load } = useSubtrees(typical);
  const shown = passes.slice(0, typical.length);
  const isCut = typeof depth === 'number';
  const modules = useMemo(() => {
    if (answer.state !== 'ready') return [];
    const compared = shown.map((pass) => (pass.state === 'ready' ? pass.value.data : null));
    return fromModules([{ run: answer.value.data, compared }, ...(isCut ? subtrees : [])], isCut);
  }, [answer, isCut, subtrees, ...passes, typical]);
  const columns = useMemo(
    () =>
      shown.flatMap((pass, i) => {
        const one = typical[i];
        return one === undefined ? [] : [columnOf(one, pass)];
      }),
    [typical, ...passes],
  );
  if (answer.state !== 'ready') return answer;
  return { state: 'ready', value: { modules, columns, part: answer.value, isCut, loadBelow: load } };
}
