import { DOCUMENT_FILES, type DocumentName, type Documents } from './documents';
import type { Envelope } from './envelope';
import type { Answer, DataSource, QueryOptions, ViewIndex } from './source';

/** Documents dropped on the page, over what was open before (if anything was). */
export class DroppedSource implements DataSource {
  readonly index: ViewIndex;

  constructor(
    private readonly documents: Partial<Documents>,
    files: readonly string[],
    private readonly base: DataSource | null,
  ) {
    const names = Object.keys(documents) as DocumentName[];
    const before = base?.index;
    this.index = {
      schema: 'layerscope/view/1',
      version: before?.version ?? '',
      title: before?.title ?? files.join(', '),
      live: before?.live ?? false,
      inputs: [
        ...(before?.inputs ?? []),
        ...files.map((path, i) => ({ path, kind: DOCUMENT_FILES[names[i] ?? 'map'], rank: null })),
      ],
      analyses: before?.analyses ?? [],
      documents: [...new Set([...(before?.documents ?? []), ...names])],
      cuts: before?.cuts ?? [],
    };
  }

  analysis(verb: string, options?: QueryOptions): Promise<Answer<Envelope>> {
    if (this.base !== null) return this.base.analysis(verb, options);
    return Promise.resolve({
      ok: false,
      error: {
        code: 'no_trace',
        message: `\`layerscope ${verb}\` needs the trace, and only documents are open.`,
        hint: 'Open the trace with: layerscope view TRACE',
      },
    });
  }

  document<N extends DocumentName>(name: N): Promise<Answer<Documents[N]>> {
    const value = this.documents[name];
    if (value !== undefined) return Promise.resolve({ ok: true, value });
    if (this.base !== null) return this.base.document(name);
    return Promise.resolve({
      ok: false,
      error: {
        code: 'no_document',
        message: `${DOCUMENT_FILES[name]} is not open.`,
        hint: `Drop the file on this page; \`layerscope ${name}\` writes it.`,
      },
    });
  }
}
