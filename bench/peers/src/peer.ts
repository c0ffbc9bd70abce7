/** What each library is asked for: the same agent with the same tool and a model in the same process. */
import { args, input } from "../../src/work.ts"

export interface Peer {
  readonly name: string
  /** A run: the model calls the tool until it has its answer, which is given. */
  readonly run: () => Promise<unknown>
}

/** How the tool behaves: it adds, or fails twice before it does. */
export type Behaviour = "happy" | "flaky"

export class Unavailable extends Error {
  override readonly name = "Unavailable"
}

export type Name =
  | "ours"
  | "ai"
  | "effect/ai"
  | "@openai/agents"
  | "@langchain/langgraph"
  | "@mastra/core"
  | "cockatiel"

/** What a process that has one library is told first. */
export interface Order {
  readonly name: Name
  readonly behaviour: Behaviour
  /** How many runs a portion has. */
  readonly runs: number
}

/** A tool that fails twice in a row, and then works, for ever. */
export const addition = (behaviour: Behaviour) => {
  let tried = 0
  return ({ a, b }: { readonly a: number; readonly b: number }): number => {
    if (behaviour === "flaky" && ++tried % 3 !== 0) throw new Unavailable("sums are not there just now")
    return a + b
  }
}

/** Whether what a tool said is its result, whichever way a library writes it down. */
export const isResult = (text: string): boolean => /^\W*(?:value\W*)?3\b/.test(text)

let called = 0

/** Some libraries take a call whose id they know for one that is answered. */
export const nextId = (): string => `c${++called}`

export { args, input }
export const description = "Adds two numbers."
export const prompt = "Add."
