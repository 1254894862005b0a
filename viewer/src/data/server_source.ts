import type { DocumentName, Documents } from './documents';
import type { Envelope } from './envelope';
import { type Answer, type DataSource, type QueryOptions, type SourceError, type ViewIndex, sliceKey } from './source';

interface Failure {
  readonly error?: Partial<SourceError>;
}

const GONE: SourceError = {
  code: 'no_connection',
  message: 'The server does not answer.',
  hint: 'Is `layerscope view` still running? Start it again and open the address that it prints.',
};

async function failureOf(response: Response): Promise<SourceError> {
  const said = ((await response.json().catch(() => ({}))) as Failure).error;
  if (said?.message !== undefined) {
    return { code: said.code ?? 'failed', message: said.message, hint: said.hint ?? '' };
  }
  if (response.status === 401 || response.status === 403) {
    return {
      code: 'refused',
      message: 'The server refused this page: the token in the address is missing or wrong.',
      hint: 'Open the whole address that `layerscope view` prints, with ?token=…',
    };
  }
  return { code: 'failed', message: `The server answered ${response.status}.`, hint: GONE.hint };
}

async function getJson<T>(path: string, token: string): Promise<Answer<T>> {
  try {
    const response = await fetch(path, {
      headers: { authorization: `Bearer ${token}` },
      cache: 'no-store',
    });
    if (!response.ok) return { ok: false, error: await failureOf(response) };
    return { ok: true, value: (await response.json()) as T };
  } catch {
    return { ok: false, error: GONE };
  }
}

/** Answers kept by key, so that asking twice costs once; failures are asked again. */
export class AnswerCache {
  private readonly kept = new Map<string, Promise<Answer<unknown>>>();

  get<T>(key: string, ask: () => Promise<Answer<T>>): Promise<Answer<T>> {
    const known = this.kept.get(key) as Promise<Answer<T>> | undefined;
    if (known !== undefined) return known;
    const asked = ask().then((answer) => {
      if (!answer.ok) this.kept.delete(key);
      return answer;
    });
    this.kept.set(key, asked);
    return asked;
  }
}

/** The local server of `layerscope view`. */
class ServerSource implements DataSource {
  private readonly answers = new AnswerCache();

  constructor(
    readonly index: ViewIndex,
    private readonly token: string,
  ) {}

  analysis(verb: string, options?: QueryOptions): Promise<Answer<Envelope>> {
    const key = sliceKey(verb, options);
    return this.answers.get(key, () => getJson<Envelope>(`/api/analysis/${key}`, this.token));
  }

  document<N extends DocumentName>(name: N): Promise<Answer<Documents[N]>> {
    return this.answers.get(`document ${name}`, () => getJson<Documents[N]>(`/api/document/${name}`, this.token));
  }
}

export async function connectToServer(token: string): Promise<Answer<DataSource>> {
  const index = await getJson<ViewIndex>('/api/view', token);
  return index.ok ? { ok: true, value: new ServerSource(index.value, token) } : index;
}
