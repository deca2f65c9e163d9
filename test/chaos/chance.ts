/** Numbers that look like chance and are the same for the same seed: https://prng.di.unimi.it/splitmix32 */
export class Chance {
  private state: number;

  constructor(private readonly seed: number) {
    this.state = seed >>> 0;
  }

  /** One of its own for each name, so that what one actor draws does not depend on when others do. */
  for(name: string): Chance {
    let seed = this.seed;
    for (const character of name) seed = Math.imul(seed ^ character.charCodeAt(0), 0x01000193);
    return new Chance(seed);
  }

  /** 0 ≤ x < 1. */
  next(): number {
    this.state = (this.state + 0x9e3779b9) >>> 0;
    let mixed = this.state ^ (this.state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  }

  happens(probability: number): boolean {
    return this.next() < probability;
  }

  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  oneOf<T>(choices: readonly T[]): T {
    return choices[this.between(0, choices.length - 1)] as T;
  }
}
