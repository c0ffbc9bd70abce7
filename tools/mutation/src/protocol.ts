/** What the process that runs the tests is told, and what it tells. */
import { join } from "node:path"
import { root } from "../../../scripts/files.ts"

/** The folder of everything that a run of the mutants leaves. */
export const cache = join(root, ".cache", "mutation")

/** The variable of the environment that names the file with the plan. */
export const PLAN = "KINTSUGI_MUTATION_PLAN"

export interface Mutant {
  readonly id: string
  readonly file: string
  /** Counted from 1. */
  readonly line: number
  /** The line in the source, trimmed. */
  readonly text: string
  readonly mutator: string
  /** The code that is replaced, blanks joined. */
  readonly from: string
  readonly to: string
  /** Which one it is of those that are alike in all of the above but the line. */
  readonly nth: number
}

interface Timed {
  readonly key: string
  readonly file: string
  readonly title: string
  /** Where it is written: the rows of a table are written once, and so is what is run whole and streamed. */
  readonly site: string
  /** The line of its file that declares it, counted from 1. */
  readonly line: number
  readonly ms: number
  readonly passed: boolean
}

/** One test, as the run without mutants found it: the numbers of mutants that it came by, and how often each of them. */
export interface Measured extends Timed {
  readonly ids: ReadonlyArray<number>
  readonly counts: ReadonlyArray<number>
}

/** The mutants of a survey by their numbers, and those that are come by while modules are loaded. */
export interface Head {
  readonly base: string
  readonly keys: ReadonlyArray<string>
  readonly statics: ReadonlyArray<number>
}

/** What the tests of an area came by, in all files that are tried. */
export interface Survey extends Head {
  readonly tests: ReadonlyArray<Measured>
  /** The hash of each test file by itself. */
  readonly hashes: ReadonlyMap<string, string>
}

/** One test, for the mutants of a part. */
export interface Baseline extends Timed {
  /** How often it came by each mutant. */
  readonly hits: Readonly<Record<string, number>>
}

/** Tests in the order of `Plan.tests`, run with one mutant until one of them fails. */
export interface Job {
  readonly mutant: string
  readonly source: string
  readonly tests: ReadonlyArray<number>
  readonly hits: ReadonlyArray<number>
}

/** A mutant, and the tests that come by it, with how often. */
export interface Hunt {
  readonly mutant: string
  readonly comers: ReadonlyArray<readonly [test: number, hits: number]>
}

export interface Plan {
  readonly mode: "baseline" | "jobs" | "worlds" | "hunts"
  /** How many mutants there are to count. */
  readonly mutants: number
  /** Test files to load. */
  readonly files: ReadonlyArray<string>
  readonly tests: ReadonlyArray<Pick<Timed, "key" | "ms" | "site">>
  readonly jobs: ReadonlyArray<Job>
  readonly hunts: ReadonlyArray<Hunt>
  /** Sites that are not sought: their tests count only beside others. */
  readonly useful: ReadonlyArray<string>
  /** Mutants that act while modules are loaded, each with the test files that are loaded anew with it. */
  readonly worlds: ReadonlyArray<{ readonly mutant: string; readonly files: ReadonlyArray<string> }>
  readonly results: string
  readonly heartbeat: string
}

export type Status = "killed" | "timeout" | "survived"

/** A line of the results: either of a mutant, or of a test without mutants. */
export interface Result {
  readonly mutant: string
  readonly status: Status
  readonly by?: string
  readonly ran: number
}

/** What became of a mutant. */
export interface Outcome {
  readonly mutant: Mutant
  readonly status: Status
  /** The test that found it out. */
  readonly by?: string
  readonly ran: number
}

/** A result, or that the process has to be replaced by a new one before it goes on. */
export type Line =
  | ({ readonly type: "result" } & Result)
  | { readonly type: "tainted"; readonly mutant: string; readonly test: string }
  | { readonly type: "static"; readonly ids: ReadonlyArray<number> }
  | { readonly type: "test"; readonly test: Measured }
  /** A hunt is over: the sites that found the mutant out, none if they are too many, or no site is sought among them. */
  | { readonly type: "hunted"; readonly finders: ReadonlyArray<string> }
  /** A mutant after which the process has to be replaced. */
  | { readonly type: "dropped"; readonly mutant: string }
  | { readonly type: "leave" }
  | { readonly type: "done" }
