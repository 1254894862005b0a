import { type RecognisedDocument, recogniseText } from './documents';

/** A file larger than this is hardly a document, and a page has not the memory for it; packed ones count unpacked. */
const LARGEST_BYTES = 512 * 2 ** 20;

function refused(code: string, message: string, hint = 'Open a trace with: layerscope view TRACE'): RecognisedDocument {
  return { name: null, error: { code, message, hint } };
}

const TOO_LARGE = refused('too_large', 'The file is too large for a page.');

/** How each kind of packed or binary file begins. */
const BEGINS: readonly (readonly [kind: 'gzip' | 'zstd' | 'sqlite', bytes: readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  ['sqlite', [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65, 0x20]],
];

async function kindOf(file: Blob): Promise<'gzip' | 'zstd' | 'sqlite' | 'text'> {
  const head = new Uint8Array(await file.slice(0, 16).arrayBuffer());
  return BEGINS.find(([, bytes]) => bytes.every((byte, i) => head[i] === byte))?.[0] ?? 'text';
}

/** Null where there is more than fits. A fault of the packing throws. */
async function unpacked(file: Blob): Promise<string | null> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const reader = file.stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    size += read.value.byteLength;
    if (size > LARGEST_BYTES) {
      void reader.cancel();
      return null;
    }
    parts.push(read.value);
  }
  return new Blob(parts).text();
}

/** What a dropped file is, packed with gzip or not. */
export async function readDroppedFile(file: File): Promise<RecognisedDocument> {
  if (file.size > LARGEST_BYTES) return TOO_LARGE;
  const kind = await kindOf(file);
  if (kind === 'zstd') {
    return refused('packed', 'This file is packed with zstd, which a page cannot unpack.', 'Unpack it (zstd -d FILE), or open a trace with: layerscope view TRACE');
  }
  if (kind === 'sqlite') return refused('unknown_document', 'This is a database, maybe a recording of Nsight Systems.');
  if (kind === 'text') return recogniseText(await file.text());
  try {
    const text = await unpacked(file);
    return text === null ? TOO_LARGE : recogniseText(text);
  } catch {
    return refused('damaged', 'This file is packed with gzip and damaged or cut.', 'Copy it again, to its end.');
  }
}
