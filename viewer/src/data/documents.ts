import type { ModelExecution } from './model_execution';
import type { PerRequestProfiles } from './per_request_profiles';
import type { SourceError } from './source';
import type { WorkloadData } from './workload_data';

export type { ModelExecution, PerRequestProfiles, WorkloadData };

/** The documents that the app opens, by the verb that writes each. */
export interface Documents {
  readonly map: ModelExecution;
  readonly requests: PerRequestProfiles;
  readonly workload: WorkloadData;
}

export type DocumentName = keyof Documents;

/** The name of the file that the verb writes. */
export const DOCUMENT_FILES: Readonly<Record<DocumentName, string>> = {
  map: 'model_execution.json',
  requests: 'per_request_profiles.json',
  workload: 'workload_data.json',
};

export type RecognisedDocument =
  | { readonly [N in DocumentName]: { readonly name: N; readonly value: Documents[N] } }[DocumentName]
  | { readonly name: null; readonly error: SourceError };

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isModelExecution(value: Fields): boolean {
  const tree = value.module_tree;
  return isFields(tree) && typeof tree.class === 'string' && Array.isArray(tree.children);
}

function isPerRequestProfiles(value: Fields): boolean {
  return (
    typeof value.schema === 'string' &&
    value.schema.startsWith('layerscope/per_request_profiles/') &&
    Array.isArray(value.requests) &&
    Array.isArray(value.nodes) &&
    Array.isArray(value.layers)
  );
}

function isWorkloadData(value: Fields): boolean {
  return (
    typeof value.schema === 'string' &&
    value.schema.startsWith('layerscope/workload/') &&
    Array.isArray(value.requests) &&
    // Null where there is no benchmark, only the server's metrics.
    (isFields(value.summary) || value.summary === null)
  );
}

function unknownDocument(what: string, hint: string): RecognisedDocument {
  return {
    name: null,
    error: { code: 'unknown_document', message: what, hint },
  };
}

const OPENED = `This page opens ${Object.values(DOCUMENT_FILES).join(', ')}.`;

/** Says what was given instead, where its content tells. */
function refuse(value: unknown): RecognisedDocument {
  if (isFields(value) && 'traceEvents' in value) {
    return unknownDocument('This is a trace.', 'Open it with: layerscope view TRACE');
  }
  if (isFields(value) && typeof value.command === 'string') {
    return unknownDocument(
      `This is the output of layerscope ${value.command}.`,
      'Open the trace itself with: layerscope view TRACE',
    );
  }
  if (isFields(value) && typeof value.schema === 'string' && value.schema.startsWith('layerscope/requests/')) {
    return unknownDocument(
      'This is request_metadata.json, which names traces.',
      'layerscope requests DIR -o per_request_profiles.json makes what this page opens.',
    );
  }
  if (isFields(value) && ('architectures' in value || 'model_type' in value)) {
    return unknownDocument(
      'This is the config of a model.',
      'Give it beside a trace: layerscope view TRACE --config config.json',
    );
  }
  if (isFields(value) && ('request_throughput' in value || 'completed' in value)) {
    return unknownDocument(
      'This is the result of a benchmark.',
      'layerscope workload --bench FILE -o workload_data.json makes what this page opens.',
    );
  }
  return unknownDocument('This is no document of layerscope.', OPENED);
}

/** Which document a parsed file is, by its content; its name does not matter. */
export function recogniseDocument(value: unknown): RecognisedDocument {
  if (isFields(value)) {
    // The checks above look at what the readers rely on; everything below is read with care.
    if (isModelExecution(value)) return { name: 'map', value: value as unknown as ModelExecution };
    if (isPerRequestProfiles(value)) {
      return { name: 'requests', value: value as unknown as PerRequestProfiles };
    }
    if (isWorkloadData(value)) return { name: 'workload', value: value as unknown as WorkloadData };
  }
  return refuse(value);
}

/** The same for the text of a file. */
export function recogniseText(text: string): RecognisedDocument {
  try {
    return recogniseDocument(JSON.parse(text));
  } catch (cause) {
    return unknownDocument(`This is no JSON: ${cause instanceof Error ? cause.message : String(cause)}`, OPENED);
  }
}
