import { Api } from './api.js';

/** The figures of a service by name and labels, as in `bgc_calls_ended_total{status="failed",code="timeout"}`. */
export type Figures = ReadonlyMap<string, number>;

/** Scrapes a service, without a key. */
export async function scrape(url: string): Promise<Figures> {
  const answer = await new Api(url, undefined).get('/metrics');
  if (answer.status !== 200) throw new Error(`no figures: ${answer.status} ${answer.text}`);
  const lines = answer.text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const figures = new Map<string, number>();
  for (const line of lines) {
    const at = line.lastIndexOf(' ');
    const name = line.slice(0, at);
    if (figures.has(name)) throw new Error(`twice: ${name}`);
    figures.set(name, Number(line.slice(at + 1)));
  }
  return figures;
}

/** How much each of the figures has grown; what has not is left out. */
export function growth(before: Figures, after: Figures): Record<string, number> {
  const grown = [...after].map(([name, value]) => [name, value - (before.get(name) ?? 0)] as const);
  return Object.fromEntries(grown.filter(([, by]) => by !== 0));
}
