/**
 * How the stand-in behaves, as shares from 0 to 1. These are assumptions, not measurements: the page shows what other ones give,
 * and `--live` asks a real model instead.
 */
export interface Rates {
  /** Runs in which the fault of the scenario happens. */
  readonly breaks: number
  /** Told what is wrong, it corrects itself. */
  readonly corrects: number
  /** Told that something is wrong, and not what, it corrects itself. */
  readonly guesses: number
  /** Of the times when it does not, it claims that all is done; else it repeats what it has sent. */
  readonly claims: number
  /** As a fixer, it repairs arguments of which it can be read off what was meant. */
  readonly mends: number
  /** As a fixer, it makes up what it cannot know; else it hands the call back. */
  readonly invents: number
}

export const defaults: Rates = { breaks: 1, corrects: 0.8, guesses: 0.4, claims: 0.25, mends: 0.8, invents: 0.2 }

/** What the page says of each. */
export const meanings: { readonly [Name in keyof Rates]: string } = {
  breaks: "runs in which the fault happens",
  corrects: "told what is wrong, it corrects itself",
  guesses: "told that something is wrong, and not what, it corrects itself",
  claims: "where it does not, it claims that all is done; else it repeats what it has sent",
  mends: "as a fixer, it repairs arguments that still show what was meant",
  invents: "as a fixer, it makes up what it cannot know; else it hands the call back"
}
