import { describe, expect, it } from 'vitest';
import { recogniseDocument, recogniseText } from './documents';

describe('a dropped file', () => {
  it('is known by its content', () => {
    expect(recogniseDocument({ module_tree: { class: 'M', children: [] } }).name).toBe('map');
    expect(recogniseDocument({ schema: 'layerscope/per_request_profiles/1', requests: [], nodes: [], layers: [] }).name).toBe('requests');
    expect(recogniseDocument({ schema: 'layerscope/workload/1', requests: [], summary: {} }).name).toBe('workload');
  });

  it.each([
    ['a trace', '{"traceEvents": []}', /trace/],
    ['the output of a verb', '{"schema": "layerscope/1", "command": "layers"}', /layerscope layers/],
    ['request_metadata.json', '{"schema": "layerscope/requests/1", "requests": []}', /request_metadata/],
    ['a config', '{"architectures": ["Qwen3ForCausalLM"]}', /config/],
    ['a benchmark', '{"completed": 20}', /benchmark/],
    ['another file', '[1, 2]', /no document/],
    ['no JSON', 'hello', /no JSON/],
    ['null', 'null', /no document/],
  ])('that is %s is refused by name, with a way out', (_, text, message) => {
    const found = recogniseText(text);
    expect(found.name).toBeNull();
    if (found.name === null) {
      expect(found.error.message).toMatch(message);
      expect(found.error.hint).not.toBe('');
    }
  });
});

describe('a document of ours', () => {
  const request = {
    index: 0, file: 'a.json', label: null, percentile: null, prompt_tokens: 1, output_tokens: 2, latency_ns: null,
    gpu_ns: 5, cpu_ns: 6, wall_ns: 7, phases: {},
  };
  const node = { id: 0, parent: null, path: 'm', class: 'M', calls: [1], gpu_ns: [5], gpu_self_ns: [5], cpu_ns: [null], kernels: [1], evidence: [{}] };
  const layer = { index: 0, type: 'A', path: null, gpu_ns: [5], cpu_ns: [null] };
  const whole = { schema: 'layerscope/per_request_profiles/1', requests: [request], nodes: [node], layers: [layer] };

  function refusal(value: unknown): string {
    const found = recogniseDocument(value);
    return found.name === null ? found.error.message : '';
  }

  it('opens where it is whole', () => {
    expect(recogniseDocument(whole).name).toBe('requests');
  });

  it.each([
    [{ requests: [null] }, 'requests[0] is no object'],
    [{ requests: [{ ...request, file: 3 }] }, 'requests[0].file is no text'],
    [{ requests: [{ ...request, index: 4 }] }, 'requests[0].index is not 0'],
    [{ nodes: 'x' }, 'nodes is no list'],
    [{ nodes: [node, 'x'] }, 'nodes[1] is no object'],
    [{ nodes: [{ ...node, calls: [1, 2] }] }, 'nodes[0].calls has 2 values for 1 requests'],
    [{ nodes: [{ ...node, gpu_ns: ['x'] }] }, 'nodes[0].gpu_ns holds another kind of value'],
    [{ layers: [{}] }, 'layers[0].index is no number'],
  ])('names the key that it cannot be shown for: %j', (change, message) => {
    expect(refusal({ ...whole, ...change })).toContain(message);
  });

  it('is refused where it is of another version', () => {
    expect(refusal({ ...whole, schema: 'layerscope/per_request_profiles/999' })).toContain('version 999');
    expect(refusal({ schema: 'layerscope/workload/2', requests: [], summary: null })).toContain('version 2');
    expect(refusal({ schema_version: 7, module_tree: { class: 'M', children: [] } })).toContain('version 7');
  });

  it('may hold what is no number, which is not known', () => {
    const found = recogniseText('\ufeff{"schema": "layerscope/workload/1", "requests": [{"e": "a NaN \\" Infinity", "ttft_ns": NaN}], "summary": {"a": -Infinity}}');
    expect(found).toMatchObject({ name: 'workload', value: { requests: [{ e: 'a NaN " Infinity', ttft_ns: null }], summary: { a: null } } });
  });
});
