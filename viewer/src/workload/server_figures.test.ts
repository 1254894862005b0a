import { describe, expect, it } from 'vitest';
import { figuresOfInstance, hasFigures, instanceName, instancesOf, namedMetrics } from './server_figures';
import type { ServerSeries } from './model';

function series(metric: string, value: number, labels: Record<string, string> = { model_name: 'm', engine: '0' }): ServerSeries {
  return { metric, labels, fields: { value } };
}

describe('instancesOf', () => {
  it('keeps models and engines apart', () => {
    const groups = instancesOf([
      series('http_requests_total', 1, {}),
      series('vllm:num_requests_running', 1),
      series('vllm:num_requests_running', 2, { model_name: 'm', engine: '1' }),
      series('vllm:num_requests_waiting', 3),
    ]);
    expect(groups.map(({ name, series: members }) => [name, members.length])).toEqual([
      ['m · engine 0', 2],
      ['m · engine 1', 1],
      ['', 1],
    ]);
    expect(instanceName({ tp_rank: '3' })).toBe('tp rank 3');
  });
});

describe('figuresOfInstance', () => {
  // What `server_summary` calls each figure, and the metric that it is.
  const VLLM = namedMetrics({
    engine: 'vllm',
    kv_cache_usage: { metric: 'vllm:kv_cache_usage_perc', value: 0.25 },
    preemptions: { metric: 'vllm:num_preemptions_total', value: 7 },
    prefix_cache_hits: { metric: 'vllm:prefix_cache_hits_total', value: 30 },
    prefix_cache_queries: { metric: 'vllm:prefix_cache_queries_total', value: 120 },
    running: { metric: 'vllm:num_requests_running', value: 4 },
    waiting: { metric: 'vllm:num_requests_waiting', value: 5 },
    prompt_tokens: { metric: 'vllm:prompt_tokens_total', value: 641 },
    generation_tokens: { metric: 'vllm:generation_tokens_total', value: 320 },
    ttft: null,
  });

  function figures(members: readonly ServerSeries[]): Record<string, number | null> {
    return Object.fromEntries(figuresOfInstance({ name: 'm', series: members }, VLLM).map(({ id, value }) => [id, value]));
  }

  it('are of the metrics that the document names, whatever else the dump has', () => {
    expect(
      figures([
        series('vllm:kv_cache_usage_perc', 0.25),
        series('sglang:token_usage', 0.9),
        series('vllm:num_preemptions_total', 7),
        series('vllm:prefix_cache_hits_total', 30),
        series('vllm:prefix_cache_queries_total', 120),
        series('vllm:num_requests_running', 4),
        series('vllm:num_requests_waiting', 5),
        series('vllm:prompt_tokens_total', 641),
        series('vllm:generation_tokens_total', 320),
      ]),
    ).toEqual({ kv: 0.25, preemptions: 7, prefix: 30, running: 4, waiting: 5, prompt: 641, generation: 320 });
  });

  it('take the whole, not a part by another label', () => {
    expect(
      figures([
        series('vllm:num_requests_waiting', 2, { model_name: 'm', reason: 'capacity' }),
        series('vllm:num_requests_waiting', 9, { model_name: 'm' }),
      ]).waiting,
    ).toBe(9);
  });

  it('say of how many tokens the prefix cache was asked', () => {
    const instance = { name: 'm', series: [series('vllm:prefix_cache_hits_total', 30), series('vllm:prefix_cache_queries_total', 120)] };
    expect(figuresOfInstance(instance, VLLM).find(({ id }) => id === 'prefix')).toMatchObject({ value: 30, of: 120 });
  });

  it('are null for what the document does not name', () => {
    const instance = { name: 'm', series: [series('vllm:num_requests_running', 3)] };
    expect(figuresOfInstance(instance, new Map()).every(({ value }) => value === null)).toBe(true);
    expect(hasFigures(instance, new Map())).toBe(false);
    expect(hasFigures(instance, VLLM)).toBe(true);
  });
});
