import type { DocumentName, Documents } from './documents';
import type { Envelope } from './envelope';
import { type Answer, type DataSource, type QueryOptions, type ViewIndex, sliceKey } from './source';

/** What `layerscope report -o x.html` puts into the page. */
export interface EmbeddedData {
  readonly view: ViewIndex;
  /** By sliceKey. */
  readonly analyses: Readonly<Record<string, Envelope>>;
  readonly documents: Partial<Documents>;
}

export const EMBEDDED_DATA_ID = 'layerscope-data';

function leftOut(what: string): Answer<never> {
  return {
    ok: false,
    error: {
      code: 'not_in_report',
      message: `This report does not hold ${what}.`,
      hint: 'Open the trace itself for everything: layerscope view TRACE',
    },
  };
}

/** Data that stands in the page: a report in one file. */
export class EmbeddedSource implements DataSource {
  readonly index: ViewIndex;

  constructor(private readonly data: EmbeddedData) {
    this.index = data.view;
  }

  analysis(verb: string, options?: QueryOptions): Promise<Answer<Envelope>> {
    const key = sliceKey(verb, options);
    const envelope = Object.hasOwn(this.data.analyses, key) ? this.data.analyses[key] : undefined;
    return Promise.resolve(envelope === undefined ? leftOut(`\`${key}\``) : { ok: true, value: envelope });
  }

  document<N extends DocumentName>(name: N): Promise<Answer<Documents[N]>> {
    const value = this.data.documents[name];
    return Promise.resolve(value === undefined ? leftOut(`the document of \`layerscope ${name}\``) : { ok: true, value });
  }
}

/** The data of this page; null where there is none. */
export function embeddedData(page: Document): EmbeddedData | null {
  const text = page.getElementById(EMBEDDED_DATA_ID)?.textContent.trim() ?? '';
  return text === '' ? null : (JSON.parse(text) as EmbeddedData);
}
