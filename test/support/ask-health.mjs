/** Asks `/healthz` again and again, in a thread of its own, until it is told to stop; then it says how long each took. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

const PAUSE_MS = 10;
const tookMs = [];
let isOver = false;
parentPort.once('message', () => (isOver = true));

while (!isOver) {
  const begun = performance.now();
  const { status } = await fetch(`${workerData.url}/healthz`);
  tookMs.push(status === 200 ? performance.now() - begun : Infinity);
  await sleep(PAUSE_MS);
}
parentPort.postMessage(tookMs);
