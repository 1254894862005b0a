import type { AnalysisPart } from '../data/analyses';
import { type Loaded, useAnalysis } from '../state/answers';
import { source } from '../state/state';

/** The summary, where the source has one; both rows of the head show parts of it. */
export function useSummary(): Loaded<AnalysisPart<'summary'>> {
  const hasSummary = source.value?.index.analyses.includes('summary') ?? false;
  return useAnalysis('summary', hasSummary ? {} : null);
}
