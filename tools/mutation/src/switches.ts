/** What instrumented code reads to know which mutant is on, and writes to tell what was reached. */

interface Switches {
  activeMutant?: string | undefined
  hitCount?: number | undefined
  hitLimit?: number | undefined
  /** How often each mutant was come by; only where that is counted. */
  hits?: Uint32Array
}

// the global object has all that is put on it
const global = globalThis as { __stryker__?: Switches }

/** Stryker's own names, on its own global object. */
export const switches: Switches = (global.__stryker__ ??= {})

/** Mutants with which a test file cannot even be loaded, and that file. */
export const broken = new Map<string, string>()
