import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { at, expect, test } from './fixtures';
import { scratchFolder, startView } from './program';

/** Two processes in one file, each with a device of its own and kernels that have one short name. */
function twoProcesses(): string {
  const events: object[] = [];
  for (const device of [0, 1]) {
    const pid = 100 + device;
    for (let i = 0; i < 6; i += 1) {
      const ts = i * 100;
      const correlation = 1 + i + device * 1000;
      events.push({ ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', pid, tid: pid, ts, dur: 5, args: { correlation } });
      events.push({
        ph: 'X', cat: 'kernel', name: `void ns::work<${i % 2 === 0 ? 'float' : 'double'}>(int)`, pid: device, tid: 7, ts: ts + 10, dur: 20 + device,
        args: { correlation, device, stream: 7 },
      });
    }
  }
  const path = join(scratchFolder(), 'two.json');
  writeFileSync(path, JSON.stringify({ schemaVersion: 1, traceEvents: events }));
  return path;
}

test('two processes in one file are looked at one at a time', async ({ page }) => {
  const server = await startView(twoProcesses());
  try {
    await page.goto(at(server.url, 'tab=profiler'));
    const chooser = page.locator('.choice select');
    await expect(chooser).toHaveCount(1);
    const kernels = page.getByRole('region', { name: 'Kernels' });
    // Six kernels of 20 µs, then six of 21 µs.
    await expect(kernels).toContainText('120.0\u00a0µs in all');
    await chooser.selectOption({ index: 1 });
    await expect(kernels).toContainText('126.0\u00a0µs in all');
    await expect(page).toHaveURL(/(rank|pid)=1/);
    await page.reload();
    await expect(kernels).toContainText('126.0\u00a0µs in all');
  } finally {
    server.stop();
  }
});
