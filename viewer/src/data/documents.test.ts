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
