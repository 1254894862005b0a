import type { PerRequestProfiles, ProfiledRequest, RequestNode } from '../data/per_request_profiles';
import { count, ns } from '../ui/format';
import { visibleText } from '../ui/visible_text';
import type { ComparedColumn, FlatModule, Spent } from './module_tree';

function spentOf(node: RequestNode, request: number): Spent | null {
  const calls = node.calls[request] ?? null;
  if (calls === null && (node.gpu_ns[request] ?? null) === null) return null;
  return {
    gpu: node.gpu_ns[request] ?? null,
    cpu: node.cpu_ns[request] ?? null,
    kernels: node.kernels[request] ?? null,
    calls,
  };
}

const NOT_THERE: Spent = { gpu: null, cpu: null, kernels: null, calls: null };

export function fromRequests(document: PerRequestProfiles, main: number): readonly FlatModule[] {
  const keys = new Map(document.nodes.map((node) => [node.id, `${node.path}\u0000${node.process ?? 0}`]));
  return document.nodes.map((node) => ({
    key: keys.get(node.id) ?? node.path,
    parentKey: node.parent === null ? null : (keys.get(node.parent) ?? null),
    path: node.path,
    class: node.class,
    spent: spentOf(node, main) ?? NOT_THERE,
    own: node.gpu_self_ns[main] ?? null,
    evidence: node.evidence[main] ?? {},
    compared: document.requests.map((request) => spentOf(node, request.index)),
    repeat: 1,
    more: false,
    modelDepth: 1,
  }));
}

function tokens(request: ProfiledRequest): string {
  if (request.prompt_tokens === null && request.output_tokens === null) return '';
  return `${count(request.prompt_tokens)}→${count(request.output_tokens)}`;
}

export function requestTitle(request: ProfiledRequest): string {
  return request.label ?? visibleText(request.file.replace(/\.json(\.gz|\.zst)?$/, ''));
}

/** A column a request: its label, percentile and tokens. */
export function requestColumns(document: PerRequestProfiles): readonly ComparedColumn[] {
  return document.requests.map((request) => {
    const percentile = request.percentile === null ? '' : `p${request.percentile}`;
    const parts = [percentile, tokens(request)].filter((part) => part !== '');
    return {
      key: String(request.index),
      title: requestTitle(request),
      subtitle: parts.length > 0 ? parts.join(' · ') : ns(request.wall_ns),
      about: [
        ['file', visibleText(request.file)],
        ['percentile', request.percentile === null ? '–' : String(request.percentile)],
        ['prompt tokens', count(request.prompt_tokens)],
        ['output tokens', count(request.output_tokens)],
        ['latency', ns(request.latency_ns)],
        ['wall', ns(request.wall_ns)],
        [request.cpu_only ? 'op time' : 'GPU time', ns(request.gpu_ns)],
        ['CPU time', ns(request.cpu_ns)],
        ['mode', request.mode ?? '–'],
      ],
      selects: { request: request.index },
      total: request.gpu_ns,
    };
  });
}
