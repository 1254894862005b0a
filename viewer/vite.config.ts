import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import preact from '@preact/preset-vite';
import type { Plugin } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';
import { defineConfig } from 'vitest/config';

/** Where the program puts the data of a report: in the head, before the script runs. */
const DATA_MARKER = '<!--layerscope-data-->';

function hashes(page: string, element: RegExp): string {
  const found = [...page.matchAll(element)].map((match) => match[1] ?? '');
  return found.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`).join(' ');
}

/**
 * Lets the page run its own script and style and nothing else, and talk to nobody but the server
 * that sent it: a report opened from a file cannot reach a network.
 */
function contentPolicy(): Plugin {
  return {
    name: 'content-policy',
    apply: 'build',
    writeBundle(options) {
      const path = `${options.dir ?? 'dist'}/index.html`;
      const page = readFileSync(path, 'utf8');
      if (page.split(DATA_MARKER).length !== 2) this.error(`${path} must hold ${DATA_MARKER} once`);
      const policy = [
        "default-src 'none'",
        `script-src ${hashes(page, /<script type="module"[^>]*>([^]*?)<\/script>/g)}`,
        `style-src ${hashes(page, /<style[^>]*>([^]*?)<\/style>/g)}`,
        "connect-src 'self'",
        'img-src data: blob:',
        "base-uri 'none'",
        "form-action 'none'",
      ].join('; ');
      const meta = `<meta http-equiv="Content-Security-Policy" content="${policy}" />`;
      writeFileSync(path, page.replace(/<meta charset="utf-8" \/>/i, (charset) => `${charset}\n    ${meta}`));
    },
  };
}

const server = process.env.LAYERSCOPE_URL;

// One HTML file with everything inside: the server sends it as it is, and `report` puts data into it.
export default defineConfig({
  plugins: [preact(), viteSingleFile(), contentPolicy()],
  build: { target: 'es2022', assetsInlineLimit: Number.MAX_SAFE_INTEGER, cssCodeSplit: false, modulePreload: false },
  server: server === undefined ? {} : { proxy: { '/api': { target: server, changeOrigin: true } } },
  // A test that needs a page says so in its first line.
  test: { environment: 'node', include: ['src/**/*.test.{ts,tsx}'] },
});
