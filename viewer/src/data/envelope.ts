import { asList, asNumber, asObject, asText } from './raw';

/** A value of JSON. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Worst first. */
export const SEVERITIES = ['error', 'data_loss', 'warning', 'info'] as const;

export interface HealthEntry {
  readonly code: string;
  readonly severity: (typeof SEVERITIES)[number];
  readonly count: number;
  readonly message: string;
}

/** Health of a document that anyone may have written: what is no entry is left out. */
export function readHealth(value: unknown): readonly HealthEntry[] {
  return asList(value).flatMap((item) => {
    const raw = asObject(item);
    const message = asText(raw?.message);
    const severity = SEVERITIES.find((name) => name === raw?.severity) ?? 'info';
    return message === null ? [] : [{ code: asText(raw?.code) ?? '', severity, count: asNumber(raw?.count) ?? 1, message }];
  });
}

export interface Coverage {
  readonly total_ns: number;
  readonly module: Readonly<Record<string, number>>;
  readonly layer: Readonly<Record<string, number>>;
}

export interface Input {
  readonly path: string;
  readonly kind: string;
  readonly rank: number | null;
  readonly t0_ns: string;
  readonly span_ns: number;
}

export interface RankPart {
  readonly rank: number | null;
  readonly input: string;
  readonly coverage: Coverage;
  readonly data: Json;
}

/** The envelope of every verb (docs/schema/envelope.schema.json). */
export interface Envelope {
  readonly schema: string;
  readonly command: string;
  readonly inputs: readonly Input[];
  readonly options: Readonly<Record<string, Json>>;
  readonly health: readonly HealthEntry[];
  readonly coverage: Coverage | null;
  /** Null when several inputs were given: then `ranks`. */
  readonly data: Json;
  readonly ranks?: readonly RankPart[];
  readonly reduced?: Json;
}
