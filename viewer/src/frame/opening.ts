import { type DocumentName, type Documents, recogniseText } from '../data/documents';
import { DroppedSource } from '../data/dropped_source';
import { EmbeddedSource, embeddedData } from '../data/embedded_source';
import { connectToServer } from '../data/server_source';
import type { DataSource, SourceError } from '../data/source';
import { type TabName, openTab, source, sourceError } from '../state/state';

const TAB_OF: Readonly<Record<DocumentName, TabName>> = {
  map: 'architecture',
  requests: 'profiler',
  workload: 'workload',
};

/** The tab to begin with, where the address names none. */
export function firstTab(from: DataSource): TabName {
  if (from.index.analyses.length > 0) return 'profiler';
  const first = from.index.documents[0];
  return first === undefined ? 'profiler' : TAB_OF[first];
}

function show(from: DataSource, chooseTab: boolean): void {
  source.value = from;
  if (chooseTab) openTab(firstTab(from));
}

/** Opens what the page was made for: data inside it, else the server that sent it. */
export async function openPage(chooseTab: boolean): Promise<void> {
  try {
    const embedded = embeddedData(document);
    if (embedded !== null) {
      show(new EmbeddedSource(embedded), chooseTab);
      return;
    }
  } catch {
    sourceError.value = {
      code: 'damaged',
      message: 'The data inside this file is damaged; it may not have been copied to its end.',
      hint: 'Make it again with: layerscope report TRACE -o report.html',
    };
    return;
  }
  const token = new URLSearchParams(location.search).get('token');
  if (!location.protocol.startsWith('http') || token === null) return;
  const answer = await connectToServer(token);
  if (answer.ok) show(answer.value, chooseTab);
  else sourceError.value = answer.error;
}

/** A file larger than this is hardly a document, and a page has not the memory for it. */
const LARGEST_DOCUMENT_BYTES = 512 * 2 ** 20;

async function readDocument(file: File): Promise<{ documents: Partial<Documents> } | { error: SourceError }> {
  if (file.size > LARGEST_DOCUMENT_BYTES) {
    return {
      error: { code: 'too_large', message: 'The file is too large for a page.', hint: 'Open a trace with: layerscope view TRACE' },
    };
  }
  if (/\.(gz|zst|sqlite|nsys-rep)$/i.test(file.name)) {
    return {
      error: {
        code: 'unknown_document',
        message: 'This page opens the documents of layerscope, not traces or packed files.',
        hint: 'Open a trace with: layerscope view TRACE',
      },
    };
  }
  const found = recogniseText(await file.text());
  return found.name === null ? { error: found.error } : { documents: { [found.name]: found.value } };
}

/** Opens files dropped on the page, beside what is open. Says which could not be opened, and why. */
export async function openFiles(files: readonly File[]): Promise<void> {
  sourceError.value = null;
  for (const file of files) {
    const read = await readDocument(file);
    if ('error' in read) {
      sourceError.value = { ...read.error, message: `${file.name}: ${read.error.message}` };
      continue;
    }
    source.value = new DroppedSource(read.documents, [file.name], source.peek());
    const name = (Object.keys(read.documents) as DocumentName[])[0];
    if (name !== undefined) openTab(TAB_OF[name]);
  }
}
