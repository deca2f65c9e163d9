/** Lets a test say when something that is under way may go on. */
export interface Barrier {
  opened: Promise<void>;
  open(): void;
}

export function barrier(): Barrier {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}
