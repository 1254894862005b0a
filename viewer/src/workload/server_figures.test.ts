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
  function figures(members: readonly ServerSeries[]): Record<string, number | null> {
    return Object.fromEntries(figuresOfInstance({ name: 'm', series: members }, new Map()).map(({ id, value }) => [id, value]));
  }

  it('reads the names of vLLM', () => {
    expect(
      figures([
        series('vllm:kv_cache_usage_perc', 0.25),
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

  it('reads the names of SGLang, whose hit rate is a share', () => {
    const found = figuresOfInstance({
      name: '',
      series: [series('sglang:token_usage', 0.5), series('sglang:num_running_reqs', 3), series('sglang:cache_hit_rate', 0.75)],
    }, new Map());
    expect(found.find(({ id }) => id === 'prefix')).toMatchObject({ kind: 'share', value: 0.75, of: null });
    expect(found.find(({ id }) => id === 'kv')?.value).toBe(0.5);
  });

  it('takes the whole, not a part by another label', () => {
    expect(
      figures([
        series('vllm:num_requests_waiting', 2, { model_name: 'm', reason: 'capacity' }),
        series('vllm:num_requests_waiting', 9, { model_name: 'm' }),
      ]).waiting,
    ).toBe(9);
  });

  it('takes the metric that the document names', () => {
    const named = namedMetrics({ engine: 'vllm', preemptions: { metric: 'vllm:evictions', value: 3 }, running: null });
    expect([...named]).toEqual([['preemptions', 'vllm:evictions']]);
    const instance = { name: 'm', series: [series('vllm:evictions', 3), series('vllm:num_preemptions_total', 9)] };
    expect(figuresOfInstance(instance, named).find(({ id }) => id === 'preemptions')?.value).toBe(3);
  });

  it('says null for what the dump lacks', () => {
    const instance = { name: 'm', series: [series('vllm:prompt_tokens_by_source_total', 3)] };
    expect(figures(instance.series)).toMatchObject({ kv: null, preemptions: null, prompt: null });
    expect(hasFigures(instance, new Map())).toBe(false);
  });
});
