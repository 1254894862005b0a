import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

function programOf(variable: string): string {
  const path = process.env[variable];
  if (path === undefined || !existsSync(path)) throw new Error(`${variable} must name the built program; it is ${path ?? 'unset'}`);
  return path;
}

/** The trace that the repository ships. */
export const EXAMPLE = join(root, 'examples/qwen3_8b_h100_vllm.json.gz');

/** A real trace beside the repository; null where it is not there. */
export function sharedTrace(path: string): string | null {
  const found = join(root, '../shared/traces', path);
  return existsSync(found) ? found : null;
}

const LARGEST_OUTPUT = 512 * 2 ** 20;

/** What a verb prints. */
export function run(...args: readonly string[]): string {
  return execFileSync(programOf('LAYERSCOPE_BIN'), args, { encoding: 'utf8', maxBuffer: LARGEST_OUTPUT, stdio: ['ignore', 'pipe', 'ignore'] });
}

/** `data` of a verb's envelope, as the caller knows it: what the screen is compared with. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters
export function dataOf<T>(verb: string, input: string, ...options: readonly string[]): T {
  const envelope = JSON.parse(run(verb, input, ...options, '--format', 'json')) as { data: T };
  return envelope.data;
}

export function generate(...args: readonly string[]): void {
  execFileSync(programOf('LAYERSCOPE_GEN'), args, { stdio: 'ignore' });
}

export function scratchFolder(): string {
  return mkdtempSync(join(tmpdir(), 'layerscope-e2e-'));
}

/** A report in one file; its address. */
export function reportOf(input: string, ...options: readonly string[]): string {
  const path = join(scratchFolder(), 'report.html');
  run('report', input, '-o', path, ...options);
  return `file://${path}`;
}

export interface ViewServer {
  readonly url: string;
  readonly stop: () => void;
}

function addressIn(text: string): string | null {
  return /http:\/\/\S+/.exec(text)?.[0] ?? null;
}

/** `layerscope view`, until it says its address. */
export async function startView(...inputs: readonly string[]): Promise<ViewServer> {
  const child: ChildProcess = spawn(programOf('LAYERSCOPE_BIN'), ['view', ...inputs, '--port', '0', '--no-open'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const url = await new Promise<string>((found, failed) => {
    let said = '';
    let complained = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const address = addressIn(said);
      if (address !== null && said.includes('\n')) found(address);
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      complained += chunk.toString();
    });
    child.once('error', failed);
    child.once('exit', (code) => {
      failed(new Error(`layerscope view ended with ${String(code)}: ${complained}`));
    });
  });
  return {
    url,
    stop: () => {
      child.kill('SIGINT');
    },
  };
}
