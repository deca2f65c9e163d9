/** `node --expose-gc --import <this file> …`: the process frees at SIGUSR2 what it does not need any more. */
process.on('SIGUSR2', () => globalThis.gc());
