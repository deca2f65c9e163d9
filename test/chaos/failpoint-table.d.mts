interface Place {
  isExtra?: boolean;
}

interface Statement extends Place {
  file: string;
  sql: string;
  at: 'before' | 'after' | 'before-commit' | 'after-commit';
  changesRows?: boolean;
}

interface Method extends Place {
  file: string;
  class: string;
  method: string;
}

interface Answer extends Place {
  operation: string;
  status: number;
  longerThan?: string;
}

export const FAILPOINTS: Record<string, Statement | Method | Answer>;
