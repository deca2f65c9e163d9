export type Failpoint =
  | {
      file: string;
      sql: string;
      at: 'before' | 'after' | 'before-commit' | 'after-commit';
      changesRows?: boolean;
    }
  | { file: string; class: string; method: string }
  | { operation: string; status: number; longerThan?: string };

export const FAILPOINTS: Record<string, Failpoint>;
