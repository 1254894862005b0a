import type { DocumentName } from '../data/documents';
import { readDroppedFile } from '../data/dropped_file';
import { DroppedSource } from '../data/dropped_source';
import { EmbeddedSource, embeddedData } from '../data/embedded_source';
import { connectToServer } from '../data/server_source';
import type { DataSource } from '../data/source';
import { findProcesses } from '../state/parts';
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
  if (!answer.ok) {
    sourceError.value = answer.error;
    return;
  }
  // First, so that nothing is asked for ranks that are not looked at.
  await findProcesses(answer.value);
  show(answer.value, chooseTab);
}

/** Opens files dropped on the page, beside what is open. Says which could not be opened, and why. */
export async function openFiles(files: readonly File[]): Promise<void> {
  sourceError.value = null;
  for (const file of files) {
    const read = await readDroppedFile(file);
    if (read.name === null) {
      sourceError.value = { ...read.error, message: `${file.name}: ${read.error.message}` };
      continue;
    }
    source.value = DroppedSource.over(source.peek(), read.name, read.value, file.name);
    openTab(TAB_OF[read.name]);
  }
}
