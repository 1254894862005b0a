import { DOCUMENT_FILES, type DocumentName, type Documents } from './documents';
import type { Envelope } from './envelope';
import type { Answer, DataSource, QueryOptions, ViewIndex } from './source';

/** A document with the file that it came from. */
type Dropped = { readonly [N in DocumentName]?: { readonly value: Documents[N]; readonly file: string } };

/** Documents dropped on the page, over what was open before (if anything was). */
export class DroppedSource implements DataSource {
  readonly index: ViewIndex;

  private constructor(
    private readonly dropped: Dropped,
    private readonly base: DataSource | null,
  ) {
    const names = Object.keys(dropped) as DocumentName[];
    const files = names.map((name) => ({ path: dropped[name]?.file ?? '', kind: DOCUMENT_FILES[name], rank: null }));
    const before = base?.index;
    this.index = {
      ...before,
      schema: 'layerscope/view/1',
      version: before?.version ?? '',
      title: before?.title ?? files.map(({ path }) => path).join(', '),
      live: before?.live ?? false,
      inputs: [...(before?.inputs ?? []), ...files],
      analyses: before?.analyses ?? [],
      documents: [...new Set([...(before?.documents ?? []), ...names])],
      cuts: before?.cuts ?? [],
    };
  }

  /** A document takes the place of one of its kind that was dropped before. */
  static over<N extends DocumentName>(before: DataSource | null, name: N, value: Documents[N], file: string): DroppedSource {
    const dropped = before instanceof DroppedSource ? before.dropped : {};
    const base = before instanceof DroppedSource ? before.base : before;
    return new DroppedSource({ ...dropped, [name]: { value, file } }, base);
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

  document<N extends DocumentName>(name: N, options: QueryOptions = {}): Promise<Answer<Documents[N]>> {
    const own = this.dropped[name];
    if (own !== undefined && Object.keys(options).length === 0) return Promise.resolve({ ok: true, value: own.value });
    if (own === undefined && this.base !== null) return this.base.document(name, options);
    return Promise.resolve({
      ok: false,
      error: {
        code: 'no_document',
        message: own === undefined ? `${DOCUMENT_FILES[name]} is not open.` : `${DOCUMENT_FILES[name]} holds nothing but what is shown.`,
        hint: `Drop the file on this page; \`layerscope ${name}\` writes it.`,
      },
    });
  }
}
