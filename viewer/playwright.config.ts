import { defineConfig } from '@playwright/test';

const chromium = process.env.CHROMIUM ?? '/usr/bin/chromium';
// Chromium refuses to run as root with its sandbox, which is how containers run it.
const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];

export default defineConfig({
  testDir: 'e2e',
  outputDir: 'test-results',
  // What is right passes in a second or two; a machine that stalls beside other work is no fault.
  timeout: 180_000,
  expect: { timeout: 30_000 },
  maxFailures: 10,
  forbidOnly: true,
  // Times are measured, so tests do not share the processor with each other.
  workers: 1,
  reporter: [['list']],
  use: {
    browserName: 'chromium',
    launchOptions: { executablePath: chromium, args },
    viewport: { width: 1280, height: 900 },
    locale: 'en-US',
    acceptDownloads: true,
  },
});
