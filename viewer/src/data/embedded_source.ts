import type { DocumentName, Documents } from './documents';
import type { Envelope } from './envelope';
import { type Answer, type DataSource, type QueryOptions, type SourceError, type ViewIndex, sliceKey } from './source';

/** What `layerscope report -o x.html` puts into the page. */
export interface EmbeddedData {
  readonly view: ViewIndex;
  /** By sliceKey. */
  readonly analyses: Readonly<Record<string, Envelope | FailedEnvelope>>;
  readonly documents: { readonly [N in DocumentName]?: Documents[N] | FailedEnvelope };
}

/** An analysis or a document that could not be had: the program's own words in its place. */
interface FailedEnvelope {
  readonly error: Partial<SourceError>;
}

function isFailed(value: object): value is FailedEnvelope {
  return 'error' in value;
}

function failureOf({ error }: FailedEnvelope): Answer<never> {
  return {
    ok: false,
    error: { code: error.code ?? 'failed', message: error.message ?? 'This failed when the report was written.', hint: error.hint ?? '' },
  };
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
    if (envelope === undefined) return Promise.resolve(leftOut(`\`${key}\``));
    return Promise.resolve(isFailed(envelope) ? failureOf(envelope) : { ok: true, value: envelope });
  }

  document<N extends DocumentName>(name: N, options?: QueryOptions): Promise<Answer<Documents[N]>> {
    const key = sliceKey(name, options);
    const value: Documents[N] | FailedEnvelope | undefined = key === name ? this.data.documents[name] : undefined;
    if (value !== undefined && isFailed(value)) return Promise.resolve(failureOf(value));
    return Promise.resolve(value === undefined ? leftOut(`the document of \`layerscope ${key}\``) : { ok: true, value });
  }
}

/** The data of this page; null where there is none. */
export function embeddedData(page: Document): EmbeddedData | null {
  const text = page.getElementById(EMBEDDED_DATA_ID)?.textContent.trim() ?? '';
  return text === '' ? null : (JSON.parse(text) as EmbeddedData);
}
