/** A choice among skills: its input, its candidates and its result. */
import type * as Effect from "effect/Effect"
import type * as Message from "../data/Message.ts"
import type { RunContext } from "../event/RunContext.ts"
import type { Rows } from "../recovery/Node.ts"
import type { AnswerOf, RowsOf } from "../recovery/TableTypes.ts"

/** The answer of a model that finds no skill for an input: no skill can have this name. */
export const none = "none"

/** A skill that a router may choose. */
export interface Candidate {
  readonly name: string
  readonly description: string
}

/** A choice, and what made it: `table` is the table for failures of the routing call. */
export interface Choice {
  readonly skill: string
  readonly by: "rule" | "model" | "table"
  /** What the model says of its choice, from 0 to 1. */
  readonly confidence?: number
}

/** The input of a router's choice. */
export interface Routing {
  readonly input: string
  readonly candidates: ReadonlyArray<Candidate>
  readonly run: RunContext
  /** The transcript of the run so far. */
  readonly transcript: () => Message.Transcript
}

/** The definition of a router at run time. */
export interface Definition {
  readonly rule: ((input: string) => Effect.Effect<string | undefined, unknown>) | undefined
  readonly prompt: string
  readonly threshold: number
  readonly rows: Rows
  /** Whether its rows take the place of what transports send again. */
  readonly transport?: "off" | undefined
}

/** A name that is not one literal: `string`, or a pattern such as `search_${string}`. */
export type Wide<Name> = Name extends string ? ({} extends { readonly [_ in Name]: never } ? Name : never) : never

/** The literal names that a router may give; `never` for a wide type such as `string`. */
export type RouterName<Said, Table> = Literal<Exclude<Said, undefined> | AnswerOf<RowsOf<Table>>>

type Literal<Name> = Name extends string ? Exclude<Name, Wide<Name>> : never
