import type { Ground } from './ground.js';

/** One thing that is measured, on a ground of its own. */
export interface Figure {
  /** As in `npm run bench -- <name>`. */
  name: string;
  about: string;
  measure(ground: Ground): Promise<Measured[]>;
}

export interface Measured {
  what: string;
  value: string;
  /** What is aimed at, where something is. */
  goal?: string;
}
