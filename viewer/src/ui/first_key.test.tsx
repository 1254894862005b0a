// @vitest-environment jsdom
import { render } from 'preact';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Popover } from '../frame/popover';
import { TooltipLayer, showTip } from './tooltip';

// A key that is pressed as soon as something stands must reach it: there is no `act` here, which would run
// what waits for the next frame.

const ANCHOR = { left: 0, top: 0, right: 10, bottom: 10 };

let place: HTMLElement;

beforeEach(() => {
  place = document.createElement('div');
  document.body.append(place);
});

afterEach(() => {
  render(null, place);
  place.remove();
});

/** Until what was asked for is rendered, and no frame longer. */
async function rendered(): Promise<void> {
  for (let i = 0; i < 5; i += 1) await Promise.resolve();
}

function press(key: string, at: EventTarget): KeyboardEvent {
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
  at.dispatchEvent(event);
  return event;
}

it('a tooltip takes the Escape that is pressed when it appears', async () => {
  render(<TooltipLayer />, place);
  showTip(ANCHOR, { title: 'tip' });
  await rendered();
  expect(place.textContent).toContain('tip');
  expect(press('Escape', document.body).defaultPrevented).toBe(true);
  await rendered();
  expect(place.textContent).toBe('');
});

it('a popover takes the Escape that is pressed when it opens', async () => {
  render(
    <Popover button="open" buttonClass="" label="box">
      {() => 'inside'}
    </Popover>,
    place,
  );
  place.querySelector('button')?.click();
  await rendered();
  expect(place.textContent).toContain('inside');
  expect(press('Escape', document.body).defaultPrevented).toBe(true);
  await rendered();
  expect(place.textContent).not.toContain('inside');
});
