/** Does nothing with what it is told: where that matters to nobody, or is told elsewhere. */
export function ignore(): void {}
