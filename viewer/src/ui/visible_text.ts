/**
 * Names come from the trace and may hold anything. Characters that show nothing, break lines or
 * turn the direction of what follows are written out, so that two names that differ look different.
 */

// C0 controls have pictures of their own in Unicode (U+2400 …); DEL has U+2421.
function picture(code: number): string | null {
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? '\u2421' : null;
}

/* C1 controls; soft hyphen; Arabic letter mark; fillers; zero-width, bidi marks, embeddings,
   isolates; separators; byte order mark; interlinear marks; tags; surrogates that stand alone. */
const UNSEEN =
  // eslint-disable-next-line no-control-regex, no-misleading-character-class
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]|[\ud800-\udfff]/gu;

function written(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return picture(code) ?? `\\u${code > 0xffff ? `{${code.toString(16)}}` : code.toString(16).padStart(4, '0')}`;
}

/** The text with everything in it made visible. */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, written);
}

/** At most `limit` UTF-16 units; the end is what tells most names apart, so the middle goes. */
export function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const kept = Math.max(1, Math.floor((limit - 1) / 2));
  // A pair of surrogates is not cut in two.
  const front = text.slice(0, kept).replace(/[\ud800-\udbff]$/, '');
  const back = text.slice(text.length - kept).replace(/^[\udc00-\udfff]/, '');
  return `${front}…${back}`;
}
