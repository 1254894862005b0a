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

/** An answer with the length of its text: parsed, it takes a few times as much memory. */
interface Sized<T> {
  readonly answer: Answer<T>;
  readonly chars: number;
}

async function getSized<T>(path: string, token: string): Promise<Sized<T>> {
  try {
    const response = await fetch(path, {
      headers: { authorization: `Bearer ${token}` },
      cache: 'no-store',
    });
    if (!response.ok) return { answer: { ok: false, error: await failureOf(response) }, chars: 0 };
    const text = await response.text();
    return { answer: { ok: true, value: JSON.parse(text) as T }, chars: text.length };
  } catch {
    return { answer: { ok: false, error: GONE }, chars: 0 };
  }
}

/** Text of all kept answers together: a large map and the slices of a long look around fit. */
const MOST_CHARS = 64 * 2 ** 20;

interface Kept {
  readonly asked: Promise<Answer<unknown>>;
  chars: number;
}

/**
 * Answers kept by key, so that asking twice costs once; failures are asked again. Where they grow
 * too large the one that was asked for longest ago goes, never the newest.
 */
export class AnswerCache {
  /** In order of their last use. */
  private readonly kept = new Map<string, Kept>();
  private chars = 0;

  constructor(private readonly most = MOST_CHARS) {}

  /** With `stays` false only those who ask while the answer is on its way share it. */
  get<T>(key: string, ask: () => Promise<Sized<T>>, stays = true): Promise<Answer<T>> {
    const known = this.kept.get(key);
    if (known !== undefined) {
      this.kept.delete(key);
      this.kept.set(key, known);
      return known.asked as Promise<Answer<T>>;
    }
    const asked = ask().then(({ answer, chars }) => {
      if (answer.ok && stays) this.grow(key, chars);
      else this.kept.delete(key);
      return answer;
    });
    this.kept.set(key, { asked, chars: 0 });
    return asked;
  }

  private grow(key: string, chars: number): void {
    const entry = this.kept.get(key);
    if (entry === undefined) return;
    entry.chars = chars;
    this.chars += chars;
    for (const [other, { chars: size }] of this.kept) {
      if (this.chars <= this.most) return;
      // What is on its way has no size yet and is about to be looked at.
      if (other === key || size === 0) continue;
      this.kept.delete(other);
      this.chars -= size;
    }
  }
}

/** The strip keeps the windows it needs, and each rest of a zoom asks for one of its own. */
function isWindow(verb: string, options: QueryOptions = {}): boolean {
  return verb === 'timeline' && ('from' in options || 'to' in options);
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
    return this.answers.get(key, () => getSized<Envelope>(`/api/analysis/${key}`, this.token), !isWindow(verb, options));
  }

  document<N extends DocumentName>(name: N, options?: QueryOptions): Promise<Answer<Documents[N]>> {
    const key = sliceKey(name, options);
    return this.answers.get(`document ${key}`, () => getSized<Documents[N]>(`/api/document/${key}`, this.token));
  }
}

export async function connectToServer(token: string): Promise<Answer<DataSource>> {
  const { answer: index } = await getSized<ViewIndex>('/api/view', token);
  return index.ok ? { ok: true, value: new ServerSource(index.value, token) } : index;
}
