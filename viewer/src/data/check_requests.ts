import { type RawObject, asObject } from './raw';

/** Why a per_request_profiles.json cannot be shown: "nodes[3].path is no text"; null: it can. */
type Fault = string | null;

type Check = (value: unknown) => string | null;

const isNumber: Check = (value) => (typeof value === 'number' && Number.isFinite(value) ? null : 'is no number');
const isText: Check = (value) => (typeof value === 'string' ? null : 'is no text');
const isObject: Check = (value) => (asObject(value) === null ? 'is no object' : null);

function orNull(check: Check): Check {
  return (value) => (value === null || value === undefined ? null : check(value));
}

/** A value a request, each of the kind or null. */
function perRequest(n: number, check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return 'is no list';
    if (value.length !== n) return `has ${value.length} values for ${n} requests`;
    return (value as unknown[]).map(orNull(check)).find((fault) => fault !== null) === undefined ? null : 'holds another kind of value';
  };
}

type Shape = Readonly<Record<string, Check>>;

const REQUEST: Shape = {
  index: isNumber,
  file: isText,
  label: orNull(isText),
  percentile: orNull(isNumber),
  prompt_tokens: orNull(isNumber),
  output_tokens: orNull(isNumber),
  latency_ns: orNull(isNumber),
  gpu_ns: isNumber,
  cpu_ns: isNumber,
  wall_ns: isNumber,
  phases: orNull(isObject),
};

function nodeShape(n: number): Shape {
  return {
    id: isNumber,
    parent: orNull(isNumber),
    path: isText,
    class: orNull(isText),
    calls: perRequest(n, isNumber),
    gpu_ns: perRequest(n, isNumber),
    gpu_self_ns: perRequest(n, isNumber),
    cpu_ns: perRequest(n, isNumber),
    kernels: perRequest(n, isNumber),
    evidence: perRequest(n, isObject),
  };
}

function layerShape(n: number): Shape {
  return {
    index: isNumber,
    type: orNull(isText),
    path: orNull(isText),
    gpu_ns: perRequest(n, isNumber),
    cpu_ns: perRequest(n, isNumber),
  };
}

function faultIn(list: readonly unknown[], name: string, shape: Shape): Fault {
  for (const [at, item] of list.entries()) {
    const fields = asObject(item);
    if (fields === null) return `${name}[${at}] is no object`;
    for (const [key, check] of Object.entries(shape)) {
      const fault = check(fields[key]);
      if (fault !== null) return `${name}[${at}].${key} ${fault}`;
    }
  }
  return null;
}

/** The first key that the views could not use. */
export function requestsFault(document: RawObject): Fault {
  const lists = ['requests', 'nodes', 'layers'] as const;
  for (const name of lists) if (!Array.isArray(document[name])) return `${name} is no list`;
  const { requests, nodes, layers } = document as { requests: unknown[]; nodes: unknown[]; layers: unknown[] };
  const n = requests.length;
  const order = requests.findIndex((request, at) => asObject(request)?.index !== at);
  return (
    faultIn(requests, 'requests', REQUEST) ??
    (order < 0 ? null : `requests[${order}].index is not ${order}`) ??
    faultIn(nodes, 'nodes', nodeShape(n)) ??
    faultIn(layers, 'layers', layerShape(n))
  );
}
