import { requestsFault } from './check_requests';
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

/** What begins the schema of each document that has one, and the version that this page reads. */
const SCHEMAS = { requests: 'layerscope/per_request_profiles/', workload: 'layerscope/workload/' } as const;
const VERSION = '1';

function hasSchema(value: Fields, name: keyof typeof SCHEMAS): boolean {
  return typeof value.schema === 'string' && value.schema.startsWith(SCHEMAS[name]);
}

/** Null: the version that this page reads. */
function otherVersion(value: Fields): RecognisedDocument | null {
  const said: unknown = typeof value.schema === 'string' ? value.schema.split('/').at(-1) : (value.schema_version ?? VERSION);
  const version = typeof said === 'string' || typeof said === 'number' ? String(said) : 'unknown';
  if (version === VERSION) return null;
  return unknownDocument(
    `This document is of version ${version}; this page reads version ${VERSION}.`,
    'Open it with the layerscope that wrote it, or write it anew.',
  );
}

/** A document of ours that its views could not use. */
function damaged(name: DocumentName, fault: string): RecognisedDocument {
  return unknownDocument(
    `This is a damaged ${DOCUMENT_FILES[name]}: ${fault}.`,
    `Write it anew: layerscope ${name} … -o ${DOCUMENT_FILES[name]}`,
  );
}

function workloadFault(value: Fields): string | null {
  if (!Array.isArray(value.requests)) return 'requests is no list';
  // Null where there is no benchmark, only the server's metrics.
  return isFields(value.summary) || value.summary === null ? null : 'summary is no object';
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
  if (!isFields(value)) return refuse(value);
  // The checks look at what the readers rely on; everything else is read with care.
  if (isModelExecution(value)) return otherVersion(value) ?? { name: 'map', value: value as unknown as ModelExecution };
  if (hasSchema(value, 'requests')) {
    const wrong = otherVersion(value);
    const fault = requestsFault(value);
    if (wrong !== null) return wrong;
    return fault === null ? { name: 'requests', value: value as unknown as PerRequestProfiles } : damaged('requests', fault);
  }
  if (hasSchema(value, 'workload')) {
    const wrong = otherVersion(value);
    const fault = workloadFault(value);
    if (wrong !== null) return wrong;
    return fault === null ? { name: 'workload', value: value as unknown as WorkloadData } : damaged('workload', fault);
  }
  return refuse(value);
}

/** Strings, and the numbers that Python writes and JSON does not have. */
const STRING_OR_NO_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\bInfinity\b|\bNaN\b/g;

/** Not-a-numbers are not known: null, as the program reads them. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const mended = text.replace(STRING_OR_NO_NUMBER, (found) => (found.startsWith('"') ? found : 'null'));
    if (mended === text) throw cause;
    return JSON.parse(mended);
  }
}

/** The same for the text of a file. */
export function recogniseText(text: string): RecognisedDocument {
  try {
    // A byte order mark is no part of the text.
    return recogniseDocument(parsed(text.replace(/^\ufeff/, '')));
  } catch (cause) {
    return unknownDocument(`This is no JSON: ${cause instanceof Error ? cause.message : String(cause)}`, OPENED);
  }
}
