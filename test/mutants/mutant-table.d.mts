export interface Mutant {
  why: string;
  file: string;
  piece: string;
  becomes: string;
  spec: string;
  caughtBy: string;
  lives: string;
}

export const MUTANTS: Record<string, Mutant>;

export function mutate(mutant: Mutant, source: string): string;
